//! The state of a call, which threads share: the model checker runs it, too (calls/models).

use super::nested;
use crate::sync::{AtomicU8, Mutex, Ordering, lock};
use std::task::Waker;

/// The arguments were sent.
pub(crate) const SENT: u8 = 1;
/// The result is there, or the call has failed.
pub(crate) const ENDED: u8 = 2;

/// The panic of a function that wants a result which is gone.
pub(super) const TAKEN: &str = "a poll of the call has returned its result already";

/// The end of a call, as the thread that polls and the one that waits share it. `T` is its result,
/// or its error.
pub(crate) struct State<T> {
    bits: AtomicU8,
    rest: Mutex<Rest<T>>,
}

struct Rest<T> {
    result: Option<T>,
    then: Option<Then<T>>,
    wakers: [Option<Waker>; 2],
}

type Then<T> = Box<dyn FnOnce(T) + Send>;

impl<T> State<T> {
    pub(crate) fn new() -> Self {
        Self {
            bits: AtomicU8::new(0),
            rest: Mutex::new(Rest {
                result: None,
                then: None,
                wakers: [None, None],
            }),
        }
    }

    /// Returns whether the call has come so far.
    #[inline]
    pub(crate) fn is(&self, bit: u8) -> bool {
        // ORDERING: pairs with the release addition in `reach`.
        self.bits.load(Ordering::Acquire) & bit != 0
    }

    /// Notes that the arguments were sent, where nobody else has the call.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn sent_alone(&self) {
        // ORDERING: nobody else has the call.
        self.bits.store(SENT, Ordering::Relaxed);
    }

    /// Notes that the call has come so far, and wakes those who wait for it. Calls the function
    /// that was left for the result.
    pub(crate) fn reach(&self, bit: u8, result: Option<T>) {
        let mut rest = lock(&self.rest);
        if result.is_some() {
            rest.result = result;
        }
        // ORDERING: behind the result, and before anybody is woken; pairs with the load in `is`.
        self.bits.fetch_or(bit, Ordering::Release);
        let waker = rest.wakers[usize::from(bit == ENDED)].take();
        let then = if bit == ENDED { rest.then.take() } else { None };
        let result = then.as_ref().and_then(|_| rest.result.take());
        drop(rest);
        if let Some(waker) = waker {
            waker.wake();
        }
        if let (Some(then), Some(result)) = (then, result) {
            nested(|| then(result));
        }
    }

    /// Returns whether the call has come so far; if not, `waker` is woken when it has.
    pub(crate) fn poll(&self, bit: u8, waker: &Waker) -> bool {
        if self.is(bit) {
            return true;
        }
        let mut rest = lock(&self.rest);
        // Once more: nobody looks at the waker behind the addition.
        if self.is(bit) {
            return true;
        }
        rest.wakers[usize::from(bit == ENDED)] = Some(waker.clone());
        false
    }

    /// Has `then` called with the result: now, if that is there.
    ///
    /// # Panics
    /// If the result was taken.
    pub(crate) fn leave(&self, then: Then<T>) {
        let mut rest = lock(&self.rest);
        match rest.result.take() {
            None => {
                assert!(!self.is(ENDED), "{TAKEN}");
                rest.then = Some(then);
            }
            Some(result) => {
                drop(rest);
                nested(|| then(result));
            }
        }
    }

    /// Takes the result, behind the end, where nobody else has the call any more.
    #[cfg(not(loom))]
    pub(crate) fn take_alone(&mut self) -> Option<T> {
        let rest = self.rest.get_mut();
        let rest = rest.unwrap_or_else(std::sync::PoisonError::into_inner);
        rest.result.take()
    }

    /// Takes the result, behind the end.
    pub(crate) fn take(&self) -> Option<T> {
        lock(&self.rest).result.take()
    }
}
