//! Contexts that programs create and destroy (OpenSHMEM 1.6, sections 9.5.1 to 9.5.4).
//!
//! A context has a cache line or more of its own, and in a job of several nodes a lane of its own where the policy in force has
//! such, so that threads on different contexts share nothing that is written. Where the device has no more it shares the default
//! context's lane. Places and lanes of contexts that were destroyed are used again.

use super::{CONTEXTS, Context, DEFAULT_HANDLE, INVALID_HANDLE, default_ctx, from_handle};
use crate::job::{self, Phase, Session};
use crate::report::{self, Routine};
use crate::session::MULTIPLE;
use crate::team::{self, Handle};
use crate::{env, order};
use fi_provider::device::Gate;
use fi_provider::symmetric::address_vector::{AddressVector, PeerIndex};
use fi_provider::symmetric::endpoint::Endpoint;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// SHMEM_CTX_SERIALIZED: one thread at a time uses the context, which then has no lock.
pub const SERIALIZED: c_long = 1 << 0;
/// SHMEM_CTX_PRIVATE: only the thread that created the context uses it, which then has no lock.
pub const PRIVATE: c_long = 1 << 1;
/// SHMEM_CTX_NOSTORE: quiet and fence need not order stores of the program. Puts to PEs of this node are stores, too, and those
/// are ordered in any case: the option has no effect.
pub const NOSTORE: c_long = 1 << 2;

/// The results of the routines that create.
const DONE: c_int = 0;
const FAILED: c_int = 1;

/// Where a context lies, for ever: two cache lines, because processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Place(UnsafeCell<Context>);

// SAFETY: it is written while nobody has the handle of its context: before it is given out, and when it was destroyed.
unsafe impl Sync for Place {}

impl Place {
    fn new() -> &'static Self {
        let closed = Context::with(Endpoint::closed());
        Box::leak(Box::new(Self(UnsafeCell::new(closed))))
    }

    /// The handle of the context here: its distance from the static ones.
    fn handle(&self) -> usize {
        self.0.get().addr().wrapping_sub(CONTEXTS.as_ptr().addr())
    }

    /// The context, to be enabled or closed.
    ///
    /// # Safety
    /// Nobody uses it.
    #[expect(clippy::mut_from_ref, reason = "exclusive use is the caller's promise")]
    unsafe fn endpoint(&self) -> &mut Endpoint {
        // SAFETY: nobody uses the endpoint, so that the reference is the only one.
        unsafe { &mut (*self.0.get()).endpoint }
    }
}

/// A context that a program has created.
#[derive(Debug)]
struct Created {
    place: &'static Place,
    team: Handle,
    is_private: bool,
    /// The peers in the team's numbering and which PEs they are; none for the world team.
    team_peers: Option<(AddressVector, Vec<PeerIndex>)>,
    /// Its lane, in a job of several nodes: its own, or the default context's.
    gate: Option<Arc<Gate>>,
}

