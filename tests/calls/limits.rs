//! Calls that are refused, and calls behind them that are not, for the configuration `limited`.

use super::{Program, next};
use calls::{Calls, Error, Here, RmaVec, action};
use std::sync::Mutex;

pub(super) const PROGRAMS: &[Program] = &[
    ("too_long", too_long),
    ("no_room", no_room),
    ("no_room_here", no_room_here),
    (
        "scope_in_the_innermost_action",
        scope_in_the_innermost_action,
    ),
];

#[action]
fn length(bytes: Vec<u8>) -> usize {
    bytes.len()
}

#[action]
fn bytes(len: usize) -> Vec<u8> {
    vec![7; len]
}

fn is_refused<T: std::fmt::Debug>(result: Result<T, Error>, by: u32, why: &str) {
    let Err(Error::Refused { rank, message }) = result else {
        panic!("{result:?}");
    };
    assert!(rank == by && message.contains(why), "{rank}: {message}");
}

/// Passes more bytes than `Config::most`.
fn too_long(calls: &Calls) {
    let to = next(calls);
    let rank = (calls.rank() + 1) % calls.ranks();
    for _ in 0..5 {
        let call = to.run(length, (vec![0; (1 << 19) + 1],));
        is_refused(call.wait(), rank, "Config::most");
        let call = to.run(length, (vec![0; 1 << 19],));
        assert_eq!(call.wait().expect("a length"), 1 << 19);
        // A result: the caller refuses it.
        is_refused(
            to.run(bytes, ((1 << 19) + 1,)).wait(),
            calls.rank(),
            "Config::most",
        );
        assert_eq!(
            to.run(bytes, (1 << 19,)).wait().expect("bytes").len(),
            1 << 19
        );
    }
    to.tell(length, (vec![0; 1 << 20],));
    is_refused(calls.wait_all(), rank, "Config::most");
}

static HELD: Mutex<Vec<RmaVec<u8>>> = Mutex::new(Vec::new());

#[action]
fn hold(bytes: RmaVec<u8>) {
    assert!(bytes.iter().all(|byte| *byte == 5));
    HELD.lock().expect("no panic").push(bytes);
}

#[action]
fn drop_held() -> usize {
    std::mem::take(&mut *HELD.lock().expect("no panic")).len()
}

/// Checks that a receiver whose pool is full refuses, until blocks are dropped there.
fn no_room(calls: &Calls) {
    let to = next(calls);
    let rank = (calls.rank() + 1) % calls.ranks();
    let own = calls.rma_vec(&[5_u8; 100_000]).expect("room");
    calls.barrier().expect("all are there");
    let mut before = None;
    for _ in 0..5 {
        let mut held = 0;
        let refused = loop {
            match to.run(hold, (own.clone(),)).wait() {
                Ok(()) => held += 1,
                failed => break failed,
            }
        };
        is_refused(refused, rank, "memory");
        // More, where blocks of the calls before were given back late.
        assert!(
            before.is_none_or(|before| before <= held),
            "{before:?}: {held}"
        );
        assert!(held >= 4, "{held}");
        before = before.max(Some(held));
        assert_eq!(to.run(drop_held, ()).wait().expect("a number"), held);
        to.run(hold, (own.clone(),)).wait().expect("room again");
        assert_eq!(to.run(drop_held, ()).wait().expect("a number"), 1);
    }
}

#[action]
fn together(texts: Vec<String>) -> usize {
    texts.iter().map(String::len).sum()
}

/// Makes calls while the caller's own pool is full.
fn no_room_here(calls: &Calls) {
    let mut all = Vec::new();
    while let Ok(one) = calls.rma_vec_with::<u8>(128) {
        all.push(one);
    }
    let texts = vec!["some text".to_owned(); 3000];
    let to = next(calls);
    let failed = to.run(together, (texts.clone(),)).wait();
    assert!(matches!(failed, Err(Error::NoRoom { .. })), "{failed:?}");
    to.tell(together, (texts.clone(),));
    assert!(matches!(calls.wait_all(), Err(Error::NoRoom { .. })));
    calls.barrier().expect("all are there");
    drop(all);
    calls.barrier().expect("all are there");
    let done = to.run(together, (texts,)).wait();
    assert_eq!(done.expect("room"), 27_000);
}

/// Lends arguments from an action of the innermost level that is allowed.
#[action]
fn lends(here: &Here, depth: u32) -> Result<u64, String> {
    let calls = here.calls();
    let to = (calls.rank() + 1) % calls.ranks();
    if depth > 0 {
        let call = calls
            .to(calls.rank())
            .expect("a rank")
            .run(lends, (depth - 1,));
        return call.wait().unwrap_or_else(|error| Err(error.to_string()));
    }
    let bytes = vec![1_u8; 100_000];
    let lent = calls.scope(|scope| scope.run(to, length, (&bytes[..],)));
    match lent.and_then(calls::Call::wait) {
        Ok(len) => Ok(len as u64),
        Err(error) => Err(error.to_string()),
    }
}

fn scope_in_the_innermost_action(calls: &Calls) {
    for depth in 0..3 {
        let call = calls.to(calls.rank()).expect("a rank").run(lends, (depth,));
        match call.wait().expect("a result") {
            Ok(len) => assert_eq!(len, 100_000),
            Err(text) => assert!(text.contains("each in another one"), "{text}"),
        }
    }
}
