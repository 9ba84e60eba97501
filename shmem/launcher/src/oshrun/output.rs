//! The PEs' output: inherited, or through pipes and written out in whole lines, with `--label` each with the number of
//! its PE.
//!
//! Nothing here waits: a reader of oshrun's output that does not read must not keep signals from being heard.

pub(super) mod sink;

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::arguments::{Options, Passage};
use super::sys::{self, Watch};
use sink::Sink;

/// Bytes of one read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;
/// A longer line is passed on in parts, each with a line of its own if it has a label.
const LONGEST_LINE: usize = 1024 * 1024;
/// Number of times that [`Output::catch_up`] looks for more.
const ROUNDS: usize = 16;

/// The form in which a PE's bytes are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Whole lines that begin with this number.
    Labelled(usize),
    /// Whole lines.
    Lines,
    /// They are passed on as they come.
    AsIs,
}

/// One output of one PE.
#[derive(Debug)]
struct Stream {
    form: Form,
    sink: usize,
    source: Option<File>,
    /// Number of bytes that may still be read.
    left: usize,
    /// The beginning of a line.
    partial: Vec<u8>,
}

/// All outputs.
#[derive(Debug)]
pub(super) struct Output {
    label: bool,
    /// Whether the PEs' lines are kept whole.
    lines: bool,
    /// Ways of the PEs' stdout and stderr: to a sink, or, being inherited, their own way.
    routes: [Option<usize>; 2],
    sinks: Vec<Sink>,
    streams: Vec<Stream>,
    chunk: Box<[u8]>,
}

/// The owner of a [`Watch`] of [`Output::watches`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Stream(usize),
    Sink(usize),
}

impl Output {
    /// Sets up the ways from the PEs to oshrun's stdout and stderr. The PEs' buffers are written
    /// when they are full, which is anywhere in a line: with several PEs, an output that is no
    /// terminal gets their lines through pipes.
    pub(super) fn new(options: &Options) -> std::io::Result<Self> {
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let piped = |terminal: bool| {
            options.label
                || match options.passage {
                    Some(passage) => passage == Passage::Lines,
                    None => options.pes > 1 && !terminal,
                }
        };
        let mut output = Output {
            label: options.label,
            lines: true,
            routes: [None; 2],
            sinks: Vec::new(),
            streams: Vec::new(),
            chunk: vec![0; CHUNK].into(),
        };
        if piped(stdout.is_terminal()) {
            output.routes[0] = Some(output.sink(stdout.as_fd().try_clone_to_owned()?)?);
        }
        if piped(stderr.is_terminal()) {
            output.routes[1] = Some(output.sink(stderr.as_fd().try_clone_to_owned()?)?);
        }
        Ok(output)
    }

    /// Returns the ways from the PEs of this host to oshrun on another, with labels, or in whole
    /// lines, or neither.
    pub(super) fn relayed(label: bool, lines: bool) -> Self {
        Output {
            label,
            lines: label || lines,
            routes: [Some(0), Some(1)],
            sinks: vec![Sink::relayed(), Sink::relayed()],
            streams: Vec::new(),
            chunk: vec![0; CHUNK].into(),
        }
    }

    /// Sets up oshrun's stdout and stderr for the output of several hosts.
    pub(super) fn joined(options: &Options) -> std::io::Result<Self> {
        let mut output = Output {
            label: options.label,
            lines: keeps_lines(options),
            routes: [None; 2],
            sinks: Vec::new(),
            streams: Vec::new(),
            chunk: Box::default(),
        };
        output.routes[0] = Some(output.sink(std::io::stdout().as_fd().try_clone_to_owned()?)?);
        output.routes[1] = Some(output.sink(std::io::stderr().as_fd().try_clone_to_owned()?)?);
        Ok(output)
    }

