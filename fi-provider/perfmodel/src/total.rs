//! The sums: equations 1 and 2 of the paper, its two latencies, and the bound on polling.

use crate::{Component as C, Entry, Ns, System};
use std::fmt::{self, Display};

/// Names a sum of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Total {
    /// The time between two messages at the device, of the LLP alone (equation 1).
    InjectionLow,
    /// The time from the post to the end of the poll on the other node, of the LLP alone.
    LatencyLow,
    /// The time between two messages at the device with the HLP (equation 2).
    Injection,
    /// The time from the call to the end of the receive with the HLP.
    Latency,
}

/// One part of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The component.
    pub component: C,
    /// How often its time is in the sum.
    pub times: f64,
}

/// Lists the components that a result needs and that are not known, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing(pub Vec<(String, String)>);

impl Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("needs ")?;
        for (at, (key, reason)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{key} ({reason})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Missing {}

/// Makes terms of components that are each in a sum once.
fn once(components: &[C]) -> impl Iterator<Item = Term> {
    components.iter().map(|&component| Term {
        component,
        times: 1.0,
    })
}

impl Total {
    /// All of them, in the order of the paper.
    pub const ALL: [Self; 4] = [
        Self::InjectionLow,
        Self::LatencyLow,
        Self::Injection,
        Self::Latency,
    ];

    /// Returns the name by which files know it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::InjectionLow => "injection_low",
            Self::LatencyLow => "latency_low",
            Self::Injection => "injection",
            Self::Latency => "latency",
        }
    }

    /// Returns a few words for a table.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::InjectionLow => "Injection overhead, low level",
            Self::LatencyLow => "Latency, low level",
            Self::Injection => "Injection overhead, complete",
            Self::Latency => "Latency, end to end",
        }
    }

    /// Returns the parts of the sum.
    ///
    /// # Errors
    /// Fails where the unsignaled period is needed and not known.
    pub fn terms(self, system: &System) -> Result<Vec<Term>, Missing> {
        let mut terms: Vec<Term> = once(C::LLP_POST).collect();
        match self {
            Self::InjectionLow => {
                let amortised = 1.0 / f64::from(system.low_period);
                terms.extend([C::LlpProg, C::BusyPost].map(|component| Term {
                    component,
                    times: amortised,
                }));
                terms.extend(once(&[C::MeasurementUpdate]));
            }
            Self::Injection => {
                let prog = Term {
                    component: C::LlpProg,
                    times: 1.0 / f64::from(period(system)?),
                };
                terms.extend(once(C::HLP_POST));
                terms.push(prog);
                terms.extend(once(&[C::TxProg, C::BusyPosts]));
            }
            Self::LatencyLow | Self::Latency => {
                terms.push(Term {
                    component: C::Pcie,
                    times: 2.0,
                });
                terms.extend(once(C::NETWORK));
                terms.extend(once(&[C::RcToMem8, C::LlpProg]));
                if self == Self::Latency {
                    terms.extend(once(C::HLP_POST).chain(once(C::HLP_RX_PROG)));
                }
            }
        }
        Ok(terms)
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// Fails where a component of it is not known, and names each of them.
    pub fn value(self, system: &System) -> Result<Ns, Missing> {
        sum(system, &self.terms(system)?)
    }
}

/// Returns the unsignaled period.
pub(crate) fn period(system: &System) -> Result<u32, Missing> {
    match &system.period {
        Entry::Known { value, .. } => Ok(*value),
        Entry::Within(_, reason) | Entry::Unknown(reason) => Err(Missing(vec![(
            "unsignaled_period".to_owned(),
            reason.clone(),
        )])),
    }
}

/// Adds terms up. A component that is contained in another one of its family counts there.
pub(crate) fn sum(system: &System, terms: &[Term]) -> Result<Ns, Missing> {
    let mut missing = Missing::default();
    let mut total = Ns(0.0);
    for term in terms {
        match system.entry(term.component) {
            Entry::Known { value, .. } => total = total + *value * term.times,
            Entry::Within(host, reason) => {
                // A host that is in another component itself has no time to be contained in.
                let has_time = !matches!(system.entry(*host), Entry::Within(..));
                if !(has_time && terms.iter().any(|other| other.component == *host)) {
                    let why = format!("it is contained in {}: {reason}", host.key());
                    missing.0.push((term.component.key().to_owned(), why));
                }
            }
            Entry::Unknown(reason) => missing
                .0
                .push((term.component.key().to_owned(), reason.clone())),
        }
    }
    if missing.0.is_empty() {
        Ok(total)
    } else {
        Err(missing)
    }
}

/// Adds components up.
pub(crate) fn sum_of(system: &System, components: &[C]) -> Result<Ns, Missing> {
    sum(system, &once(components).collect::<Vec<_>>())
}

/// Says how many posts there have to be before a poll, so that no post waits for a completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polling {
    /// The time from a post to its completion in memory.
    pub gen_completion: Ns,
    /// The least number of posts.
    pub posts: u64,
    /// Whether the time of 8 bytes stands for RC-to-MEM(64B), which is not known.
    pub assumes_8_bytes: bool,
}

/// Returns the bound on the polling period p of section 4.2 of the paper.
///
/// # Errors
/// Fails where a component is not known.
pub fn polling(system: &System) -> Result<Polling, Missing> {
    let there = sum_of(system, &[C::Pcie, C::Wire, C::Switch]);
    let wide = matches!(system.entry(C::RcToMem64), Entry::Known { .. });
    let memory = if wide { C::RcToMem64 } else { C::RcToMem8 };
    let parts = [
        there,
        sum_of(system, &[memory]),
        sum_of(system, C::LLP_POST),
    ];
    let mut missing = Missing::default();
    let mut times = [Ns(0.0); 3];
    for (time, part) in times.iter_mut().zip(parts) {
        match part {
            Ok(value) => *time = value,
            Err(error) => missing.0.extend(error.0),
        }
    }
    if !missing.0.is_empty() {
        return Err(missing);
    }
    let [there, memory, post] = times;
    let gen_completion = there * 2.0 + memory;
    if post.0 <= 0.0 {
        let reason = "LLP_post is 0 ns, which gives no bound".to_owned();
        return Err(Missing(vec![("llp_post".to_owned(), reason)]));
    }
    Ok(Polling {
        gen_completion,
        // A quotient of times of messages is a small number.
        posts: (gen_completion.0 / post.0).ceil() as u64,
        assumes_8_bytes: !wide,
    })
}
