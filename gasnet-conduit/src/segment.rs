//! Memory that peers reach, here and there.

#![expect(
    unsafe_code,
    reason = "registers memory by its C address, and reads a table of C's"
)]

use crate::engine::{Core, ENDED, Engine};
use crate::error::Error;
use crate::lock::Guard;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::RemoteRegion;
use fi_provider::raw::error as raw;
use fi_provider::raw::region::{Addressing, Memory, Region, Rights};
use std::cell::{Cell, Ref, RefCell};

/// A peer's segment: `farreach_am_segment_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The address of the first byte, as the peer knows it.
    pub start: u64,
    /// The bytes.
    pub bytes: u64,
    /// As many where loads and stores reach them, else 0.
    pub near: u64,
    /// The first byte as mapped here, if so.
    pub mapped: *mut u8,
}

/// All that a peer has to know of a region: plain bytes, which travel by any means
/// (`farreach_am_key_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// The address of the first byte in its process.
    pub start: u64,
    /// The bytes; 0 where there is no region.
    pub bytes: u64,
    /// The fabric's key.
    pub key: u64,
    rest: [u64; 5],
}

impl Key {
    fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (place, word) in bytes
            .chunks_exact_mut(8)
            .zip([self.start, self.bytes, self.key])
        {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8).map(|word| {
            let mut own = [0; 8];
            own.copy_from_slice(word);
            u64::from_le_bytes(own)
        });
        let mut next = || words.next().unwrap_or_default();
        Self {
            start: next(),
            bytes: next(),
            key: next(),
            rest: [0; 5],
        }
    }
}

/// Memory of this process that peers reach: closed when it is dropped.
#[derive(Debug)]
enum Exposed {
    OfEngine(Memory),
    OfProgram {
        _region: Region,
        start: usize,
        bytes: usize,
    },
}

impl Exposed {
    fn key(&self) -> Key {
        let (start, bytes, key) = match self {
            Self::OfEngine(memory) => (memory.as_ptr().addr(), memory.len(), memory.key()),
            Self::OfProgram {
                _region: region,
                start,
                bytes,
            } => (*start, *bytes, region.key()),
        };
        Key {
            start: start as u64,
            bytes: bytes as u64,
            key,
            rest: [0; 5],
        }
    }
}

/// The way in which a region is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By memory that is mapped here, and otherwise as other nodes are.
    Any,
    /// By the device alone, which does all atomic operations.
    Device,
}

/// A region of a peer.
#[derive(Debug)]
pub(crate) struct Known {
    key: Key,
    /// Looked up at the first access: [`By`] each.
    regions: [Option<Box<RemoteRegion>>; 2],
}

/// The regions of this process, and those of peers.
#[derive(Debug)]
pub(crate) struct Regions {
    exposed: RefCell<Vec<Exposed>>,
    /// By rank; that of the last access is the first.
    known: RefCell<Vec<Vec<Known>>>,
    /// [`By`] each, by rank, that one's region if posts to it are in line, or updates by the device
    /// are; else null.
    in_line: [Box<[Cell<*const RemoteRegion>]>; 2],
}

impl Regions {
    pub(crate) fn new(ranks: u32) -> Self {
        Self {
            exposed: RefCell::default(),
            known: RefCell::new((0..ranks).map(|_| Vec::new()).collect()),
            in_line: [(); 2].map(|()| (0..ranks).map(|_| Cell::new(std::ptr::null())).collect()),
        }
    }

    /// Returns whether the bytes lie in memory of this process that peers reach.
    pub(crate) fn has(&self, start: u64, bytes: u64) -> bool {
        let holds = |one: &Exposed| one.key().holds(start, bytes);
        self.exposed.borrow().iter().any(holds)
    }

    /// Looks whether a region of a peer has these bytes.
    pub(crate) fn check(&self, rank: u32, (start, bytes): (u64, usize)) -> Result<(), raw::Error> {
        let known = self.known.borrow();
        let of_peer = known.get(rank as usize).ok_or(raw::Error::NoSuchPeer)?;
        let holds = |one: &Known| one.key.holds(start, bytes as u64);
        of_peer
            .iter()
            .any(holds)
            .then_some(())
            .ok_or(raw::Error::OutOfRange)
    }

