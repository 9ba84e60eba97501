//! The networks between nodes: which there are, and which a job takes.

use fi_provider::device;
use fi_provider::libfabric::{self, Candidate};
use std::fmt::Write as _;

/// Variables that have a say in the choice.
const VARIABLES: [&str; 3] = ["FARREACH_FABRIC", "FARREACH_LIBFABRIC", PROVIDER];

/// Names the only provider of libfabric that a job asks for.
const PROVIDER: &str = "FARREACH_LIBFABRIC_PROVIDER";

/// One way to peers on other nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    provider: String,
    domain: String,
    fabric: String,
    /// Why a job cannot take it; none where it can.
    refused: Option<String>,
}

impl Way {
    fn of(candidate: Candidate) -> Self {
        Self {
            provider: candidate.provider,
            domain: candidate.domain,
            fabric: candidate.fabric,
            refused: candidate.refused,
        }
    }

    /// Whether both are one provider on one interface.
    fn is_like(&self, other: &Self) -> bool {
        (&self.provider, &self.domain) == (&other.provider, &other.domain)
    }
}

/// The networks of this machine.
#[derive(Debug)]
pub(crate) struct Networks {
    /// Why the mlx5 device cannot be opened; none where it can.
    mlx5: Option<String>,
    /// The version of libfabric and its ways, one for each provider on each interface; else why it
    /// cannot be used.
    libfabric: Result<(String, Vec<Way>), String>,
    /// The way that a job over libfabric takes.
    best: Option<Way>,
    /// Variables that are set, with their values.
    settings: Vec<(&'static str, String)>,
}

impl Networks {
    /// Asks the device and libfabric.
    pub(crate) fn find() -> Self {
        let value = |name| {
            let value = std::env::var_os(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some((name, value))
        };
        let settings: Vec<_> = VARIABLES.into_iter().filter_map(value).collect();
        let provider = settings.iter().find(|(name, _)| *name == PROVIDER);
        let provider = provider.map(|(_, value)| value.as_str());
        let mlx5 = device::probe().err().map(|error| error.to_string());
        let ask = |provider| -> Result<Vec<Way>, String> {
            let found = libfabric::candidates(provider).map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(Way::of).collect())
        };
        let version = libfabric::version().map_err(|error| error.to_string());
        let found = version.and_then(|version| {
            let all = ask(None)?;
            // That there is none by this name is told with all others.
            let named = provider.map(|name| (name, ask(Some(name)).unwrap_or_default()));
            Ok((version.to_string(), choose(all, named)))
        });
        let (libfabric, best) = match found {
            Ok((version, (ways, best))) => (Ok((version, ways)), best),
            Err(why) => (Err(why), None),
        };
        Self {
            mlx5,
            libfabric,
            best,
            settings,
        }
    }

    /// Whether jobs of several nodes can run here.
    pub(crate) fn is_any(&self) -> bool {
        self.mlx5.is_none() || self.best.is_some()
    }

