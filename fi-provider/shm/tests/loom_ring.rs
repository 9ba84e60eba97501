//! Rings and bells under the loom model checker: every interleaving of senders and a receiver, with
//! the C11 memory model, in rings so small that records wrap.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile tools -p fi-shm --test loom_ring`.

#![cfg(loom)]
#![expect(unsafe_code, reason = "ends of rings in raw memory")]

use fi_shm::bell::{Bell, Bells};
use fi_shm::ring::{Model, Receiver, Sender};
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(model);
}

/// The smallest capacity: 8 words, of which the longest record takes three.
const CAPACITY: usize = 64;

/// A word of a payload that would be a good header if it were taken for one: a record of 8 bytes.
const LIKE_A_HEADER: u64 = 0xfa5e << 48 | 8;

/// Sends record `number` with `words` words; waits for room.
fn send(sender: &mut Sender, number: u64, words: usize) {
    loop {
        if let Some(mut room) = sender.reserve(8 * words).expect("a whole ring") {
            for index in 0..words {
                room.set_word(index, LIKE_A_HEADER + (number << 32));
            }
            return room.publish(number as u16);
        }
        thread::yield_now();
    }
}

/// Receives record `number`, which has `words` words. Returns whether it is there.
fn receive(receiver: &mut Receiver, number: u64, words: usize) -> bool {
    let kind = number as u16;
    let first = match number % 2 {
        0 => receiver.short(kind),
        _ => receiver.of_kind(kind),
    };
    if let Ok(Some(record)) = first {
        assert_eq!(record.len(), 8 * words);
        for index in 0..words {
            assert_eq!(record.word(index), Some(LIKE_A_HEADER + (number << 32)));
        }
        record.done();
        return true;
    }
    let Some(record) = receiver.next().expect("a whole ring") else {
        return false;
    };
    assert_eq!(
        (u64::from(record.kind()), record.len()),
        (number, 8 * words)
    );
    for index in 0..words {
        assert_eq!(record.word(index), Some(LIKE_A_HEADER + (number << 32)));
    }
    assert_eq!(record.word(words), None);
    true
}

/// Sends records of so many words each, and receives them by asking again and again.
fn all_arrive(preemptions: usize, capacity: usize, records: &'static [usize]) {
    check(preemptions, move || {
        let ring = Arc::new(Model::new(capacity));
        let other = Arc::clone(&ring);
        let sending = thread::spawn(move || {
            // SAFETY: a model of a ring of this capacity, which the thread keeps; its one sender.
            let mut sender = unsafe { Sender::new(other.memory(), capacity) };
            for (number, &words) in (0..).zip(records) {
                send(&mut sender, number, words);
            }
            while sender.in_flight().expect("a whole ring") > 0 {
                thread::yield_now();
            }
        });
        // SAFETY: a model of a ring of this capacity, which is kept; its one receiver.
        let mut receiver = unsafe { Receiver::new(ring.memory(), capacity) };
        for (number, &words) in (0..).zip(records) {
            while !receive(&mut receiver, number, words) {
                thread::yield_now();
            }
        }
        assert!(!receive(&mut receiver, 0, 0));
        assert!(receiver.is_idle());
        sending.join().unwrap();
    });
}

#[test]
fn records_are_seen_whole_and_in_order() {
    all_arrive(4, CAPACITY, &[2, 0]);
}

#[test]
fn records_wrap_behind_a_skip() {
    all_arrive(3, CAPACITY, &[2, 2, 2]);
}

#[test]
fn records_wrap_at_the_very_end_and_stale_words_are_no_headers() {
    all_arrive(3, CAPACITY, &[1, 2, 2, 2]);
}

#[test]
fn short_records_are_seen_whole() {
    all_arrive(4, 2 * CAPACITY, &[1, 1]);
}

/// Returns the memory of one word of bells.
fn bells_memory() -> Arc<[AtomicU64; 2]> {
    Arc::new([AtomicU64::new(0), AtomicU64::new(0)])
}

