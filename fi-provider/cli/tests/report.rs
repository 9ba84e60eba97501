//! The report without a browser: the page is well-formed and refers to nothing, and each figure has
//! its data.

use fi_perfmodel::{System, figures, whatif};
use softhca_again::Again;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const COUNTS: &str = include_str!("browser/counts.tsv");
const MEASURED: &str = include_str!("browser/measured.tsv");

/// An element: its name, its attributes, and the text in front of its first child.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    /// The place of the element that it is in.
    within: Option<usize>,
}

/// Reads well-formed XML into its elements, in the order in which they begin; a message about the
/// mistake, otherwise.
fn elements(text: &str) -> Result<Vec<Element>, String> {
    let mut all: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = text.strip_prefix("<!DOCTYPE html>").unwrap_or(text);
    while let Some(at) = rest.find('<') {
        let words = &rest[..at];
        entities(words)?;
        if let Some(&own) = open.last() {
            all[own].text.push_str(words);
        } else if !words.trim().is_empty() {
            return Err(format!("{words:?} is in no element"));
        }
        let end = rest.find('>').ok_or("a tag has no end")?;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let own = open
                .pop()
                .ok_or_else(|| format!("</{name}> closes nothing"))?;
            if all[own].name != name {
                return Err(format!("</{name}> closes <{}>", all[own].name));
            }
            continue;
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, words) = tag.split_once(' ').unwrap_or((tag, ""));
        all.push(Element {
            name: name.to_owned(),
            attributes: attributes(words).map_err(|why| format!("<{tag}>: {why}"))?,
            text: String::new(),
            within: open.last().copied(),
        });
        if !is_empty {
            open.push(all.len() - 1);
        }
    }
    match open.last() {
        Some(&own) => Err(format!("<{}> is not closed", all[own].name)),
        None => Ok(all),
    }
}

fn attributes(words: &str) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    let mut rest = words.trim();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once("=\"").ok_or("no value")?;
        let (value, behind) = behind.split_once('"').ok_or("no end of a value")?;
        entities(value)?;
        if all.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(format!("{name} is there twice"));
        }
        rest = behind.trim_start();
    }
    Ok(all)
}

/// Looks whether each ampersand begins an entity that XML has.
fn entities(words: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
    let mut behind = words.split('&').skip(1);
    match behind.find(|behind| !known.iter().any(|entity| behind.starts_with(entity))) {
        Some(wrong) => Err(format!("&{wrong:.10} is no entity")),
        None => Ok(()),
    }
}

/// A page and its pictures by their names.
struct Report {
    page: String,
    said: String,
    pictures: BTreeMap<String, String>,
}

/// Draws a report; its standard error where it fails.
fn report(arguments: &[&str]) -> Result<Report, String> {
    let place = scratch();
    let page = place.join("page.html");
    let pictures = place.join("svg");
    let output = Command::new(env!("CARGO_BIN_EXE_farreach"))
        .arg("report")
        .args(arguments)
        .args([Path::new("--output"), &page, Path::new("--svg"), &pictures])
        .env("SOURCE_DATE_EPOCH", "1790000000")
        .output()
        .expect("farreach starts");
    if !output.status.success() {
        let _ = std::fs::remove_dir_all(&place);
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let drawn = Report {
        page: std::fs::read_to_string(&page).expect("the page"),
        said: String::from_utf8_lossy(&output.stdout).into_owned(),
        pictures: std::fs::read_dir(&pictures)
            .expect("the pictures")
            .map(|entry| {
                let path = entry.expect("a file").path();
                let name = path
                    .file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned();
                (name, std::fs::read_to_string(path).expect("a picture"))
            })
            .collect(),
    };
    std::fs::remove_dir_all(&place).expect("the scratch directory goes");
    Ok(drawn)
}

fn scratch() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // ORDERING: a number of its own for each; nothing else depends on it.
    let number = COUNT.fetch_add(1, Relaxed);
    let name = format!("farreach-test-report-{}-{number}", std::process::id());
    let place = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&place).expect("a scratch directory");
    place
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = scratch().join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// Elements of a name in a picture.
fn of<'a>(picture: &'a [Element], name: &str) -> Vec<&'a Element> {
    picture
        .iter()
        .filter(|element| element.name == name)
        .collect()
}

/// The words of a picture.
fn words(picture: &[Element]) -> Vec<&str> {
    of(picture, "text")
        .iter()
        .map(|text| text.text.trim())
        .collect()
}

/// Corners of a line or a polygon.
fn corners(element: &Element) -> usize {
    element.attributes["points"].split_whitespace().count()
}

