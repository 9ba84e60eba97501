//! Collectives of active sets (OpenSHMEM 1.6, section 9.10, deprecated): PEs with a stride that is a power of two, which meet
//! by their pSync.
//!
//! Of pSync the first `tree::CHILDREN` words are written by PEs that arrive, the next one by the PE that releases this one,
//! and the one behind holds the count of a collect. All have their old values when the routine
//! returns. pWrk is not needed. A set that is all PEs uses the means of the world team, and not its
//! pSync, unless threads of a PE may do so at a time.
//!
//! The routines take the arguments of those in C: the set is `pe_start`, `log_pe_stride` and `pe_size`.

#![expect(
    unsafe_code,
    reason = "arrays are given by address and length, as C has them"
)]

mod tree;

use super::combine::{And, Kernel, Max, Min, Operation, Or, Prod, Sum, Xor};
use super::party::{Party, expect_symmetric};
use super::small::reduce_words;
use super::{bytes_of, flat};
use crate::job::node::Node;
use crate::job::{MULTIPLE, message};
use crate::report;
use crate::routine::Routine;
use crate::sync::{self, Cmp, require_initialized};
use crate::team::group::Team;
use crate::team::{self, meet, table};
use crate::{ctx, job, order, rma};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicBool, Ordering};
use tree::{RELEASE, Words};

/// Words of a pSync that a program has to provide (SHMEM_BARRIER_SYNC_SIZE and all others).
pub const SYNC_SIZE: usize = 16;

/// The value of each word before and after (SHMEM_SYNC_VALUE).
pub const SYNC_VALUE: c_long = 0;

/// The value that a PE writes to another one's word.
const TOLD: u64 = 1;

/// The word that holds this PE's count.
const COUNT: usize = RELEASE + 1;

const _: () = assert!(COUNT < SYNC_SIZE);

/// Whether several threads of any PE may be in collectives of all PEs at a time.
static THREADS: AtomicBool = AtomicBool::new(false);

/// Finds out the facts about thread levels that all PEs have to know, in an initialisation that
/// gives this one `thread_level`, behind its barrier. Collective.
///
/// On one node the slots in the control memory tell it: a collective would touch each peer's
/// workspace, which takes a page of the kernel's tables for each.
pub(crate) fn agree(at: Routine, node: &Node, thread_level: c_int) {
    let highest = if node.places.is_one_node() {
        // ORDERING: written before the barrier that this PE has passed, and again behind the next
        // one at the earliest.
        let level = |rank| node.slot(rank).thread_level.load(Ordering::Relaxed);
        node.ranks().map(level).max().map_or(0, u64::from)
    } else {
        let mut level = [u64::from(thread_level.cast_unsigned())];
        reduce_words::<Max>(at, table::expect(at, team::WORLD), &mut level);
        level[0]
    };
    let is_multiple = highest == u64::from(MULTIPLE.cast_unsigned());
    THREADS.store(is_multiple, Ordering::Relaxed);
}

/// An active set that this PE is in.
struct Set {
    /// The first PE, and the distance of each from the one before it.
    first: PeerIndex,
    stride: u64,
    len: usize,
    /// This PE's number in the set.
    me: usize,
    /// The pSync.
    words: *mut u64,
}

/// The PEs that take part in a collective.
enum Who {
    /// All PEs, by the means of the world team.
    All(&'static Team),
    /// The PEs of a set, by those of its pSync.
    Some(Set),
}

/// The arguments that make an active set.
#[derive(Clone, Copy)]
struct Arguments {
    at: Routine,
    start: c_int,
    log_stride: c_int,
    size: c_int,
}

impl Arguments {
    /// Returns the first PE, the stride and the length; ends the job where the job does not have
    /// such a set.
    fn check(self, pes: u32) -> (PeerIndex, u64, usize) {
        let Self {
            at,
            start,
            log_stride,
            size,
        } = self;
        if start.cast_unsigned() >= pes {
            let allowed = format!("a PE (0 to {})", pes - 1);
            report::bad_argument(at, "PE_start", format_args!("{start}"), &allowed);
        }
        if log_stride < 0 {
            report::bad_argument(
                at,
                "logPE_stride",
                format_args!("{log_stride}"),
                "at least 0",
            );
        }
        // Strides beyond all PEs are alike.
        let stride = 1_u64 << log_stride.min(32);
        let most = u64::from(pes - 1 - start.cast_unsigned()) / stride + 1;
        match usize::try_from(size) {
            Ok(len @ 1..) if len as u64 <= most => (start.cast_unsigned(), stride, len),
            _ => {
                let allowed = format!(
                    "a number of PEs that the job has from PE_start {start} with logPE_stride {log_stride} (1 to {most})"
                );
                report::bad_argument(at, "PE_size", format_args!("{size}"), &allowed)
            }
        }
    }

