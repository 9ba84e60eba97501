//! Blocks at regular distances, by one doorbell for many of them, or by one entry.
//!
//! Blocks that lie one behind the other at the peer are written by few entries: long messages of
//! long blocks gathered by the device, from symmetric memory; others copied into the bounce memory.
//! Short ones that do not lie so are entries of their own, which are posted in lists. Reads are the
//! same the other way: into symmetric memory the device scatters, into other memory it is copied.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use super::Mlx5;
use super::one_entry::Direction;
use super::transfer::further;
use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::blocks::Blocks;
use crate::symmetric::endpoint::Endpoint;
use crate::symmetric::far::Source;
use fi_mlx5::lane::{Lane, Local, Payload, Signals, To, Write};
use std::ops::Range;

/// Writes of a list: as many as have one doorbell.
const LIST: usize = 32;

/// Bytes of a block that the device gathers: fewer are copied in less time than the device takes to
/// look for them.
const WORTH_A_SEGMENT: usize = 512;

/// Returns the numbers from 0 to `count`, so many at a time.
fn turns(count: usize, at_a_time: usize) -> impl Iterator<Item = Range<usize>> {
    let firsts = (0..count).step_by(at_a_time);
    firsts.map(move |first| first..count.min(first + at_a_time))
}

impl Mlx5 {
    /// Does [`Endpoint::write_blocks_far`].
    ///
    /// # Errors
    /// As [`Endpoint::write_blocks_far`].
    ///
    /// # Safety
    /// As [`Endpoint::write_blocks_far`].
    #[inline(always)]
    pub(crate) unsafe fn write_blocks(
        &self,
        endpoint: &Endpoint,
        dest: usize,
        source: *const u8,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.dest_stride);
        let Some(to) = self.reach_far(endpoint, dest, span, peer)? else {
            return Ok(());
        };
        let dense = blocks.dest_stride == blocks.len;
        if dense && let Some(key) = self.to_be_gathered(source, blocks) {
            let _held = self.lane().hold();
            endpoint.note_busy();
            // SAFETY: the source is registered; the lane is held.
            return unsafe {
                self.transfer_in_place(Direction::Write, to, (source.addr(), key), blocks)
            };
        }
        let copied = dense && 2 * blocks.len <= self.gate().piece_len();
        if !copied && blocks.len > self.lane().max_inline() {
            for (there, from) in blocks.offsets() {
                let (dest, source) = (dest.wrapping_add(there), source.wrapping_add(from));
                // SAFETY: the source holds the block.
                unsafe { self.write(endpoint, dest, source, blocks.len, peer, Source::Reusable)? };
            }
            return Ok(());
        }
        let _held = self.lane().hold();
        endpoint.note_busy();
        if copied {
            // SAFETY: `source` holds the blocks; the lane is held.
            unsafe { self.write_copied(to, source, blocks) }
        } else {
            // SAFETY: `source` holds the blocks; the lane is held.
            unsafe { self.write_listed(to, source, blocks) }
        }
    }

    /// Writes blocks that lie one behind the other at the peer: as many by one entry as fit into a
    /// piece of the bounce memory.
    ///
    /// # Safety
    /// `source` holds the blocks; the lane is held.
    unsafe fn write_copied(
        &self,
        to: To<'_>,
        source: *const u8,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let at_a_time = self.gate().piece_len() / blocks.len;
        for turn in turns(blocks.count, at_a_time) {
            let there = further(to, turn.start * blocks.len);
            let mut piece = self.gate().claim_piece(turn.len() * blocks.len)?;
            for (place, block) in turn.enumerate() {
                let from = source.wrapping_add(block * blocks.source_stride);
                let copy = (piece.local.address as *mut u8).wrapping_add(place * blocks.len);
                // SAFETY: `source` holds the block; nobody uses the piece.
                unsafe { std::ptr::copy_nonoverlapping(from, copy, blocks.len) };
            }
            // SAFETY: the piece stays as it is until it is claimed again, which waits for this
            // entry; the lane is held.
            piece.used_by(unsafe { self.lane().write(there, piece.local)? });
        }
        Ok(())
    }

    /// Writes short blocks by an entry each, with a doorbell for a list of them and a completion for
    /// the last.
    ///
    /// # Safety
    /// `source` holds the blocks; the lane is held.
    unsafe fn write_listed(
        &self,
        to: To<'_>,
        source: *const u8,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let mut signals = Signals::every(u32::try_from(blocks.count).unwrap_or(u32::MAX));
        let write = |(there, from): (usize, usize)| Write {
            address: further(to, there).address,
            key: to.key,
            payload: Payload::Inline(source.wrapping_add(from), blocks.len),
        };
        let mut list = [write((0, 0)); LIST];
        let mut todo = blocks.offsets().map(write).peekable();
        while todo.peek().is_some() {
            let mut len = 0;
            for (place, next) in list.iter_mut().zip(&mut todo) {
                *place = next;
                len += 1;
            }
            // SAFETY: the lane is held, the peer is of it, and `source` holds the blocks, which the
            // entries take with them.
            unsafe {
                self.lane()
                    .write_list(to.peer, to.vector, &list[..len], &mut signals)?;
            }
        }
        Ok(())
    }

    /// Does [`Endpoint::read_blocks_far`].
    ///
    /// # Errors
    /// As [`Endpoint::read_blocks_far`].
    ///
    /// # Safety
    /// As [`Endpoint::read_blocks_far`].
    #[inline(always)]
    pub(crate) unsafe fn read_blocks(
        &self,
        endpoint: &Endpoint,
        dest: *mut u8,
        source: usize,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.source_stride);
        let Some(to) = self.reach_far(endpoint, source, span, peer)? else {
            return Ok(());
        };
        let key = self
            .gate()
            .own_key(dest.addr(), blocks.span(blocks.dest_stride))
            .filter(|_| blocks.len <= self.gate().max_message());
        if key.is_none() && blocks.len > self.gate().piece_len() {
            for (there, from) in blocks.offsets() {
                let (dest, source) = (dest.wrapping_add(there), source.wrapping_add(from));
                // SAFETY: the destination has room for the block.
                unsafe { endpoint.read_far(dest, source, blocks.len, peer, true)? };
            }
            return Ok(());
        }
        let _held = self.lane().hold();
        endpoint.note_busy();
        let Some(key) = key else {
            // SAFETY: `dest` has room for the blocks; the lane is held.
            return unsafe { self.gather(to, dest, blocks) };
        };
        // SAFETY: the destination is registered; the lane is held.
        unsafe { self.transfer_in_place(Direction::Read, to, (dest.addr(), key), blocks) }
    }

    /// Reads blocks of at most a piece each into memory that is not registered: as many as fit into
    /// a piece at a time.
    ///
    /// # Safety
    /// `dest` has room for the blocks; the lane is held.
    unsafe fn gather(&self, to: To<'_>, dest: *mut u8, blocks: &Blocks) -> Result<(), Error> {
        let gate = self.gate();
        let at_a_time = gate.piece_len() / blocks.len;
        for turn in turns(blocks.count, at_a_time) {
            let claimed = gate.claim_piece(turn.len() * blocks.len)?;
            let piece = claimed.local;
            let from = further(to, turn.start * blocks.source_stride);
            let part = Blocks {
                dest_stride: blocks.len,
                count: turn.len(),
                ..*blocks
            };
            // SAFETY: nobody uses the piece; the lane is held.
            unsafe {
                self.transfer_in_place(
                    Direction::Read,
                    from,
                    (piece.address as usize, piece.key),
                    &part.joined(),
                )?
            };
            for (place, block) in turn.enumerate() {
                let from = (piece.address as *const u8).wrapping_add(place * blocks.len);
                let there = dest.wrapping_add(block * blocks.dest_stride);
                // SAFETY: the piece has been read and holds the block, and `dest` has room for it.
                unsafe { std::ptr::copy_nonoverlapping(from, there, blocks.len) };
            }
        }
        Ok(())
    }

    /// Returns the key of the blocks of a source that the device is to gather where they lie: long
    /// ones of a message that the bounce memory does not hold, in symmetric memory.
    fn to_be_gathered(&self, source: *const u8, blocks: &Blocks) -> Option<u32> {
        let gate = self.gate();
        let is_long = blocks.len.saturating_mul(blocks.count) > gate.bounce_len();
        if !is_long || !(WORTH_A_SEGMENT..=gate.max_message()).contains(&blocks.len) {
            return None;
        }
        gate.own_key(source.addr(), blocks.span(blocks.source_stride))
    }

    /// Transfers blocks, of which those that lie one behind the other at the peer have an entry for
    /// several, and waits until the memory here may be used again.
    ///
    /// # Safety
    /// The blocks here, of which the first is at `address`, are registered under `key`; the lane is
    /// held.
    #[inline(always)]
    unsafe fn transfer_in_place(
        &self,
        direction: Direction,
        to: To<'_>,
        (address, key): (usize, u32),
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let (here, there) = match direction {
            Direction::Write => (blocks.source_stride, blocks.dest_stride),
            Direction::Read => (blocks.dest_stride, blocks.source_stride),
        };
        let gate = self.gate();
        let at_a_time = if there == blocks.len {
            Lane::SEGMENTS.min(gate.max_message() / blocks.len)
        } else {
            1
        };
        let mut last = None;
        for turn in turns(blocks.count, at_a_time) {
            let to = further(to, turn.start * there);
            let pieces = locals(address, here, blocks.len, key, turn);
            // SAFETY: the blocks here are registered under the key; the lane is held, and the peer
            // is of it.
            let posted = unsafe {
                match direction {
                    Direction::Write => gate.lane().write_gathered(to, pieces)?,
                    Direction::Read => gate.lane().read_scattered(to, pieces)?,
                }
            };
            last = Some(posted);
        }
        match last {
            // Entries to one peer are done in their order.
            Some(posted) => Ok(gate.lane().wait(posted)?),
            None => Ok(()),
        }
    }
}

/// Returns the memory of these blocks, of which that of number 0 is at `address`.
fn locals(
    address: usize,
    stride: usize,
    len: usize,
    key: u32,
    blocks: Range<usize>,
) -> impl Iterator<Item = Local> {
    blocks.map(move |block| Local {
        address: (address + block * stride) as u64,
        length: len as u32,
        key,
    })
}
