//! Messages that come.

#![expect(unsafe_code, reason = "the endpoints' functions lead back to a list")]

use super::{Core, Ready, Way};
use crate::error::Error;
use crate::packet::{Packet, Record};
use crate::wire::{CHUNKS, DONE, DOWN, FAILED, FETCHED, REPLY, UNIT, UP, read};
use fi_job::Job;
use fi_provider::raw::address_vector::{AddressVector, PeerIndex};
use fi_provider::raw::completion::CompletionQueue;
use fi_provider::raw::domain::Domain;
use fi_provider::raw::endpoint::{self, Endpoint, InPlace, Lying, Take};
use fi_provider::raw::error as raw;
use std::cell::RefCell;

/// Messages that have come in a turn: where from, and by which way.
#[derive(Debug, Default)]
pub(super) struct Arrivals(RefCell<Vec<(u32, Way, Packet)>>);

impl Arrivals {
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        !self.0.borrow().is_empty()
    }

    fn take(&self, source: Option<PeerIndex>, lying: Lying, way: Way) -> bool {
        let Some(source) = source else {
            // Of a process that is not of the job.
            return true;
        };
        // SAFETY: the message lies there during the call.
        let packet = unsafe { Packet::copy(lying.bytes, lying.len) };
        self.0.borrow_mut().push((source, way, packet));
        true
    }
}

/// Takes a message with calls.
///
/// # Safety
/// `arrivals` leads to some, of the calling thread's turn.
unsafe fn take_calls(arrivals: *const (), source: Option<PeerIndex>, lying: Lying) -> bool {
    // SAFETY: the pointer leads to a list of this thread's turn.
    unsafe { &*arrivals.cast::<Arrivals>() }.take(source, lying, Way::Calls)
}

/// Takes another message.
///
/// # Safety
/// As [`take_calls`].
unsafe fn take_replies(arrivals: *const (), source: Option<PeerIndex>, lying: Lying) -> bool {
    // SAFETY: the pointer leads to a list of this thread's turn.
    unsafe { &*arrivals.cast::<Arrivals>() }.take(source, lying, Way::Replies)
}

/// Opens the endpoints of both ways: for calls, and for replies and reads. Collective.
///
/// # Errors
/// Those of the fabric and of the job.
pub(super) fn open(
    domain: &Domain,
    arrivals: &Arrivals,
    ended: &CompletionQueue,
    job: &mut Job,
) -> Result<(Endpoint, Endpoint), Error> {
    let vectors = [AddressVector::new(), AddressVector::new()];
    let open = |vector, queue: &CompletionQueue, take: Take| {
        let at = std::ptr::from_ref(arrivals).cast();
        // SAFETY: the list stays where it is, the core's alone, dropped behind the endpoints, whose
        // progress is made in turns; the functions call nothing of the endpoints.
        let in_place = unsafe { InPlace::new(take, at) };
        let config = endpoint::Config {
            in_place: Some(in_place),
            ..endpoint::Config::new(queue)
        };
        Endpoint::open(domain, vector, config)
    };
    let requests = open(&vectors[0], &CompletionQueue::new(1), take_calls)?;
    let replies = open(&vectors[1], ended, take_replies)?;
    let [to_requests, to_replies] = &vectors;
    let own = [requests.address(), replies.address()];
    job.introduce(own, [to_requests, to_replies])?;
    Ok((requests, replies))
}

impl Core {
    /// Looks at the messages that have come: those with calls come out of the turn as they are.
    pub(super) fn sort(&mut self) {
        let mut all = std::mem::take(&mut *self.arrivals.0.borrow_mut());
        for (source, way, packet) in all.drain(..) {
            match way {
                Way::Calls => self.out.push(Ready::Calls(source, packet)),
                Way::Replies => self.take_replies(source, packet),
            }
        }
        // The memory is used again.
        self.arrivals.0.replace(all);
    }

    fn take_replies(&mut self, source: u32, packet: Packet) {
        let mut at = 0;
        while let Some((header, end)) = packet.record(at) {
            let is_last = end == packet.bytes().len();
            match header.kind {
                REPLY if is_last => {
                    return self.take_reply(Record::new(source, header, packet, at + UNIT));
                }
                REPLY => self.take_reply(Record::new(source, header, packet.clone(), at + UNIT)),
                FETCHED => self.release(source, header.id),
                DONE => self.take_done(source, header.id),
                FAILED => {
                    let record = Record::new(source, header, packet.clone(), at + UNIT);
                    self.out.push(Ready::Lost(record.failure()));
                }
                UP | DOWN => {
                    if let Some(sums) = read(&packet.bytes()[at + UNIT..end]) {
                        self.waves.take(source, header.kind == UP, header.id, sums);
                    }
                }
                _ => return self.part(source, raw::Error::Broken),
            }
            at = end;
        }
        if at != packet.bytes().len() {
            // A reply that somebody waits for may have been there.
            self.part(source, raw::Error::Broken);
        }
    }

    fn take_reply(&mut self, record: Record) {
        let Some(waiting) = self.take_waiting(record.source, record.header.id) else {
            return;
        };
        let peer = &mut self.peers[record.source as usize];
        peer.unended = peer.unended.saturating_sub(1);
        if record.header.flags & CHUNKS != 0 {
            self.fetch(record, Some(waiting.sink));
        } else {
            self.out.push(Ready::Reply(waiting.sink, record));
        }
    }

    /// Takes note of calls without a reply that have run.
    fn take_done(&mut self, source: u32, ran: u64) {
        let peer = &mut self.peers[source as usize];
        let new = ran.saturating_sub(peer.told).min(peer.unended);
        peer.told = ran;
        peer.unended -= new;
        if new > 0 {
            self.out.push(Ready::Ended(new));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::calls::Calls;
    use crate::core::header;
    use crate::error::Error;
    use crate::packet::Packet;
    use crate::wire::{DONE, Header};
    use bytemuck::bytes_of;
    use fi_provider::raw::error as raw;

    #[test]
    fn a_message_that_is_cut_off_breaks_the_link() {
        let done = header(DONE, 0, 0);
        let long = Header { len: 32, ..done };
        for (bytes, is_whole) in [
            ([bytes_of(&done), bytes_of(&done)].concat(), true),
            ([bytes_of(&done), bytes_of(&long)].concat(), false),
            ([bytes_of(&done), &[0; 8]].concat(), false),
        ] {
            let calls = Calls::alone().unwrap();
            // SAFETY: the slice has so many bytes.
            let packet = unsafe { Packet::copy(bytes.as_ptr(), bytes.len()) };
            calls.inner().turn().take_replies(0, packet);
            let lost = calls.inner().turn().lost(0);
            let is_broken = matches!(
                lost,
                Some(Error::Link {
                    rank: 0,
                    error: raw::Error::Broken,
                })
            );
            assert!(is_broken != is_whole, "{lost:?}");
        }
    }
}
