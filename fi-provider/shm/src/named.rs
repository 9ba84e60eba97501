//! Memory with a name, for the processes of one user that open it: a file of `/dev/shm`.
//!
//! Each process that has it open holds a lock on the file, which the kernel takes away with the
//! process (open file description locks, fcntl(2)). The last one removes the file. One that was
//! killed leaves it without a lock, and the next opening of any name removes it.

use crate::segment::{Memfd, Reservation};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder of such files.
const FOLDER: &str = "/dev/shm";
/// The most bytes of a name: it is written in twice as many letters, and a file's name has 255.
const MOST_BYTES: usize = 100;

/// The byte that is locked for all users of the file, and the one that is locked for one change.
const USE: libc::off_t = 0;
const CHANGE: libc::off_t = 1;

/// An open memory with a name.
#[derive(Debug)]
pub struct Named {
    file: File,
    path: PathBuf,
}

/// The right to change the memory, or to read it while nobody changes it, until this is
/// dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Named);

impl Named {
    /// Opens the memory of this name, or makes it where no process has it open: `lay_out` fills it
    /// before others see it.
    ///
    /// # Errors
    /// `PermissionDenied` where the file is another user's, or others than its user may open it;
    /// `InvalidFilename` for a name that is empty or longer than 100 bytes; else the error of a
    /// system call.
    pub fn open_or_make(
        name: &[u8],
        lay_out: impl Fn(&File) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = path(name)?;
        sweep();
        loop {
            let file = open(&path, true)?;
            if lock(&file, USE, libc::F_WRLCK, false)? {
                if !is_at(&file, &path)? {
                    continue;
                }
                // A file that nobody has open is new, or of a process that was killed.
                let laid_out = file.set_len(0).and_then(|()| lay_out(&file));
                if let Err(error) = laid_out {
                    let _ = fs::remove_file(&path);
                    return Err(error);
                }
            }
            if let Some(named) = Self::hold(file, &path)? {
                return Ok(named);
            }
        }
    }

    /// Opens the memory of this name.
    ///
    /// # Errors
    /// `NotFound` where no process has it open, else as [`Named::open_or_make`].
    pub fn open(name: &[u8]) -> io::Result<Self> {
        let path = path(name)?;
        sweep();
        loop {
            let file = open(&path, false)?;
            // It may have been made just now, and not been filled.
            remove_unused(&file, &path);
            if let Some(named) = Self::hold(file, &path)? {
                return Ok(named);
            }
        }
    }

    /// Takes the lock of a user of the file; none where the file has been removed.
    fn hold(file: File, path: &Path) -> io::Result<Option<Self>> {
        lock(&file, USE, libc::F_RDLCK, true)?;
        let is_there = is_at(&file, path)?;
        let path = path.to_path_buf();
        Ok(is_there.then_some(Self { file, path }))
    }

    /// Waits until no other process has a turn at the memory, and takes one.
    ///
    /// # Errors
    /// The error of fcntl(2).
    pub fn turn(&self) -> io::Result<Turn<'_>> {
        lock(&self.file, CHANGE, libc::F_WRLCK, true)?;
        Ok(Turn(self))
    }

    /// Maps its first `bytes` bytes, whole pages, for reading.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn map_for_reading(&self, bytes: usize) -> io::Result<Reservation> {
        let memory = Memfd::of(self.file.try_clone()?)?;
        let space = Reservation::anywhere(bytes)?;
        space.map_for_reading(0, &memory, 0, bytes)?;
        space.keep_from_cores();
        Ok(space)
    }
}

impl Turn<'_> {
    /// Reads bytes that were written.
    ///
    /// # Errors
    /// `UnexpectedEof`, or the error of pread(2).
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.file.read_exact_at(bytes, offset)
    }

    /// Writes bytes, and makes the memory longer where they need that.
    ///
    /// # Errors
    /// The error of pwrite(2).
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.file.write_all_at(bytes, offset)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A lock that is held can be given back.
        let _ = lock(&self.0.file, CHANGE, libc::F_UNLCK, false);
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // Its own lock goes first: of two that close at once the second finds none.
        let _ = lock(&self.file, USE, libc::F_UNLCK, false);
        remove_unused(&self.file, &self.path);
    }
}

/// Returns the path of the memory of a name.
fn path(name: &[u8]) -> io::Result<PathBuf> {
    if !(1..=MOST_BYTES).contains(&name.len()) {
        return Err(ErrorKind::InvalidFilename.into());
    }
    let letters: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Path::new(FOLDER).join(prefix() + &letters))
}