    /// Returns the PEs that take part; ends the job where the arguments are wrong, or this PE is
    /// not one of them.
    fn who(self, psync: *mut c_long) -> Who {
        require_initialized(self.at);
        let endpoint = &ctx::default_ctx().endpoint;
        let pes = endpoint.peer_count();
        let (first, stride, len) = self.check(pes);
        if len == pes as usize && !THREADS.load(Ordering::Relaxed) {
            return Who::All(table::expect(self.at, team::WORLD));
        }
        let me = job::my_pe() as PeerIndex;
        let distance = u64::from(me.wrapping_sub(first));
        if me < first || !distance.is_multiple_of(stride) || distance / stride >= len as u64 {
            self.not_in_set(me);
        }
        let (addr, bytes) = (psync.addr(), SYNC_SIZE * size_of::<u64>());
        if endpoint.range(addr, bytes, 1, me).is_none() {
            let error = endpoint.refusal(addr, bytes, me);
            report::transfer(self.at, error, "pSync", addr, bytes, me as c_int);
        }
        Who::Some(Set {
            first,
            stride,
            len,
            me: (distance / stride) as usize,
            words: psync.cast(),
        })
    }

    #[cold]
    fn not_in_set(self, me: PeerIndex) -> ! {
        let Self {
            at,
            start,
            log_stride,
            size,
        } = self;
        message::fatal(format_args!(
            "{at}: PE {me} is not in the active set: PE_start {start}, logPE_stride {log_stride}, PE_size {size}"
        ))
    }
}

/// Calls [`Arguments::who`].
fn who(at: Routine, start: c_int, log_stride: c_int, size: c_int, psync: *mut c_long) -> Who {
    Arguments {
        at,
        start,
        log_stride,
        size,
    }
    .who(psync)
}

impl Set {
    /// Returns the own word `word`.
    fn word(&self, word: usize) -> *mut u64 {
        self.words.wrapping_add(word)
    }

    /// Writes the own word `word`.
    fn set(&self, word: usize, value: u64) {
        // SAFETY: pSync is aligned and has this word, as `barrier` requires, and only this PE
        // writes it now.
        // ORDERING: a release store, for the PEs that read the word when they have met this PE.
        unsafe { <u64 as crate::amo::Word>::set(self.word(word), value) };
    }
}

/// The words of a set's pSync, for routine `at`.
struct Sync<'a> {
    at: Routine,
    set: &'a Set,
}

impl Words for Sync<'_> {
    type Error = std::convert::Infallible;

    fn take(&mut self, word: usize) -> Result<(), Self::Error> {
        let place = self.set.word(word);
        // SAFETY: pSync is aligned and has this word, as `barrier` requires.
        // ORDERING: acquires the PE's stores before it told; pairs with `tell`.
        let told = unsafe { sync::wait_for(self.at, place, Cmp::Ne as c_int, SYNC_VALUE as u64) };
        if told != TOLD {
            message::fatal(format_args!(
                "{}: pSync {:p} was not SHMEM_SYNC_VALUE on PE {}, or two active sets use it at a time: its word {word} is {told:#x}",
                self.at,
                self.set.words,
                job::my_pe()
            ));
        }
        self.set.set(word, SYNC_VALUE as u64);
        Ok(())
    }

    fn tell(&mut self, index: usize, word: usize) -> Result<(), Self::Error> {
        meet::tell(self.at, self.set.word(word), TOLD, self.set.pe(index));
        Ok(())
    }
}

impl Party for Set {
    fn len(&self) -> usize {
        self.len
    }