    /// Adds bytes that have come from another host: whole lines where lines are kept, or a part of
    /// a long one. A line without an end is the last of a host's PEs, and waits for the end of
    /// those of other hosts.
    pub(super) fn push(&mut self, way: usize, bytes: &[u8]) {
        let Some(sink) = self.routes[way] else {
            return;
        };
        if self.lines && bytes.len() < LONGEST_LINE && bytes.last() != Some(&b'\n') {
            self.streams.push(Stream {
                form: Form::Lines,
                sink,
                source: None,
                left: 0,
                partial: bytes.to_vec(),
            });
        } else {
            self.sinks[sink].push(bytes);
        }
    }

    /// Returns whether there is room for more of the bytes of [`Self::push`].
    pub(super) fn has_room(&self, way: usize) -> bool {
        self.routes[way].is_none_or(|sink| self.sinks[sink].has_room())
    }

    /// Returns whether the pushed bytes have no reader.
    pub(super) fn is_unread(&self, way: usize) -> bool {
        self.routes[way].is_some_and(|sink| self.sinks[sink].has_lost_its_reader())
    }

    /// Takes bytes of a relayed output: about as many as are allowed.
    pub(super) fn take_relayed(&mut self, way: usize, most: usize) -> Vec<u8> {
        self.routes[way].map_or_else(Vec::new, |sink| self.sinks[sink].take(most, self.lines))
    }

    /// Learns that nobody reads a relayed output any more.
    pub(super) fn lose_reader(&mut self, way: usize) {
        if let Some(sink) = self.routes[way] {
            self.sinks[sink].lose_reader();
            self.close_streams(sink);
        }
    }

    /// Returns the sink for `fd`: two descriptors of one file (`2>&1`) share one, so that their
    /// lines do not tear each other.
    fn sink(&mut self, fd: OwnedFd) -> std::io::Result<usize> {
        let sink = Sink::new(fd.into())?;
        let known = self.sinks.iter().position(|known| known.is_same(&sink));
        Ok(known.unwrap_or_else(|| {
            self.sinks.push(sink);
            self.sinks.len() - 1
        }))
    }

    /// Prepares the outputs of a PE that is to be started.
    pub(super) fn prepare(&self, command: &mut Command) {
        if self.routes[0].is_some() {
            command.stdout(Stdio::piped());
        }
        if self.routes[1].is_some() {
            command.stderr(Stdio::piped());
        }
    }

    /// Takes the pipes of PE `rank`.
    pub(super) fn take(&mut self, rank: usize, child: &mut Child) {
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        let form = match (self.label, self.lines) {
            (true, _) => Form::Labelled(rank),
            (false, true) => Form::Lines,
            (false, false) => Form::AsIs,
        };
        for (route, source) in self.routes.into_iter().zip([stdout, stderr]) {
            if let (Some(sink), Some(source)) = (route, source) {
                self.streams.push(Stream {
                    form,
                    sink,
                    source: Some(source.into()),
                    left: usize::MAX,
                    partial: Vec::new(),
                });
            }
        }
    }

