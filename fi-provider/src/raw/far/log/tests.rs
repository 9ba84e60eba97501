//! The notes of operations at blocks that the tests choose, without a device.

use super::*;
use crate::raw::completion::{
    Context, Counted, CountedContext, CountedFailureContext, FailureContext, Silent,
};

fn taken(log: &Log, end: u64) -> Vec<(u64, Mark)> {
    std::iter::from_fn(|| log.advance(end)).collect()
}

#[test]
fn operations_are_taken_in_their_order_and_blanks_left_out() {
    let log = Log::new(0, None, None, 8);
    let follows = Follows::default();
    let (counted, told) = (
        Mark::WRITE.of(Counted, follows),
        Mark::WRITE.of(Context(7), Follows::YES),
    );
    // Twice around the ring.
    for start in [0, 6, 12] {
        log.note(start, counted, 8, Counted);
        log.note(start + 2, told, 5, Context(start));
        assert_eq!(taken(&log, start + 2), [(start, counted)]);
        assert!(log.is_empty(start + 2) && !log.is_empty(start + 3));
        assert_eq!(log.take_plain(start + 6), Some((start + 2, told)));
        let Plain { context, len, .. } = log.plain_at(start + 2).get();
        assert_eq!((context, len), (start, 5));
        assert_eq!(log.take_plain(start + 6), None);
        assert!(log.is_empty(start + 6));
    }
    assert!(counted.counts() && !counted.has_context() && !counted.follows());
    assert!(!told.counts() && told.has_context() && told.follows());
    log.end();
    assert!(log.is_empty(100), "nothing more is waited for");
    assert_eq!(taken(&log, 3), [], "what is behind is not taken again");
}

#[test]
#[should_panic(expected = "an operation was not reported")]
fn a_block_is_not_used_again_before_its_operation_is_reported() {
    let log = Log::new(0, None, None, 8);
    let mark = Mark::WRITE.of(Counted, Follows::default());
    log.note(0, mark, 8, Counted);
    log.note(8, mark, 8, Counted);
}

#[test]
fn operations_that_leave_a_report_alone_are_simple() {
    let log = Log::new(0, None, None, 8);
    let take = |block| {
        // SAFETY: none of the operations brings a word.
        let taken = unsafe { log.take_simple(block) };
        let plain = taken.map(|(mark, plain)| (mark.operation(), plain.get()));
        plain.map(|(operation, plain)| (operation, plain.context, plain.len))
    };
    let mark = |mark: Mark| mark.of(Context(7), Follows::YES);
    // Past the end of the ring.
    for block in 5..12 {
        log.go_on(block);
        assert_eq!(take(block), None, "it is blank");
        log.note(block, mark(Mark::READ), 5, Context(block));
        assert_eq!(take(block), Some((Operation::Read, block, 5)));
        assert_eq!((take(block), log.seen()), (None, block + 1));
    }
    log.note(12, mark(Mark::WRITE), 6, Context(12));
    assert_eq!(take(12), Some((Operation::Write, 12, 6)));
    for other in [Mark::DETAILS, Mark::MISPLACED] {
        let flags = mark(Mark::READ).flags | other;
        log.slot(13)
            .note(Mark::new(Operation::Read, flags), 8, None);
        assert_eq!((take(13), log.seen()), (None, 13), "it is left");
        log.slot(13).clear();
    }
}

