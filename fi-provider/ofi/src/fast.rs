//! Short posts in the common case: nobody has the lock, and nothing is to be waited for.
//!
//! They are in line at the place of the call. Each has done nothing where it returns false; the
//! function of [`Port`](crate::Port) of the same name without `try` does the work then. A post that
//! fails, once the operation has begun, is a failure of the lane.

use crate::form::Form;
use crate::lane::Lane;
use crate::operation::{Kind, Operation};
use crate::port::{Elements, Shared};
use crate::transfer::{Place, element, is_element};
use fi_ofi_abi::*;
use fi_shm::amo::Amo;

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

impl Lane {
    /// As [`Port::write`](crate::Port::write), of as few bytes as the call takes over, at least one.
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

    /// As [`Lane::try_write`], of 8 bytes.
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

    /// As [`Lane::try_write`], and a single element of 4 or 8 bytes is seen whole.
    ///
    /// # Safety
    /// As [`Lane::try_write`].
    #[inline(always)]
    pub unsafe fn try_write_whole(&self, to: Place, source: *const u8, bytes: usize) -> bool {
        // SAFETY: the port is open; `source` holds the bytes.
        unsafe {
            if is_element(to.address, bytes) {
                match self.shared().facts.elements {
                    Elements::Swapped => {
                        return self.try_swap(|| to, || element(source, bytes), bytes);
                    }
                    Elements::Waited => return false,
                    Elements::Written => {}
                }
            }
            self.try_write(to, source, bytes)
        }
    }

    /// As [`Lane::try_write_whole`], of the first `bytes` bytes of a word, 1, 2, 4 or 8, in a place
    /// that is a multiple of them.
    ///
    /// # Safety
    /// The lane's port is open.
    #[inline(always)]
    pub unsafe fn try_write_element(
        &self,
        to: impl FnOnce() -> Place,
        word: u64,
        bytes: usize,
    ) -> bool {
        // SAFETY: the port is open; the word has the bytes.
        unsafe {
            if bytes >= size_of::<u32>() {
                let elements = self.shared().facts.elements;
                if elements == Elements::Swapped {
                    return self.try_swap(to, || word, bytes);
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

    /// Has a peer's processor write an element of 4 or 8 bytes, the first of a word. One that is not in
    /// a place that is a multiple of its bytes may be seen half written.
    ///
    /// # Safety
    /// The lane's port is open, and keeps the order of messages.
    #[inline(always)]
    pub unsafe fn try_swap(
        &self,
        to: impl FnOnce() -> Place,
        value: impl FnOnce() -> u64,
        bytes: usize,
    ) -> bool {
        // SAFETY: the port is open; `try_begin` takes its lock; the operation is this function's,
        // and the peer one of the port's.
        unsafe {
            let shared = self.shared();
            let Some(operation) = self.try_begin(shared) else {
                return false;
            };
            self.begin(Kind::Swap);
            (*operation).swap.fill(value(), to(), bytes);
            (*shared.forms.get()).sent = operation;
            shared.send_short(Short::Swap, &raw const (*operation).swap.call);
        }
        true
    }

    /// As [`Port::update`](crate::Port::update).
    ///
    /// # Safety
    /// The lane's port is open.
    #[inline(always)]
    pub unsafe fn try_update(&self, place: Place, bytes: usize, amo: Amo) -> bool {
        // SAFETY: the port is open; `try_begin` takes the lock; the operation is this function's.
        unsafe {
            let shared = self.shared();
            if !shared.facts.is_ordered {
                return false;
            }
            let Some(operation) = self.try_begin(shared) else {
                return false;
            };
            self.begin(Kind::Atomic);
            (*operation).set_kind(Kind::Atomic);
            (*operation).set_peer(place.peer);
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

    /// [`Port::quiet`](crate::Port::quiet) where at most one look is enough, and the lane is as most
    /// are; false otherwise.
    ///
    /// # Safety
    /// The lane's port is open.
    #[inline(always)]
    pub unsafe fn try_quiet(&self) -> bool {
        // SAFETY: the port is open.
        let shared = unsafe { self.shared() };
        let mut state = shared.state.lock();
        if !self.is_idle() {
            shared.look(&mut state);
        }
        self.is_idle() && self.is_plain()
    }
}

impl Shared {
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
    /// The arguments of a write.
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

    /// The arguments of a send.
    ///
    /// # Safety
    /// As [`Short::transfer`].
    #[inline(always)]
    unsafe fn message(self, form: *mut Form) -> *const FiMsg {
        // SAFETY: the structs are there.
        unsafe {
            match self {
                Self::Swap => &raw const (*(*form).sent).swap.call,
                _ => &raw const (*form).message.call,
            }
        }
    }
}
