//! Stacked bars: a whole, divided into its parts.

use super::figure::Figure;
use super::ink::{
    self, Area, Drawn, Side, coloured, failed, muted, over, series, short, width, words,
};
use crate::output::{Cell, Table};
use plotters::prelude::*;

/// Pixels of a picture from left to right, and of its edges.
const WIDTH: u32 = 920;
const LEFT: i32 = 12;
const RIGHT: i32 = 24;
/// Pixels of a bar, of a line of words, and of the axis with its words.
const BAR: i32 = 30;
const LINE: i32 = 20;
const AXIS: i32 = 48;
/// Sizes of fonts.
const NORMAL: i32 = 16;
const SMALL: i32 = 14;
/// The least pixels of a part that its share is written on.
const ROOM: i32 = 44;

/// A part of a bar.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) amount: f64,
    /// Its colour.
    pub(super) colour: usize,
}

/// A bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

impl Bar {
    /// Returns the whole.
    pub(super) fn whole(&self) -> f64 {
        self.parts.iter().map(|part| part.amount).sum()
    }

    fn share(&self, part: &Part) -> f64 {
        let whole = self.whole();
        if whole > 0.0 {
            part.amount / whole * 100.0
        } else {
            0.0
        }
    }

    /// Returns the legend's words for each part.
    fn legend(&self, unit: &str) -> Vec<(usize, String)> {
        let entry = |part: &Part| {
            let (amount, share) = (amount(part.amount, unit), self.share(part));
            (
                part.colour,
                format!("{} {amount} {unit} ({share:.1} %)", part.name),
            )
        };
        self.parts.iter().map(entry).collect()
    }
}

/// A scale from amounts to pixels.
struct Scale {
    left: i32,
    pixels: f64,
    most: f64,
}

impl Scale {
    fn x(&self, amount: f64) -> i32 {
        self.left + (amount / self.most * self.pixels).round() as i32
    }
}

/// Returns the table of the data.
fn table(title: &str, bars: &[Bar], unit: &str) -> Table {
    let mut table = Table::new("breakdown", title, &["whole", "part", unit, "%"]);
    for bar in bars {
        table.rows.extend(bar.parts.iter().map(|part| {
            vec![
                Cell::text(&bar.name),
                Cell::text(&part.name),
                Cell::Number(part.amount),
                Cell::Number(bar.share(part)),
            ]
        }));
    }
    table
}

/// Draws bars one below the other on one scale, each with its own legend.
pub(super) fn apart(id: &str, title: &str, unit: &str, bars: &[Bar]) -> Drawn<Figure> {
    let room = WIDTH as i32 - LEFT - RIGHT;
    let legends: Vec<_> = bars
        .iter()
        .map(|bar| lines(&bar.legend(unit), room))
        .collect();
    let rows = |legend: &Vec<Vec<_>>| LINE + BAR + 8 + LINE * legend.len() as i32 + 14;
    let high: i32 = legends.iter().map(rows).sum();
    let most = bars.iter().map(Bar::whole).fold(0.0, f64::max);
    let scale = Scale {
        left: LEFT,
        pixels: f64::from(room),
        most: if most > 0.0 { most } else { 1.0 },
    };
    let svg = ink::picture((WIDTH, (high + AXIS) as u32), title, |area| {
        axis(area, &scale, high, unit)?;
        let mut y = 0;
        for (bar, legend) in bars.iter().zip(&legends) {
            marks(area, &scale, (y + LINE, y + LINE + BAR))?;
            text(
                area,
                &bar.name,
                (LEFT, y + LINE / 2 - 1),
                words(NORMAL, Side::Right),
            )?;
            let whole = format!("{} {unit}", amount(bar.whole(), unit));
            let end = WIDTH as i32 - RIGHT;
            text(
                area,
                &whole,
                (end, y + LINE / 2 - 1),
                words(NORMAL, Side::Left),
            )?;
            stack(area, bar, &scale, (y + LINE, BAR), true)?;
            entries(area, legend, y + LINE + BAR + 8)?;
            y += rows(legend);
        }
        Ok(())
    })?;
    Ok(Figure::drawn(id, title, svg, table(title, bars, unit)))
}

