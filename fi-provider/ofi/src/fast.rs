//! Short posts in the common case: nobody has the lock, and nothing is to be waited for.
//!
//! They are in line at the place of the call. Each has done nothing where it returns false; the
//! function of [`Port`](crate::Port) of the same name without `try` does the work then. A post that
//! fails, once the operation has begun, is a failure of the lane.

use crate::form::{Form, Swap};
use crate::gather::Name;
use crate::lane::{Lane, NOTHING, ONE_WRITE, SILENT};
use crate::operation::{Kind, Operation};
use crate::port::{Elements, Shared, State};
use crate::transfer::{Place, element, is_element};
use fi_ofi_abi::*;
use fi_shm::amo::Amo;
use fi_shm::lock::Guard;

/// The flags of a write that the call takes over.
const WRITE: u64 = FI_INJECT | FI_DELIVERY_COMPLETE | FI_COMPLETION;

/// The structs of a short post.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Short {
    Word,
    Any,
    Swap,
    Message,
}

/// The result of a look of quiet.
#[derive(Clone, Copy, Debug)]
enum Looked {
    /// Nothing is under way, and the lock is given back.
    Quiet,
    /// As `Quiet`, on a lane that threads share.
    QuietAndShared,
    /// There is more to do; the lock is still this thread's.
    More,
}

impl Lane {
    /// Writes as [`Port::write`](crate::Port::write), as few bytes as the call takes over, at least
    /// one.
    ///
    /// # Safety
    /// As [`Port::write`](crate::Port::write); the lane's port is open.
    #[inline(always)]
    pub unsafe fn try_write(&self, to: Place, source: *const u8, bytes: usize) -> bool {
        // SAFETY: the port is open; the structs are guarded by its lock, which `try_begin` takes;
        // `source` holds the bytes.
        unsafe {
            let shared = self.shared();
            if bytes > shared.facts.inject {
                return false;
            }
            let Some(operation) = self.try_begin(shared) else {
                return false;
            };
            self.begin(Kind::Plain);
            let short = &mut (*shared.forms.get()).short;
            short.fill(source.cast_mut(), bytes, to, to.peer.into(), operation);
            shared.post_short(Short::Any);
        }
        true
    }

    /// Writes as [`Lane::try_write`], 8 bytes.
    ///
    /// # Safety
    /// As [`Lane::try_write`].
    #[inline(always)]
    pub unsafe fn try_write_word(&self, to: impl FnOnce() -> Place, source: *const u8) -> bool {
        // SAFETY: the port is open; the structs are guarded by its lock, which `try_begin` takes;
        // `source` holds the bytes.
        unsafe {
            let shared = self.shared();
            let Some(operation) = self.try_begin(shared) else {
                return false;
            };
            self.begin(Kind::Plain);
            let to = to();
            let word = &mut (*shared.forms.get()).word;
            word.fill_word(source.cast_mut(), to, to.peer.into(), operation);
            shared.post_short(Short::Word);
        }
        true
    }

    /// Writes as [`Lane::try_write`]; a single element of 4 or 8 bytes is seen whole.
    ///
    /// # Safety
    /// As [`Lane::try_write`].
    #[inline(always)]
    pub unsafe fn try_write_whole(
        &self,
        to: Place,
        source: *const u8,
        bytes: usize,
        name: Name,
    ) -> bool {
        // SAFETY: the port is open; `source` holds the bytes.
        unsafe {
            if is_element(to.address, bytes) {
                match self.shared().facts.elements {
                    Elements::Swapped => {
                        return self.try_swap(|| to, || element(source, bytes), bytes, name);
                    }
                    Elements::Waited => return false,
                    Elements::Written => {}
                }
            }
            self.try_write(to, source, bytes)
        }
    }

    /// Writes as [`Lane::try_write_whole`] the first `bytes` bytes of a word, 1, 2, 4 or 8, in a
    /// place that is a multiple of them.
    ///
    /// # Safety
    /// The lane's port is open.
    #[inline(always)]
    pub unsafe fn try_write_element(
        &self,
        to: impl FnOnce() -> Place,
        word: u64,
        bytes: usize,
        name: Name,
    ) -> bool {
        // SAFETY: the port is open; the word has the bytes.
        unsafe {
            if bytes >= size_of::<u32>() {
                let elements = self.shared().facts.elements;
                if elements == Elements::Swapped {
                    return self.try_swap(to, || word, bytes, name);
                }
                if elements != Elements::Written {
                    return false;
                }
            }
            self.try_write_held(to, word, bytes)
        }
    }

