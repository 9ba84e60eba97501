//! Gathers on a port of libfabric's `tcp;ofi_rxm`, whose peers are all itself.

use super::*;
use crate::own::Own;
use crate::transfer::{Kept, Place};
use fi_shm::amo::Amo;
use std::sync::atomic::Ordering;
use std::thread;

/// More requests than there are buffers for them, and than a connection holds.
const MANY: u64 = 2000;

impl Own {
    /// Adds 1 to a word.
    fn add(&self, lane: &Lane, word: usize) {
        let added = self.port.update(lane, self.word(word), 8, Amo::Add(1));
        assert_eq!(added, Ok(()));
    }

    /// Writes a word by posts in line, and else by others.
    fn put(&self, lane: &Lane, word: usize, value: u64, name: Name) {
        let place = self.word(word);
        // SAFETY: the port is open and keeps the order of messages; a name is of the only region of
        // the only peer; the value has 8 bytes.
        unsafe {
            if lane.swap_again(name, || place.address, || value, 8)
                || lane.try_swap(|| place, || value, 8, name)
            {
                return;
            }
            let source = (&raw const value).cast();
            let written = self.port.write(lane, place, source, 8, Kept::ForTheCall);
            assert_eq!(written, Ok(()));
        }
    }

    fn word(&self, word: usize) -> Place {
        let first = self.place();
        Place {
            address: first.address + 8 * word as u64,
            ..first
        }
    }

    fn value(&self, word: usize) -> u64 {
        self.memory[word].load(Ordering::SeqCst)
    }

    /// Returns whether peers are to be sent probes.
    fn is_behind(&self, lane: &Lane) -> bool {
        let _state = self.port.lock();
        lane.is_behind()
    }

    fn is_idle(&self, lane: &Lane) -> bool {
        let _state = self.port.lock();
        lane.is_idle()
    }
}

#[test]
fn the_first_request_asks_for_its_answer_and_quiet_for_that_of_the_others() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    for turn in 1..=3 {
        own.add(&lane, 0);
        assert!(!own.is_behind(&lane));
        // It ends without a quiet.
        while !own.is_idle(&lane) {
            own.port.progress();
        }
        own.add(&lane, 0);
        assert!(own.is_behind(&lane));
        for _ in 0..100 {
            own.port.progress();
        }
        assert!(!own.is_idle(&lane), "nobody has asked");
        assert_eq!(own.port.quiet(&lane), Ok(()));
        assert!(own.is_idle(&lane));
        assert_eq!(own.value(0), 2 * turn);
    }
}

#[test]
fn quiet_delivers_any_number_of_requests_by_as_many_operations_as_there_were() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    own.put(&lane, 1, 1, 1);
    assert_eq!(own.port.quiet(&lane), Ok(()));
    let before = own.port.lock().operations.count();
    for turn in 1..=3 {
        for value in 1..=MANY {
            own.put(&lane, 1, turn << 32 | value, 1);
            own.add(&lane, 2);
        }
        assert_eq!(own.port.quiet(&lane), Ok(()));
        assert_eq!(own.value(1), turn << 32 | MANY);
        assert_eq!(own.value(2), turn * MANY);
    }
    assert_eq!(own.port.lock().operations.count(), before);
}

#[test]
fn quiet_asks_again_what_a_look_without_waiting_has_asked_before() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    for turn in 1..=100 {
        for _ in 0..3 {
            own.add(&lane, 0);
        }
        let _ = own.port.is_quiet(&lane);
        own.add(&lane, 0);
        if turn % 2 == 0 {
            assert_eq!(own.port.quiet(&lane), Ok(()));
        } else {
            while !own.port.is_quiet(&lane) {}
        }
        assert_eq!(own.value(0), 4 * turn);
    }
}

#[test]
fn a_gather_that_is_behind_counts_once() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    own.put(&lane, 0, 1, 1);
    for value in 2..=6 {
        own.put(&lane, 0, value, 1);
        assert!(own.is_behind(&lane));
    }
    assert_eq!(own.port.quiet(&lane), Ok(()));
    assert_eq!(own.value(0), 6);
}

#[test]
fn requests_behind_a_fence_ask_again_and_writes_wait_for_those_before_it() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    own.add(&lane, 0);
    own.add(&lane, 0);
    assert_eq!(own.port.fence(&lane), Ok(()));
    assert!(!own.is_behind(&lane), "the fence has asked");
    own.add(&lane, 0);
    assert!(!own.is_behind(&lane));
    while !own.is_idle(&lane) {
        own.port.progress();
    }
    own.add(&lane, 0);
    assert!(own.is_behind(&lane));
    assert_eq!(own.port.fence(&lane), Ok(()));
    let bytes = [0; 3];
    // SAFETY: the call takes the bytes over; the lane is kept until quiet.
    let written = unsafe {
        let source = bytes.as_ptr();
        own.port
            .write(&lane, own.word(1), source, 3, Kept::ForTheCall)
    };
    assert_eq!(written, Ok(()));
    assert_eq!(own.value(0), 4);
    assert_eq!(own.port.quiet(&lane), Ok(()));
}

