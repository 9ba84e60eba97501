//! Targets of dynamic connections.

use super::Device;
use super::context::Context;
use super::domain::ThreadDomain;
use super::queue_pair::{
    RECEIVER_NOT_READY_TIMER, create, direct_attr, init_attr, initial, modify, number,
    ready_to_receive,
};
use super::receive_queue::ReceiveQueue;
use crate::error::Error;
use crate::verbs::core::{Qp, access, qp_attr, qp_type};
use crate::verbs::direct::dc_type;
use std::ptr::NonNull;
use std::sync::Arc;

/// A target of dynamic connections: every initiator of the fabric that knows its port, number and key reaches it. It takes reads, writes
/// and atomics, and messages where it was made with a receive queue.
#[derive(Debug)]
pub struct Target {
    qp: NonNull<Qp>,
    number: u32,
    context: Arc<Context>,
    _receives: ReceiveQueue,
}

// SAFETY: libibverbs lets any thread use a queue pair.
unsafe impl Send for Target {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Target {}

impl Device {
    /// Makes a target of dynamic connections that know `key`, ready to receive.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn target(&self, key: u64) -> Result<Target, Error> {
        Target::new(self, key, None)
    }

    /// Makes a target as [`Device::target`] does, with receives: those of this queue, of the same
    /// protection domain.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn target_receiving(&self, key: u64, receives: &ReceiveQueue) -> Result<Target, Error> {
        Target::new(self, key, Some(receives))
    }
}

impl Target {
    /// Entries of the receive queue of a target that takes no messages: it has to have one.
    const NO_MESSAGES: u32 = 2;

    pub(super) fn new(
        device: &Device,
        key: u64,
        receives: Option<&ReceiveQueue>,
    ) -> Result<Self, Error> {
        let context = &device.context;
        let domain = ThreadDomain::plain(&device.protection);
        let receives = match receives {
            Some(receives) => receives.clone(),
            None => ReceiveQueue::new(&device.protection, None, Self::NO_MESSAGES)?,
        };
        // It sends nothing. A message that it receives is in its buffer, however short: entries of
        // 64 bytes take no payload of a target.
        let mut attr = init_attr(
            &domain,
            receives.completions(),
            Some(&receives),
            qp_type::DRIVER,
        );
        let mut own = direct_attr(Some((dc_type::TARGET, key)));
        let qp = create(context, &mut attr, &mut own)?;
        context.book.note(|objects| objects.targets += 1);
        // From here on it is destroyed when it is dropped.
        let mut made = Self {
            qp,
            number: 0,
            context: Arc::clone(context),
            _receives: receives,
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

    /// Returns the number by which initiators name it.
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
