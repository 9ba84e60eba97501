//! Writes, reads and atomic operations, and their order.

use crate::error::Failure;
use crate::lane::Lane;
use crate::operation::{Kind, Notice, Operation};
use crate::pieces::PIECE;
use crate::port::{Port, State};
use fi_ofi_abi::*;
use fi_shm::amo::Amo;
use fi_shm::lock::Guard;
use std::ffi::c_void;

/// Memory of a peer.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The peer's number.
    pub peer: u32,
    /// The address, as the peer's provider takes it.
    pub address: u64,
    /// The key.
    pub key: u64,
}

impl Place {
    fn further(self, bytes: usize) -> Self {
        Self {
            address: self.address.wrapping_add(bytes as u64),
            ..self
        }
    }
}

/// Time for which the source of a write stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Until the call returns.
    ForTheCall,
    /// Until quiet.
    UntilQuiet,
}

/// Number of times that a call posts an operation that finds no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tries {
    /// Once.
    Once,
    /// Until there is room.
    UntilSent,
}

/// Own memory of a transfer.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
    pub(crate) descriptor: *mut c_void,
}

impl Port {
    /// Writes to a peer's memory; the bytes are there after [`Port::quiet`].
    ///
    /// # Errors
    /// The first failure on the lane.
    ///
    /// # Safety
    /// `source` holds the bytes and stays as it is as long as `kept` says; the lane stays until its
    /// operations have ended.
    #[cold]
    #[inline(never)]
    pub unsafe fn write(
        &self,
        lane: &Lane,
        to: Place,
        source: *const u8,
        bytes: usize,
        kept: Kept,
    ) -> Result<(), Failure> {
        if self.facts().is_stream && kept == Kept::ForTheCall && is_element(to.address, bytes) {
            // SAFETY: `source` holds the bytes.
            let value = unsafe { element(source, bytes) };
            return self.update(lane, to, bytes, Amo::Swap(value));
        }
        let mut state = self.in_order(lane);
        if bytes <= self.facts().inject {
            let local = Local {
                start: source.cast_mut(),
                len: bytes,
                descriptor: std::ptr::null_mut(),
            };
            let operation = state.begin(Kind::Plain, lane, to.peer);
            // SAFETY: `source` holds the bytes, which the call takes over.
            return unsafe { self.post_write(&mut state, operation, to, local, FI_INJECT) };
        }
        drop(state);
        // SAFETY: `source` holds the bytes and stays as it is as long as `kept` says.
        unsafe { self.write_long(lane, to, source, bytes, kept) }
    }

    /// # Safety
    /// As [`Port::write`].
    #[cold]
    #[inline(never)]
    unsafe fn write_long(
        &self,
        lane: &Lane,
        to: Place,
        source: *const u8,
        bytes: usize,
        kept: Kept,
    ) -> Result<(), Failure> {
        let mut state = self.lock();
        let descriptor = self.descriptor(&state, source.addr(), bytes);
        let by_pieces = kept == Kept::ForTheCall && bytes <= PIECE;
        let Some(descriptor) = descriptor.filter(|_| !by_pieces) else {
            for (at, len) in parts(bytes, PIECE) {
                let piece;
                (state, piece) = self.claim_piece(state);
                let start = state.pieces.at(piece);
                // SAFETY: `source` holds the bytes; the piece has room and is nobody else's.
                unsafe { std::ptr::copy_nonoverlapping(source.add(at), start, len) };
                let local = Local {
                    start,
                    len,
                    descriptor: state.pieces.descriptor(),
                };
                let operation = state.begin(Kind::Write, lane, to.peer);
                // SAFETY: the operation is this function's; the piece stays as it is until it is
                // given back.
                unsafe {
                    (*operation).piece = Some(piece);
                    self.post_write(&mut state, operation, to.further(at), local, 0)?;
                }
            }
            return Ok(());
        };
        let notice = Notice::new();
        for (at, len) in parts(bytes, self.facts().longest) {
            let local = Local {
                start: source.wrapping_add(at).cast_mut(),
                len,
                descriptor,
            };
            let operation = state.begin(Kind::Write, lane, to.peer);
            // SAFETY: the operation is this function's; the source stays as it is until the
            // notice, or quiet.
            let posted = unsafe {
                if kept == Kept::ForTheCall {
                    (*operation).notice = &raw const notice;
                    notice.left.set(notice.left.get() + 1);
                }
                self.post_write(&mut state, operation, to.further(at), local, 0)
            };
            if posted.is_err() {
                break;
            }
        }
        let _state = match kept {
            Kept::ForTheCall => self.wait(state, || notice.left.get() == 0),
            Kept::UntilQuiet => state,
        };
        lane.check()
    }

