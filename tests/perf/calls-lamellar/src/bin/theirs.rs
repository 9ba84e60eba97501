//! The rows by lamellar: active messages one by one, without waiting, and in a group.

use farreach_calls_beside_lamellar::{CALLS, ECHOES, row};
use lamellar::active_messaging::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

static SUM: AtomicU64 = AtomicU64::new(0);

#[AmData(Clone, Debug)]
struct Echo {}

#[lamellar::am]
impl LamellarAM for Echo {
    async fn exec(self) {}
}

#[AmData(Clone, Debug)]
struct Add {
    // The macro takes no arrays.
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    g: u64,
    last: u64,
}

/// Makes an argument of 64 bytes.
fn add(last: u64) -> Add {
    let [a, b, c, d, e, f, g] = [0, 1, 2, 3, 4, 5, 6];
    Add {
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        last,
    }
}

#[lamellar::am]
impl LamellarAM for Add {
    async fn exec(self) {
        SUM.fetch_add(self.last, Ordering::Relaxed);
    }
}

#[AmData(Clone, Debug)]
struct Sum {}

#[lamellar::am]
impl LamellarAM for Sum {
    async fn exec(self) -> u64 {
        SUM.load(Ordering::Relaxed)
    }
}

fn main() {
    let world = lamellar::LamellarWorldBuilder::new().build();
    assert_eq!(world.num_pes(), 2);
    world.barrier();
    if world.my_pe() == 0 {
        row("echo", ECHOES, || {
            for _ in 0..ECHOES {
                world.exec_am_pe(1, Echo {}).block();
            }
        });
        let mut sent = 0;
        row("call of 64 B", CALLS, || {
            for _ in 0..CALLS {
                sent += 1;
                let _ = world.exec_am_pe(1, add(1)).spawn();
            }
            world.wait_all();
        });
        row("call of 64 B, group", CALLS, || {
            let mut group = typed_am_group!(Add, &world);
            for _ in 0..CALLS {
                sent += 1;
                group.add_am_pe(1, add(1));
            }
            world.block_on(group.exec());
        });
        assert_eq!(world.exec_am_pe(1, Sum {}).block(), sent);
    }
    world.barrier();
}