    /// The candidates, and the one that is taken.
    pub(crate) fn text(&self) -> String {
        let mut rows =
            vec![["network", "domain", "fabric", "for a job of several nodes"].map(str::to_owned)];
        rows.push([
            "mlx5".to_owned(),
            "-".to_owned(),
            "-".to_owned(),
            match &self.mlx5 {
                None => "taken".to_owned(),
                Some(why) => format!("cannot be taken: {why}"),
            },
        ]);
        let ways = self.libfabric.as_ref().map(|(_, ways)| &ways[..]);
        for way in ways.unwrap_or_default() {
            let best = self.best.as_ref().is_some_and(|best| best.is_like(way));
            let judged = match &way.refused {
                Some(why) => format!("cannot be taken: {why}"),
                None if best && self.mlx5.is_some() => "taken".to_owned(),
                None if best => "not taken: mlx5 is there; the best of libfabric".to_owned(),
                None => "not taken: another comes first".to_owned(),
            };
            let names = [&way.provider, &way.domain, &way.fabric].map(Clone::clone);
            let [provider, domain, fabric] = names;
            rows.push([provider, domain, fabric, judged]);
        }
        let mut text = aligned(&rows);
        let _ = match &self.libfabric {
            Ok((version, _)) => writeln!(text, "\nlibfabric {version}"),
            Err(why) => writeln!(text, "\nlibfabric cannot be used: {why}"),
        };
        for (name, value) in &self.settings {
            let _ = writeln!(text, "{name} is {value}");
        }
        let _ = match (&self.mlx5, &self.best) {
            (None, _) => writeln!(
                text,
                "FARREACH_FABRIC=auto takes mlx5, if all nodes of the job have it"
            ),
            (
                Some(_),
                Some(Way {
                    provider, domain, ..
                }),
            ) => {
                writeln!(text, "FARREACH_FABRIC=auto takes {provider} on {domain}")
            }
            (Some(_), None) => writeln!(
                text,
                "FARREACH_FABRIC=auto takes none: a job runs on one node alone"
            ),
        };
        text
    }
}

/// One way for each provider on each interface, and the first that can be taken. `named` is the
/// provider that is asked for, and its ways: then others are not taken.
fn choose(all: Vec<Way>, named: Option<(&str, Vec<Way>)>) -> (Vec<Way>, Option<Way>) {
    let Some((name, own)) = named else {
        let best = all.iter().find(|way| way.refused.is_none()).cloned();
        return (folded(all), best);
    };
    let best = own.iter().find(|way| way.refused.is_none()).cloned();
    let is_own = |way: &Way| own.iter().any(|one| one.is_like(way));
    let others = all.into_iter().filter(|way| !is_own(way));
    let refused = format!("{PROVIDER} is {name}");
    let others: Vec<Way> = others
        .map(|way| Way {
            refused: way.refused.or_else(|| Some(refused.clone())),
            ..way
        })
        .collect();
    (folded(own.into_iter().chain(others)), best)
}

/// The same without repetitions: of ways of one provider on one interface, the first that can be
/// taken stands for all.
fn folded(ways: impl IntoIterator<Item = Way>) -> Vec<Way> {
    let mut folded: Vec<Way> = Vec::new();
    for way in ways {
        match folded.iter_mut().find(|one| one.is_like(&way)) {
            Some(one) if one.refused.is_some() && way.refused.is_none() => *one = way,
            Some(_) => {}
            None => folded.push(way),
        }
    }
    folded
}

/// Lines of four columns, the last of which ends where its text does.
fn aligned(rows: &[[String; 4]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third] = [0, 1, 2].map(width);
    let mut text = String::new();
    for [network, domain, fabric, judged] in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{network:first$}  {domain:second$}  {fabric:third$}  {judged}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(provider: &str, domain: &str, fabric: &str, refused: Option<&str>) -> Way {
        Way {
            provider: provider.to_owned(),
            domain: domain.to_owned(),
            fabric: fabric.to_owned(),
            refused: refused.map(str::to_owned),
        }
    }

    fn networks(mlx5: Option<&str>, all: Vec<Way>, named: Option<(&str, Vec<Way>)>) -> Networks {
        let (ways, best) = choose(all, named);
        Networks {
            mlx5: mlx5.map(str::to_owned),
            libfabric: Ok(("1.17".to_owned(), ways)),
            best,
            settings: Vec::new(),
        }
    }

    fn some() -> Vec<Way> {
        vec![
            way(
                "tcp",
                "eth0",
                "fe80::/64",
                Some("its address is of one link alone"),
            ),
            way("net", "eth0", "10.0.0.0/8", None),
            way("tcp", "eth0", "10.0.0.0/8", None),
            way("net", "eth0", "10.0.0.0/8", None),
            way(
                "shm",
                "shm",
                "shm",
                Some("it is not for peers on other nodes"),
            ),
        ]
    }

    #[test]
    fn a_provider_is_told_once_an_interface() {
        let networks = networks(Some("no device"), some(), None);
        let text = networks.text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1],
            "mlx5     -       -           cannot be taken: no device"
        );
        assert_eq!(
            lines[2],
            "tcp      eth0    10.0.0.0/8  not taken: another comes first"
        );
        assert_eq!(lines[3], "net      eth0    10.0.0.0/8  taken");
        assert!(lines[4].ends_with("cannot be taken: it is not for peers on other nodes"));
        assert_eq!(lines[5..7], ["", "libfabric 1.17"]);
        assert_eq!(lines[7], "FARREACH_FABRIC=auto takes net on eth0");
        assert!(networks.is_any());
    }

    #[test]
    fn the_device_comes_first() {
        let text = networks(None, some(), None).text();
        assert!(
            text.contains("mlx5     -       -           taken\n"),
            "{text}"
        );
        assert!(
            text.contains("not taken: mlx5 is there; the best of libfabric"),
            "{text}"
        );
        assert!(text.contains("auto takes mlx5, if all nodes"), "{text}");
    }

    #[test]
    fn the_provider_that_is_asked_for_is_the_only_one() {
        let own = vec![way("tcp", "eth0", "10.0.0.0/8", None)];
        let text = networks(Some("no device"), some(), Some(("tcp", own))).text();
        assert!(text.contains("auto takes tcp on eth0"), "{text}");
        let says = "cannot be taken: FARREACH_LIBFABRIC_PROVIDER is tcp";
        let net = text.lines().find(|line| line.starts_with("net ")).unwrap();
        assert!(net.ends_with(says), "{text}");
        let nothing = networks(Some("no device"), some(), Some(("frob", Vec::new())));
        assert!(nothing.text().contains("auto takes none"));
        assert!(!nothing.is_any());
    }

    #[test]
    fn without_libfabric_it_says_so() {
        let networks = Networks {
            mlx5: Some("no device".to_owned()),
            libfabric: Err("libfabric.so.1 cannot be loaded (Debian: libfabric1): gone".to_owned()),
            best: None,
            settings: vec![("FARREACH_LIBFABRIC", "/nowhere".to_owned())],
        };
        let text = networks.text();
        assert!(
            text.contains("\nlibfabric cannot be used: libfabric.so.1 cannot be"),
            "{text}"
        );
        assert!(
            text.contains("\nFARREACH_LIBFABRIC is /nowhere\n"),
            "{text}"
        );
        assert!(!networks.is_any());
    }
}
