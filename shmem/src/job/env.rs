//! The environment variables: those of the standard (OpenSHMEM 1.6, section 8), with their old SMA_
//! names, and those that choose the fabric.

use super::error::Error;
use super::workspace::CONNECTIONS;
use fi_provider::device::{Completions, DEFAULT_POLICY, POLICIES, Policy, Transport};
use fi_provider::libfabric::LEAVE;
use fi_provider::registration::Limits;
use fi_provider::variables::{self, choice, value};
use std::time::Duration;

/// The size of the symmetric heap in bytes where nobody says otherwise.
pub(crate) const DEFAULT_HEAP: usize = 512 << 20;

/// Returns the value of `SHMEM_<name>`, or of `SMA_<name>` where that is not set.
fn variable(name: &str) -> Option<String> {
    ["SHMEM_", "SMA_"]
        .iter()
        .find_map(|prefix| std::env::var_os(format!("{prefix}{name}")))
        .map(|value| value.to_string_lossy().into_owned())
}

/// Returns whether SHMEM_VERSION, SHMEM_INFO or SHMEM_DEBUG is set: the value does not matter.
pub(crate) fn is_set(name: &str) -> bool {
    variable(name).is_some()
}

/// Returns whether the checking library is asked for (SHMEM_CHECK): a value that is neither empty
/// nor 0. oshrun reads it as well.
#[cfg(not(feature = "check"))]
pub(crate) fn wants_check() -> bool {
    variable("CHECK").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the size of the symmetric heap in bytes (SHMEM_SYMMETRIC_SIZE).
pub(crate) fn symmetric_size() -> Result<usize, Error> {
    match variable("SYMMETRIC_SIZE") {
        None => Ok(DEFAULT_HEAP),
        Some(text) => parse_size(&text).ok_or(Error::SymmetricSize(text)),
    }
}

/// The way in which PEs reach each other over a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transports {
    /// By the size of the job.
    Auto {
        /// The most PEs of one that goes by RC.
        rc: u32,
        /// The most PEs of one that has queue pairs of RC in the background. In larger ones all
        /// goes by DC.
        dc: u32,
    },
    /// In one way.
    Only(Transport),
}

impl Transports {
    /// Returns the transport of a job of `pes` PEs, if the device can do it.
    pub(crate) fn of_job(self, pes: u32) -> Transport {
        match self {
            Self::Auto { rc, .. } if pes <= rc => Transport::Rc,
            Self::Auto { dc, .. } if pes <= dc.min(CONNECTIONS) => Transport::Mixed,
            Self::Auto { .. } => Transport::Dc,
            Self::Only(transport) => transport,
        }
    }
}

/// The most PEs of a job that has a queue pair for each from the start, where nobody says
/// otherwise.
const RC_PES: u32 = 32;

/// The most PEs of a job in which such queue pairs are made in the background.
const DC_PES: u32 = 1024;

/// Returns the transport over a device (FARREACH_TRANSPORT), and the sizes of jobs up to which it
/// is RC (FARREACH_RC_PES), and DC with RC in the background (FARREACH_DC_PES).
pub(crate) fn transports() -> Result<Transports, Error> {
    let auto = Transports::Auto {
        rc: number("FARREACH_RC_PES", RC_PES)?,
        dc: number("FARREACH_DC_PES", DC_PES)?,
    };
    let only = [Transport::Rc, Transport::Dc].map(Transports::Only);
    Ok(variables::transport(auto, only[0], only[1])?)
}

/// The most queues of DC that a default lane spreads its peers over.
const MOST_INITIATORS: u32 = 64;

/// Returns the number of queues of DC that a default lane spreads its peers over (FARREACH_DCIS), a
/// power of two: in a job of `pes` PEs, where nobody says otherwise, one if it is small.
pub(crate) fn initiators(pes: u32) -> Result<u32, Error> {
    let default = if pes <= RC_PES { 1 } else { 4 };
    let count = number("FARREACH_DCIS", default)?;
    if count.is_power_of_two() && count <= MOST_INITIATORS {
        Ok(count)
    } else {
        Err(Error::Initiators(count))
    }
}

/// Returns the number that `variable` gives, or `default`.
fn number(variable: &'static str, default: u32) -> Result<u32, Error> {
    match value(variable) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| Error::Number(variable, text)),
    }
}

/// The time for which a host may be silent where nobody says otherwise.
const SILENCE: Duration = Duration::from_secs(5);

/// Returns the time for which a host may be silent where the launcher does not watch hosts
/// (FARREACH_HOST_TIMEOUT); `None` for ever.
pub(crate) fn host_timeout() -> Result<Option<Duration>, Error> {
    match value("FARREACH_HOST_TIMEOUT") {
        None => Ok(Some(SILENCE)),
        Some(text) => parse_silence(&text).ok_or(Error::HostTimeout(text)),
    }
}

