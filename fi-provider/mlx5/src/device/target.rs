//! Targets of dynamic connections.

use super::Device;
use super::completion::CompletionQueue;
use super::context::{Context, Protection, none};
use super::domain::ThreadDomain;
use super::queue_pair::{
    RECEIVER_NOT_READY_TIMER, create, direct_attr, init_attr, initial, modify, number,
    ready_to_receive,
};
use crate::error::Error;
use crate::verbs::core::{Qp, Srq, SrqInitAttr, access, qp_attr, qp_type};
use crate::verbs::direct::dc_type;
use std::ptr::NonNull;
use std::sync::Arc;

/// A target of dynamic connections: every initiator of the fabric that knows its port, number and key reaches it. It takes reads, writes
/// and atomics; for messages there is no receive.
#[derive(Debug)]
pub struct Target {
    qp: NonNull<Qp>,
    number: u32,
    context: Arc<Context>,
    _receives: SharedReceives,
    _completions: CompletionQueue,
}

// SAFETY: libibverbs lets any thread use a queue pair.
unsafe impl Send for Target {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Target {}

impl Target {
    pub(super) fn new(device: &Device, key: u64) -> Result<Self, Error> {
        let context = &device.context;
        let domain = ThreadDomain::plain(&device.protection);
        let completions = CompletionQueue::smallest(context)?;
        let receives = SharedReceives::new(&device.protection)?;
        let mut attr = init_attr(&domain, &completions, qp_type::DRIVER);
        attr.srq = receives.srq.as_ptr();
        let mut own = direct_attr(Some((dc_type::TARGET, key)));
        let qp = create(context, &mut attr, &mut own)?;
        context.book.note(|objects| objects.targets += 1);
        // From here on it is destroyed when it is dropped.
        let mut made = Self {
            qp,
            number: 0,
            context: Arc::clone(context),
            _receives: receives,
            _completions: completions,
        };
        let (mut attr, mask) = initial(&device.features, access::REMOTE);
        modify(context, made.qp, &mut attr, mask)?;
        let mut attr = ready_to_receive(&device.features, device.features.mtu, 0);
        attr.min_rnr_timer = RECEIVER_NOT_READY_TIMER;
        let mask = qp_attr::MIN_RNR_TIMER | qp_attr::AV | qp_attr::PATH_MTU;
        modify(context, made.qp, &mut attr, mask)?;
        made.number = number(made.qp);
        Ok(made)
    }

    /// The number by which initiators name it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.context.book.note(|objects| objects.targets -= 1);
        // SAFETY: it is the library's, and destroyed once.
        self.context
            .close(|library| unsafe { (library.destroy_qp)(self.qp.as_ptr()) });
    }
}

/// The smallest shared receive queue: a target has to have one.
#[derive(Debug)]
struct SharedReceives {
    srq: NonNull<Srq>,
    protection: Arc<Protection>,
}

impl SharedReceives {
    fn new(protection: &Arc<Protection>) -> Result<Self, Error> {
        let mut attr = SrqInitAttr {
            srq_context: none(),
            max_wr: 1,
            max_sge: 1,
            srq_limit: 0,
        };
        let create = protection.context.library.create_srq;
        // SAFETY: the domain is alive, and the structure is valid.
        let srq = unsafe { create(protection.raw().as_ptr(), &raw mut attr) };
        let srq = NonNull::new(srq).ok_or_else(|| Error::last("ibv_create_srq"))?;
        Ok(Self {
            srq,
            protection: Arc::clone(protection),
        })
    }
}

impl Drop for SharedReceives {
    fn drop(&mut self) {
        // SAFETY: the target that used it was destroyed before.
        self.protection
            .context
            .close(|library| unsafe { (library.destroy_srq)(self.srq.as_ptr()) });
    }
}
