//! Collective operations on ranges of symmetric arrays (OpenSHMEM 1.6, section 9.10).
//!
//! Each looks at its own ranges, meets the other PEs over all that they have to agree on, and then
//! calls the routine. Between that meeting and the end of the routine only those faults panic that
//! panic on all PEs, so that none leaves the others there.

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::meet::{Args, meet};
use super::phase::offset;
use super::{Readable, Shared, Team};
use crate::collective;
use crate::collective::combine::{And, Kernel, Max, Min, Operation, Or, Prod, Sum, Xor};
use crate::collective::flat::collect_told;
use crate::job;
use crate::routine::Routine;
use bytemuck::Pod;
use std::ffi::c_int;

/// The ranges of a collective operation: `dest` and `source`, in elements.
struct Ranges<T> {
    dest: *mut T,
    source: *mut T,
}

impl<T: Pod> Ranges<T> {
    /// Takes `to` elements of `dest` and `from` elements of `source`, which are in range.
    #[track_caller]
    fn new(
        (dest, dest_at): (&Shared<'_, T>, usize),
        to: usize,
        (source, source_at): (&impl Readable<T>, usize),
        from: usize,
    ) -> Self {
        Self {
            dest: dest.place.at(dest_at, to),
            source: source.place().at(source_at, from),
        }
    }

    /// Panics if so many elements overlap.
    #[track_caller]
    fn expect_apart(&self, at: Routine, to: usize, from: usize) {
        let (dest, source) = (self.dest.addr(), self.source.addr());
        let size = size_of::<T>();
        let is_apart =
            to == 0 || from == 0 || dest + to * size <= source || source + from * size <= dest;
        assert!(
            is_apart,
            "PE {}: {at}: destination and source overlap",
            job::my_pe()
        );
    }

    /// Returns the arguments that all PEs agree on.
    fn args(&self, count: usize, extra: usize) -> Args {
        Args {
            size: size_of::<T>(),
            count,
            place: Some(offset(self.dest.addr())),
            source: Some(offset(self.source.addr())),
            extra,
        }
    }
}

impl Team<'_> {
    /// Copies `count` elements of `source` on PE `root` to `dest` on all PEs (9.10.7).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let words = world.alloc::<u64>(20).expect("room");
    /// words.write(0, &[world.my_pe() as u64; 10]);
    /// world.team().broadcast((&words, 10), (&words, 0), 10, 0);
    /// assert_eq!(words.load(19), 0);
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If the elements or `root` are out of range, if the ranges overlap, or if PEs differ in their
    /// arguments.
    #[track_caller]
    pub fn broadcast<T: Pod>(
        &self,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
        root: usize,
    ) {
        let at: Routine = &"Team::broadcast";
        let ranges = Ranges::new(dest, count, source, count);
        ranges.expect_apart(at, count, count);
        let number = self.number(root);
        meet(at, self.handle, ranges.args(count, root));
        let Ranges { dest, source } = ranges;
        // SAFETY: both arrays hold the elements on every PE, which agrees on their places, and are
        // apart. The rules of threads: this one has the team.
        unsafe { collective::broadcast(at, self.handle, dest, source, count, number) };
    }

    /// Puts `count` elements of `source` on each PE one behind the other into `dest` on all PEs
    /// (9.10.8).
    ///
    /// # Panics
    /// If the elements are out of range, if the ranges overlap, or if PEs differ in their arguments.
    #[track_caller]
    pub fn fcollect<T: Pod>(
        &self,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
    ) {
        let at: Routine = &"Team::fcollect";
        let all = count.saturating_mul(self.n_pes());
        let ranges = Ranges::new(dest, all, source, count);
        ranges.expect_apart(at, all, count);
        meet(at, self.handle, ranges.args(count, 0));
        let Ranges { dest, source } = ranges;
        // SAFETY: the arrays hold the elements on every PE, which agrees on their places, and are
        // apart. The rules of threads: this one has the team.
        unsafe { collective::fcollect(at, self.handle, dest, source, count) };
    }

