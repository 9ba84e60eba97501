//! Contexts that programs create and destroy: the routines (OpenSHMEM 1.6, sections 9.5.1 to 9.5.4).

use super::registry::{self, Created};
use super::{DEFAULT_HANDLE, INVALID_HANDLE, from_handle};
use crate::job::{self, Phase, Session, env, message};
use crate::order;
use crate::report;
use crate::routine::Routine;
use crate::team::{self, Handle, table};
use fi_provider::symmetric::address_vector::PeerIndex;
use std::ffi::{c_int, c_long};

/// The results of the routines that create.
const DONE: c_int = 0;
const FAILED: c_int = 1;

/// Creates a context of the world team (9.5.1); returns 0.
///
/// # Safety
/// `ctx` is writable.
pub unsafe fn create(at: Routine, options: c_long, ctx: *mut usize) -> c_int {
    // SAFETY: `ctx` is writable.
    unsafe { team_create_ctx(at, team::WORLD, options, ctx) }
}

/// Creates a context of `team`, whose PEs have their numbers in it (9.5.2); returns 0, or nonzero for SHMEM_TEAM_INVALID.
///
/// # Safety
/// `ctx` is writable.
pub unsafe fn team_create_ctx(
    at: Routine,
    team: Handle,
    options: c_long,
    ctx: *mut usize,
) -> c_int {
    let session = running(at);
    let created =
        members(team).and_then(|members| registry::create(session, team, members, options));
    if let (Err(why), true) = (&created, env::is_set("DEBUG")) {
        message::say(format_args!("{at}: no context: {why}"));
    }
    // SAFETY: `ctx` is writable.
    unsafe { ctx.write(created.as_ref().map_or(INVALID_HANDLE, |&handle| handle)) };
    if created.is_ok() { DONE } else { FAILED }
}

/// Returns the PEs of `team`, none for the world team; or the reason for which no context of it can
/// be made.
fn members(team: Handle) -> Result<Option<&'static [PeerIndex]>, String> {
    match team {
        team::INVALID => Err("the team is SHMEM_TEAM_INVALID".to_owned()),
        team::WORLD => Ok(None),
        _ => match table::members(team) {
            None => Err("the team is not valid".to_owned()),
            members => Ok(members),
        },
    }
}

/// Destroys a context that was created, behind a quiet on it (9.5.3); SHMEM_CTX_INVALID is left alone.
///
/// # Safety
/// Nobody uses the context meanwhile or afterwards.
pub unsafe fn destroy(at: Routine, ctx: usize) {
    if ctx == INVALID_HANDLE {
        return;
    }
    running(at);
    let Some(context) = registry::remove(ctx) else {
        report::bad_argument(
            at,
            "ctx",
            format_args!("{ctx:#x}"),
            "a context that was created and not destroyed yet",
        );
    };
    // SAFETY: nobody uses the context meanwhile or afterwards, and it is out of the registry.
    unsafe { end(at, context) };
}

/// Quiets a context that was taken out of the registry, and keeps its remains.
///
/// # Safety
/// Nobody else uses it.
unsafe fn end(at: Routine, context: Created) {
    // SAFETY: the handle is a context's: the place is there for ever. The rules of threads: this
    // one alone uses the context.
    unsafe { order::quiet(from_handle(context.handle()), at) };
    // SAFETY: nobody else uses the context, and it is quiet.
    unsafe { registry::retire(context) };
}

/// Destroys the shareable contexts of a team that is about to be destroyed (9.4.8). Private ones are left to their threads.
///
/// # Safety
/// Nobody uses these contexts meanwhile or afterwards.
pub(crate) unsafe fn destroy_of_team(at: Routine, team: Handle) {
    for context in registry::remove_of_team(team) {
        // SAFETY: nobody uses the context meanwhile or afterwards, and it is out of the registry.
        unsafe { end(at, context) };
    }
}

/// Writes the team of a context (9.5.4); returns 0, or nonzero for SHMEM_CTX_INVALID, whose team is SHMEM_TEAM_INVALID.
///
/// # Safety
/// `team` is writable.
pub unsafe fn get_team(at: Routine, ctx: usize, team: *mut Handle) -> c_int {
    running(at);
    let found = match ctx {
        INVALID_HANDLE => team::INVALID,
        DEFAULT_HANDLE => team::WORLD,
        _ => registry::team_of(ctx).unwrap_or_else(|| not_a_context(at, ctx)),
    };
    // SAFETY: `team` is writable.
    unsafe { team.write(found) };
    if found == team::INVALID { FAILED } else { DONE }
}

/// Ends the job with a message unless `ctx` is a context or SHMEM_CTX_INVALID.
pub(crate) fn require_context(at: Routine, ctx: usize) {
    let is_static = ctx == INVALID_HANDLE || ctx == DEFAULT_HANDLE;
    if !is_static && registry::team_of(ctx).is_none() {
        not_a_context(at, ctx);
    }
}

#[cold]
fn not_a_context(at: Routine, ctx: usize) -> ! {
    report::bad_argument(at, "ctx", format_args!("{ctx:#x}"), "a context")
}

/// Returns the session of an initialised library; ends the job with a message otherwise.
pub(super) fn running(at: Routine) -> &'static Session {
    match job::session() {
        Some(session) if job::phase() == Phase::Running => session,
        _ => report::call(at, fi_provider::symmetric::Error::NotEnabled),
    }
}
