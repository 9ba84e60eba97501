//! Board that a PE shows the others of its node: the collective that each of its threads is in, and
//! the locks that it holds.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};

/// Threads of a PE that can be in collectives at one time; one more waits for a seat.
pub(super) const SEATS: usize = 8;

/// Locks that a PE shows; it may hold more.
const LOCKS: usize = 16;

/// The longest description of a call, in bytes.
const TEXT: usize = 224;

/// A PE's part of the node's memory. All zero bytes is the initial state.
#[repr(C)]
pub(crate) struct Board {
    pub(super) seats: [Seat; SEATS],
    /// One more than the places of the locks that the PE holds, 0 where there is none.
    pub(super) locks: [AtomicU64; LOCKS],
}

/// One thread's call of a collective. Its fields are written under `version`, which is odd
/// meanwhile.
#[repr(C, align(64))]
pub(super) struct Seat {
    version: AtomicU32,
    phase: AtomicU32,
    team: AtomicU64,
    number: AtomicU64,
    fingerprint: AtomicU64,
    /// One more than the PE that this one waits for, 0 where that is not known yet.
    waits_for: AtomicU32,
    is_alone: AtomicU32,
    text: [AtomicU8; TEXT],
}

/// The phase of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is none.
    Nobody = 0,
    /// It waits for the calls of the other PEs.
    Came = 1,
    /// It has seen that they are the same.
    Compared = 2,
}

/// The fields of a seat, all at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Differs from every earlier one of this seat that somebody may still have in mind: it is
    /// counted modulo 2^32, and a call lasts longer than a nanosecond.
    pub(super) version: u32,
    pub(super) phase: Phase,
    /// Names the PEs that take part: all of them find the same name.
    pub(super) team: u64,
    /// The collectives that they have had before.
    pub(super) number: u64,
    /// Differs where the calls do not match.
    pub(super) fingerprint: u64,
    /// The PE that is waited for.
    pub(super) waits_for: Option<u32>,
    /// Whether no other thread of the PE can call the library meanwhile.
    pub(super) is_alone: bool,
}

impl Seat {
    /// Writes a call and its description. The seat is this thread's.
    pub(super) fn write(&self, mark: Mark, text: &str) {
        self.change(|| {
            self.put(mark);
            let padded = text.bytes().chain(std::iter::repeat(0));
            for (byte, value) in self.text.iter().zip(padded) {
                byte.store(value, Ordering::Relaxed);
            }
        });
    }

    /// Writes the changes of a call. The seat is this thread's.
    pub(super) fn rewrite(&self, mark: Mark) {
        self.change(|| self.put(mark));
    }

    fn put(&self, mark: Mark) {
        self.phase.store(mark.phase as u32, Ordering::Relaxed);
        self.team.store(mark.team, Ordering::Relaxed);
        self.number.store(mark.number, Ordering::Relaxed);
        self.fingerprint.store(mark.fingerprint, Ordering::Relaxed);
        let waits_for = mark.waits_for.map_or(0, |pe| pe + 1);
        self.waits_for.store(waits_for, Ordering::Relaxed);
        self.is_alone
            .store(u32::from(mark.is_alone), Ordering::Relaxed);
    }

    fn change(&self, write: impl FnOnce()) {
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        // ORDERING: pairs with the fence in `read`: a thread that sees one of the writes sees the
        // odd version.
        fence(Ordering::Release);
        write();
        // ORDERING: pairs with the acquire load in `read`: a thread that sees this version sees the
        // writes.
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// Returns the result of `look` at the seat at one time, and the version; `None` where the seat
    /// changes all the time.
    fn read<R>(&self, look: impl Fn() -> R) -> Option<(u32, R)> {
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            // ORDERING: pairs with the release store that ends `change`.
            let version = self.version.load(Ordering::Acquire);
            if version.is_multiple_of(2) {
                let found = look();
                // ORDERING: pairs with the fence in `change`.
                fence(Ordering::Acquire);
                if self.version.load(Ordering::Relaxed) == version {
                    return Some((version, found));
                }
            }
            std::thread::yield_now();
        }
        None
    }

    /// Returns the call in the seat; `None` where there is none.
    pub(super) fn mark(&self) -> Option<Mark> {
        let (version, mark) = self.read(|| Mark {
            version: 0,
            phase: match self.phase.load(Ordering::Relaxed) {
                0 => Phase::Nobody,
                1 => Phase::Came,
                _ => Phase::Compared,
            },
            team: self.team.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
            fingerprint: self.fingerprint.load(Ordering::Relaxed),
            waits_for: self.waits_for.load(Ordering::Relaxed).checked_sub(1),
            is_alone: self.is_alone.load(Ordering::Relaxed) != 0,
        })?;
        (mark.phase != Phase::Nobody).then_some(Mark { version, ..mark })
    }

    /// Returns the description of the call in the seat.
    pub(super) fn text(&self) -> String {
        let bytes = self.read(|| {
            let bytes = self.text.iter().map(|byte| byte.load(Ordering::Relaxed));
            bytes.take_while(|&byte| byte != 0).collect::<Vec<u8>>()
        });
        let (_, bytes) = bytes.unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a seat as it is in the node's memory, behind `changes` changes.
    fn seat(changes: u32) -> Seat {
        Seat {
            version: AtomicU32::new(changes.wrapping_mul(2)),
            phase: AtomicU32::new(0),
            team: AtomicU64::new(0),
            number: AtomicU64::new(0),
            fingerprint: AtomicU64::new(0),
            waits_for: AtomicU32::new(0),
            is_alone: AtomicU32::new(0),
            text: [const { AtomicU8::new(0) }; TEXT],
        }
    }

    fn mark(n: u64) -> Mark {
        Mark {
            version: 0,
            phase: Phase::Came,
            team: n,
            number: n,
            fingerprint: n,
            waits_for: (n % 2 == 1).then_some(n as u32),
            is_alone: n.is_multiple_of(2),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let seat = seat(0);
        assert_eq!(seat.mark(), None);
        seat.write(mark(7), "shmem_barrier_all()");
        let read = seat.mark().unwrap();
        assert_eq!(Mark { version: 0, ..read }, mark(7));
        assert_eq!(seat.text(), "shmem_barrier_all()");
        seat.rewrite(Mark {
            phase: Phase::Compared,
            ..mark(7)
        });
        let again = seat.mark().unwrap();
        assert_eq!(again.phase, Phase::Compared);
        assert_ne!(again.version, read.version);
        seat.write(mark(8), &"x".repeat(1000));
        assert_eq!(seat.text(), "x".repeat(TEXT));
        seat.rewrite(Mark {
            phase: Phase::Nobody,
            ..mark(8)
        });
        assert_eq!(seat.mark(), None);
    }

    #[test]
    fn no_reader_sees_half_of_a_call_across_the_end_of_the_versions() {
        let seat = seat(0_u32.wrapping_sub(10_000));
        std::thread::scope(|scope| {
            scope.spawn(|| (0..20_000).for_each(|n| seat.write(mark(n), &n.to_string())));
            for _ in 0..20_000 {
                if let Some(seen) = seat.mark() {
                    assert_eq!(Mark { version: 0, ..seen }, mark(seen.number));
                }
            }
        });
    }
}
