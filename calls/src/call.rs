//! Calls that are under way.

use crate::archive::{Load, Loader};
use crate::calls::Calls;
use crate::error::Error;
use crate::run::{drop_panic, nested};
use crate::sync::{AtomicU8, Mutex, Ordering, lock};
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The arguments were sent.
pub(crate) const SENT: u8 = 1;
/// The result is there, or the call has failed.
pub(crate) const ENDED: u8 = 2;

/// The panic of a function that wants a result which is gone.
const TAKEN: &str = "a poll of the call has returned its result already";

/// The end of a call, as the thread that polls and the one that waits share it.
pub(crate) struct State<R> {
    bits: AtomicU8,
    rest: Mutex<Rest<R>>,
}

struct Rest<R> {
    result: Option<Result<R, Error>>,
    then: Option<Then<R>>,
    wakers: [Option<Waker>; 2],
}

type Then<R> = Box<dyn FnOnce(Result<R, Error>) + Send>;

/// Takes the end of a call, of whatever result.
pub(crate) trait Sink: Send + Sync {
    /// Loads the result.
    fn load(&self, source: u32, from: Loader<'_, '_>);
    /// The call has failed.
    fn fail(&self, error: Error);
    /// The arguments are the program's again.
    fn sent(&self);
    /// The same, before anybody has the call.
    fn sent_at_once(&self);
}

impl<R> State<R> {
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

    /// Whether the call has come so far.
    #[inline]
    pub(crate) fn is(&self, bit: u8) -> bool {
        // ORDERING: pairs with the release addition in `reach`.
        self.bits.load(Ordering::Acquire) & bit != 0
    }