    /// Returns the descriptors to poll, with their owners.
    pub(super) fn watches(&self) -> impl Iterator<Item = (Watch, Token)> {
        let streams = self
            .streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| {
                let source = stream.source.as_ref()?;
                let room = self.sinks[stream.sink].has_room();
                room.then(|| (sys::watch(source, false), Token::Stream(index)))
            });
        let sinks = self
            .sinks
            .iter()
            .enumerate()
            .filter_map(|(index, sink)| Some((sink.watch()?, Token::Sink(index))));
        streams.chain(sinks)
    }

    /// Reads from or writes to a descriptor that poll has found ready; returns the bytes written.
    pub(super) fn serve(&mut self, token: Token) -> usize {
        match token {
            Token::Stream(index) => {
                let stream = &mut self.streams[index];
                stream.read(&mut self.chunk, &mut self.sinks[stream.sink]);
                0
            }
            Token::Sink(index) => {
                let sink = &mut self.sinks[index];
                let count = sink.write();
                if sink.has_lost_its_reader() {
                    self.close_streams(index);
                }
                count
            }
        }
    }

    /// Closes the PEs' streams to a sink, so that the PEs learn that nobody reads: their next write
    /// fails, as it would without pipes between.
    fn close_streams(&mut self, sink: usize) {
        for stream in &mut self.streams {
            if stream.sink == sink {
                stream.source = None;
                stream.partial.clear();
            }
        }
    }

    /// Serves the descriptors that are ready within `time`; returns whether there were any, and the
    /// bytes written.
    fn serve_ready(&mut self, time: Duration) -> (bool, usize) {
        let (mut watches, tokens): (Vec<_>, Vec<_>) = self.watches().unzip();
        sys::poll(&mut watches, Some(time));
        let (mut any, mut written) = (false, 0);
        for (watch, token) in watches.iter().zip(tokens) {
            if watch.revents != 0 {
                any = true;
                written += self.serve(token);
            }
        }
        (any, written)
    }

    /// Passes on the output that has come so far, so that oshrun's own messages come after it. Does
    /// not wait.
    pub(super) fn catch_up(&mut self) {
        for _ in 0..ROUNDS {
            if !self.serve_ready(Duration::ZERO).0 {
                return;
            }
        }
    }

    /// Limits the bytes that are still read from each pipe.
    fn read_only(&mut self, most: impl Fn(&File) -> usize) {
        for stream in &mut self.streams {
            stream.left = stream.source.as_ref().map_or(0, &most);
            stream.close_if_done(&mut self.sinks[stream.sink]);
        }
    }

    /// Reads no more than the bytes that are in the pipes now, when all PEs have ended: a process
    /// that is not oshrun's to end may still have them open.
    pub(super) fn read_the_rest(&mut self) {
        self.read_only(sys::waiting);
    }

    /// Reads nothing more.
    pub(super) fn stop_reading(&mut self) {
        self.read_only(|_| 0);
    }

    /// Returns whether all was read; passes on the rests of lines then.
    pub(super) fn is_read(&mut self) -> bool {
        let done = self.streams.iter().all(|stream| stream.source.is_none());
        if done {
            for stream in &mut self.streams {
                self.sinks[stream.sink].push(&std::mem::take(&mut stream.partial));
            }
        }
        done
    }

    /// Writes the output that is left when all PEs have ended. With a `patience`, a reader that
    /// takes nothing for so long is given up; `stop` tells to give up at once. Returns whether all
    /// output with a reader was written.
    pub(super) fn finish(&mut self, patience: Option<Duration>, stop: impl Fn() -> bool) -> bool {
        self.read_the_rest();
        let mut progress = Instant::now();
        loop {
            if self.is_read() && self.sinks.iter().all(|sink| sink.watch().is_none()) {
                return !self.sinks.iter().any(Sink::has_failed);
            }
            let (any, written) = self.serve_ready(Duration::from_millis(50));
            if written > 0 {
                progress = Instant::now();
            } else if !any && self.sinks.iter().all(|sink| sink.watch().is_none()) {
                // Another process has taken the bytes.
                self.stop_reading();
            }
            if stop() || patience.is_some_and(|patience| progress.elapsed() >= patience) {
                return false;
            }
        }
    }
}

