//! Figures: the resources of endpoints as bars, and beside them their throughput.

use crate::error::{Error, Result};
use crate::results::Row;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Pixels of a panel.
const PANEL: (u32, u32) = (420, 290);
/// Panels in a row.
const COLUMNS: u32 = 3;
/// Pixels of the title, and of a line below the panels.
const TITLE: u32 = 44;
const LINE: u32 = 22;
/// Pixels at a panel's left edge, and below it.
const LEFT: u32 = 58;
const BELOW: u32 = 44;
/// Pixels of a letter, more or less, at the size of the small text.
const LETTER: u32 = 7;
/// Bars of a panel that have room for their numbers above them.
const NUMBERED: usize = 12;

/// The colours of series, in their order; those that tell colour-blind eyes apart come first.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(213, 94, 0),
    RGBColor(120, 120, 120),
    RGBColor(160, 140, 0),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Bars of one kind.
struct Panel {
    title: String,
    /// The labels below the groups.
    places: Vec<String>,
    /// The series, and their bars: a number for each place that has one.
    series: Vec<(String, Vec<Option<f64>>)>,
}

/// Selects the parts of a row that are drawn: its series, and its number.
type Look<'a> = (
    &'a str,
    &'a dyn Fn(&Row) -> String,
    &'a dyn Fn(&Row) -> Option<f64>,
);

impl Panel {
    fn new(rows: &[&Row], (title, series, number): Look<'_>) -> Self {
        let places = distinct(rows.iter().map(|row| row.place.clone()));
        let names = distinct(rows.iter().map(|row| series(row)));
        let bar = |name: &String, place: &String| {
            let of = |row: &&&Row| row.place == *place && series(row) == *name;
            rows.iter().find(of).and_then(|row| number(row))
        };
        let bars = |name: String| {
            let bars = places.iter().map(|place| bar(&name, place)).collect();
            (name, bars)
        };
        Self {
            title: title.to_owned(),
            series: names.into_iter().map(bars).collect(),
            places,
        }
    }

    fn bars(&self) -> impl Iterator<Item = f64> {
        self.series
            .iter()
            .flat_map(|(_, bars)| bars.iter().copied().flatten())
    }

    fn names(&self) -> Vec<&str> {
        self.series.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn draw(&self, area: &Area<'_>) -> std::result::Result<(), String> {
        let most = self.bars().fold(0.0, f64::max);
        let top = if most > 0.0 { most * 1.15 } else { 1.0 };
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 15))
            .margin_right(8)
            .set_label_area_size(LabelAreaPosition::Left, LEFT)
            .set_label_area_size(LabelAreaPosition::Bottom, BELOW)
            .build_cartesian_2d(0.0..self.places.len() as f64, 0.0..top)
            .map_err(text)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .y_labels(6)
            .max_light_lines(0)
            .label_style(("sans-serif", 12))
            .y_label_formatter(&|number| plain(*number))
            .draw()
            .map_err(text)?;
        let width = 0.8 / self.series.len() as f64;
        let numbered = self.bars().count() <= NUMBERED;
        for (which, (_, bars)) in self.series.iter().enumerate() {
            for (place, &bar) in bars.iter().enumerate() {
                let Some(bar) = bar else { continue };
                let left = place as f64 + 0.1 + which as f64 * width;
                let colour = COLOURS[which % COLOURS.len()].filled();
                chart
                    .plotting_area()
                    .draw(&Rectangle::new(
                        [(left, 0.0), (left + width * 0.94, bar)],
                        colour,
                    ))
                    .map_err(text)?;
                if numbered {
                    let style = style(11).pos(Pos::new(HPos::Center, VPos::Bottom));
                    let place = (left + width / 2.0, bar);
                    chart
                        .plotting_area()
                        .draw(&Text::new(plain(bar), place, style))
                        .map_err(text)?;
                }
            }
        }
        let (corner, _) = area.get_pixel_range();
        let base = (corner.start, area.get_pixel_range().1.start);
        for (place, name) in self.places.iter().enumerate() {
            let (x, y) = chart
                .plotting_area()
                .map_coordinate(&(place as f64 + 0.5, 0.0));
            // Long names take turns in two lines.
            let turn = if name.len() > 7 { place as i32 % 2 } else { 0 };
            let at = (x - base.0, y - base.1 + 5 + 14 * turn);
            let style = style(12).pos(Pos::new(HPos::Center, VPos::Top));
            area.draw(&Text::new(name.clone(), at, style))
                .map_err(text)?;
        }
        Ok(())
    }
}

/// Draws the rows of one figure.
///
/// # Errors
/// [`Error::Figure`] and [`Error::File`].
pub(crate) fn draw(title: &str, rows: &[&Row], path: &Path) -> Result<()> {
    let svg = svg(title, rows).map_err(|what| Error::Figure {
        path: path.to_owned(),
        what,
    })?;
    std::fs::write(path, svg).map_err(|error| Error::File {
        path: path.to_owned(),
        error,
    })
}

