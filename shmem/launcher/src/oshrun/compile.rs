//! A source file given as the program: compiled into a folder that is removed as soon as the PEs have started.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::report::interrupted;
use super::sys::{self, Signals};
use super::{Failure, NOT_EXECUTABLE, processes};
use crate::compiler::Language;
use crate::installation::Installation;

const PREFIX: &str = "farreach-oshrun-";

/// An abandoned folder younger than this is left alone: its owner may be about to lock it.
const YOUNG: Duration = Duration::from_secs(10);

/// A folder of this process's own, gone when dropped. A lock tells others that its owner lives.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    fn create_in(parent: &Path) -> std::io::Result<Self> {
        remove_abandoned(parent);
        for attempt in 0.. {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && attempt < 1000 => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    let lock = File::open(&path)?;
                    // Where locks are not supported, the folder's age alone protects it.
                    let _ = lock.try_lock();
                    return Ok(TemporaryFolder { path, _lock: lock });
                }
            }
        }
        unreachable!("the loop only ends by returning")
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the files of an oshrun that was killed, with its guard, in the middle of a compilation.
fn remove_abandoned(parent: &Path) {
    let Ok(me) = std::fs::metadata("/proc/self").map(|metadata| metadata.uid()) else {
        return;
    };
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX));
        let old = |metadata: &std::fs::Metadata| {
            metadata
                .modified()
                .ok()
                .and_then(|time| time.elapsed().ok())
                .is_some_and(|age| age > YOUNG)
        };
        let mine = entry
            .metadata()
            .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == me && old(&metadata));
        if ours && mine && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A compiled program and the folder that it lies in.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) executable: PathBuf,
    _folder: TemporaryFolder,
}

/// Compiles `source` with the compiler beside oshrun.
pub(super) fn compile(
    source: &Path,
    language: Language,
    place: &Installation,
    signals: &Signals,
) -> Result<Compiled, Failure> {
    let compiler = find_compiler(language, place)?;
    let parent = std::env::temp_dir();
    let folder = TemporaryFolder::create_in(&parent).map_err(|error| {
        Failure::new(
            1,
            format!(
                "cannot make a folder in {} to compile in: {error}",
                parent.display()
            ),
        )
    })?;
    let executable = folder
        .path
        .join(source.file_stem().unwrap_or("program".as_ref()));
    let mut command = Command::new(&compiler);
    command
        .args(["-O2", "-g", "-o"])
        .arg(&executable)
        .arg(source)
        .stdin(Stdio::null())
        .env("TMPDIR", &folder.path);
    sys::prepare(
        &mut command,
        sys::Setup {
            keep: None,
            cpu: None,
            descriptors: None,
        },
    );
    let child = command.spawn().map_err(|error| {
        Failure::new(
            NOT_EXECUTABLE,
            format!("{} cannot be started: {error}", compiler.display()),
        )
    })?;
    match wait_for(child.id().cast_signed(), signals)? {
        0 => Ok(Compiled {
            executable,
            _folder: folder,
        }),
        status => Err(Failure::new(
            status,
            format!("{} does not compile", source.display()),
        )),
    }
}

fn find_compiler(language: Language, place: &Installation) -> Result<PathBuf, Failure> {
    // Before the installation gives it its real name, oshc++ is called oshcxx.
    let names = [
        language.tool(),
        if language == Language::Cxx {
            "oshcxx"
        } else {
            "oshcc"
        },
    ];
    names
        .iter()
        .map(|name| place.tool(name))
        .find(|tool| tool.is_file())
        .ok_or_else(|| {
            Failure::new(
                NOT_EXECUTABLE,
                format!(
                    "{} is missing, which compiles source files",
                    place.tool(names[0]).display()
                ),
            )
        })
}

/// Waits for the compiler's end; a signal that ends the job ends the compiler and the processes
/// that it has started.
fn wait_for(compiler: i32, signals: &Signals) -> Result<i32, Failure> {
    loop {
        sys::poll(&mut [sys::watch(signals, false)], None);
        while let Some(signal) = signals.next() {
            if signal != libc::SIGCHLD {
                processes::end_all(&[compiler]);
                return Err(interrupted(signal, "the program was being compiled"));
            }
            while let Ok(Some((pid, departure))) = sys::reap() {
                if pid == compiler {
                    return Ok(departure.status());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_goes_with_its_owner() {
        let parent =
            std::env::temp_dir().join(format!("farreach-test-owner-{}", std::process::id()));
        std::fs::create_dir(&parent).unwrap();
        let folder = TemporaryFolder::create_in(&parent).unwrap();
        let path = folder.path.clone();
        std::fs::write(path.join("file"), b"x").unwrap();
        let other = TemporaryFolder::create_in(&parent).unwrap();
        assert!(path.is_dir() && other.path != path);
        drop(folder);
        assert!(!path.exists() && other.path.is_dir());
        drop(other);
        // Fails if anything is left in it.
        std::fs::remove_dir(&parent).unwrap();
    }

    #[test]
    fn only_old_folders_without_owner_are_removed() {
        let parent = TemporaryFolder::create_in(&std::env::temp_dir()).unwrap();
        let make = |name: &str, age: u64| {
            let path = parent.path.join(name);
            std::fs::create_dir(&path).unwrap();
            let folder = File::open(&path).unwrap();
            folder
                .set_modified(std::time::SystemTime::now() - Duration::from_secs(age))
                .unwrap();
            (path, folder)
        };
        let (abandoned, _) = make(&format!("{PREFIX}1-0"), 60);
        let (young, _) = make(&format!("{PREFIX}2-0"), 1);
        let (owned, lock) = make(&format!("{PREFIX}3-0"), 60);
        let (foreign, _) = make("other-4", 60);
        lock.try_lock().unwrap();
        remove_abandoned(&parent.path);
        assert!(!abandoned.exists());
        assert!(young.exists() && owned.exists() && foreign.exists());
    }
}
