//! The change of the totals if a component took less time, and the curves of figure 17.
//!
//! A speed-up is the time that is removed, divided by the old time.

use crate::total::sum_of;
use crate::{Component as C, Entry, Missing, Ns, Source, System, Total};
use std::fmt::{self, Display};

/// Names components that are changed together.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The name on command lines.
    pub key: &'static str,
    /// The name in tables.
    pub name: &'static str,
    /// The components.
    pub members: &'static [C],
    /// Whether the members add up to one time, so that a new time of the group means something.
    pub is_sum: bool,
}

const fn group(
    key: &'static str,
    name: &'static str,
    members: &'static [C],
    is_sum: bool,
) -> Group {
    Group {
        key,
        name,
        members,
        is_sum,
    }
}

/// All groups. Those whose members are not in every total alike are no sum.
pub static GROUPS: [Group; 25] = [
    group(
        "hlp",
        "HLP",
        &[
            C::PostUpper,
            C::PostLower,
            C::TxProg,
            C::CallbackUpper,
            C::CallbackLower,
            C::AfterProgress,
        ],
        false,
    ),
    group(
        "llp",
        "LLP",
        &[
            C::MdSetup,
            C::MdBarrier,
            C::DoorbellBarrier,
            C::PioCopy,
            C::PostMisc,
            C::LlpProg,
        ],
        false,
    ),
    group("io", "Integrated NIC", &[C::Pcie, C::RcToMem8], false),
    group("hlp-post", "HLP_post", C::HLP_POST, true),
    group("hlp-tx-prog", "HLP_tx_prog", &[C::TxProg], true),
    group("hlp-rx-prog", "HLP_rx_prog", C::HLP_RX_PROG, true),
    group("llp-post", "LLP_post", C::LLP_POST, true),
    group("llp-prog", "LLP_prog", &[C::LlpProg], true),
    group("pio", "PIO", &[C::PioCopy], true),
    group("md-setup", "MD setup", &[C::MdSetup], true),
    group("md-barrier", "Barrier for MD", &[C::MdBarrier], true),
    group(
        "doorbell-barrier",
        "Barrier for DBC",
        &[C::DoorbellBarrier],
        true,
    ),
    group("llp-post-misc", "Misc in LLP_post", &[C::PostMisc], true),
    group("busy-post", "Busy post", &[C::BusyPost], true),
    group(
        "busy-posts",
        "Busy posts of one operation",
        &[C::BusyPosts],
        true,
    ),
    group(
        "measurement-update",
        "Measurement update",
        &[C::MeasurementUpdate],
        true,
    ),
    group("pcie", "PCIe", &[C::Pcie], true),
    group("rc-to-mem", "RC-to-MEM", &[C::RcToMem8], true),
    group("network", "Network", C::NETWORK, true),
    group("wire", "Wire", &[C::Wire], true),
    group("switch", "Switch", &[C::Switch], true),
    group(
        "hlp-post-upper",
        "HLP_post, upper layer",
        &[C::PostUpper],
        true,
    ),
    group(
        "hlp-post-lower",
        "HLP_post, lower layer",
        &[C::PostLower],
        true,
    ),
    group(
        "callbacks",
        "Callbacks of a receive",
        &[C::CallbackUpper, C::CallbackLower],
        true,
    ),
    group(
        "after-progress",
        "After progress",
        &[C::AfterProgress],
        true,
    ),
];

impl Group {
    /// Returns the group of this key.
    #[must_use]
    pub fn named(key: &str) -> Option<&'static Self> {
        GROUPS.iter().find(|group| group.key == key)
    }
}

/// Describes the new time of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// It is this.
    To(Ns),
    /// It changes by so many percent; less than 0 is faster.
    By(f64),
}

impl Amount {
    /// Reads `15ns`, `-20%` or `+5%`.
    ///
    /// # Errors
    /// Returns a sentence that names the mistake in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(percent) = text.strip_suffix('%') else {
            return Ns::parse(text).map(Self::To).map_err(|_| {
                format!("{text:?} is neither a time (15ns, 1.5us) nor a change (-20%, +5%)")
            });
        };
        if !percent.starts_with(['-', '+']) {
            return Err(format!(
                "{text:?} has no sign; -{percent}% is less time, +{percent}% more"
            ));
        }
        match percent.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= -100.0 => Ok(Self::By(number)),
            Ok(_) => Err(format!("{text:?} leaves less than no time")),
            Err(_) => Err(format!("{text:?} is no change in percent")),
        }
    }
}

impl Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::To(time) => write!(f, "{} ns", time.0),
            Self::By(percent) => write!(f, "{percent:+} %"),
        }
    }
}

/// A change of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The changed component or group.
    pub group: &'static Group,
    /// By how much.
    pub amount: Amount,
}

/// Returns the system with these changes, one after the other.
///
/// # Errors
/// Returns a sentence that says which change cannot be made, and why.
pub fn apply(system: &System, changes: &[Change]) -> Result<System, String> {
    let mut changed = system.clone();
    for change in changes {
        make(&mut changed, change)?;
    }
    Ok(changed)
}

