//! The objects of a domain, all behind one lock.

use crate::object::{Code, InUse};
use crate::slab::Slab;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::{CompletionQueue, Counter};
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::{Endpoint, RemoteRegion};
use fi_provider::raw::error::Error;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A domain, which all its objects share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Dropped before the domain, which its endpoints use.
    objects: Mutex<Objects>,
    pub(crate) raw: Domain,
    /// Whether keys are the fabric's choice (FI_MR_PROV_KEY).
    pub(crate) chooses_keys: bool,
    /// Whether peers name bytes of regions by their addresses (FI_MR_VIRT_ADDR).
    pub(crate) by_address: bool,
    /// The version of the interface that the application uses.
    pub(crate) api_version: u32,
}

/// The tables: the C objects hold the numbers.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) endpoints: Slab<Ep>,
    pub(crate) vectors: Slab<Vector>,
    pub(crate) queues: Slab<Queue>,
    pub(crate) counters: Slab<Count>,
    pub(crate) receives: Slab<Receive>,
    pub(crate) regions: usize,
}

// SAFETY: `Send` requires that the value may be used by another thread. The fabric's objects are
// not `Send` as they count their handles without atomics and have cells. All handles to any of them
// are in one value of this type: those that functions clone go into it again, and none is returned.
// The value is reached through the lock alone, so that one thread at a time uses all handles, and
// the lock orders the turns. The objects keep nothing in thread-local variables, and their raw
// pointers lead to memory of the process. `op_context` pointers and buffers are the application's,
// which may use them by any thread.
unsafe impl Send for Objects {}

/// An address vector.
#[derive(Debug)]
pub(crate) struct Vector {
    pub(crate) raw: AddressVector,
    /// How many objects are bound to it.
    pub(crate) users: usize,
}

/// A counter.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) raw: Counter,
    pub(crate) users: usize,
}

/// A completion queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) raw: CompletionQueue,
    pub(crate) format: u32,
    /// Looked at, but not given out.
    pub(crate) held: VecDeque<Result<Told, Wrong>>,
    pub(crate) users: usize,
    pub(crate) is_signalled: bool,
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buffer: *mut u8,
    pub(crate) data: u64,
    pub(crate) source: u64,
    pub(crate) tag: u64,
}

/// The completion of an operation that has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong {
    pub(crate) told: Told,
    pub(crate) code: Code,
    /// The bytes that were not stored, of a message that was longer than its buffer.
    pub(crate) cut: usize,
}

/// A buffer that was posted for messages.
#[derive(Debug)]
pub(crate) struct Receive {
    pub(crate) context: *mut c_void,
    pub(crate) buffer: *mut u8,
    pub(crate) is_multi: bool,
    /// Whether its success makes a completion.
    pub(crate) reports: bool,
    pub(crate) endpoint: u64,
    /// The tag that it wants, if it is for a tagged message.
    pub(crate) tag: Option<u64>,
}

impl Receive {
    /// Takes the buffer back, which has this number; false where a message has come to it.
    pub(crate) fn take_back(&self, raw: &Endpoint, number: u64) -> bool {
        match self.tag {
            None => raw.cancel_receive(number),
            Some(_) => raw.cancel_tagged(number),
        }
    }
}

/// The operations that an endpoint counts: the places of its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counts {
    Sent,
    Received,
    Read,
    Written,
}

/// A queue that is bound to an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) queue: u64,
    /// Whether only operations report that are told to (FI_SELECTIVE_COMPLETION).
    pub(crate) is_selective: bool,
}

/// An endpoint.
#[derive(Debug)]
pub(crate) struct Ep {
    /// None before it is enabled.
    pub(crate) raw: Option<Endpoint>,
    pub(crate) caps: u64,
    /// Flags of operations without flags of their own.
    pub(crate) transmit_flags: u64,
    pub(crate) receive_flags: u64,
    pub(crate) vector: Option<u64>,
    pub(crate) transmit: Option<Binding>,
    pub(crate) receive: Option<Binding>,
    /// By [`Counts`].
    pub(crate) counters: [Option<u64>; 4],
    /// Held as long as a queue of events is bound.
    pub(crate) events: Option<InUse>,
    /// The messages that have come.
    pub(crate) received: Counter,
    /// Queues of its own, where none is bound: nobody reads them.
    pub(crate) unread: Vec<CompletionQueue>,
    /// Bytes that are left of a buffer for several messages when it is given back.
    pub(crate) least: usize,
}

impl Shared {
    pub(crate) fn new(raw: Domain, mr_mode: i32, api_version: u32) -> Self {
        let either = |mode| mr_mode & (mode | fi_ofi_abi::FI_MR_BASIC) != 0;
        Self {
            objects: Mutex::default(),
            raw,
            chooses_keys: either(fi_ofi_abi::FI_MR_PROV_KEY),
            by_address: either(fi_ofi_abi::FI_MR_VIRT_ADDR),
            api_version,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Objects {
    /// Makes progress of all endpoints.
    pub(crate) fn progress(&mut self) {
        for ep in self.endpoints.values_mut() {
            let Some(raw) = &ep.raw else { continue };
            raw.progress();
            for queue in &ep.unread {
                while let Some(entry) = queue.next() {
                    let entry = entry.unwrap_or_else(|failure| failure.entry);
                    let is_receive =
                        entry.operation == fi_provider::raw::completion::Operation::Receive;
                    if is_receive && entry.is_last {
                        self.receives.remove(entry.context);
                    }
                }
            }
        }
    }

    /// Tells whether nothing is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
            && self.vectors.is_empty()
            && self.queues.is_empty()
            && self.counters.is_empty()
            && self.regions == 0
    }
}

impl Ep {
    /// Returns the endpoint, if it is enabled.
    pub(crate) fn enabled(&self) -> Result<&Endpoint, Code> {
        self.raw.as_ref().ok_or(fi_ofi_abi::FI_EOPBADSTATE)
    }

    /// Tells whether operations of this kind are counted.
    pub(crate) fn counts(&self, what: Counts) -> bool {
        self.counters[what as usize].is_some()
    }

    /// Acts on the region of a peer's key.
    pub(crate) fn with_region(
        &self,
        peer: u64,
        key: u64,
        act: impl Fn(&Endpoint, &RemoteRegion) -> Result<(), Error>,
    ) -> Result<(), Code> {
        let (peer, raw) = (self.peer(peer)?, self.enabled()?);
        raw.on_region(peer, key, |region| act(raw, region))
            .map_err(Error::code)
    }

    /// Returns the number of the peer that an application names.
    pub(crate) fn peer(&self, address: u64) -> Result<PeerIndex, Code> {
        PeerIndex::try_from(address).map_err(|_| libc::EINVAL)
    }
}
