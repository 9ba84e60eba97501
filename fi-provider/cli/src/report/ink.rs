//! Colours, text and the SVG that pictures are drawn as.
//!
//! The plotting library writes colours as attributes. Each colour of the palette gets a class
//! beside its attribute, by which a style sheet replaces it where the page is dark; programs
//! that know no style sheets show the light one.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The area of a picture, or a part of it.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A result of drawing; an error in words.
pub(super) type Drawn<T = ()> = Result<T, String>;

/// Colours of series, light and dark, told apart with the usual colour deficiencies: those of Okabe
/// and Ito ("Color Universal Design", 2008), their black replaced by grey and purple.
const SERIES: [(RGBColor, &str); 9] = [
    (RGBColor(0, 114, 178), "#3d9fdc"),
    (RGBColor(230, 159, 0), "#e69f00"),
    (RGBColor(0, 158, 115), "#12b488"),
    (RGBColor(204, 121, 167), "#d68bb5"),
    (RGBColor(86, 180, 233), "#8ccdf2"),
    (RGBColor(213, 94, 0), "#ea7a26"),
    (RGBColor(138, 138, 138), "#9c9c9c"),
    (RGBColor(240, 228, 66), "#f0e442"),
    (RGBColor(94, 60, 153), "#9b7bd4"),
];

/// Series whose colour is dark in the light palette: white is read on it.
const DARK: [usize; 2] = [0, 8];

/// Text, text of less weight, lines behind data, the page, and text on bars.
const INK: RGBColor = RGBColor(26, 26, 26);
const MUTED: RGBColor = RGBColor(85, 85, 85);
const GRID: RGBColor = RGBColor(217, 217, 217);
const ON_LIGHT: RGBColor = RGBColor(1, 1, 1);
const ON_DARK: RGBColor = RGBColor(254, 254, 254);

/// The colours that have a class: of text and lines, light and dark.
const NAMED: [(RGBColor, &str, &str); 5] = [
    (INK, "ink", "#ececec"),
    (MUTED, "muted", "#b4b4b4"),
    (GRID, "grid", "#3a3f44"),
    (ON_LIGHT, "on", "#010101"),
    (ON_DARK, "over", "#010101"),
];

/// Returns the number of colours of series.
pub(super) const fn colours() -> usize {
    SERIES.len()
}

/// Returns the colour of a series.
pub(super) fn series(which: usize) -> RGBColor {
    SERIES[which % SERIES.len()].0
}

/// Returns the colour of text on a bar of a series.
pub(super) fn over(which: usize) -> RGBColor {
    if DARK.contains(&(which % SERIES.len())) {
        ON_DARK
    } else {
        ON_LIGHT
    }
}

/// Returns the colour of lines behind data.
pub(super) const fn grid() -> RGBColor {
    GRID
}

/// The side of a point at which text stands.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// To the right of it.
    Right,
    /// To the left of it.
    Left,
    /// On both.
    Middle,
}

/// Returns a style of text whose middle line goes through its point.
pub(super) fn words(size: i32, side: Side) -> TextStyle<'static> {
    coloured(size, side, INK)
}

/// Returns such a style with a colour.
pub(super) fn coloured(size: i32, side: Side, colour: RGBColor) -> TextStyle<'static> {
    let place = match side {
        Side::Right => HPos::Left,
        Side::Left => HPos::Right,
        Side::Middle => HPos::Center,
    };
    let style = ("sans-serif", size).into_text_style(&(1, 1));
    let mut style = style.pos(Pos::new(place, VPos::Center));
    style.color = colour.to_backend_color();
    style
}

/// Returns the style of numbers at axes.
pub(super) fn muted(size: i32, side: Side) -> TextStyle<'static> {
    coloured(size, side, MUTED)
}

/// Returns the pixels that text takes in a font of this size, by the widths of Helvetica's letters.
pub(super) fn width(text: &str, size: i32) -> i32 {
    let letter = |letter: char| match letter {
        'i' | 'j' | 'l' | '|' | '\'' => 0.22,
        ' ' | 'f' | 't' | 'I' | '.' | ',' | ':' | ';' | '/' | '!' => 0.28,
        'r' | '(' | ')' | '-' => 0.33,
        'm' | 'M' | 'W' | '%' => 0.85,
        'w' | 'A'..='Z' | '+' => 0.68,
        _ => 0.556,
    };
    let letters: f64 = text.chars().map(letter).sum();
    // The library writes a size that is smaller by this.
    (letters * f64::from(size) / 1.24).ceil() as i32
}

/// A plane with two axes to draw on.
type Plane<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws the axes of a plane from 0 upwards, with lines across at round numbers, and returns the plane.
/// `words_of` are those of the horizontal and of the vertical axis.
pub(super) fn plane<'a>(
    area: &Area<'a>,
    across: std::ops::Range<f64>,
    most: f64,
    words_of: [&str; 2],
) -> Drawn<Plane<'a>> {
    let step = step(most, 6);
    let top = (most / step).ceil().max(1.0) * step;
    let mut plane = ChartBuilder::on(area)
        .margin_top(12)
        .margin_left(8)
        .margin_right(24)
        .set_label_area_size(LabelAreaPosition::Left, 60)
        .set_label_area_size(LabelAreaPosition::Bottom, 44)
        .build_cartesian_2d(across, 0.0..top)
        .map_err(failed)?;
    plane
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(grid())
        .axis_style(grid())
        .x_labels(10)
        .y_labels((top / step).round() as usize + 1)
        .x_label_formatter(&|amount| short(*amount))
        .y_label_formatter(&|amount| short(*amount))
        .label_style(muted(14, Side::Middle))
        .axis_desc_style(words(15, Side::Middle))
        .x_desc(words_of[0])
        .y_desc(words_of[1])
        .draw()
        .map_err(failed)?;
    Ok(plane)
}

