//! Blocks at regular distances over the device: what takes one doorbell for many of them, or one entry.
//!
//! Blocks that lie one behind the other at the peer are gathered in the bounce memory, and written by few entries; short ones that do not
//! are entries of their own, which are posted in lists. Blocks of reads into memory that is not registered are gathered as well.

#![expect(unsafe_code, reason = "C memory is given to the device by its address")]

use crate::address_vector::PeerIndex;
use crate::endpoint::{Endpoint, Via};
use crate::error::Error;
use crate::strided::Blocks;
use crate::transfer::{Source, further};
use fi_mlx5::lane::{Local, Payload, Signals, To, Write};

/// Writes of a list: as many as have one doorbell.
const LIST: usize = 32;

impl Endpoint {
    /// Writes blocks of which the first begins at the own address `dest` on `peer`; all numbers are of bytes. The source may be
    /// changed when the call returns.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`], for all the memory from the first to the last byte.
    ///
    /// # Safety
    /// `source` holds the blocks.
    #[cold]
    pub(crate) unsafe fn device_write_blocks(
        &self,
        dest: usize,
        source: *const u8,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.dest_stride);
        let Some((via, to)) = self.reach_far(dest, span, peer)? else {
            return Ok(());
        };
        let gathered = blocks.dest_stride == blocks.len && 2 * blocks.len <= via.gate.piece_len();
        if !gathered && blocks.len > via.lane().max_inline() {
            for (there, from) in blocks.offsets() {
                let (dest, source) = (dest.wrapping_add(there), source.wrapping_add(from));
                // SAFETY: the source holds the block.
                unsafe { self.device_write(dest, source, blocks.len, peer, Source::Reusable)? };
            }
            return Ok(());
        }
        let _held = via.lane().hold();
        self.note_busy();
        if gathered {
            // SAFETY: by contract; the lane is held.
            unsafe { self.write_gathered(via, to, source, blocks) }
        } else {
            // SAFETY: as above.
            unsafe { self.write_listed(via, to, source, blocks) }
        }
    }

    /// Writes blocks that lie one behind the other at the peer: as many by one entry as fit into a piece of the bounce memory.
    ///
    /// # Safety
    /// `source` holds the blocks; the lane is held.
    unsafe fn write_gathered(
        &self,
        via: Via<'_>,
        to: To<'_>,
        source: *const u8,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let at_a_time = via.gate.piece_len() / blocks.len;
        for first in (0..blocks.count).step_by(at_a_time) {
            let turn = first..blocks.count.min(first + at_a_time);
            let (index, piece) = via.gate.claim_piece(turn.len() * blocks.len)?;
            for (place, block) in turn.enumerate() {
                let from = source.wrapping_add(block * blocks.source_stride);
                let there = (piece.address as *mut u8).wrapping_add(place * blocks.len);
                // SAFETY: the source by contract; nobody uses the piece.
                unsafe { std::ptr::copy_nonoverlapping(from, there, blocks.len) };
            }
            let there = further(to, first * blocks.len);
            // SAFETY: the piece stays as it is until it is claimed again, which waits for this entry.
            let posted = unsafe { via.lane().write(there, piece)? };
            via.gate.pieces[index].set(Some(posted));
        }
        Ok(())
    }

    /// Writes short blocks by an entry each, with a doorbell for a list of them and a completion for the last.
    ///
    /// # Safety
    /// `source` holds the blocks; the lane is held.
    unsafe fn write_listed(
        &self,
        via: Via<'_>,
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
            // SAFETY: by contract; the entries take the bytes with them.
            unsafe {
                via.lane()
                    .write_list(to.peer, to.remote, &list[..len], &mut signals)?;
            }
        }
        Ok(())
    }

    /// Reads blocks of which the first begins at the own address `source` on `peer`; all numbers are of bytes.
    ///
    /// # Errors
    /// As [`Endpoint::device_write`], for all the memory from the first to the last byte.
    ///
    /// # Safety
    /// `dest` has room for the blocks.
    #[cold]
    pub(crate) unsafe fn device_read_blocks(
        &self,
        dest: *mut u8,
        source: usize,
        blocks: &Blocks,
        peer: PeerIndex,
    ) -> Result<(), Error> {
        let span = blocks.span(blocks.source_stride);
        let Some((via, to)) = self.reach_far(source, span, peer)? else {
            return Ok(());
        };
        if blocks.len > via.gate.piece_len() {
            for (there, from) in blocks.offsets() {
                let (dest, source) = (dest.wrapping_add(there), source.wrapping_add(from));
                // SAFETY: the destination has room for the block.
                unsafe { self.device_read(dest, source, blocks.len, peer, true)? };
            }
            return Ok(());
        }
        let _held = via.lane().hold();
        self.note_busy();
        let Some(key) = via
            .gate
            .own_key(dest.addr(), blocks.span(blocks.dest_stride))
        else {
            // SAFETY: by contract.
            return unsafe { self.gather(via, to, dest, blocks) };
        };
        let mut last = None;
        for (there, from) in blocks.offsets() {
            let local = Local {
                address: (dest.addr() + there) as u64,
                length: blocks.len as u32,
                key,
            };
            // SAFETY: the destination is registered; the lane is held.
            last = Some(unsafe { via.lane().read(further(to, from), local)? });
        }
        match last {
            // Entries to one peer are done in their order.
            Some(posted) => Ok(via.lane().wait(posted)?),
            None => Ok(()),
        }
    }

    /// Reads blocks of at most a piece each into memory that is not registered: as many as fit into a piece at a time.
    ///
    /// # Safety
    /// `dest` has room for the blocks; the lane is held.
    unsafe fn gather(
        &self,
        via: Via<'_>,
        to: To<'_>,
        dest: *mut u8,
        blocks: &Blocks,
    ) -> Result<(), Error> {
        let at_a_time = via.gate.piece_len() / blocks.len;
        for first in (0..blocks.count).step_by(at_a_time) {
            let turn = first..blocks.count.min(first + at_a_time);
            let (_, piece) = via.gate.claim_piece(turn.len() * blocks.len)?;
            let mut last = None;
            for (place, block) in turn.clone().enumerate() {
                let local = Local {
                    address: piece.address + (place * blocks.len) as u64,
                    length: blocks.len as u32,
                    key: piece.key,
                };
                let from = further(to, block * blocks.source_stride);
                // SAFETY: nobody uses the piece; the lane is held.
                last = Some(unsafe { via.lane().read(from, local)? });
            }
            if let Some(posted) = last {
                // Entries to one peer are done in their order.
                via.lane().wait(posted)?;
            }
            for (place, block) in turn.enumerate() {
                let from = (piece.address as *const u8).wrapping_add(place * blocks.len);
                let there = dest.wrapping_add(block * blocks.dest_stride);
                // SAFETY: the piece has been read; the destination by contract.
                unsafe { std::ptr::copy_nonoverlapping(from, there, blocks.len) };
            }
        }
        Ok(())
    }
}
