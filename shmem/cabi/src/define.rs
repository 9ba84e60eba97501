//! The macro that turns rows into `extern "C"` functions and into descriptions of them.

/// Defines the families of a module, and `FAMILIES`, their descriptions.
///
/// A row is
/// `/// SUMMARY` `"SECTION"` CALL NAME `(ARGUMENTS) [-> RESULT] = FUNCTION;` where
///
/// - SUMMARY is the contract in one line, SECTION its place in the specification;
/// - NAME is `once("fence")` for `shmem_fence`; `typed(Set, "put")` for `shmem_TYPE_put` over the
///   types of the set; `sized("put", "_nbi")` for `shmem_putSIZE_nbi`. In the arguments `T` stands
///   for the type, or for an element of the size;
/// - CALL says what the function is passed before the arguments: `ctx` a context and the routine's
///   name, and then there is a `shmem_ctx_` form too; `at` the routine's name; `bare` nothing.
macro_rules! families {
    ($(
        #[doc = $summary:literal] $section:literal
        $call:ident $kind:ident $key:tt ($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $f:path;
    )*) => {
        /// The families of this module, in the order of the header.
        pub(crate) const FAMILIES: &[crate::registry::Family] = &[$(crate::registry::Family {
            summary: $summary,
            section: $section,
            has_ctx: crate::define::has_ctx!($call),
            naming: crate::define::naming!($kind $key),
            arguments: &[$((stringify!($arg), stringify!($ty))),*],
            result: concat!($(stringify!($ret))?),
        }),*];
        $( crate::define::$kind! { $key [$call ($($arg: $ty),*) ($($ret)?) $f] } )*
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
    (sized($before:literal, $after:literal)) => {
        crate::registry::Naming::Sized($before, $after)
    };
    (typed($set:ident, $base:literal)) => {
        crate::registry::Naming::Typed(crate::types::Set::$set, $base)
    };
}

macro_rules! once {
    (($name:literal) $row:tt) => {
        crate::define::routine! { [$name] {} $row }
    };
}

macro_rules! sized {
    (($before:literal, $after:literal) $row:tt) => {
        crate::types::sizes! { sized_routine! { $before $after $row } }
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
    ([$($name:literal),*] $t:tt [ctx $args:tt $ret:tt $f:path]) => {
        crate::define::function! { [concat!("shmem_", $($name),*)] $t $args [] $ret $f
            [shmem::ctx::default_ctx(), &concat!("shmem_", $($name),*),] }
        crate::define::function! { [concat!("shmem_ctx_", $($name),*)] $t $args [ctx: usize,] $ret $f
            [shmem::ctx::from_handle(ctx), &concat!("shmem_ctx_", $($name),*),] }
    };
}

/// Defines one exported function, the only place that exports names: its name, the type `T`, its arguments, those that come before
/// them, its result, the function it calls, and what that is passed first.
macro_rules! function {
    ([$name:expr] { $($t:item)* } ($($arg:ident: $ty:ty),*) [$($ctx:tt)*] ($($ret:ty)?) $f:path
     [$($first:tt)*]) => {
        const _: () = {
            $($t)*
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn entry($($ctx)* $($arg: $ty),*) $(-> $ret)? {
                // SAFETY: the requirements of the function are those of the C routine, which the C
                // caller answers for; a context handle is one that the library gave out.
                unsafe { $f($($first)* $($arg),*) }
            }
        };
    };
}

// `sized_routine` and `typed_routine` are found by their bare names, which the tables are passed.
pub(crate) use {function, has_ctx, naming, once, routine, sized, typed};
