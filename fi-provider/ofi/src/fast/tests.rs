//! Quiet in short on a port of libfabric's `tcp;ofi_rxm`.

use super::*;
use crate::message::Answer;
use crate::own::Own;
use crate::transfer::Kept;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

const WORD: u64 = 7;

/// Longer than a message takes to this process and back.
const BACK: Duration = Duration::from_millis(100);

impl Own {
    /// Writes a word, and waits until its completion has come, which nobody has taken.
    fn write(&self, lane: &Lane) {
        while lane.writes() == 0 {
            self.try_write(lane);
        }
    }

    /// Writes a word, and waits until its completion has come. The port's thread may have taken it,
    /// if it was at the queue already.
    fn try_write(&self, lane: &Lane) {
        self.port.progress();
        let bytes = WORD.to_ne_bytes();
        // SAFETY: the call takes the bytes over; the lane is kept until quiet.
        let written = unsafe {
            let source = bytes.as_ptr();
            self.port
                .write(lane, self.place(), source, 8, Kept::UntilQuiet)
        };
        assert_eq!(written, Ok(()));
        sleep(BACK);
    }

    /// Does quiet in short.
    fn quiet(lane: &Lane) -> Result<bool, u64> {
        // SAFETY: the port is open, and there is one lane.
        unsafe { Lane::try_quiet(|| lane, WORD) }
    }

    /// Does quiet in short until that is enough.
    fn quiet_in_the_end(lane: &Lane) -> bool {
        loop {
            match Self::quiet(lane) {
                Ok(is_shared) => return is_shared,
                Err(word) => assert_eq!(word, WORD),
            }
        }
    }

    /// Returns whether as many operations as lanes take are free ones of this lane, and as such
    /// are.
    fn is_whole(&self, lane: &Lane) -> bool {
        let _state = self.port.lock();
        let (mut count, mut next) = (0, lane.first_free());
        while !next.is_null() {
            // SAFETY: a free operation lies in a chunk, which stays.
            let one = unsafe { &*next };
            let is_lanes = one.lane == &raw const *lane && one.plain == one.lane;
            if !is_lanes || one.kind() != Kind::Plain || !one.notice.is_null() {
                return false;
            }
            (count, next) = (count + 1, one.next);
        }
        count == 16
    }
}

#[test]
fn quiet_in_short_takes_the_only_write_of_its_lane() {
    let own = Own::new();
    let lanes = [false, false, true].map(|is_shared| Lane::new(&own.port, is_shared));
    for lane in &lanes {
        own.write(lane);
        assert_eq!(Own::quiet_in_the_end(lane), lane.is_shared());
        assert!(own.is_whole(lane));
    }
    assert_eq!(own.memory[0].load(Ordering::SeqCst), WORD);
    let [one, other, _] = &lanes;
    // The queue may have the other lane's first.
    for (first, second) in [(one, other), (other, one)] {
        own.write(first);
        own.write(second);
        Own::quiet_in_the_end(second);
        Own::quiet_in_the_end(first);
        assert!(own.is_whole(first) && own.is_whole(second));
    }
    // A read is not plain, though it is alone.
    let mut found = 0_u64;
    own.port.progress();
    // SAFETY: there is room for the word until quiet.
    let read = unsafe {
        own.port
            .read(one, own.place(), (&raw mut found).cast(), 8, false)
    };
    assert_eq!(read, Ok(()));
    sleep(BACK);
    Own::quiet_in_the_end(one);
    assert!(own.is_whole(one));
    assert_eq!(found, WORD);
}

#[test]
fn quiet_in_short_leaves_the_queue_where_answers_wait_or_the_lane_is_fenced() {
    let own = Own::new();
    let lane = Lane::new(&own.port, false);
    own.write(&lane);
    {
        let mut state = own.port.lock();
        // The key is not the job's: its receiver drops it.
        let answer = Answer {
            key: 0,
            token: 0,
            found: None,
        };
        state.owe(0, answer);
    }
    assert_eq!(Own::quiet(&lane), Err(WORD));
    assert_eq!(own.port.quiet(&lane), Ok(()));
    assert!(own.port.lock().owed.is_empty());
    own.write(&lane);
    Own::quiet_in_the_end(&lane);

    let place = own.place();
    assert_eq!(own.port.update(&lane, place, 8, Amo::Add(1)), Ok(()));
    assert_eq!(own.port.fence(&lane), Ok(()));
    while !lane.is_idle() {
        own.port.progress();
    }
    assert_eq!(Own::quiet(&lane), Err(WORD));
    assert_eq!(own.port.quiet(&lane), Ok(()));
    assert_eq!(Own::quiet(&lane), Ok(false));
    assert!(own.is_whole(&lane));
}
