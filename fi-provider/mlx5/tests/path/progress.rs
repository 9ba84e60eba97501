//! Looks of a thread that waits for memory: each looks once at the completion queue, and
//! none waits.

use crate::model::{Device, Rig, Shape, device};
use fi_mlx5::lane::{Failure, Lane};
use fi_mlx5_defs::opcode::Syndrome;
use std::cell::Cell;

/// Counts the instructions of a thread, by its trap flag.
#[cfg(target_arch = "x86_64")]
mod steps {
    use std::sync::atomic::{AtomicU64, Ordering};

    static STEPS: AtomicU64 = AtomicU64::new(0);

    extern "C" fn step(_: i32) {
        STEPS.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of instructions of `what`, and a few more.
    pub(super) fn of(what: impl FnOnce()) -> u64 {
        let handler: extern "C" fn(i32) = step;
        // SAFETY: the handler is of the right type and touches one atomic only.
        let before = unsafe { libc::signal(libc::SIGTRAP, handler as libc::sighandler_t) };
        assert_ne!(before, libc::SIG_ERR);
        STEPS.store(0, Ordering::Relaxed);
        // SAFETY: sets the trap flag: each instruction from here on is followed by a signal whose
        // handler is there. Pushes and pops as much, so that the stack is as it was.
        unsafe {
            core::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
        }
        what();
        // SAFETY: clears the trap flag, and pops as much as it pushes.
        unsafe {
            core::arch::asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq");
        }
        STEPS.load(Ordering::Relaxed)
    }
}

/// Checks that a look takes no more than two looks at the completion queue would, beside taking the
/// lane and giving it back.
#[cfg(target_arch = "x86_64")]
#[test]
fn progress_looks_once() {
    for shape in [
        Shape::RC,
        Shape {
            threads: fi_mlx5::lane::Threads::Several,
            ..Shape::RC
        },
    ] {
        let device = Device::new(shape);
        let lane = device.lane(None);
        let look = |what: fn(&Lane) -> bool| {
            let mut found = true;
            let steps = steps::of(|| found = what(&lane));
            assert!(!found);
            steps
        };
        let once = look(|lane| lane.poll() != Ok(false));
        let progress = look(|lane| lane.progress() != Ok(()));
        assert!(once > 10, "{once} instructions are no look");
        assert!(
            progress < 2 * once + 300,
            "{progress} instructions, where a look takes {once}"
        );
    }
}

#[test]
fn progress_takes_what_is_there_and_tells_of_failures() {
    let rig = Rig::new(Shape::RC);
    let first = rig.write(0, &[1]).expect("a post");
    rig.write(0, &[1]).expect("a post");
    device(|device| {
        device.look();
        device.finish(0);
        device.fail(0, Syndrome::RemoteAccess);
    });
    assert_eq!(rig.lane.progress(), Ok(()));
    assert_eq!(rig.lane.is_done(first), Ok(true), "it was taken");
    assert_eq!(rig.lane.progress(), Err(Failure::RemoteAccess));
}

extern "C" fn gone() -> i32 {
    -1
}

#[test]
fn progress_tells_of_a_device_that_is_gone() {
    let rig = Rig::with_hook(Shape::RC, gone);
    assert_eq!(rig.lane.progress(), Err(Failure::Lost));
    assert_eq!(rig.quiet(), Err(Failure::Lost), "it is kept");
}

extern "C" fn idle() -> i32 {
    0
}

/// Checks that quiet gives up when it is told so, and that the next one waits for the entries that
/// are left.
#[test]
fn quiet_gives_up_and_can_go_on() {
    for shape in [Shape::RC, Shape::DC] {
        let rig = Rig::with_hook(shape, idle);
        let looks = Cell::new(0);
        let quiet = |most| {
            looks.set(0);
            let gives_up = || looks.replace(looks.get() + 1) == most;
            // SAFETY: the lane is this thread's.
            unsafe { rig.lane.quiet_unless(gives_up) }
        };
        assert_eq!(quiet(0), Ok(()));
        assert_eq!(looks.get(), 0, "nothing to wait for");
        rig.write(0, &[1]).expect("a post");
        let last = rig.write(0, &[1]).expect("a post");
        assert_eq!(quiet(7), Ok(()));
        assert_eq!(looks.get(), 8);
        assert_eq!(rig.lane.is_done(last), Ok(false));
        device(|device| {
            device.look();
            while device.is_pending(0) {
                device.finish(0);
            }
        });
        assert_eq!(quiet(7), Ok(()));
        assert!(looks.get() <= 7, "it did not give up");
        assert_eq!(rig.lane.is_done(last), Ok(true));
        rig.write(0, &[1]).expect("a post");
        device(|device| {
            device.look();
            device.fail(0, Syndrome::RemoteAccess);
        });
        assert_eq!(quiet(7), Err(Failure::RemoteAccess));
    }
}
