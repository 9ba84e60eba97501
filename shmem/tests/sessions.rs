//! `World::init` on the threads of the test runner, which run at the same time: one has a `World`
//! at a time, in a job of one PE, and each has a session of its own.

use shmem::{Error, Shared, World};
use std::time::{Duration, Instant};

fn begin() -> World {
    let begun = Instant::now();
    loop {
        match World::init() {
            Ok(world) => return world,
            Err(Error::InUse) => assert!(begun.elapsed() < Duration::from_secs(60)),
            Err(error) => panic!("{error}"),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn session() {
    for round in 1..50 {
        let world = begin();
        assert_eq!((world.my_pe(), world.n_pes()), (0, 1));
        let array: Shared<u64> = world.alloc(10).unwrap();
        let ctx = world.create_ctx().unwrap();
        std::thread::scope(|scope| {
            let array = &array;
            scope.spawn(move || ctx.add(array, 3, round, 0));
        });
        let owned = world.own(array);
        assert_eq!(owned[3], round);
    }
}

#[test]
fn a_session_of_one_test() {
    session();
}

#[test]
fn a_session_of_another_test() {
    session();
}
