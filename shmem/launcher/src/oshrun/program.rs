//! The file that is meant by the program's name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Failure, NOT_EXECUTABLE, NOT_FOUND};
use crate::compiler::Language;

/// Returns a source file's language by the end of its name, or `None` for a program.
pub(super) fn source_language(name: &Path) -> Option<Language> {
    match name.extension()?.to_str()? {
        "c" => Some(Language::C),
        "cc" | "cpp" | "cxx" => Some(Language::Cxx),
        _ => None,
    }
}

/// Finds the executable: a name with a slash is a path, others are looked up in `path` and then in the current folder.
pub(super) fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        return check(&file).map(|()| file);
    }
    let folders = path
        .map(std::env::split_paths)
        .into_iter()
        .flatten()
        .filter(|folder| !folder.as_os_str().is_empty());
    for folder in folders {
        let file = folder.join(name);
        if check(&file).is_ok() {
            return Ok(file);
        }
    }
    let here = Path::new(".").join(name);
    match check(&here) {
        Ok(()) => Ok(here),
        Err(failure) if failure.status == NOT_EXECUTABLE => Err(failure),
        Err(_) => Err(Failure::new(
            NOT_FOUND,
            format!(
                "{}: no such program, neither in PATH nor in the current folder",
                Path::new(name).display()
            ),
        )),
    }
}

/// Checks that `file` is there and can be executed.
fn check(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let metadata = file.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            Failure::new(NOT_EXECUTABLE, format!("{shown}: permission denied"))
        }
        std::io::ErrorKind::NotFound => Failure::new(NOT_FOUND, format!("{shown}: no such file")),
        _ => Failure::new(NOT_FOUND, format!("{shown}: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(Failure::new(
            NOT_EXECUTABLE,
            format!("{shown} is a folder, not a program"),
        ));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Failure::new(
            NOT_EXECUTABLE,
            format!("{shown} is not executable"),
        ));
    }
    Ok(())
}

/// Checks that a source file can be read as one.
pub(super) fn check_source(file: &Path) -> Result<(), Failure> {
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(Failure::new(
            NOT_EXECUTABLE,
            format!("{} is a folder, not a program", file.display()),
        )),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::new(
            NOT_FOUND,
            format!("{}: no such file", file.display()),
        )),
        Err(error) => Err(Failure::new(
            NOT_EXECUTABLE,
            format!("{}: {error}", file.display()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages() {
        assert_eq!(source_language(Path::new("a/x.c")), Some(Language::C));
        for name in ["x.cc", "x.cpp", "b.y/x.cxx"] {
            assert_eq!(
                source_language(Path::new(name)),
                Some(Language::Cxx),
                "{name}"
            );
        }
        for name in ["x", "x.o", "c", ".c", "x.c/y"] {
            assert_eq!(source_language(Path::new(name)), None, "{name}");
        }
    }

    #[test]
    fn programs() {
        let path = OsStr::new("/nowhere::/bin");
        assert_eq!(
            find(OsStr::new("sh"), Some(path)).unwrap(),
            Path::new("/bin/sh")
        );
        assert_eq!(
            find(OsStr::new("/bin/sh"), None).unwrap(),
            Path::new("/bin/sh")
        );
        for (name, status, part) in [
            ("no-such-program", NOT_FOUND, "no such program"),
            ("/no/such/program", NOT_FOUND, "no such file"),
            ("/etc/passwd", NOT_EXECUTABLE, "not executable"),
            ("/etc", NOT_EXECUTABLE, "folder"),
            // The tests run in the crate's folder.
            ("src", NOT_EXECUTABLE, "folder"),
            ("Cargo.toml", NOT_EXECUTABLE, "not executable"),
        ] {
            let failure = find(OsStr::new(name), Some(path)).unwrap_err();
            assert_eq!(failure.status, status, "{name}");
            assert!(failure.message.contains(part), "{}", failure.message);
        }
    }
}
