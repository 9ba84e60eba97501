//! The operation on memory that is the only one under way by its queue: its completion is known by few
//! instructions.

#![expect(
    unsafe_code,
    reason = "takes completions and words by the addresses of their queue"
)]

use super::Far;
use super::log::Log;
use crate::raw::completion;
use crate::raw::endpoint::Endpoint;
use fi_mlx5::lane::Lone;

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
    /// Nothing was done: the operation is done, and another one than was asked for.
    Other,
    /// Nothing was done.
    Nothing,
}

impl Far {
    /// Returns the one operation that was posted to the queue whose completion was taken last, if
    /// that is one block, and nothing else is under way there.
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
    /// taken last, and reports its operation, by few instructions. Returns false where it has not
    /// come.
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
        let oldest = log.oldest();
        if oldest.is_entry() {
            // SAFETY: it is an entry.
            let (note, plain) = unsafe { oldest.take::<false>() };
            self.count_noted(note);
            return self.transmit().fill_plain(plain);
        }
        // SAFETY: the operation is done; its caller has room for the word, aligned, and it is nobody
        // else's until the operation is reported.
        let Some((mark, plain)) = (unsafe { log.take_simple(log.seen()) }) else {
            return self.end_rest(log.queue, lane.done(log.queue));
        };
        self.report_done(mark, plain)
    }

    /// Takes the completion of the operation that [`Endpoint::due`] has just returned, if it has
    /// come, the operation has a context, and its entry would be the only one in its queue: has
    /// `see` look at that in place of putting it there. Of an operation that brings a word to its
    /// place if `IS_WORD`, and of others otherwise. Does nothing in other cases. Calls nothing.
    ///
    /// # Safety
    /// [`Endpoint::due`] of this endpoint has just returned it.
    #[inline(always)]
    pub unsafe fn take_lone<const IS_WORD: bool>(
        &self,
        LonePost { log, lone }: LonePost<'_>,
        see: impl FnOnce(completion::Seen<'_>),
    ) -> Taken {
        // SAFETY: as in `Far::lone`, which has returned it: nothing is posted to a queue of no
        // lane.
        let (lane, has_come) = unsafe { (log.lane(), log.lane().has_lone(lone)) };
        if !has_come || !self.transmit().is_idle() {
            return Taken::Nothing;
        }
        let oldest = log.oldest();
        let is_such = match IS_WORD {
            true => oldest.is_word(),
            false => oldest.is_entry(),
        };
        if !is_such {
            return Taken::Other;
        }
        // SAFETY: the completion has come. The operation is such a one, and is done, as all before
        // the completion's; its caller has room for a word, aligned, and it is nobody else's until
        // the operation is reported.
        let (note, plain) = unsafe {
            lane.pass_lone(lone);
            oldest.take::<IS_WORD>()
        };
        self.count_noted(note);
        self.transmit().see_plain(plain, see);
        Taken::Entry
    }

    /// Counts an operation of this note that was taken, if it is counted.
    #[inline(always)]
    fn count_noted(&self, note: usize) {
        debug_assert!(note < self.counters.len());
        // SAFETY: notes of operations that are taken are below the number of counters.
        unsafe { self.counters.get_unchecked(note) }.add(1);
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
