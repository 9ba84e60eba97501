//! Saves and loads a record by this project's archives and by other libraries, one after the other in
//! each of many rounds, in one process that is bound to a processor, and prints the medians: figure 3
//! of Biddiscombe et al. (2017).
//!
//! `cargo run --release -- [ROUNDS [FIGURES]]`, in this folder; `FIGURES` is a folder for
//! `calls-archives.svg`.

mod figure;
mod libraries;
mod record;
#[allow(clippy::all, clippy::pedantic, dead_code)]
mod record_capnp;
#[allow(clippy::all, clippy::pedantic, dead_code, unused_imports)]
mod record_flatbuffers;

use libraries::{Row, Size};
use record::Record;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Records that are saved and loaded in a round by each library.
const RECORDS: u32 = 50;

/// Sizes and times of a library.
struct Found {
    name: &'static str,
    is_view: bool,
    size: Size,
    /// Medians of the times of a record, in us: to save it, and to save and load it.
    save: f64,
    both: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds = match arguments.next() {
        Some(text) => text.parse()?,
        None => 801,
    };
    bind()?;
    let record = Record::new();
    let mut rows = libraries::all();
    for row in &mut rows {
        let loaded = row.library.both(&record);
        assert_eq!(row.is_view, loaded.is_none());
        assert!(loaded.is_none_or(|loaded| loaded == record), "{}", row.name);
    }
    let found = measure(&mut rows, &record, rounds);
    table(&found);
    if let Some(folder) = arguments.next() {
        figure::draw(&found, &PathBuf::from(folder).join("calls-archives.svg"))?;
    }
    Ok(())
}

/// Binds this process to the processor that it runs on.
fn bind() -> Result<(), std::io::Error> {
    // SAFETY: a set of processors is plain bits, and the calls read this one.
    let bound = unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(libc::sched_getcpu().try_into().unwrap_or(0), &mut one);
        libc::sched_setaffinity(0, size_of_val(&one), &raw const one)
    };
    match bound {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Returns the medians of rounds in which the libraries take turns.
fn measure(rows: &mut [Row], record: &Record, rounds: usize) -> Vec<Found> {
    let mut times = vec![(Vec::new(), Vec::new()); rows.len()];
    // One round more, the first, which does not count.
    for round in 0..=rounds {
        for (row, (save, both)) in rows.iter_mut().zip(&mut times) {
            let library = &mut row.library;
            let times = [
                time(|| {
                    black_box(library.save(black_box(record)));
                }),
                time(|| drop(black_box(library.both(black_box(record))))),
            ];
            if round > 0 {
                save.push(times[0]);
                both.push(times[1]);
            }
        }
    }
    let all = rows.iter_mut().zip(times);
    all.map(|(row, (save, both))| Found {
        name: row.name,
        is_view: row.is_view,
        size: row.library.save(record),
        save: median(save),
        both: median(both),
    })
    .collect()
}

/// Returns the time of a record, in us.
fn time(mut body: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..RECORDS {
        body();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(RECORDS)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn table(found: &[Found]) {
    println!("| | save and load, us | save, us | archive, B | beside it, B |");
    println!("|---|---|---|---|---|");
    for one in found {
        let Size { written, chunks } = one.size;
        let (name, save, both) = (one.name, one.save, one.both);
        println!("| {name} | {both:.2} | {save:.2} | {written} | {chunks} |");
    }
}