/// Turns an error of the library into words.
pub(super) fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Draws a picture of this size, in pixels: an SVG with classes, and with `label` for readers
/// of the page without its pictures.
pub(super) fn picture(
    size: (u32, u32),
    label: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Drawn<String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&root)?;
        root.present().map_err(failed)?;
    }
    Ok(with_classes(&svg, label))
}

/// Puts classes beside colours, and a label into the root. An element has one colour at most, as a
/// fill or as a stroke.
fn with_classes(svg: &str, label: &str) -> String {
    let mut svg = svg.to_owned();
    let series = SERIES.iter().enumerate();
    let series = series.map(|(at, (colour, _))| (*colour, at.to_string()));
    let named = NAMED
        .iter()
        .map(|(colour, name, _)| (*colour, (*name).to_owned()));
    for (colour, name) in series.chain(named) {
        let RGBColor(red, green, blue) = colour;
        let hex = format!("#{red:02X}{green:02X}{blue:02X}");
        for (attribute, letter) in [("fill", 'f'), ("stroke", 's')] {
            let plain = format!("{attribute}=\"{hex}\"");
            svg = svg.replace(&plain, &format!("class=\"{letter}-{name}\" {plain}"));
        }
    }
    let label = super::page::escaped(label);
    svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{label}\" "),
        1,
    )
    .replace(" opacity=\"1\"", "")
    .replace(
        "font-family=\"sans-serif\"",
        "font-family=\"Helvetica, Arial, sans-serif\"",
    )
}

/// Returns the rules of a style sheet for the classes: those of the dark palette, which follow the
/// words `before`.
pub(super) fn rules() -> String {
    let mut dark = String::new();
    let series = SERIES.iter().enumerate();
    let series = series.map(|(at, (_, colour))| (at.to_string(), *colour));
    let named = NAMED
        .iter()
        .map(|(_, name, colour)| ((*name).to_owned(), *colour));
    for (name, colour) in series.chain(named) {
        dark.push_str(&format!(
            ".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}"
        ));
    }
    format!("@media screen and (prefers-color-scheme:dark){{{dark}}}")
}

/// Makes a file of a picture: with its name space and its own style sheet.
pub(super) fn file(svg: &str) -> String {
    let rules = rules();
    let style = format!(
        "<style>svg{{background:#fff}}{rules}\
         @media screen and (prefers-color-scheme:dark){{svg{{background:#16181a}}}}</style>"
    );
    match svg.split_once('>') {
        Some((root, rest)) => format!("{root}>\n{style}{rest}"),
        None => svg.to_owned(),
    }
}

/// Takes the name space off, which a page of HTML does not need.
pub(super) fn inline(svg: &str) -> String {
    svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

/// Returns a round step for an axis up to `most`, so that there are at most `marks` of it.
pub(super) fn step(most: f64, marks: usize) -> f64 {
    let most = if most > 0.0 { most } else { 1.0 };
    let least = most / marks.max(1) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let fits = factors
        .iter()
        .find(|factor| *factor * power >= least * 0.999_999);
    fits.unwrap_or(&10.0) * power
}

/// Prints a number with as many digits as are read at a glance.
pub(super) fn short(number: f64) -> String {
    let rounded = format!("{number:.2}");
    let rounded = rounded.trim_end_matches('0').trim_end_matches('.');
    if rounded.is_empty() { "0" } else { rounded }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (most, marks, expected) in [
            (1387.0, 8, 200.0),
            (41.0, 5, 10.0),
            (0.9, 5, 0.2),
            (100.0, 10, 10.0),
            (0.0, 5, 0.2),
        ] {
            assert!((step(most, marks) - expected).abs() < 1e-9, "{most}");
        }
        assert_eq!(
            [short(100.0), short(5.450), short(0.25), short(0.0)],
            ["100", "5.45", "0.25", "0"]
        );
    }

    #[test]
    fn colours_have_classes() {
        let svg = picture((40, 20), "a < b", |area| {
            let bar = Rectangle::new([(1, 1), (9, 9)], series(1).filled());
            area.draw(&bar).map_err(failed)?;
            area.draw(&Text::new("x & y", (3, 3), words(12, Side::Right)))
                .map_err(failed)
        });
        let svg = svg.expect("drawn");
        assert!(
            svg.contains("class=\"f-1\" fill=\"#E69F00\" stroke=\"none\""),
            "{svg}"
        );
        assert!(svg.contains("class=\"f-ink\" fill=\"#1A1A1A\""), "{svg}");
        assert!(svg.contains("aria-label=\"a &lt; b\""), "{svg}");
        assert!(!inline(&svg).contains("http"), "{svg}");
        let file = file(&svg);
        assert!(
            file.contains("xmlns=") && file.contains("<style>"),
            "{file}"
        );
    }
}
