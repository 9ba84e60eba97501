//! Costs of instructions by their addresses, and by their layers.

use crate::layer::{self, Layer};
use crate::profile::{Line, NotUnderstood, lines};
use crate::source::Sources;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Instructions of each layer; a fraction where not all calls take equally many.
pub type Layers = BTreeMap<Layer, f64>;

/// The layer of a source line, its file, its number and its function.
pub type Place = (Layer, String, u32, String);

/// The instructions that were executed, with their addresses in their files of machine code.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Costs(BTreeMap<PathBuf, BTreeMap<u64, i64>>);

impl Costs {
    /// Adds the own costs of all functions of a profile with `--dump-instr=yes`, `sign` times.
    ///
    /// # Errors
    ///
    /// Fails on a line that is not in callgrind's format.
    pub fn add(&mut self, profile: &str, sign: i64) -> Result<(), NotUnderstood> {
        self.add_but(profile, sign, |_, _| false).map(|_| ())
    }

    /// Adds the own costs as [`Costs::add`], but for those that `is_left_out` says yes to, for a file
    /// of machine code and a function; returns the sum of these.
    ///
    /// # Errors
    ///
    /// Fails on a line that is not in callgrind's format.
    pub fn add_but(
        &mut self,
        profile: &str,
        sign: i64,
        is_left_out: impl Fn(&Path, &str) -> bool,
    ) -> Result<u64, NotUnderstood> {
        let mut object = PathBuf::new();
        let mut function = String::new();
        let mut is_of_calls = false;
        let mut left_out = 0;
        for line in lines(profile) {
            match line? {
                Line::Object(name) => object = PathBuf::from(name),
                Line::Function(name) => function = name,
                Line::Calls(_) => is_of_calls = true,
                Line::Callee(_) => {}
                Line::Cost {
                    address,
                    instructions,
                } => {
                    if std::mem::take(&mut is_of_calls) {
                        continue;
                    }
                    if is_left_out(&object, &function) {
                        left_out += instructions;
                        continue;
                    }
                    let cost = i64::try_from(instructions).unwrap_or(i64::MAX);
                    self.add_one(&object, address, sign * cost);
                }
            }
        }
        Ok(left_out)
    }

    /// Adds the cost of the instruction at one address.
    pub fn add_one(&mut self, object: &Path, address: u64, instructions: i64) {
        if !self.0.contains_key(object) {
            self.0.insert(object.to_owned(), BTreeMap::new());
        }
        if let Some(addresses) = self.0.get_mut(object) {
            *addresses.entry(address).or_default() += instructions;
        }
    }

    /// Returns the addresses of a file and their costs, file by file.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &BTreeMap<u64, i64>)> {
        self.0.iter().map(|(path, costs)| (path.as_path(), costs))
    }

    /// Returns the sum of all.
    pub fn total(&self) -> i64 {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    /// Returns the instructions of each layer. Those of no known layer are the caller's in the
    /// `program`, unaccounted in a library of Farreach, and other libraries' elsewhere.
    ///
    /// # Errors
    ///
    /// Fails where the line information of a file is broken or of another build.
    pub fn layers(&self, program: &Path, sources: &mut Sources) -> Result<Layers, String> {
        let mut layers = Layers::new();
        for ((layer, ..), cost) in self.places(program, sources)? {
            *layers.entry(layer).or_default() += cost as f64;
        }
        Ok(layers)
    }

    /// Returns the instructions of each source line, with its layer, by its function; of each file of
    /// machine code where lines are not known.
    ///
    /// # Errors
    ///
    /// As [`Costs::layers`].
    pub fn places(
        &self,
        program: &Path,
        sources: &mut Sources,
    ) -> Result<BTreeMap<Place, i64>, String> {
        let mut places = BTreeMap::new();
        for (object, address, cost) in self.each() {
            let frames = sources.frames(object, address)?;
            let place = match layer::of(&frames) {
                Some((layer, frame)) => (
                    layer,
                    frame.file.clone(),
                    frame.line,
                    frame.function.clone(),
                ),
                None => {
                    let layer = match object {
                        _ if layer::is_of_others(&frames) => Layer::Misc,
                        _ if object == program => Layer::Caller,
                        _ if is_own(object) => Layer::Unaccounted,
                        _ => Layer::Misc,
                    };
                    let function = frames.into_iter().next().map(|frame| frame.function);
                    (
                        layer,
                        object.display().to_string(),
                        0,
                        function.unwrap_or_default(),
                    )
                }
            };
            *places.entry(place).or_default() += cost;
        }
        Ok(places)
    }

    fn each(&self) -> impl Iterator<Item = (&Path, u64, i64)> {
        let of = |(path, costs): (_, &BTreeMap<u64, i64>)| -> Vec<_> {
            let executed = costs.iter().filter(|(_, cost)| **cost != 0);
            executed
                .map(|(address, cost)| (path, *address, *cost))
                .collect()
        };
        self.files().flat_map(of)
    }
}

/// Returns whether a file is a library of Farreach, by its name.
pub fn is_own(object: &Path) -> bool {
    let name = object.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with("libfarreach") || name.starts_with("libshmem.so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "positions: instr line\nevents: Ir\nob=/lib/a\nfn=f\n0x10 0 5\ncob=/lib/libshmem.so.0\n\
        cfn=g\ncalls=2 0x20 0\n0x14 0 60\nob=/lib/libshmem.so.0\nfn=g\n0x20 0 2\n0x2a 0 2\nob=/lib/c\nfn=h\n0x1 0 3\n";

    #[test]
    fn calls_are_counted_where_they_lead() {
        let mut costs = Costs::default();
        assert_eq!(costs.add(PART, 1), Ok(()));
        assert_eq!(costs.total(), 12);
        let files: Vec<_> = costs
            .files()
            .map(|(path, costs)| (path, costs.len()))
            .collect();
        let expected = [("/lib/a", 1), ("/lib/c", 1), ("/lib/libshmem.so.0", 2)];
        assert_eq!(
            files,
            expected.map(|(path, count)| (Path::new(path), count))
        );
        assert_eq!(costs.add(PART, -1), Ok(()));
        assert_eq!(costs.total(), 0);
        assert!(costs.add("fn=(9)\n", 1).is_err());
    }

    #[test]
    fn files_without_lines_have_a_layer_by_their_name() {
        let mut costs = Costs::default();
        assert_eq!(costs.add(PART, 1), Ok(()));
        let layers = costs.layers(Path::new("/lib/a"), &mut Sources::default());
        let expected = [
            (Layer::Caller, 5.0),
            (Layer::Misc, 3.0),
            (Layer::Unaccounted, 4.0),
        ];
        assert_eq!(layers, Ok(expected.into()));
    }
}
