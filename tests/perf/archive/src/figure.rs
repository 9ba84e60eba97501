//! The figure: bars of time, and of size.

use crate::Found;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::error::Error;
use std::path::Path;

/// Pixels of a panel, of the names at its left, and of a bar with the space around it.
const WIDTH: i32 = 520;
const NAMES: i32 = 170;
const BAR: i32 = 26;
/// Pixels of the titles above a panel, and of the lines below.
const TITLE: i32 = 64;
const NOTES: i32 = 60;

const OURS: RGBColor = RGBColor(0, 114, 178);
const THEIRS: RGBColor = RGBColor(150, 150, 150);
const VIEW: RGBColor = RGBColor(225, 225, 225);
const CHUNKS: RGBColor = RGBColor(86, 180, 233);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A part of a bar: its length, and its colour.
type Part = (f64, RGBColor);

/// Draws times and sizes.
pub(crate) fn draw(found: &[Found], path: &Path) -> Result<(), Box<dyn Error>> {
    let size = (
        2 * WIDTH as u32,
        (TITLE + NOTES + BAR * found.len() as i32) as u32,
    );
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let colour = |one: &Found| match one {
        one if one.name.starts_with("calls") => OURS,
        one if one.is_view => VIEW,
        _ => THEIRS,
    };
    let times = found.iter().map(|one| vec![(one.both, colour(one))]);
    let sizes = found.iter().map(|one| {
        let written = (one.size.written as f64, colour(one));
        vec![written, (one.size.chunks as f64, CHUNKS)]
    });
    let names: Vec<_> = found.iter().map(|one| one.name).collect();
    panel(&root, 0, "save and load, us", &names, times.collect(), 2)?;
    panel(&root, WIDTH, "archive, B", &names, sizes.collect(), 0)?;
    let title = "1000 integers of 64 bits and 100 strings of 86 characters (paper: figure 3)";
    label(&root, title, (WIDTH, 18), 17, HPos::Center)?;
    let below = TITLE + BAR * found.len() as i32 + 20;
    let notes = "Light grey: loading makes a view that is checked, and no record. Light blue: a chunk, \
                 which stays in the record.";
    label(&root, notes, (WIDTH, below), 13, HPos::Center)?;
    root.present()?;
    Ok(())
}

/// Draws bars to the right of their names.
fn panel(
    root: &Area<'_>,
    left: i32,
    title: &str,
    names: &[&str],
    bars: Vec<Vec<Part>>,
    digits: usize,
) -> Result<(), Box<dyn Error>> {
    let sum = |bar: &Vec<Part>| bar.iter().map(|part| part.0).sum::<f64>();
    let most = bars.iter().map(sum).fold(0.0, f64::max);
    let room = f64::from(WIDTH - NAMES - 80);
    label(root, title, (left + NAMES, TITLE - 16), 14, HPos::Left)?;
    for ((at, name), bar) in (0..).zip(names).zip(&bars) {
        let (top, mut x) = (TITLE + at * BAR, f64::from(left + NAMES));
        let middle = top + BAR / 2 - 2;
        label(root, name, (left + NAMES - 8, middle), 13, HPos::Right)?;
        for &(length, colour) in bar {
            let end = x + length / most * room;
            let corners = [(x as i32, top), (end as i32, top + BAR - 5)];
            root.draw(&Rectangle::new(corners, colour.filled()))?;
            x = end;
        }
        let numbers: Vec<_> = bar
            .iter()
            .filter(|part| part.0 > 0.0)
            .map(|part| format!("{:.digits$}", part.0))
            .collect();
        let numbers = numbers.join(" + ");
        label(root, &numbers, (x as i32 + 6, middle), 12, HPos::Left)?;
    }
    Ok(())
}

fn label(
    root: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    side: HPos,
) -> Result<(), Box<dyn Error>> {
    let style = ("sans-serif", size).into_text_style(&(1, 1)).color(&BLACK);
    let style = style.pos(Pos::new(side, VPos::Center));
    root.draw(&Text::new(text.to_owned(), at, style))?;
    Ok(())
}