    /// Reads a peer's memory; the bytes are there when the call returns, or after quiet where it
    /// need not `wait`.
    ///
    /// # Errors
    /// The first failure on the lane.
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses it until they are there; the lane stays
    /// until its operations have ended.
    #[inline(always)]
    pub unsafe fn read(
        &self,
        lane: &Lane,
        from: Place,
        dest: *mut u8,
        bytes: usize,
        wait: bool,
    ) -> Result<(), Failure> {
        if self.facts().registers_local || bytes > self.facts().longest {
            // SAFETY: there is room for the bytes until they are there.
            return unsafe { self.read_long(lane, from, dest, bytes, wait) };
        }
        let mut state = self.lock();
        lane.check()?;
        let local = Local {
            start: dest,
            len: bytes,
            descriptor: std::ptr::null_mut(),
        };
        let operation = state.begin(Kind::Read, lane, from.peer);
        if !wait {
            // SAFETY: the operation is this function's; there is room for the bytes until quiet.
            return unsafe { self.post_read(&mut state, operation, from, local) };
        }
        let notice = Notice::new();
        notice.left.set(1);
        // SAFETY: the operation is this function's; there is room for the bytes until the notice. A
        // failure is told by that.
        let _ = unsafe {
            (*operation).notice = &raw const notice;
            self.post_read(&mut state, operation, from, local)
        };
        let _state = self.wait(state, || notice.left.get() == 0);
        notice.result().map(drop)
    }

    /// Reads as [`Port::read`], by parts, or of memory that has to be registered.
    ///
    /// # Safety
    /// As [`Port::read`].
    #[cold]
    #[inline(never)]
    unsafe fn read_long(
        &self,
        lane: &Lane,
        from: Place,
        dest: *mut u8,
        bytes: usize,
        wait: bool,
    ) -> Result<(), Failure> {
        let mut state = self.lock();
        lane.check()?;
        let notice = Notice::new();
        let direct = self.descriptor(&state, dest.addr(), bytes);
        let most = direct.map_or(PIECE, |_| self.facts().longest);
        for (at, len) in parts(bytes, most) {
            let mut piece = None;
            if direct.is_none() {
                let claimed;
                (state, claimed) = self.claim_piece(state);
                piece = Some(claimed);
            }
            let local = Local {
                start: piece.map_or(dest.wrapping_add(at), |piece| state.pieces.at(piece)),
                len,
                descriptor: direct.unwrap_or_else(|| state.pieces.descriptor()),
            };
            let operation = state.begin(Kind::Read, lane, from.peer);
            // SAFETY: the operation is this function's; there is room for the bytes until the
            // notice, or quiet.
            let posted = unsafe {
                (*operation).piece = piece;
                (*operation).dest = dest.wrapping_add(at);
                (*operation).len = len;
                if wait {
                    (*operation).notice = &raw const notice;
                    notice.left.set(notice.left.get() + 1);
                }
                self.post_read(&mut state, operation, from.further(at), local)
            };
            if posted.is_err() {
                break;
            }
        }
        if wait {
            let _state = self.wait(state, || notice.left.get() == 0);
            return notice.result().map(drop);
        }
        lane.check()
    }

