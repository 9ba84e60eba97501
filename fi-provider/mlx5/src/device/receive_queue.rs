//! Shared receive queues.

use super::channel::Channel;
use super::completion::CompletionQueue;
use super::context::{Context, Protection, check, none};
use crate::completion::CompletionRing;
use crate::error::Error;
use crate::receives::{ReceiveEntry, ReceiveRing};
use crate::verbs::core::{Srq, SrqInitAttr};
use crate::verbs::direct::{Object, Pair, SrqLayout, object};
use std::mem::{size_of, zeroed};
use std::ptr::NonNull;
use std::sync::Arc;

/// A shared receive queue (SRQ) and the completion queue of its receives: the messages of all queue
/// pairs and targets that are made with it go there. Its data path is [`crate::receives::Receives`].
#[derive(Clone, Debug)]
pub struct ReceiveQueue(Arc<Queue>);

#[derive(Debug)]
struct Queue {
    srq: NonNull<Srq>,
    ring: ReceiveRing,
    completions: CompletionQueue,
    protection: Arc<Protection>,
}

// SAFETY: libibverbs lets any thread use a queue; the ring's pointers are handed out, and not used
// here.
unsafe impl Send for Queue {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Queue {}

impl ReceiveQueue {
    /// The most entries: an entry's index has 16 bits.
    const MOST: u32 = 1 << 16;

    pub(super) fn new(
        protection: &Arc<Protection>,
        channel: Option<&Channel>,
        entries: u32,
    ) -> Result<Self, Error> {
        let completions = CompletionQueue::of_receives(&protection.context, channel, entries)?;
        let mut attr = SrqInitAttr {
            srq_context: none(),
            // The library adds one, and rounds up to a power of two.
            max_wr: entries.saturating_sub(1).max(1),
            max_sge: 1,
            srq_limit: 0,
        };
        let create = protection.context.library.create_srq;
        // SAFETY: the domain is alive, and the structure is valid.
        let srq = unsafe { create(protection.raw().as_ptr(), &raw mut attr) };
        let srq = NonNull::new(srq).ok_or_else(|| Error::last("ibv_create_srq"))?;
        // From here on it is destroyed when it is dropped.
        let mut queue = Queue {
            srq,
            ring: ReceiveRing {
                base: none(),
                entries: 0,
                record: none(),
            },
            completions,
            protection: Arc::clone(protection),
        };
        queue.look(entries)?;
        Ok(Self(Arc::new(queue)))
    }

    /// Returns the ring where receives are posted. It is valid as long as this or a queue pair or
    /// target that was made with it lives.
    #[must_use]
    pub fn ring(&self) -> ReceiveRing {
        self.0.ring
    }

    /// Returns the ring in which the device writes the completions of the receives. It is valid as
    /// long as the receives' ring.
    #[must_use]
    pub fn completion_ring(&self) -> CompletionRing {
        self.0.completions.ring()
    }

    /// Asks for an event with the next completion, as [`CompletionQueue::arm`].
    pub fn arm(&self, consumed: u32) {
        self.0.completions.arm(consumed);
    }

    pub(super) fn raw(&self) -> *mut Srq {
        self.0.srq.as_ptr()
    }

    pub(super) fn completions(&self) -> &CompletionQueue {
        &self.0.completions
    }
}

impl Queue {
    fn context(&self) -> &Context {
        &self.protection.context
    }

    /// Takes over from the library the queue that it set up; the library no longer touches entries
    /// and record then.
    fn look(&mut self, wanted: u32) -> Result<(), Error> {
        // SAFETY: structures of pointers and numbers, of which zero is one.
        let (mut layout, mut object): (SrqLayout, Object) = unsafe { (zeroed(), zeroed()) };
        object.srq = Pair {
            input: self.srq.as_ptr(),
            output: &raw mut layout,
        };
        let init = self.context().library.init_object;
        // SAFETY: the queue is alive; only the pair of shared receive queues is looked at, and it
        // is valid.
        check("mlx5dv_init_obj", unsafe {
            init(&raw mut object, object::SRQ)
        })?;
        // Behind the tail the library may have more entries, which it does not use here: they are
        // for receives that a page fault has delayed.
        let (stride, head, entries) = (layout.stride, layout.head, layout.tail.wrapping_add(1));
        let fits = stride as usize == size_of::<ReceiveEntry>()
            && head == 0
            && entries.is_power_of_two()
            && (wanted..=ReceiveQueue::MOST).contains(&entries)
            && self.completions.ring().entries >= entries;
        if !fits {
            let what = format!("receives {head} to {} of {stride} bytes", layout.tail);
            let call = "ibv_create_srq";
            return Err(Error::Unexpected { call, what });
        }
        self.ring = ReceiveRing {
            base: layout.buf.cast(),
            entries,
            record: layout.dbrec,
        };
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: queue pairs and targets that use it hold a share of this, hence are gone.
        self.context()
            .close(|library| unsafe { (library.destroy_srq)(self.srq.as_ptr()) });
    }
}
