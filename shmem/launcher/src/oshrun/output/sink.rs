//! oshrun's stdout or stderr.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::Duration;

use super::super::report;
use super::super::sys::{self, Watch};

/// The room in a pipe that poll promises, in bytes: a write of this size does not block, and
/// nothing gets into it.
const PIECE: usize = 4096;
/// Number of pieces to write before looking after others.
const PIECES: usize = 64;
/// With more than this waiting for an output, nothing more is read for it.
const ENOUGH: usize = 256 * 1024;

/// The destination of the output.
#[derive(Debug)]
enum End {
    Open(File),
    /// oshrun on another host: [`Sink::take`].
    Relayed,
    /// Nobody reads any more.
    Unread,
    /// A write has failed: further output is thrown away, and the PEs go on.
    Failed,
}

/// An output and the bytes that wait for it.
#[derive(Debug)]
pub(in super::super) struct Sink {
    end: End,
    /// Device and number of the file.
    identity: (u64, u64),
    /// Whether a write may have any length: nobody has to read it.
    at_once: bool,
    buffer: Vec<u8>,
    /// Number of bytes of `buffer` that are written.
    written: usize,
}

impl Sink {
    pub(in super::super) fn new(file: File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        let kind = metadata.file_type();
        Ok(Sink {
            identity: (metadata.dev(), metadata.ino()),
            at_once: !(kind.is_fifo() || kind.is_socket() || file.is_terminal()),
            end: End::Open(file),
            buffer: Vec::new(),
            written: 0,
        })
    }

    /// Makes an output that somebody takes from here.
    pub(in super::super) fn relayed() -> Self {
        Sink {
            end: End::Relayed,
            identity: (0, 0),
            at_once: true,
            buffer: Vec::new(),
            written: 0,
        }
    }

    /// Takes from a relayed output at most `most` bytes; with `lines` whole ones, be they longer,
    /// or else the bytes behind the last.
    pub(in super::super) fn take(&mut self, most: usize, lines: bool) -> Vec<u8> {
        let pending = self.pending();
        let newline = |&byte: &u8| byte == b'\n';
        let short = &pending[..pending.len().min(most)];
        let count = match short.iter().rposition(newline) {
            Some(end) if lines => end + 1,
            None if lines => {
                let end = pending.iter().position(newline);
                end.map_or(pending.len(), |end| end + 1)
            }
            _ => short.len(),
        };
        let taken = pending[..count].to_vec();
        self.written += count;
        self.tidy();
        taken
    }

    /// Throws away the bytes that have no reader any more.
    pub(in super::super) fn lose_reader(&mut self) {
        self.end = End::Unread;
        self.written = self.buffer.len();
    }

    /// Returns whether both write to the same file.
    pub(in super::super) fn is_same(&self, other: &Sink) -> bool {
        self.identity == other.identity
    }

    pub(in super::super) fn has_lost_its_reader(&self) -> bool {
        matches!(self.end, End::Unread)
    }

    pub(in super::super) fn has_failed(&self) -> bool {
        matches!(self.end, End::Failed)
    }

    /// Returns the bytes that wait to be written.
    pub(in super::super) fn pending(&self) -> &[u8] {
        &self.buffer[self.written..]
    }

    pub(in super::super) fn has_room(&self) -> bool {
        self.pending().len() < ENOUGH
    }

    /// Returns the descriptor to poll, if there is anything to write.
    pub(in super::super) fn watch(&self) -> Option<Watch> {
        match &self.end {
            End::Open(file) if !self.pending().is_empty() => Some(sys::watch(file, true)),
            _ => None,
        }
    }

    /// Adds bytes to write.
    pub(in super::super) fn push(&mut self, bytes: &[u8]) {
        if matches!(self.end, End::Open(_) | End::Relayed) {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Writes, when poll has found room, as much as goes without waiting; yields how much that was.
    pub(in super::super) fn write(&mut self) -> usize {
        let mut written = 0;
        for _ in 0..PIECES {
            let End::Open(file) = &mut self.end else {
                break;
            };
            let piece = piece(&self.buffer[self.written..], self.at_once);
            match file.write(piece) {
                Ok(count) => {
                    self.written += count;
                    written += count;
                }
                Err(error) => {
                    self.take_error(&error);
                    break;
                }
            }
            let Some(mut watch) = self.watch() else {
                break;
            };
            sys::poll(std::slice::from_mut(&mut watch), Some(Duration::ZERO));
            if watch.revents == 0 {
                break;
            }
        }
        self.tidy();
        written
    }

    /// Frees the room of the written bytes.
    fn tidy(&mut self) {
        if self.pending().is_empty() {
            self.buffer.clear();
            self.written = 0;
        } else if self.written >= ENOUGH {
            self.buffer.drain(..self.written);
            self.written = 0;
        }
    }

    fn take_error(&mut self, error: &std::io::Error) {
        match error.kind() {
            ErrorKind::Interrupted | ErrorKind::WouldBlock => return,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => self.end = End::Unread,
            _ => {
                self.end = End::Failed;
                report::line(&format!("cannot write the output: {error}"));
            }
        }
        self.written = self.buffer.len();
    }
}

/// Returns the beginning of `bytes` that is written in one go: where that is not all, whole lines
/// if possible, so that writes of others to the same pipe do not get into a line.
fn piece(bytes: &[u8], at_once: bool) -> &[u8] {
    if at_once || bytes.len() <= PIECE {
        return bytes;
    }
    let piece = &bytes[..PIECE];
    let end = piece.iter().rposition(|&byte| byte == b'\n');
    &piece[..end.map_or(PIECE, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relayed_lines_are_whole() {
        let mut sink = Sink::relayed();
        sink.push(b"one\ntwo\nthree");
        assert!(sink.watch().is_none());
        assert_eq!(sink.take(6, true), b"one\n");
        // A line is taken, however long it is.
        assert_eq!(sink.take(2, true), b"two\n");
        assert_eq!(sink.take(99, true), b"three");
        assert_eq!(sink.take(99, true), b"");
        sink.push(b"four\nfive");
        assert_eq!(sink.take(6, false), b"four\nf");
        sink.lose_reader();
        sink.push(b"six");
        assert!(sink.has_lost_its_reader() && sink.take(9, false).is_empty());
    }

    #[test]
    fn pieces_end_with_a_line() {
        let mut bytes = vec![b'x'; PIECE + 1];
        assert_eq!(piece(&bytes, true).len(), PIECE + 1);
        assert_eq!(piece(&bytes, false).len(), PIECE);
        bytes[1000] = b'\n';
        assert_eq!(piece(&bytes, false).len(), 1001);
        assert_eq!(piece(&bytes[..PIECE], false).len(), PIECE);
    }
}