    /// Notes that the call has come so far, and wakes those who wait for it. Calls the function that was
    /// left for the result.
    pub(crate) fn reach(&self, bit: u8, result: Option<Result<R, Error>>) {
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

    /// Whether the call has come so far; if not, `waker` is woken when it has.
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
    pub(crate) fn leave(&self, then: Then<R>) {
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
    fn take_alone(&mut self) -> Option<Result<R, Error>> {
        let rest = self.rest.get_mut();
        let rest = rest.unwrap_or_else(std::sync::PoisonError::into_inner);
        rest.result.take()
    }

    /// Takes the result, behind the end.
    pub(crate) fn take(&self) -> Option<Result<R, Error>> {
        lock(&self.rest).result.take()
    }
}

impl<R: Load + Send> Sink for State<R> {
    fn load(&self, source: u32, from: Loader<'_, '_>) {
        // A program's own `Load` may panic.
        let loaded = catch_unwind(AssertUnwindSafe(|| nested(|| from.whole())));
        let rank = source;
        let result = match loaded {
            Ok(loaded) => loaded.map_err(|error| Error::Load { rank, error }),
            Err(panic) => {
                drop_panic(panic);
                Err(Error::Refused {
                    rank,
                    message: "its result panics as it is loaded".to_owned(),
                })
            }
        };
        self.reach(ENDED, Some(result));
    }

    fn fail(&self, error: Error) {
        self.reach(ENDED, Some(Err(error)));
    }

    fn sent(&self) {
        self.reach(SENT, None);
    }

    #[inline]
    fn sent_at_once(&self) {
        // ORDERING: nobody else has the call.
        self.bits.store(SENT, Ordering::Relaxed);
    }
}

/// A call that is under way. Dropping it takes nothing back: the action runs, and its result is dropped.
///
/// It is a future of the result for any executor: as no thread makes progress by itself, a poll does,
/// and asks to be polled again. Its errors are those of [`Call::wait`].
///
/// ```
/// use calls::{Calls, action};
///
/// #[action]
/// fn twice(number: u64) -> u64 {
///     2 * number
/// }
///
/// let calls = Calls::alone()?;
/// let call = calls.to(0)?.run(twice, (21,));
/// assert_eq!(call.wait()?, 42);
/// # Ok::<(), calls::Error>(())
/// ```
#[must_use = "a call that is dropped runs; its result is lost: use `tell` for that"]
pub struct Call<R> {
    calls: Calls,
    state: Arc<State<R>>,
}

impl<R: Load + Send + 'static> Call<R> {
    pub(crate) fn new(calls: &Calls, state: Arc<State<R>>) -> Self {
        Self {
            calls: calls.clone(),
            state,
        }
    }

    /// Waits for the result, and runs actions meanwhile that others call.
    ///
    /// # Errors
    /// Any of a call: [`Error::Gone`], [`Error::Link`], [`Error::Panicked`], [`Error::Load`],
    /// [`Error::Refused`]; [`Error::Nested`].
    ///
    /// # Panics
    /// If a poll of this future has returned the result.
    pub fn wait(self) -> Result<R, Error> {
        self.calls.wait_until(|| self.state.is(ENDED))?;
        let Self { mut state, .. } = self;
        let result = match Arc::get_mut(&mut state) {
            Some(alone) => alone.take_alone(),
            None => state.take(),
        };
        result.expect(TAKEN)
    }

    /// Waits until the arguments were sent: those that are shared may be changed again.
    ///
    /// # Errors
    /// [`Error::Nested`].
    pub fn wait_sent(&self) -> Result<(), Error> {
        self.calls.wait_until(|| self.state.is(SENT | ENDED))
    }

    /// Returns a future that is ready when the arguments were sent (the paper's `async_cb`). In an action
    /// where `wait_sent` fails with [`Error::Nested`] it may stay pending.
    pub fn sent(&self) -> Sent<R> {
        Sent {
            calls: self.calls.clone(),
            state: Arc::clone(&self.state),
        }
    }

    /// Returns a future of the result.
    pub fn reply(self) -> impl Future<Output = Result<R, Error>> + Send + Unpin {
        self
    }

    /// Whether the result is there, or the call has failed. Makes no progress.
    pub fn is_ended(&self) -> bool {
        self.state.is(ENDED)
    }

    /// Has `then` called with the result, by the thread that polls when it comes; by this one, if it is
    /// there. [`Calls::wait_all`] waits for the calls that it makes, too. If it panics, the panic comes
    /// out of that poll, or of the function that polls; a collective call and a scope end before.
    /// It counts as an action: `wait_all` and collective calls in it fail with [`Error::Nested`].
    ///
    /// # Panics
    /// If a poll of this future has returned the result.
    ///
    /// ```
    /// use calls::{Calls, action};
    /// use std::sync::mpsc;
    ///
    /// #[action]
    /// fn half(number: u64) -> u64 {
    ///     number / 2
    /// }
    ///
    /// let calls = Calls::alone()?;
    /// let (halves, halved) = mpsc::channel();
    /// for number in 0..10 {
    ///     let halves = halves.clone();
    ///     calls.to(0)?.run(half, (number,)).then(move |half| halves.send(half).unwrap());
    /// }
    /// calls.wait_all()?;
    /// assert_eq!(halved.try_iter().sum::<Result<u64, _>>()?, 20);
    /// # Ok::<(), calls::Error>(())
    /// ```
    pub fn then(self, then: impl FnOnce(Result<R, Error>) + Send + 'static) {
        self.state.leave(Box::new(then));
    }
}

impl<R: Load + Send + 'static> Future for Call<R> {
    type Output = Result<R, Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if poll(&self.calls, &self.state, ENDED, context) {
            return Poll::Ready(self.state.take().expect(TAKEN));
        }
        // In an action that may not wait nobody would run the action of the call.
        match self.calls.refuse_too_deep() {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<R> Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("is_sent", &self.state.is(SENT))
            .field("is_ended", &self.state.is(ENDED))
            .finish_non_exhaustive()
    }
}

