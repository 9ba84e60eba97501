//! The figure: a panel for each window and number of threads.

use crate::Failure;
use crate::curves::{KINDS, Panel, SIZES, WINDOWS};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Pixels of a panel, and of the lines above and below all.
const PANEL: (u32, u32) = (400, 290);
const TITLE: u32 = 36;
const LEGEND: u32 = 34;

/// Colours of the kinds.
const COLOURS: [RGBColor; KINDS.len()] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(120, 120, 120),
];

/// Draws all panels.
pub(crate) fn draw(panels: &[Panel], path: &Path) -> Result<(), Failure> {
    let columns = WINDOWS.len() as u32;
    let lines = (panels.len() as u32).div_ceil(columns);
    let size = (columns * PANEL.0, TITLE + lines * PANEL.1 + LEGEND);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let words = |size: i32, side| {
            let style = ("sans-serif", size).into_text_style(&(1, 1)).color(&BLACK);
            style.pos(Pos::new(side, VPos::Center))
        };
        let title =
            "Bandwidth of calls that return their argument, both directions (paper: figure 5)";
        let middle = (size.0 as i32 / 2, TITLE as i32 / 2);
        root.draw(&Text::new(title, middle, words(18, HPos::Center)))?;
        let all = || {
            panels
                .iter()
                .flat_map(|panel| panel.curves.iter().flatten())
        };
        let least = all().copied().fold(f64::INFINITY, f64::min) / 1.5;
        let most = all().copied().fold(0.0, f64::max) * 1.5;
        for (at, panel) in (0..).zip(panels) {
            let corner = (at % columns * PANEL.0, TITLE + at / columns * PANEL.1);
            let corner = (corner.0 as i32, corner.1 as i32);
            let caption = format!("window {}, threads {}", panel.window, panel.threads);
            let mut chart = ChartBuilder::on(&root.clone().shrink(corner, PANEL))
                .caption(caption, ("sans-serif", 14))
                .margin_right(14)
                .set_label_area_size(LabelAreaPosition::Left, 62)
                .set_label_area_size(LabelAreaPosition::Bottom, 40)
                .build_cartesian_2d(
                    (SIZES[0] as f64..SIZES[SIZES.len() - 1] as f64).log_scale(),
                    (least..most).log_scale(),
                )?;
            chart
                .configure_mesh()
                .max_light_lines(0)
                .label_style(("sans-serif", 12))
                .x_desc("B")
                .y_desc("GB/s")
                .x_labels(6)
                .x_label_formatter(&|size| bytes(*size))
                .y_label_formatter(&|rate| format!("{rate}"))
                .draw()?;
            for (curve, colour) in panel.curves.iter().zip(COLOURS) {
                let points = || {
                    SIZES
                        .iter()
                        .zip(curve)
                        .map(|(&size, &rate)| (size as f64, rate))
                };
                let line = points().collect::<Vec<_>>();
                chart.draw_series([PathElement::new(line, colour.stroke_width(2))])?;
                chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
            }
        }
        let y = (TITLE + lines * PANEL.1 + LEGEND / 2) as i32;
        for ((at, kind), colour) in (0..).zip(KINDS).zip(COLOURS) {
            let x = 80 + 220 * at;
            root.draw(&Circle::new((x, y), 6, colour.filled()))?;
            let text = match kind {
                "put" => "put of the fabric",
                kind => kind,
            };
            root.draw(&Text::new(text, (x + 12, y), words(14, HPos::Left)))?;
        }
        root.present()?;
    }
    Ok(std::fs::write(path, svg)?)
}

/// Returns a number of bytes, shortly.
fn bytes(size: f64) -> String {
    match size {
        size if size >= f64::from(1 << 20) => format!("{:.0} MiB", size / f64::from(1 << 20)),
        size if size >= f64::from(1 << 10) => format!("{:.0} KiB", size / f64::from(1 << 10)),
        size => format!("{size:.0}"),
    }
}
