//! The distribution of injection (figure 7), from the output of `farreach measure --tsv`.

use super::figure::Figure;
use super::ink::{self, Area, Drawn, failed, series};
use crate::output::{Cell, Table};
use plotters::prelude::*;

/// Pixels of the picture.
const SIZE: (u32, u32) = (920, 320);

const ID: &str = "distribution";
const TITLE: &str = "Distribution of the injection overhead";

/// A bar: from, to (ns), and how many posts.
type Bin = (f64, f64, u64);

/// Reads the rows of the table `distribution`: from ns, to ns, posts.
fn read(text: &str) -> Result<Vec<Bin>, String> {
    let mut bins = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut cells = line.split('\t');
        if cells.next() != Some(ID) {
            continue;
        }
        let number = |cell: Option<&str>| cell.and_then(|cell| cell.parse::<f64>().ok());
        let bin = (
            number(cells.next()),
            number(cells.next()),
            number(cells.next()),
        );
        let (Some(from), Some(to), Some(posts)) = bin else {
            return Err(format!(
                "line {}: not `{ID}`, from ns, to ns, posts",
                at + 1
            ));
        };
        if !(from <= to && posts >= 0.0 && to.is_finite()) {
            return Err(format!("line {}: no bar of a distribution", at + 1));
        }
        bins.push((from, to, posts as u64));
    }
    if bins.is_empty() {
        return Err(format!(
            "there is no table `{ID}`; farreach measure --tsv prints one"
        ));
    }
    Ok(bins)
}

/// Returns the figure without a measurement.
pub(super) fn none() -> Figure {
    let reason = "There is no measurement: farreach measure --tsv prints one for --measured.";
    Figure::without(ID, TITLE, reason.to_owned())
}

/// Returns the figure; why the text has none, otherwise.
pub(super) fn figure(text: &str) -> Drawn<Figure> {
    let bins = read(text)?;
    let posts: u64 = bins.iter().map(|(_, _, posts)| posts).sum();
    let (drawn, rest) = bins.split_at(even(&bins));
    let svg = ink::picture(SIZE, TITLE, |area| draw(area, drawn, posts))?;
    let mut table = Table::new(ID, TITLE, &["from ns", "to ns", "posts", "%"]);
    for (from, to, own) in &bins {
        let share = *own as f64 / posts.max(1) as f64 * 100.0;
        table.rows.push(vec![
            Cell::Number(*from),
            Cell::Number(*to),
            Cell::Count(*own),
            Cell::Number(share),
        ]);
    }
    let beyond: u64 = rest.iter().map(|(_, _, posts)| posts).sum();
    let mut note = format!("{posts} posts.");
    if let (Some((from, ..)), Some((_, to, _))) = (rest.first(), rest.last()) {
        let share = beyond as f64 / posts.max(1) as f64 * 100.0;
        note += &format!(
            " Those that took longer than {from:.2} ns, {beyond} ({share:.1} %), are not drawn: the longest took {to:.0} ns."
        );
    }
    let figure = Figure::drawn(ID, TITLE, svg, table).note(note);
    Ok(figure.note("Figure 7 of the paper."))
}

/// Returns how many of the first bars have one width: the last ones may be of all the longer times.
fn even(bins: &[Bin]) -> usize {
    let width = |bin: &Bin| bin.1 - bin.0;
    let usual = bins.first().map_or(0.0, width);
    let wider = bins.iter().position(|bin| width(bin) > 1.5 * usual);
    wider.filter(|at| *at > 0).unwrap_or(bins.len())
}

fn draw(area: &Area<'_>, bins: &[Bin], posts: u64) -> Drawn {
    let share = |own: u64| own as f64 / posts.max(1) as f64 * 100.0;
    let most = bins.iter().map(|bin| share(bin.2)).fold(0.0, f64::max);
    let from = bins.first().map_or(0.0, |bin| bin.0);
    let to = bins.last().map_or(1.0, |bin| bin.1).max(from + 1.0);
    let axes = ["Time between two messages at the device (ns)", "Posts (%)"];
    let mut chart = ink::plane(area, from..to, most, axes)?;
    for (from, to, own) in bins {
        let edge = (to - from) * 0.06;
        let corners = [(from + edge, 0.0), (to - edge, share(*own))];
        let bar = Rectangle::new(corners, series(0).filled());
        chart.draw_series([bar]).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_found_among_others() {
        let text = "table\ttotal\ntotals\tx\t1\n\ntable\tfrom ns\tto ns\tposts\t%\n\
                    distribution\t10\t20.5\t3\t75\ndistribution\t20.5\t31\t1\t25\n";
        assert_eq!(read(text), Ok(vec![(10.0, 20.5, 3), (20.5, 31.0, 1)]));
        let figure = figure(text).expect("drawn");
        let svg = figure.svg.expect("a picture");
        assert_eq!(svg.matches("class=\"f-0\"").count(), 2, "{svg}");
    }

    #[test]
    fn the_bar_of_all_longer_times_is_told_and_not_drawn() {
        let text = "distribution\t1\t2\t3\ndistribution\t2\t3\t6\ndistribution\t3\t5000\t1\n";
        let figure = figure(text).expect("drawn");
        let svg = figure.svg.expect("a picture");
        assert_eq!(svg.matches("class=\"f-0\"").count(), 2, "{svg}");
        assert!(figure.notes[0].contains("1 (10.0 %), are not drawn: the longest took 5000 ns"));
        assert_eq!(figure.data.expect("a table").rows.len(), 3);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "no table `distribution`"),
            ("distribution\t1\t2", "line 1: not"),
            ("x\ndistribution\t3\t2\t1", "line 2: no bar"),
        ] {
            let message = read(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
