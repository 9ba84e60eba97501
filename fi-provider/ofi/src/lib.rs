//! The system's libfabric as a transport: RDM endpoints of any of its providers that have RMA.
//!
//! The library is loaded at run time, so that neither its header nor the library is needed to build
//! this. One [`Port`] has all objects of a process: fabric, domain, address vector, completion
//! queue, endpoint and the regions that peers may reach. Its lock serialises every call of
//! libfabric (FI_THREAD_DOMAIN).
//!
//! * Writes are fi_writemsg with FI_DELIVERY_COMPLETE, so that a completion tells that the bytes
//!   are in the target's memory; FI_INJECT is added where they are few. Reads are fi_read.
//! * Atomic operations are messages that the target executes with the processor's instructions:
//!   they are atomic with those of processes on the target's node (`message`).
//! * A [`Lane`] counts the operations of one context that are under way, for its fence and quiet.
//! * A thread serves peers while the program is elsewhere (`helper`). It sleeps in the completion
//!   queue's wait object, and leaves the queue to a thread of the program that looks at it.
//! * A [`Messenger`] is an endpoint for messages alone, of one thread: for programs without
//!   symmetric memory.
//! * Where the launcher does not, hosts watch each other (`watch`).

#![expect(
    unsafe_code,
    reason = "calls C functions of libfabric through its objects"
)]

pub mod candidates;
mod error;
mod fast;
mod form;
mod gather;
mod helper;
mod lane;
mod library;
mod message;
mod messenger;
mod objects;
mod operation;
#[cfg(test)]
mod own;
mod pieces;
mod port;
mod progress;
mod signals;
mod transfer;
mod watch;

pub use candidates::{Candidate, best, candidates};
pub use error::{Error, Failure};
pub use gather::Name;
pub use lane::Lane;
pub use library::{Version, version};
pub use messenger::{Buffer, Event, Messenger, Refused, Wishes};
pub use port::{Config, Port, RemoteKey};
pub use transfer::{Kept, Place};
pub use watch::Watch;
