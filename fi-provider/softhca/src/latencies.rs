//! The option `--delays`: times of the parts of an operation's way, as words.

use crate::engine::Latencies;
use std::str::FromStr;

/// The longest time, in ns.
const LONGEST: f64 = 10e9;

/// Units, in ns.
const UNITS: [(&str, f64); 3] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];

/// Words that are no list of times.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A part that is not there.
    #[error("{0:?} is none of pcie=T, wire=T, switch=T and memory=T")]
    Part(String),
    /// A part has two times.
    #[error("{0} is given twice")]
    Twice(String),
    /// A time that is none.
    #[error("{0:?} is no time: a number with the unit ns, us or ms, of 10 s at most")]
    Time(String),
}

impl FromStr for Latencies {
    type Err = Malformed;

    /// Reads `pcie=20us,wire=50us,switch=10us,memory=15us`, or some of these.
    fn from_str(list: &str) -> Result<Self, Malformed> {
        let mut times = [None; 4];
        for word in list.split(',') {
            let part = || Malformed::Part(word.to_owned());
            let (name, time) = word.split_once('=').ok_or_else(part)?;
            let at = ["pcie", "wire", "switch", "memory"];
            let at = at
                .iter()
                .position(|known| *known == name)
                .ok_or_else(part)?;
            if times[at].replace(nanoseconds(time)?).is_some() {
                return Err(Malformed::Twice(name.to_owned()));
            }
        }
        let [pcie, wire, switch, memory] = times.map(Option::unwrap_or_default);
        Ok(Self {
            pcie,
            wire,
            switch,
            memory,
        })
    }
}

/// Returns a time as whole nanoseconds.
fn nanoseconds(time: &str) -> Result<u64, Malformed> {
    let number = UNITS.iter().find_map(|(unit, size)| {
        let digits = time.strip_suffix(unit)?;
        let plain = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = digits.parse().ok().filter(|_| plain)?;
        Some((number * size).round())
    });
    let number = number.filter(|number| *number <= LONGEST);
    let number = number.ok_or_else(|| Malformed::Time(time.to_owned()))?;
    Ok(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_subset_with_units() {
        let all = "pcie=20us,wire=274.81ns,switch=1.5ms,memory=10000ms";
        let times = Latencies {
            pcie: 20_000,
            wire: 275,
            switch: 1_500_000,
            memory: 10_000_000_000,
        };
        assert_eq!(all.parse(), Ok(times));
        let wire = Latencies {
            wire: 7,
            ..Latencies::default()
        };
        assert_eq!("wire=7ns".parse(), Ok(wire));
    }

    #[test]
    fn what_is_no_list() {
        for word in ["", "pcie", "Pcie=1us", "lane=1us", "pcie=1us,"] {
            assert!(
                matches!(word.parse::<Latencies>(), Err(Malformed::Part(_))),
                "{word}"
            );
        }
        for time in [
            "", "1", "us", "-1us", "1s", "1e3ns", "infns", "NaNns", "10001ms", "1 us", "1.2.3us",
        ] {
            let word = format!("pcie={time}");
            assert_eq!(
                word.parse::<Latencies>(),
                Err(Malformed::Time(time.to_owned()))
            );
        }
        let twice = "wire=1us,pcie=1us,wire=2us".parse::<Latencies>();
        assert_eq!(twice, Err(Malformed::Twice("wire".to_owned())));
    }
}
