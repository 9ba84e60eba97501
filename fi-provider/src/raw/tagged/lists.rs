//! Values in lists: each is added to the end of a list and taken out of it anywhere by few
//! instructions, for any number of them.
//!
//! A list is a circle of links through its head. Nodes and heads never move while they are linked,
//! so that links are addresses.

#![expect(unsafe_code, reason = "follows links by their addresses")]

use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Nodes of the first piece of memory.
const FEWEST: usize = 16;

/// The links before and behind, in a list.
#[derive(Debug)]
pub(super) struct Link {
    before: *mut Link,
    behind: *mut Link,
}

/// A value, which is in a list of kind 0 and may be in one of each other kind; or none, and then
/// the link of kind 0 has nothing before it, and the next such node behind it.
#[derive(Debug)]
#[repr(C, align(64))]
struct Node<T, const LISTS: usize> {
    links: [Link; LISTS],
    value: MaybeUninit<T>,
}

/// The place of a value in its slab.
#[derive(Debug)]
pub(super) struct At<T, const LISTS: usize>(NonNull<Node<T, LISTS>>);

impl<T, const LISTS: usize> Clone for At<T, LISTS> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const LISTS: usize> Copy for At<T, LISTS> {}

impl<T, const LISTS: usize> At<T, LISTS> {
    /// Returns the node's link of a kind, below `LISTS`: an address within the node's provenance.
    #[inline(always)]
    fn link(self, kind: usize) -> *mut Link {
        // The links are at the node's begin.
        self.0.as_ptr().cast::<Link>().wrapping_add(kind)
    }

    /// Returns the node of a link of a kind.
    ///
    /// # Safety
    /// The link is a node's of that kind, which `At::link` gave.
    #[inline(always)]
    unsafe fn of_link(link: *mut Link, kind: usize) -> Self {
        // SAFETY: a link that `link` gave is no null pointer, nor is its node.
        Self(unsafe { NonNull::new_unchecked(link.wrapping_sub(kind).cast()) })
    }
}

/// Nodes for values of one type.
#[derive(Debug)]
pub(super) struct Slab<T, const LISTS: usize> {
    /// Slices of nodes, each from a box.
    pieces: Vec<NonNull<[Node<T, LISTS>]>>,
    /// The first node without a value, or null.
    free: *mut Node<T, LISTS>,
}

impl<T, const LISTS: usize> Slab<T, LISTS> {
    pub(super) fn new() -> Self {
        const { assert!(LISTS > 0) };
        Self {
            pieces: Vec::new(),
            free: std::ptr::null_mut(),
        }
    }

    /// Returns whether there is no room for a value.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.free.is_null()
    }

    /// Returns the number of values for which there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// Doubles the memory.
    #[cold]
    #[inline(never)]
    pub(super) fn grow(&mut self) {
        let empty = || Node {
            links: [const { Link::NONE }; LISTS],
            value: MaybeUninit::uninit(),
        };
        let many = self.capacity().max(FEWEST);
        let nodes: Box<[Node<T, LISTS>]> = std::iter::repeat_with(empty).take(many).collect();
        let nodes = NonNull::from(Box::leak(nodes));
        self.pieces.push(nodes);
        for at in (0..many).rev() {
            let node = nodes.cast::<Node<T, LISTS>>().as_ptr().wrapping_add(at);
            // SAFETY: the node is one of the slice; nothing else refers to it.
            unsafe { (*node).links[0].behind = self.free.cast() };
            self.free = node;
        }
    }

    /// Adds a value to the end of a list of kind 0; returns its place.
    ///
    /// # Safety
    /// The slab is not full. The list is of live heads, and all that is in it is of this slab and
    /// of kind 0.
    #[inline(always)]
    pub(super) unsafe fn add(&mut self, list: List, value: T) -> At<T, LISTS> {
        // SAFETY: the slab is not full: `free` is a node of its own, without a value, whose
        // `behind` of kind 0 is the next such node; the list is one of kind 0, of this slab.
        unsafe {
            let at = At(NonNull::new_unchecked(self.free));
            self.free = (*at.link(0)).behind.cast();
            (&raw mut (*at.0.as_ptr()).value).cast::<T>().write(value);
            self.append(0, list, at);
            at
        }
    }

    /// Adds a value to the end of a list of another kind.
    ///
    /// # Safety
    /// The place is that of a value of this slab, which is in no list of this kind. The list is of
    /// live heads, and all that is in it is of this slab and of this kind, which is below `LISTS`.
    #[inline(always)]
    pub(super) unsafe fn append(&mut self, kind: usize, List(head): List, at: At<T, LISTS>) {
        let link = at.link(kind);
        // SAFETY: the head is live, and the one before it is a live link: itself, or that of a
        // value of this slab; `link` is of a node of this slab. No reference to a link is ever
        // kept.
        unsafe {
            let last = (*head).before;
            link.write(Link {
                before: last,
                behind: head,
            });
            (*last).behind = link;
            (*head).before = link;
        }
    }

    /// Takes a value out of its list of a kind.
    ///
    /// # Safety
    /// The place is that of a value of this slab, which is in a list of this kind of live heads.
    #[inline(always)]
    pub(super) unsafe fn unlink(&mut self, kind: usize, at: At<T, LISTS>) {
        // SAFETY: the value is in a list: the links before and behind are live ones, of values of
        // this slab or the head.
        unsafe {
            let Link { before, behind } = at.link(kind).read();
            (*before).behind = behind;
            (*behind).before = before;
        }
    }

    /// Takes out a value, which is in a list of kind 0 alone.
    ///
    /// # Safety
    /// As [`Slab::unlink`]; the place is that of no value from then on.
    #[inline(always)]
    pub(super) unsafe fn remove(&mut self, at: At<T, LISTS>) -> T {
        // SAFETY: the place is that of a value in a list of kind 0, which is read once: the node
        // has none from then on.
        unsafe {
            self.unlink(0, at);
            at.link(0).write(Link {
                before: std::ptr::null_mut(),
                behind: self.free.cast(),
            });
            self.free = at.0.as_ptr();
            (&raw const (*at.0.as_ptr()).value).cast::<T>().read()
        }
    }

    /// Returns the value of a place.
    ///
    /// # Safety
    /// The place is that of a value of this slab.
    #[inline(always)]
    pub(super) unsafe fn get(&self, at: At<T, LISTS>) -> &T {
        // SAFETY: the place is that of a value, which nobody changes as long as the slab is
        // borrowed.
        unsafe { &*(&raw const (*at.0.as_ptr()).value).cast::<T>() }
    }

    /// Returns the value of a place, to be changed.
    ///
    /// # Safety
    /// The place is that of a value of this slab.
    pub(super) unsafe fn get_mut(&mut self, at: At<T, LISTS>) -> &mut T {
        // SAFETY: the place is that of a value, to which nothing else refers as long as the slab is
        // borrowed.
        unsafe { &mut *(&raw mut (*at.0.as_ptr()).value).cast::<T>() }
    }

    /// Returns all values with their places, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (At<T, LISTS>, &T)> {
        let nodes = self.pieces.iter().flat_map(|piece| {
            let first = piece.cast::<Node<T, LISTS>>();
            // SAFETY: the piece has so many nodes.
            (0..piece.len()).map(move |at| At(unsafe { first.add(at) }))
        });
        // SAFETY: the node is live, and has a value where something is before its link.
        let values = nodes.filter(|at| unsafe { !(*at.link(0)).before.is_null() });
        // SAFETY: the place is that of a value.
        values.map(|at| (at, unsafe { self.get(at) }))
    }

    /// Returns the values of a list of a kind with their places, in their order.
    ///
    /// # Safety
    /// The list is of heads that live as long as the iterator, and all that is in it is of this
    /// slab and of this kind.
    #[inline(always)]
    pub(super) unsafe fn in_order(
        &self,
        kind: usize,
        List(head): List,
    ) -> impl Iterator<Item = (At<T, LISTS>, &T)> {
        let mut last = head;
        std::iter::from_fn(move || {
            // SAFETY: the head, or the link of a value in the list, which stays as it is as long as
            // the slab is borrowed; and a link behind another that is not the head is a value's.
            unsafe {
                last = (*last).behind;
                if last == head {
                    return None;
                }
                let at = At::of_link(last, kind);
                Some((at, self.get(at)))
            }
        })
    }
}

