//! Numbers of objects.

use super::Engine;

/// Objects of the device, of all contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Open contexts.
    pub contexts: usize,
    /// Protection domains.
    pub domains: usize,
    /// Memory regions.
    pub regions: usize,
    /// Completion queues.
    pub completion_queues: usize,
    /// Shared receive queues.
    pub shared_receive_queues: usize,
    /// Queue pairs of all kinds.
    pub queue_pairs: usize,
    /// Asynchronous events that the next step tells.
    pub async_events: usize,
}

impl Engine {
    /// Counts the objects that there are.
    #[must_use]
    pub fn census(&self) -> Census {
        Census {
            contexts: self.contexts.len(),
            domains: self.domains.len(),
            regions: self.regions.len(),
            completion_queues: self.cqs.len(),
            shared_receive_queues: self.srqs.len(),
            queue_pairs: self.qps.len(),
            async_events: self.async_events.len(),
        }
    }
}
