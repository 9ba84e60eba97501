//! Collective operations (OpenSHMEM 1.6, section 9.10).
//!
//! On a node every PE reads the others' memory. Little data goes through slots (`small`), more is read where it is
//! (`flat`); of a team on several nodes the PEs of a node share the data from elsewhere (`tiered`).
//! Nothing here allocates, and nothing is kept but numbers in the team's blocks: several teams may
//! be in collectives at a time.

#![expect(
    unsafe_code,
    reason = "arrays are given by address and length, as C has them"
)]

pub mod active;
pub mod combine;
pub(crate) mod flat;
mod pairs;
pub(crate) mod party;
pub(crate) mod small;
mod tiered;

use crate::barrier::wait;
use crate::ctx;
use crate::order;
use crate::report;
use crate::routine::Routine;
use crate::sync::require_initialized;
use crate::team::group::Team;
use crate::team::{Handle, table};
use combine::{And, Kernel, Max, Min, Operation, Or, Prod, Sum, Xor};
use party::{Party, expect_symmetric};
use std::ffi::c_int;

/// Waits for all PEs; every operation of theirs on the default context is delivered then (9.10.1).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline]
pub unsafe fn barrier_all(at: Routine) {
    // SAFETY: the rules of threads: this call's own caller keeps to them.
    unsafe { order::quiet(ctx::default_ctx(), at) };
    wait(at);
}

/// Waits for all PEs; their stores to own memory are visible then (9.10.4).
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
#[inline]
pub unsafe fn sync_all(at: Routine) {
    require_initialized(at);
    wait(at);
}

/// Waits for all PEs of `team`; their stores are visible then (9.10.3). Returns 0.
///
/// # Safety
/// The [rules of threads](crate#rules-of-threads).
pub unsafe fn sync(at: Routine, team: Handle) -> c_int {
    table::expect(at, team).meet(at);
    0
}

/// Copies `nelems` elements of PE `pe_root` of the team to `dest` on all its PEs (9.10.7). Returns 0.
///
/// # Safety
/// Both arrays are symmetric, hold `nelems` elements, and do not overlap.
pub unsafe fn broadcast<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_root: c_int,
) -> c_int {
    let team = table::expect(at, team);
    let root = root_of(at, team, pe_root);
    let bytes = bytes_of::<T>(at, nelems, 1);
    // SAFETY: both arrays are symmetric, hold `bytes` bytes, and do not overlap.
    unsafe {
        broadcast_bytes(team, at, dest.cast(), source.cast(), bytes, root);
        if team.me() == root {
            flat::copy_own(dest.cast(), source.cast(), bytes);
        }
    }
    0
}

/// Does a [`broadcast`] to all PEs but the root.
///
/// # Safety
/// As there.
pub(crate) unsafe fn broadcast_bytes(
    team: &Team,
    at: Routine,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: usize,
) {
    // SAFETY: both are arrays of `bytes` bytes on every PE that do not overlap; `fits` says whether
    // a slot has room.
    unsafe {
        if bytes == 0 || team.len() == 1 {
        } else if small::fits(team, bytes) {
            small::broadcast(team, at, dest, source, bytes, root);
        } else if team.is_near() {
            flat::broadcast(team, at, dest, source, bytes, root);
        } else {
            tiered::broadcast(team, at, dest, source, bytes, root);
        }
    }
}

/// Returns the root of a broadcast, if the team has it.
fn root_of(at: Routine, party: &impl Party, pe_root: c_int) -> usize {
    match usize::try_from(pe_root) {
        Ok(root) if root < party.len() => root,
        _ => report::bad_argument(
            at,
            "PE_root",
            format_args!("{pe_root}"),
            &format!("a PE of the team (0 to {})", party.len() - 1),
        ),
    }
}

/// Returns the bytes of `count` elements of each of `pes` PEs; ends the job where no array has so
/// many.
fn bytes_of<T>(at: Routine, count: usize, pes: usize) -> usize {
    bytes_of_elements(at, "nelems", count, size_of::<T>(), pes)
}

