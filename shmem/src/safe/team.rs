//! Teams (OpenSHMEM 1.6, section 9.4).

#![expect(
    unsafe_code,
    reason = "calls the routines of teams, each of which one thread at a time has"
)]

use super::created::forget_of_team;
use super::meet::{Args, meet};
use super::{Ctx, OneThread, World};
use crate::collective;
use crate::job;
use crate::job::error::Error;
use crate::owner::Part;
use crate::routine::Routine;
use crate::team::{Config, Handle, INVALID, SHARED, WORLD, group, split, table};
use std::ffi::c_int;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null;

/// A set of PEs with numbers of their own, which do collective operations together.
///
/// [`World::team`] is that of all PEs, [`World::node_team`] that of the PEs of a node;
/// [`Team::split_strided`] and [`Team::split_2d`] make others. A team that was made can move to
/// another thread, as a [`Ctx`] can (it is `Send` and not `Sync`).
///
/// The PEs of a team call its collective operations in the same order. All but [`Team::sync`] begin
/// with a comparison: where PEs have come to different calls, or to the same with other arguments,
/// they panic.
///
/// A team that was made lives until [`Team::destroy`], or else until the `World` is dropped.
///
/// ```no_run
/// # fn main() -> Result<(), shmem::Error> {
/// let world = shmem::World::init()?;
/// let (me, n) = (world.my_pe(), world.n_pes());
/// let all = world.team();
/// assert_eq!(all.sum(me), n * (n - 1) / 2);
/// if let Some(even) = all.split_strided(0, 2, n.div_ceil(2))? {
///     assert_eq!(even.my_pe(), me / 2);
///     assert_eq!(even.max(me) % 2, 0);
///     even.destroy();
/// }
/// # Ok(()) }
/// ```
pub struct Team<'w> {
    pub(super) handle: Handle,
    /// None for the two that are there from the beginning.
    part: Option<Part>,
    world: PhantomData<&'w ()>,
    one_thread: OneThread,
}

const SPLIT: Routine = &"Team::split_strided";
const SPLIT_2D: Routine = &"Team::split_2d";
const DESTROY: Routine = &"Team::destroy";

impl World {
    /// Returns the team of all PEs.
    pub fn team(&self) -> &Team<'_> {
        self.enter();
        &self.teams[0]
    }

    /// Returns the team of the PEs of this node, whose memory is reached by loads and stores.
    pub fn node_team(&self) -> &Team<'_> {
        self.enter();
        &self.teams[1]
    }
}

impl Team<'static> {
    /// Returns the teams that are there from the beginning, for the `World`.
    pub(super) fn predefined() -> [Self; 2] {
        [WORLD, SHARED].map(|handle| Self {
            handle,
            part: None,
            world: PhantomData,
            one_thread: PhantomData,
        })
    }
}

impl<'w> Team<'w> {
    /// Makes the value for a team that this PE has made and counted.
    fn made(handle: Handle, part: Part) -> Self {
        Self {
            handle,
            part: Some(part),
            world: PhantomData,
            one_thread: PhantomData,
        }
    }

    /// Returns the team as the algorithms see it.
    #[inline]
    pub(super) fn group(&self) -> &group::Team {
        table::expect(&"Team", self.handle)
    }

    /// Returns the number of this PE in the team, from 0 (9.4.1).
    pub fn my_pe(&self) -> usize {
        self.group().me()
    }

    /// Returns the number of PEs of the team (9.4.2).
    pub fn n_pes(&self) -> usize {
        self.group().pes().len()
    }

    /// Returns the number in `other` of the PE that is `pe` in this team; `None` where it is not in
    /// `other` (9.4.5).
    ///
    /// # Panics
    /// If `pe` is out of range.
    #[track_caller]
    pub fn translate(&self, pe: usize, other: &Team<'_>) -> Option<usize> {
        let number = self.group().pes()[self.number(pe) as usize];
        other.group().pes().iter().position(|&pe| pe == number)
    }

    /// Returns the numbers in the job of the team's PEs, in the order of the team.
    pub fn world_pes(&self) -> Vec<usize> {
        self.group().pes().iter().map(|&pe| pe as usize).collect()
    }

    /// Returns the number of a PE of the team, as the routines take it.
    #[track_caller]
    pub(super) fn number(&self, pe: usize) -> c_int {
        let count = self.n_pes();
        assert!(
            pe < count,
            "PE {}: there is no PE {pe} in a team of {count}",
            job::my_pe()
        );
        pe as c_int
    }

