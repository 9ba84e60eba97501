//! oshrun's standard input on its way to PE 0, which is on some host.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;

use super::super::sys::{self, Watch};

/// Number of bytes that may be on their way.
const WINDOW: u32 = 128 * 1024;

/// Number of bytes that are read at a time.
const CHUNK: usize = 32 * 1024;

/// The standard input.
#[derive(Debug)]
pub(super) struct Input {
    source: Option<File>,
    /// Bytes that PE 0 has not taken.
    on_its_way: u32,
}

impl Input {
    /// Takes the standard input of this process; none if it is closed.
    pub(super) fn new() -> Self {
        let source = std::io::stdin().as_fd().try_clone_to_owned();
        Input {
            source: source.ok().map(File::from),
            on_its_way: 0,
        }
    }

    /// Returns the descriptor to poll: not a terminal that belongs to others now, of which a read
    /// would stop this process.
    pub(super) fn watch(&self) -> Option<Watch> {
        let source = self.source.as_ref()?;
        let open = self.on_its_way < WINDOW && !sys::is_in_background(source);
        open.then(|| sys::watch(source, false))
    }

    /// Reads the bytes that are there; nothing at the end, once. `None` when there are none yet.
    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        let source = self.source.as_mut()?;
        let mut bytes = vec![0; CHUNK];
        match source.read(&mut bytes) {
            Ok(count) if count > 0 => {
                bytes.truncate(count);
                self.on_its_way += u32::try_from(count).unwrap_or(WINDOW);
                Some(bytes)
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) =>
            {
                None
            }
            _ => {
                self.source = None;
                Some(Vec::new())
            }
        }
    }

    /// Counts so many bytes that PE 0 has taken.
    pub(super) fn taken(&mut self, bytes: u32) {
        self.on_its_way = self.on_its_way.saturating_sub(bytes);
    }

    /// Ends the input: PE 0 reads no more.
    pub(super) fn close(&mut self) {
        self.source = None;
    }
}
