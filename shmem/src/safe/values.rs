//! Collective operations on values, which need no symmetric array.
//!
//! PEs show each other a value, or a piece of it, in slots of the team that no program writes.

#![expect(unsafe_code, reason = "gives the algorithms values of this thread")]

use super::Team;
use super::meet::{Args, meet};
use crate::collective::combine::{And, Kernel, Max, Min, Operation, Or, Prod, Sum, Xor};
use crate::collective::small;
use crate::job::workspace::SLOT;
use crate::routine::Routine;
use bytemuck::{Pod, bytes_of, bytes_of_mut, cast_slice_mut};
use std::ops::Range;

/// Returns the pieces of `size` bytes that fit into a slot.
fn pieces(size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..size)
        .step_by(SLOT)
        .map(move |start| start..size.min(start + SLOT))
}

fn args<T>(extra: usize) -> Args {
    Args {
        size: size_of::<T>(),
        count: 1,
        extra,
        ..Args::default()
    }
}

impl Team<'_> {
    /// Returns the `value` of PE `root` on all PEs; those of the others are not used.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// let seed = world.team().broadcast_value(std::process::id(), 0);
    /// println!("PE {} takes {seed}", world.my_pe());
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If `root` is out of range, or if PEs differ in it or in the type's size.
    #[track_caller]
    pub fn broadcast_value<T: Pod>(&self, value: T, root: usize) -> T {
        let at: Routine = &"Team::broadcast_value";
        self.number(root);
        meet(at, self.handle, args::<T>(root));
        let mut result = value;
        let (to, from) = (bytes_of_mut(&mut result), bytes_of(&value));
        for piece in pieces(size_of::<T>()) {
            let (to, from) = (&mut to[piece.clone()], &from[piece]);
            // SAFETY: both are this thread's, hold so many bytes, which fit into a slot, and are
            // apart; all PEs agree on their number and the root.
            unsafe {
                small::broadcast(
                    self.group(),
                    at,
                    to.as_mut_ptr(),
                    from.as_ptr(),
                    from.len(),
                    root,
                );
            }
        }
        result
    }

    /// Returns the values of all PEs, in the order of their numbers.
    ///
    /// # Panics
    /// If PEs differ in the type's size.
    #[track_caller]
    pub fn gather_values<T: Pod>(&self, value: T) -> Vec<T> {
        let at: Routine = &"Team::gather_values";
        meet(at, self.handle, args::<T>(0));
        self.gather_bytes(at, value)
    }

    /// Gathers as [`Team::gather_values`] does, for PEs that have met.
    pub(super) fn gather_bytes<T: Pod>(&self, at: Routine, value: T) -> Vec<T> {
        let (count, size) = (self.n_pes(), size_of::<T>());
        let mut values = vec![value; count];
        if size == 0 {
            return values;
        }
        let (own, to) = (bytes_of(&value), cast_slice_mut::<T, u8>(&mut values));
        let mut shown = vec![0; count * size.min(SLOT)];
        for piece in pieces(size) {
            let own = &own[piece.clone()];
            // SAFETY: both are this thread's; `own` fits into a slot, and `shown` holds as many
            // bytes for each PE; they are apart. All PEs agree on their number.
            unsafe {
                small::fcollect(
                    self.group(),
                    at,
                    shown.as_mut_ptr(),
                    own.as_ptr(),
                    own.len(),
                );
            }
            for (to, from) in to.chunks_mut(size).zip(shown.chunks(own.len())) {
                to[piece.clone()].copy_from_slice(from);
            }
        }
        values
    }

    /// Combines the values of all PEs, or of those up to this one.
    #[track_caller]
    fn combine<T: Pod>(&self, at: Routine, value: T, kernel: &Kernel, scan: Option<bool>) -> T {
        const { assert!(size_of::<T>() <= SLOT) };
        meet(at, self.handle, args::<T>(0));
        let mut result = value;
        let (to, from) = ((&raw mut result).cast(), (&raw const value).cast());
        // SAFETY: both are this thread's, hold one element of the kernel's type, which fits into a
        // slot, and are apart; all PEs agree on its size, and any bytes that they show are a value.
        unsafe {
            match scan {
                None => small::reduce(self.group(), at, to, from, 1, kernel),
                Some(inclusive) => {
                    small::scan(self.group(), at, to, from, 1, kernel, inclusive);
                }
            }
        }
        result
    }
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident: $op:ident, $scan:expr;)*) => {
        impl Team<'_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If PEs call different operations, or differ in the type's size.
            #[track_caller]
            pub fn $name<T: Pod>(&self, value: T) -> T
            where
                $op: Operation<T>,
            {
                let at: Routine = &concat!("Team::", stringify!($name));
                self.combine(at, value, const { &Kernel::of::<T, $op>() }, $scan)
            }
        )*}
    };
}

values! {
    /// Returns the bitwise and of the integers of all PEs.
    and: And, None;
    /// Returns the bitwise or of the integers of all PEs.
    or: Or, None;
    /// Returns the bitwise exclusive or of the integers of all PEs.
    xor: Xor, None;
    /// Returns the greatest of the integers or floats of all PEs.
    max: Max, None;
    /// Returns the least of the integers or floats of all PEs.
    min: Min, None;
    /// Returns the sum of the integers, floats or complex numbers of all PEs.
    sum: Sum, None;
    /// Returns the product of the integers, floats or complex numbers of all PEs.
    prod: Prod, None;
    /// Returns the sum of the numbers of the PEs up to this one.
    sum_up_to: Sum, Some(true);
    /// Returns the sum of the numbers of the PEs before this one, 0 on the first.
    sum_before: Sum, Some(false);
}