/// A future that is ready when the arguments of a call were sent. See [`Call::sent`].
///
/// ```
/// use calls::{Calls, Sent, SharedSlice, action};
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
///
/// #[action]
/// fn sum(numbers: Vec<u64>) -> u64 {
///     numbers.iter().sum()
/// }
///
/// let calls = Calls::alone()?;
/// let numbers = SharedSlice::from(vec![1; 100_000]);
/// let call = calls.to(0)?.run(sum, (numbers,));
/// let sent: Sent<u64> = call.sent();
/// // In the place of an executor: a poll makes progress.
/// let mut sent = pin!(sent);
/// let mut context = Context::from_waker(Waker::noop());
/// while sent.as_mut().poll(&mut context) == Poll::Pending {}
/// assert_eq!(call.wait()?, 100_000);
/// # Ok::<(), calls::Error>(())
/// ```
pub struct Sent<R> {
    calls: Calls,
    state: Arc<State<R>>,
}

impl<R> Future for Sent<R> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.state.is(ENDED) || poll(&self.calls, &self.state, SENT, context) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<R> Debug for Sent<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent").finish_non_exhaustive()
    }
}

/// Makes progress; whether the call has come so far. If not, the task is polled again.
fn poll<R>(calls: &Calls, state: &State<R>, bit: u8, context: &Context<'_>) -> bool {
    if state.poll(bit, context.waker()) {
        return true;
    }
    calls.poll();
    if state.is(bit) {
        return true;
    }
    context.waker().wake_by_ref();
    false
}

/// Models of two threads that share a call, in all orders: `RUSTFLAGS="--cfg calls_model"`.
#[cfg(all(test, calls_model))]
mod models {
    use super::*;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;
    use std::task::Wake;

    /// Counts how often it was woken.
    struct Counts(AtomicUsize);

    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            // ORDERING: a number.
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn waker() -> (Arc<Counts>, Waker) {
        let counts = Arc::new(Counts(AtomicUsize::new(0)));
        (Arc::clone(&counts), Waker::from(counts))
    }

    /// Ends a call on another thread.
    fn end(state: &Arc<State<u32>>) -> thread::JoinHandle<()> {
        let state = Arc::clone(state);
        thread::spawn(move || {
            state.sent();
            state.reach(ENDED, Some(Ok(7)));
        })
    }

    /// A poll that finds nothing is followed by a wake-up, for each bit.
    #[test]
    fn no_waker_is_lost() {
        loom::model(|| {
            let state = Arc::new(State::new());
            let other = end(&state);
            let wakers = [SENT, ENDED].map(|bit| {
                let (counts, waker) = waker();
                (state.poll(bit, &waker), counts)
            });
            other.join().unwrap();
            for (is_there, counts) in wakers {
                // ORDERING: behind the end of the other thread.
                let woken = counts.0.load(Ordering::Relaxed);
                assert_eq!(woken, usize::from(!is_there));
            }
            assert!(matches!(state.take(), Some(Ok(7))));
            assert!(state.take().is_none());
        });
    }

    /// Where the end is seen the result is there, and one of two threads has it.
    #[test]
    fn a_result_is_taken_once() {
        loom::model(|| {
            let state = Arc::new(State::new());
            let other = end(&state);
            let taker = Arc::clone(&state);
            let taker = thread::spawn(move || {
                let is_ended = taker.is(ENDED);
                let taken = taker.take();
                assert!(!is_ended || taken.is_some());
                taken.is_some()
            });
            other.join().unwrap();
            let was_taken = taker.join().unwrap();
            assert_ne!(state.take().is_some(), was_taken);
        });
    }

    /// A function that is left is called once, with the result.
    #[test]
    fn a_function_is_called_once() {
        loom::model(|| {
            let state = Arc::new(State::new());
            let other = end(&state);
            let called = Arc::new(AtomicUsize::new(0));
            let calls = Arc::clone(&called);
            state.leave(Box::new(move |result| {
                assert!(matches!(result, Ok(7)));
                // ORDERING: a number.
                calls.fetch_add(1, Ordering::Relaxed);
            }));
            other.join().unwrap();
            // ORDERING: behind the end of the other thread.
            assert_eq!(called.load(Ordering::Relaxed), 1);
        });
    }
}