#[test]
fn a_gather_is_of_one_peer_and_there_are_only_so_many() {
    let own = Own::new();
    let address = own.port.address().expect("an address");
    let key = own.port.lock().own.key;
    // The key of the job is the same with each of them.
    for _ in 0..MOST + 2 {
        own.port.insert(&address).expect("a peer");
    }
    let state = own.port.lock();
    assert_eq!(state.key, key.wrapping_mul(MOST as u64 + 3));
    let peers = state.peers.len() as u32;
    drop(state);
    let lane = Lane::new(&own.port, false);
    for turn in 1..=50_u64 {
        for peer in 0..peers {
            let place = Place {
                peer,
                ..own.word(0)
            };
            let added = own.port.update(&lane, place, 8, Amo::Add(1));
            assert_eq!(added, Ok(()));
        }
        if turn % 5 == 0 {
            assert_eq!(own.port.quiet(&lane), Ok(()));
            assert_eq!(own.value(0), turn * u64::from(peers));
        }
    }
    let gathers = lane.gathers.all();
    assert_eq!(gathers.count(), MOST);
}

#[test]
fn threads_that_share_a_lane_each_have_their_own_requests_delivered() {
    let own = Own::new();
    let lane = Lane::new(&own.port, true);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (own, lane) = (&own, &lane);
            scope.spawn(move || {
                for turn in 1..=100 {
                    for _ in 0..20 {
                        own.add(lane, thread);
                    }
                    assert_eq!(own.port.quiet(lane), Ok(()));
                    assert_eq!(own.value(thread), 20 * turn);
                }
            });
        }
    });
}

#[test]
fn lanes_wait_for_their_own_requests() {
    let own = Own::new();
    let lanes = [(); 2].map(|()| Lane::new(&own.port, false));
    for lane in &lanes {
        own.add(lane, 0);
        own.add(lane, 0);
    }
    assert_eq!(own.port.quiet(&lanes[0]), Ok(()));
    assert!(own.is_idle(&lanes[0]) && !own.is_idle(&lanes[1]));
    assert!(own.port.is_quiet(&lanes[0]));
    own.port.retire(&lanes[0]);
    assert_eq!(own.port.quiet(&lanes[1]), Ok(()));
    assert_eq!(own.value(0), 4);
    own.port.retire(&lanes[1]);
}

#[test]
fn a_refusal_is_told_by_quiet() {
    let own = Own::new();
    let lanes = [(); 2].map(|()| Lane::new(&own.port, false));
    own.add(&lanes[0], 0);
    let outside = own.port.update(&lanes[0], own.word(8), 8, Amo::Add(1));
    assert_eq!(outside, Ok(()));
    own.add(&lanes[0], 0);
    let refused = Failure {
        errno: libc::EFAULT,
        operation: Kind::Atomic.name(),
    };
    assert_eq!(own.port.quiet(&lanes[0]), Err(refused));
    assert_eq!(own.port.culprit(&lanes[0]), Some((0, refused)));
    assert_eq!(own.value(0), 2);
}

#[test]
fn a_lost_peer_is_not_waited_for() {
    let failure = Failure {
        errno: libc::ECONNRESET,
        operation: "write",
    };
    for is_asked in [false, true] {
        let own = Own::new();
        let lane = Lane::new(&own.port, false);
        own.put(&lane, 0, 1, 1);
        assert_eq!(own.port.quiet(&lane), Ok(()));
        for value in 2..5 {
            own.put(&lane, 0, value, 1);
        }
        let mut state = own.port.lock();
        if is_asked {
            own.port.probe(&mut state, &lane, Tries::UntilSent);
            // Behind again, too.
            let gather = lane.gather_to(0).expect("the gather");
            assert_eq!(Some(gather), lane.gathers.all().next());
        }
        let gather = lane.gathers.all().next().expect("a gather");
        for _ in 0..2 {
            // SAFETY: the gather is the lane's.
            unsafe { state.finish(gather, Some(failure)) };
            assert_eq!(lane.failure.get(), Some((0, failure)));
        }
        drop(state);
        assert_eq!(own.port.quiet(&lane), Err(failure));
        let late = own.port.update(&lane, own.word(0), 8, Amo::Add(1));
        assert_eq!(late, Err(failure));
    }
}
