//! Wraps every call: checks its arguments before it, and records its result behind it.

use super::routine::{Kind, Routine};
use super::{Argument, collectives, objects};
use core::any::Any;
use core::ffi::c_int;
use shmem::check::Checks;

/// Does `work`, which is the call of routine `at` with these arguments.
pub(crate) fn call<R: Any>(
    at: shmem::Routine,
    arguments: &[Argument],
    work: impl FnOnce() -> R,
) -> R {
    // Where the library is not initialised, the routines say so.
    // SAFETY: this is a call: the C program keeps to the rules of threads.
    let check = unsafe { Checks::in_a_call() };
    let routine = check
        .is_running()
        .then(|| Routine::of(check, at, arguments));
    if let Some(routine) = &routine {
        before(routine);
    }
    let result = work();
    if let Some(routine) = &routine
        && check.is_running()
    {
        behind(routine, &result);
    }
    result
}

fn before(routine: &Routine<'_>) {
    if let Some(ctx) = routine.context() {
        routine.check.live(routine.at, ctx);
    }
    objects::look_at(routine);
    let lock = routine.pointer("lock").map(|(addr, _)| addr);
    match (routine.kind, lock) {
        (Kind::Lock, Some(lock)) if routine.base == "clear_lock" => {
            routine.check.clears(routine.at, lock);
        }
        (Kind::Lock, Some(lock)) => routine.check.sets(routine.at, lock),
        (Kind::Collective, _) => collectives::meet(routine),
        _ => (),
    }
}

fn behind(routine: &Routine<'_>, result: &dyn Any) {
    let has_taken = match routine.base.as_str() {
        "set_lock" => true,
        "test_lock" => result.downcast_ref::<c_int>() == Some(&0),
        _ => false,
    };
    if let (true, Some((lock, _))) = (has_taken, routine.pointer("lock")) {
        routine.check.took(lock);
    }
    collectives::name_new_teams(routine);
}
