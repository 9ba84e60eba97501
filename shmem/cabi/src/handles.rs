//! The library's handles (OpenSHMEM 1.6, section 7) as objects, beside the macros of the header:
//! for programs that do not read macros. Generators of bindings skip those that cast, and other
//! languages look names up in the library.

use shmem::{ctx, team};

/// A handle: its name, its type in C, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub(crate) name: &'static str,
    pub(crate) c_type: &'static str,
    pub(crate) value: usize,
}

/// Defines the objects, and the table of them. A handle is as wide as an address.
macro_rules! handles {
    ($($name:ident: $c_type:literal = $value:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            static $name: usize = $value;
        )*

        /// All handles that the library has.
        pub(crate) const HANDLES: &[Handle] = &[
            $(Handle { name: stringify!($name), c_type: $c_type, value: $value },)*
        ];
    };
}

handles! {
    SHMEM_TEAM_INVALID: "shmem_team_t" = team::INVALID;
    SHMEM_TEAM_WORLD: "shmem_team_t" = team::WORLD;
    SHMEM_TEAM_SHARED: "shmem_team_t" = team::SHARED;
    SHMEM_CTX_INVALID: "shmem_ctx_t" = ctx::INVALID_HANDLE;
    SHMEM_CTX_DEFAULT: "shmem_ctx_t" = ctx::DEFAULT_HANDLE;
}
