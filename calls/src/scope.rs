//! Calls with borrowed arguments.

#![expect(
    unsafe_code,
    reason = "lends arguments to calls that the scope waits for"
)]

use crate::action::Action;
use crate::call::{Call, Sink, State};
use crate::calls::{Arguments, Calls, call_of};
use crate::core::Way;
use crate::error::Error;
use crate::inner::{Post, Target};
use crate::run::drop_panic;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex};

/// A scope, at whose end the arguments of its calls were sent. See [`Calls::scope`].
///
/// ```
/// use calls::{Call, Calls, Error, Scope, action};
///
/// #[action]
/// fn largest(numbers: Vec<i32>) -> Option<i32> {
///     numbers.into_iter().max()
/// }
///
/// /// Calls the action on both halves of some numbers, which stay where they are.
/// fn halves<'env>(
///     scope: &Scope<'_, 'env>,
///     numbers: &'env [i32],
/// ) -> Result<[Call<Option<i32>>; 2], Error> {
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     Ok([scope.run(0, largest, (left,))?, scope.run(0, largest, (right,))?])
/// }
///
/// let calls = Calls::alone()?;
/// let numbers = [3, 1, 4, 1, 5, 9];
/// let [left, right] = calls.scope(|scope| halves(scope, &numbers))?;
/// assert_eq!((left.wait()?, right.wait()?), (Some(4), Some(9)));
/// # Ok::<(), calls::Error>(())
/// ```
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    calls: &'scope Calls,
    /// Held by each call that has arguments of the scope's.
    lent: Arc<()>,
    env: PhantomData<Mutex<&'scope mut &'env ()>>,
}

impl Calls {
    /// Gives `act` a scope in which calls may borrow: waits until their arguments were sent, also where
    /// `act` panics. Results may be waited for later.
    ///
    /// ```
    /// use calls::{Calls, action};
    ///
    /// #[action]
    /// fn sum(numbers: Vec<u64>) -> u64 {
    ///     numbers.iter().sum()
    /// }
    ///
    /// let calls = Calls::alone()?;
    /// let mut numbers = vec![1_u64; 100_000];
    /// let call = calls.scope(|scope| scope.run(0, sum, (&numbers[..],)))?;
    /// numbers.clear();
    /// assert_eq!(call.wait()?, 100_000);
    /// # Ok::<(), calls::Error>(())
    /// ```
    pub fn scope<'env, T>(
        &self,
        act: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    ) -> T {
        let scope = Scope {
            calls: self,
            lent: Arc::new(()),
            env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| act(&scope)));
        let waited = self.wait_through(|| Arc::strong_count(&scope.lent) == 1);
        // ORDERING: pairs with the release by which the count was lowered, behind the drop of arguments.
        fence(Ordering::Acquire);
        match (result, waited) {
            (Ok(value), Ok(())) => value,
            (Ok(_), Err(panic)) | (Err(panic), Ok(())) => resume_unwind(panic),
            (Err(panic), Err(second)) => {
                drop_panic(second);
                resume_unwind(panic)
            }
        }
    }
}

impl<'env> Scope<'_, 'env> {
    /// Calls an action on a rank, as [`Peer::run`](crate::Peer::run) does, with arguments that may be
    /// borrowed.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::Nested`] in an action, where the wait for the arguments would run
    /// none.
    pub fn run<A: Action, X: Arguments<A::Args> + 'env>(
        &self,
        rank: u32,
        action: fn() -> A,
        args: X,
    ) -> Result<Call<A::Output>, Error> {
        self.calls.to(rank)?;
        self.calls.refuse_too_deep()?;
        let state = Arc::new(State::new());
        let targets = [Target {
            rank,
            sink: Some(Arc::clone(&state) as Arc<dyn Sink>),
        }];
        let post = Post {
            way: Way::Calls,
            header: call_of(action),
            targets: &targets,
        };
        let lent = Some(Arc::clone(&self.lent) as _);
        // SAFETY: the arguments may be used as long as 'env, and the scope, which 'env outlives, ends
        // when nobody has `lent` any more.
        let is_over = unsafe { self.calls.inner().post_lent(post, args, lent) };
        if is_over {
            self.calls.hold_back();
        }
        Ok(Call::new(self.calls, state))
    }
}
