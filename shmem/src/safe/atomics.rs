//! Atomic operations on elements of peers (OpenSHMEM 1.6, section 9.7).

#![expect(
    unsafe_code,
    reason = "calls the routines with addresses that the arrays' types vouch for"
)]

use super::{Ctx, Shared};
use crate::{amo, sync};
use bytemuck::Pod;
use fi_provider::symmetric::atomic;

/// A number of 4 or 8 bytes that is read, written and swapped atomically: an integer or a float.
///
/// ```no_run
/// # use shmem::{Ctx, Shared, Word};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let highs = world.alloc::<f64>(1).expect("eight bytes of heap");
/// /// Leaves a value for PE 0, and takes the last one.
/// fn exchange<T: Word>(ctx: &Ctx<'_>, words: &Shared<'_, T>, value: T) -> T {
///     ctx.swap(words, 0, value, 0)
/// }
/// println!("{}", exchange(world.ctx(), &highs, 2.5));
/// # Ok(()) }
/// ```
pub trait Word: Pod + amo::Word {}

impl<T: Pod + amo::Word> Word for T {}

/// An integer of 4 or 8 bytes that all atomic operations and waits work on.
///
/// ```no_run
/// # use shmem::{Ctx, Element, Shared};
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let tickets = world.alloc::<i32>(1).expect("four bytes of heap");
/// /// Takes a number that no other PE gets.
/// fn ticket<T: Element>(ctx: &Ctx<'_>, tickets: &Shared<'_, T>) -> T {
///     ctx.fetch_inc(tickets, 0, 0)
/// }
/// println!("{}", ticket(world.ctx(), &tickets));
/// # Ok(()) }
/// ```
pub trait Element: Word + amo::Integer + sync::Waited {}

impl<T: Word + amo::Integer + sync::Waited> Element for T {}

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $kind:ident $(-> $ret:tt)?;)*) => {
        impl Ctx<'_> {$(
            $(#[$doc])* ///
            /// # Panics
            /// If `index` or `pe` is out of range.
            #[track_caller]
            #[inline(always)]
            pub fn $name<T: $kind>(
                &self,
                dest: &Shared<'_, T>,
                index: usize,
                $($arg: T,)*
                pe: usize,
            ) $(-> $ret)? {
                let dest = dest.place.one(index);
                let (ctx, peer) = (self.checked(), self.peer(pe));
                // SAFETY: the array is shared on all PEs, at this place of their windows, and holds
                // the element, aligned; the PE is one of the context's. The rules of threads: this
                // one has the context.
                unsafe {
                    atomic::$name(ctx, &concat!("Ctx::", stringify!($name)), dest, $($arg,)* peer)
                }
            }
        )*}
    };
}

atomics! {
    /// Reads the element on `pe` (9.7.1.1).
    fetch(): Word -> T;
    /// Writes `value` to the element on `pe` (9.7.1.2).
    set(value): Word;
    /// Writes `value` to the element on `pe`; returns the old value (9.7.1.4).
    swap(value): Word -> T;
    /// Writes `value` to the element on `pe` where `cond` stands; returns the old value (9.7.1.3).
    compare_swap(cond, value): Element -> T;
    /// Adds `value` to the element on `pe` (9.7.1.8), modulo 2^n.
    add(value): Element;
    /// Adds `value` to the element on `pe`; returns the old value (9.7.1.7).
    fetch_add(value): Element -> T;
    /// Adds 1 to the element on `pe` (9.7.1.6).
    inc(): Element;
    /// Adds 1 to the element on `pe`; returns the old value (9.7.1.5).
    fetch_inc(): Element -> T;
    /// Combines the element on `pe` with `value` by a bitwise and (9.7.1.10).
    and(value): Element;
    /// Combines the element on `pe` with `value` by a bitwise or (9.7.1.12).
    or(value): Element;
    /// Combines the element on `pe` with `value` by a bitwise exclusive or (9.7.1.14).
    xor(value): Element;
    /// Combines by a bitwise and; returns the old value (9.7.1.9).
    fetch_and(value): Element -> T;
    /// Combines by a bitwise or; returns the old value (9.7.1.11).
    fetch_or(value): Element -> T;
    /// Combines by a bitwise exclusive or; returns the old value (9.7.1.13).
    fetch_xor(value): Element -> T;
}