/// Returns the bytes as [`bytes_of`] does, for elements of `size` bytes, whose number is the
/// argument `name`.
fn bytes_of_elements(at: Routine, name: &str, count: usize, size: usize, pes: usize) -> usize {
    let bytes = count.checked_mul(size);
    let all = bytes.and_then(|bytes| bytes.checked_mul(pes));
    match (bytes, all) {
        (Some(bytes), Some(all)) if all <= isize::MAX as usize => bytes,
        _ => report::bad_argument(
            at,
            name,
            format_args!("{count}"),
            "a length that an array can have",
        ),
    }
}

/// Puts the elements of all PEs of the team, `nelems` of each, one behind the other into `dest` on all of them (9.10.8).
/// Returns 0.
///
/// # Safety
/// `source` is symmetric and holds `nelems` elements, `dest` is symmetric and holds as many for each PE; they do not
/// overlap.
pub unsafe fn fcollect<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let team = table::expect(at, team);
    let bytes = bytes_of::<T>(at, nelems, team.len());
    let (dest, source) = (dest.cast(), source.cast());
    // SAFETY: `source` holds `bytes` bytes on every PE, `dest` as many for each of them, and they
    // do not overlap.
    unsafe {
        if bytes == 0 {
        } else if small::fits(team, bytes) {
            small::fcollect(team, at, dest, source, bytes);
        } else if team.is_near() {
            flat::fcollect(team, at, dest, source, bytes);
        } else {
            tiered::fcollect(team, at, dest, source, bytes);
        }
    }
    0
}

/// Gathers as [`fcollect`] does, where each PE has its own `nelems` (9.10.8).
///
/// # Safety
/// As there; `dest` holds the elements of all PEs.
pub unsafe fn collect<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let team = table::expect(at, team);
    bytes_of::<T>(at, nelems, 1);
    // SAFETY: `source` holds `nelems` elements, `dest` those of all PEs, and they do not overlap.
    unsafe { flat::collect(team, at, dest.cast(), source.cast(), nelems, size_of::<T>()) };
    0
}

/// Exchanges blocks of `nelems` elements: block i of PE j of the team becomes block j of PE i (9.10.5). Returns 0.
///
/// # Safety
/// Both arrays are symmetric, hold a block for each PE, and do not overlap.
pub unsafe fn alltoall<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let team = table::expect(at, team);
    let bytes = bytes_of::<T>(at, nelems, team.len());
    let (dest, source) = (dest.cast(), source.cast());
    // SAFETY: both arrays hold a block of `bytes` bytes for each PE, and do not overlap.
    unsafe {
        if bytes == 0 {
        } else if small::fits(team, bytes.saturating_mul(team.len())) {
            small::alltoall(team, at, dest, source, bytes);
        } else if team.is_crowded() {
            pairs::alltoall(team, at, dest, source, bytes);
        } else {
            flat::alltoall(team, at, dest, source, bytes);
        }
    }
    0
}

/// Exchanges as [`alltoall`] does, where the elements lie `dst` elements apart in `dest` and `sst`
/// in `source` (9.10.6).
///
/// # Safety
/// Both arrays are symmetric, hold all those elements, and do not overlap.
pub unsafe fn alltoalls<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
) -> c_int {
    let team = table::expect(at, team);
    bytes_of::<T>(at, nelems, team.len());
    if nelems > 0 {
        // SAFETY: both arrays hold the blocks of all PEs, and do not overlap.
        unsafe { flat::alltoalls(team, at, dest, source, dst, sst, nelems) };
    }
    0
}

