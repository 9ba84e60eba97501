//! Instructions of calls by layer, from a stored table of counts.

use super::bars::{Bar, Part, together};
use super::figure::Figure;
use super::ink::Drawn;
use farreach_icount::costs::Layers;
use farreach_icount::layer::Layer;
use farreach_icount::table::{Table, is_none};

/// The parts of a bar, in the order in which a call goes through them, and the layers of each:
/// there are more layers than colours that can be told apart.
const PARTS: [(&str, &[Layer]); 8] = [
    ("interface", &[Layer::Caller, Layer::Interface]),
    ("routing", &[Layer::Routing]),
    ("memory", &[Layer::Memory]),
    ("descriptor", &[Layer::Descriptor]),
    ("doorbell record", &[Layer::DoorbellRecord]),
    ("BlueFlame", &[Layer::BlueFlame]),
    ("completion", &[Layer::Completion, Layer::Matching]),
    (
        "misc",
        &[Layer::Lock, Layer::Waiting, Layer::Misc, Layer::Unaccounted],
    ),
];

/// The colours of the parts, rising: yellow is faint where a part is a line.
const COLOURS: [usize; PARTS.len()] = [0, 1, 2, 3, 4, 5, 6, 8];

/// Returns a figure for each target, of the named calls, or of all if none is named; why the text
/// has none, otherwise.
pub(super) fn figures(text: &str, calls: &[String]) -> Drawn<Vec<Figure>> {
    let table = Table::read(text)?;
    let is_wanted = |name: &String| calls.is_empty() || calls.contains(name);
    let rows = || table.0.iter().filter(|((name, _), _)| is_wanted(name));
    let mut targets: Vec<&String> = rows().map(|((_, target), _)| target).collect();
    targets.sort();
    targets.dedup();
    if targets.is_empty() {
        return Err(match calls {
            [] => "there is no count in it".to_owned(),
            calls => format!("there is no count of {} in it", calls.join(", ")),
        });
    }
    let figure = |(at, target): (usize, &&String)| {
        let of_target = rows().filter(|((_, of), _)| of == *target);
        let bars: Vec<Bar> = of_target
            .map(|((name, _), layers)| bar(name, layers))
            .collect();
        let (id, title) = (
            format!("instructions-{}", at + 1),
            match &target[..] {
                "-" => "Instructions of a call that has no target".to_owned(),
                target => format!("Instructions of a call: {target}"),
            },
        );
        together(&id, &title, "instructions", &bars)
    };
    targets.iter().enumerate().map(figure).collect()
}

/// Makes the bar of a call. A layer of less than none, where the loop without the call had more, is
/// taken off the first part.
fn bar(name: &str, layers: &Layers) -> Bar {
    let of = |all: &[Layer]| -> f64 { all.iter().filter_map(|layer| layers.get(layer)).sum() };
    let less: f64 = PARTS.iter().map(|(_, all)| of(all).min(0.0)).sum();
    let mut parts = Vec::new();
    for (colour, (name, all)) in COLOURS.into_iter().zip(&PARTS) {
        let amount = of(all).max(0.0);
        let amount = if parts.is_empty() {
            amount + less
        } else {
            amount
        };
        if amount > 0.0 && !is_none(amount) {
            parts.push(Part {
                name: (*name).to_owned(),
                amount,
                colour,
            });
        }
    }
    Bar {
        name: name.to_owned(),
        parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ink::colours;

    const TABLE: &str = "operation\ttarget\tlayer\tinstructions\n# a comment\n\
        put\tRC\tdescriptor\t31\nput\tRC\tinterface\t20\nput\tRC\tcaller\t-1\nget\tRC\tdescriptor\t30.5\n\
        put\tnode\tinterface\t12\n";

    #[test]
    fn a_figure_for_each_target() {
        let figures = figures(TABLE, &[]).expect("drawn");
        let titles: Vec<_> = figures.iter().map(|figure| &figure.title[..]).collect();
        assert_eq!(
            titles,
            ["Instructions of a call: RC", "Instructions of a call: node"]
        );
        let svg = figures[0].svg.as_deref().expect("a picture");
        // A part for each count, and one in the legend for each part.
        assert_eq!(svg.matches("class=\"f-0\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"f-3\"").count(), 3, "{svg}");
        for words in ["put", "get", "50", "30.5", "interface", "descriptor"] {
            assert!(svg.contains(&format!("\n{words}\n")), "{words}: {svg}");
        }
    }

    #[test]
    fn calls_are_chosen_by_their_names() {
        let figures = figures(TABLE, &["get".to_owned()]).expect("drawn");
        let svg = figures[0].svg.as_deref().expect("a picture");
        assert_eq!((figures.len(), svg.contains("\nput\n")), (1, false));
    }

    #[test]
    fn every_layer_has_a_part_and_every_part_a_colour() {
        for layer in Layer::ALL {
            let parts = PARTS.iter().filter(|(_, all)| all.contains(&layer));
            assert_eq!(parts.count(), 1, "{layer}");
        }
        assert!(PARTS.len() <= colours());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("operation\ttarget\tlayer\tinstructions\n", "no count in it"),
            ("a\tb\tc", "line 1 is not of a table"),
            ("a\tb\tc\t1", "line 1 is not of a table"),
        ] {
            let message = figures(text, &[]).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
        let text = "operation\ttarget\tlayer\tinstructions\nput\tRC\tdescriptor\t31\n";
        let message = figures(text, &["frob".to_owned()]).expect_err(text);
        assert_eq!(message, "there is no count of frob in it");
    }
}
