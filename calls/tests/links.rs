//! Connections that cannot be made: a process without descriptors tells so, and not that its peer is
//! gone.

use calls::{Calls, Config, Error, Together, action};
use std::fs::File;
use std::process::Command;
use std::sync::mpsc;

#[action]
fn nothing() {}

/// The variable of a process that may have few descriptors.
const FEW: &str = "FARREACH_TEST_FEW_DESCRIPTORS";

/// Starts itself in a process that may have few descriptors.
#[test]
fn a_process_without_descriptors_tells_so() {
    if std::env::var_os(FEW).is_some() {
        return without_descriptors();
    }
    let program = std::env::current_exe().unwrap();
    let run = "ulimit -n 100; exec \"$0\"";
    let mut shell = Command::new("sh");
    let status = shell.args(["-c", run]).arg(program).env(FEW, "1").status();
    assert!(status.unwrap().success());
}

fn without_descriptors() {
    let (called, has_called) = mpsc::channel();
    std::thread::scope(move |threads| {
        // Dropped where this thread panics, too.
        let called = called;
        let mut meetings = Together::of(2).into_iter().map(|meeting| Config {
            meeting: Some(Box::new(meeting)),
            ..Config::default()
        });
        let [first, second] = [meetings.next().unwrap(), meetings.next().unwrap()];
        threads.spawn(move || {
            let _calls = Calls::open_with(second).unwrap();
            has_called.recv().unwrap();
        });
        let calls = Calls::open_with(first).unwrap();
        let one = File::open("/dev/null").unwrap();
        let mut all = Vec::new();
        while let Ok(another) = one.try_clone() {
            all.push(another);
        }
        let peer = calls.to(1).unwrap();
        let is_told = |failed: Result<(), Error>| {
            assert!(
                matches!(failed, Err(Error::Link { rank: 1, .. })),
                "{failed:?}"
            );
        };
        is_told(peer.run(nothing, ()).wait());
        drop(all);
        // There were none, and calls to the rank stay failed.
        is_told(peer.run(nothing, ()).wait());
        peer.tell(nothing, ());
        is_told(calls.wait_all());
        is_told(calls.barrier());
        assert!(calls.to(0).unwrap().run(nothing, ()).wait().is_ok());
        called.send(()).unwrap();
    });
}
