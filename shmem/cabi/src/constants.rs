//! The constants of the header (OpenSHMEM 1.6, section 6), with the values that the library uses.

use crate::handles::HANDLES;
use core::ffi::{c_int, c_long};
use shmem::VENDOR;
use shmem::collective::active::{SYNC_SIZE, SYNC_VALUE};
use shmem::ctx;
use shmem::signal::{SIGNAL_ADD, SIGNAL_SET};
use shmem::sync::Cmp;
use shmem::team;

/// SHMEM_MAJOR_VERSION: of the specification.
pub const MAJOR_VERSION: c_int = 1;
/// SHMEM_MINOR_VERSION: of the specification.
pub const MINOR_VERSION: c_int = 6;
/// SHMEM_MAX_NAME_LEN: bytes that hold SHMEM_VENDOR_STRING and its null character.
pub const MAX_NAME_LEN: usize = 64;

/// SHMEM_REDUCE_MIN_WRKDATA_SIZE: elements of a pWrk, which is not used; but an array has to have one.
pub const MIN_WRKDATA_SIZE: usize = 1;

const _: () = assert!(VENDOR.len() < MAX_NAME_LEN);

/// A constant: its name, its text in C, whether the deprecated form with a leading underscore
/// exists too, and whether there is an object of its name.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The name in C.
    pub name: &'static str,
    /// The C expression.
    pub value: String,
    /// Whether `_NAME` is defined as well (deprecated by the specification).
    pub underscored: bool,
    /// The type in C of the object that the library has for it, if it has one.
    pub object: Option<&'static str>,
}

/// Returns the constants, in groups: a heading, then the constants below it.
pub fn groups() -> Vec<(&'static str, Vec<Constant>)> {
    let mut groups = numbers();
    groups.extend(handles());
    groups.extend(work_arrays());
    groups
}

/// Returns a constant without a second name.
fn plain(name: &'static str, value: impl ToString) -> Constant {
    Constant {
        name,
        value: value.to_string(),
        underscored: false,
        object: None,
    }
}

/// Returns a constant with a second name.
fn both(name: &'static str, value: impl ToString) -> Constant {
    Constant {
        underscored: true,
        ..plain(name, value)
    }
}

/// Returns a constant of type long.
fn long(name: &'static str, value: c_long) -> Constant {
    plain(name, format!("{value}L"))
}

/// Returns the library's version as one number, with which `#if` can compare.
fn version_number() -> u32 {
    let number = |text: &str| text.parse::<u32>().expect("cargo gives numbers");
    number(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

fn numbers() -> Vec<(&'static str, Vec<Constant>)> {
    vec![
        (
            "The specification that the library implements, and the library (section 6).",
            vec![
                both("SHMEM_MAJOR_VERSION", MAJOR_VERSION),
                both("SHMEM_MINOR_VERSION", MINOR_VERSION),
                both("SHMEM_MAX_NAME_LEN", MAX_NAME_LEN),
                both("SHMEM_VENDOR_STRING", format!("\"{VENDOR}\"")),
            ],
        ),
        (
            "This implementation, and its version: 10000 * major + 100 * minor + patch.",
            vec![
                plain("FARREACH_SHMEM", 1),
                plain(
                    "FARREACH_SHMEM_MAJOR_VERSION",
                    env!("CARGO_PKG_VERSION_MAJOR"),
                ),
                plain(
                    "FARREACH_SHMEM_MINOR_VERSION",
                    env!("CARGO_PKG_VERSION_MINOR"),
                ),
                plain(
                    "FARREACH_SHMEM_PATCH_VERSION",
                    env!("CARGO_PKG_VERSION_PATCH"),
                ),
                plain("FARREACH_SHMEM_VERSION", version_number()),
            ],
        ),
        (
            "Thread levels (section 9.2).",
            vec![
                plain("SHMEM_THREAD_SINGLE", 0),
                plain("SHMEM_THREAD_FUNNELED", 1),
                plain("SHMEM_THREAD_SERIALIZED", 2),
                plain("SHMEM_THREAD_MULTIPLE", 3),
            ],
        ),
        (
            "Comparisons (section 9.11).",
            vec![
                both("SHMEM_CMP_EQ", Cmp::Eq as c_int),
                both("SHMEM_CMP_NE", Cmp::Ne as c_int),
                both("SHMEM_CMP_GT", Cmp::Gt as c_int),
                both("SHMEM_CMP_LE", Cmp::Le as c_int),
                both("SHMEM_CMP_LT", Cmp::Lt as c_int),
                both("SHMEM_CMP_GE", Cmp::Ge as c_int),
            ],
        ),
        (
            "Signal operators (section 9.8).",
            vec![
                plain("SHMEM_SIGNAL_SET", SIGNAL_SET),
                plain("SHMEM_SIGNAL_ADD", SIGNAL_ADD),
            ],
        ),
        (
            "Hints to shmem_malloc_with_hints (section 9.3.5), of type long.",
            vec![
                long("SHMEM_MALLOC_ATOMICS_REMOTE", 1),
                long("SHMEM_MALLOC_SIGNAL_REMOTE", 2),
            ],
        ),
    ]
}

fn handles() -> Vec<(&'static str, Vec<Constant>)> {
    let handles = HANDLES.iter().map(|handle| Constant {
        object: Some(handle.c_type),
        ..plain(
            handle.name,
            format!("(({})(uintptr_t){})", handle.c_type, handle.value),
        )
    });
    vec![
        (
            "Handles (section 7): macros, and objects for programs that do not read macros.",
            handles.collect(),
        ),
        (
            "The bit of a member of the configuration of teams (section 9.4.3), of type long.",
            vec![long("SHMEM_TEAM_NUM_CONTEXTS", team::NUM_CONTEXTS)],
        ),
        (
            "Options of contexts (section 9.5), of type long.",
            vec![
                long("SHMEM_CTX_SERIALIZED", ctx::SERIALIZED),
                long("SHMEM_CTX_PRIVATE", ctx::PRIVATE),
                long("SHMEM_CTX_NOSTORE", ctx::NOSTORE),
            ],
        ),
        (
            "An option of sessions, and the bit of a member of their configuration (section 9.9), of type long.",
            vec![
                long("SHMEM_CTX_SESSION_BATCH", ctx::sessions::SESSION_BATCH),
                long(
                    "SHMEM_CTX_SESSION_TOTAL_OPS",
                    ctx::sessions::SESSION_TOTAL_OPS,
                ),
            ],
        ),
    ]
}

/// Returns the constants of the collectives of active sets: all take arrays of one size.
fn work_arrays() -> Vec<(&'static str, Vec<Constant>)> {
    let words = SYNC_SIZE;
    vec![(
        "The work arrays of active sets (section 6): what is in them, and how many elements they have.\n \
         * Deprecated since 1.5: collectives of teams need none.",
        vec![
            both("SHMEM_SYNC_VALUE", format!("{SYNC_VALUE}L")),
            plain("SHMEM_SYNC_SIZE", words),
            both("SHMEM_BARRIER_SYNC_SIZE", words),
            both("SHMEM_BCAST_SYNC_SIZE", words),
            both("SHMEM_COLLECT_SYNC_SIZE", words),
            both("SHMEM_REDUCE_SYNC_SIZE", words),
            plain("SHMEM_ALLTOALL_SYNC_SIZE", words),
            plain("SHMEM_ALLTOALLS_SYNC_SIZE", words),
            both("SHMEM_REDUCE_MIN_WRKDATA_SIZE", MIN_WRKDATA_SIZE),
        ],
    )]
}
