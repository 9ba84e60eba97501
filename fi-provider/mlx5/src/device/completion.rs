//! Completion queues.

use super::channel::Channel;
use super::context::{Context, check, none};
use super::domain::ThreadDomain;
use crate::completion::CompletionRing;
use crate::error::Error;
use crate::unit::{entry_before_record, flush_register, record_before_register};
use crate::verbs::core::{Cq, CqInitAttrEx, cq_flags, cq_init};
use crate::verbs::direct::{self, CqInitAttr, CqLayout, Object, Pair, object};
use fi_mlx5_defs::cqe::Cqe;
use fi_mlx5_defs::doorbell::{ARM_OFFSET, Arm, CompletionRecord};
use fi_mlx5_defs::endian::{Be32, Be64};
use std::mem::{size_of, zeroed};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A completion queue.
#[derive(Clone, Debug)]
pub struct CompletionQueue(Arc<Queue>);

/// Whether a completion queue may have more entries due than it has places for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// It may: the device looks in the doorbell record which entries were taken, and fails.
    Possible,
    /// It never does, as every post that has a completion finds its place free. So the device needs
    /// not be told of entries that are taken (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`), if it can do
    /// without.
    Impossible,
}

#[derive(Debug)]
struct Queue {
    cq: NonNull<Cq>,
    ring: CompletionRing,
    number: u32,
    /// The page in which it is armed.
    page: *mut u8,
    /// The file of its events, and how many were taken there.
    channel: Option<Channel>,
    events: Box<AtomicU32>,
    /// Bytes of ring and record, once they are in the book.
    bytes: Option<u64>,
    context: Arc<Context>,
    _domain: Option<ThreadDomain>,
    /// One that is made for it and not used.
    spare: Option<CompletionQueue>,
}

// SAFETY: libibverbs lets any thread use a queue; the ring's pointers are handed out, and its record
// and page are written here by whole words alone.
unsafe impl Send for Queue {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Queue {}

impl CompletionQueue {
    pub(super) fn new(
        context: &Arc<Context>,
        domain: Option<&ThreadDomain>,
        channel: Option<&Channel>,
        (entries, overrun): (u32, Overrun),
        spare: Option<Self>,
    ) -> Result<Self, Error> {
        let mut queue = Queue::new(context, domain, channel, entries, overrun)?;
        let bytes = u64::from(queue.ring.entries) * size_of::<Cqe>() as u64;
        let bytes = bytes + size_of::<CompletionRecord>() as u64;
        context.book.count_completions(bytes, true);
        queue.bytes = Some(bytes);
        queue.spare = spare;
        Ok(Self(Arc::new(queue)))
    }

    /// Makes a queue of the completions of receives, which stands in no book: no lane uses it.
    pub(super) fn of_receives(
        context: &Arc<Context>,
        channel: Option<&Channel>,
        entries: u32,
    ) -> Result<Self, Error> {
        let overrun = Overrun::Impossible;
        let queue = Queue::new(context, None, channel, entries, overrun)?;
        Ok(Self(Arc::new(queue)))
    }

    /// Asks for an event with the next completion, in the file that the queue was made for. Its
    /// user, which has consumed so many (modulo 2^24), then looks once more whether one is there.
    /// Does nothing without such a file.
    pub fn arm(&self, consumed: u32) {
        let queue = &*self.0;
        if queue.channel.is_none() {
            return;
        }
        let arm = Arm {
            // ORDERING: only a number, of threads that take turns with the queue.
            sequence: queue.events.load(Ordering::Relaxed) as u8 & 3,
            solicited_only: false,
            consumer: consumed & 0xff_ffff,
        };
        let register = queue.page.wrapping_add(ARM_OFFSET as usize);
        // The count of the record's first word is there before the same one in its second.
        entry_before_record();
        // SAFETY: the record and the page are mapped as long as the queue and aligned, and are
        // written whole; volatile, because the device reads them.
        unsafe {
            (&raw mut (*queue.ring.record).arm).write_volatile(Be32::new(arm.word()));
            record_before_register();
            register
                .cast::<Be64>()
                .write_volatile(arm.register(queue.number));
        }
        flush_register();
        // ORDERING: pairs with the device, which writes an entry and then looks whether the queue is
        // armed: it sees that it is, or its user's look behind this fence sees the entry.
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// Returns the ring in which the device writes its entries. It is valid as long as this or a
    /// queue pair that was made with it lives.
    #[must_use]
    pub fn ring(&self) -> CompletionRing {
        self.0.ring
    }

    /// Returns the number by which the device knows it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.0.number
    }

