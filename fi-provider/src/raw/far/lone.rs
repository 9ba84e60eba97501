//! The operation on memory that is the only one under way by its queue: its completion is known by few
//! instructions.

#![expect(
    unsafe_code,
    reason = "takes completions and words by the addresses of their queue"
)]

use super::Far;
use super::log::{Log, Oldest};
use crate::raw::completion;
use crate::raw::endpoint::Endpoint;
use fi_mlx5::lane::{Lane, Lone};

/// The one operation under way by a queue.
#[derive(Clone, Copy, Debug)]
pub struct LonePost<'a> {
    log: &'a Log,
    lone: Lone,
}

/// The result of [`Endpoint::take_lone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The entry was seen.
    Entry,
    /// Nothing was done, but the operation may bring a word: [`Endpoint::take_lone_word`].
    Other,
    /// Nothing was done.
    Nothing,
}

impl Far {
    /// The one operation that was posted to the queue whose completion was taken last, if that is one
    /// block, and nothing else is under way there.
    #[inline(always)]
    pub(crate) fn lone(&self) -> Option<LonePost<'_>> {
        let log = self.latest();
        // SAFETY: it is the latest.
        let lone = unsafe { log.lone.unwrap_unchecked() };
        // SAFETY: the lane is alive with the hub and used by this thread alone. It is that of the log,
        // which has its queue as it is the latest; or the queue is nobody's, which lives with `self`.
        let is_posted = unsafe { self.hub.memory.lane().is_lone(lone) };
        is_posted.then_some(LonePost { log, lone })
    }
}

impl Endpoint {
    /// Takes the completion of the one entry that is outstanding on the queue whose completion was
    /// taken last, and reports its operation, by few instructions. False where it has not come.
    ///
    /// Calls nothing but at its end, so that few registers are saved and restored.
    #[inline(always)]
    pub(crate) fn end_only(&self, far: &Far) -> bool {
        let lane = far.hub.memory.lane();
        let Some(LonePost { log, lone }) = far.lone() else {
            return self.end_few();
        };
        // SAFETY: as in `Far::lone`, which has returned it.
        unsafe {
            if !lane.has_lone(lone) {
                return self.end_few();
            }
            lane.pass_lone(lone);
        }
        let seen = log.seen();
        if let Some(plain) = log.take_entry(seen) {
            return self.transmit().fill_plain(plain);
        }
        // SAFETY: the operation is done; its caller has room for the word, aligned, and it is nobody
        // else's until the operation is reported.
        let Some((mark, plain)) = (unsafe { log.take_simple(seen) }) else {
            return self.end_rest(log.queue, lane.done(log.queue));
        };
        self.report_done(mark, plain)
    }

    /// Takes the completion of the operation that [`Endpoint::due`] has just returned, if it has come,
    /// the operation has a context, and its entry would be the only one in its queue: has `see` look at
    /// that in place of putting it there. Does nothing otherwise. Calls nothing.
    ///
    /// # Safety
    /// [`Endpoint::due`] of this endpoint has just returned it.
    #[inline(always)]
    pub unsafe fn take_lone(
        &self,
        lone: LonePost<'_>,
        see: impl FnOnce(completion::Seen<'_>),
    ) -> Taken {
        // SAFETY: nothing is posted to a queue of no lane.
        let lane = unsafe { lone.log.lane() };
        // SAFETY: the endpoint has just returned it.
        let Some(oldest) = (unsafe { self.oldest_done(lane, lone) }) else {
            return Taken::Nothing;
        };
        if !oldest.is_entry() {
            return Taken::Other;
        }
        // SAFETY: it is an entry; the endpoint has just returned it.
        unsafe { self.end_lone::<false>(lane, lone, oldest, see) };
        Taken::Entry
    }

    /// Does as [`Endpoint::take_lone`], where that has returned [`Taken::Other`], for an operation that
    /// brings a word. Returns whether it was taken.
    ///
    /// # Safety
    /// As [`Endpoint::take_lone`].
    #[inline(always)]
    pub unsafe fn take_lone_word(
        &self,
        lone: LonePost<'_>,
        see: impl FnOnce(completion::Seen<'_>),
    ) -> bool {
        // SAFETY: nothing is posted to a queue of no lane.
        let lane = unsafe { lone.log.lane() };
        // SAFETY: the endpoint has just returned it.
        let oldest = unsafe { self.oldest_done(lane, lone) };
        let Some(oldest) = oldest.filter(|oldest| oldest.is_word()) else {
            return false;
        };
        // SAFETY: it is a word; the endpoint has just returned it.
        unsafe { self.end_lone::<true>(lane, lone, oldest, see) };
        true
    }

    /// The oldest operation of the log, if the completion has come by its lane and the queue has no
    /// entry.
    ///
    /// # Safety
    /// As [`Endpoint::take_lone`].
    #[inline(always)]
    unsafe fn oldest_done<'a>(
        &self,
        lane: &Lane,
        LonePost { log, lone }: LonePost<'a>,
    ) -> Option<Oldest<'a>> {
        // SAFETY: as in `Far::lone`, which has returned it.
        let has_come = unsafe { lane.has_lone(lone) };
        (has_come && self.transmit().is_idle()).then(|| log.oldest())
    }

    /// Ends the operation, whose completion has come, and its entry.
    ///
    /// # Safety
    /// As [`Endpoint::take_lone`]; [`Endpoint::oldest_done`] has returned the operation, which brings a
    /// word if `IS_WORD`, and nothing otherwise.
    #[inline(always)]
    unsafe fn end_lone<const IS_WORD: bool>(
        &self,
        lane: &Lane,
        LonePost { lone, .. }: LonePost<'_>,
        oldest: Oldest<'_>,
        see: impl FnOnce(completion::Seen<'_>),
    ) {
        // SAFETY: as in `oldest_done`. The operation is done, as all before the completion's; its caller
        // has room for the word, aligned, and it is nobody else's until the operation is reported. The
        // note is below the number of counters.
        let plain = unsafe {
            lane.pass_lone(lone);
            let (note, plain) = oldest.take::<IS_WORD>();
            self.counters.get_unchecked(note).add(1);
            plain
        };
        self.transmit().see_plain(plain, see);
    }

    /// Does as [`Endpoint::end_only`] for an entry of several blocks, and where everything is to be
    /// looked at.
    #[inline(never)]
    fn end_few(&self) -> bool {
        let Some(far) = self.far() else {
            return false;
        };
        let (log, lane) = (far.latest(), far.hub.memory.lane());
        if lane.is_due() && lane.is_ready() {
            return self.look_at_all();
        }
        let Some(done) = lane.take_only(log.queue) else {
            return false;
        };
        self.end_rest(log.queue, done)
    }
}
