//! Automatic progress (fi_domain(3), FI_PROGRESS_AUTO): a thread of the domain makes progress for all
//! its endpoints, and sleeps when nothing is to be done. It takes turns with the application's calls,
//! which wake it where they leave something to do.

use crate::object::Code;
use crate::state::{Ep, Objects, Shared};
use fi_provider::raw::endpoint::Endpoint;
use fi_provider::raw::error::Error;
use fi_provider::raw::progress::{Progress, Served};
use fi_provider::raw::waker::Waker;
use std::rc::Rc;
use std::sync::Arc;

/// The thread. Dropping it ends the thread.
pub(crate) type Thread = Progress<All>;

/// The endpoints of a domain, as the thread reaches them.
#[derive(Debug)]
pub(crate) struct All(Arc<Shared>);

/// The thread, as calls see it in their turns.
#[derive(Debug)]
pub(crate) struct Automatic {
    waker: Arc<Waker>,
    /// Whether the thread may sleep, as it has found nothing since it was woken.
    may_sleep: bool,
}

/// Starts the thread of a domain.
///
/// # Errors
/// That of the system where it refuses a thread or a descriptor.
pub(crate) fn start(shared: &Arc<Shared>) -> Result<Thread, Code> {
    let all = All(Arc::clone(shared));
    let thread = Progress::start(|| Ok(all)).map_err(Error::code)?;
    let mut turn = shared.lock();
    turn.automatic = Some(Automatic {
        waker: Arc::clone(thread.waker()),
        may_sleep: true,
    });
    turn.has_watchers = true;
    turn.note_special();
    drop(turn);
    Ok(thread)
}

impl Automatic {
    /// Has the thread make progress.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.may_sleep) {
            self.waker.wake();
        }
    }

    /// Has the thread make progress if one of the endpoints has some to make, after progress, or
    /// after an operation `has_begun`.
    pub(crate) fn wake_for(&mut self, running: &[Rc<Ep>], has_begun: bool) {
        if self.may_sleep && !keep_armed(running, has_begun) {
            self.wake();
        }
    }
}

/// Keeps up the requests to be woken of threads that sleep ([`Endpoint::keep_armed`]).
pub(crate) fn keep_armed(running: &[Rc<Ep>], has_begun: bool) -> bool {
    let mut endpoints = running.iter().filter_map(|ep| ep.raw.get());
    endpoints.all(|raw| raw.keep_armed(has_begun))
}

impl Served for All {
    fn for_each(&self, act: &mut dyn FnMut(&Endpoint)) {
        let turn = self.0.lock();
        turn.running
            .iter()
            .filter_map(|ep| ep.raw.get())
            .for_each(act);
    }

    fn turn(&mut self) {
        let turn = &mut *self.0.lock();
        turn.note_progress();
        // Work that is left from here on wakes the thread.
        if let Some(automatic) = &mut turn.automatic {
            automatic.may_sleep = true;
        }
    }

    /// Returns whether accesses of peers may start operations: they wake nobody.
    fn is_untold(&self) -> bool {
        let turn = self.0.lock();
        let mut endpoints = turn.running.iter().filter_map(|ep| ep.raw.get());
        !turn.feeds.is_empty() && endpoints.any(Endpoint::has_deferred)
    }
}

impl Objects {
    /// Does the work beside the progress of endpoints.
    fn note_progress(&mut self) {
        if !self.feeds.is_empty() {
            self.feed();
        }
        if self.has_drops {
            self.drop_unread();
        }
        self.tell_news(false);
    }
}
