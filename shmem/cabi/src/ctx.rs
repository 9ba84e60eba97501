//! Communication contexts (section 9.5) and sessions (section 9.9).

use core::ffi::{c_int, c_long};
use shmem::ctx::created;
use shmem::ctx::sessions::{self, SessionConfig};
use shmem::team::Handle;

/// A context in C.
type CtxHandle = usize;

families! {
    arguments {
        options: "0, or a bitwise OR of SHMEM_CTX_SERIALIZED (one thread at a time uses it), _PRIVATE (its creator alone) and _NOSTORE (which has no effect)",
        team: "the team whose numbers its PEs have, or SHMEM_TEAM_INVALID",
        ctx: "a context that was created, or SHMEM_CTX_INVALID",
        config: "the configuration, or NULL with a mask of 0",
        config_mask: "SHMEM_CTX_SESSION_TOTAL_OPS if total_ops of config counts, or 0",
    }
    errors "a handle that is no context or no team ends the job, with a message.";

    /// Creates a context of the world team and returns 0.
    /// - ctx: room for a handle; SHMEM_CTX_INVALID on failure
    /// Errors: nonzero where the device has no lane for it; the program may go on.
    "9.5.1" at once("ctx_create")(options: c_long, ctx: *mut CtxHandle) -> c_int = created::create;
    /// Creates a context of team and returns 0.
    /// - ctx: room for a handle; SHMEM_CTX_INVALID on failure
    /// Errors: nonzero for SHMEM_TEAM_INVALID and where the device has no lane for it; a handle that is no team ends the job, with a message.
    "9.5.2" at once("team_create_ctx")(team: Handle, options: c_long, ctx: *mut CtxHandle) -> c_int = created::team_create_ctx;
    /// Completes what was begun on the context and destroys it; nothing for SHMEM_CTX_INVALID.
    /// Errors: the default context, or a handle that is no context, ends the job, with a message.
    "9.5.3" at once("ctx_destroy")(ctx: CtxHandle) = created::destroy;
    /// Writes the team of the context and returns 0.
    /// - ctx: any context, or SHMEM_CTX_INVALID
    /// - team: room for a handle
    /// Errors: nonzero and SHMEM_TEAM_INVALID for SHMEM_CTX_INVALID; a handle that is no context ends the job, with a message.
    "9.5.4" at once("ctx_get_team")(ctx: CtxHandle, team: *mut Handle) -> c_int = created::get_team;
    /// Begins a session: says what kind of operations follow on the context. It has no effect here: all
    /// operations are begun at once. Nothing for SHMEM_CTX_INVALID.
    /// - ctx: any context, or SHMEM_CTX_INVALID
    /// - options: SHMEM_CTX_SESSION_BATCH or 0
    "9.9.2" at once("ctx_session_start")(ctx: CtxHandle, options: c_long, config: *const SessionConfig, config_mask: c_long) = sessions::session_start;
    /// Ends the session on the context, if there is one; nothing for SHMEM_CTX_INVALID.
    /// - ctx: any context, or SHMEM_CTX_INVALID
    "9.9.3" at once("ctx_session_stop")(ctx: CtxHandle) = sessions::session_stop;
}
