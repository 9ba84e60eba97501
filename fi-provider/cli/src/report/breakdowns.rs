//! The breakdowns of the model, as stacked bars.

use super::bars::{Bar, Part, apart};
use super::figure::Figure;
use super::ink::{Drawn, colours};
use fi_perfmodel::figures::{self, Figure as Breakdown};
use fi_perfmodel::{Entry, Ns, System, Total};

/// Parts that have the same colour in all figures. Those of one figure differ in theirs.
const COLOURS: [(&str, usize); 20] = [
    ("LLP_post", 0),
    ("LLP", 0),
    ("Post", 0),
    ("Initiator", 0),
    ("HLP_post", 1),
    ("HLP", 1),
    ("CPU", 1),
    ("PCIe", 2),
    ("PCIe of the sender", 2),
    ("PCIe of the receiver", 2),
    ("I/O", 2),
    ("Wire", 3),
    ("Network", 3),
    ("LLP_prog", 4),
    ("Post_prog", 4),
    ("HLP_rx_prog", 5),
    ("Target", 5),
    ("Misc", 6),
    ("Switch", 7),
    ("RC-to-MEM(8B)", 8),
];

/// Returns the figures in the order of the paper, with the results of benchmarks.
pub(super) fn figures(system: &System) -> Drawn<Vec<Figure>> {
    let all = figures::all(system).into_iter();
    all.map(|breakdown| figure(system, breakdown)).collect()
}

/// The sum that a figure divides, where it divides one.
fn total(number: u8) -> Option<Total> {
    match number {
        8 => Some(Total::InjectionLow),
        10 => Some(Total::LatencyLow),
        12 => Some(Total::Injection),
        13 => Some(Total::Latency),
        _ => None,
    }
}

fn figure(system: &System, breakdown: Breakdown) -> Drawn<Figure> {
    let id = format!("breakdown-{}", breakdown.number);
    let (mut bars, mut missing) = (Vec::new(), Vec::new());
    for bar in breakdown.bars {
        match bar {
            Ok(bar) => bars.push(bar),
            Err(reason) => missing.push(format!("A bar {reason}.")),
        }
    }
    let mut figure = if bars.is_empty() {
        Figure::without(&id, breakdown.title, missing.join(" "))
    } else {
        let longest = bars.iter().map(|bar| bar.total.0).fold(0.0, f64::max);
        let (unit, size) = unit(longest);
        let bars: Vec<Bar> = bars.iter().map(|bar| coloured(bar, size)).collect();
        let mut figure = apart(&id, breakdown.title, unit, &bars)?;
        figure.notes.append(&mut missing);
        figure
    };
    let whole = total(breakdown.number).map(|total| (total.value(system), system.observed(total)));
    if let Some((Ok(modelled), Entry::Known { value, source })) = whole {
        // Without the sign of a zero.
        let off = (modelled - *value).percent_of(*value);
        let off = if off.abs() < 0.05 { 0.0 } else { off };
        let Ns(observed) = *value;
        let note = format!("Observed: {observed:.2} ns ({source}); the model is {off:+.1} % off.");
        figure = figure.note(note);
    }
    Ok(figure.note(format!("Figure {} of the paper.", breakdown.number)))
}

/// Returns the unit in which times up to `longest` ns are read best, and its size in ns.
fn unit(longest: f64) -> (&'static str, f64) {
    match longest {
        ..1e5 => ("ns", 1.0),
        ..1e8 => ("us", 1e3),
        _ => ("ms", 1e6),
    }
}

/// Gives each part its colour: the known ones theirs, and the others those that are left.
fn coloured(bar: &figures::Bar, size: f64) -> Bar {
    let known = |name: &str| {
        let found = COLOURS.iter().find(|(known, _)| *known == name);
        found.map(|(_, colour)| *colour)
    };
    let taken: Vec<usize> = bar
        .parts
        .iter()
        .filter_map(|part| known(&part.name))
        .collect();
    let mut free = (0..colours())
        .filter(|colour| !taken.contains(colour))
        .cycle();
    let parts = bar.parts.iter().map(|part| Part {
        name: part.name.clone(),
        amount: part.time.0 / size,
        colour: known(&part.name)
            .or_else(|| free.next())
            .unwrap_or_default(),
    });
    Bar {
        name: bar.name.clone(),
        parts: parts.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_a_longer_unit() {
        assert_eq!(
            [unit(99_999.0).0, unit(1e5).0, unit(1e8).0],
            ["ns", "us", "ms"]
        );
    }

    #[test]
    fn parts_of_a_bar_have_their_own_colours() {
        for figure in figures::all(&System::paper()) {
            for bar in figure.bars.iter().flatten() {
                let bar = coloured(bar, 1.0);
                for (at, part) in bar.parts.iter().enumerate() {
                    let alike = |other: &&Part| other.colour == part.colour;
                    let other = bar.parts[..at].iter().find(alike);
                    let both = |other: &Part| {
                        other.name.starts_with("PCIe") && part.name.starts_with("PCIe")
                    };
                    assert!(other.is_none_or(both), "{}: {}", bar.name, part.name);
                }
            }
        }
    }
}
