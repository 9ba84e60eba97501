//! The report as one page of HTML, which refers to nothing outside of it.
//!
//! It is well-formed XML, too: each element is closed, and each attribute is quoted.

use super::figure::Figure;
use super::ink;
use crate::output::{Cell, Table};

/// A part of the page.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// A sentence or two about its content.
    pub(super) lead: String,
    pub(super) figures: Vec<Figure>,
    pub(super) tables: Vec<Table>,
}

/// Facts about the page and its making: words and values.
pub(super) type Facts = Vec<(&'static str, String)>;

/// The style sheet of all but the pictures.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1a1a1a;--muted:#555;--page:#fff;--edge:#d9d9d9}\
@media screen and (prefers-color-scheme:dark){:root{--ink:#ececec;--muted:#b4b4b4;--page:#16181a;--edge:#3a3f44}}\
body{margin:0 auto;max-width:1180px;padding:24px 28px 64px;background:var(--page);color:var(--ink);\
font:16px/1.45 Helvetica,Arial,sans-serif}\
h1{font-size:28px;line-height:1.2;margin:8px 0 12px}h2{font-size:21px;margin:40px 0 6px}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0}dt{color:var(--muted)}dd{margin:0}\
p{max-width:75ch;margin:6px 0 12px}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr));gap:28px 32px}\
.figures.wide{grid-template-columns:minmax(0,940px)}\
figure{margin:0;min-width:0;break-inside:avoid}svg{display:block;width:100%;height:auto}\
figcaption{margin-top:6px;font-size:14px;color:var(--muted)}figcaption b{color:var(--ink)}\
.none{border:1px dashed var(--edge);padding:20px;color:var(--muted)}\
details{font-size:14px;margin-top:4px}summary{cursor:pointer;color:var(--muted)}\
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:8px 0;font-variant-numeric:tabular-nums;font-size:14px}\
th,td{padding:3px 10px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--edge)}\
td.n,th.n{text-align:right;white-space:nowrap}\
nav{margin:14px 0 0}nav a{color:inherit;margin-right:16px}\
@media print{nav,summary{display:none}body{max-width:none}}";

/// Makes text that stands in an element or in an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no such characters.
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Returns the page.
pub(super) fn page(title: &str, facts: &Facts, sections: &[Section]) -> String {
    let title = escaped(title);
    let rules = ink::rules();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>{STYLE}{rules}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl>\n"
    );
    for (word, value) in facts {
        html += &format!("<dt>{word}</dt><dd>{}</dd>\n", escaped(value));
    }
    html += "</dl>\n<nav>\n";
    for (at, section) in sections.iter().enumerate() {
        html += &format!("<a href=\"#part-{}\">{}</a>\n", at + 1, section.title);
    }
    html += "</nav>\n";
    let mut number = 0;
    for (at, section) in sections.iter().enumerate() {
        html += &format!("<h2 id=\"part-{}\">{}</h2>\n", at + 1, section.title);
        html += &format!("<p>{}</p>\n", escaped(&section.lead));
        let narrow = section
            .figures
            .iter()
            .all(|figure| figure.id.starts_with("whatif"));
        let class = if narrow { "figures" } else { "figures wide" };
        if !section.figures.is_empty() {
            html += &format!("<div class=\"{class}\">\n");
            for figure in &section.figures {
                number += 1;
                html += &of_figure(figure, number);
            }
            html += "</div>\n";
        }
        for table in &section.tables {
            html += &format!("<p><b>{}</b></p>\n", escaped(&table.title));
            html += &of_table(table);
            for note in &table.notes {
                html += &format!("<p>{}</p>\n", escaped(note));
            }
        }
    }
    html += "</body>\n</html>\n";
    html
}

fn of_figure(figure: &Figure, number: u32) -> String {
    let mut html = format!("<figure id=\"{}\">\n", figure.id);
    match &figure.svg {
        Some(svg) => html += &ink::inline(svg),
        None => html += "<div class=\"none\">No data</div>\n",
    }
    let notes: Vec<String> = figure.notes.iter().map(|note| escaped(note)).collect();
    html += &format!(
        "<figcaption><b>Figure {number}. {}.</b> {}</figcaption>\n",
        escaped(&figure.title),
        notes.join(" ")
    );
    if let Some(data) = &figure.data {
        html += "<details><summary>Data</summary>\n";
        html += &of_table(data);
        html += "</details>\n";
    }
    html + "</figure>\n"
}

fn of_table(table: &Table) -> String {
    let is_number = |at: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(at));
        cells.any(|cell| matches!(cell, Cell::Number(_) | Cell::Count(_)))
    };
    let numbers: Vec<bool> = (0..table.columns.len()).map(is_number).collect();
    let class = |at: usize| if numbers[at] { " class=\"n\"" } else { "" };
    let mut html = "<div class=\"scroll\"><table>\n<thead><tr>".to_owned();
    for (at, column) in table.columns.iter().enumerate() {
        html += &format!("<th{}>{}</th>", class(at), escaped(column));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        html += "<tr>";
        for (at, cell) in row.iter().enumerate().take(numbers.len()) {
            html += &format!("<td{}>{}</td>", class(at), escaped(&cell.for_people()));
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}
