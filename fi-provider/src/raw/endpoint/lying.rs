//! A function that takes messages where they lie.

#![expect(unsafe_code, reason = "calls a program's function")]

use crate::raw::address_vector::PeerIndex;

/// A message that has come, and lies where it came.
#[derive(Clone, Copy, Debug)]
pub struct Lying {
    /// The first byte, aligned to 8. The sender may still change the bytes.
    pub bytes: *mut u8,
    /// Their number.
    pub len: usize,
}

/// A function of a program's that takes a message, with the context that it was given with, and the sender
/// if that is in the vector. Returns false where the message is to come again.
pub type Take = unsafe fn(*const (), Option<PeerIndex>, Lying) -> bool;

/// A function that takes messages of bytes alone where they lie: others go to buffers, and longer ones
/// than [`super::Endpoint::inject_size`].
#[derive(Clone, Copy, Debug)]
pub struct InPlace {
    pub(super) take: Take,
    pub(super) context: *const (),
}

impl InPlace {
    /// Has `take` called with `context` for each message. Behind one that is to come again all others of
    /// its sender wait.
    ///
    /// # Safety
    /// As long as an endpoint with this lives, `take` may be called with `context` by the endpoint's
    /// thread. It calls no function of that endpoint, and accesses nothing of the message but its bytes,
    /// during the call alone.
    pub unsafe fn new(take: Take, context: *const ()) -> Self {
        Self { take, context }
    }
}