impl Stream {
    /// Reads at most `left` bytes.
    fn read(&mut self, chunk: &mut [u8], sink: &mut Sink) {
        let Some(source) = &mut self.source else {
            return;
        };
        let most = chunk.len().min(self.left);
        match source.read(&mut chunk[..most]) {
            Ok(0) => self.left = 0,
            Ok(count) => {
                self.left -= count;
                let bytes = &chunk[..count];
                match self.form {
                    Form::Labelled(rank) => take_labelled(rank, &mut self.partial, bytes, sink),
                    Form::Lines => take_lines(&mut self.partial, bytes, sink),
                    Form::AsIs => sink.push(bytes),
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.left = 0,
        }
        self.close_if_done(sink);
    }

    /// Closes a pipe that has nothing more to give. A last line without its end gets one if it has
    /// a label; otherwise it stays until the job has ended, lest another PE's line begin in the
    /// middle of a line.
    fn close_if_done(&mut self, sink: &mut Sink) {
        if self.left > 0 {
            return;
        }
        self.source = None;
        if let Form::Labelled(rank) = self.form
            && !self.partial.is_empty()
        {
            push_labelled(rank, &std::mem::take(&mut self.partial), sink);
        }
    }
}

/// Returns whether lines from several hosts are kept whole: as they come they go to a terminal
/// alone.
pub(super) fn keeps_lines(options: &Options) -> bool {
    options.label
        || match options.passage {
            Some(passage) => passage == Passage::Lines,
            None => !std::io::stdout().is_terminal(),
        }
}

/// Passes on whole lines; keeps the beginning of one in `partial`.
fn take_lines(partial: &mut Vec<u8>, bytes: &[u8], sink: &mut Sink) {
    let end = bytes.iter().rposition(|&byte| byte == b'\n');
    let (lines, rest) = bytes.split_at(end.map_or(0, |at| at + 1));
    if !lines.is_empty() {
        sink.push(partial);
        sink.push(lines);
        partial.clear();
    }
    partial.extend_from_slice(rest);
    if partial.len() >= LONGEST_LINE {
        sink.push(partial);
        partial.clear();
    }
}

/// Passes on whole lines, each with its label; keeps the beginning of one in `partial`.
fn take_labelled(rank: usize, partial: &mut Vec<u8>, bytes: &[u8], sink: &mut Sink) {
    let mut searched = partial.len();
    partial.extend_from_slice(bytes);
    let mut start = 0;
    while let Some(length) = partial[searched..].iter().position(|&byte| byte == b'\n') {
        push_labelled(rank, &partial[start..searched + length], sink);
        start = searched + length + 1;
        searched = start;
    }
    partial.drain(..start);
    if partial.len() >= LONGEST_LINE {
        push_labelled(rank, &std::mem::take(partial), sink);
    }
}

fn push_labelled(rank: usize, line: &[u8], sink: &mut Sink) {
    sink.push(format!("[{rank}] ").as_bytes());
    sink.push(line);
    sink.push(b"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink() -> Sink {
        Sink::new(File::create("/dev/null").unwrap()).unwrap()
    }

    #[test]
    fn lines_come_out_whole() {
        let (mut partial, mut sink) = (Vec::new(), sink());
        take_lines(&mut partial, b"one\ntwo", &mut sink);
        assert_eq!(sink.pending(), b"one\n");
        take_lines(&mut partial, b" too", &mut sink);
        assert_eq!(sink.pending(), b"one\n");
        take_lines(&mut partial, b"\n\nthree\nfo", &mut sink);
        assert_eq!(sink.pending(), b"one\ntwo too\n\nthree\n");
        assert_eq!(partial, b"fo");
    }

    #[test]
    fn a_long_line_is_passed_on_as_it_is() {
        let (mut partial, mut sink) = (Vec::new(), sink());
        take_lines(&mut partial, &vec![b'x'; LONGEST_LINE - 1], &mut sink);
        assert_eq!(sink.pending(), b"");
        take_lines(&mut partial, b"y", &mut sink);
        assert_eq!(sink.pending().len(), LONGEST_LINE);
        assert!(partial.is_empty());
    }

    #[test]
    fn labels_mark_whole_lines() {
        let (mut partial, mut sink) = (Vec::new(), sink());
        take_labelled(3, &mut partial, b"one\ntwo", &mut sink);
        assert_eq!(sink.pending(), b"[3] one\n");
        take_labelled(3, &mut partial, b" too\n\n", &mut sink);
        assert_eq!(sink.pending(), b"[3] one\n[3] two too\n[3] \n");
        assert!(partial.is_empty());
    }

    #[test]
    fn a_labelled_line_without_end_is_cut() {
        let (mut partial, mut sink) = (Vec::new(), sink());
        let line = vec![b'x'; LONGEST_LINE];
        take_labelled(0, &mut partial, &line, &mut sink);
        assert_eq!(sink.pending().len(), line.len() + 5);
        assert!(partial.is_empty());
    }
}
