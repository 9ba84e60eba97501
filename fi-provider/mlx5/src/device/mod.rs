//! A device and the objects on it, set up by way of rdma-core, before the first entry is posted.
//!
//! libibverbs and libmlx5 are opened at run time, so that a program of this crate runs where they
//! are not installed; [`Device::open`] then says so. Every object keeps alive the objects that it
//! was made from, and is closed when it is dropped. A forked child that drops one leaves it alone:
//! it is the parent's.
//!
//! The rings that [`QueuePair::ring`], [`CompletionQueue::ring`] and [`ReceiveQueue::ring`] tell of
//! are the library's memory. Nothing here posts or polls, and the library does not either: their
//! user alone writes entries, doorbell records and registers. [`Datagrams`] are the exception: there
//! the library posts and polls.

#![expect(
    unsafe_code,
    reason = "calls the C functions of rdma-core on the objects that they gave"
)]

mod account;
mod capability;
mod channel;
mod completion;
mod context;
mod datagrams;
mod domain;
mod features;
mod pool;
mod queue_pair;
mod receive_queue;
mod region;
mod target;

pub use account::{Account, Objects, Regime};
pub use channel::Channel;
pub use completion::{CompletionQueue, Overrun};
pub use datagrams::{Datagrams, Received, Recipient};
pub use domain::ThreadDomain;
pub use features::Features;
pub use pool::{Pool, Seat};
pub use queue_pair::{Peer, QueuePair};
pub use receive_queue::ReceiveQueue;
pub use region::{Region, Rights};
pub use target::Target;

use crate::error::Error;
use context::{Context, Opened, Protection};
use std::sync::Arc;

/// An open device, with a protection domain and a port.
#[derive(Clone, Debug)]
pub struct Device {
    context: Arc<Context>,
    protection: Arc<Protection>,
    features: Features,
    /// See [`Device::with_key`].
    key: u64,
}

impl Device {
    /// Opens the first mlx5 device with an active InfiniBand port, or the one of this name.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], [`Error::NotLoaded`] and [`Error::TooOld`] of the libraries;
    /// [`Error::NoDevice`]; [`Error::Call`] where a device does not have the functions that all
    /// have.
    pub fn open(name: Option<&str>) -> Result<Self, Error> {
        let Opened { context, features } = Context::open(name)?;
        let mut device = Self::on(Arc::new(context), features, 0)?;
        device.features.dc = device.has_targets();
        Ok(device)
    }

    /// Returns this device with the key of its process, a random number that peers know: from it
    /// and the number of a queue pair follows the number of the first packet that the queue pair
    /// sends ([`Peer`]). Without a key, it is 0.
    #[must_use]
    pub fn with_key(self, key: u64) -> Self {
        Self { key, ..self }
    }

    fn on(context: Arc<Context>, features: Features, key: u64) -> Result<Self, Error> {
        Ok(Self {
            protection: Arc::new(Protection::new(&context)?),
            context,
            features,
            key,
        })
    }

