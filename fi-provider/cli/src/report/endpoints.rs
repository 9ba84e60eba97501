//! The trade-off of endpoints: resources of lanes under each policy, by the number of threads.

use super::figure::Figure;
use super::ink::{self, Area, Drawn, Side, failed, muted, series, short, width, words};
use crate::output::{Cell, Table};
use fi_provider::device::{self, Completions, POLICIES, Survey};
use plotters::prelude::*;

/// Pixels of the picture from left to right, of its legend, and of a panel.
const WIDTH: u32 = 920;
const LEGEND: u32 = 34;
const PANEL: u32 = 210;

/// The policy that the others are compared with.
const WHOLE: &str = "mpi-everywhere";

/// Which number of a survey a panel shows.
type Number = (&'static str, fn(&Survey) -> u64);

/// The panels.
const PANELS: [Number; 3] = [
    ("QPs", |survey| survey.report.account.queue_pairs.into()),
    ("UARs", |survey| survey.report.account.uars.into()),
    ("Memory of queues", |survey| survey.report.account.bytes),
];

/// The numbers of one policy for so many threads.
#[derive(Debug)]
struct Row {
    policy: &'static str,
    threads: u32,
    numbers: [u64; 3],
    /// In percent of the numbers of [`WHOLE`] for as many threads.
    percent: [f64; 3],
}

/// Returns the figure, and the name of the device where there is one.
pub(super) fn figure(threads: &[u32]) -> Drawn<(Figure, Option<String>)> {
    const ID: &str = "endpoints";
    const TITLE: &str = "Endpoints: resources of the device by policy and threads";
    let surveys = match survey(threads) {
        Ok(surveys) => surveys,
        Err(error) => {
            let reason = format!("There is no device to make lanes on: {error}.");
            return Ok((Figure::without(ID, TITLE, reason), None));
        }
    };
    let device = surveys.first().map(|(_, survey)| survey.device.clone());
    let rows = rows(&surveys);
    let size = (WIDTH, LEGEND + PANELS.len() as u32 * PANEL + 26);
    let svg = ink::picture(size, TITLE, |area| draw(area, threads, &rows))?;
    let mut figure = Figure::drawn(ID, TITLE, svg, table(TITLE, &rows));
    let regime = surveys
        .first()
        .map(|(_, survey)| survey.report.regime.name());
    if let (Some(device), Some(regime)) = (&device, regime) {
        figure = figure.note(format!(
            "Lanes of one thread each, made on {device} (registers in the regime {regime}), in percent of those \
             of {WHOLE} for as many threads."
        ));
    }
    for (threads, survey) in &surveys {
        let report = &survey.report;
        if report.short + report.shared > 0 {
            let reason = report.reason.as_deref().unwrap_or("the device has no more");
            figure = figure.note(format!(
                "{}, {threads} threads: {} lanes have less than the policy says, {} more share the first one ({reason}).",
                report.policy.name, report.short, report.shared
            ));
        }
    }
    Ok((figure, device))
}

fn survey(threads: &[u32]) -> Result<Vec<(u32, Survey)>, device::Error> {
    let mut surveys = Vec::new();
    for &threads in threads {
        for policy in &POLICIES {
            surveys.push((threads, device::survey(policy, Completions::Own, threads)?));
        }
    }
    Ok(surveys)
}

fn rows(surveys: &[(u32, Survey)]) -> Vec<Row> {
    let numbers = |survey: &Survey| PANELS.map(|(_, number)| number(survey));
    let row = |(threads, survey): &(u32, Survey)| {
        let whole = surveys
            .iter()
            .find(|(of, other)| of == threads && other.report.policy.name == WHOLE);
        let own = numbers(survey);
        let whole = whole.map_or(own, |(_, whole)| numbers(whole));
        let mut percent = [0.0; 3];
        for (at, percent) in percent.iter_mut().enumerate() {
            *percent = own[at] as f64 / whole[at].max(1) as f64 * 100.0;
        }
        Row {
            policy: survey.report.policy.name,
            threads: *threads,
            numbers: own,
            percent,
        }
    };
    surveys.iter().map(row).collect()
}

fn table(title: &str, rows: &[Row]) -> Table {
    let mut table = Table::new("endpoints", title, &["threads", "policy"]);
    for (name, _) in PANELS {
        let unit = if name.starts_with("Memory") {
            " (bytes)"
        } else {
            ""
        };
        table
            .columns
            .extend([format!("{name}{unit}"), format!("{name} %")]);
    }
    for row in rows {
        let mut cells = vec![Cell::Count(row.threads.into()), Cell::text(row.policy)];
        for (number, percent) in row.numbers.into_iter().zip(row.percent) {
            cells.extend([Cell::Count(number), Cell::Number(percent)]);
        }
        table.rows.push(cells);
    }
    table
}

fn draw(area: &Area<'_>, threads: &[u32], rows: &[Row]) -> Drawn {
    let mut x = 60;
    for (which, policy) in POLICIES.iter().enumerate() {
        let swatch = [(x, 8), (x + 12, 20)];
        area.draw(&Rectangle::new(swatch, series(which).filled()))
            .map_err(failed)?;
        let text = Text::new(policy.name, (x + 18, 14), words(15, Side::Right));
        area.draw(&text).map_err(failed)?;
        x += 18 + width(policy.name, 15) + 22;
    }
    for (at, (name, _)) in PANELS.iter().enumerate() {
        let corner = (0, LEGEND as i32 + at as i32 * PANEL as i32);
        let panel = area.clone().shrink(corner, (WIDTH, PANEL));
        let words_below = at + 1 == PANELS.len();
        bars(&panel, name, threads, rows, at)?;
        if words_below {
            let below = (WIDTH as i32 / 2, corner.1 + PANEL as i32 + 10);
            let text = Text::new("Threads, a lane each", below, words(15, Side::Middle));
            area.draw(&text).map_err(failed)?;
        }
    }
    Ok(())
}

fn bars(panel: &Area<'_>, name: &str, threads: &[u32], rows: &[Row], which: usize) -> Drawn {
    let most = rows
        .iter()
        .map(|row| row.percent[which])
        .fold(100.0, f64::max);
    let step = ink::step(most, 5);
    let top = (most / step).ceil() * step;
    let mut chart = ChartBuilder::on(panel)
        .margin_top(10)
        .margin_left(8)
        .margin_right(12)
        .set_label_area_size(LabelAreaPosition::Left, 60)
        .set_label_area_size(LabelAreaPosition::Bottom, 24)
        .build_cartesian_2d(0.0..threads.len() as f64, 0.0..top * 1.02)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(TRANSPARENT)
        .bold_line_style(ink::grid())
        .axis_style(ink::grid())
        .y_labels((top / step).round() as usize + 1)
        .y_label_formatter(&|percent| short(*percent))
        .label_style(muted(14, Side::Middle))
        .axis_desc_style(words(15, Side::Middle))
        .y_desc(format!("{name} (%)"))
        .draw()
        .map_err(failed)?;
    let wide = 0.84 / POLICIES.len() as f64;
    for row in rows {
        let group = threads.iter().position(|threads| *threads == row.threads);
        let policy = POLICIES.iter().position(|policy| policy.name == row.policy);
        let (Some(group), Some(policy)) = (group, policy) else {
            continue;
        };
        let left = group as f64 + 0.08 + policy as f64 * wide;
        let corners = [(left, 0.0), (left + wide * 0.9, row.percent[which])];
        let bar = Rectangle::new(corners, series(policy).filled());
        chart.draw_series([bar]).map_err(failed)?;
    }
    for (group, threads) in threads.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(group as f64 + 0.5, 0.0));
        let (across, down) = panel.get_base_pixel();
        let at = (x - across, y - down + 12);
        let text = Text::new(threads.to_string(), at, muted(14, Side::Middle));
        panel.draw(&text).map_err(failed)?;
    }
    Ok(())
}
