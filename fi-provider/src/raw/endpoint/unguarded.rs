//! References without a count.

#![expect(unsafe_code, reason = "borrows cells without a count")]

use std::cell::RefCell;

/// Borrows without a count, which takes instructions.
///
/// # Safety
/// No other reference to the value is there as long as this one is used.
#[expect(clippy::mut_from_ref, reason = "the caller promises that there is one")]
#[inline(always)]
pub(crate) unsafe fn unguarded<T>(cell: &RefCell<T>) -> &mut T {
    debug_assert!(cell.try_borrow_mut().is_ok());
    // SAFETY: the only reference; the value is the cell's, and lives as long.
    unsafe { &mut *cell.as_ptr() }
}

#[cfg(test)]
mod tests {
    use crate::raw::address_vector::AddressVector;
    use crate::raw::completion::CompletionQueue;
    use crate::raw::domain::{self, Domain};
    use crate::raw::endpoint::{Config, Endpoint, Posted, Wanted};

    const SENDERS: usize = 3;
    const TAG: u64 = 5;

    fn open(domain: &Domain, vector: &AddressVector, queue: &CompletionQueue) -> Endpoint {
        Endpoint::open(domain, vector, Config::new(queue)).expect("an endpoint")
    }

    fn domain() -> Domain {
        let config = domain::Config {
            arena_bytes: 16 << 20,
            ..domain::Config::default()
        };
        Domain::open(config).expect("a domain")
    }

    /// Checks that of each ring whose bell has rung one turn takes the messages, of any kind.
    #[test]
    fn one_turn_looks_at_all_rings() {
        let (own, other) = (domain(), domain());
        let (vector, peers) = (AddressVector::new(), AddressVector::new());
        let (queue, sent) = (CompletionQueue::new(64), CompletionQueue::new(64));
        let receiver = open(&own, &vector, &queue);
        let to = peers.insert(&receiver.address()).expect("a number");
        let senders = [(); SENDERS].map(|()| open(&other, &peers, &sent));
        for sender in &senders {
            vector.insert(&sender.address()).expect("a number");
        }
        let mut bytes = [[0_u8; 16]; SENDERS];
        // Each sender sends a message with a tag or without, or longer than the commonest.
        for kinds in 0..3_usize.pow(SENDERS as u32) * 3 {
            let kind = |at: usize| kinds / 3_usize.pow(at as u32) % 3;
            for (at, buffer) in bytes.iter_mut().enumerate() {
                let (buffer, posted) = (
                    buffer.as_mut_ptr(),
                    Posted {
                        context: at as u64,
                        source: None,
                        least: None,
                    },
                );
                // SAFETY: the buffers are there until their entries are, which is in this turn.
                unsafe {
                    match kind(at) {
                        0 => receiver.post_receive(buffer, 16, posted),
                        _ => receiver.post_tagged(buffer, 16, Wanted::tag(TAG), at as u64),
                    }
                }
            }
            for (at, sender) in senders.iter().enumerate() {
                let done = match kind(at) {
                    0 => sender.inject(to, &[at as u8; 8]),
                    1 => sender.inject_tagged(to, &[at as u8; 8], TAG, None),
                    _ => sender.inject_tagged(to, &[at as u8; 7], TAG, None),
                };
                assert_eq!(done, Ok(()));
            }
            receiver.progress();
            let entries = std::iter::from_fn(|| queue.next()).count();
            assert_eq!(entries, SENDERS, "{kinds}");
        }
    }
}