    fn me(&self) -> usize {
        self.me
    }

    fn pe(&self, index: usize) -> PeerIndex {
        self.first + (index as u64 * self.stride) as PeerIndex
    }

    fn is_near(&self) -> bool {
        let endpoint = &ctx::default_ctx().endpoint;
        (0..self.len).all(|index| {
            endpoint
                .element(self.words.addr(), self.pe(index))
                .is_some()
        })
    }

    fn meet(&self, at: Routine) {
        let Ok(()) = tree::meet(&mut Sync { at, set: self }, self.me, self.len);
    }

    fn publish(&self, count: usize) {
        self.set(COUNT, count as u64);
    }

    fn published(&self, at: Routine, index: usize) -> usize {
        let pe = self.pe(index) as c_int;
        // SAFETY: pSync is symmetric, aligned and has this word, as `barrier` requires.
        let count = unsafe { rma::g(ctx::default_ctx(), at, self.word(COUNT), pe) };
        count as usize
    }
}

/// Completes this PE's operations on the default context and waits for all PEs of the set (9.10.2).
///
/// # Safety
/// `psync` is symmetric, holds [`SYNC_SIZE`] words that are [`SYNC_VALUE`], and is in no other use.
pub unsafe fn barrier(
    at: Routine,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { order::quiet(ctx::default_ctx(), at) };
    // SAFETY: `psync` is symmetric, holds the words, and is in no other use.
    unsafe { sync(at, pe_start, log_pe_stride, pe_size, psync) };
}

/// Waits for all PEs of the set; their stores are visible then (9.10.3).
///
/// # Safety
/// As [`barrier`].
pub unsafe fn sync(
    at: Routine,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    match who(at, pe_start, log_pe_stride, pe_size, psync) {
        Who::All(team) => team.meet(at),
        Who::Some(set) => set.meet(at),
    }
}

/// Copies `nelems` elements of the PE with number `pe_root` in the set to `dest` on all others of it (9.10.7). The root's own
/// `dest` stays as it is.
///
/// # Safety
/// As [`barrier`]; both arrays are symmetric, hold `nelems` elements, and do not overlap.
#[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
pub unsafe fn broadcast<T: Copy>(
    at: Routine,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_root: c_int,
    pe_start: c_int,
    log_pe_stride: c_int,
    pe_size: c_int,
    psync: *mut c_long,
) {
    let who = who(at, pe_start, log_pe_stride, pe_size, psync);
    let root = match usize::try_from(pe_root) {
        Ok(root) if root < pe_size as usize => root,
        _ => {
            let allowed = format!("a PE of the active set (0 to {})", pe_size - 1);
            report::bad_argument(at, "PE_root", format_args!("{pe_root}"), &allowed)
        }
    };
    let bytes = bytes_of::<T>(at, nelems, 1);
    let (dest, source) = (dest.cast(), source.cast());
    // SAFETY: both arrays are symmetric, hold `bytes` bytes, and do not overlap.
    unsafe {
        match who {
            Who::All(team) => super::broadcast_bytes(team, at, dest, source, bytes, root),
            Who::Some(set) if bytes > 0 => flat::broadcast(&set, at, dest, source, bytes, root),
            Who::Some(_) => (),
        }
    }
}

