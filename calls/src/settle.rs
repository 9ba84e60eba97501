//! Sums over all processes, by a binary tree: of barriers, and of waves that tell that no call is
//! under way. Each has the collective calls that processes have come to, so that all find out where
//! these differ.

use crate::calls::Calls;
use crate::core::{Way, header};
use crate::error::Error;
use crate::run::{Panic, keep_first};
use crate::wire::{DOWN, UP};
use bytemuck::{Pod, Zeroable, bytes_of};
use std::panic::resume_unwind;

/// A collective call. Its number, from 1, is that of [`Sums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Barrier = 1,
    Settle,
    Close,
}

impl Collective {
    /// Returns the name of the collective call of a number, which may be any of a peer's.
    fn name(number: u16) -> &'static str {
        let names = [
            (Self::Barrier, "barrier"),
            (Self::Settle, "settle"),
            (Self::Close, "close"),
        ];
        let found = names.iter().find(|(one, _)| *one as u16 == number);
        found.map_or("another collective call", |(_, name)| name)
    }
}

/// A part of a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Sums {
    /// Calls that were made since the begin.
    made: u64,
    /// Those of them that have not ended.
    unended: u64,
    /// The rank that is gone, plus 1, if one is.
    gone: u32,
    /// A rank, and one that has come to another collective call, if one has.
    ranks: [u32; 2],
    /// The numbers of these collective calls; 0 for none.
    collectives: [u16; 2],
}

impl Sums {
    fn and(self, other: Self) -> Self {
        let mut sum = Self {
            made: self.made.wrapping_add(other.made),
            unended: self.unended.wrapping_add(other.unended),
            gone: if self.gone == 0 {
                other.gone
            } else {
                self.gone
            },
            ..self
        };
        for (rank, collective) in other.callers() {
            sum.note(rank, collective);
        }
        sum
    }

    fn gone(rank: u32) -> Self {
        Self {
            gone: rank + 1,
            ..Self::default()
        }
    }

    /// Ranks, and the numbers of the collective calls that they have come to.
    fn callers(self) -> impl Iterator<Item = (u32, u16)> {
        let all = self.ranks.into_iter().zip(self.collectives);
        all.filter(|(_, collective)| *collective != 0)
    }

    /// Notes the collective call that a rank has come to, unless it is noted, or two others are.
    fn note(&mut self, rank: u32, collective: u16) {
        let noted = self.collectives;
        let free = noted.iter().position(|&noted| noted == 0);
        if let Some(free) = free
            && !noted.contains(&collective)
        {
            (self.ranks[free], self.collectives[free]) = (rank, collective);
        }
    }

    /// Returns the error of a process that has come to `own`, where another one has come to another
    /// collective call.
    fn difference(self, own: Collective) -> Option<Error> {
        let other = self.callers().find(|caller| caller.1 != own as u16)?;
        Some(Error::Differ {
            own: Collective::name(own as u16),
            rank: other.0,
            other: Collective::name(other.1),
        })
    }
}

/// The parts of sums that have come.
#[derive(Debug)]
pub(crate) struct Waves {
    parent: Option<u32>,
    children: Vec<u32>,
    /// The number of the last sum.
    wave: u64,
    /// Of each child, by number.
    up: Vec<Option<(u64, Sums)>>,
    down: Option<(u64, Sums)>,
    is_open: bool,
}

impl Waves {
    pub(crate) fn new(rank: u32, ranks: u32) -> Self {
        let children = [2 * u64::from(rank) + 1, 2 * u64::from(rank) + 2];
        let children = children.into_iter().filter(|&child| child < ranks.into());
        let children: Vec<u32> = children.map(|child| child as u32).collect();
        Self {
            parent: rank.checked_sub(1).map(|rank| rank / 2),
            wave: 0,
            up: vec![None; children.len()],
            children,
            down: None,
            is_open: false,
        }
    }

    /// Whether a sum waits for a part from a rank.
    pub(crate) fn waits_for(&self, rank: u32) -> bool {
        self.is_open && (self.parent == Some(rank) || self.children.contains(&rank))
    }

    /// Takes a part, or the sum.
    pub(crate) fn take(&mut self, source: u32, is_up: bool, wave: u64, sums: Sums) {
        if !is_up {
            if self.parent == Some(source) {
                self.down = Some((wave, sums));
            }
        } else if let Some(child) = self.children.iter().position(|&child| child == source) {
            self.up[child] = Some((wave, sums));
        }
    }