/// Returns the time of a number of seconds, within the bounds that oshrun has for it.
fn parse_silence(text: &str) -> Option<Option<Duration>> {
    let seconds = text.parse().ok()?;
    match seconds {
        0.0 => Some(None),
        0.1..=1e6 => Some(Some(Duration::from_secs_f64(seconds))),
        _ => None,
    }
}

/// Returns the time for which the thread that serves peers over libfabric leaves that to a program
/// that looks itself (FARREACH_LIBFABRIC_LEAVE, in microseconds).
pub(crate) fn leave() -> Result<Duration, Error> {
    let default = LEAVE.as_micros() as u32;
    let micros = number("FARREACH_LIBFABRIC_LEAVE", default)?;
    Ok(Duration::from_micros(micros.into()))
}

/// Returns the limits of private memory that stays registered (FARREACH_REGISTRATION_CACHE): bytes,
/// and entries behind a comma; 0 for none.
pub(crate) fn registrations() -> Result<Limits, Error> {
    let Some(value) = std::env::var_os("FARREACH_REGISTRATION_CACHE") else {
        return Ok(Limits::default());
    };
    let text = value.to_string_lossy();
    parse_limits(&text).ok_or_else(|| Error::RegistrationCache(text.into_owned()))
}

fn parse_limits(text: &str) -> Option<Limits> {
    let mut limits = Limits::default();
    let (bytes, entries) = match text.split_once(',') {
        Some((bytes, entries)) => (bytes, Some(entries)),
        None => (text, None),
    };
    if !bytes.is_empty() {
        limits.bytes = parse_size(bytes)?;
    }
    if let Some(entries) = entries {
        // A table of all of them is made at once.
        limits.entries = entries.trim().parse().ok().filter(|&it| it <= 1 << 20)?;
    }
    Some(limits)
}

/// Returns the policy by which lanes of a device share its resources (FARREACH_LANES).
pub(crate) fn lanes() -> Result<&'static Policy, Error> {
    let mut choices = vec![("", DEFAULT_POLICY)];
    choices.extend(POLICIES.iter().map(|policy| (policy.name, policy)));
    Ok(choice("FARREACH_LANES", &choices)?)
}

/// Returns whether lanes of a device have a completion queue each or share one
/// (FARREACH_COMPLETIONS).
pub(crate) fn completions() -> Result<Completions, Error> {
    let choices = Completions::ALL.map(|which| (which.name(), which));
    Ok(choice("FARREACH_COMPLETIONS", &choices)?)
}

/// Returns the number of PEs that collectives of teams take for a node
/// (FARREACH_COLLECTIVE_NODE_SIZE), where they are not to ask the launcher.
pub(crate) fn collective_node_size() -> Result<Option<u32>, Error> {
    let Some(value) = std::env::var_os("FARREACH_COLLECTIVE_NODE_SIZE") else {
        return Ok(None);
    };
    let text = value.to_string_lossy();
    match text.parse() {
        Ok(size) if size > 0 => Ok(Some(size)),
        _ => Err(Error::CollectiveNodeSize(text.into_owned())),
    }
}

/// Returns the value of a non-negative number, integer or not, and perhaps one of k, m, g, t; text
/// behind the suffix is ignored. Rounded up to whole bytes.
fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (number, rest) = text.split_at(number_len(text));
    let shift = match rest.chars().next() {
        None => 0,
        Some('k' | 'K') => 10,
        Some('m' | 'M') => 20,
        Some('g' | 'G') => 30,
        Some('t' | 'T') => 40,
        Some(_) => return None,
    };
    if let Ok(whole) = number.parse::<usize>() {
        return whole.checked_mul(1 << shift);
    }
    let bytes = (number.parse::<f64>().ok()? * (1_u64 << shift) as f64).ceil();
    // 2^63 and more are no sizes; below, the conversion is exact to the precision of the number.
    (bytes < 9.2e18).then_some(bytes as usize)
}

/// Returns the number of bytes of `text` that are digits, points and an exponent.
fn number_len(text: &str) -> usize {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let mantissa = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else {
        return mantissa;
    };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    match digits(&exponent[sign..]) {
        0 => mantissa,
        digits => mantissa + 1 + sign + digits,
    }
}

/// Returns the text about the variables that SHMEM_INFO prints.
pub(crate) fn help() -> String {
    let default = DEFAULT_POLICY.name;
    let policies = variables::list(POLICIES.iter().map(|policy| policy.name));
    format!(
        "{HELP}
  FARREACH_LANES        what lanes of the device share, one for each context: {policies};
                        default {default}
  FARREACH_COMPLETIONS  own (each lane has a completion queue, the default) or shared (all of a device context have one)"
    )
}

const HELP: &str = "\
Environment variables of OpenSHMEM (the names with SMA_ are deprecated, and work):
  SHMEM_VERSION         any value: print the version of the library at start-up
  SHMEM_INFO            any value: print this text
  SHMEM_SYMMETRIC_SIZE  bytes of symmetric heap per PE, as 512m or 1.5g (k, m, g, t); default 512m;
                        reserved at start-up, taken at first touch
  SHMEM_DEBUG           any value: say on standard error how the job is set up