    /// Opens the same device once more: another context, with doorbell pages of its own, and a protection domain in it. Memory that
    /// its queue pairs are to use has to be registered there.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn another_context(&self) -> Result<Self, Error> {
        let Opened { context, .. } = Context::open(Some(self.name()))?;
        Self::on(Arc::new(context), self.features, self.key)
    }

    /// Makes another protection domain on the same context: memory and queue pairs of the one are
    /// not for those of the other.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn another_protection_domain(&self) -> Result<Self, Error> {
        Self::on(Arc::clone(&self.context), self.features, self.key)
    }

    /// Returns which component hands out the doorbell registers of queue pairs that are in no
    /// thread domain.
    #[must_use]
    pub fn regime(&self) -> Regime {
        self.context.book.regime()
    }

    /// Returns the resources that this context takes, in all of its protection domains.
    #[must_use]
    pub fn account(&self) -> Account {
        self.context.book.account()
    }

    /// Returns the number of objects of each kind on this context, in all of its protection
    /// domains.
    #[must_use]
    pub fn objects(&self) -> Objects {
        self.context.book.objects()
    }

    /// Returns the kernel's name for it, such as `mlx5_0`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.context.name()
    }

    /// Returns the features of the device and its port.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Registers `len` bytes at `base` for the device to read and write, and for peers that know the key to read, write and do atomics on.
    ///
    /// # Errors
    /// [`Error::Locked`] where the process may not lock so much memory; [`Error::Call`].
    ///
    /// # Safety
    /// The bytes are mapped, readable and writable. Until the region is dropped others write them at any time: no reference may need them not to change.
    pub unsafe fn register(&self, base: *mut u8, len: usize) -> Result<Region, Error> {
        // SAFETY: the bytes are mapped, readable and writable, and no reference needs them not to
        // change.
        unsafe { Region::new(&self.protection, base, len, Rights::ALL) }
    }

    /// Registers memory as [`Device::register`] does, with these rights of peers. In entries, their
    /// own and those of peers, the byte at `base` has address `io_address`, and not the process's;
    /// with 0 addresses are offsets.
    ///
    /// # Errors
    /// As [`Device::register`]; [`Error::TooOld`] of a libibverbs that cannot.
    ///
    /// # Safety
    /// As [`Device::register`].
    pub unsafe fn register_at(
        &self,
        base: *mut u8,
        len: usize,
        io_address: u64,
        rights: Rights,
    ) -> Result<Region, Error> {
        // SAFETY: the bytes are mapped, readable and writable, and no reference needs them not to
        // change.
        unsafe { Region::at(&self.protection, base, len, io_address, rights) }
    }

    /// Registers memory as [`Device::register`] does, for this process's own entries alone: peers
    /// have no right to it.
    ///
    /// # Errors
    /// As [`Device::register`].
    ///
    /// # Safety
    /// As [`Device::register`].
    pub unsafe fn register_local(&self, base: *mut u8, len: usize) -> Result<Region, Error> {
        // SAFETY: the bytes are mapped, readable and writable, and no reference needs them not to
        // change.
        unsafe { Region::new(&self.protection, base, len, Rights::NONE) }
    }

    /// Returns whether the library keeps registered memory out of forked children
    /// (`RDMAV_FORK_SAFE`, where the kernel does not copy it for them): they do not have its pages
    /// at all.
    #[must_use]
    pub fn hides_memory_from_children(&self) -> bool {
        self.context.library.is_fork_initialised()
    }

    /// Makes a thread domain: a doorbell register of its own, for queue pairs that one thread at a
    /// time posts to. Two that are made one after the other share a page: a caller that wants a
    /// page makes two, and uses one.
    ///
    /// # Errors
    /// [`Error::Call`] where no register or page is left.
    pub fn lane_domain(&self) -> Result<ThreadDomain, Error> {
        ThreadDomain::new(&self.protection)
    }

    /// Returns a domain without a thread domain: queue pairs get the registers that the driver
    /// assigns, which may be those of others of this context, and takes no copies where the ring's
    /// `register_size` is 0.
    #[must_use]
    pub fn plain_domain(&self) -> ThreadDomain {
        ThreadDomain::plain(&self.protection)
    }

    /// Makes a completion queue of at least so many entries of 64 bytes, uncompressed, polled by
    /// one thread at a time.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn completion_queue(
        &self,
        domain: &ThreadDomain,
        entries: u32,
    ) -> Result<CompletionQueue, Error> {
        let entries = (entries, Overrun::Possible);
        CompletionQueue::new(&self.context, Some(domain), None, entries, None)
    }

    /// Makes a shared receive queue of at least so many entries, a power of two, and the completion
    /// queue of its receives. One thread at a time posts and polls.
    ///
    /// # Errors
    /// [`Error::Call`], also where the device has no queues of so many entries.
    pub fn receive_queue(&self, entries: u32) -> Result<ReceiveQueue, Error> {
        ReceiveQueue::new(&self.protection, None, entries)
    }

    /// Makes a receive queue as [`Device::receive_queue`] does; its completions have events in this
    /// file, of the same context.
    ///
    /// # Errors
    /// As [`Device::receive_queue`].
    pub fn receive_queue_telling(
        &self,
        channel: &Channel,
        entries: u32,
    ) -> Result<ReceiveQueue, Error> {
        ReceiveQueue::new(&self.protection, Some(channel), entries)
    }

    /// Makes a file of completion events.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn channel(&self) -> Result<Channel, Error> {
        Channel::new(&self.context)
    }

    /// Returns whether there are dynamic connections: no query tells it to a user without the right
    /// to DEVX. A target is tried, as it takes no doorbell register.
    fn has_targets(&self) -> bool {
        self.target(0).is_ok()
    }
}