    /// Ends the sum that waits for a rank, and all later ones, with that.
    pub(crate) fn part(&mut self, rank: u32) {
        let gone = Some((u64::MAX, Sums::gone(rank)));
        let is_there = |part: &Option<(u64, Sums)>, wave| part.is_some_and(|part| part.0 >= wave);
        if self.parent == Some(rank) && !is_there(&self.down, self.wave) {
            self.down = gone;
        }
        if let Some(child) = self.children.iter().position(|&child| child == rank)
            && !is_there(&self.up[child], self.wave)
        {
            self.up[child] = gone;
        }
    }

    /// The sum of the children's parts, once all are there.
    fn of_children(&self) -> Option<Sums> {
        let part = |up: &Option<(u64, Sums)>| up.filter(|up| up.0 >= self.wave).map(|up| up.1);
        let parts = self.up.iter().map(part);
        parts.sum::<Option<Whole>>().map(|whole| whole.0)
    }

    fn of_all(&self) -> Option<Sums> {
        self.down
            .filter(|down| down.0 >= self.wave)
            .map(|down| down.1)
    }
}

/// A sum of parts.
struct Whole(Sums);

impl std::iter::Sum<Sums> for Whole {
    fn sum<I: Iterator<Item = Sums>>(parts: I) -> Self {
        Self(parts.fold(Sums::default(), Sums::and))
    }
}

/// The waits of a collective call, which each process does to its end: one that left it where a
/// function of the program's panics would take its next one for that of the others.
pub(crate) struct Waits {
    /// The collective call.
    of: Collective,
    panic: Option<Panic>,
}

impl Waits {
    /// Polls until `is_done`, and keeps the first panic.
    pub(crate) fn wait(&mut self, calls: &Calls, is_done: impl Fn() -> bool) {
        if !is_done()
            && let Err(panic) = calls.wait_through(is_done)
        {
            keep_first(&mut self.panic, panic);
        }
    }
}

impl Calls {
    /// Does a collective call; a panic of the program's functions goes on behind it.
    ///
    /// # Errors
    /// [`Error::Nested`] in an action; [`Error::Closed`] behind [`Calls::close`]; those of `act`.
    pub(crate) fn collectively<T>(
        &self,
        of: Collective,
        act: impl FnOnce(&mut Waits) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.refuse_in_actions()?;
        let _alone = self.inner().collective();
        if self.inner().turn().is_closed {
            return Err(Error::Closed);
        }
        let mut waits = Waits { of, panic: None };
        let done = act(&mut waits);
        waits.panic.map_or(done, |panic| resume_unwind(panic))
    }

    /// Adds the parts of all processes up: collective.
    ///
    /// # Errors
    /// [`Error::Gone`], [`Error::Link`] or [`Error::Differ`], with all that take part.
    fn sum(&self, waits: &mut Waits, own: impl FnOnce() -> Sums) -> Result<Sums, Error> {
        {
            let mut core = self.inner().turn();
            core.waves.wave += 1;
            core.waves.is_open = true;
            let near = core
                .waves
                .parent
                .into_iter()
                .chain(core.waves.children.clone());
            // Those whose last part came before they went.
            for rank in near.collect::<Vec<_>>() {
                if core.is_lost(rank) {
                    core.waves.part(rank);
                }
            }
        }
        let sum = self.sum_on(waits, own);
        self.inner().turn().waves.is_open = false;
        match sum.gone.checked_sub(1) {
            None => sum.difference(waits.of).map_or(Ok(sum), Err),
            Some(rank) => {
                let lost = self.inner().turn().lost(rank);
                Err(lost.unwrap_or(Error::Gone { rank }))
            }
        }
    }