/// Checks that the bell is taken in the end, in any order: by a receiver that sleeps unless it sees
/// the bell, after it has asked to be woken, and with a sender that wakes it only where it was
/// asked.
#[test]
fn no_wake_up_is_lost() {
    check(4, || {
        let words = bells_memory();
        // SAFETY: the request and a word, zero, which are kept until the end; nothing else accesses
        // them.
        let bells = unsafe { Bells::new(words.as_ptr().cast_mut().cast(), 1) };
        let wake = Arc::new((Mutex::new(false), Condvar::new()));
        let (bell, waking) = (bells.bell(0).expect("a bell"), Arc::clone(&wake));
        let sending = thread::spawn(move || {
            if bell.ring() {
                assert_eq!(bell.request(), 5);
                *waking.0.lock().unwrap() = true;
                waking.1.notify_one();
            }
        });
        if !bells.watch(1, 5) {
            // A thread that is not woken sleeps for ever, which loom tells.
            let mut is_awake = wake.0.lock().unwrap();
            while !*is_awake {
                is_awake = wake.1.wait(is_awake).unwrap();
            }
        }
        assert_eq!(bells.take(0), 1);
        sending.join().unwrap();
        words[0].store(0, Relaxed);
    });
}

/// Checks that the bells alone find all that was rung, of two rings and one word of bells.
#[test]
fn each_ring_that_is_rung_is_found() {
    rung_is_found(2, &[1], 3, Of::Bits);
    rung_is_found(1, &[1, 1], 4, Of::Bits);
}

/// Checks that the one bell of two rings finds all that was rung.
#[test]
fn each_ring_of_a_shared_bell_is_found() {
    rung_is_found(2, &[1], 3, Of::OneByte);
    rung_is_found(1, &[1, 1], 4, Of::OneByte);
}

/// The bells of rings.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Bits,
    /// All have that of the first byte.
    OneByte,
}

/// Lets `senders` threads send so many words each, ringing after each record; the receiver takes
/// the bells and drains.
fn rung_is_found(senders: usize, records: &'static [usize], preemptions: usize, of: Of) {
    check(preemptions, move || {
        let words = bells_memory();
        // SAFETY: the request and a word, zero, which are kept until the end; nothing else accesses
        // them.
        let bells = unsafe { Bells::new(words.as_ptr().cast_mut().cast(), senders) };
        let rings: Vec<_> = (0..senders)
            .map(|_| Arc::new(Model::new(CAPACITY)))
            .collect();
        let start = |(i, ring): (usize, &Arc<Model>)| {
            let i = if of == Of::OneByte { 0 } else { i };
            let (bell, ring): (Bell, _) = (bells.bell(i).expect("a bell"), Arc::clone(ring));
            thread::spawn(move || {
                // SAFETY: a model of a ring of this capacity, which is kept; its one sender.
                let mut sender = unsafe { Sender::new(ring.memory(), CAPACITY) };
                for (number, &words) in (0..).zip(records) {
                    send(&mut sender, number, words);
                    match of {
                        Of::Bits => assert!(!bell.ring()),
                        // SAFETY: the receiver does not sleep, and there is one bell.
                        Of::OneByte => unsafe { bell.of_byte().expect("a byte").ring() },
                    }
                }
            })
        };
        let sending: Vec<_> = rings.iter().enumerate().map(start).collect();
        let mut receivers: Vec<_> = rings
            .iter()
            // SAFETY: a model of a ring of this capacity, which is kept; its one receiver.
            .map(|ring| unsafe { Receiver::new(ring.memory(), CAPACITY) })
            .map(|receiver| (receiver, 0))
            .collect();
        let all = records.len();
        while receivers.iter().any(|&(_, received)| received < all) {
            let taken = match of {
                Of::Bits => bells.take(0),
                Of::OneByte => bells.silence_bytes(),
            };
            for (i, (receiver, received)) in receivers.iter_mut().enumerate() {
                let bell = if of == Of::OneByte { 0 } else { i };
                while taken & 1 << bell != 0 {
                    let words = records.get(*received).copied().unwrap_or(0);
                    if !receive(receiver, *received as u64, words) {
                        break;
                    }
                    *received += 1;
                }
            }
            if taken == 0 {
                thread::yield_now();
            }
        }
        sending
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        words[0].store(0, Relaxed);
    });
}