#[test]
fn the_oldest_operation_is_taken_if_it_has_an_entry() {
    let log = Log::new(0, None, None, 8);
    let take = || {
        let oldest = log.oldest();
        // SAFETY: the operations are done, and those that bring words have room for them.
        let taken = unsafe {
            match (oldest.is_entry(), oldest.is_word()) {
                (false, false) => return None,
                (_, false) => oldest.take::<false>(),
                (_, true) => oldest.take::<true>(),
            }
        };
        let (note, plain) = (taken.0, taken.1.get());
        Some((note, plain.operation, plain.context))
    };
    let counter = |note| Mark::counter(note, ["read", "written", "nothing"]);
    let words: Vec<_> = (0..8).map(|_| AtomicU64::new(0)).collect();
    log.first.set(words.as_ptr());
    let mut word = 0_u64;
    for block in 6..24 {
        log.go_on(block);
        assert_eq!(take(), None, "it is blank");
        let follows = if block % 2 == 0 {
            Follows::YES
        } else {
            Follows::default()
        };
        for (mark, counted) in [
            (Mark::WRITE, "written"),
            (Mark::READ, "read"),
            (Mark::ADDITION, "written"),
            (Mark::READ_WORD, "read"),
            (Mark::ATOMIC, "written"),
            (Mark::FETCH, "read"),
        ] {
            let place = ((&raw mut word).cast::<u8>(), 8);
            for (mark, counted) in [
                (mark.of(Context(block), follows), "nothing"),
                (mark.of(CountedContext(block), follows), counted),
            ] {
                log.go_on(block);
                log.note_word(block, mark, place, Context(block));
                let (note, operation, context) = take().expect("the oldest");
                assert_eq!((operation, context), (mark.operation(), block));
                assert_eq!((counter(note), log.seen()), (counted, block + 1));
            }
            let silent = mark.of(Counted, follows);
            for other in [
                silent.flags,
                silent.flags | Mark::DETAILS,
                mark.flags | Mark::MISPLACED,
                mark.flags | Mark::NONE,
            ] {
                log.go_on(block);
                let other = Mark {
                    flags: other,
                    ..mark
                };
                log.note_word(block, other, place, Context(block));
                assert_eq!((take(), log.seen()), (None, block), "it is left");
                log.slot(block).clear();
            }
        }
    }
    // Reads of results that no device has written.
    assert_eq!(word, 0);
}

#[test]
fn words_are_misplaced_until_their_operation_ends() {
    let log = Log::new(0, None, None, 8);
    let mark = Mark::READ_WORD.of(Silent, Follows::default());
    let mut word = 0_u64;
    let place = ((&raw mut word).cast(), 8);
    for is_reported in [true, false] {
        log.go_on(0);
        log.note_word(3, mark, place, Silent);
        log.note(4, Mark::WRITE, 8, Silent);
        assert_eq!(log.misplaced.get(), 0);
        let mut all = log.take_all(5);
        log.go_on(64);
        log.note_again(all.remove(0), 64);
        log.note_again(all.remove(0), 65);
        // Again, before it is done.
        let mut all = log.take_all(66);
        log.note_again(all.remove(0), 66);
        assert!(log.misplaced.get() > 0);
        if is_reported {
            let (block, mark) = log.advance(67).expect("the read");
            // SAFETY: there is room for a word.
            let promise = unsafe { log.end_plain(block, mark, false) };
            assert!(!promise.has_entry && promise.context == 0);
        } else {
            log.forget(&log.take_all(67)[0]);
        }
        assert_eq!(log.misplaced.get(), 0);
    }
}

#[test]
fn failures_have_the_context_of_their_operation() {
    let log = Log::new(0, None, None, 8);
    let failure = |block| {
        let (at, mark) = log.advance(block + 1).expect("an operation");
        // SAFETY: none of the operations brings a word.
        let promise = unsafe { log.end_plain(at, mark, false) };
        (promise.context, promise.has_entry, promise.counts)
    };
    let follows = Follows::default();
    // The blocks of each turn have had the contexts of the one before.
    for block in [0, 8, 16] {
        let (silent, named) = (Silent, FailureContext(block));
        log.note(block, Mark::WRITE.of(silent, follows), 8, silent);
        assert_eq!(failure(block), (0, false, false));
        log.note(block + 1, Mark::WRITE.of(named, follows), 8, named);
        // Its connection is another one in between.
        let all = log.take_all(block + 2);
        for noted in all {
            log.note_again(noted, block + 2);
        }
        assert_eq!(failure(block + 2), (block, false, false));
        let counted = CountedFailureContext(block);
        log.note(block + 3, Mark::READ.of(counted, follows), 8, counted);
        assert_eq!(failure(block + 3), (block, false, true));
        let told = CountedContext(block + 1);
        log.note(block + 4, Mark::READ.of(told, follows), 8, told);
        assert_eq!(failure(block + 4), (block + 1, true, true));
        log.go_on(block + 8);
    }
}
