//! The rows by the crate `calls`.

use calls::{Calls, action};
use farreach_calls_beside_lamellar::{CALLS, ECHOES, row};
use std::sync::atomic::{AtomicU64, Ordering};

static SUM: AtomicU64 = AtomicU64::new(0);

#[action]
fn echo() {}

#[action]
fn add(words: [u64; 8]) {
    SUM.fetch_add(words[7], Ordering::Relaxed);
}

#[action]
fn sum() -> u64 {
    SUM.load(Ordering::Relaxed)
}

fn main() -> Result<(), calls::Error> {
    let calls = Calls::open()?;
    assert_eq!(calls.ranks(), 2);
    if calls.rank() == 0 {
        let other = calls.to(1)?;
        let all = || calls.wait_all().expect("the other process runs all");
        row("echo", ECHOES, || {
            for _ in 0..ECHOES {
                other.run(echo, ()).wait().expect("a reply");
            }
        });
        let mut sent = 0;
        let words = |last| [0, 1, 2, 3, 4, 5, 6, last];
        row("call of 64 B", CALLS, || {
            for _ in 0..CALLS {
                sent += 1;
                other.tell(add, (words(1),));
            }
            all();
        });
        assert_eq!(other.run(sum, ()).wait()?, sent);
    }
    calls.close()
}
