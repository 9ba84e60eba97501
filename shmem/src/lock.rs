//! Distributed locks (OpenSHMEM 1.6, section 9.13).
//!
//! A lock is a queue of PEs (Mellor-Crummey and Scott 1991) in the copies of one `long`: the upper half of the home PE's
//! copy names the last of the queue, the lower half of each PE's copy is its link to the next. So a PE waits by looking at
//! its own memory, the lock is passed on by one atomic operation, and only those that take part are written to. Which PE
//! is home follows from the lock's place in its page, so that many locks are not all at one PE. A lock belongs to a PE, not to
//! one of its threads.

#![expect(
    unsafe_code,
    reason = "C addresses of symmetric objects are passed on to the fabric"
)]

mod queue;

use crate::amo::Word;
use crate::ctx::{self, Context};
use crate::job::{self, message};
use crate::order;
use crate::report;
use crate::routine::Routine;
use crate::stall::Watch;
use crate::sync::{self, Cmp, require_initialized};
use fi_provider::node::futex;
use fi_provider::symmetric::address_vector::PeerIndex;
use fi_provider::symmetric::{Error, atomic};
use queue::Words;
use std::ffi::{c_int, c_long};

/// Sets the lock when it is free; PEs get it in the order in which they come (9.13.1).
///
/// # Safety
/// `lock` is symmetric and aligned, was 0 on all PEs before its first use, and is used by these routines only.
pub unsafe fn set_lock(at: Routine, lock: *mut c_long) {
    let mut lock = Lock::new(at, lock);
    match queue::acquire(&mut lock) {
        Ok(true) => (),
        Ok(false) => lock.misused("is set by this PE already, which would wait for ever"),
        Err(refusal) => lock.refused(refusal),
    }
}

/// Sets the lock if it is free: returns 0 if it was, 1 if it was not (9.13.1).
///
/// # Safety
/// As [`set_lock`].
pub unsafe fn test_lock(at: Routine, lock: *mut c_long) -> c_int {
    let mut lock = Lock::new(at, lock);
    match queue::try_acquire(&mut lock) {
        Ok(was_free) => c_int::from(!was_free),
        Err(refusal) => lock.refused(refusal),
    }
}

/// Completes the operations on the default context and passes the lock on (9.13.1).
///
/// # Safety
/// As [`set_lock`]; this PE has set the lock.
pub unsafe fn clear_lock(at: Routine, lock: *mut c_long) {
    let mut lock = Lock::new(at, lock);
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { order::quiet(lock.ctx, at) };
    match queue::release(&mut lock) {
        Ok(true) => (),
        Ok(false) => lock.misused("is not set"),
        Err(refusal) => lock.refused(refusal),
    }
}

/// The smallest size of a page.
const PAGE: usize = 4096;

/// Bits of the half of a word.
const HALF: u32 = u32::BITS;

/// A lock as routine `at` works on it.
struct Lock {
    at: Routine,
    ctx: &'static Context,
    /// This PE's copy.
    word: *mut u64,
    me: PeerIndex,
    /// The PE whose copy holds the tail.
    home: PeerIndex,
    /// Looks around while this PE sleeps.
    watch: Option<Watch>,
}

/// Returns the home PE of the lock at the own address `lock`, of `pes` PEs. Static data and the
/// heap lie elsewhere on each PE, by whole pages.
fn home_of(lock: usize, pes: u32) -> PeerIndex {
    (lock % PAGE / size_of::<c_long>()) as PeerIndex % pes
}

/// An operation on the copy of PE `pe` that failed.
struct Refusal {
    error: Error,
    pe: PeerIndex,
}

impl Lock {
    fn new(at: Routine, lock: *mut c_long) -> Self {
        require_initialized(at);
        if !lock.is_aligned() {
            report::misaligned(at, "lock", lock.addr(), size_of::<c_long>());
        }
        let ctx = ctx::default_ctx();
        Self {
            at,
            ctx,
            word: lock.cast(),
            me: job::my_pe() as PeerIndex,
            home: home_of(lock.addr(), ctx.endpoint.peer_count()),
            watch: None,
        }
    }

    /// Returns whether all PEs are on this node: others cannot wake one that sleeps.
    fn may_sleep(&self) -> bool {
        job::job().is_some_and(|job| job.node.places.is_one_node())
    }

    /// Returns the half of the word that holds the PE's link.
    fn link_half(&self) -> *mut u32 {
        let low = if cfg!(target_endian = "little") { 0 } else { 1 };
        self.word.cast::<u32>().wrapping_add(low)
    }

    /// Returns the half of the word that holds the tail, in the copy of the home PE.
    fn tail_half(&self) -> *mut u32 {
        let high = if cfg!(target_endian = "little") { 1 } else { 0 };
        self.word.cast::<u32>().wrapping_add(high)
    }

    /// Replaces the tail by the result of `change`, by the operation on the whole word that every
    /// device has; returns the old tail.
    #[cold]
    fn change_tail(&self, change: impl Fn(u32) -> u32) -> Result<u32, Error> {
        let endpoint = &self.ctx.endpoint;
        // The word's value while nobody uses the lock.
        let mut seen = 0_u64;
        loop {
            let tail = (seen >> HALF) as u32;
            let wanted = u64::from(change(tail)) << HALF | u64::from(seen as u32);
            // SAFETY: the lock is symmetric and aligned, as `set_lock` requires. The rules of
            // threads: this one may use the endpoint.
            let found =
                unsafe { atomic::compare_swap(endpoint, (), self.word, seen, wanted, self.home)? };
            if found == seen {
                return Ok(tail);
            }
            seen = found;
        }
    }