Of Farreach:
  SHMEM_CHECK           1: oshrun loads the checking library, which ends the job with a message when PEs call
                        different collectives, or a routine is given objects or numbers that it must not be given
  FARREACH_FABRIC       auto (shared memory on a node; between nodes an mlx5 device, or where some node has none a
                        provider of libfabric), shm (shared memory only), mlx5 (as auto; between nodes an mlx5 device
                        alone) or libfabric (as auto; between nodes libfabric alone); default auto
  FARREACH_LIBFABRIC_PROVIDER
                        the provider of libfabric to take (tcp;ofi_rxm, efa); default the first that will do
  FARREACH_LIBFABRIC    the file of libfabric to load; default libfabric.so.1
  FARREACH_LIBFABRIC_LEAVE
                        microseconds for which the thread that serves other PEs over libfabric leaves that to a program
                        that waits itself, after each look of the program; default 200
  FARREACH_HOST_TIMEOUT how many seconds a host may be silent before the job ends; 0: for ever; default 5. oshrun watches
                        hosts itself; under other launchers PEs do where libfabric is between them
  FARREACH_TRANSPORT    how the device connects PEs: rc (a queue pair for each PE), dc (queue pairs that go to any PE), or
                        auto (rc in a job of at most FARREACH_RC_PES PEs, default 32; dc in a larger one, in which up to
                        FARREACH_DC_PES PEs, default 1024, get a queue pair for each PE that they send much to); default auto
  FARREACH_DCIS         over dc, the queue pairs that the default context spreads PEs over: a power of two up to 64;
                        default 1, and 4 in a job of more than 32 PEs
  FARREACH_REGISTRATION_CACHE
                        bytes, or bytes and entries (512m,100), of private memory that stays registered with the device
                        after long puts and gets; 0: none, all go by the bounce memory; default 1g,1024
  FARREACH_COLLECTIVE_NODE_SIZE
                        for tests: collectives of teams take so many PEs for a node, wherever they are";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_a_time_as_oshrun_takes_it() {
        let time = |millis| Some(Some(Duration::from_millis(millis)));
        for (text, silence) in [
            ("0", Some(None)),
            ("0.0", Some(None)),
            ("0.1", time(100)),
            ("2.5", time(2500)),
            ("1e6", time(1_000_000_000)),
            ("0.05", None),
            ("-1", None),
            ("1e7", None),
            ("nan", None),
            ("inf", None),
            ("5s", None),
        ] {
            assert_eq!(parse_silence(text), silence, "{text}");
        }
    }

    #[test]
    fn small_jobs_are_connected_from_the_start() {
        let auto = Transports::Auto { rc: 4, dc: 6 };
        for (pes, transport) in [
            (1, Transport::Rc),
            (4, Transport::Rc),
            (5, Transport::Mixed),
            (6, Transport::Mixed),
            (7, Transport::Dc),
        ] {
            assert_eq!(auto.of_job(pes), transport, "{pes} PEs");
        }
        let rc = Transports::Only(Transport::Rc);
        assert_eq!(rc.of_job(1_000_000), Transport::Rc);
    }

    #[test]
    fn limits_of_registrations() {
        let default = Limits::default();
        let limits = |bytes, entries| Some(Limits { bytes, entries });
        assert_eq!(parse_limits(""), Some(default));
        assert_eq!(parse_limits("0"), limits(0, default.entries));
        assert_eq!(parse_limits("64m"), limits(64 << 20, default.entries));
        assert_eq!(parse_limits("1g,20"), limits(1 << 30, 20));
        assert_eq!(parse_limits(",2"), limits(default.bytes, 2));
        for text in ["off", "1g,", "1g,x", "1,2,3", "1g,-1", "1g,9999999"] {
            assert_eq!(parse_limits(text), None, "{text:?}");
        }
    }

    #[test]
    fn sizes_as_the_specification_gives_them() {
        for (text, bytes) in [
            ("20m", Some(20_971_520)),
            ("3.1M", Some(3_250_586)),
            (".5m", Some(524_288)),
            ("0.5m", Some(524_288)),
            ("20kk", Some(20_480)),
            ("4096", Some(4096)),
            ("0", Some(0)),
            ("1T", Some(1 << 40)),
            ("2gb", Some(2 << 30)),
            ("1.5", Some(2)),
            ("1e3", Some(1000)),
            ("1.5E+2k", Some(153_600)),
            ("1e", None),
            ("1e400", None),
            (" 7 ", Some(7)),
            ("", None),
            ("-1", None),
            ("m", None),
            ("20x", None),
            ("1.2.3", None),
            ("inf", None),
            ("99999999999999999999", None),
            ("99999999999t", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text:?}");
        }
    }
}
