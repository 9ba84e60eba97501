//! Active messages among the processes of a job, over the fabric, with memory that they share.
//!
//! An [`Engine`] connects this process with all others of its job. It has two endpoints of the
//! fabric: one takes requests, the other replies, and accesses memory of peers. So each has rings and
//! credits of its own, and a reply never stands behind a request.
//!
//! * **No receiver is overrun.** A request is handled only while no earlier reply to its sender waits
//!   for room: otherwise it stays in its ring, whose sender waits when that is full. So at most one
//!   reply waits for each peer, in this process's memory, and no credits travel.
//! * **Nothing deadlocks.** A request that finds no room polls everything until there is some; a reply
//!   never waits, and its handler starts nothing; so every ring of replies is emptied by all that wait.
//!
//! After Luo et al., "Early Evaluation of Scalable Fabric Interface for PGAS Programming Models",
//! section 6.2, and the GASNet specification 1.8.

mod announce;
mod arrive;
mod config;
mod device;
mod engine;
mod error;
mod job;
mod later;
mod lock;
mod message;
mod now;
mod remote;
mod segment;
mod send;
mod wire;

pub use config::Config;
pub use engine::{Core, Engine};
pub use error::Error;
pub use fi_provider::raw::endpoint::{Arithmetic, Atomic as OfWord, Datatype, Way};
pub use job::{Exchange, Meeting};
pub use lock::{Alone, Guard, Threads};
pub use message::{Category, Handler, Message};
pub use now::{Beyond, Replied, Sent, Word};
pub use remote::{Atomic, Completion, Done, Ended, Source};
pub use segment::{Key, Segment};
pub use wire::{HANDLERS, MOST_ARGS};
