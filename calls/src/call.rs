//! Calls that are under way.

mod state;

use crate::archive::{Load, Loader};
use crate::calls::Calls;
use crate::error::Error;
use crate::run::{drop_panic, nested};
use std::fmt::{self, Debug};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use state::TAKEN;
pub(crate) use state::{ENDED, SENT};

/// The state of a call with a result of this type.
pub(crate) type State<R> = state::State<Result<R, Error>>;

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
        self.sent_alone();
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