/// Returns a figure: resources first, then throughput, if there is any.
fn svg(title: &str, rows: &[&Row]) -> std::result::Result<String, String> {
    let mut panels = resources(rows);
    let taken = panels.len();
    panels.extend(throughput(rows));
    let notes = notes(rows);
    let mut legends = vec![legend("endpoints", &panels[0])];
    legends.extend(panels.get(taken).map(|panel| legend("messages", panel)));
    legends.dedup_by(|later, earlier| later.1 == earlier.1);
    legends.retain(|(_, names)| names.len() > 1);
    let width = COLUMNS * PANEL.0;
    let lines: u32 = legends
        .iter()
        .map(|(_, names)| legend_lines(names, width))
        .sum();
    let high = (panels.len() as u32).div_ceil(COLUMNS) * PANEL.1;
    let height = TITLE + high + (lines + notes.len() as u32) * LINE + LINE / 2;

    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        root.fill(&WHITE).map_err(text)?;
        let middle = (width as i32 / 2, TITLE as i32 / 2);
        let centred = style(20).pos(Pos::new(HPos::Center, VPos::Center));
        root.draw(&Text::new(title.to_owned(), middle, centred))
            .map_err(text)?;
        for (at, panel) in (0..).zip(&panels) {
            let corner = (at % COLUMNS * PANEL.0, TITLE + at / COLUMNS * PANEL.1);
            let area = root.clone().shrink(corner, PANEL);
            panel.draw(&area)?;
        }
        let mut y = (TITLE + high) as i32 + LINE as i32 / 2;
        for (what, names) in &legends {
            y = draw_legend(&root, what, names, y)?;
        }
        for note in notes {
            let left = style(13).pos(Pos::new(HPos::Left, VPos::Center));
            root.draw(&Text::new(note, (LEFT as i32, y), left))
                .map_err(text)?;
            y += LINE as i32;
        }
        root.present().map_err(text)?;
    }
    Ok(svg)
}

/// A kind of objects, and their number.
type Count = (&'static str, fn(&Row) -> u64);

/// Returns the panels of queue pairs, completion queues, pages, registers and memory.
fn resources(rows: &[&Row]) -> Vec<Panel> {
    let endpoints = |row: &Row| {
        if row.endpoints == row.place {
            String::new()
        } else {
            row.endpoints.clone()
        }
    };
    let counts: [Count; 5] = [
        ("queue pairs", |row| row.usage.queue_pairs),
        ("completion queues", |row| row.usage.completion_queues),
        ("UARs (doorbell pages)", |row| row.usage.pages),
        ("uUARs (doorbell registers)", |row| row.usage.registers),
        ("KiB, by the paper's table I", |row| {
            row.usage.table_bytes() >> 10
        }),
    ];
    let panel = |(title, count): Count| {
        Panel::new(rows, (title, &endpoints, &|row| Some(count(row) as f64)))
    };
    counts.into_iter().map(panel).collect()
}

/// Returns the panel of messages a second, by the words that tell the rows of one place apart.
fn throughput(rows: &[&Row]) -> Option<Panel> {
    rows.iter().find(|row| row.rate.is_some())?;
    let first = |key: fn(&Row) -> &String| rows.first().map(|row| key(row));
    let same_work = rows
        .iter()
        .all(|row| Some(&row.work) == first(|row| &row.work));
    let same_endpoints = rows
        .iter()
        .all(|row| Some(&row.endpoints) == first(|row| &row.endpoints))
        || rows.iter().all(|row| row.endpoints == row.place);
    let series = |row: &Row| match (same_work, same_endpoints) {
        (true, _) => row.endpoints.clone(),
        (false, true) => row.work.clone(),
        (false, false) => format!("{}, {}", row.work, row.endpoints),
    };
    let millions = |row: &Row| row.rate.map(|[rate, ..]| rate as f64 / 1e6);
    let devices = distinct(rows.iter().map(|row| row.device.clone()));
    let title = format!("10^6 messages/s, {}", devices.join("; "));
    Some(Panel::new(rows, (&title, &series, &millions)))
}

/// Returns the notes below: the device, and its meaning for the numbers.
fn notes(rows: &[&Row]) -> Vec<String> {
    let devices = distinct(rows.iter().map(|row| row.device.clone()));
    let mut notes = vec![format!("Device: {}.", devices.join("; "))];
    if rows
        .iter()
        .any(|row| row.rate.is_some() && row.is_software())
    {
        notes.push(
            "The device is software: the counts are exact, the throughput says nothing about any hardware.".to_owned(),
        );
    }
    notes
}

fn legend<'a>(what: &'a str, panel: &'a Panel) -> (&'a str, Vec<&'a str>) {
    (what, panel.names())
}

/// Returns the pixels of an entry of a legend.
fn entry_width(name: &str) -> u32 {
    name.len() as u32 * LETTER + 36
}

/// Returns the lines that a legend takes.
fn legend_lines(names: &[&str], width: u32) -> u32 {
    let (mut lines, mut x) = (1, LEFT + 80);
    for name in names {
        if x + entry_width(name) > width {
            lines += 1;
            x = LEFT + 80;
        }
        x += entry_width(name);
    }
    lines
}

/// Draws a legend from line `y` on; where the next thing goes.
fn draw_legend(
    root: &Area<'_>,
    what: &str,
    names: &[&str],
    y: i32,
) -> std::result::Result<i32, String> {
    let left = style(13).pos(Pos::new(HPos::Left, VPos::Center));
    let width = root.dim_in_pixel().0;
    let mut y = y;
    root.draw(&Text::new(
        format!("{what}:"),
        (LEFT as i32, y),
        left.clone(),
    ))
    .map_err(text)?;
    let mut x = LEFT + 80;
    for (which, name) in names.iter().enumerate() {
        if x + entry_width(name) > width {
            x = LEFT + 80;
            y += LINE as i32;
        }
        let colour = COLOURS[which % COLOURS.len()].filled();
        root.draw(&Circle::new((x as i32, y), 6, colour))
            .map_err(text)?;
        root.draw(&Text::new(
            (*name).to_owned(),
            (x as i32 + 12, y),
            left.clone(),
        ))
        .map_err(text)?;
        x += entry_width(name);
    }
    Ok(y + LINE as i32)
}

fn style(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_text_style(&(1, 1)).color(&BLACK)
}

/// Returns a number without superfluous digits.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 || number >= 100.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the values, each once, in the order of their first appearance.
fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