impl<T, const LISTS: usize> Drop for Slab<T, LISTS> {
    fn drop(&mut self) {
        let used: Vec<_> = self.all().map(|(at, _)| at).collect();
        for at in used {
            // SAFETY: the place is that of a value, which is dropped once: nothing refers to the
            // slab any more.
            unsafe {
                (&raw mut (*at.0.as_ptr()).value)
                    .cast::<T>()
                    .drop_in_place()
            };
        }
        for piece in &self.pieces {
            // SAFETY: `grow` has leaked the box of these nodes, to which nothing refers any more.
            drop(unsafe { Box::from_raw(piece.as_ptr()) });
        }
    }
}

impl Link {
    const NONE: Self = Self {
        before: std::ptr::null_mut(),
        behind: std::ptr::null_mut(),
    };
}

/// A list: its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List(*mut Link);

impl List {
    /// Returns whether nothing is in it.
    ///
    /// # Safety
    /// The list is of live heads.
    #[cfg(test)]
    pub(super) unsafe fn is_empty(self) -> bool {
        // SAFETY: the head is live.
        unsafe { (*self.0).behind == self.0 }
    }
}

/// The heads of lists, a power of 2 of them.
#[derive(Debug)]
pub(super) struct Heads {
    /// Of a box.
    first: NonNull<Link>,
    /// The distance of the last one from the first, in bytes.
    last: usize,
}

impl Heads {
    /// Makes empty lists, a power of 2 of them.
    pub(super) fn new(many: usize) -> Self {
        assert!(many.is_power_of_two());
        let heads: Box<[Link]> = (0..many).map(|_| Link::NONE).collect();
        let first = NonNull::from(Box::leak(heads)).cast::<Link>();
        for at in 0..many {
            let head = first.as_ptr().wrapping_add(at);
            // SAFETY: one of the heads, to which nothing else refers.
            unsafe {
                head.write(Link {
                    before: head,
                    behind: head,
                });
            }
        }
        Self {
            first,
            last: (many - 1) * size_of::<Link>(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.last / size_of::<Link>() + 1
    }

    /// Returns the list that a hash chooses: by some of its bits, and not by the lowest.
    #[inline(always)]
    pub(super) fn list(&self, hash: usize) -> List {
        // The bits of `last` are those of every distance from the first to another one.
        const { assert!(size_of::<Link>().is_power_of_two()) };
        List(self.first.as_ptr().wrapping_byte_add(hash & self.last))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = List> {
        (0..self.len()).map(|at| self.list(at * size_of::<Link>()))
    }
}

impl Drop for Heads {
    fn drop(&mut self) {
        let heads = NonNull::slice_from_raw_parts(self.first, self.len());
        // SAFETY: `new` has leaked the box of these heads. Nobody goes through the lists any more:
        // functions that do need live heads.
        drop(unsafe { Box::from_raw(heads.as_ptr()) });
    }
}
