//! Communication sessions (OpenSHMEM 1.6, section 9.9).

#![expect(unsafe_code, reason = "calls routines of the context that is lent")]

use super::Ctx;
use crate::ctx::{self, sessions};
use std::ffi::c_long;

/// A session on a context, which ends when it is dropped; made by [`Ctx::session`].
///
/// Sessions are hints. None has an effect in this implementation.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let words = world.alloc::<u64>(1000).expect("room");
/// let session = world.ctx().session(Some(1000));
/// (0..1000).for_each(|i| world.ctx().p(&words, i, 1, 0));
/// drop(session);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the session"]
pub struct Session<'c> {
    ctx: &'c Ctx<'c>,
}

impl Ctx<'_> {
    /// Begins a session of many small operations, of which `total` are expected, if that is known
    /// (9.9.2).
    pub fn session(&self, total: Option<usize>) -> Session<'_> {
        let config = sessions::SessionConfig {
            total_ops: total.unwrap_or(0),
        };
        let mask = total.map_or(0, |_| sessions::SESSION_TOTAL_OPS);
        let options: c_long = sessions::SESSION_BATCH;
        let handle = ctx::handle_of(self.context);
        let at = &"Ctx::session";
        // SAFETY: the configuration is one. The rules of threads: this one has the context.
        unsafe { sessions::session_start(at, handle, options, &raw const config, mask) };
        Session { ctx: self }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let handle = ctx::handle_of(self.ctx.context);
        // SAFETY: the rules of threads: this one has the context.
        unsafe { sessions::session_stop(&"Session::drop", handle) };
    }
}
