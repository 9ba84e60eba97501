//! Regions of peers.

#![expect(unsafe_code, reason = "looks at words in peers' memory mapped here")]

use super::link::Link;
use crate::raw::error::Error;
use crate::raw::far::mark::Follows;
use crate::raw::far::path::FarPath;
use crate::raw::protocol::UNCOUNTED;
use crate::raw::region::{Access, Beyond, Found, Rights, State as RegionState};
use fi_mlx5::remote::RemoteKey;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A region of a peer, looked up by its key (see [`super::Endpoint::resolve`]).
#[derive(Clone, Debug)]
pub struct RemoteRegion {
    pub(crate) found: Found,
    /// Its key for the device, as entries have it.
    pub(crate) device_key: RemoteKey,
    /// Number of addresses from its first byte on that are those of words of 8 bytes that lie in
    /// it.
    pub(super) words: u64,
    /// Number of such addresses for words whose addresses are aligned to 8 bytes; 0 where the words
    /// are not then.
    pub(super) aligned_words: u64,
    /// For each set of rights the state in which they are given: that which was found, or none that
    /// comes.
    pub(super) given_in: [RegionState; Rights::SETS],
    /// Tells whether the region is as it was found.
    pub(super) state: *const AtomicU64,
    /// The word of `state`, where the peer's is not mapped.
    pub(super) beyond: Option<Rc<Beyond>>,
    /// The first byte, as mapped here; null where it is not.
    pub(crate) mapped: *mut u8,
    /// The link's path over a device, where posts are in line by a connected queue; else null.
    pub(crate) in_line: *const FarPath,
    /// As `in_line`, where atomic operations are the device's, and addresses are aligned where
    /// their words are.
    pub(super) updated_in_line: *const FarPath,
    /// The counts of its writes and reads, where they are mapped here and it is counted.
    pub(super) counts: *const AtomicU64,
    /// This region as one that does not say that it is counted, where it is counted.
    pub(crate) counted: Option<Rc<Self>>,
    /// The mark of accesses by records: [`UNCOUNTED`] for parts of those that are counted as a
    /// whole, and the generation where nothing tells here that the region is closed.
    pub(crate) mark: u64,
    /// Whether atomic operations on it are the device's, for any peer.
    pub(crate) is_of_device: bool,
    pub(crate) key: u64,
    /// Whether an operation goes to another region that the peer has under the key by then.
    pub(crate) follows: Follows,
    pub(crate) link: Rc<Link>,
}

impl RemoteRegion {
    /// Makes a region of a peer of which nothing is mapped here.
    pub(crate) fn beyond(found: Found, key: u64, link: &Rc<Link>) -> Self {
        let beyond = Rc::new(Beyond::new(found, key));
        if let Some(path) = link.far() {
            path.note_region(&beyond);
        }
        let in_line: *const FarPath = match link.far() {
            Some(path) if path.is_connected_in_line() => path,
            _ => std::ptr::null(),
        };
        let region = Self {
            given_in: found.state.given_in(),
            device_key: RemoteKey::new(found.device_key),
            words: found.words(),
            aligned_words: found.aligned_words(),
            found,
            state: beyond.state(),
            beyond: Some(beyond),
            mapped: std::ptr::null_mut(),
            in_line,
            updated_in_line: std::ptr::null(),
            counts: std::ptr::null(),
            counted: None,
            mark: match link.libfabric() {
                Some(_) => found.state.to_mark(),
                None => 0,
            },
            is_of_device: false,
            key,
            follows: Follows::default(),
            link: Rc::clone(link),
        };
        match link.address.port.is_far {
            true => region.of_device(),
            false => region,
        }
    }

