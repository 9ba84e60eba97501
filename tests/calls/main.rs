//! Programs of remote calls that the group calls runs: `calls CONFIG PROGRAM…`, where all processes of
//! a job do the same ones, one after the other. A program checks its results, and panics where one is
//! wrong.

mod arguments;
mod ends;
mod flow;
mod functions;
mod futures;
mod limits;

use calls::{Calls, Config, Peer};
use std::sync::Arc;
use std::time::Duration;

/// A program by its name.
type Program = (&'static str, fn(&Calls));

fn main() {
    let programs: Vec<Program> = [
        arguments::PROGRAMS,
        ends::PROGRAMS,
        flow::PROGRAMS,
        functions::PROGRAMS,
        futures::PROGRAMS,
        limits::PROGRAMS,
    ]
    .concat();
    let mut names = std::env::args().skip(1);
    let name = names.next().unwrap_or_default();
    let config = config(&name).unwrap_or_else(|| panic!("{name}: no such configuration"));
    let calls = Calls::open_with(config).unwrap_or_else(|error| panic!("{error}"));
    let alone: Option<fn(Calls)> = match &*name {
        "farewell" => Some(ends::farewell),
        "closed" => Some(ends::closed),
        _ => None,
    };
    if let Some(run) = alone {
        run(calls);
        println!("{name}: done");
        return;
    }
    for name in names {
        let found = programs.iter().find(|(own, _)| *own == name);
        let (_, run) = found.unwrap_or_else(|| panic!("{name}: no such program"));
        run(&calls);
        calls.settle().expect("all are there");
        println!("{name}: done");
    }
    calls.close().expect("all are there");
}

/// Returns the configuration of a name.
fn config(name: &str) -> Option<Config> {
    let default = Config::default();
    Some(match name {
        "default" | "farewell" | "closed" => default,
        // Two chunks fit in the table of a message.
        "small" => Config {
            ring: 1 << 10,
            together: 3,
            backlog: 1,
            waiting: 1 << 10,
            ..default
        },
        "short_chunks" => Config {
            ring: 1 << 10,
            threshold: 16,
            together: 1,
            ..default
        },
        "all_chunks" => Config {
            threshold: 1,
            together: 1,
            delay: Duration::ZERO,
            ..default
        },
        "rayon" => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
            let pool = pool.expect("a pool");
            Config {
                pool: Some(Arc::new(move |work| pool.spawn(work))),
                ..default
            }
        }
        "falls" => Config {
            pool: Some(Arc::new(functions::fall_at_the_third)),
            ..default
        },
        "limited" => Config {
            pool_growth: 1 << 16,
            pool_limit: 1 << 20,
            most: 1 << 19,
            nested: 2,
            ..default
        },
        _ => return None,
    })
}

/// Returns the process behind this one.
fn next(calls: &Calls) -> Peer<'_> {
    let rank = (calls.rank() + 1) % calls.ranks();
    calls.to(rank).expect("a rank")
}

/// Numbers that seem random, of a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }
}
