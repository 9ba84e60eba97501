//! Programs over the safe Rust interface that the group rust runs: each argument names one, all PEs
//! do the same ones. A program checks its results, and panics where one is wrong.

mod arrays;
mod executors;
mod mismatches;
mod nonblocking;
mod operations;
mod phases;
mod teams;

use shmem::World;

/// A program by its name.
type Program = (&'static str, fn(World));

fn main() {
    let programs: Vec<Program> = [
        phases::PROGRAMS,
        mismatches::PROGRAMS,
        operations::PROGRAMS,
        nonblocking::PROGRAMS,
        executors::PROGRAMS,
        teams::PROGRAMS,
        arrays::PROGRAMS,
    ]
    .concat();
    let mut names = std::env::args().skip(1).peekable();
    assert!(names.peek().is_some(), "programs: {}", list(&programs));
    for name in names {
        if name == executors::POOLED {
            executors::begin_in_rayon();
            println!("{name}: done");
            continue;
        }
        let program = programs.iter().find(|(own, _)| *own == name);
        let (_, run) = program.unwrap_or_else(|| panic!("{name}: none of {}", list(&programs)));
        let world = World::init().expect("a job");
        run(world);
        println!("{name}: done");
    }
}

fn list(programs: &[Program]) -> String {
    let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
    names.join(" ")
}