/// All of them, by their handles, and what those that were destroyed have left.
#[derive(Debug)]
struct Registry {
    in_use: BTreeMap<usize, Created>,
    places: Vec<&'static Place>,
    gates: Vec<Arc<Gate>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    in_use: BTreeMap::new(),
    places: Vec::new(),
    gates: Vec::new(),
});

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// A lane, if the session needs one: one that is left over, a new one, or, where the device has nothing for a new one, one that
    /// others use, too.
    fn gate(&mut self, session: &Session, shared: bool) -> Option<Arc<Gate>> {
        let of_kind = |gate: &Arc<Gate>| gate.is_shared() == shared;
        if let Some(spare) = self.gates.iter().position(of_kind) {
            return Some(self.gates.swap_remove(spare));
        }
        session.domain.open_gate(shared).unwrap_or_else(|error| {
            // One with a lock does for a single thread.
            match self.gates.iter().position(|gate| gate.is_shared()) {
                Some(spare) => Some(self.gates.swap_remove(spare)),
                None => session.domain.share_gate(&error),
            }
        })
    }

    /// Creates a context of `team`; returns its handle, or why there is none.
    fn create(
        &mut self,
        session: &'static Session,
        team: Handle,
        options: c_long,
    ) -> Result<usize, String> {
        let peers = &session.domain.peers();
        let team_peers = if team == team::WORLD {
            None
        } else {
            let members = team::members(team).ok_or("the team is not valid")?;
            let selected = peers.select(members).ok_or("the team has ended")?;
            Some((selected, members.to_vec()))
        };
        let one_thread = options & (SERIALIZED | PRIVATE) != 0;
        let gate = self.gate(session, session.thread_level == MULTIPLE && !one_thread);
        let place = self.places.pop().unwrap_or_else(Place::new);
        let created = Created {
            place,
            team,
            is_private: options & PRIVATE != 0,
            team_peers,
            gate,
        };
        let (peers, numbers) = match &created.team_peers {
            Some((own, members)) => (own, Some(&members[..])),
            None => (*peers, None),
        };
        // SAFETY: nobody has the handle yet. Domain, peers, numbers and gate are there until the context is closed: by `retire`, or
        // at the end of the session.
        unsafe {
            place
                .endpoint()
                .enable_on(&session.domain, peers, numbers, created.gate.as_deref());
        }
        self.in_use.insert(place.handle(), created);
        Ok(place.handle())
    }

    /// Keeps what a context leaves that was taken out of `in_use`.
    ///
    /// # Safety
    /// Nobody uses it any more, and nothing is outstanding on it.
    unsafe fn retire(&mut self, context: Created) {
        // SAFETY: nobody uses the context any more.
        unsafe { context.place.endpoint().close() };
        self.places.push(context.place);
        let own = context.gate.filter(|gate| !gate.is_default());
        self.gates.extend(own);
    }
}

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
    let created = if team == team::INVALID {
        Err("the team is SHMEM_TEAM_INVALID".to_owned())
    } else {
        registry().create(session, team, options)
    };
    if let (Err(why), true) = (&created, env::is_set("DEBUG")) {
        report::say(format_args!("{at}: no context: {why}"));
    }
    // SAFETY: `ctx` is writable.
    unsafe { ctx.write(created.as_ref().map_or(INVALID_HANDLE, |&handle| handle)) };
    if created.is_ok() { DONE } else { FAILED }
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
    let Some(context) = registry().in_use.remove(&ctx) else {
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

/// Quiets a context that was taken out of the registry, and keeps what it leaves.
///
/// # Safety
/// Nobody else uses it.
unsafe fn end(at: Routine, context: Created) {
    // SAFETY: the handle is a context's: the place is there for ever. The rules of threads: this
    // one alone uses the context.
    unsafe { order::quiet(from_handle(context.place.handle()), at) };
    // SAFETY: the contract is the same, and the context is quiet.
    unsafe { registry().retire(context) };
}

/// Destroys the shareable contexts of a team that is about to be destroyed (9.4.8). Private ones are left to their threads.
///
/// # Safety
/// Nobody uses these contexts meanwhile or afterwards.
pub(crate) unsafe fn destroy_of_team(at: Routine, team: Handle) {
    let of_team = |_: &usize, context: &mut Created| context.team == team && !context.is_private;
    let contexts: Vec<_> = registry().in_use.extract_if(.., of_team).collect();
    for (_, context) in contexts {
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
        _ => match registry().in_use.get(&ctx) {
            Some(context) => context.team,
            None => not_a_context(at, ctx),
        },
    };
    // SAFETY: `team` is writable.
    unsafe { team.write(found) };
    if found == team::INVALID { FAILED } else { DONE }
}

/// Ends the job with a message unless `ctx` is a context or SHMEM_CTX_INVALID.
pub(crate) fn require_context(at: Routine, ctx: usize) {
    let is_static = ctx == INVALID_HANDLE || ctx == DEFAULT_HANDLE;
    if !is_static && !registry().in_use.contains_key(&ctx) {
        not_a_context(at, ctx);
    }
}

#[cold]
fn not_a_context(at: Routine, ctx: usize) -> ! {
    report::bad_argument(at, "ctx", format_args!("{ctx:#x}"), "a context")
}

/// The session of an initialised library; ends the job with a message otherwise.
pub(super) fn running(at: Routine) -> &'static Session {
    match job::session() {
        Some(session) if job::phase() == Phase::Running => session,
        _ => report::call(at, fi_provider::symmetric::Error::NotEnabled),
    }
}

/// Returns when all that was begun on any context is delivered, on behalf of routine `at`.
///
/// No other thread is inside the library: private contexts are quieted, too.
pub(crate) fn quiet_all(at: Routine) {
    // SAFETY: the rules of threads: no other one is inside the library.
    unsafe { order::quiet(default_ctx(), at) };
    let handles: Vec<usize> = registry().in_use.keys().copied().collect();
    for handle in handles {
        // SAFETY: the handle is that of a context not yet destroyed, which another thread would
        // have to do. The rules of threads: no other one is inside the library.
        unsafe { order::quiet(from_handle(handle), at) };
    }
}

/// Closes all contexts that were created, at the end of a session: their lanes are for the next one.
///
/// # Safety
/// No other thread is inside the library, and nothing is outstanding.
pub(super) unsafe fn close_all() {
    // In the child of a fork a thread of the parent may hold the lock for ever; nobody creates contexts there.
    let Ok(mut registry) = REGISTRY.try_lock() else {
        return;
    };
    while let Some((_, context)) = registry.in_use.pop_first() {
        // SAFETY: no other thread is inside the library, and nothing is outstanding.
        unsafe { registry.retire(context) };
    }
}

/// Which PE of the job a context's PE `pe` is, where its team is not the world team and has one.
pub(crate) fn world_pe(ctx: &Context, pe: c_int) -> Option<PeerIndex> {
    let handle = super::handle_of(ctx);
    let registry = registry();
    let (_, members) = registry.in_use.get(&handle)?.team_peers.as_ref()?;
    members.get(usize::try_from(pe).ok()?).copied()
}

/// Whether a context counts PEs as the job does.
pub(crate) fn is_of_world(ctx: &Context) -> bool {
    let handle = super::handle_of(ctx);
    let created = registry().in_use.get(&handle).map(|context| context.team);
    created.is_none_or(|team| team == team::WORLD)
}
