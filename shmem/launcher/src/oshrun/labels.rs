//! `--label`: the PEs' output in whole lines, each with the number of its PE.
//!
//! Nothing here waits: a reader of oshrun's output that does not read must not keep signals from being heard.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use super::sys::{self, Watch};

/// What poll promises to have room for in a pipe: a write of this size does not block.
const PIECE: usize = 4096;
/// With more than this waiting for an output, nothing more is read for it.
const ENOUGH: usize = 256 * 1024;
/// A longer line is cut here.
const LONGEST_LINE: usize = 1024 * 1024;

/// One output of one PE.
#[derive(Debug)]
struct Stream {
    rank: usize,
    sink: usize,
    source: Option<File>,
    partial: Vec<u8>,
}

/// oshrun's stdout or stderr.
#[derive(Debug)]
struct Sink {
    output: Option<File>,
    pending: Vec<u8>,
}

/// All outputs.
#[derive(Debug)]
pub(super) struct Labels {
    streams: Vec<Stream>,
    sinks: [Sink; 2],
}

/// What a [`Watch`] of [`Labels::watches`] belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Stream(usize),
    Sink(usize),
}

impl Labels {
    /// Labels for oshrun's stdout and stderr.
    pub(super) fn new() -> std::io::Result<Self> {
        let sink = |fd: std::io::Result<OwnedFd>| {
            fd.map(|fd| Sink {
                output: Some(fd.into()),
                pending: Vec::new(),
            })
        };
        let sinks = [
            sink(std::io::stdout().as_fd().try_clone_to_owned())?,
            sink(std::io::stderr().as_fd().try_clone_to_owned())?,
        ];
        Ok(Labels {
            streams: Vec::new(),
            sinks,
        })
    }

    /// Adds the pipes of a PE.
    pub(super) fn add(&mut self, rank: usize, stdout: Option<OwnedFd>, stderr: Option<OwnedFd>) {
        for (sink, source) in [stdout, stderr].into_iter().enumerate() {
            self.streams.push(Stream {
                rank,
                sink,
                source: source.map(File::from),
                partial: Vec::new(),
            });
        }
    }

    /// What to wait for.
    pub(super) fn watches(&self) -> impl Iterator<Item = (Watch, Token)> {
        let streams = self
            .streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| {
                let source = stream.source.as_ref()?;
                let room = self.sinks[stream.sink].pending.len() < ENOUGH;
                room.then(|| (sys::watch(source, false), Token::Stream(index)))
            });
        let sinks = self.sinks.iter().enumerate().filter_map(|(index, sink)| {
            let output = sink.output.as_ref().filter(|_| !sink.pending.is_empty())?;
            Some((sys::watch(output, true), Token::Sink(index)))
        });
        streams.chain(sinks)
    }

    /// Reads from or writes to what poll has found ready.
    pub(super) fn serve(&mut self, token: Token) {
        match token {
            Token::Stream(index) => {
                let stream = &mut self.streams[index];
                stream.read(&mut self.sinks[stream.sink].pending);
            }
            Token::Sink(index) => {
                let sink = &mut self.sinks[index];
                sink.write();
                if sink.output.is_none() {
                    // The PEs learn it as they would without labels: their next write fails.
                    for stream in self
                        .streams
                        .iter_mut()
                        .filter(|stream| stream.sink == index)
                    {
                        stream.source = None;
                    }
                }
            }
        }
    }

    /// Brings out what is left when all PEs have ended, until `deadline` if there is one; `stop` tells to give up.
    pub(super) fn finish(&mut self, deadline: Option<Instant>, stop: impl Fn() -> bool) {
        loop {
            let (mut watches, tokens): (Vec<_>, Vec<_>) = self.watches().unzip();
            let writing = tokens.iter().any(|token| matches!(token, Token::Sink(_)));
            let wait = if writing {
                Duration::from_millis(50)
            } else {
                Duration::ZERO
            };
            sys::poll(&mut watches, Some(wait));
            let ready: Vec<_> = watches
                .iter()
                .zip(tokens)
                .filter(|(watch, _)| watch.revents != 0)
                .collect();
            if ready.is_empty() && !writing {
                return;
            }
            for (_, token) in ready {
                self.serve(token);
            }
            if stop() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return;
            }
        }
    }
}

impl Stream {
    fn read(&mut self, pending: &mut Vec<u8>) {
        let Some(source) = &mut self.source else {
            return;
        };
        let mut bytes = [0; 16 * 1024];
        match source.read(&mut bytes) {
            Ok(0) => {
                self.source = None;
                if !self.partial.is_empty() {
                    label(self.rank, &std::mem::take(&mut self.partial), pending);
                }
            }
            Ok(count) => {
                self.partial.extend_from_slice(&bytes[..count]);
                take_lines(self.rank, &mut self.partial, pending);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.source = None,
        }
    }
}

impl Sink {
    fn write(&mut self) {
        let Some(output) = &mut self.output else {
            return;
        };
        let piece = self.pending.len().min(PIECE);
        match output.write(&self.pending[..piece]) {
            Ok(count) => drop(self.pending.drain(..count)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => {
                self.output = None;
                self.pending.clear();
            }
        }
    }
}

/// Moves the whole lines of `partial` to `pending`.
fn take_lines(rank: usize, partial: &mut Vec<u8>, pending: &mut Vec<u8>) {
    let mut start = 0;
    while let Some(length) = partial[start..].iter().position(|&byte| byte == b'\n') {
        label(rank, &partial[start..start + length], pending);
        start += length + 1;
    }
    partial.drain(..start);
    if partial.len() >= LONGEST_LINE {
        label(rank, &std::mem::take(partial), pending);
    }
}

fn label(rank: usize, line: &[u8], pending: &mut Vec<u8>) {
    pending.extend_from_slice(format!("[{rank}] ").as_bytes());
    pending.extend_from_slice(line);
    pending.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_whole() {
        let (mut partial, mut pending) = (b"one\ntwo".to_vec(), Vec::new());
        take_lines(3, &mut partial, &mut pending);
        assert_eq!(pending, b"[3] one\n");
        partial.extend_from_slice(b" too\n\n");
        take_lines(3, &mut partial, &mut pending);
        assert_eq!(pending, b"[3] one\n[3] two too\n[3] \n");
        assert!(partial.is_empty());
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let (mut partial, mut pending) = (vec![b'x'; LONGEST_LINE], Vec::new());
        take_lines(0, &mut partial, &mut pending);
        assert_eq!(pending.len(), LONGEST_LINE + 5);
        assert!(partial.is_empty());
    }
}