    pub(super) fn raw(&self) -> *mut Cq {
        self.0.cq.as_ptr()
    }

    /// Returns its spare completion queue, for spare queue pairs; itself where there is none.
    pub(super) fn spare(&self) -> &Self {
        self.0.spare.as_ref().unwrap_or(self)
    }
}

impl Queue {
    fn new(
        context: &Arc<Context>,
        domain: Option<&ThreadDomain>,
        channel: Option<&Channel>,
        entries: u32,
        overrun: Overrun,
    ) -> Result<Self, Error> {
        if overrun == Overrun::Impossible
            && let Ok(queue) = Self::make(context, domain, channel, entries, false)
        {
            return Ok(queue);
        }
        // Drivers before Linux 4.15 know queues alone that are checked.
        Self::make(context, domain, channel, entries, true)
    }

    fn make(
        context: &Arc<Context>,
        domain: Option<&ThreadDomain>,
        channel: Option<&Channel>,
        entries: u32,
        is_checked: bool,
    ) -> Result<Self, Error> {
        let events = Box::new(AtomicU32::new(0));
        let parent = domain.and_then(ThreadDomain::parent);
        let unchecked = if is_checked {
            0
        } else {
            cq_flags::IGNORE_OVERRUN
        };
        let mut attr = CqInitAttrEx {
            // The library adds one, and rounds up to a power of two.
            cqe: entries.saturating_sub(1).max(1),
            cq_context: (&raw const *events).cast_mut().cast(),
            channel: channel.map_or(none(), |channel| channel.raw().cast()),
            comp_vector: 0,
            wc_flags: 0,
            comp_mask: cq_init::FLAGS | if parent.is_some() { cq_init::PD } else { 0 },
            flags: cq_flags::SINGLE_THREADED | unchecked,
            parent_domain: parent.map_or(none(), NonNull::as_ptr),
        };
        let mut own = CqInitAttr {
            comp_mask: direct::cq_init::CQE_SIZE,
            cqe_comp_res_format: 0,
            flags: 0,
            cqe_size: size_of::<Cqe>() as u16,
        };
        // SAFETY: the context is open, and both structures are valid.
        let cq = unsafe { (context.library.create_cq)(context.raw(), &raw mut attr, &raw mut own) };
        let cq = NonNull::new(cq).ok_or_else(|| Error::last("mlx5dv_create_cq"))?;
        // From here on it is destroyed when it is dropped.
        let mut queue = Self {
            cq,
            ring: CompletionRing {
                base: none(),
                entries: 0,
                record: none(),
                is_checked,
            },
            number: 0,
            page: none(),
            channel: channel.cloned(),
            events,
            bytes: None,
            context: Arc::clone(context),
            _domain: domain.cloned(),
            spare: None,
        };
        queue.look()?;
        Ok(queue)
    }

    /// Takes over from the library the rings that it set up; the library no longer touches entries
    /// and record then.
    fn look(&mut self) -> Result<(), Error> {
        // SAFETY: structures of pointers and numbers, of which zero is one.
        let (mut layout, mut wanted): (CqLayout, Object) = unsafe { (zeroed(), zeroed()) };
        wanted.cq = Pair {
            input: self.cq.as_ptr(),
            output: &raw mut layout,
        };
        // SAFETY: the queue is alive; only the pair of queues is looked at, and it is valid.
        let result = unsafe { (self.context.library.init_object)(&raw mut wanted, object::CQ) };
        check("mlx5dv_init_obj", result)?;
        let entries = layout.cqe_cnt;
        if layout.cqe_size as usize != size_of::<Cqe>() || !entries.is_power_of_two() {
            let what = format!("{entries} completion entries of {} bytes", layout.cqe_size);
            let call = "mlx5dv_create_cq";
            return Err(Error::Unexpected { call, what });
        }
        self.ring = CompletionRing {
            base: layout.buf.cast(),
            entries,
            record: layout.dbrec.cast(),
            is_checked: self.ring.is_checked,
        };
        self.number = layout.cqn;
        self.page = layout.cq_uar.cast();
        Ok(())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Some(bytes) = self.bytes {
            self.context.book.count_completions(bytes, false);
        }
        // SAFETY: queue pairs that use it hold a share of this, hence are gone.
        self.context
            .close(|library| unsafe { (library.destroy_cq)(self.cq.as_ptr()) });
    }
}
