//! The contexts that programs have created: where each lies, its lane, and how it counts PEs.
//!
//! A context has a cache line or more of its own, and in a job of several nodes a lane of its own
//! where the policy in force has such, so that threads on different contexts share nothing that is
//! written. Where the device has no more it shares the default context's lane. Places and lanes of
//! contexts that were destroyed are used again.

use super::{CONTEXTS, Context, PRIVATE, SERIALIZED, default_endpoint, handle_of};
use crate::job::{MULTIPLE, Session};
use crate::team::{self, Handle};
use fi_provider::symmetric::address_vector::{AddressVector, PeerIndex};
use fi_provider::symmetric::endpoint::Endpoint;
use fi_provider::symmetric::gate::Gate;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Place of a context, for ever: two cache lines, because processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Place(UnsafeCell<Context>);

// SAFETY: it is written while nobody has the handle of its context: before it is given out, and when
// it was destroyed.
unsafe impl Sync for Place {}

impl Place {
    fn new() -> &'static Self {
        let closed = Context::with(Endpoint::closed());
        Box::leak(Box::new(Self(UnsafeCell::new(closed))))
    }

    /// Returns the handle of the context here: its distance from the static ones.
    fn handle(&self) -> usize {
        self.0.get().addr().wrapping_sub(CONTEXTS.as_ptr().addr())
    }

    /// Returns the context, to be enabled or closed.
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
pub(super) struct Created {
    place: &'static Place,
    team: Handle,
    is_private: bool,
    /// The peers in the team's numbering and which PEs they are; none for the world team.
    team_peers: Option<(AddressVector, Vec<PeerIndex>)>,
    /// Its lane, in a job of several nodes: its own, or the default context's.
    gate: Option<Gate>,
}

impl Created {
    pub(super) fn handle(&self) -> usize {
        self.place.handle()
    }
}

/// All of them, by their handles, and the remains of those that were destroyed.
#[derive(Debug)]
struct Registry {
    in_use: BTreeMap<usize, Created>,
    places: Vec<&'static Place>,
    gates: Vec<Gate>,
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
    /// Returns a lane, if the session needs one: one that is left over, a new one, or, where the
    /// device has nothing for a new one, one that others use, too.
    fn gate(&mut self, session: &Session, shared: bool) -> Option<Gate> {
        let of_kind = |gate: &Gate| gate.is_shared() == shared;
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

    /// See [`create`].
    fn create(
        &mut self,
        session: &'static Session,
        team: Handle,
        members: Option<&[PeerIndex]>,
        options: c_long,
    ) -> Result<usize, String> {
        let peers = &session.domain.peers();
        let team_peers = match members {
            None => None,
            Some(members) => {
                let selected = peers.select(members).ok_or("the team has ended")?;
                Some((selected, members.to_vec()))
            }
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
        // SAFETY: nobody has the handle yet. Domain, peers, numbers and gate are there until the
        // context is closed: by `retire`, or at the end of the session.
        unsafe {
            place
                .endpoint()
                .enable_on(&session.domain, peers, numbers, created.gate.as_ref());
        }
        self.in_use.insert(place.handle(), created);
        Ok(place.handle())
    }

    /// See [`retire`].
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

/// Creates a context of `team`, whose PEs are `members`; none are given for the world team. Returns
/// its handle, or the reason for which there is none.
pub(super) fn create(
    session: &'static Session,
    team: Handle,
    members: Option<&[PeerIndex]>,
    options: c_long,
) -> Result<usize, String> {
    registry().create(session, team, members, options)
}

/// Takes the context with the handle `handle` out, if there is one.
pub(super) fn remove(handle: usize) -> Option<Created> {
    registry().in_use.remove(&handle)
}

/// Takes the shareable contexts of `team` out.
pub(super) fn remove_of_team(team: Handle) -> Vec<Created> {
    let of_team = |_: &usize, context: &mut Created| context.team == team && !context.is_private;
    let mut registry = registry();
    let removed = registry.in_use.extract_if(.., of_team);
    removed.map(|(_, context)| context).collect()
}

/// Keeps the rest of a context that was taken out.
///
/// # Safety
/// Nobody uses it any more, and nothing is outstanding on it.
pub(super) unsafe fn retire(context: Created) {
    // SAFETY: nobody uses the context any more, and nothing is outstanding on it.
    unsafe { registry().retire(context) };
}

/// Returns the handles of all contexts that were created and not destroyed.
pub(super) fn handles() -> Vec<usize> {
    registry().in_use.keys().copied().collect()
}

/// Returns the team of the context with the handle `handle`; none where no such context was
/// created.
pub(crate) fn team_of(handle: usize) -> Option<Handle> {
    registry().in_use.get(&handle).map(|context| context.team)
}

/// Closes all contexts, the default one too: calls on them are refused from now on. The lanes of
/// those that were created are for the next session.
///
/// # Safety
/// No other thread is inside the library, and nothing is outstanding on any context.
pub(crate) unsafe fn close_all() {
    // SAFETY: no other thread is inside the library, and nothing is outstanding on any context.
    unsafe {
        close_created();
        default_endpoint().close();
    }
}

/// # Safety
/// As [`close_all`].
unsafe fn close_created() {
    // In the child of a fork a thread of the parent may hold the lock for ever; nobody creates
    // contexts there.
    let Ok(mut registry) = REGISTRY.try_lock() else {
        return;
    };
    while let Some((_, context)) = registry.in_use.pop_first() {
        // SAFETY: no other thread is inside the library, so that nobody uses the context, and
        // nothing is outstanding.
        unsafe { registry.retire(context) };
    }
}

/// Returns the PE of the job that a context's PE `pe` is, where its team is not the world team and
/// has one.
pub(crate) fn world_pe(ctx: &Context, pe: c_int) -> Option<PeerIndex> {
    let handle = handle_of(ctx);
    let registry = registry();
    let (_, members) = registry.in_use.get(&handle)?.team_peers.as_ref()?;
    members.get(usize::try_from(pe).ok()?).copied()
}

/// Returns whether a context counts PEs as the job does.
pub(crate) fn is_of_world(ctx: &Context) -> bool {
    team_of(handle_of(ctx)).is_none_or(|team| team == team::WORLD)
}