    fn sum_on(&self, waits: &mut Waits, own: impl FnOnce() -> Sums) -> Sums {
        let inner = self.inner();
        waits.wait(self, || inner.turn().waves.of_children().is_some());
        let mut own = own();
        own.note(inner.rank, waits.of as u16);
        let (parent, wave) = {
            let mut core = self.inner().turn();
            let part = core.waves.of_children().unwrap_or_default().and(own);
            let (parent, wave) = (core.waves.parent, core.waves.wave);
            match parent {
                None => core.waves.down = Some((wave, part)),
                Some(parent) => {
                    core.append(
                        parent,
                        Way::Replies,
                        header(UP, 0, wave),
                        std::iter::once(bytes_of(&part)),
                    );
                }
            }
            (parent, wave)
        };
        if parent.is_some() {
            waits.wait(self, || inner.turn().waves.of_all().is_some());
        }
        let mut core = self.inner().turn();
        let sum = core.waves.of_all().unwrap_or_default();
        for child in core.waves.children.clone() {
            core.append(
                child,
                Way::Replies,
                header(DOWN, 0, wave),
                std::iter::once(bytes_of(&sum)),
            );
        }
        core.turn(true);
        sum
    }

    /// Waits until all processes have called it: collective.
    ///
    /// # Errors
    /// [`Error::Gone`] or [`Error::Link`] with all that take part, where a rank is gone or is not
    /// reached any more; [`Error::Differ`] with all, where one has come to another collective call;
    /// [`Error::Nested`] in an action; [`Error::Closed`] behind [`Calls::close`].
    pub fn barrier(&self) -> Result<(), Error> {
        self.collectively(Collective::Barrier, |waits| {
            self.sum(waits, Sums::default).map(drop)
        })
    }

    /// Waits until no call of any process is under way: collective. Two sums of the same number of calls
    /// that were made, of which none had not ended: so none was made between the two, and none was under
    /// way (the counters of Mattern, "Algorithms for distributed termination detection", 1987).
    ///
    /// # Errors
    /// [`Error::Gone`] or [`Error::Link`] with all that take part, where a rank is gone or is not
    /// reached any more; [`Error::Differ`] with all, where one has come to another collective call;
    /// [`Error::Nested`] in an action; [`Error::Closed`] behind [`Calls::close`].
    pub fn settle(&self) -> Result<(), Error> {
        self.collectively(Collective::Settle, |waits| self.settle_by(waits))
    }

    /// Does as [`Calls::settle`], in a collective call.
    ///
    /// # Errors
    /// As that.
    pub(crate) fn settle_by(&self, waits: &mut Waits) -> Result<(), Error> {
        let inner = self.inner();
        let mut before = None;
        loop {
            waits.wait(self, || inner.made_and_unended().1 == 0);
            let sums = self.sum(waits, || {
                let (made, unended) = inner.made_and_unended();
                Sums {
                    made,
                    unended,
                    ..Sums::default()
                }
            })?;
            if sums.unended == 0 && before == Some(sums.made) {
                return Ok(());
            }
            before = (sums.unended == 0).then_some(sums.made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Collective, Sums};
    use crate::core::{Way, header};
    use crate::wire::UP;
    use crate::{Calls, Config, Error, Together};
    use bytemuck::bytes_of;
    use std::sync::mpsc;

    /// Returns the result of a barrier of rank 0, to which rank 1 sends `part`.
    fn barrier_with(part: Sums) -> Result<(), Error> {
        let mut meetings = Together::of(2).into_iter().map(|meeting| Config {
            meeting: Some(Box::new(meeting)),
            ..Config::default()
        });
        let [first, second] = [meetings.next().unwrap(), meetings.next().unwrap()];
        // Dropped where a thread panics, too.
        let (told, is_told) = mpsc::channel();
        std::thread::scope(move |threads| {
            threads.spawn(move || {
                let calls = Calls::open_with(second).unwrap();
                let mut core = calls.inner().turn();
                let bytes = std::iter::once(bytes_of(&part));
                core.append(0, Way::Replies, header(UP, 0, 1), bytes);
                core.send();
                drop(core);
                let _ = is_told.recv();
            });
            let _told: mpsc::Sender<()> = told;
            Calls::open_with(first).unwrap().barrier()
        })
    }

    #[test]
    fn any_part_of_a_peer_is_taken() {
        let told = barrier_with(Sums::gone(77));
        assert!(matches!(told, Err(Error::Gone { rank: 77 })), "{told:?}");
        let mut part = Sums::default();
        part.note(u32::MAX, 9);
        part.note(1, Collective::Barrier as u16);
        let told = barrier_with(part);
        let Err(Error::Differ { own, rank, other }) = told else {
            panic!("{told:?}");
        };
        assert_eq!((own, rank), ("barrier", u32::MAX));
        assert_eq!(other, "another collective call");
    }
}