    /// Has a peer's processor do an atomic operation on the object of `bytes` bytes (4 or 8) at
    /// `place`, which is done after quiet.
    ///
    /// # Errors
    /// The first failure on the lane.
    #[cold]
    #[inline(never)]
    pub fn update(&self, lane: &Lane, place: Place, bytes: usize, amo: Amo) -> Result<(), Failure> {
        let mut state = self.behind_writes(lane)?;
        let is_gathered = lane.is_gathering();
        if self.facts().is_ordered {
            lane.gather();
        }
        let gather = is_gathered
            .then(|| lane.gather_for(&mut state.operations, place.peer))
            .flatten();
        let operation = gather.unwrap_or_else(|| state.begin(Kind::Atomic, lane, place.peer));
        self.ask(&mut state, operation, place, bytes, amo)
    }

    /// Updates as [`Port::update`], and asks the peer for an answer of its own: for words between
    /// which there is always a quiet, or a wait for the peer's.
    ///
    /// # Errors
    /// As [`Port::update`].
    pub fn update_answered(
        &self,
        lane: &Lane,
        place: Place,
        bytes: usize,
        amo: Amo,
    ) -> Result<(), Failure> {
        let mut state = self.behind_writes(lane)?;
        let operation = state.begin(Kind::Atomic, lane, place.peer);
        self.ask(&mut state, operation, place, bytes, amo)
    }

    /// Updates as [`Port::update`]; returns the value that was there.
    ///
    /// # Errors
    /// As [`Port::update`].
    pub fn fetch(&self, lane: &Lane, place: Place, bytes: usize, amo: Amo) -> Result<u64, Failure> {
        let notice = Notice::new();
        let mut state = self.behind_writes(lane)?;
        let operation = state.begin(Kind::Atomic, lane, place.peer);
        // SAFETY: the operation is this function's.
        unsafe { (*operation).notice = &raw const notice };
        notice.left.set(1);
        // A failure is told by the notice.
        let _ = self.ask(&mut state, operation, place, bytes, amo);
        let _state = self.wait(state, || notice.left.get() == 0);
        notice.result()
    }

    /// Updates as [`Port::update`]; the value that was there is at `dest` after quiet.
    ///
    /// # Errors
    /// As [`Port::update`].
    ///
    /// # Safety
    /// `dest` has room for the bytes, and nobody else uses it until quiet; the lane stays until its
    /// operations have ended.
    pub unsafe fn start_fetch(
        &self,
        lane: &Lane,
        place: Place,
        bytes: usize,
        amo: Amo,
        dest: *mut u8,
    ) -> Result<(), Failure> {
        let mut state = self.behind_writes(lane)?;
        let operation = state.begin(Kind::Atomic, lane, place.peer);
        // SAFETY: the operation is this function's.
        unsafe {
            (*operation).dest = dest;
            (*operation).len = bytes;
        }
        self.ask(&mut state, operation, place, bytes, amo)
    }

    /// Orders operations on the lane to each peer before later ones to the same peer. Waits for
    /// nothing where the provider keeps the order; a later write waits for atomic operations, which
    /// a processor executes at its own time.
    ///
    /// # Errors
    /// The first failure on the lane.
    pub fn fence(&self, lane: &Lane) -> Result<(), Failure> {
        let mut state = self.lock();
        lane.check()?;
        if self.facts().is_ordered {
            self.probe(&mut state, lane, Tries::UntilSent);
            lane.set_fenced(lane.has_atomics());
            lane.gather_no_more();
            return Ok(());
        }
        drop(state);
        self.quiet(lane)
    }

    /// Waits until every operation of the lane is done at its target.
    ///
    /// # Errors
    /// The first failure on the lane.
    #[inline(always)]
    pub fn quiet(&self, lane: &Lane) -> Result<(), Failure> {
        let mut state = self.lock();
        if !lane.is_idle() {
            state = self.wait_for(state, lane, || lane.is_idle());
        }
        lane.set_fenced(false);
        lane.gather_no_more();
        drop(state);
        lane.check()
    }

