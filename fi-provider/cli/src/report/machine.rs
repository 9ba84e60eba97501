//! Where and when a report is made.

use std::env;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable by which programs find softhca.
const SOFTHCA: &str = "FARREACH_SOFTHCA";

/// Returns the processor, how many of them there are, and the kernel.
pub(super) fn machine() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| format!("a processor of {}", env::consts::ARCH));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{model}, {count} CPUs, Linux {}", kernel.trim())
}

/// Returns words for a device: its name, its type and firmware as the kernel tells them, and
/// whether it is
/// software.
pub(super) fn device(name: &str) -> String {
    let read = |file| fs::read_to_string(format!("/sys/class/infiniband/{name}/{file}")).ok();
    let mut words = name.to_owned();
    for (file, what) in [("hca_type", ""), ("fw_ver", "firmware ")] {
        if let Some(value) = read(file).filter(|value| !value.trim().is_empty()) {
            words += &format!(", {what}{}", value.trim());
        }
    }
    if env::var_os(SOFTHCA).is_some() {
        words += ", in software (softhca)";
    }
    words
}

/// Returns the day, in UTC, as year, month and day: today, or that of `SOURCE_DATE_EPOCH`.
pub(super) fn date() -> String {
    let set = env::var("SOURCE_DATE_EPOCH").ok();
    let set = set.and_then(|seconds| seconds.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = set.unwrap_or_else(|| now().map_or(0, |since| since.as_secs()));
    day(seconds / 86_400)
}

/// Returns the date of a day, counted from 1970-01-01.
fn day(mut days: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    loop {
        let of_year = if is_leap(year) { 366 } else { 365 };
        if days < of_year {
            break;
        }
        days -= of_year;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for of_month in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < of_month {
            break;
        }
        days -= of_month;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let dates = [0, 58, 59, 10_956, 11_016, 19_723, 20_780].map(day);
        let expected = [
            "1970-01-01",
            "1970-02-28",
            "1970-03-01",
            "1999-12-31",
            "2000-02-29",
            "2024-01-01",
            "2026-11-23",
        ];
        assert_eq!(dates, expected);
    }

    #[test]
    fn a_machine_has_words() {
        let words = machine();
        assert!(words.contains(" CPUs, Linux "), "{words}");
    }
}