    /// Returns the region of a peer that was accessed last, if it has these bytes.
    #[inline(always)]
    pub(crate) fn last(
        &self,
        by: By,
        rank: u32,
        (start, bytes): (u64, usize),
    ) -> Option<Ref<'_, RemoteRegion>> {
        let last = Ref::filter_map(self.known.borrow(), |known| {
            let last = known.get(rank as usize)?.first()?;
            let region = last.regions[by as usize].as_deref()?;
            last.key.holds(start, bytes as u64).then_some(region)
        });
        last.ok()
    }

    /// Returns the region of a peer that was accessed last, if posts to it are in line
    /// ([`RemoteRegion::is_in_line`]); by the device, if updates are
    /// ([`RemoteRegion::is_updated_in_line`]).
    ///
    /// # Safety
    /// `rank` is that of a process of the job. As long as the reference is used, no other function
    /// of this table is called.
    #[inline(always)]
    pub(crate) unsafe fn last_in_line(&self, by: By, rank: usize) -> Option<&RemoteRegion> {
        // SAFETY: the table has an element for each process of the job.
        let last = unsafe { self.in_line[by as usize].get_unchecked(rank) };
        // SAFETY: null, or a region in a box of the table, as every change of that notes; nothing
        // changes the table as long as the reference is used.
        unsafe { last.get().as_ref() }
    }

    /// Changes the knowledge of a peer; returns the result of `change`.
    fn change<T>(&self, rank: u32, change: impl FnOnce(&mut Vec<Known>) -> T) -> T {
        let of_peer = &mut self.known.borrow_mut()[rank as usize];
        let last = |by: By| &self.in_line[by as usize][rank as usize];
        for by in [By::Any, By::Device] {
            last(by).set(std::ptr::null());
        }
        let changed = change(of_peer);
        if let Some(Known { regions, .. }) = of_peer.first() {
            let [any, by_device] = regions.each_ref().map(Option::as_deref);
            if let Some(region) = any.filter(|region| region.is_in_line()) {
                last(By::Any).set(region);
            }
            if let Some(region) = by_device.filter(|region| region.is_updated_in_line()) {
                last(By::Device).set(region);
            }
        }
        changed
    }

    /// Calls `act` with the region of a peer that has these bytes.
    #[inline(always)]
    pub(crate) fn with<T>(
        &self,
        core: &Core,
        by: By,
        rank: u32,
        (start, bytes): (u64, usize),
        act: impl FnOnce(&RemoteRegion) -> Result<T, raw::Error>,
    ) -> Result<T, raw::Error> {
        if let Some(region) = self.last(by, rank, (start, bytes)) {
            return act(&region);
        }
        self.look_up(core, by, rank, (start, bytes))?;
        let region = self.last(by, rank, (start, bytes));
        act(&*region.ok_or(raw::Error::NoSuchKey)?)
    }

    /// Looks the region of a peer up that has these bytes, if that was not done yet, and has it be
    /// the first.
    #[cold]
    #[inline(never)]
    fn look_up(
        &self,
        core: &Core,
        by: By,
        rank: u32,
        (start, bytes): (u64, usize),
    ) -> Result<(), raw::Error> {
        if self.known.borrow().len() <= rank as usize {
            return Err(raw::Error::NoSuchPeer);
        }
        // The endpoint may take the ends of operations while it asks the peer.
        core.rest.set(ENDED, true);
        self.change(rank, |of_peer| {
            let holds = |one: &Known| one.key.holds(start, bytes as u64);
            let at = of_peer.iter().position(holds);
            of_peer.swap(0, at.ok_or(raw::Error::OutOfRange)?);
            let Known { key, regions } = &mut of_peer[0];
            let region = &mut regions[by as usize];
            if region.is_none() {
                *region = Some(Box::new(match by {
                    By::Any => core.replies.resolve(rank, key.key)?,
                    By::Device => core.replies.resolve_by_device(rank, key.key)?,
                }));
            }
            Ok(())
        })
    }
}

impl Key {
    #[inline(always)]
    fn holds(&self, start: u64, bytes: u64) -> bool {
        let offset = start.wrapping_sub(self.start);
        offset <= self.bytes && bytes <= self.bytes - offset
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.start < other.start + other.bytes && other.start < self.start + self.bytes
    }
}

/// Takes zeroed memory of the engine that peers of the node map.
fn allocate(domain: &Domain, bytes: usize) -> Result<Exposed, Error> {
    let memory = domain.allocate(bytes, Rights::ALL, None, Addressing::Virtual);
    Ok(Exposed::OfEngine(memory.map_err(Error::of_domain)?))
}

/// Lets peers reach memory of the program.
///
/// # Safety
/// As [`Engine::expose`].
unsafe fn register(domain: &Domain, memory: *mut u8, bytes: usize) -> Result<Exposed, Error> {
    // SAFETY: the bytes stay mapped and writable as long as the region is open.
    let region = unsafe { domain.register(memory, bytes, Rights::ALL, None, Addressing::Virtual) };
    Ok(Exposed::OfProgram {
        _region: region.map_err(Error::of_domain)?,
        start: memory.addr(),
        bytes,
    })
}