    /// Returns whether nothing is under way on the lane, after one look at the completion queue.
    pub fn is_quiet(&self, lane: &Lane) -> bool {
        let mut state = self.lock();
        self.probe(&mut state, lane, Tries::Once);
        self.shared().look(&mut state);
        lane.is_idle() && lane.failure.get().is_none()
    }

    /// Takes the lock for a write, which comes behind the atomic operations before the last fence.
    #[inline(always)]
    fn in_order(&self, lane: &Lane) -> Guard<'_, State> {
        let state = self.lock();
        if !lane.is_fenced.get() {
            return state;
        }
        let state = self.wait_for(state, lane, || !lane.has_atomics());
        lane.set_fenced(false);
        state
    }

    /// Looks at the completion queue until `is_over`, which answers of peers lead to: those that are
    /// behind are sent probes.
    fn wait_for<'a>(
        &'a self,
        mut state: Guard<'a, State>,
        lane: &Lane,
        is_over: impl Fn() -> bool,
    ) -> Guard<'a, State> {
        loop {
            self.probe(&mut state, lane, Tries::UntilSent);
            state = self.wait(state, || is_over() || lane.is_behind());
            if is_over() {
                return state;
            }
        }
    }

    /// Takes the lock for an atomic operation, which comes behind all writes before it.
    #[inline(always)]
    fn behind_writes(&self, lane: &Lane) -> Result<Guard<'_, State>, Failure> {
        let mut state = self.lock();
        if !self.facts().is_ordered && lane.writes() > 0 {
            state = self.wait(state, || lane.writes() == 0);
        }
        lane.check()?;
        Ok(state)
    }

    /// Returns the descriptor of own memory; none where it has to go by a piece.
    #[inline]
    fn descriptor(&self, state: &State, addr: usize, bytes: usize) -> Option<*mut c_void> {
        match state.own.descriptor(addr, bytes) {
            None if !self.facts().registers_local => Some(std::ptr::null_mut()),
            found => found,
        }
    }

    /// Waits for a piece.
    fn claim_piece<'a>(&'a self, mut state: Guard<'a, State>) -> (Guard<'a, State>, usize) {
        loop {
            if let Some(piece) = state.pieces.take() {
                return (state, piece);
            }
            drop(state);
            std::thread::yield_now();
            state = self.lock();
            self.shared().look(&mut state);
        }
    }

    /// # Safety
    /// The operation is the caller's. `local` holds the bytes until the operation ends, or for the
    /// call with FI_INJECT.
    #[inline(always)]
    unsafe fn post_write(
        &self,
        state: &mut State,
        operation: *mut Operation,
        to: Place,
        local: Local,
        flags: u64,
    ) -> Result<(), Failure> {
        let flags = flags | FI_DELIVERY_COMPLETE | FI_COMPLETION;
        // SAFETY: the endpoint is open and the message whole; `local` holds the bytes.
        let post = |ep: *mut FidEp, message| unsafe { ((*(*ep).rma).writemsg)(ep, message, flags) };
        // SAFETY: the operation is the caller's.
        unsafe { self.post_rma(state, operation, to, local, post) }
    }

    /// # Safety
    /// The operation is the caller's, and `local` has room for the bytes until it ends.
    unsafe fn post_read(
        &self,
        state: &mut State,
        operation: *mut Operation,
        from: Place,
        local: Local,
    ) -> Result<(), Failure> {
        let flags = FI_COMPLETION;
        // SAFETY: the endpoint is open and the message whole; `local` has room for the bytes.
        let post = |ep: *mut FidEp, message| unsafe { ((*(*ep).rma).readmsg)(ep, message, flags) };
        // SAFETY: the operation is the caller's.
        unsafe { self.post_rma(state, operation, from, local, post) }
    }

    /// Posts a transfer between own memory and a peer's, again and again where there is no room.
    ///
    /// # Safety
    /// The operation is the caller's.
    #[inline(always)]
    unsafe fn post_rma(
        &self,
        state: &mut State,
        operation: *mut Operation,
        place: Place,
        local: Local,
        post: impl Fn(*mut FidEp, *const FiMsgRma) -> isize,
    ) -> Result<(), Failure> {
        let peer = state.peers[place.peer as usize].address;
        // SAFETY: this thread has the lock, which guards the structs.
        let form = unsafe { &mut *self.shared().forms.get() };
        let message = form.transfer(local, place, peer, operation);
        let ep = state.objects.ep;
        let posted = post(ep, message);
        if posted == 0 {
            return Ok(());
        }
        let posted = self.shared().try_again(state, posted, || post(ep, message));
        // SAFETY: the operation is the caller's.
        unsafe { state.begun(operation, posted) }
    }

    /// Sends the request for an atomic operation.
    fn ask(
        &self,
        state: &mut State,
        operation: *mut Operation,
        place: Place,
        bytes: usize,
        amo: Amo,
    ) -> Result<(), Failure> {
        // SAFETY: this thread has the lock; the operation is the caller's, the peer the port's.
        let message = unsafe {
            let message = self.shared().request(operation, place, bytes, amo);
            (*message).addr = state.peers[place.peer as usize].address;
            message.cast_const()
        };
        let ep = state.objects.ep;
        // SAFETY: the endpoint is open, the message whole, and its bytes are taken over.
        let send = || unsafe { ((*(*ep).msg).sendmsg)(ep, message, FI_INJECT) };
        let posted = self.shared().try_again(state, send(), send);
        // SAFETY: the operation is the caller's.
        unsafe { state.begun(operation, posted) }
    }
}

