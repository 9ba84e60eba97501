//! The constants of the header (OpenSHMEM 1.6, section 6), with the values that the library uses.

use core::ffi::c_int;
use shmem::VENDOR;
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

const _: () = assert!(VENDOR.len() < MAX_NAME_LEN);

/// A constant: its name, what stands for it in C, and whether the deprecated form with a leading
/// underscore exists too.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The name in C.
    pub name: &'static str,
    /// The C expression.
    pub value: String,
    /// Whether `_NAME` is defined as well (deprecated by the specification).
    pub underscored: bool,
}

/// The constants, in groups: a heading, then what belongs under it.
pub fn groups() -> Vec<(&'static str, Vec<Constant>)> {
    let plain = |name, value: String| Constant {
        name,
        value,
        underscored: false,
    };
    let number = |name, value: c_int| plain(name, value.to_string());
    let both = |name, value: String| Constant {
        name,
        value,
        underscored: true,
    };
    let handle = |name, offset: usize| plain(name, format!("((shmem_ctx_t)(uintptr_t){offset})"));
    let team =
        |name, number: team::Handle| plain(name, format!("((shmem_team_t)(uintptr_t){number})"));
    let flag = |name, bit: u32| plain(name, format!("(1L << {bit})"));
    vec![
        (
            "The specification that the library implements, and the library (section 6).",
            vec![
                both("SHMEM_MAJOR_VERSION", MAJOR_VERSION.to_string()),
                both("SHMEM_MINOR_VERSION", MINOR_VERSION.to_string()),
                both("SHMEM_MAX_NAME_LEN", MAX_NAME_LEN.to_string()),
                both("SHMEM_VENDOR_STRING", format!("\"{VENDOR}\"")),
            ],
        ),
        (
            "Thread levels (section 9.2).",
            vec![
                number("SHMEM_THREAD_SINGLE", 0),
                number("SHMEM_THREAD_FUNNELED", 1),
                number("SHMEM_THREAD_SERIALIZED", 2),
                number("SHMEM_THREAD_MULTIPLE", 3),
            ],
        ),
        (
            "Comparisons (section 9.11).",
            vec![
                both("SHMEM_CMP_EQ", (Cmp::Eq as c_int).to_string()),
                both("SHMEM_CMP_NE", (Cmp::Ne as c_int).to_string()),
                both("SHMEM_CMP_GT", (Cmp::Gt as c_int).to_string()),
                both("SHMEM_CMP_LE", (Cmp::Le as c_int).to_string()),
                both("SHMEM_CMP_LT", (Cmp::Lt as c_int).to_string()),
                both("SHMEM_CMP_GE", (Cmp::Ge as c_int).to_string()),
            ],
        ),
        (
            "Signal operators (section 9.8).",
            vec![
                number("SHMEM_SIGNAL_SET", SIGNAL_SET),
                number("SHMEM_SIGNAL_ADD", SIGNAL_ADD),
            ],
        ),
        (
            "Hints to shmem_malloc_with_hints (section 9.3.5), of type long.",
            vec![
                flag("SHMEM_MALLOC_ATOMICS_REMOTE", 0),
                flag("SHMEM_MALLOC_SIGNAL_REMOTE", 1),
            ],
        ),
        (
            "Team handles (section 7), and the bit of a member of a configuration (section 9.4.3), of type long.",
            vec![
                team("SHMEM_TEAM_INVALID", team::INVALID),
                team("SHMEM_TEAM_WORLD", team::WORLD),
                team("SHMEM_TEAM_SHARED", team::SHARED),
                plain(
                    "SHMEM_TEAM_NUM_CONTEXTS",
                    format!("{}L", team::NUM_CONTEXTS),
                ),
            ],
        ),
        (
            "Context handles (section 7) and options (section 9.5), of type long.",
            vec![
                handle("SHMEM_CTX_INVALID", ctx::INVALID_HANDLE),
                handle("SHMEM_CTX_DEFAULT", ctx::DEFAULT_HANDLE),
                flag("SHMEM_CTX_SERIALIZED", 0),
                flag("SHMEM_CTX_PRIVATE", 1),
                flag("SHMEM_CTX_NOSTORE", 2),
            ],
        ),
    ]
}