    /// Makes the refusal for `map_err`: the home PE's copy cannot be changed.
    fn at_home(&self) -> impl FnOnce(Error) -> Refusal + use<> {
        let pe = self.home;
        move |error| Refusal { error, pe }
    }

    #[cold]
    fn refused(&self, Refusal { error, pe }: Refusal) -> ! {
        if error == Error::NoSuchPeer {
            self.misused("was not 0 on all PEs before its first use");
        }
        let (addr, bytes) = (self.word.addr(), size_of::<u64>());
        report::transfer(self.at, error, "lock", addr, bytes, pe as c_int)
    }

    #[cold]
    fn misused(&self, how: &str) -> ! {
        message::fatal(format_args!("{}: lock {:p} {how}", self.at, self.word))
    }
}

impl Words for Lock {
    type Error = Refusal;

    fn me(&self) -> PeerIndex {
        self.me
    }

    fn swap_tail(&mut self, new: u32) -> Result<u32, Refusal> {
        let (endpoint, tail, home) = (&self.ctx.endpoint, self.tail_half(), self.home);
        // SAFETY: the lock is symmetric and aligned, as `set_lock` requires. The rules of threads:
        // this one may use the endpoint.
        let before = unsafe { atomic::swap(endpoint, (), tail, new, home) };
        match before {
            Err(Error::Unsupported) => self.change_tail(|_| new),
            before => before,
        }
        .map_err(self.at_home())
    }

    fn replace_tail(&mut self, old: u32, new: u32) -> Result<u32, Refusal> {
        let (endpoint, tail, home) = (&self.ctx.endpoint, self.tail_half(), self.home);
        // SAFETY: the lock is symmetric and aligned, as `set_lock` requires. The rules of threads:
        // this one may use the endpoint.
        let before = unsafe { atomic::compare_swap(endpoint, (), tail, old, new, home) };
        match before {
            Err(Error::Unsupported) => {
                self.change_tail(|tail| if tail == old { new } else { tail })
            }
            before => before,
        }
        .map_err(self.at_home())
    }

    fn add_to_link(&mut self, pe: PeerIndex, by: i64) -> Result<u32, Refusal> {
        let (endpoint, by) = (&self.ctx.endpoint, by.cast_unsigned());
        // The whole word, which every device can add to; the sum does not reach the upper half. An operation that fetches is
        // done when it returns: the next PE need not wait for this one's actions after that.
        // SAFETY: the lock is symmetric and aligned, as `set_lock` requires. The rules of threads:
        // this one may use the endpoint.
        let before = unsafe { atomic::fetch_add(endpoint, (), self.word, by, pe) };
        // The lower half.
        let link = before.map(|before| before as u32);
        link.map_err(|error| Refusal { error, pe })
    }

    fn link(&mut self) -> Result<u32, Refusal> {
        // SAFETY: the lock is aligned and this PE's memory, as `set_lock` requires.
        // ORDERING: acquires the actions of the PE before in the queue; pairs with its atomic
        // addition.
        Ok(unsafe { u32::fetch(self.link_half()) })
    }

    fn wait_for_link_over(&mut self, floor: u32) -> Result<u32, Refusal> {
        let greater = Cmp::Gt as c_int;
        // SAFETY: the lock is aligned and this PE's memory, as `set_lock` requires.
        // ORDERING: as in `link`.
        Ok(unsafe { sync::wait_for(self.at, self.link_half(), greater, floor) })
    }
    fn watch_link_over(&mut self, floor: u32) -> Result<u32, Refusal> {
        if !self.may_sleep() {
            return self.wait_for_link_over(floor);
        }
        let patience = job::patience();
        for _ in 0..patience.bursts {
            for _ in 0..patience.looks {
                let link = self.link()?;
                if link > floor {
                    return Ok(link);
                }
                std::hint::spin_loop();
            }
            std::thread::yield_now();
        }
        self.link()
    }

    fn sleep_while(&mut self, seen: u32) -> Result<(), Refusal> {
        // SAFETY: the link is aligned, and in memory that the PEs of the node share.
        unsafe { futex::sleep_while(self.link_half(), seen) };
        let at = self.at;
        self.watch
            .get_or_insert_with(|| Watch::new(at))
            .look_around(None);
        Ok(())
    }

    fn wake(&mut self, pe: PeerIndex) -> Result<(), Refusal> {
        // Those of other nodes do not sleep.
        if let Some(link) = self.ctx.endpoint.element(self.link_half().addr(), pe) {
            // SAFETY: the peer's memory is mapped here, as aligned as the own.
            unsafe { futex::wake(link as *const u32) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_home_wherever_the_memory_of_a_pe_is_and_neighbours_have_others() {
        let home = |lock| home_of(lock, 7);
        for shift in [PAGE, 3 * PAGE, 0x5614_c000_0000] {
            for lock in (0x4000..0x4400).step_by(8) {
                assert_eq!(home(lock + shift), home(lock));
                assert_ne!(home(lock + 8), home(lock));
            }
        }
        assert_eq!(home_of(0x4ff8, 1), 0);
    }
}