impl State {
    /// Returns a new operation of the lane.
    #[inline]
    pub(crate) fn begin(&mut self, kind: Kind, lane: &Lane, peer: u32) -> *mut Operation {
        if self.is_numbered {
            lane.set_numbered();
        }
        let operation = self.operations.take_for(lane);
        // SAFETY: the operation was free, and is the caller's now.
        let one = unsafe { &mut *operation };
        one.set_kind(kind);
        one.set_peer(peer);
        lane.begin(kind);
        operation
    }

    /// Ends an operation that was not posted.
    ///
    /// # Safety
    /// The operation is of a lane; where it was not posted, nobody else uses it.
    #[cold]
    pub(crate) unsafe fn begun(
        &mut self,
        operation: *mut Operation,
        posted: isize,
    ) -> Result<(), Failure> {
        if posted == 0 {
            return Ok(());
        }
        // SAFETY: the operation was not posted.
        unsafe {
            let failure = Failure {
                errno: -posted as i32,
                operation: (*operation).kind().name(),
            };
            self.finish(operation, Some(failure));
            Err(failure)
        }
    }
}

/// Returns whether it is an element of 4 or 8 bytes, aligned: such a one has to be seen whole, as
/// others wait for it. Over a stream of bytes its target's processor writes it.
#[inline]
pub(crate) fn is_element(address: u64, bytes: usize) -> bool {
    matches!(bytes, 4 | 8) && address & (bytes as u64 - 1) == 0
}

/// Returns the value of an element of 4 or 8 bytes.
///
/// # Safety
/// `source` holds the bytes.
#[inline]
pub(crate) unsafe fn element(source: *const u8, bytes: usize) -> u64 {
    // SAFETY: `source` holds the bytes.
    unsafe {
        match bytes {
            4 => source.cast::<u32>().read_unaligned().into(),
            _ => source.cast::<u64>().read_unaligned(),
        }
    }
}

/// Returns the offsets and lengths of parts of at most `most` bytes; one of no bytes where there
/// are none.
fn parts(bytes: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes)
        .step_by(most)
        .map(move |at| (at, most.min(bytes - at)))
}