    /// Returns the same region, which refuses accesses that go the ways of all others if it is
    /// counted.
    pub(super) fn refusing_if_counted(self) -> Self {
        if !self.found.state.is_counted() {
            return self;
        }
        Self {
            given_in: RegionState::given_in_none(),
            mapped: std::ptr::null_mut(),
            link: Rc::clone(&self.link),
            beyond: self.beyond.clone(),
            counted: Some(Rc::new(self.clone())),
            ..self
        }
    }

    /// Returns the region that does not say that it is counted.
    pub(crate) fn plain(&self) -> &Self {
        self.counted.as_deref().unwrap_or(self)
    }

    /// Returns the same region beyond this process, all atomic operations on which are the
    /// device's.
    pub(super) fn of_device(self) -> Self {
        Self {
            updated_in_line: match self.found.keeps_alignment() {
                true => self.in_line,
                false => std::ptr::null(),
            },
            is_of_device: true,
            ..self
        }
    }

    /// Returns the same region, for parts of an access that is counted as a whole.
    pub(super) fn for_parts(&self) -> Self {
        Self {
            counts: std::ptr::null(),
            mark: self.mark | UNCOUNTED,
            ..self.plain().clone()
        }
    }

    /// Looks whether a range may be accessed in this way, by any path.
    ///
    /// # Errors
    /// As [`super::Endpoint::write`].
    pub(crate) fn check(&self, address: u64, len: usize, rights: Rights) -> Result<(), Error> {
        self.plain().reach(address, len, rights).map(drop)
    }

    /// Counts an access that this process has done, or the kernel for it.
    #[cold]
    pub(crate) fn count(&self, access: Access) {
        if !self.counts.is_null() {
            // SAFETY: two words are there, in the peer's memory, which is mapped as long as the
            // link holds its process, and only accessed by atomic operations.
            let count = unsafe { &*self.counts.add(access as usize) };
            // ORDERING: behind the access; pairs with the loads in `Regions::accesses_to`.
            count.fetch_add(1, Ordering::Release);
        }
    }

    /// Counts an access that this process has done by loads and stores, if it does them so.
    pub(crate) fn count_if_mapped(&self, access: Access) {
        if self.is_mapped() {
            self.count(access);
        }
    }

    /// Returns the counts that the device adds to: the address of one, and a region that has it.
    pub(crate) fn counts_far(&self, path: &FarPath, access: Access) -> (u64, Self) {
        let address = path.count_at(&self.found, access);
        let mut found = self.found;
        (found.base, found.start) = (address, address);
        (found.len, found.device_key) = (size_of::<u64>() as u64, found.counts_key);
        let region = Self {
            given_in: [self.found.state; Rights::SETS],
            device_key: RemoteKey::new(found.device_key),
            words: found.words(),
            aligned_words: found.aligned_words(),
            found,
            is_of_device: true,
            follows: Follows::default(),
            ..self.clone()
        };
        (address, region)
    }

    /// Returns the same region, whose operations go to another one that the peer has under the key
    /// by the time they are done.
    pub(crate) fn following(self) -> Self {
        let counted = self.counted.as_deref();
        Self {
            counted: counted.map(|plain| Rc::new(plain.clone().following())),
            follows: Follows::YES,
            mark: 0,
            ..self
        }
    }

    /// Returns whether nothing tells here that the peer closes it, but an operation that fails.
    pub(super) fn is_untold(&self) -> bool {
        self.beyond.is_some()
    }