    /// Writes the first bytes of a word, which lies beside the structs for the call.
    ///
    /// # Safety
    /// As [`Lane::try_write_element`].
    #[inline(always)]
    unsafe fn try_write_held(&self, to: impl FnOnce() -> Place, word: u64, bytes: usize) -> bool {
        // SAFETY: the port is open; the structs are guarded by its lock, which `try_begin` takes; the
        // word has the bytes.
        unsafe {
            let shared = self.shared();
            if bytes > shared.facts.inject {
                return false;
            }
            let Some(operation) = self.try_begin(shared) else {
                return false;
            };
            self.begin(Kind::Plain);
            let (form, to) = (shared.forms.get(), to());
            (*form).held = word;
            let start = (&raw mut (*form).held).cast();
            let short = &mut (*form).short;
            short.fill(start, bytes, to, to.peer.into(), operation);
            shared.post_short(Short::Any);
        }
        true
    }

    /// Has a peer's processor write an element of 4 or 8 bytes, the first of a word, in the region of this
    /// name. One that is not in a place that is a multiple of its bytes may be seen half written.
    ///
    /// # Safety
    /// The lane's port is open, and keeps the order of messages.
    #[inline(always)]
    pub unsafe fn try_swap(
        &self,
        to: impl FnOnce() -> Place,
        value: impl FnOnce() -> u64,
        bytes: usize,
        name: Name,
    ) -> bool {
        // SAFETY: the port is open; the operation is this function's, and the peer one of the port's.
        unsafe {
            let shared = self.shared();
            if !shared.state.bare().try_take() {
                return false;
            }
            let to = to();
            let gather = self.gather_to(to.peer);
            let Some(operation) = gather.or_else(|| self.begin_first(shared, Kind::Swap)) else {
                return false;
            };
            let swap = &raw mut (*operation).swap;
            if gather.is_some() {
                self.name_last(name);
            } else {
                (*swap).fill_first(to.peer);
            }
            (*swap).fill(value(), to, bytes);
            shared.send_swap(swap);
        }
        true
    }

    /// Does as [`Lane::try_swap`], at an address in the region of this name, where the last request
    /// went there and no quiet came behind it: by few instructions.
    ///
    /// # Safety
    /// As [`Lane::try_swap`].
    #[inline(always)]
    pub unsafe fn swap_again(
        &self,
        name: Name,
        address: impl FnOnce() -> u64,
        value: impl FnOnce() -> u64,
        bytes: usize,
    ) -> bool {
        // SAFETY: the port is open; the gather is the lane's.
        unsafe {
            let shared = self.shared();
            if !shared.state.bare().try_take() {
                return false;
            }
            let Some(swap) = self.gather_again(name) else {
                shared.state.bare().give();
                return false;
            };
            (*swap).fill_again(value(), address(), bytes);
            shared.send_swap(swap);
        }
        true
    }

    /// Updates as [`Port::update`](crate::Port::update).
    ///
    /// # Safety
    /// The lane's port is open.
    #[inline(always)]
    pub unsafe fn try_update(&self, place: Place, bytes: usize, amo: Amo) -> bool {
        // SAFETY: the port is open; `try_begin` takes the lock; the operation is this function's.
        unsafe {
            let shared = self.shared();
            if !shared.facts.is_ordered || !shared.state.bare().try_take() {
                return false;
            }
            let gather = self.gather_to(place.peer);
            let Some(operation) = gather.or_else(|| self.begin_first(shared, Kind::Atomic)) else {
                return false;
            };
            if gather.is_none() {
                (*operation).set_kind(Kind::Atomic);
                (*operation).set_peer(place.peer);
            }
            let message = shared.request(operation, place, bytes, amo);
            shared.send_short(Short::Message, message);
        }
        true
    }

    /// Takes the lock and an operation where both are there at once, and the lane is as most are:
    /// without a failure, and without atomic operations that a write has to wait for. The lock is the
    /// caller's where there is an operation.
    ///
    /// # Safety
    /// The shared part is the lane's.
    #[inline(always)]
    unsafe fn try_begin(&self, shared: &Shared) -> Option<*mut Operation> {
        if !shared.state.bare().try_take() {
            return None;
        }
        // SAFETY: this thread has the lock.
        let operation = unsafe { self.take_ready() };
        if operation.is_null() {
            shared.state.bare().give();
            return None;
        }
        Some(operation)
    }

