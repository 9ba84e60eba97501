//! Short posts in the common case: nobody has the lock, and nothing is to be waited for.
//!
//! They are in line at the place of the call. Each has done nothing where it returns false; the
//! function of [`Port`] of the same name without `try` does the work then. A post that fails, once the
//! operation has begun, is a failure of the lane.

use crate::lane::Lane;
use crate::operation::{Kind, Operation, context};
use crate::port::{Port, State};
use crate::transfer::{Local, Place, element, is_element};
use fi_ofi_abi::*;
use fi_shm::amo::Amo;
use parking_lot::MutexGuard;

/// The flags of a write that the call takes over.
const WRITE: u64 = FI_INJECT | FI_DELIVERY_COMPLETE | FI_COMPLETION;

impl Port {
    /// As [`Port::write`], of as few bytes as the call takes over.
    ///
    /// # Safety
    /// As [`Port::write`].
    #[inline(always)]
    pub unsafe fn try_write(
        &self,
        lane: &Lane,
        to: Place,
        source: *const u8,
        bytes: usize,
    ) -> bool {
        if bytes > self.facts().inject {
            return false;
        }
        let Some((mut state, operation)) = self.try_begin(lane, Kind::Write, to.peer) else {
            return false;
        };
        let local = Local {
            start: source.cast_mut(),
            len: bytes,
            descriptor: std::ptr::null_mut(),
        };
        let peer = state.peers[to.peer as usize].address;
        let message = state.forms.transfer(local, to, peer, context(operation));
        let ep = state.objects.ep;
        // SAFETY: the endpoint is open and the message whole; `source` holds the bytes.
        let posted = unsafe { ((*(*ep).rma).writemsg)(ep, message, WRITE) };
        if posted != 0 {
            // SAFETY: the operation is this function's, and the message is still its.
            unsafe { self.write_again(&mut state, operation, message, posted) };
        }
        true
    }

    /// As [`Port::try_write`], and a single element of 4 or 8 bytes is seen whole.
    ///
    /// # Safety
    /// As [`Port::write`].
    #[inline(always)]
    pub unsafe fn try_write_whole(
        &self,
        lane: &Lane,
        to: Place,
        source: *const u8,
        bytes: usize,
    ) -> bool {
        // SAFETY: `source` holds the bytes.
        unsafe {
            if self.facts().is_stream && is_element(to.address, bytes) {
                return self.try_update(lane, to, bytes, Amo::Swap(element(source, bytes)));
            }
            self.try_write(lane, to, source, bytes)
        }
    }

    /// As [`Port::try_write_whole`], of the first `bytes` bytes of a word, 1, 2, 4 or 8.
    #[inline(always)]
    pub fn try_write_word(&self, lane: &Lane, to: Place, word: u64, bytes: usize) -> bool {
        // SAFETY: the word has the bytes.
        unsafe { self.try_write_whole(lane, to, (&raw const word).cast(), bytes) }
    }

    /// As [`Port::update`].
    #[inline(always)]
    pub fn try_update(&self, lane: &Lane, place: Place, bytes: usize, amo: Amo) -> bool {
        if !self.facts().is_ordered {
            return false;
        }
        let Some((mut state, operation)) = self.try_begin(lane, Kind::Atomic, place.peer) else {
            return false;
        };
        let message = state.request(operation, place, bytes, amo);
        let ep = state.objects.ep;
        // SAFETY: the endpoint is open, the message whole, and its bytes are taken over.
        let posted = unsafe { ((*(*ep).msg).sendmsg)(ep, message, FI_INJECT) };
        if posted != 0 {
            // SAFETY: the operation is this function's, and the message is still its.
            unsafe { self.ask_again(&mut state, operation, message, posted) };
        }
        true
    }

    /// Takes the lock and an operation where both are there at once, and the lane is as most are:
    /// without a failure, and without atomic operations that a write has to wait for.
    #[inline(always)]
    fn try_begin(
        &self,
        lane: &Lane,
        kind: Kind,
        peer: u32,
    ) -> Option<(MutexGuard<'_, State>, *mut Operation)> {
        let mut state = self.shared().state.try_lock()?;
        let is_plain = lane.is_plain.get() && state.operations.has_free();
        is_plain.then(|| {
            let operation = state.begin(kind, lane, peer);
            (state, operation)
        })
    }

    /// # Safety
    /// The operation is the caller's, and the message was made last.
    #[cold]
    #[inline(never)]
    unsafe fn write_again(
        &self,
        state: &mut State,
        operation: *mut Operation,
        message: *const FiMsgRma,
        posted: isize,
    ) {
        let ep = state.objects.ep;
        // SAFETY: the endpoint is open and the message whole.
        let post = || unsafe { ((*(*ep).rma).writemsg)(ep, message, WRITE) };
        let posted = self.try_again(state, posted, post);
        // SAFETY: the operation is the caller's.
        let _ = unsafe { state.begun(operation, posted) };
    }

    /// # Safety
    /// As [`Port::write_again`].
    #[cold]
    #[inline(never)]
    unsafe fn ask_again(
        &self,
        state: &mut State,
        operation: *mut Operation,
        message: *const FiMsg,
        posted: isize,
    ) {
        let ep = state.objects.ep;
        // SAFETY: the endpoint is open and the message whole.
        let post = || unsafe { ((*(*ep).msg).sendmsg)(ep, message, FI_INJECT) };
        let posted = self.try_again(state, posted, post);
        // SAFETY: the operation is the caller's.
        let _ = unsafe { state.begun(operation, posted) };
    }
}