/// Combines on any team, by the algorithm that suits it.
///
/// # Safety
/// Both arrays are symmetric, hold `count` of the kernel's elements, and are the same or do not overlap.
pub(crate) unsafe fn reduce(
    at: Routine,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
) {
    let bytes = bytes_of_elements(at, "nreduce", count, kernel.size, 1);
    if bytes == 0 {
        return;
    }
    expect_symmetric(team, at, dest, source, bytes);
    // SAFETY: both arrays hold `count` of the kernel's elements, and are the same or do not
    // overlap.
    unsafe {
        if team.len() == 1 {
            flat::copy_own(dest, source, bytes);
        } else if small::fits(team, bytes) {
            small::reduce(team, at, dest, source, count, kernel);
        } else if team.is_near() {
            flat::reduce(team, at, dest, source, count, kernel);
        } else {
            tiered::reduce(team, at, dest, source, count, kernel);
        }
    }
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $op:ident;)*) => {$(
        $(#[$doc])* ///
        /// Combines `nreduce` elements; returns 0.
        ///
        /// # Safety
        /// Both arrays are symmetric, hold `nreduce` elements, and are the same or do not overlap.
        pub unsafe fn $name<T: Copy>(
            at: Routine,
            team: Handle,
            dest: *mut T,
            source: *const T,
            nreduce: usize,
        ) -> c_int
        where
            $op: Operation<T>,
        {
            let kernel = const { &Kernel::of::<T, $op>() };
            let team = table::expect(at, team);
            // SAFETY: both arrays hold `nreduce` elements of `T`, and are the same or do not
            // overlap.
            unsafe { reduce(at, team, dest.cast(), source.cast(), nreduce, kernel) };
            0
        }
    )*};
}

reductions! {
    /// Writes the bitwise and of all PEs of the team (9.10.9.1).
    and_reduce: And;
    /// Writes the bitwise or of all PEs of the team (9.10.9.2).
    or_reduce: Or;
    /// Writes the bitwise exclusive or of all PEs of the team (9.10.9.3).
    xor_reduce: Xor;
    /// Writes the greatest of all PEs of the team (9.10.9.4).
    max_reduce: Max;
    /// Writes the least of all PEs of the team (9.10.9.5).
    min_reduce: Min;
    /// Writes the sum of all PEs of the team (9.10.9.6).
    sum_reduce: Sum;
    /// Writes the product of all PEs of the team (9.10.9.7).
    prod_reduce: Prod;
}

/// Writes the sum of the PEs of the team up to this one (9.10.10). Returns 0.
///
/// # Safety
/// Both arrays are symmetric, hold `nelems` elements, and are the same or do not overlap.
pub unsafe fn sum_inscan<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int
where
    Sum: Operation<T>,
{
    // SAFETY: both arrays hold `nelems` elements of `T`, and are the same or do not overlap; zero
    // bits are 0, the identity of a sum.
    unsafe {
        scan(
            at,
            team,
            dest.cast(),
            source.cast(),
            nelems,
            const { &Kernel::of::<T, Sum>() },
            true,
        )
    }
}

/// Writes the sum of the PEs of the team before this one, 0 on the first (9.10.10). Returns 0.
///
/// # Safety
/// As [`sum_inscan`].
pub unsafe fn sum_exscan<T: Copy>(
    at: Routine,
    team: Handle,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int
where
    Sum: Operation<T>,
{
    // SAFETY: both arrays hold `nelems` elements of `T`, and are the same or do not overlap; zero
    // bits are 0, the identity of a sum.
    unsafe {
        scan(
            at,
            team,
            dest.cast(),
            source.cast(),
            nelems,
            const { &Kernel::of::<T, Sum>() },
            false,
        )
    }
}

/// # Safety
/// As [`reduce`]; all bits zero is the operation's identity.
pub(crate) unsafe fn scan(
    at: Routine,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    kernel: &Kernel,
    inclusive: bool,
) -> c_int {
    let team = table::expect(at, team);
    let bytes = bytes_of_elements(at, "nelems", count, kernel.size, 1);
    if bytes == 0 {
        return 0;
    }
    expect_symmetric(team, at, dest, source, bytes);
    // SAFETY: both arrays hold `count` of the kernel's elements, and are the same or do not
    // overlap; zero bits are the identity.
    unsafe {
        if small::fits(team, bytes) {
            small::scan(team, at, dest, source, count, kernel, inclusive);
        } else {
            flat::scan(team, at, dest, source, count, kernel, inclusive);
        }
    }
    0
}
