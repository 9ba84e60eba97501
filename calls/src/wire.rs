//! Messages: records one behind the other, each of a header and a body.
//!
//! A header is 16 bytes, and a body a multiple of that, so that index data begins at such a place. The
//! body of a call is its index data, or with [`CHUNKS`] a table of its chunks before that, and behind it
//! the bytes of those that were sent along.

use bytemuck::{Pod, Zeroable};

/// The bytes to which all is aligned.
pub(crate) const UNIT: usize = 16;

/// Begins a record.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Header {
    /// Bytes of the body.
    pub(crate) len: u32,
    /// The number of the action, or how a call has ended.
    pub(crate) word: u16,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// Of a call, the number by which it is replied to, or 0; of others, that number or another.
    pub(crate) id: u64,
}

const _: () = assert!(size_of::<Header>() == UNIT);

/// A call.
pub(crate) const CALL: u8 = 1;
/// The result of a call, or its failure.
pub(crate) const REPLY: u8 = 2;
/// The chunks of a record were read.
pub(crate) const FETCHED: u8 = 3;
/// So many calls without a reply have run.
pub(crate) const DONE: u8 = 4;
/// A part of a sum, to the root of the tree.
pub(crate) const UP: u8 = 5;
/// The sum, from there.
pub(crate) const DOWN: u8 = 6;
/// A call without a reply has failed.
pub(crate) const FAILED: u8 = 7;

/// The flag of a body that begins with a table of chunks.
pub(crate) const CHUNKS: u8 = 1;

/// How a call has ended.
pub(crate) const RETURNED: u16 = 0;
/// The action has panicked: the body is its message.
pub(crate) const PANICKED: u16 = 1;
/// The arguments could not be loaded: the body says why.
pub(crate) const UNLOADED: u16 = 2;
/// There was no room for the arguments.
pub(crate) const REFUSED: u16 = 3;

/// Begins a table of chunks.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Table {
    pub(crate) chunks: u32,
    /// Bytes of index data.
    pub(crate) index: u32,
    /// The number by which the sender is told that the chunks were read; 0 where all were sent along.
    pub(crate) parcel: u64,
}

/// A chunk in a table.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Described {
    pub(crate) len: u64,
    /// The region that has it, and where in that.
    pub(crate) key: u64,
    pub(crate) address: u64,
    pub(crate) kind: u8,
    /// The alignment of its elements.
    pub(crate) align: u8,
    pub(crate) unused: [u8; 6],
}

/// A chunk that was sent along.
pub(crate) const HERE: u8 = 0;
/// A chunk of any memory.
pub(crate) const PLAIN: u8 = 1;
/// A chunk of a block of the pool's.
pub(crate) const BLOCK: u8 = 2;
/// Index data that is too long for a message: the first chunk, of a block.
pub(crate) const INDEX: u8 = 3;

/// Bytes, up to the next multiple of [`UNIT`].
#[inline]
pub(crate) fn padded(bytes: usize) -> usize {
    // Fewer instructions than `next_multiple_of`.
    (bytes + (UNIT - 1)) & !(UNIT - 1)
}

/// Reads a value at the begin of bytes.
#[inline]
pub(crate) fn read<T: Pod>(bytes: &[u8]) -> Option<T> {
    bytes
        .get(..size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
}