    /// Gathers as [`Team::fcollect`] does, where each PE has its own `count` (9.10.8); returns the
    /// number of elements that all have together.
    ///
    /// # Panics
    /// If the elements of this PE, or those of all PEs in `dest`, are out of range, if the ranges
    /// overlap, or if PEs differ in their arguments.
    #[track_caller]
    pub fn collect<T: Pod>(
        &self,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
    ) -> usize {
        let at: Routine = &"Team::collect";
        let (to, from) = (dest.0.place, source.0.place());
        let ranges = Ranges::new(dest, 0, source, count);
        meet(at, self.handle, ranges.args(0, 0));
        let counts = self.gather_bytes(at, count);
        let all = counts.iter().fold(0_usize, |all, &n| all.saturating_add(n));
        // All PEs panic here, or none does: they agree on the places and the counts.
        to.at(dest.1, all);
        let most = counts.iter().copied().max().unwrap_or(0);
        from.at(source.1, most);
        ranges.expect_apart(at, all, most);
        let bytes: Vec<usize> = counts.iter().map(|&n| n * size_of::<T>()).collect();
        let Ranges { dest, source } = ranges;
        // SAFETY: `dest` holds the elements of all, and is apart from the sources. The rules of
        // threads: this one has the team.
        unsafe { collect_told(self.group(), at, dest.cast(), source.cast(), &bytes) };
        all
    }

    /// Exchanges blocks of `count` elements: block i of `source` on PE j becomes block j of `dest` on
    /// PE i (9.10.5).
    ///
    /// # Panics
    /// If the elements are out of range, if the ranges overlap, or if PEs differ in their arguments.
    #[track_caller]
    pub fn alltoall<T: Pod>(
        &self,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
    ) {
        let at: Routine = &"Team::alltoall";
        let all = count.saturating_mul(self.n_pes());
        let ranges = Ranges::new(dest, all, source, all);
        ranges.expect_apart(at, all, all);
        meet(at, self.handle, ranges.args(count, 0));
        let Ranges { dest, source } = ranges;
        // SAFETY: both arrays hold a block for each PE on every PE, which agrees on their places,
        // and are apart. The rules of threads: this one has the team.
        unsafe { collective::alltoall(at, self.handle, dest, source, count) };
    }

