//! On whose behalf an operation is done.
//!
//! An operation is a function over the type of the layer above, and compiled into that layer: its
//! near part in line at the place of the call, each further step as a function that is called in
//! the tail position. So the path to a peer of the node has no frame. The steps take the
//! operation's own arguments first and the caller behind them, so that none of the former has to be
//! moved.

#![expect(
    unsafe_code,
    reason = "a caller says when its endpoint may be used, which safe code cannot check"
)]

use crate::symmetric::Error;
use crate::symmetric::address_vector::PeerIndex;
use crate::symmetric::endpoint::Endpoint;

/// A communication context of the layer above; or an [`Endpoint`] itself, which returns errors.
pub trait Caller {
    /// The routine that the context executes: passed on in a register, and given back with a
    /// failure.
    type Routine: Copy;

    /// The result of an operation that yields a `T`.
    type Outcome<T>;

    /// Whether the caller of operations on behalf of the context has looked at the arguments
    /// before: the peer is one of the endpoint's, and the memory lies in the own window, of which
    /// it is no gap. Both are requirements of the operations then, and not looked at again.
    const IS_CHECKED: bool = false;

    /// Returns the endpoint that operations go through.
    ///
    /// # Safety
    /// The calling thread may use the endpoint as long as the reference lives: no other thread does
    /// so meanwhile, unless the endpoint was enabled for several. Operations by it are checked,
    /// where [`Caller::IS_CHECKED`] says so.
    unsafe fn endpoint(&self) -> &Endpoint;

    /// Returns the outcome of an operation that is done.
    fn done<T>(value: T) -> Self::Outcome<T>;

    /// Returns the outcome of an operation on a peer's memory that was refused.
    fn refused<T>(&self, routine: Self::Routine, refused: Refused) -> Self::Outcome<T>;

    /// Returns the outcome of an order or a wait that failed.
    fn failed(&self, routine: Self::Routine, error: Error) -> Self::Outcome<()>;
}

/// An operation on a peer's memory that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Reason of the refusal.
    pub error: Error,
    /// The kind of the operation.
    pub access: Access,
    /// The own address of the symmetric memory.
    pub addr: usize,
    /// Its length in bytes; saturated.
    pub bytes: usize,
    /// The peer.
    pub peer: PeerIndex,
}

/// Access of an operation to a peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads it, which an atomic operation may do as well.
    Read,
    /// Writes it.
    Write,
    /// Changes an object by an atomic operation.
    Update,
}

impl Caller for Endpoint {
    type Routine = ();
    type Outcome<T> = Result<T, Error>;

    #[inline(always)]
    unsafe fn endpoint(&self) -> &Endpoint {
        self
    }

    #[inline(always)]
    fn done<T>(value: T) -> Result<T, Error> {
        Ok(value)
    }

    #[inline(always)]
    fn refused<T>(&self, (): (), refused: Refused) -> Result<T, Error> {
        Err(refused.error)
    }

    #[inline(always)]
    fn failed(&self, (): (), error: Error) -> Result<(), Error> {
        Err(error)
    }
}
