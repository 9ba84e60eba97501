//! The memory that one gate alone uses, registered with the device: places for results, and the
//! bounce memory, through which bytes go that are not registered.

#![expect(
    unsafe_code,
    reason = "registers memory, and reads what the device writes there"
)]

use crate::device::error::Error;
use fi_mlx5::device::{self as hca, Region};
use fi_mlx5::lane::Local;
use fi_shm::segment::{Memfd, Reservation, page_size};
use std::io;

/// Offsets of the parts, in bytes: results that nobody wants; results of blocking operations on a
/// lane of one thread; slots for other results; and from the next page on the bounce memory.
const DISCARD: usize = 0;
const RESULT: usize = 64;
const SLOT: usize = 512;
const _: () = assert!(RESULT + RESULT_BYTES <= SLOT && SLOT + SLOTS * SLOT_BYTES <= 4096);

/// Bytes that a result may have.
pub(crate) const RESULT_BYTES: usize = 256;
/// Slots for results: bits of a word.
pub(crate) const SLOTS: usize = u64::BITS as usize;
/// Bytes of a slot.
const SLOT_BYTES: usize = size_of::<u64>();
/// Pieces of the bounce memory.
pub(crate) const PIECES: usize = 8;

/// The memory of a gate.
#[derive(Debug)]
pub(crate) struct Scratch {
    piece_len: usize,
    own: Region,
    memory: Reservation,
}

impl Scratch {
    /// Maps and registers memory with pieces of `piece_len` bytes.
    ///
    /// # Errors
    /// That of memfd_create(2), ftruncate(2), fcntl(2) or mmap(2), or the device's refusal.
    pub(crate) fn new(hca: &hca::Device, piece_len: usize) -> Result<Self, Error> {
        let memory = private_memory(page_size() + PIECES * piece_len)?;
        // SAFETY: the mapping was just made, and only its gate uses it, by cells.
        let own = unsafe { hca.register_local(memory.base() as *mut u8, memory.len())? };
        Ok(Self {
            piece_len,
            own,
            memory,
        })
    }

    /// Returns registered memory for results that nobody wants.
    pub(crate) fn discard(&self, bytes: usize) -> Local {
        self.local(DISCARD, bytes)
    }

    /// Returns registered memory for the result of a blocking operation of `bytes` bytes, at most
    /// [`RESULT_BYTES`].
    pub(crate) fn result(&self, bytes: usize) -> Local {
        self.local(RESULT, bytes)
    }

    /// Returns the registered memory of slot `index`, for a word of `bytes` bytes (4 or 8).
    pub(crate) fn slot(&self, index: usize, bytes: usize) -> Local {
        self.local(SLOT + index * SLOT_BYTES, bytes)
    }

    /// Returns `length` bytes of piece `index` of the bounce memory.
    pub(crate) fn piece(&self, index: usize, length: usize) -> Local {
        debug_assert!(length <= self.piece_len, "{length} bytes in a piece");
        self.local(page_size() + index * self.piece_len, length)
    }

    /// Returns the bytes of a piece of the bounce memory.
    pub(crate) fn piece_len(&self) -> usize {
        self.piece_len
    }

    /// Returns the bytes that the bounce memory holds at a time.
    pub(crate) fn bounce_len(&self) -> usize {
        PIECES * self.piece_len
    }

    /// Returns the result of an atomic operation, in a word of this memory. The lane is held.
    #[inline(always)]
    pub(crate) fn word_in(&self, local: Local) -> u64 {
        let address = local.address;
        // SAFETY: the word is in this memory, which is mapped as long as the gate, and aligned
        // there; volatile, because the device has written it. It gives results of four bytes in its
        // own byte order, independent of the order of those of eight.
        unsafe {
            if local.length as usize == size_of::<u32>() {
                u32::from_be((address as *const u32).read_volatile()).into()
            } else {
                (address as *const u64).read_volatile()
            }
        }
    }

    fn local(&self, offset: usize, bytes: usize) -> Local {
        Local {
            address: (self.memory.base() + offset) as u64,
            length: bytes as u32,
            key: self.own.lkey(),
        }
    }
}

/// Makes memory for the device's own use. It is shared, so that a fork does not part the process
/// from its device.
fn private_memory(len: usize) -> io::Result<Reservation> {
    let memory = Memfd::create(c"farreach-device", len)?;
    let space = Reservation::anywhere(len)?;
    space.map_shared(0, &memory, 0, len)?;
    space.keep_from_cores();
    Ok(space)
}