    /// Creates a context whose PEs are those of the team (9.5.2); not collective. `None` where that
    /// is not possible.
    pub fn create_ctx(&self) -> Option<Ctx<'_>> {
        Ctx::created(&"Team::create_ctx", self.handle)
    }

    /// Waits for all PEs of the team; the stores of each to own elements are visible then (9.10.3).
    pub fn sync(&self) {
        // SAFETY: the rules of threads: this one has the team.
        unsafe { collective::sync(&"Team::sync", self.handle) };
    }

    /// Makes a team of the PEs `start`, `start + stride` and so on of this one, `size` in all (9.4.6);
    /// collective over this team. `None` on PEs that are not in it.
    ///
    /// # Errors
    /// [`Error::NoTeam`] on all PEs of this team, where no more can be made.
    ///
    /// # Panics
    /// If there is no such set of PEs, or if the PEs of this team do not all call this with the same
    /// arguments.
    #[track_caller]
    pub fn split_strided(
        &self,
        start: usize,
        stride: isize,
        size: usize,
    ) -> Result<Option<Team<'w>>, Error> {
        let count = self.n_pes();
        let last = size
            .checked_sub(1)
            .and_then(|last| last.try_into().ok())
            .and_then(|last| stride.checked_mul(last))
            .and_then(|span| start.checked_add_signed(span));
        let is_there = start < count && last.is_some_and(|last| last < count);
        assert!(
            is_there && (size == 1 || stride != 0),
            "PE {}: no {size} PEs from {start} on, {stride} apart, in a team of {count}",
            job::my_pe()
        );
        // All three are below the number of PEs.
        let stride = stride as c_int;
        let args = Args {
            count: size,
            extra: start << 32 | stride.cast_unsigned() as usize,
            ..Args::default()
        };
        meet(SPLIT, self.handle, args);
        let (start, size) = (start as c_int, size as c_int);
        let (part, mut handle) = (Part::new(), INVALID);
        // SAFETY: the handle is writable, and there is no configuration. The rules of threads: this
        // one has the team.
        let failed = unsafe {
            let (config, to) = (null::<Config>(), &raw mut handle);
            split::split_strided(SPLIT, self.handle, start, stride, size, config, 0, to)
        };
        match failed {
            0 => Ok((handle != INVALID).then(|| Self::made(handle, part))),
            _ => Err(Error::NoTeam),
        }
    }

    /// Makes two teams of this one, laid out in rows of `xrange` PEs (9.4.7): this PE's row, in which
    /// its number is its x, and its column, in which its number is its y; collective over this team.
    ///
    /// # Errors
    /// [`Error::NoTeam`] on all PEs of this team, where no more can be made.
    ///
    /// # Panics
    /// If `xrange` is 0, or if the PEs of this team do not all call this with the same.
    #[track_caller]
    pub fn split_2d(&self, xrange: usize) -> Result<(Team<'w>, Team<'w>), Error> {
        assert!(xrange > 0, "PE {}: rows of no PEs", job::my_pe());
        let args = Args {
            count: xrange,
            ..Args::default()
        };
        meet(SPLIT_2D, self.handle, args);
        let xrange = xrange.min(self.n_pes()) as c_int;
        let parts = (Part::new(), Part::new());
        let (mut x, mut y) = (INVALID, INVALID);
        // SAFETY: the handles are writable, and there is no configuration. The rules of threads:
        // this one has the team.
        let failed = unsafe {
            let (config, x, y) = (null::<Config>(), &raw mut x, &raw mut y);
            split::split_2d(SPLIT_2D, self.handle, xrange, config, 0, x, config, 0, y)
        };
        match failed {
            0 => Ok((Self::made(x, parts.0), Self::made(y, parts.1))),
            _ => Err(Error::NoTeam),
        }
    }

    /// Destroys the team (9.4.8); collective over it. Others can be made in its place.
    ///
    /// ```compile_fail,E0507
    /// # fn main() -> Result<(), shmem::Error> {
    /// let world = shmem::World::init()?;
    /// world.team().destroy();
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If the PEs of the team do not all call this.
    #[track_caller]
    pub fn destroy(self) {
        meet(DESTROY, self.handle, Args::default());
        forget_of_team(DESTROY, self.handle);
        // SAFETY: the program uses no context of the team: those that it has borrow the team. The
        // rules of threads: this one has the team.
        unsafe { split::destroy(DESTROY, self.handle) };
    }
}

impl fmt::Debug for Team<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team")
            .field("handle", &self.handle)
            .field("is_made", &self.part.is_some())
            .finish_non_exhaustive()
    }
}
