//! Threads that begin together, each on a processor of its own where there are enough.

#![expect(unsafe_code, reason = "asks for processors by sched_setaffinity")]

use crate::error::Result;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// A thread's number among those that begin together, and their barrier.
pub(crate) struct Team<'a> {
    /// The number of this thread.
    pub(crate) thread: usize,
    barrier: &'a Barrier,
}

impl Team<'_> {
    /// Waits until all have come.
    pub(crate) fn barrier(&self) {
        self.barrier.wait();
    }
}

/// Runs `body` on each of `threads` threads, on the processors from number `first` on; the results in the order of threads.
///
/// An error in one ends the process, with the error on standard error: the others would wait for it for ever.
pub(crate) fn together<T: Send>(
    threads: usize,
    first: usize,
    body: impl Fn(&Team<'_>) -> Result<T> + Sync,
) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let processors = processors();
    let run = |thread: usize| {
        if let Some(own) = processors.get(first..first + threads) {
            pin(own[thread]);
        }
        let team = Team {
            thread,
            barrier: &barrier,
        };
        body(&team).unwrap_or_else(|error| {
            eprintln!("endpoints: thread {thread}: {error}");
            std::process::exit(1);
        })
    };
    thread::scope(|scope| {
        let run = &run;
        let handles: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || run(thread)))
            .collect();
        let join = |handle: thread::ScopedJoinHandle<'_, T>| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().map(join).collect()
    })
}

/// A stretch of work of one thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Messages.
    pub(crate) messages: u64,
    /// Time of its beginning.
    pub(crate) begin: Instant,
    /// Time of its end.
    pub(crate) end: Instant,
}

/// Returns the messages a second of threads that worked at the same time: all their messages, from
/// the first one's begin to the last one's end.
pub(crate) fn rate(stretches: &[Stretch]) -> f64 {
    let begin = stretches.iter().map(|stretch| stretch.begin).min();
    let end = stretches.iter().map(|stretch| stretch.end).max();
    let (Some(begin), Some(end)) = (begin, end) else {
        return 0.0;
    };
    let messages: u64 = stretches.iter().map(|stretch| stretch.messages).sum();
    per_second(messages, end - begin)
}

/// Returns the messages a second.
pub(crate) fn per_second(messages: u64, time: Duration) -> f64 {
    messages as f64 / time.as_secs_f64().max(1e-9)
}

/// Returns the processors that this process may run on.
fn processors() -> Vec<usize> {
    // SAFETY: a set of bits, of which zero is one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is valid and as long as said.
    let result = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
    if result != 0 {
        return Vec::new();
    }
    let all = 0..libc::CPU_SETSIZE as usize;
    // SAFETY: the numbers are within the set.
    all.filter(|&processor| unsafe { libc::CPU_ISSET(processor, &set) })
        .collect()
}

/// Keeps this thread on a processor. Where that is refused it runs anywhere.
fn pin(processor: usize) {
    // SAFETY: a set of bits, of which zero is one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is that of a processor in a set of this kind.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the set is valid and as long as said; 0 is this thread.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn threads_meet_and_return_in_their_order() {
        let come = AtomicUsize::new(0);
        let seen = together(4, 0, |team| {
            // ORDERING: the barrier orders it for all.
            come.fetch_add(1, Ordering::Relaxed);
            team.barrier();
            Ok((team.thread, come.load(Ordering::Relaxed)))
        });
        assert_eq!(seen, [(0, 4), (1, 4), (2, 4), (3, 4)]);
    }

    #[test]
    fn rates_are_of_all_from_the_first_to_the_last() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let one = Stretch {
            messages: 100,
            begin: at(0),
            end: at(60),
        };
        let other = Stretch {
            messages: 300,
            begin: at(20),
            end: at(100),
        };
        assert!((rate(&[one, other]) - 4000.0).abs() < 1.0);
        assert!(rate(&[]).abs() < f64::EPSILON);
    }
}