/// Returns the letters that the names of this user's files begin with.
fn prefix() -> String {
    // SAFETY: geteuid has no requirement.
    format!("farreach-{}-", unsafe { libc::geteuid() })
}

/// Opens a file that is this user's, and that nobody else may open.
fn open(path: &Path, may_make: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(may_make).mode(0o600);
    // Keeps a caller that waits for a lock from waiting for a FIFO.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    if is_own(&file.metadata()?) {
        Ok(file)
    } else {
        Err(ErrorKind::PermissionDenied.into())
    }
}

fn is_own(metadata: &Metadata) -> bool {
    // SAFETY: geteuid has no requirement.
    let user = unsafe { libc::geteuid() };
    metadata.is_file() && metadata.uid() == user && metadata.mode() & 0o777 == 0o600
}

/// Returns whether the file is the one of this path.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(its) => Ok((its.dev(), its.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a file of which nobody holds the lock.
fn remove_unused(file: &File, path: &Path) {
    let is_unused = lock(file, USE, libc::F_WRLCK, false).unwrap_or(false);
    if is_unused && is_at(file, path).unwrap_or(false) {
        // It stays for the next process that looks.
        let _ = fs::remove_file(path);
    }
}

/// Removes the files of this user's processes that were killed.
fn sweep() {
    let Ok(entries) = fs::read_dir(FOLDER) else {
        return;
    };
    let prefix = prefix();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(prefix.as_bytes())
            && let Ok(file) = open(&entry.path(), false)
        {
            remove_unused(&file, &entry.path());
        }
    }
}

/// Changes the lock of one byte; false where another holds it, and this does not wait.
fn lock(file: &File, byte: libc::off_t, kind: i32, waits: bool) -> io::Result<bool> {
    // SAFETY: all zeros is a valid flock.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = byte;
    lock.l_len = 1;
    let command = if waits {
        libc::F_OFD_SETLKW
    } else {
        libc::F_OFD_SETLK
    };
    loop {
        // SAFETY: the command takes a flock, which outlives the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const lock) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN | libc::EACCES) if !waits => return Ok(false),
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn name(of: &str) -> Vec<u8> {
        format!("test {} {of}", std::process::id()).into_bytes()
    }

    fn open_or_make(name: &[u8]) -> io::Result<Named> {
        Named::open_or_make(name, |file| file.write_all_at(b"new", 0))
    }

    fn first(named: &Named) -> [u8; 3] {
        let mut bytes = [0; 3];
        named.turn().unwrap().read(0, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn it_is_there_as_long_as_it_is_open() {
        let name = name("open");
        let refused = |result: io::Result<Named>| result.map(drop).unwrap_err().kind();
        assert_eq!(refused(Named::open(&name)), ErrorKind::NotFound);
        let one = open_or_make(&name).unwrap();
        one.turn().unwrap().write(0, b"old").unwrap();
        let (two, three) = (open_or_make(&name).unwrap(), Named::open(&name).unwrap());
        assert_eq!((first(&two), first(&three)), (*b"old", *b"old"));
        drop((one, two));
        assert_eq!(first(&Named::open(&name).unwrap()), *b"old");
        let path = three.path.clone();
        drop(three);
        assert!(!path.exists());
        assert_eq!(refused(Named::open(&name)), ErrorKind::NotFound);
    }

    #[test]
    fn what_nobody_has_open_is_replaced() {
        let (left, other) = (name("left"), name("other"));
        for make in [true, false] {
            let path = path(&left).unwrap();
            fs::write(&path, b"old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if make {
                assert_eq!(first(&open_or_make(&left).unwrap()), *b"new");
            } else {
                drop(open_or_make(&other).unwrap());
            }
            assert!(!path.exists());
        }
    }

    #[test]
    fn files_that_others_may_open_are_refused() {
        let name = name("modes");
        let path = path(&name).unwrap();
        fs::write(&path, b"old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
        for result in [open_or_make(&name), Named::open(&name)] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/shm/nothing", &path).unwrap();
        assert!(open_or_make(&name).is_err() && Named::open(&name).is_err());
        fs::remove_file(&path).unwrap();
        for wrong in [&[][..], &[b'x'; MOST_BYTES + 1]] {
            assert!(open_or_make(wrong).is_err());
        }
    }
}
