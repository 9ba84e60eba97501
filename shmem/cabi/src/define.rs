//! The macro that turns rows into `extern "C"` functions and into descriptions of them.

/// Defines the families of a module, and `FAMILIES`, their descriptions.
///
/// First stand the meanings of the arguments of most rows, with units, and the behaviour on errors.
/// Then come the rows:
/// `/// DOC` `"SECTION"` CALL KIND NAME `(ARGUMENTS) [-> RESULT] = FUNCTION;` where
///
/// - DOC is the contract in a sentence or two. A further line `- argument: meaning` gives the
///   meaning of an argument of this row, a line `Errors: ...` the behaviour on errors, where that
///   differs from the module's; a line that begins with `Deprecated since` marks the row;
/// - SECTION is its place in the specification;
/// - NAME is `once("fence")` for `shmem_fence`, `old("start_pes")` for a name that is not made from
///   `shmem_`; `typed(Set, "put")` for `shmem_TYPE_put` over the types of the set, with a generic name;
///   `generic(Set, Wide, "test")` the same, with a generic name that covers the types of Wide;
///   `plain(Set, "wait")` the same, without a generic name; `sized(Sizes, "put", "_nbi")` for
///   `shmem_putSIZE_nbi`. In the arguments `T` stands for the type, or for an element of the size;
/// - CALL names the values that the function is passed before the arguments: `ctx` a context and
///   the routine's name, and then there is a `shmem_ctx_` form too; `main` the default context and
///   the name; `at` the name; `bare` nothing; `c` says that the routine is written in C and only
///   described here.
macro_rules! families {
    (
        arguments { $($known:ident: $meaning:literal,)* }
        errors $errors:literal;
        $(
            $(#[doc = $doc:literal])+ $section:literal
            $call:ident $kind:ident $key:tt ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $f:path;
        )*
    ) => {
        /// Meanings of the arguments, unless a row says otherwise.
        const KNOWN: &[(&str, &str)] = &[$((stringify!($known), $meaning)),*];

        /// The families of this module, in the order of the header.
        pub(crate) const FAMILIES: &[crate::registry::Family] = &[$(crate::registry::Family {
            docs: &[$($doc),+],
            known: KNOWN,
            errors: $errors,
            section: $section,
            has_ctx: crate::define::has_ctx!($call),
            naming: crate::define::naming!($kind $key),
            arguments: &[$((stringify!($arg), stringify!($ty))),*],
            result: concat!($(stringify!($ret))?),
        }),*];
        crate::define::rows! { $([$call $kind $key ($($arg: $ty),*) ($($ret)?) $f])* }
    };
}

/// Defines the routines of the rows, without the words that describe them.
macro_rules! rows {
    ($([$call:ident $kind:ident $key:tt $args:tt $ret:tt $f:path])*) => {
        $( crate::define::$kind! { $key [$call $args $ret $f] } )*
    };
}

macro_rules! has_ctx {
    (ctx) => {
        true
    };
    ($other:ident) => {
        false
    };
}

macro_rules! naming {
    (once($name:literal)) => {
        crate::registry::Naming::Once($name)
    };
    (old($name:literal)) => {
        crate::registry::Naming::Old($name)
    };
    (sized($sizes:ident, $before:literal, $after:literal)) => {
        crate::registry::Naming::Sized(crate::types::Sizes::$sizes, $before, $after)
    };
    (typed($set:ident, $base:literal)) => {
        crate::registry::Naming::Typed {
            set: crate::types::Set::$set,
            generic: Some(crate::types::Set::$set),
            base: $base,
        }
    };
    (generic($set:ident, $wide:ident, $base:literal)) => {
        crate::registry::Naming::Typed {
            set: crate::types::Set::$set,
            generic: Some(crate::types::Set::$wide),
            base: $base,
        }
    };
    (plain($set:ident, $base:literal)) => {
        crate::registry::Naming::Typed {
            set: crate::types::Set::$set,
            generic: None,
            base: $base,
        }
    };
}

macro_rules! once {
    (($name:literal) $row:tt) => {
        crate::define::routine! { [$name] {} $row }
    };
}

macro_rules! old {
    (($name:literal) [bare $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [$name] {} $args [] $ret $f [] }
    };
    (($name:literal) [at $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [$name] {} $args [] $ret $f [&$name,] }
    };
}

macro_rules! sized {
    (($sizes:ident, $before:literal, $after:literal) $row:tt) => {
        crate::types::sizes! { $sizes => sized_routine! { $before $after $row } }
    };
}

macro_rules! sized_routine {
    ({ $before:literal $after:literal $row:tt } $size:literal $rust:ty) => {
        crate::define::routine! { [$before, $size, $after] { type T = $rust; } $row }
    };
}

macro_rules! typed {
    (($set:ident, $base:literal) $row:tt) => {
        crate::types::types! { $set => typed_routine! { $base $row } }
    };
}

macro_rules! generic {
    (($set:ident, $wide:ident, $base:literal) $row:tt) => {
        crate::types::types! { $set => typed_routine! { $base $row } }
    };
}

macro_rules! typed_routine {
    ({ $base:literal $row:tt } $name:literal $rust:ty) => {
        crate::define::routine! { [$name, "_", $base] { type T = $rust; } $row }
    };
}

/// Defines one routine, and its `shmem_ctx_` form if it has one.
macro_rules! routine {
    ([$($name:literal),*] $t:tt [bare $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [concat!("shmem_", $($name),*)] $t $args [] $ret $f [] }
    };
    ([$($name:literal),*] $t:tt [at $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [concat!("shmem_", $($name),*)] $t $args [] $ret $f
            [&concat!("shmem_", $($name),*),] }
    };
    ([$($name:literal),*] $t:tt [main $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [concat!("shmem_", $($name),*)] $t $args [] $ret $f
            [shmem::ctx::from_handle(shmem::ctx::DEFAULT_HANDLE), &concat!("shmem_", $($name),*),] }
    };
    ([$($name:literal),*] $t:tt [ctx $args:tt $ret:tt $f:path]) => {
        crate::define::routine! { [$($name),*] $t [main $args $ret $f] }
        crate::define::function! { [concat!("shmem_ctx_", $($name),*)] $t $args [ctx: usize,] $ret $f
            [shmem::ctx::from_handle(ctx), &concat!("shmem_ctx_", $($name),*),] }
    };
    ([$($name:literal),*] $t:tt [c $args:tt $ret:tt $f:path]) => {};
}

/// Defines one exported function, the only place that exports names: its name, the type `T`, its arguments, those that come before
/// them, its result, the function it calls, and the first arguments of that function.
///
/// The function is `pshmem_X`; `shmem_X` is a weak name for it, which a profiling library may define
/// as well (section 10).
macro_rules! function {
    ([$name:expr] { $($t:item)* } ($($arg:ident: $ty:ty),*) [$($ctx:tt)*] ($($ret:ty)?) $f:path
     [$($first:tt)*]) => {
        core::arch::global_asm!(
            concat!(".weak ", $name),
            concat!(".set ", $name, ", p", $name),
        );
        const _: () = {
            $($t)*
            #[unsafe(export_name = concat!("p", $name))]
            unsafe extern "C" fn entry($($ctx)* $($arg: $ty),*) $(-> $ret)? {
                // SAFETY: the C routine has the function's requirements on its arguments, and the C
                // program keeps to them; a context handle is one that the library gave out.
                unsafe { crate::checks::around!($name, [$($ctx)* $($arg: $ty),*], $f($($first)* $($arg),*)) }
            }
        };
    };
}

// `sized_routine` and `typed_routine` are found by their bare names, which the tables are passed.
pub(crate) use {
    function, generic, has_ctx, naming, old, once, routine, rows, sized, typed, typed as plain,
};
