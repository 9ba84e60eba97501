//! The launcher's end of a PE's connection. It bounds the launcher's work and memory for a PE: the
//! bytes that are read in one turn, a line without an end, and answers that the PE does not take.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;

use fi_bootstrap::wire::{Lines, WireError};

use super::sys::{self, Watch};

/// Bytes read in one turn, so that a PE that sends without end keeps neither others nor signals
/// from being heard.
const TURN: usize = 4096;

/// Turns that a PE's last words may take: more than a socket holds.
const LAST_TURNS: usize = 256;

/// A PE's connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` when it is closed, or when nothing more is to be heard from the PE.
    socket: Option<UnixStream>,
    lines: Lines,
    /// Answers that the PE has not taken yet. Nothing is read from it meanwhile: they do not become
    /// more than those to its last request and to its last barrier.
    unsent: Vec<u8>,
    /// Kept open, so that the PE does not take it for the launcher's end.
    ignored: Option<UnixStream>,
}

impl Connection {
    /// Takes over a socket that does not block.
    pub(super) fn new(socket: UnixStream) -> Self {
        Connection {
            socket: Some(socket),
            lines: Lines::default(),
            unsent: Vec::new(),
            ignored: None,
        }
    }

    /// Returns whether the PE has answers to take first.
    pub(super) fn is_clogged(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Returns the events to wait for.
    pub(super) fn watch(&self) -> Option<Watch> {
        let socket = self.socket.as_ref()?;
        Some(sys::watch(socket, self.is_clogged()))
    }

    /// Does not wait: sends answers that are left, or else reads one turn's worth. Yields whether
    /// anything came.
    pub(super) fn take_turn(&mut self) -> bool {
        if self.is_clogged() {
            self.flush();
            return false;
        }
        let Some(socket) = &mut self.socket else {
            return false;
        };
        let mut bytes = [0; TURN];
        match socket.read(&mut bytes) {
            Ok(0) => self.socket = None,
            Ok(count) => {
                self.lines.push(&bytes[..count]);
                return true;
            }
            Err(error) if is_for_now(&error) => {}
            Err(_) => self.socket = None,
        }
        false
    }

    /// Returns the next whole line that was read; none while the PE has answers to take.
    ///
    /// # Errors
    /// When the line has no end in sight.
    pub(super) fn next_line(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        if self.is_clogged() || self.ignored.is_some() {
            return Ok(None);
        }
        self.lines.next_line()
    }

    /// Sends a line, or keeps the part that the PE does not take yet. A PE that is gone gets none.
    pub(super) fn send(&mut self, line: &str) {
        if self.socket.is_some() {
            self.unsent.extend_from_slice(line.as_bytes());
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(socket) = &mut self.socket else {
            self.unsent.clear();
            return;
        };
        match socket.write(&self.unsent) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(error) if is_for_now(&error) => {}
            Err(_) => self.unsent.clear(),
        }
    }

    /// Ignores all further lines of the PE.
    pub(super) fn ignore(&mut self) {
        self.lines = Lines::default();
        self.unsent = Vec::new();
        if let Some(socket) = self.socket.take() {
            self.ignored = Some(socket);
        }
    }

    /// Reads the last words of a PE that has ended, and closes the connection: a process that the
    /// PE has started, and left the descriptor to, is not heard.
    pub(super) fn close(&mut self) {
        let Some(mut socket) = self.socket.take() else {
            return;
        };
        self.unsent = Vec::new();
        let mut bytes = [0; TURN];
        for _ in 0..LAST_TURNS {
            match socket.read(&mut bytes) {
                Ok(count) if count > 0 => self.lines.push(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    }
}

/// Returns whether it may go well another time.
fn is_for_now(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Connection, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        theirs.set_nonblocking(true).unwrap();
        (Connection::new(ours), theirs)
    }

    #[test]
    fn one_that_does_not_read_is_not_read_from() {
        let (mut connection, mut pe) = pair();
        let line = format!("{}\n", "a".repeat(999));
        let mut sent = 0;
        while !connection.is_clogged() {
            connection.send(&line);
            sent += 1;
        }
        pe.write_all(b"cmd=get\n").unwrap();
        assert!(!connection.take_turn());
        assert_eq!(connection.next_line(), Ok(None));

        let mut received: Vec<u8> = Vec::new();
        while received.len() < sent * line.len() {
            let mut bytes = [0; 50_000];
            received.extend(pe.read(&mut bytes).map_or(&[][..], |count| &bytes[..count]));
            assert!(received.len() == sent * line.len() || !connection.take_turn());
        }
        assert_eq!(received, line.repeat(sent).as_bytes());
        assert!(connection.take_turn());
        assert_eq!(connection.next_line(), Ok(Some(b"cmd=get".to_vec())));
    }

    #[test]
    fn a_turn_is_bounded() {
        let (mut connection, mut pe) = pair();
        pe.write_all(&[b'\n'; TURN + 1]).unwrap();
        assert!(connection.take_turn());
        let lines = std::iter::from_fn(|| connection.next_line().unwrap());
        assert_eq!(lines.count(), TURN);
    }

    #[test]
    fn last_words_are_heard_and_nothing_after() {
        let (mut connection, mut pe) = pair();
        pe.write_all(&[b'\n'; 3 * TURN]).unwrap();
        connection.close();
        // Somebody else has the descriptor still.
        assert!(pe.write_all(b"\n").is_err());
        let lines = std::iter::from_fn(|| connection.next_line().unwrap());
        assert_eq!(lines.count(), 3 * TURN);
        assert!(connection.watch().is_none());
    }

    #[test]
    fn an_ignored_pe_is_not_told() {
        let (mut connection, mut pe) = pair();
        pe.write_all(b"one\ntwo\n").unwrap();
        assert!(connection.take_turn());
        connection.ignore();
        assert_eq!(connection.next_line(), Ok(None));
        assert!(connection.watch().is_none() && !connection.take_turn());
        assert!(pe.write_all(b"three\n").is_ok());
    }
}