    /// Exchanges as [`Team::alltoall`] does, where the elements lie `by` elements apart in `dest`,
    /// and `from` in `source` (9.10.6).
    ///
    /// # Panics
    /// If an element is out of range, if a stride is 0, if the ranges from the first to the last
    /// element overlap, or if PEs differ in their arguments.
    #[track_caller]
    pub fn alltoalls<T: Pod>(
        &self,
        (dest, dest_at, by): (&Shared<'_, T>, usize, usize),
        (source, source_at, from): (&impl Readable<T>, usize, usize),
        count: usize,
    ) {
        let at: Routine = &"Team::alltoalls";
        assert!(
            by > 0 && from > 0,
            "PE {}: {at}: a stride of 0",
            job::my_pe()
        );
        let all = count.saturating_mul(self.n_pes());
        let span = |stride| match all {
            0 => 0,
            _ => (all - 1).saturating_mul(stride).saturating_add(1),
        };
        let (to, of) = (span(by), span(from));
        let ranges = Ranges::new((dest, dest_at), to, (source, source_at), of);
        ranges.expect_apart(at, to, of);
        let strides = Args {
            extra: (by & 0x7fff_ffff) << 32 | from & 0xffff_ffff,
            ..Args::default()
        };
        meet(at, self.handle, ranges.args(count, 0));
        // Where strides differ, elements get to other places of the same ranges.
        meet(at, self.handle, strides);
        let Ranges { dest, source } = ranges;
        // A stride that is not of one element only is in range.
        let [by, from] = [by, from].map(|stride| if all > 1 { stride.cast_signed() } else { 1 });
        // SAFETY: both arrays hold the blocks on every PE, which agrees on their places, and are
        // apart. The rules of threads: this one has the team.
        unsafe { collective::alltoalls(at, self.handle, dest, source, by, from, count) };
    }

    /// Combines `count` elements of all PEs.
    #[track_caller]
    fn reduce<T: Pod>(
        &self,
        at: Routine,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
        kernel: &Kernel,
    ) {
        let Ranges { dest, source } = self.meet_over_equal(at, dest, source, count);
        let (dest, source) = (dest.cast(), source.cast());
        // SAFETY: both arrays hold the elements on every PE, which agrees on their places, and are
        // the same or apart; others may write them meanwhile, which the kernel admits. The rules of
        // threads: this one has the team.
        unsafe { collective::reduce(at, self.group(), dest, source, count, kernel) };
    }

    /// Combines `count` elements of the PEs up to this one.
    #[track_caller]
    fn scan<T: Pod>(
        &self,
        at: Routine,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
        kernel: &Kernel,
        inclusive: bool,
    ) {
        let Ranges { dest, source } = self.meet_over_equal(at, dest, source, count);
        let (dest, source) = (dest.cast(), source.cast());
        // SAFETY: as in `reduce`; zero bits are 0, the identity of a sum.
        let _: c_int =
            unsafe { collective::scan(at, self.handle, dest, source, count, kernel, inclusive) };
    }

    /// Meets over two ranges of `count` elements, which are the same or apart.
    #[track_caller]
    fn meet_over_equal<T: Pod>(
        &self,
        at: Routine,
        dest: (&Shared<'_, T>, usize),
        source: (&impl Readable<T>, usize),
        count: usize,
    ) -> Ranges<T> {
        let ranges = Ranges::new(dest, count, source, count);
        if !std::ptr::eq(ranges.dest, ranges.source) {
            ranges.expect_apart(at, count, count);
        }
        meet(at, self.handle, ranges.args(count, 0));
        ranges
    }
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $op:ident, $how:ident($($inclusive:expr)?);)*) => {
        impl Team<'_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If the elements are out of range, if the ranges overlap and are not the same, or if
            /// PEs differ in their arguments.
            #[track_caller]
            pub fn $name<T: Pod>(
                &self,
                dest: (&Shared<'_, T>, usize),
                source: (&impl Readable<T>, usize),
                count: usize,
            ) where
                $op: Operation<T>,
            {
                let at: Routine = &concat!("Team::", stringify!($name));
                let kernel = const { &Kernel::of_shared::<T, $op>() };
                self.$how(at, dest, source, count, kernel $(, $inclusive)?);
            }
        )*}
    };
}

reductions! {
    /// Combines `count` integers of all PEs, element by element, by a bitwise and (9.10.9.1).
    and_reduce: And, reduce();
    /// Combines `count` integers of all PEs, element by element, by a bitwise or (9.10.9.2).
    or_reduce: Or, reduce();
    /// Combines `count` integers of all PEs, element by element, by a bitwise exclusive or
    /// (9.10.9.3).
    xor_reduce: Xor, reduce();
    /// Finds the greatest of all PEs for each of `count` integers or floats (9.10.9.4).
    max_reduce: Max, reduce();
    /// Finds the least of all PEs for each of `count` integers or floats (9.10.9.5).
    min_reduce: Min, reduce();
    /// Adds `count` integers, floats or complex numbers of all PEs, element by element (9.10.9.6).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let sums = world.alloc::<f64>(100).expect("room");
    /// sums.write(0, &[0.5; 100]);
    /// world.team().sum_reduce((&sums, 0), (&sums, 0), 100);
    /// assert_eq!(sums.load(7), world.n_pes() as f64 / 2.0);
    /// # Ok(()) }
    /// ```
    sum_reduce: Sum, reduce();
    /// Multiplies `count` integers, floats or complex numbers of all PEs, element by element
    /// (9.10.9.7).
    prod_reduce: Prod, reduce();
    /// Adds `count` numbers of the PEs up to this one, element by element (9.10.10).
    sum_inscan: Sum, scan(true);
    /// Adds `count` numbers of the PEs before this one, element by element, which is 0 on the first
    /// (9.10.10).
    sum_exscan: Sum, scan(false);
}
