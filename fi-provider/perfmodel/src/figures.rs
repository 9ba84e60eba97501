//! The breakdowns: figures 4, 8 and 10 to 16 of the paper, as lists.

use crate::total::{period, sum, sum_of};
use crate::{Component as C, Missing, Ns, System, Term, Total};

/// One part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its time.
    pub time: Ns,
    /// Its share of the bar, in percent.
    pub percent: f64,
}

/// A time that is divided into parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The divided whole.
    pub name: String,
    /// The whole.
    pub total: Ns,
    /// The parts, in the order in which they happen.
    pub parts: Vec<Part>,
}

/// A figure of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its number in the paper.
    pub number: u8,
    /// Its content.
    pub title: &'static str,
    /// Its bars; in place of one, the missing components.
    pub bars: Vec<Result<Bar, Missing>>,
}

/// A part that is not computed yet: its name and its terms.
type Row = (String, Vec<Term>);

/// Makes a row of components that are each in it once.
fn row(name: &str, components: &[C]) -> Row {
    let terms = components.iter().map(|&component| Term {
        component,
        times: 1.0,
    });
    (name.to_owned(), terms.collect())
}

/// Computes a bar.
fn bar(system: &System, name: &str, rows: Vec<Row>) -> Result<Bar, Missing> {
    let mut missing = Missing::default();
    let mut parts = Vec::new();
    for (name, terms) in rows {
        match sum(system, &terms) {
            Ok(time) => parts.push(Part {
                name,
                time,
                percent: 0.0,
            }),
            Err(error) => missing.0.extend(error.0),
        }
    }
    if !missing.0.is_empty() {
        return Err(missing);
    }
    let total: Ns = parts.iter().map(|part| part.time).sum();
    for part in &mut parts {
        part.percent = part.time.percent_of(total);
    }
    Ok(Bar {
        name: name.to_owned(),
        total,
        parts,
    })
}

/// Makes a row for each component of a family. One that is contained in another has none.
fn family(system: &System, components: &[C]) -> Vec<Row> {
    let apart = |component: &&C| !matches!(system.entry(**component), crate::Entry::Within(..));
    let known = components.iter().filter(apart);
    known
        .map(|&component| row(&system.words(component), &[component]))
        .collect()
}

/// Returns the share of `LLP_prog` in the progress of one operation, as a term.
fn amortised(system: &System) -> Result<Term, Missing> {
    Ok(Term {
        component: C::LlpProg,
        times: 1.0 / f64::from(period(system)?),
    })
}

/// Returns all breakdowns.
#[must_use]
pub fn all(system: &System) -> Vec<Figure> {
    let figure = |number, title, bars| Figure {
        number,
        title,
        bars,
    };
    vec![
        figure(
            4,
            "Time in an LLP_post",
            vec![bar(system, "LLP_post", family(system, C::LLP_POST))],
        ),
        figure(
            8,
            "Injection overhead with the LLP",
            vec![bar(
                system,
                Total::InjectionLow.words(),
                injection_low(system),
            )],
        ),
        figure(
            10,
            "Latency with the LLP",
            vec![bar(
                system,
                Total::LatencyLow.words(),
                latency(system, &[], &[]),
            )],
        ),
        figure(
            11,
            "Time in the HLP",
            vec![
                bar(system, "Initiation", family(system, C::HLP_POST)),
                bar(system, "Wait for a receive", family(system, C::WAIT)),
            ],
        ),
        figure(
            12,
            "Overall injection overhead",
            vec![overall_injection(system)],
        ),
        figure(
            13,
            "End-to-end latency",
            vec![bar(
                system,
                Total::Latency.words(),
                latency(
                    system,
                    &[row("HLP_post", C::HLP_POST)],
                    &[row("HLP_rx_prog", C::HLP_RX_PROG)],
                ),
            )],
        ),
        figure(14, "HLP and LLP", layers(system)),
        figure(
            15,
            "Categories of the end-to-end latency",
            categories(system),
        ),
        figure(16, "Time on the nodes", nodes(system)),
    ]
}

/// Returns the rows of the LLP's injection overhead.
fn injection_low(system: &System) -> Vec<Row> {
    let amortised = |component| Term {
        component,
        times: 1.0 / f64::from(system.low_period),
    };
    let mut misc = row("Misc", &[C::MeasurementUpdate]);
    misc.1.push(amortised(C::BusyPost));
    vec![
        row("LLP_post", C::LLP_POST),
        ("LLP_prog".to_owned(), vec![amortised(C::LlpProg)]),
        misc,
    ]
}

