//! A program for the tests of how jobs end whose `World` is elsewhere when the program ends with
//! status 0. Its argument says where.

use shmem::World;
use std::sync::mpsc::{Sender, channel};
use std::thread;

fn main() {
    let (tell, used) = channel();
    match std::env::args().nth(1).as_deref() {
        // Another thread goes on using the World while main returns.
        Some("used") => {
            thread::spawn(move || work_on(&begin(), &tell));
            wait(&used);
        }
        // Main uses it while another thread ends the program.
        Some("exit") => {
            thread::spawn(move || {
                wait(&used);
                std::process::exit(0);
            });
            work_on(&begin(), &tell);
        }
        // Another thread waits for ever in its drop, which is a barrier, while main returns.
        Some("dropped") => {
            thread::spawn(move || {
                let world = begin();
                let is_first = world.my_pe() == 0;
                let _ = tell.send(());
                if !is_first {
                    thread::park();
                }
                drop(world);
            });
            wait(&used);
            // Most likely it is in the drop then.
            thread::sleep(std::time::Duration::from_millis(20));
        }
        // A panic of another thread has dropped it.
        Some("panic") => {
            let thread = thread::spawn(move || {
                let world = begin();
                let none = world.n_pes();
                world
                    .alloc::<u64>(1)
                    .map(|array| world.ctx().fetch(&array, 0, none))
            });
            assert!(thread.join().is_err());
        }
        // The thread that has used it has ended, and nobody drops it.
        Some("ended") => {
            thread::spawn(|| std::mem::forget(begin()))
                .join()
                .expect("the thread that ends");
            println!("ended");
        }
        // Main has it and ends the program.
        Some("kept") => {
            let world = begin();
            println!("kept by PE {}", world.my_pe());
            std::process::exit(0);
        }
        // A context that another thread may have is there.
        Some("context") => {
            let world: &World = Box::leak(Box::new(begin()));
            std::mem::forget(world.create_ctx());
        }
        // One was there, and was destroyed by another thread.
        Some("threads") => {
            let world: &'static World = Box::leak(Box::new(begin()));
            let ctx = world.create_ctx();
            let thread = thread::spawn(move || drop(ctx));
            thread.join().expect("the thread that has it");
            println!("threads of PE {}", world.my_pe());
        }
        other => panic!("world used|exit|dropped|panic|ended|kept|context|threads, not {other:?}"),
    }
}

fn begin() -> World {
    let world = World::init().expect("a job");
    world.barrier_all();
    world
}

fn wait(used: &std::sync::mpsc::Receiver<()>) {
    used.recv().expect("a thread that uses the World");
}

/// Adds to the next PE's counter for ever.
fn work_on(world: &World, tell: &Sender<()>) -> ! {
    let counter = world.alloc::<u64>(1).expect("eight bytes");
    let next = (world.my_pe() + 1) % world.n_pes();
    loop {
        for _ in 0..100 {
            world.ctx().fetch_add(&counter, 0, 1, next);
            world.ctx().quiet();
        }
        let _ = tell.send(());
    }
}
