//! The source of an instruction: the lines and functions, one in line in the other, that a file of
//! machine code names for an address.
//!
//! The libraries are installed without line information, and that beside them, in a file of the same
//! name in `lib/farreach/lines`. So no program loads it, no debugger or valgrind spends time on it,
//! and the counted instructions are those of the shipped library.

use addr2line::Loader;
use object::{Object, ObjectSymbol};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A function, and the line of it that an instruction is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The source file, as the compiler was told of it.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
    /// The function with its path, without the hashes of Rust's names.
    pub function: String,
}

/// The files of machine code of a run, by their paths.
#[derive(Default)]
pub struct Sources(HashMap<PathBuf, Option<Loader>>);

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Sources {
    /// Returns the frames of an address of `object`, the innermost first; none where the file has no
    /// line information, or none for this address.
    ///
    /// # Errors
    ///
    /// Fails where the line information is that of another build of the file.
    pub fn frames(&mut self, object: &Path, address: u64) -> Result<Vec<Frame>, String> {
        if !self.0.contains_key(object) {
            self.0.insert(object.to_owned(), load(object)?);
        }
        let Some(Some(loader)) = self.0.get(object) else {
            return Ok(Vec::new());
        };
        let broken = |error: Error| format!("{}: {error}", object.display());
        let mut found = look_up(loader, address).map_err(broken)?;
        // An instruction of no line is of the file in which its function begins.
        if let Some(outermost) = found.last_mut()
            && outermost.file.is_empty()
            && let Some(symbol) = loader.find_symbol_info(address)
            && let Some(begin) = look_up(loader, symbol.address()).map_err(broken)?.pop()
        {
            outermost.file = begin.file;
        }
        Ok(found)
    }

    /// Forgets a file, as another one will have its name.
    pub fn forget(&mut self, object: &Path) {
        self.0.remove(object);
    }
}

type Error = Box<dyn std::error::Error>;

/// Returns the frames of an address.
fn look_up(loader: &Loader, address: u64) -> Result<Vec<Frame>, Error> {
    let mut found = Vec::new();
    let mut frames = loader.find_frames(address)?;
    while let Some(frame) = frames.next()? {
        let location = frame.location.as_ref();
        let file = location.and_then(|location| location.file);
        let function = frame.function.as_ref().and_then(|name| {
            let name = name.raw_name().ok()?;
            Some(readable(&name))
        });
        found.push(Frame {
            file: file.unwrap_or_default().to_owned(),
            line: location.and_then(|location| location.line).unwrap_or(0),
            function: function.unwrap_or_default(),
        });
    }
    Ok(found)
}

/// Loads the line information of a file; `None` for a file that cannot be read, such as one in
/// memory.
fn load(object: &Path) -> Result<Option<Loader>, String> {
    let lines = beside(object);
    if let Some(lines) = &lines
        && build(object) != build(lines)
    {
        return Err(format!(
            "{} is not of the same build as {}: install both again",
            lines.display(),
            object.display()
        ));
    }
    Ok(Loader::new(lines.as_deref().unwrap_or(object)).ok())
}

/// Returns the file with the lines of an installed library, where there is one.
fn beside(object: &Path) -> Option<PathBuf> {
    let (folder, name) = (object.parent()?, object.file_name()?);
    ["lines", "farreach/lines"]
        .map(|lines| folder.join(lines).join(name))
        .into_iter()
        .find(|path| path.is_file())
}

/// Returns the build's identity (`.note.gnu.build-id`).
fn build(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    let file = object::File::parse(&bytes[..]).ok()?;
    file.build_id().ok()?.map(<[u8]>::to_owned)
}

/// Returns the functions of a file by their names, mangled, as its symbol tables have them. A
/// function of several names is the one with the name that programs use: `shmem_my_pe` and not
/// `pshmem_my_pe` or `_my_pe`.
///
/// # Errors
///
/// Fails where the file cannot be read.
pub fn functions(path: &Path) -> Result<HashMap<String, String>, String> {
    let broken = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = fs::read(path).map_err(|error| broken(&error))?;
    let file = object::File::parse(&bytes[..]).map_err(|error| broken(&error))?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let defined = symbols.filter(|symbol| symbol.is_definition());
    let code = defined.filter(|symbol| symbol.kind() == object::SymbolKind::Text);
    let mut by_address: HashMap<u64, Vec<&str>> = HashMap::new();
    for symbol in code {
        if let Ok(name) = symbol.name() {
            by_address.entry(symbol.address()).or_default().push(name);
        }
    }
    let mut functions = HashMap::new();
    for names in by_address.into_values() {
        let order = |name: &str| (!name.starts_with("shmem_"), name.starts_with('_'));
        let first = names.iter().copied();
        let first = first.min_by(|one, other| (order(one), one).cmp(&(order(other), other)));
        let first = first.unwrap_or_default();
        functions.extend(
            names
                .iter()
                .map(|name| ((*name).to_owned(), first.to_owned())),
        );
    }
    Ok(functions)
}

/// Returns a name for people: the path of a Rust function without hashes, a C++ function with its
/// parameters, any other name as it is.
pub fn readable(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let demangled = cpp_demangle::Symbol::new(name).ok();
    let demangled = demangled.and_then(|symbol| symbol.demangle().ok());
    demangled.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_hash_alone() {
        let name = "_ZN7fi_mlx54post6commit17h0123456789abcdefE";
        assert_eq!(readable(name), "fi_mlx5::post::commit");
        assert_eq!(readable("shmem_int_p"), "shmem_int_p");
        assert_eq!(readable("_Z4halfid"), "half(int, double)");
    }

    /// Stands for a function whose frames are looked up.
    #[inline(never)]
    fn known() -> usize {
        std::hint::black_box(7)
    }

    #[test]
    fn frames_of_an_own_function() {
        assert_eq!(known(), 7);
        let own = std::env::current_exe().expect("the test has a file");
        let all = functions(&own).expect("it can be read");
        let known = all
            .keys()
            .find(|name| readable(name).ends_with("source::tests::known"));
        assert!(known.is_some(), "among {} functions", all.len());
        let known = known.cloned();
        let bytes = fs::read(&own).expect("it can be read");
        let file = object::File::parse(&bytes[..]).expect("an object file");
        let symbol = file
            .symbols()
            .find(|symbol| symbol.name().ok() == known.as_deref());
        let address = symbol.expect("it is there").address();
        let frames = Sources::default()
            .frames(&own, address)
            .expect("it has lines");
        let frame = frames.first().expect("a frame");
        assert!(frame.file.ends_with("source.rs"), "{frame:?}");
        assert!(
            frame.function.ends_with("known") && frame.line > 0,
            "{frame:?}"
        );
    }

    #[test]
    fn a_file_that_is_none_has_no_frames() {
        let frames = Sources::default().frames(Path::new("/nowhere/at/all"), 1);
        assert_eq!(frames, Ok(Vec::new()));
    }
}
