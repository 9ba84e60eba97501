//! Any bytes are an input: entry functions for fuzzers, each of which panics when something is not as it must be.
//!
//! Requirements: no panic; [`crate::engine::Engine::step`] comes to an end, and moves and allocates
//! no more than its queues allow; and a bystander with objects of its own on the same device finds
//! its memory untouched and its queue pairs working.
//! `tests/fuzz` runs these over mutated inputs, and the tests below over the corpora that lie there.

mod decode;
mod engine;
mod input;
mod ioctl;
mod memory;
mod party;
mod wire;
mod witness;

/// An entry function.
pub type Entry = fn(&[u8]);

/// The entry functions: name, name of the corpus, function.
pub const TARGETS: [(&str, &str, Entry); 5] = [
    ("decode", "decode", decode::run),
    ("engine", "engine", engine::run),
    ("ioctl", "ioctl", ioctl::run),
    ("ring", "engine", engine::run_strict),
    ("wire", "wire", wire::run),
];

#[cfg(test)]
mod tests {
    use super::{TARGETS, engine, ioctl, wire};
    use proptest::prelude::*;
    use std::path::Path;

    /// Returns the inputs of a corpus: a file each where somebody has made them, and a line each,
    /// in hexadecimal digits, where a fuzzer has.
    fn inputs(corpus: &str) -> Vec<(String, Vec<u8>)> {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus");
        let mut inputs: Vec<_> = std::fs::read_dir(corpora.join(corpus))
            .expect("a corpus")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                (
                    path.display().to_string(),
                    std::fs::read(path).expect("an input"),
                )
            })
            .collect();
        inputs.sort();
        let byte = |pair: &[u8]| {
            let digits = std::str::from_utf8(pair).expect("digits");
            u8::from_str_radix(digits, 16).expect("hexadecimal digits")
        };
        let found = std::fs::read_to_string(corpora.join(format!("{corpus}.found")));
        for (number, line) in found.expect("inputs").lines().enumerate() {
            let bytes = line.as_bytes().chunks(2).map(byte).collect();
            inputs.push((format!("{corpus}.found:{}", number + 1), bytes));
        }
        inputs
    }

    /// Runs the inputs of the corpora, which were found to reach new code.
    #[test]
    fn the_corpora_hold() {
        for (name, corpus, run) in TARGETS {
            let inputs = inputs(corpus);
            assert!(inputs.len() > 10, "{name} has no corpus");
            for (input, bytes) in inputs {
                // The last line tells which input it was that broke something.
                eprintln!("{name}: {input}");
                run(&bytes);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_bytes_in_rings(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            engine::run(&bytes);
            engine::run_strict(&bytes);
        }

        #[test]
        fn any_bytes_as_ioctls(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            ioctl::run(&bytes);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn any_bytes_on_the_wire(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            wire::run(&bytes);
        }
    }
}
