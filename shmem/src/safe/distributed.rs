//! Values of which each PE has one, under one name.

use super::World;
use super::meet::{Args, meet};
use crate::routine::Routine;
use crate::team;
use bytemuck::{Pod, Zeroable};
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// A value of any type of which every PE has one of its own, made by [`World::distribute`].
///
/// It dereferences to the own value. Clones are handles to the same value, and may be used by all
/// threads. A [`Token`] names the values on all PEs: it may be sent, as it is `Pod`, and
/// [`World::resolve`] gives the receiver a handle to its own value.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// use std::sync::Mutex;
/// let world = shmem::World::init()?;
/// let words = world.distribute(Mutex::new(Vec::<String>::new()));
/// words.lock().unwrap().push("of this PE".to_owned());
/// let mail = world.alloc::<shmem::Token>(1).expect("room");
/// let next = (world.my_pe() + 1) % world.n_pes();
/// world.ctx().put(&mail, 0, &[words.token()], next);
/// world.barrier_all();
/// let same = world.resolve::<Mutex<Vec<String>>>(mail.load(0)).expect("words");
/// assert_eq!(same.lock().unwrap().len(), 1);
/// # Ok(()) }
/// ```
pub struct Distributed<'w, T> {
    value: Arc<T>,
    token: Token,
    world: PhantomData<&'w ()>,
}

/// The name of a [`Distributed`], equal on all PEs. Zero bits name none.
///
/// ```no_run
/// # use shmem::Token;
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let names = world.distribute(String::from("mine"));
/// let mail = world.alloc::<Token>(1).expect("room for a token");
/// // None is named by zeros.
/// assert!(world.resolve::<String>(Token::default()).is_none());
/// world.ctx().p(&mail, 0, names.token(), (world.my_pe() + 1) % world.n_pes());
/// world.barrier_all();
/// assert_eq!(mail.load(0), names.token());
/// // Another type than that which was distributed.
/// assert!(world.resolve::<Vec<u8>>(mail.load(0)).is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Token(u64);

/// The values that were distributed and not retired, by their names.
#[derive(Debug, Default)]
pub(super) struct Registry {
    last: u64,
    values: BTreeMap<u64, Arc<dyn Any + Send + Sync>>,
}

const DISTRIBUTE: Routine = &"World::distribute";
const RETIRE: Routine = &"World::retire";

fn args<T>(number: u64) -> Args {
    Args {
        size: size_of::<T>(),
        count: 1,
        extra: number as usize,
        ..Args::default()
    }
}

impl World {
    /// Gives each PE's `value` the same name; collective.
    ///
    /// # Panics
    /// If the PEs do not all call this with a type of the same size.
    #[track_caller]
    pub fn distribute<T: Send + Sync + 'static>(&self, value: T) -> Distributed<'_, T> {
        self.enter();
        let number = self.distributed.borrow().last + 1;
        meet(DISTRIBUTE, team::WORLD, args::<T>(number));
        let value = Arc::new(value);
        let mut registry = self.distributed.borrow_mut();
        registry.last = number;
        registry.values.insert(
            number,
            Arc::<T>::clone(&value) as Arc<dyn Any + Send + Sync>,
        );
        Distributed {
            value,
            token: Token(number),
            world: PhantomData,
        }
    }

    /// Returns a handle to the own value that `token` names; `None` where it names none, or one of
    /// another type.
    pub fn resolve<T: Send + Sync + 'static>(&self, token: Token) -> Option<Distributed<'_, T>> {
        self.enter();
        let value = self.distributed.borrow().values.get(&token.0).cloned()?;
        Some(Distributed {
            value: value.downcast().ok()?,
            token,
            world: PhantomData,
        })
    }

    /// Ends a name: its tokens name nothing any more; collective. Returns the own value, or `None`
    /// where this PE has other handles, with the last of which it ends.
    ///
    /// # Panics
    /// If the PEs do not all retire the same.
    #[track_caller]
    pub fn retire<T: Send + Sync + 'static>(&self, handle: Distributed<'_, T>) -> Option<T> {
        self.enter();
        let number = handle.token.0;
        meet(RETIRE, team::WORLD, args::<T>(number));
        let named = self.distributed.borrow_mut().values.remove(&number);
        drop(named);
        Arc::into_inner(handle.value)
    }
}

impl World {
    /// Makes an empty registry, for a new `World`.
    pub(super) fn no_values() -> RefCell<Registry> {
        RefCell::default()
    }
}

impl<T> Distributed<'_, T> {
    /// Returns the name of the values on all PEs.
    pub fn token(&self) -> Token {
        self.token
    }
}

impl<T> Deref for Distributed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Clone for Distributed<'_, T> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            token: self.token,
            world: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Distributed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distributed")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}