macro_rules! exchanges {
    ($($(#[$doc:meta])* $name:ident($($stride:ident),*): |$set:ident, $at:ident, $to:ident, $from:ident, $count:ident| $some:expr;)*) => {$(
        $(#[$doc])* ///
        /// # Safety
        /// As [`barrier`]; both arrays are symmetric, hold all those elements, and do not overlap.
        #[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
        pub unsafe fn $name<T: Copy>(
            $at: Routine,
            $to: *mut T,
            $from: *const T,
            $($stride: isize,)*
            $count: usize,
            pe_start: c_int,
            log_pe_stride: c_int,
            pe_size: c_int,
            psync: *mut c_long,
        ) {
            // SAFETY: both arrays are symmetric, hold all those elements, and do not overlap.
            unsafe {
                match who($at, pe_start, log_pe_stride, pe_size, psync) {
                    Who::All(_) => {
                        super::$name($at, team::WORLD, $to, $from, $($stride,)* $count);
                    }
                    Who::Some($set) => $some,
                }
            }
        }
    )*};
}

exchanges! {
    /// Puts the elements of all PEs of the set, `nelems` of each, one behind the other into `dest` on all of them (9.10.8).
    fcollect(): |set, at, dest, source, nelems| {
        let bytes = bytes_of::<T>(at, nelems, set.len);
        if bytes > 0 {
            flat::fcollect(&set, at, dest.cast(), source.cast(), bytes);
        }
    };
    /// As [`fcollect`], where each PE has its own `nelems` (9.10.8).
    collect(): |set, at, dest, source, nelems| {
        bytes_of::<T>(at, nelems, 1);
        flat::collect(&set, at, dest.cast(), source.cast(), nelems, size_of::<T>());
        // All have read it.
        set.publish(SYNC_VALUE as usize);
    };
    /// Exchanges blocks of `nelems` elements: block i of PE j of the set becomes block j of PE i (9.10.5).
    alltoall(): |set, at, dest, source, nelems| {
        let bytes = bytes_of::<T>(at, nelems, set.len);
        if bytes > 0 {
            flat::alltoall(&set, at, dest.cast(), source.cast(), bytes);
        }
    };
    /// As [`alltoall`], where the elements lie `dst` elements apart in `dest` and `sst` in `source` (9.10.6).
    alltoalls(dst, sst): |set, at, dest, source, nelems| {
        bytes_of::<T>(at, nelems, set.len);
        if nelems > 0 {
            flat::alltoalls(&set, at, dest, source, dst, sst, nelems);
        }
    };
}

/// Combines `count` elements of the PEs that take part.
///
/// # Safety
/// As the routines below.
unsafe fn reduce(
    at: Routine,
    who: &Who,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
) {
    // SAFETY: both arrays are symmetric, hold `count` of the kernel's elements, and are the same or
    // do not overlap.
    unsafe {
        match who {
            Who::All(team) => super::reduce(at, team, dest, source, count, kernel),
            Who::Some(set) if count > 0 => {
                let bytes = count.saturating_mul(kernel.size);
                expect_symmetric(set, at, dest, source, bytes);
                flat::reduce(set, at, dest, source, count, kernel);
            }
            Who::Some(_) => (),
        }
    }
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $op:ident;)*) => {$(
        $(#[$doc])* ///
        /// Combines `nreduce` elements; `pwrk` is not used.
        ///
        /// # Safety
        /// As [`barrier`]; both arrays are symmetric, hold `nreduce` elements, and are the same or do not overlap.
        #[expect(clippy::too_many_arguments, reason = "the standard's routine has them")]
        pub unsafe fn $name<T: Copy>(
            at: Routine,
            dest: *mut T,
            source: *const T,
            nreduce: c_int,
            pe_start: c_int,
            log_pe_stride: c_int,
            pe_size: c_int,
            _pwrk: *mut T,
            psync: *mut c_long,
        ) where
            $op: Operation<T>,
        {
            let who = who(at, pe_start, log_pe_stride, pe_size, psync);
            let Ok(count) = usize::try_from(nreduce) else {
                report::bad_argument(at, "nreduce", format_args!("{nreduce}"), "a number of elements");
            };
            // SAFETY: both arrays are symmetric, hold `nreduce` elements, and are the same or do
            // not overlap.
            unsafe { reduce(at, &who, dest.cast(), source.cast(), count, const { &Kernel::of::<T, $op>() }) };
        }
    )*};
}

reductions! {
    /// Writes the bitwise and of all PEs of the set (9.10.9.1).
    and_to_all: And;
    /// Writes the bitwise or of all PEs of the set (9.10.9.2).
    or_to_all: Or;
    /// Writes the bitwise exclusive or of all PEs of the set (9.10.9.3).
    xor_to_all: Xor;
    /// Writes the greatest of all PEs of the set (9.10.9.4).
    max_to_all: Max;
    /// Writes the least of all PEs of the set (9.10.9.5).
    min_to_all: Min;
    /// Writes the sum of all PEs of the set (9.10.9.6).
    sum_to_all: Sum;
    /// Writes the product of all PEs of the set (9.10.9.7).
    prod_to_all: Prod;
}