    /// Returns the key that it was looked up by.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.found.len as usize
    }

    /// Returns whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.found.len == 0
    }

    /// Returns the first byte as mapped here, by which this process loads and stores in it, and
    /// counts nothing; none where it does not.
    pub fn mapped(&self) -> Option<*mut u8> {
        self.is_mapped().then_some(self.mapped)
    }

    /// Returns the byte at an address in it, as [`RemoteRegion::mapped`].
    pub fn mapped_at(&self, address: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.found.start);
        let first = self.mapped().filter(|_| offset < self.found.len)?;
        Some(first.wrapping_add(offset as usize))
    }

    /// Returns whether this process loads and stores in it, and counts nothing.
    pub fn is_mapped(&self) -> bool {
        !self.mapped.is_null()
    }

    /// Returns whether few bytes are written there by posts in line to a device.
    #[inline(always)]
    pub fn is_in_line(&self) -> bool {
        !self.in_line.is_null()
    }

    /// Lets posts in line to the peer's memory go on, once there is one outstanding. Returns false
    /// where that is not possible at once. Calls nothing.
    ///
    /// # Safety
    /// [`RemoteRegion::is_in_line`]; the caller is the thread of the endpoint that has found the
    /// region.
    #[inline(always)]
    pub unsafe fn widen_at_once(&self) -> bool {
        // SAFETY: the link, which the region holds, has the path, posts by which are in line by
        // connected queues.
        unsafe { (*self.in_line).widen_connection() }
    }

    /// Returns whether words of 8 bytes are updated there by posts in line to a device; then
    /// [`RemoteRegion::is_in_line`], too.
    #[inline(always)]
    pub fn is_updated_in_line(&self) -> bool {
        !self.updated_in_line.is_null()
    }

    /// Returns the state of the region now.
    #[inline(always)]
    pub(super) fn state(&self) -> u64 {
        // SAFETY: the word is in the peer's table, which is mapped as long as the link holds its
        // process, or the region's own.
        // ORDERING: pairs with the release stores in `Regions::close`; a store past this test may
        // land behind it, as the module says.
        unsafe { (*self.state).load(Ordering::Relaxed) }
    }

    /// Returns whether it gives rights now.
    #[inline(always)]
    pub(crate) fn gives(&self, rights: Rights) -> bool {
        self.given_in[rights.index()].is(self.state())
    }

    /// Returns the distance from the first byte of a range that may be accessed in this way, and
    /// need not be counted.
    #[inline(always)]
    pub(crate) fn find(&self, address: u64, len: usize, rights: Rights) -> Option<usize> {
        if !self.gives(rights) {
            return None;
        }
        let offset = self.found.offset(address, len as u64);
        offset.map(|offset| offset as usize)
    }

    /// Does as [`RemoteRegion::find`], for a word of 8 bytes.
    #[inline(always)]
    pub(crate) fn find_word(&self, address: u64, rights: Rights) -> Option<usize> {
        if !self.gives(rights) {
            return None;
        }
        let offset = address.wrapping_sub(self.found.start);
        (offset < self.words).then_some(offset as usize)
    }

    /// Does as [`RemoteRegion::find`], for a word of 8 bytes at an address that is aligned to it,
    /// if that is.
    #[inline(always)]
    pub(crate) fn find_aligned_word(&self, address: u64, rights: Rights) -> Option<usize> {
        // Before the state, which is then compared where it lies.
        if !address.is_multiple_of(size_of::<u64>() as u64) {
            return None;
        }
        if !self.gives(rights) {
            return None;
        }
        let offset = address.wrapping_sub(self.found.start);
        (offset < self.aligned_words).then_some(offset as usize)
    }

    /// Does as [`RemoteRegion::find`]; returns the reason why there is none otherwise.
    ///
    /// # Errors
    /// As [`super::Endpoint::write`].
    #[inline(always)]
    pub(crate) fn reach(&self, address: u64, len: usize, rights: Rights) -> Result<usize, Error> {
        let offset = self.find(address, len, rights);
        offset.ok_or_else(|| self.refusal(rights))
    }

    /// Returns the reason why accesses of this kind are refused.
    #[cold]
    pub(crate) fn refusal(&self, rights: Rights) -> Error {
        let state = self.state();
        if !self.link.is_alive() {
            Error::PeerGone
        } else if !self.found.state.is(state) {
            Error::NoSuchKey
        } else if !self.found.state.allows(rights) {
            Error::NotAllowed
        } else {
            Error::OutOfRange
        }
    }
}
