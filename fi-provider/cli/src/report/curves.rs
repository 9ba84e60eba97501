//! The curves of figure 17: speed-ups of a total by a reduction of each component.

use super::figure::Figure;
use super::ink::{self, Area, Drawn, Side, failed, series, words};
use crate::output::{Cell, Table};
use fi_perfmodel::System;
use fi_perfmodel::whatif::{Panel, REDUCTIONS, curves};
use plotters::prelude::*;

/// Pixels of a panel, and of its legend.
const SIZE: (u32, u32) = (560, 340);
const LEGEND: u32 = 148;

/// A line that is known: its name, its speed-ups, its colour and mark, and whether it bounds those
/// of its parts.
type Known = (&'static str, [f64; 5], usize, bool);

/// Members from which on a group is all of a layer.
const LAYER: usize = 5;

/// Returns a figure for each panel.
pub(super) fn figures(system: &System) -> Drawn<Vec<Figure>> {
    curves(system).iter().map(figure).collect()
}

fn figure(panel: &Panel) -> Drawn<Figure> {
    let id = format!("whatif-{}", panel.letter);
    let title = format!("What if: {}", panel.title);
    let (mut known, mut missing): (Vec<Known>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, line) in panel.lines.iter().enumerate() {
        match &line.speedups {
            Ok(points) => {
                let is_layer = line.group.members.len() >= LAYER && !line.group.is_sum;
                known.push((line.group.name, *points, at, is_layer));
            }
            Err(reason) => missing.push(format!("{} {reason}.", line.group.name)),
        }
    }
    let mut figure = if known.is_empty() {
        Figure::without(&id, &title, missing.join(" "))
    } else {
        let svg = ink::picture(SIZE, &title, |area| draw(area, &known))?;
        let mut figure = Figure::drawn(&id, &title, svg, table(&title, &known));
        figure.notes.append(&mut missing);
        figure
    };
    figure = figure.note(format!(
        "Speed-up of the {}: time removed over time before. Figure 17{} of the paper.",
        panel.total.words().to_lowercase(),
        panel.letter
    ));
    Ok(figure)
}

fn table(title: &str, lines: &[Known]) -> Table {
    let mut table = Table::new("curves", title, &["component"]);
    let columns = REDUCTIONS.map(|reduction| format!("-{reduction} %"));
    table.columns.extend(columns);
    for (name, points, ..) in lines {
        let mut row = vec![Cell::text(*name)];
        row.extend(points.map(Cell::Number));
        table.rows.push(row);
    }
    table
}

fn draw(area: &Area<'_>, lines: &[Known]) -> Drawn {
    let (plot, legend) = area.split_horizontally(SIZE.0 - LEGEND);
    let points = lines.iter().flat_map(|(_, points, ..)| points);
    let most = points.copied().fold(0.0, f64::max);
    let axes = ["Reduction of the component (%)", "Speed-up (%)"];
    let mut chart = ink::plane(&plot, 5.0..95.0, most, axes)?;
    for (_, points, which, is_layer) in lines {
        let places: Vec<(f64, f64)> = REDUCTIONS.map(f64::from).into_iter().zip(*points).collect();
        let line = PathElement::new(
            places.clone(),
            series(*which).stroke_width(stroke(*is_layer)),
        );
        chart.draw_series([line]).map_err(failed)?;
        for place in places {
            let (x, y) = chart.backend_coord(&place);
            mark(&plot, (x, y), *which, *is_layer)?;
        }
    }
    // The legend has the order of the lines' ends.
    let mut order: Vec<&Known> = lines.iter().collect();
    order.sort_by(|a, b| b.1[4].total_cmp(&a.1[4]));
    let left = (SIZE.0 - LEGEND) as i32;
    for (at, (name, _, which, is_layer)) in (0..).zip(order) {
        let y = 24 + 24 * at;
        let line = PathElement::new(
            [(2, y), (26, y)],
            series(*which).stroke_width(stroke(*is_layer)),
        );
        legend.draw(&line).map_err(failed)?;
        mark(area, (left + 14, y), *which, *is_layer)?;
        let text = Text::new((*name).to_owned(), (34, y), words(15, Side::Right));
        legend.draw(&text).map_err(failed)?;
    }
    Ok(())
}

/// Returns the pixels of a line: that of a whole layer is seen behind that of its largest part.
fn stroke(is_layer: bool) -> u32 {
    if is_layer { 5 } else { 2 }
}

/// Draws the mark of a line, whose shape tells it from others without its colour.
fn mark(area: &Area<'_>, (x, y): (i32, i32), which: usize, is_layer: bool) -> Drawn {
    let colour = series(which).filled();
    // Corners to the right of the middle and below it.
    let shape: &[(i32, i32)] = match which % 7 {
        0 => &[],
        1 => &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
        2 => &[(0, -6), (6, 5), (-6, 5)],
        3 => &[(0, 6), (6, -5), (-6, -5)],
        4 => &[(0, -6), (6, 0), (0, 6), (-6, 0)],
        5 => &[
            (-2, -6),
            (2, -6),
            (2, -2),
            (6, -2),
            (6, 2),
            (2, 2),
            (2, 6),
            (-2, 6),
            (-2, 2),
            (-6, 2),
            (-6, -2),
            (-2, -2),
        ],
        _ => &[(-7, -3), (7, -3), (7, 3), (-7, 3)],
    };
    if shape.is_empty() {
        let radius = if is_layer { 7 } else { 5 };
        return area
            .draw(&Circle::new((x, y), radius, colour))
            .map_err(failed);
    }
    let size = if is_layer { 3 } else { 2 };
    let corner = |(right, down): &(i32, i32)| (x + right * size / 2, y + down * size / 2);
    let corners: Vec<_> = shape.iter().map(corner).collect();
    area.draw(&Polygon::new(corners, colour)).map_err(failed)
}
