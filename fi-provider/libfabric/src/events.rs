//! Counters of the accesses of peers to the memory of a domain (FI_RMA_EVENT): the fabric counts in the
//! domain's memory, and progress takes over from there.

use crate::object::Code;
use crate::state::Objects;
use fi_ofi_abi::*;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::region::{Accesses, Region};
use std::sync::Arc;

/// The object to which a counter is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An endpoint, by its number: peers access the memory of a domain, and so each counts all.
    Endpoint(u64),
    /// A region, by the address of its object.
    Region(usize),
}

/// Object at which the accesses are counted.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Domain(Domain),
    Region(Arc<Region>),
}

impl Source {
    fn accesses(&self) -> Accesses {
        match self {
            Self::Domain(domain) => domain.accesses(),
            Self::Region(region) => region.accesses(),
        }
    }
}

/// A counter, and the accesses that it counts.
#[derive(Debug)]
pub(crate) struct Feed {
    owner: Owner,
    source: Source,
    /// FI_REMOTE_READ or FI_REMOTE_WRITE.
    kind: u64,
    counter: u64,
    /// Accesses that it has counted, or that were before.
    seen: u64,
}

impl Feed {
    fn now(&self) -> u64 {
        let accesses = self.source.accesses();
        if self.kind == FI_REMOTE_READ {
            accesses.reads
        } else {
            accesses.writes
        }
    }
}

impl Objects {
    /// Has a counter count the accesses that `flags` name: FI_REMOTE_READ, FI_REMOTE_WRITE or both.
    ///
    /// # Errors
    /// EINVAL where another one counts them already.
    pub(crate) fn bind_events(
        &mut self,
        owner: Owner,
        source: &Source,
        counter: u64,
        flags: u64,
    ) -> Result<(), Code> {
        let kinds = [FI_REMOTE_READ, FI_REMOTE_WRITE];
        let wanted = || kinds.into_iter().filter(|kind| flags & kind != 0);
        let is_taken = |kind| {
            let mut feeds = self.feeds.iter();
            feeds.any(|feed| (feed.owner, feed.kind) == (owner, kind))
        };
        if wanted().any(is_taken) {
            return Err(libc::EINVAL);
        }
        for kind in wanted() {
            let one = self.counters.get(counter).ok_or(FI_EDOMAIN)?;
            one.users.set(one.users.get() + 1);
            one.note_reads();
            let mut feed = Feed {
                owner,
                source: source.clone(),
                kind,
                counter,
                seen: 0,
            };
            feed.seen = feed.now();
            self.feeds.push(feed);
        }
        self.note_special();
        Ok(())
    }

    /// Lets the counters of an object go, which is closed.
    pub(crate) fn unbind_events(&mut self, owner: Owner) {
        self.feed();
        let counters = &self.counters;
        self.feeds.retain(|feed| {
            let stays = feed.owner != owner;
            if !stays && let Some(counter) = counters.get(feed.counter) {
                counter.users.set(counter.users.get() - 1);
            }
            stays
        });
        self.note_special();
    }

    /// Counts the accesses since the last time.
    pub(crate) fn feed(&mut self) {
        for feed in &mut self.feeds {
            let now = feed.now();
            if let Some(counter) = self.counters.get(feed.counter) {
                counter.raw.add(now.wrapping_sub(feed.seen));
            }
            feed.seen = now;
        }
    }

    /// Tells whether a counter counts accesses of peers, of which nobody wakes.
    pub(crate) fn is_fed(&self, counter: u64) -> bool {
        self.feeds.iter().any(|feed| feed.counter == counter)
    }
}