    /// Begins a request of which nobody awaits the result, and which asks for its answer, as later
    /// ones do not. Gives the lock back where another function has to do that.
    ///
    /// # Safety
    /// The shared part is the lane's, and this thread has its lock.
    unsafe fn begin_first(&self, shared: &Shared, kind: Kind) -> Option<*mut Operation> {
        let operation = if self.is_gathering() {
            std::ptr::null_mut()
        } else {
            // SAFETY: this thread has the lock.
            unsafe { self.take_ready() }
        };
        if operation.is_null() {
            shared.state.bare().give();
            return None;
        }
        self.gather();
        self.begin(kind);
        Some(operation)
    }

    /// Does [`Port::quiet`](crate::Port::quiet) on the lane that `find` gives, and a full fence,
    /// where at most one look is enough and the lane is as most are. Returns whether threads share
    /// the lane. Otherwise gives back the caller's word.
    ///
    /// In line are the instructions for one write, whose completion the look finds.
    ///
    /// # Errors
    /// The word.
    ///
    /// # Safety
    /// The lane's port is open; `find` gives the same lane whenever it is called.
    #[inline(always)]
    pub unsafe fn try_quiet<'a, W: Copy>(find: impl Fn() -> &'a Self, word: W) -> Result<bool, W> {
        const {
            assert!(size_of::<W>() <= size_of::<u64>() && align_of::<W>() <= align_of::<u64>());
        }
        // SAFETY: the port is open; the structs and the state are guarded by its lock, which is taken
        // first, and there is room for the word; the queue has written an entry where it says so.
        unsafe {
            let lane = find();
            let shared = lane.shared();
            if !shared.state.bare().try_take() {
                return Err(word);
            }
            shared.park(word);
            let looked = if lane.under_way() == ONE_WRITE {
                shared.note_look();
                let mut state = shared.state.taken();
                let read = state.batch.read_in_short();
                std::mem::forget(state);
                // Found again, they need no registers over the call.
                let lane = find();
                let shared = lane.shared();
                let mut state = shared.state.taken();
                if read == 1 && (*state.batch.first()).plain == &raw const *lane {
                    lane.end_one(state.batch.first());
                    state.give_fully();
                    return Ok(false);
                }
                lane.quiet_rest(state, read)
            } else {
                lane.quiet_any(shared)
            };
            match looked {
                Looked::Quiet => Ok(false),
                Looked::QuietAndShared => Ok(true),
                Looked::More => {
                    let shared = find().shared();
                    let word = shared.parked();
                    shared.state.bare().give();
                    Err(word)
                }
            }
        }
    }

    /// Goes on with [`Lane::try_quiet`] after a look, if one is needed, with any operations under
    /// way.
    ///
    /// # Safety
    /// The shared part is the lane's, and this thread has its lock.
    #[cold]
    #[inline(never)]
    unsafe fn quiet_any(&self, shared: &Shared) -> Looked {
        // SAFETY: this thread has the lock, and no guard.
        let state = unsafe { shared.state.taken() };
        if self.under_way() == NOTHING {
            state.give_fully();
            return Looked::Quiet;
        }
        self.quiet_many(shared, state)
    }

    /// Goes on with [`Lane::try_quiet`] where operations are under way, or the lane is not as most
    /// are.
    #[cold]
    #[inline(never)]
    fn quiet_many(&self, shared: &Shared, mut state: Guard<'_, State>) -> Looked {
        // Gathered answers wait for more than looks.
        if !self.is_idle() && self.others().get() & SILENT == 0 {
            shared.look(&mut state);
        }
        self.looked(state)
    }

    /// Goes on with [`Lane::try_quiet`] after a look that has found anything else than one plain
    /// write of this lane.
    ///
    /// # Safety
    /// The state is that of the lane's port, whose queue has written the entries that it has found.
    #[cold]
    #[inline(never)]
    unsafe fn quiet_rest(&self, mut state: Guard<'_, State>, read: isize) -> Looked {
        state.take(read);
        self.looked(state)
    }

    /// Gives the lock back where nothing is under way any more.
    fn looked(&self, state: Guard<'_, State>) -> Looked {
        if !self.is_idle() || !self.is_plain() {
            std::mem::forget(state);
            return Looked::More;
        }
        self.gather_no_more();
        state.give_fully();
        if self.is_shared() {
            Looked::QuietAndShared
        } else {
            Looked::Quiet
        }
    }
}

