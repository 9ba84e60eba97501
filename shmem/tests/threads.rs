//! A safe Rust program whose other threads write statics while [`World::init`] moves them. Runs as
//! a job of one PE; the test runner is one more thread.

use shmem::World;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Takes its time to be copied.
static LARGE: [AtomicUsize; 4 << 20] = [const { AtomicUsize::new(0) }; 4 << 20];
static LIST: Mutex<Vec<Arc<usize>>> = Mutex::new(Vec::new());
static PUSHED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[test]
fn what_other_threads_push_to_a_static_during_init_is_there() {
    LARGE
        .iter()
        .for_each(|word| word.store(1, Ordering::Relaxed));
    let stop = Arc::new(AtomicBool::new(false));
    let pushers: Vec<_> = (0..PUSHED.len())
        .map(|id| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut pushed = 0;
                while !stop.load(Ordering::Relaxed) {
                    LIST.lock().unwrap().push(Arc::new(id));
                    PUSHED[id].fetch_add(1, Ordering::Relaxed);
                    pushed += 1;
                }
                pushed
            })
        })
        .collect();
    while PUSHED
        .iter()
        .any(|count| count.load(Ordering::Relaxed) < 100)
    {
        thread::yield_now();
    }
    let world = World::init().unwrap();
    stop.store(true, Ordering::Relaxed);
    let pushed: Vec<usize> = pushers.into_iter().map(|p| p.join().unwrap()).collect();
    let list = LIST.lock().unwrap();
    for (id, pushed) in pushed.into_iter().enumerate() {
        assert_eq!(PUSHED[id].load(Ordering::Relaxed), pushed);
        assert_eq!(list.iter().filter(|item| ***item == id).count(), pushed);
    }
    assert!(LARGE.iter().all(|word| word.load(Ordering::Relaxed) == 1));
    assert_eq!((world.my_pe(), world.n_pes()), (0, 1));
}