impl<G: Guard> Engine<G> {
    /// Lets peers reach memory of this process, and tells it to all: collective, once. Without
    /// memory of the program's the engine takes zeroed memory, which peers of the node map. Of no
    /// bytes there is no segment.
    ///
    /// # Errors
    /// [`Error::NoRoom`], [`Error::NotNow`] the second time, those of the exchange.
    ///
    /// # Safety
    /// As [`Engine::expose`].
    pub unsafe fn attach(&self, memory: Option<*mut u8>, bytes: usize) -> Result<(), Error> {
        let turn = self.turn()?;
        if self.core.segments.get().is_some() {
            return Err(Error::NotNow("the segment is attached already"));
        }
        let own = match memory {
            _ if bytes == 0 => None,
            None => Some(allocate(&self.core.domain, bytes)?),
            // SAFETY: the bytes at `memory` stay mapped until the engine is closed.
            Some(memory) => Some(unsafe { register(&self.core.domain, memory, bytes)? }),
        };
        let key = own.as_ref().map_or(Key::default(), Exposed::key);
        self.core.regions.exposed.borrow_mut().extend(own);
        drop(turn);
        let all = self.exchange(&key.to_bytes())?;
        let _turn = self.turn()?;
        let keys = all.chunks_exact(24).map(Key::of_bytes);
        let segments: Result<Vec<_>, Error> = (0..)
            .zip(keys)
            .map(|(rank, key)| self.core.learn_segment(rank, key))
            .collect();
        // Nobody else attaches.
        let _ = self.core.segments.set(segments?.into_boxed_slice());
        Ok(())
    }

    /// Lets peers reach `bytes` of memory of the program, up to [`Engine::conceal`]. Returns the
    /// key by which peers learn of it ([`Engine::learn`]).
    ///
    /// # Errors
    /// [`Error::NoRoom`].
    ///
    /// # Safety
    /// The bytes at `memory` stay mapped for reading and writing until they are concealed or the
    /// engine is closed. Peers access them at any time.
    pub unsafe fn expose(&self, memory: *mut u8, bytes: usize) -> Result<Key, Error> {
        let _turn = self.turn()?;
        // SAFETY: the bytes at `memory` stay mapped until they are concealed.
        let own = unsafe { register(&self.core.domain, memory, bytes)? };
        let key = own.key();
        self.core.regions.exposed.borrow_mut().push(own);
        Ok(key)
    }

    /// Ends the exposure that [`Engine::expose`] began for the memory that begins here.
    ///
    /// # Errors
    /// [`Error::Argument`] where there is none.
    pub fn conceal(&self, memory: *mut u8) -> Result<(), Error> {
        let _turn = self.turn()?;
        let mut exposed = self.core.regions.exposed.borrow_mut();
        let is_it = |one: &Exposed| one.key().start == memory.addr() as u64;
        let at = exposed.iter().position(is_it);
        let at = at.ok_or(Error::Argument("no exposed memory begins at this address"))?;
        exposed.swap_remove(at);
        Ok(())
    }

    /// Learns of a region of a peer, or of this process: messages and accesses find it by address
    /// from then on. It takes the place of those that it overlaps.
    ///
    /// # Errors
    /// [`Error::Argument`].
    pub fn learn(&self, rank: u32, key: &Key) -> Result<(), Error> {
        let _turn = self.turn()?;
        self.core.check_rank(rank)?;
        self.core.learn(rank, *key);
        Ok(())
    }

    /// Forgets the region of a peer that begins at this address.
    ///
    /// # Errors
    /// [`Error::Argument`] where none is known.
    pub fn forget(&self, rank: u32, start: u64) -> Result<(), Error> {
        let _turn = self.turn()?;
        self.core.check_rank(rank)?;
        self.core.regions.change(rank, |of_peer| {
            let at = of_peer.iter().position(|one| one.key.start == start);
            let at = at.ok_or(Error::Argument("no known region of this rank begins there"))?;
            of_peer.swap_remove(at);
            Ok(())
        })
    }
}

impl Core {
    fn learn(&self, rank: u32, key: Key) {
        self.regions.change(rank, |of_peer| {
            of_peer.retain(|one| !one.key.overlaps(&key));
            of_peer.push(Known {
                key,
                regions: [None, None],
            });
        });
    }

    /// Learns of the segment of a peer, and looks it up where it may be mapped.
    fn learn_segment(&self, rank: u32, key: Key) -> Result<Segment, Error> {
        let mut segment = Segment {
            start: key.start,
            bytes: key.bytes,
            near: 0,
            mapped: std::ptr::null_mut(),
        };
        if key.bytes == 0 {
            return Ok(segment);
        }
        self.learn(rank, key);
        if rank == self.rank {
            segment.near = key.bytes;
            segment.mapped = std::ptr::with_exposed_provenance_mut(key.start as usize);
        } else if self.near[rank as usize] {
            let range = (key.start, key.bytes as usize);
            let mapped =
                self.regions
                    .with(self, By::Any, rank, range, |region| Ok(region.mapped()));
            if let Some(mapped) = mapped.map_err(|error| Error::of_peer(rank, error))? {
                segment.near = key.bytes;
                segment.mapped = mapped;
            }
        }
        Ok(segment)
    }
}