impl Shared {
    /// Keeps a word of at most 8 bytes beside the structs.
    ///
    /// # Safety
    /// This thread has the lock.
    #[inline(always)]
    unsafe fn park<W: Copy>(&self, word: W) {
        // SAFETY: the structs are guarded by the lock, and there is room for the word.
        unsafe {
            (&raw mut (*self.forms.get()).parked)
                .cast::<W>()
                .write(word)
        };
    }

    /// Returns the kept word.
    ///
    /// # Safety
    /// This thread has the lock, and such a word was kept since it took it.
    unsafe fn parked<W: Copy>(&self) -> W {
        // SAFETY: the structs are guarded by the lock, and they have such a word.
        unsafe { (&raw const (*self.forms.get()).parked).cast::<W>().read() }
    }

    /// Posts a write, and gives the lock back.
    ///
    /// # Safety
    /// This thread has the lock by [`Lane::try_begin`]; the structs are filled, the bytes are there,
    /// and the context is the operation.
    #[inline(always)]
    unsafe fn post_short(&self, short: Short) {
        let form = self.forms.get();
        // SAFETY: the endpoint is open and the message whole.
        let posted = unsafe { ((*form).writemsg)((*form).ep, short.transfer(form), WRITE) };
        if posted != 0 {
            // SAFETY: this thread has the lock, and the operation is this function's.
            return unsafe { self.post_again(short, posted) };
        }
        self.state.bare().give();
    }

    /// Sends the message of an operation, and gives the lock back.
    ///
    /// # Safety
    /// As [`Shared::post_short`]; the operation is the caller's.
    #[inline(always)]
    unsafe fn send_swap(&self, swap: *mut Swap) {
        // SAFETY: this thread has the lock, which guards the structs; the message is filled.
        unsafe {
            (*self.forms.get()).sent = swap;
            self.send_short(Short::Swap, &raw const (*swap).call);
        }
    }

    /// Sends a message, and gives the lock back.
    ///
    /// # Safety
    /// As [`Shared::post_short`].
    #[inline(always)]
    unsafe fn send_short(&self, short: Short, message: *const FiMsg) {
        let form = self.forms.get();
        // SAFETY: the endpoint is open, the message whole, and its bytes are taken over.
        let posted = unsafe { ((*form).sendmsg)((*form).ep, message, FI_INJECT) };
        if posted != 0 {
            // SAFETY: this thread has the lock, and the operation is this function's.
            return unsafe { self.send_again(short, posted) };
        }
        self.state.bare().give();
    }

    /// # Safety
    /// As [`Shared::post_short`], which has posted in vain.
    #[cold]
    #[inline(never)]
    unsafe fn post_again(&self, short: Short, posted: isize) {
        let form = self.forms.get();
        // SAFETY: this thread has the lock; the endpoint is open and the message whole; its context is
        // the operation, which is this function's.
        unsafe {
            let message = short.transfer(form);
            let mut state = self.state.taken();
            let post = || ((*form).writemsg)((*form).ep, message, WRITE);
            let posted = self.try_again(&mut state, posted, post);
            let _ = state.begun((*message).context.cast(), posted);
        }
    }

    /// # Safety
    /// As [`Shared::send_short`], which has sent in vain.
    #[cold]
    #[inline(never)]
    unsafe fn send_again(&self, short: Short, posted: isize) {
        let form = self.forms.get();
        // SAFETY: this thread has the lock; the endpoint is open and the message whole; its context is
        // the operation, which is this function's.
        unsafe {
            let message = short.message(form);
            let mut state = self.state.taken();
            let post = || ((*form).sendmsg)((*form).ep, message, FI_INJECT);
            let posted = self.try_again(&mut state, posted, post);
            let _ = state.begun((*message).context.cast(), posted);
        }
    }
}

impl Short {
    /// Returns the arguments of a write.
    ///
    /// # Safety
    /// This thread has the lock that guards the structs.
    #[inline(always)]
    unsafe fn transfer(self, form: *mut Form) -> *const FiMsgRma {
        // SAFETY: the structs are there.
        unsafe {
            match self {
                Self::Word => &raw const (*form).word.call,
                _ => &raw const (*form).short.call,
            }
        }
    }

    /// Returns the arguments of a send.
    ///
    /// # Safety
    /// As [`Short::transfer`].
    #[inline(always)]
    unsafe fn message(self, form: *mut Form) -> *const FiMsg {
        // SAFETY: the structs are there.
        unsafe {
            match self {
                Self::Swap => &raw const (*(*form).sent).call,
                _ => &raw const (*form).message.call,
            }
        }
    }
}

#[cfg(test)]
mod tests;
