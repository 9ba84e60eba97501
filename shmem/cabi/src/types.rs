//! The table of types: which C types each family of routines covers, and how Rust spells them.
//!
//! Source: OpenSHMEM 1.6, tables of standard RMA types (section 9.6), and of standard, extended and
//! bitwise AMO types (section 9.7).

/// Sixteen bytes that are copied and never looked at: `long double`, and the elements of
/// `shmem_put128` and `shmem_get128`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Sixteen(pub(crate) [u64; 2]);

/// A set of types that a family of routines covers: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Set {
    /// Standard RMA types (24), as elements of arrays.
    Rma,
    /// The same 24 types, passed by value.
    Value,
    /// Standard AMO types (12).
    Amo,
    /// Extended AMO types (14): the standard ones, `float` and `double`.
    Extended,
    /// Bitwise AMO types (7).
    Bitwise,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// The part of a routine's name that stands for the type: `longlong`.
    pub name: &'static str,
    /// The C spelling: `long long`.
    pub c: &'static str,
    /// The built-in type that it is the same as on Linux, where `long` and pointers have 64 bits:
    /// `_Generic` and C++ overloads take each built-in type once.
    pub same_as: &'static str,
    /// The size of the Rust type, in bytes.
    pub size: usize,
    columns: [bool; 5],
}

impl Type {
    /// Whether routines of `set` exist for this type.
    pub fn is_in(&self, set: Set) -> bool {
        self.columns[set as usize]
    }

    /// The types of `set`, in the order of the specification.
    pub fn all_in(set: Set) -> impl Iterator<Item = &'static Type> {
        TYPES.iter().filter(move |t| t.is_in(set))
    }

    /// The types of `set` that are distinct to a C compiler; of several names for one type the
    /// first.
    pub fn distinct_in(set: Set) -> Vec<&'static Type> {
        let mut kept: Vec<&Type> = Vec::new();
        for t in Self::all_in(set) {
            if kept.iter().all(|k| k.same_as != t.same_as) {
                kept.push(t);
            }
        }
        kept
    }
}

/// The table. `x`: the type is in the set of the column; `c`: it is, and the function is written in
/// C (`longdouble.c`); `-`: it is not.
///
/// `types!(SET => macro! {tokens})` calls `macro!` with the tokens, the name and the Rust type of
/// each type of the set.
macro_rules! types {
    ($($call:tt)*) => { $crate::types::type_rows! { $($call)* ;
    //  Rma Value Amo Extended Bitwise
        [x   x     -   x        -]  "float"      "float"               "float"               core::ffi::c_float,
        [x   x     -   x        -]  "double"     "double"              "double"              core::ffi::c_double,
        [x   c     -   -        -]  "longdouble" "long double"         "long double"         $crate::types::Sixteen,
        [x   x     -   -        -]  "char"       "char"                "char"                core::ffi::c_char,
        [x   x     -   -        -]  "schar"      "signed char"         "signed char"         core::ffi::c_schar,
        [x   x     -   -        -]  "short"      "short"               "short"               core::ffi::c_short,
        [x   x     x   x        -]  "int"        "int"                 "int"                 core::ffi::c_int,
        [x   x     x   x        -]  "long"       "long"                "long"                core::ffi::c_long,
        [x   x     x   x        -]  "longlong"   "long long"           "long long"           core::ffi::c_longlong,
        [x   x     -   -        -]  "uchar"      "unsigned char"       "unsigned char"       core::ffi::c_uchar,
        [x   x     -   -        -]  "ushort"     "unsigned short"      "unsigned short"      core::ffi::c_ushort,
        [x   x     x   x        x]  "uint"       "unsigned int"        "unsigned int"        core::ffi::c_uint,
        [x   x     x   x        x]  "ulong"      "unsigned long"       "unsigned long"       core::ffi::c_ulong,
        [x   x     x   x        x]  "ulonglong"  "unsigned long long"  "unsigned long long"  core::ffi::c_ulonglong,
        [x   x     -   -        -]  "int8"       "int8_t"              "signed char"         i8,
        [x   x     -   -        -]  "int16"      "int16_t"             "short"               i16,
        [x   x     x   x        x]  "int32"      "int32_t"             "int"                 i32,
        [x   x     x   x        x]  "int64"      "int64_t"             "long"                i64,
        [x   x     -   -        -]  "uint8"      "uint8_t"             "unsigned char"       u8,
        [x   x     -   -        -]  "uint16"     "uint16_t"            "unsigned short"      u16,
        [x   x     x   x        x]  "uint32"     "uint32_t"            "unsigned int"        u32,
        [x   x     x   x        x]  "uint64"     "uint64_t"            "unsigned long"       u64,
        [x   x     x   x        -]  "size"       "size_t"              "unsigned long"       usize,
        [x   x     x   x        -]  "ptrdiff"    "ptrdiff_t"           "long"                isize,
    } };
}

/// Walks the rows for `types!`.
macro_rules! type_rows {
    (TABLE; $([$($mark:tt)*] $name:literal $c:literal $same:literal $rust:ty,)*) => {
        &[$(Type {
            name: $name,
            c: $c,
            same_as: $same,
            size: size_of::<$rust>(),
            columns: [$($crate::types::is_marked!($mark)),*],
        }),*]
    };
    ($set:ident => $then:ident! $with:tt;
     $($marks:tt $name:literal $c:literal $same:literal $rust:ty,)*) => {
        $($crate::types::if_in! { $set $marks { $then! { $with $name $rust } } })*
    };
}

macro_rules! is_marked {
    (-) => {
        false
    };
    ($other:tt) => {
        true
    };
}

/// Expands its last argument when the column of the set is marked `x`.
macro_rules! if_in {
    (Rma [$m:tt $v:tt $a:tt $e:tt $b:tt] $body:tt) => { $crate::types::if_in! { $m $body } };
    (Value [$m:tt $v:tt $a:tt $e:tt $b:tt] $body:tt) => { $crate::types::if_in! { $v $body } };
    (Amo [$m:tt $v:tt $a:tt $e:tt $b:tt] $body:tt) => { $crate::types::if_in! { $a $body } };
    (Extended [$m:tt $v:tt $a:tt $e:tt $b:tt] $body:tt) => { $crate::types::if_in! { $e $body } };
    (Bitwise [$m:tt $v:tt $a:tt $e:tt $b:tt] $body:tt) => { $crate::types::if_in! { $b $body } };
    (x { $($body:tt)* }) => { $($body)* };
    (c $body:tt) => {};
    (- $body:tt) => {};
}

pub(crate) use {if_in, is_marked, type_rows, types};

/// The table, for printing.
pub const TYPES: &[Type] = types!(TABLE);

/// The element sizes of the routines that are named by size, with the types that stand for them.
/// `sizes!(macro! {tokens})` calls `macro!` with the tokens, the size in the name and the Rust type.
macro_rules! sizes {
    ($then:ident! $with:tt) => {
        $then! { $with "8" u8 }
        $then! { $with "16" u16 }
        $then! { $with "32" u32 }
        $then! { $with "64" u64 }
        $then! { $with "128" $crate::types::Sixteen }
        $then! { $with "mem" u8 }
    };
}
pub(crate) use sizes;

/// The sizes of `sizes!`, for printing.
pub const SIZES: &[&str] = &["8", "16", "32", "64", "128", "mem"];