/// Returns the rows of a latency in the order in which they happen.
fn latency(system: &System, before: &[Row], behind: &[Row]) -> Vec<Row> {
    let mut rows = before.to_vec();
    rows.extend([
        row("LLP_post", C::LLP_POST),
        row("PCIe of the sender", &[C::Pcie]),
    ]);
    rows.extend(family(system, C::NETWORK));
    rows.extend([
        row("PCIe of the receiver", &[C::Pcie]),
        row("RC-to-MEM(8B)", &[C::RcToMem8]),
        row("LLP_prog", &[C::LlpProg]),
    ]);
    rows.extend(behind.iter().cloned());
    rows
}

fn overall_injection(system: &System) -> Result<Bar, Missing> {
    let mut progress = row("Post_prog", &[C::TxProg]);
    progress.1.push(amortised(system)?);
    let post: Vec<C> = [C::LLP_POST, C::HLP_POST].concat();
    let rows = vec![row("Post", &post), progress, row("Misc", &[C::BusyPosts])];
    bar(system, Total::Injection.words(), rows)
}

fn layers(system: &System) -> Vec<Result<Bar, Missing>> {
    let sending = amortised(system).and_then(|term| {
        let rows = vec![row("HLP", &[C::TxProg]), ("LLP".to_owned(), vec![term])];
        bar(system, "Progress of a send", rows)
    });
    vec![
        bar(
            system,
            "Initiation",
            vec![row("HLP", C::HLP_POST), row("LLP", C::LLP_POST)],
        ),
        sending,
        bar(
            system,
            "Progress of a receive",
            vec![row("HLP", C::HLP_RX_PROG), row("LLP", &[C::LlpProg])],
        ),
    ]
}

/// All software of the end-to-end latency above the LLP.
fn hlp() -> Vec<C> {
    [C::HLP_POST, C::HLP_RX_PROG].concat()
}

/// The LLP's part of it.
fn llp() -> Vec<C> {
    [C::LLP_POST, &[C::LlpProg]].concat()
}

fn categories(system: &System) -> Vec<Result<Bar, Missing>> {
    let software: Vec<C> = [hlp(), llp()].concat();
    let mut io = row("I/O", &[C::RcToMem8]);
    let both = Term {
        component: C::Pcie,
        times: 2.0,
    };
    io.1.push(both);
    vec![
        bar(
            system,
            Total::Latency.words(),
            vec![row("CPU", &software), io, row("Network", C::NETWORK)],
        ),
        bar(system, "CPU", vec![row("LLP", &llp()), row("HLP", &hlp())]),
        bar(
            system,
            "I/O",
            vec![
                ("PCIe".to_owned(), vec![both]),
                row("RC-to-MEM(8B)", &[C::RcToMem8]),
            ],
        ),
        bar(system, "Network", family(system, C::NETWORK)),
    ]
}

fn nodes(system: &System) -> Vec<Result<Bar, Missing>> {
    let initiator: Vec<C> = [C::HLP_POST, C::LLP_POST].concat();
    let target: Vec<C> = [&[C::LlpProg], C::HLP_RX_PROG].concat();
    let io = [C::Pcie, C::RcToMem8];
    let all = |name, software: &[C], io: &[C]| row(name, &[software, io].concat());
    vec![
        bar(
            system,
            "On the nodes",
            vec![
                all("Initiator", &initiator, &[C::Pcie]),
                all("Target", &target, &io),
            ],
        ),
        bar(
            system,
            "Initiator",
            vec![row("CPU", &initiator), row("I/O", &[C::Pcie])],
        ),
        bar(system, "Target", vec![row("CPU", &target), row("I/O", &io)]),
        bar(
            system,
            "I/O of the target",
            vec![
                row("PCIe", &[C::Pcie]),
                row("RC-to-MEM(8B)", &[C::RcToMem8]),
            ],
        ),
    ]
}

/// Returns by how much the progress of a receive takes longer than that of a send (insight 4).
///
/// # Errors
/// Fails where a component is not known.
pub fn receive_over_send(system: &System) -> Result<f64, Missing> {
    let receive = sum_of(system, C::HLP_RX_PROG)? + sum_of(system, &[C::LlpProg])?;
    let send = sum(system, &[amortised(system)?])? + sum_of(system, &[C::TxProg])?;
    Ok(receive.0 / send.0)
}