fn picture(report: &Report, name: &str) -> Vec<Element> {
    let svg = report
        .pictures
        .get(name)
        .unwrap_or_else(|| panic!("no picture {name}"));
    elements(svg).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn full() -> Report {
    let (counts, measured) = (file("counts.tsv", COUNTS), file("measured.tsv", MEASURED));
    let arguments = [
        "--counts",
        counts.to_str().expect("plain"),
        "--measured",
        measured.to_str().expect("plain"),
        "--threads",
        "1,4",
    ];
    let drawn = report(&arguments).expect("drawn");
    for path in [counts, measured] {
        std::fs::remove_dir_all(path.parent().expect("a directory")).expect("it goes");
    }
    drawn
}

const FIGURES: [&str; 17] = [
    "breakdown-4",
    "breakdown-8",
    "breakdown-10",
    "breakdown-11",
    "breakdown-12",
    "breakdown-13",
    "breakdown-14",
    "breakdown-15",
    "breakdown-16",
    "whatif-a",
    "whatif-b",
    "whatif-c",
    "whatif-d",
    "distribution",
    "instructions-1",
    "instructions-2",
    "endpoints",
];

#[test]
fn the_page_is_whole_and_refers_to_nothing() {
    Again::default().body("the_page_is_whole_and_refers_to_nothing", || {
        let report = full();
        assert!(report.said.ends_with(": 17 figures\n"), "{}", report.said);
        let page = elements(&report.page).expect("well-formed");
        for word in [
            "http:", "https:", "url(", "@import", "<script", "<link", "src=", "//",
        ] {
            assert!(!report.page.contains(word), "{word}");
        }
        let ids: Vec<&str> = page
            .iter()
            .filter(|element| element.name == "figure")
            .map(|figure| &figure.attributes["id"][..])
            .collect();
        assert_eq!(ids, FIGURES);
        let names: Vec<&str> = report.pictures.keys().map(String::as_str).collect();
        let mut sorted = FIGURES;
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        // Each figure has its picture, with words in its place, its data and its caption.
        for (at, figure) in page
            .iter()
            .enumerate()
            .filter(|(_, element)| element.name == "figure")
        {
            let id = &figure.attributes["id"];
            let own = |name: &str| {
                page.iter()
                    .find(|element| element.within == Some(at) && element.name == name)
            };
            let svg = own("svg").unwrap_or_else(|| panic!("{id}: no picture"));
            assert!(svg.attributes["aria-label"].len() > 5, "{id}");
            assert!(!svg.attributes.contains_key("xmlns"), "{id}");
            assert!(
                own("details").is_some() && own("figcaption").is_some(),
                "{id}"
            );
        }
        let links = page.iter().filter(|element| element.name == "a");
        for link in links {
            let target = link.attributes["href"]
                .strip_prefix('#')
                .expect("a place in the page");
            let found = page
                .iter()
                .any(|element| element.attributes.get("id").is_some_and(|id| id == target));
            assert!(found, "{target}");
        }
        for words in [
            "<dd>2026-09-21</dd>",
            "in software (softhca)",
            " CPUs, Linux ",
            "farreach 0.",
            "prefers-color-scheme",
        ] {
            assert!(report.page.contains(words), "{words}");
        }
        // Each file stands by itself, and each colour that it has follows the page's.
        for (name, svg) in &report.pictures {
            let parts = elements(svg).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(parts[0].attributes["xmlns"], "http://www.w3.org/2000/svg");
            assert!(
                svg.contains("<style>") && svg.matches("http").count() == 1,
                "{name}"
            );
            for part in parts.iter().skip(1) {
                let colours = ["fill", "stroke"].map(|key| part.attributes.get(key));
                let coloured = colours
                    .into_iter()
                    .flatten()
                    .any(|colour| colour.starts_with('#'));
                assert_eq!(
                    coloured,
                    part.attributes.contains_key("class"),
                    "{name}: {part:?}"
                );
            }
        }
    });
}

#[test]
fn each_figure_has_its_data() {
    Again::default().body("each_figure_has_its_data", || {
        let report = full();
        let paper = System::paper();
        for figure in figures::all(&paper) {
            let name = format!("breakdown-{}", figure.number);
            let drawn = picture(&report, &name);
            let words = words(&drawn);
            let mut parts = 0;
            for bar in figure.bars {
                let bar = bar.expect("the paper has all");
                let whole = format!("{:.2} ns", bar.total.0);
                assert!(
                    words.contains(&&bar.name[..]) && words.contains(&&whole[..]),
                    "{name}: {words:?}"
                );
                for part in &bar.parts {
                    let legend = format!(
                        "{} {:.2} ns ({:.1} %)",
                        part.name, part.time.0, part.percent
                    );
                    assert!(words.contains(&&legend[..]), "{name}: {legend}");
                }
                parts += bar.parts.len();
            }
            // A bar and a mark of the legend for each part.
            assert_eq!(of(&drawn, "rect").len(), 2 * parts, "{name}");
            assert!(words.contains(&"Time (ns)"), "{name}");
        }
        for panel in whatif::curves(&paper) {
            let name = format!("whatif-{}", panel.letter);
            let drawn = picture(&report, &name);
            let words = words(&drawn);
            for (at, line) in panel.lines.iter().enumerate() {
                assert!(
                    words.contains(&line.group.name),
                    "{name}: {}",
                    line.group.name
                );
                let class = format!("s-{at}");
                let own = of(&drawn, "polyline").into_iter();
                let points: Vec<usize> = own
                    .filter(|line| line.attributes.get("class") == Some(&class))
                    .map(corners)
                    .collect();
                assert_eq!(points, [5, 2], "{name}: {}", line.group.name);
                // A mark at each point and in the legend.
                let class = format!("f-{at}");
                let marks = drawn
                    .iter()
                    .filter(|mark| mark.attributes.get("class") == Some(&class));
                assert_eq!(marks.count(), 6, "{name}: {}", line.group.name);
                let speedups = line.speedups.as_ref().expect("the paper has all");
                let cell = format!("<td class=\"n\">{:.2}</td>", speedups[2]);
                assert!(report.page.contains(&cell), "{name}: {cell}");
            }
            for axis in ["Reduction of the component (%)", "Speed-up (%)"] {
                assert!(words.contains(&axis), "{name}: {axis}");
            }
        }
    });
}

#[test]
fn endpoints_injection_and_instructions_have_theirs() {
    Again::default().body("endpoints_injection_and_instructions_have_theirs", || {
        let report = full();
        let endpoints = picture(&report, "endpoints");
        let shown = words(&endpoints);
        // Six policies: a mark of the legend, and a bar in three panels for two numbers of threads.
        assert_eq!(of(&endpoints, "rect").len(), 6 + 6 * 3 * 2);
        for word in [
            "mpi-everywhere",
            "mpi+threads",
            "QPs (%)",
            "UARs (%)",
            "Memory of queues (%)",
            "1",
            "4",
        ] {
            assert!(shown.contains(&word), "{word}: {shown:?}");
        }
        let bins = MEASURED
            .lines()
            .filter(|line| line.starts_with("distribution\t"))
            .count();
        let distribution = picture(&report, "distribution");
        assert_eq!(of(&distribution, "rect").len(), bins);
        assert!(words(&distribution).contains(&"Time between two messages at the device (ns)"));
        for (name, target) in [("instructions-1", "RC"), ("instructions-2", "node")] {
            let rows: Vec<Vec<&str>> = COUNTS
                .lines()
                .map(|line| line.split('\t').collect())
                .filter(|row: &Vec<&str>| row[1] == target)
                .collect();
            let drawn = picture(&report, name);
            let shown = words(&drawn);
            let mut regions: Vec<&str> = rows.iter().map(|row| row[2]).collect();
            regions.sort_unstable();
            regions.dedup();
            assert_eq!(
                of(&drawn, "rect").len(),
                rows.len() + regions.len(),
                "{name}"
            );
            for row in &rows {
                assert!(
                    shown.contains(&row[0]) && shown.contains(&row[2]),
                    "{name}: {row:?}"
                );
            }
        }
    });
}

#[test]
fn what_is_not_known_is_said() {
    let system = file(
        "some.system",
        "name = half a system\nwire = 100 ns | given\nswitch = 5 ns | given\n",
    );
    let report = report(&["--system", system.to_str().expect("plain")]).expect("drawn");
    std::fs::remove_dir_all(system.parent().expect("a directory")).expect("it goes");
    elements(&report.page).expect("well-formed");
    assert!(
        report
            .said
            .contains("not drawn: End-to-end latency: A bar needs "),
        "{}",
        report.said
    );
    assert!(
        report.said.contains("farreach measure --tsv"),
        "{}",
        report.said
    );
    assert!(report.page.contains("No data") && report.page.contains("half a system"));
    // Of the categories only the network is known.
    let drawn = picture(&report, "breakdown-15");
    assert_eq!(of(&drawn, "rect").len(), 2 * 2);
}

#[test]
fn tables_that_are_wrong_are_named() {
    let wrong = file("counts.tsv", "put\tRC\tinterface\n");
    let path = wrong.to_str().expect("plain");
    for option in ["--counts", "--measured"] {
        let message = report(&[option, path]).err().expect("refused");
        assert!(
            message.starts_with(&format!("farreach: {path}: ")),
            "{message}"
        );
    }
    std::fs::remove_dir_all(wrong.parent().expect("a directory")).expect("it goes");
}

#[test]
fn the_reader_of_these_tests_finds_what_is_wrong() {
    for (text, part) in [
        ("<a><b></a></b>", "</a> closes <b>"),
        ("<a>", "<a> is not closed"),
        ("</a>", "closes nothing"),
        ("<a b=c></a>", "no value"),
        ("<a b=\"1\" b=\"2\"/>", "b is there twice"),
        ("<a>x & y</a>", "is no entity"),
        ("x<a/>", "is in no element"),
    ] {
        let why = elements(text).expect_err(text);
        assert!(why.contains(part), "{text}: {why}");
    }
    assert_eq!(
        elements("<a><b c=\"&lt;\"/>x &amp; y</a>").map(|all| all.len()),
        Ok(2)
    );
}