/// Draws bars one below the other with their names beside them, and one legend for all.
pub(super) fn together(id: &str, title: &str, unit: &str, bars: &[Bar]) -> Drawn<Figure> {
    let names = bars.iter().map(|bar| width(&bar.name, NORMAL)).max();
    let left = LEFT + names.unwrap_or(0) + 10;
    let most = bars.iter().map(Bar::whole).fold(0.0, f64::max);
    let scale = Scale {
        left,
        pixels: f64::from(WIDTH as i32 - left - RIGHT - 44),
        most: if most > 0.0 { most } else { 1.0 },
    };
    let mut names: Vec<(usize, String)> = Vec::new();
    for part in bars.iter().flat_map(|bar| &bar.parts) {
        let entry = (part.colour, part.name.clone());
        if !names.contains(&entry) {
            names.push(entry);
        }
    }
    // A bar may lack parts that stand in front of its own in others: colours have their order.
    names.sort();
    let legend = lines(&names, WIDTH as i32 - LEFT - RIGHT);
    let top = LINE * legend.len() as i32 + 14;
    let row = BAR - 4;
    let high = top + row * bars.len() as i32 + 4;
    let svg = ink::picture((WIDTH, (high + AXIS) as u32), title, |area| {
        entries(area, &legend, 4)?;
        axis(area, &scale, high, unit)?;
        marks(area, &scale, (top - 4, high))?;
        for (at, bar) in (0..).zip(bars) {
            let y = top + row * at;
            let middle = y + row / 2;
            text(
                area,
                &bar.name,
                (left - 8, middle),
                words(NORMAL, Side::Left),
            )?;
            stack(area, bar, &scale, (y + 3, row - 6), false)?;
            let end = (scale.x(bar.whole()) + 6, middle);
            text(area, &short(bar.whole()), end, words(SMALL, Side::Right))?;
        }
        Ok(())
    })?;
    Ok(Figure::drawn(id, title, svg, table(title, bars, unit)))
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), style: TextStyle<'static>) -> Drawn {
    area.draw(&Text::new(text.to_owned(), at, style))
        .map_err(failed)
}

/// Draws the parts of a bar, and their shares on those that have room.
fn stack(area: &Area<'_>, bar: &Bar, scale: &Scale, (y, high): (i32, i32), shares: bool) -> Drawn {
    let mut sum = 0.0;
    for part in &bar.parts {
        let (from, to) = (scale.x(sum), scale.x(sum + part.amount));
        sum += part.amount;
        // A gap of a pixel tells neighbours apart.
        let end = if to - from > 3 { to - 1 } else { to };
        let colour = series(part.colour).filled();
        area.draw(&Rectangle::new([(from, y), (end, y + high)], colour))
            .map_err(failed)?;
        if shares && to - from >= ROOM {
            let share = format!("{:.1} %", bar.share(part));
            let style = coloured(SMALL, Side::Middle, over(part.colour));
            text(area, &share, ((from + end) / 2, y + high / 2), style)?;
        }
    }
    Ok(())
}

/// Returns the amounts that the scale marks.
fn marked(scale: &Scale) -> impl Iterator<Item = f64> {
    let step = ink::step(scale.most, 8);
    let last = (scale.most / step).floor() as u32;
    (0..=last).map(move |mark| f64::from(mark) * step)
}

/// Draws a line from `top` to `bottom` at each mark of the scale.
fn marks(area: &Area<'_>, scale: &Scale, (top, bottom): (i32, i32)) -> Drawn {
    for amount in marked(scale) {
        let x = scale.x(amount);
        let line = PathElement::new([(x, top), (x, bottom)], ink::grid());
        area.draw(&line).map_err(failed)?;
    }
    Ok(())
}

/// Draws the axis with its numbers below.
fn axis(area: &Area<'_>, scale: &Scale, y: i32, unit: &str) -> Drawn {
    let ends = [(scale.left, y), (scale.x(scale.most), y)];
    area.draw(&PathElement::new(ends, ink::grid()))
        .map_err(failed)?;
    marks(area, scale, (y, y + 5))?;
    for amount in marked(scale) {
        let at = (scale.x(amount), y + 14);
        text(area, &short(amount), at, muted(SMALL, Side::Middle))?;
    }
    let (what, middle) = (quantity(unit), scale.left + (scale.pixels / 2.0) as i32);
    text(area, &what, (middle, y + 34), words(SMALL, Side::Middle))
}

/// Returns the words below an axis with this unit.
fn quantity(unit: &str) -> String {
    if is_time(unit) {
        format!("Time ({unit})")
    } else {
        format!("Number of {unit}")
    }
}

fn is_time(unit: &str) -> bool {
    ["ns", "us", "ms"].contains(&unit)
}

/// Prints an amount: times with the same number of digits everywhere, and counts with those they
/// have.
fn amount(number: f64, unit: &str) -> String {
    if is_time(unit) {
        format!("{number:.2}")
    } else {
        short(number)
    }
}

/// Breaks the entries of a legend into lines.
fn lines(entries: &[(usize, String)], room: i32) -> Vec<Vec<(i32, usize, String)>> {
    let mut lines = vec![Vec::new()];
    let mut x = 0;
    for (colour, words) in entries {
        let takes = 18 + width(words, SMALL) + 16;
        if x > 0 && x + takes > room {
            lines.push(Vec::new());
            x = 0;
        }
        if let Some(line) = lines.last_mut() {
            line.push((x, *colour, words.clone()));
        }
        x += takes;
    }
    lines
}

/// Draws the lines of a legend from `y` on.
fn entries(area: &Area<'_>, lines: &[Vec<(i32, usize, String)>], y: i32) -> Drawn {
    for (at, line) in (0..).zip(lines) {
        let middle = y + LINE * at + LINE / 2;
        for (x, colour, words_of) in line {
            let from = LEFT + x;
            let swatch = [(from, middle - 6), (from + 12, middle + 6)];
            area.draw(&Rectangle::new(swatch, series(*colour).filled()))
                .map_err(failed)?;
            text(
                area,
                words_of,
                (from + 18, middle),
                words(SMALL, Side::Right),
            )?;
        }
    }
    Ok(())
}
