//! Peers that something is waited for, and sleeping until libfabric tells of something.

#![expect(
    unsafe_code,
    reason = "borrows a descriptor of libfabric's by its number"
)]

use super::Libfabric;
use super::alarm::Alarm;
use super::notice::{Kind, Notice};
use super::path::LibfabricPath;
use crate::raw::endpoint::link::Link;
use crate::raw::endpoint::{Endpoint, Outlook};
use crate::raw::error::Error;
use crate::raw::waker::{Set, Waker};
use fi_ofi::Messenger;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Longest time that a peer may be silent while something is waited for, before it is probed.
const SILENCE: Duration = Duration::from_secs(1);
/// Turns between two looks at the clock.
const TURNS: u32 = 16;

impl Libfabric {
    /// Returns the descriptor that is readable when this one is, or libfabric tells of something.
    pub(crate) fn descriptor(&self, waker: &Waker) -> Result<BorrowedFd<'_>, Error> {
        if let Some((set, _)) = self.sleep.get() {
            return Ok(set.as_fd());
        }
        let (set, alarm) = (Set::new()?, Alarm::new()?);
        set.add(waker)?;
        set.add(&alarm)?;
        if let Some(queue) = self.messenger.descriptor() {
            // SAFETY: the descriptor is open as long as the messenger, and so longer than the call.
            set.add(&unsafe { BorrowedFd::borrow_raw(queue) })?;
        }
        Ok(self.sleep.get_or_init(|| (set, alarm)).0.as_fd())
    }

    /// Looks at the peers for which messages beside records wait: no line need lead to them.
    fn look_for_owed(&self) {
        let mut peers: Vec<_> = self.owed.borrow().iter().map(|it| it.peer).collect();
        peers.sort_unstable();
        peers.dedup();
        for peer in peers {
            let numbers = self.numbers.borrow();
            let name = numbers.iter().find(|(_, number)| **number == peer);
            if name.is_some_and(|(name, _)| Messenger::is_refused(name)) {
                self.note_end(peer);
            }
        }
    }
}

impl Endpoint {
    /// Returns whether something is waited for that the peer's process does.
    fn is_waiting_for(&self, link: &Link) -> bool {
        let on_path = |path: &LibfabricPath| {
            path.line.is_waiting() || path.libfabric.looks.are_waiting_for(path.line.id)
        };
        let path = link.libfabric().is_some_and(on_path);
        link.is_alive() && (path || link.asked.get() > 0 || link.burden() > 0)
    }

    /// Notes a turn, whether it has found something or not: others may keep it busy. Peers that
    /// something is waited for are probed each second: libfabric tells of those that are gone.
    pub(super) fn note_turn(&self, libfabric: &Libfabric) {
        let turns = libfabric.turns.get().wrapping_add(1);
        libfabric.turns.set(turns);
        if turns.is_multiple_of(TURNS) && libfabric.probed.get().elapsed() >= SILENCE {
            self.probe_by_libfabric(libfabric);
        }
    }

    /// Probes peers if it is time. Returns when it will be, where something is waited for.
    #[cold]
    fn probe_by_libfabric(&self, libfabric: &Libfabric) -> Option<Duration> {
        let silent = libfabric.probed.get().elapsed();
        let left = SILENCE.checked_sub(silent);
        let links = self.libfabric_links();
        let mut waiting = links.iter().filter(|link| self.is_waiting_for(link));
        if let Some(left) = left {
            return waiting.next().map(|_| left);
        }
        libfabric.probed.set(Instant::now());
        let probed = waiting.filter_map(|link| link.libfabric());
        let count = probed.map(|path| {
            let notice = Notice {
                peer: path.line.peer,
                kind: Kind::Probe,
                line: path.line.id,
                words: [0; 4],
            };
            if !libfabric.try_to_tell(notice) && path.line.is_refused() {
                libfabric.note_end(path.line.peer);
            }
        });
        let count = count.count();
        libfabric.look_for_owed();
        (count > 0).then_some(SILENCE)
    }

    /// Has the endpoint's descriptor become readable when libfabric has something.
    pub(crate) fn arm_libfabric(&self, libfabric: &Libfabric) -> Outlook {
        let waits = libfabric.arrivals.borrow().has_left()
            || !libfabric.owed.borrow().is_empty()
            || !libfabric.ungreeted.borrow().is_empty();
        let Some((_, alarm)) = libfabric.sleep.get().filter(|_| !waits) else {
            return Outlook::Untold;
        };
        if libfabric.messenger.descriptor().is_none() {
            return Outlook::Untold;
        }
        alarm.set(self.probe_by_libfabric(libfabric));
        if libfabric.has_ended.get() || !libfabric.messenger.may_sleep() {
            return Outlook::Busy;
        }
        Outlook::Quiet
    }
}

#[cfg(test)]
mod tests {
    use crate::raw::address_vector::AddressVector;
    use crate::raw::completion::CompletionQueue;
    use crate::raw::domain::{self, Domain};
    use crate::raw::endpoint::{Config, Endpoint};
    use crate::raw::error::Error;
    use crate::raw::far::Transport;
    use std::time::Duration;

    fn open(node: u32) -> (AddressVector, Endpoint) {
        let config = domain::Config {
            far: Some(Transport::Libfabric(Some("tcp;ofi_rxm"))),
            node: Some(node),
            ..domain::Config::default()
        };
        let domain = Domain::open(config).unwrap();
        let vector = AddressVector::new();
        let config = Config::new(&CompletionQueue::new(4));
        let endpoint = Endpoint::open(&domain, &vector, config).unwrap();
        (vector, endpoint)
    }

    #[test]
    fn few_turns_that_others_keep_busy_find_a_peer_that_is_gone() {
        let ((here, one), (there, other)) = (open(0), open(1));
        let (_, gone) = open(2);
        let own = there.insert(&one.address()).unwrap();
        let peer = here.insert(&gone.address()).unwrap();
        // Nobody knows of it.
        drop(gone);
        let mut said = 0;
        let mut last = Ok(());
        for turn in 0..250 {
            said += u32::from(other.inject(own, b"again").is_ok());
            other.progress();
            std::thread::sleep(Duration::from_millis(12));
            one.progress();
            // As seldom as programs ask that have something else to do.
            if turn % 50 == 0 {
                last = one.inject(peer, b"there?");
            }
            if last == Err(Error::PeerGone) {
                assert_eq!(one.resolve(peer, 1).map(drop), last);
                assert!(said > 0);
                return;
            }
        }
        panic!("{last:?} after {said} messages");
    }
}