fn make(system: &mut System, change: &Change) -> Result<(), String> {
    let Change { group, amount } = change;
    let factor = match *amount {
        Amount::By(percent) => 1.0 + percent / 100.0,
        Amount::To(_) if !group.is_sum => {
            return Err(format!(
                "{} has no time of its own in both totals; change it by percent",
                group.key
            ));
        }
        Amount::To(time) => {
            let now = sum_of(system, group.members)
                .map_err(|missing| format!("{}: {missing}", group.key))?;
            if now.0 == 0.0 && group.members.len() > 1 {
                return Err(format!("{} takes no time that could be divided", group.key));
            }
            if group.members.len() == 1 {
                put(system, group.members[0], time, change);
                return Ok(());
            }
            time.0 / now.0
        }
    };
    let mut known = 0;
    let mut reasons = Missing::default();
    for &member in group.members {
        match system.entry(member) {
            Entry::Known { value, .. } => {
                let value = *value * factor;
                put(system, member, value, change);
                known += 1;
            }
            // It changes with the component that it is in, if that is changed as well.
            Entry::Within(host, _) if group.members.contains(host) => {}
            Entry::Within(_, reason) | Entry::Unknown(reason) => {
                reasons.0.push((member.key().to_owned(), reason.clone()));
            }
        }
    }
    if known == 0 {
        return Err(format!("{}: {reasons}", group.key));
    }
    Ok(())
}

fn put(system: &mut System, member: C, time: Ns, change: &Change) {
    let how = format!("what if {} {}", change.group.key, change.amount);
    system.put(member, time, Source::Derived(how));
}

/// Describes the effect of changes on a total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The time before.
    pub before: Ns,
    /// The time with the changes.
    pub after: Ns,
}

impl Effect {
    /// Returns the time removed over the old time, in percent.
    #[must_use]
    pub fn speedup(&self) -> f64 {
        (self.before - self.after).percent_of(self.before)
    }
}

/// Returns the effect of changes on a total.
///
/// # Errors
/// Fails where a component of it is not known.
pub fn effect(before: &System, after: &System, total: Total) -> Result<Effect, Missing> {
    Ok(Effect {
        before: total.value(before)?,
        after: total.value(after)?,
    })
}

/// The reductions of figure 17, in percent.
pub const REDUCTIONS: [u32; 5] = [10, 30, 50, 70, 90];

/// One line of figure 17.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The reduced component or group.
    pub group: &'static Group,
    /// The speed-ups in percent at [`REDUCTIONS`], or what they need.
    pub speedups: Result<[f64; 5], Missing>,
}

/// One part of figure 17.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its letter in the paper.
    pub letter: char,
    /// The reduced component or group.
    pub title: &'static str,
    /// Whose speed-up it is.
    pub total: Total,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// The panels of figure 17, with the groups of their lines.
const PANELS: [(char, &str, Total, &[&str]); 4] = [
    (
        'a',
        "Overall injection: CPU",
        Total::Injection,
        &[
            "hlp",
            "llp",
            "hlp-post",
            "hlp-tx-prog",
            "llp-post",
            "llp-prog",
            "pio",
        ],
    ),
    (
        'b',
        "End-to-end latency: CPU",
        Total::Latency,
        &[
            "hlp",
            "llp",
            "hlp-post",
            "hlp-rx-prog",
            "llp-post",
            "llp-prog",
            "pio",
        ],
    ),
    (
        'c',
        "End-to-end latency: I/O",
        Total::Latency,
        &["io", "pcie", "rc-to-mem"],
    ),
    (
        'd',
        "End-to-end latency: network",
        Total::Latency,
        &["wire", "switch"],
    ),
];

/// Returns the curves of figure 17.
#[must_use]
pub fn curves(system: &System) -> Vec<Panel> {
    let panels = PANELS.iter();
    panels
        .map(|&(letter, title, total, keys)| Panel {
            letter,
            title,
            total,
            lines: keys
                .iter()
                .filter_map(|key| Group::named(key))
                .map(|group| Line {
                    group,
                    speedups: line(system, total, group),
                })
                .collect(),
        })
        .collect()
}

fn line(system: &System, total: Total, group: &'static Group) -> Result<[f64; 5], Missing> {
    let mut points = [0.0; 5];
    for (point, reduction) in points.iter_mut().zip(REDUCTIONS) {
        let change = Change {
            group,
            amount: Amount::By(-f64::from(reduction)),
        };
        // The needs of a total come first: its list of missing components is the longer one.
        let before = total.value(system)?;
        let reduced = apply(system, &[change])
            .map_err(|reason| Missing(vec![(group.key.to_owned(), reason)]))?;
        let after = total.value(&reduced)?;
        *point = Effect { before, after }.speedup();
    }
    Ok(points)
}
