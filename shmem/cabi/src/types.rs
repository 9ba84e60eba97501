//! The table of types: which C types each family of routines covers, and how Rust spells them.
//!
//! Source: OpenSHMEM 1.6, tables of standard RMA types (section 9.6), and of standard, extended and
//! bitwise AMO types (section 9.7), of point-to-point synchronisation (section 9.11) and of reductions
//! (section 9.10.9).

/// Sixteen bytes that Rust copies and does not look at: `long double`, whose arithmetic is in C, and the
/// elements of `shmem_put128` and `shmem_get128`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Sixteen(pub(crate) [u64; 2]);

/// A set of types that a family of routines covers: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Set {
    /// Standard RMA types (24), as elements of arrays; also the types of max and min over teams.
    Rma,
    /// The same 24 types, passed by value.
    Value,
    /// Standard AMO types (12).
    Amo,
    /// Extended AMO types (14): the standard ones, `float` and `double`.
    Extended,
    /// Bitwise AMO types (7).
    Bitwise,
    /// The deprecated types of wait_until and test (2).
    Short,
    /// The types of their generic names: the standard AMO types and the deprecated ones (14).
    Waited,
    /// Types of and, or and xor over teams (14).
    Bits,
    /// Types of sum, prod and scans over teams (26).
    Sum,
    /// Types of and, or and xor over active sets, and of the deprecated wait (4).
    OldBits,
    /// Types of max and min over active sets (7).
    OldOrder,
    /// Types of sum and prod over active sets (9).
    OldSum,
}

const COLUMNS: usize = Set::OldSum as usize + 1;

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
    columns: [bool; COLUMNS],
}

impl Type {
    /// Returns whether routines of `set` exist for this type.
    pub fn is_in(&self, set: Set) -> bool {
        self.columns[set as usize]
    }

    /// Returns the types of `set`, in the order of the specification.
    pub fn all_in(set: Set) -> impl Iterator<Item = &'static Type> {
        TYPES.iter().filter(move |t| t.is_in(set))
    }

    /// Returns the types of `set` that are distinct to a C compiler; of several names for one type
    /// the first.
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
    //  Rma Value Amo Extended Bitwise Short Waited Bits Sum OldBits OldOrder OldSum
        [x   x     -   x        -       -     -      -    x   -       x        x] "float"      "float"              "float"              core::ffi::c_float,
        [x   x     -   x        -       -     -      -    x   -       x        x] "double"     "double"             "double"             core::ffi::c_double,
        [x   c     -   -        -       -     -      -    x   -       x        x] "longdouble" "long double"        "long double"        $crate::types::Sixteen,
        [x   x     -   -        -       -     -      -    x   -       -        -] "char"       "char"               "char"               core::ffi::c_char,
        [x   x     -   -        -       -     -      -    x   -       -        -] "schar"      "signed char"        "signed char"        core::ffi::c_schar,
        [x   x     -   -        -       x     x      -    x   x       x        x] "short"      "short"              "short"              core::ffi::c_short,
        [x   x     x   x        -       -     x      -    x   x       x        x] "int"        "int"                "int"                core::ffi::c_int,
        [x   x     x   x        -       -     x      -    x   x       x        x] "long"       "long"               "long"               core::ffi::c_long,
        [x   x     x   x        -       -     x      -    x   x       x        x] "longlong"   "long long"          "long long"          core::ffi::c_longlong,
        [x   x     -   -        -       -     -      x    x   -       -        -] "uchar"      "unsigned char"      "unsigned char"      core::ffi::c_uchar,
        [x   x     -   -        -       x     x      x    x   -       -        -] "ushort"     "unsigned short"     "unsigned short"     core::ffi::c_ushort,
        [x   x     x   x        x       -     x      x    x   -       -        -] "uint"       "unsigned int"       "unsigned int"       core::ffi::c_uint,
        [x   x     x   x        x       -     x      x    x   -       -        -] "ulong"      "unsigned long"      "unsigned long"      core::ffi::c_ulong,
        [x   x     x   x        x       -     x      x    x   -       -        -] "ulonglong"  "unsigned long long" "unsigned long long" core::ffi::c_ulonglong,
        [x   x     -   -        -       -     -      x    x   -       -        -] "int8"       "int8_t"             "signed char"        i8,
        [x   x     -   -        -       -     -      x    x   -       -        -] "int16"      "int16_t"            "short"              i16,
        [x   x     x   x        x       -     x      x    x   -       -        -] "int32"      "int32_t"            "int"                i32,
        [x   x     x   x        x       -     x      x    x   -       -        -] "int64"      "int64_t"            "long"               i64,
        [x   x     -   -        -       -     -      x    x   -       -        -] "uint8"      "uint8_t"            "unsigned char"      u8,
        [x   x     -   -        -       -     -      x    x   -       -        -] "uint16"     "uint16_t"           "unsigned short"     u16,
        [x   x     x   x        x       -     x      x    x   -       -        -] "uint32"     "uint32_t"           "unsigned int"       u32,
        [x   x     x   x        x       -     x      x    x   -       -        -] "uint64"     "uint64_t"           "unsigned long"      u64,
        [x   x     x   x        -       -     x      x    x   -       -        -] "size"       "size_t"             "unsigned long"      usize,
        [x   x     x   x        -       -     x      -    x   -       -        -] "ptrdiff"    "ptrdiff_t"          "long"               isize,
        [-   -     -   -        -       -     -      -    x   -       -        x] "complexd"   "double _Complex"    "double _Complex"    shmem::collective::combine::Complex<f64>,
        [-   -     -   -        -       -     -      -    x   -       -        x] "complexf"   "float _Complex"     "float _Complex"     shmem::collective::combine::Complex<f32>,
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
    (Rma [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $r $body } };
    (Value [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $v $body } };
    (Amo [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $a $body } };
    (Extended [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $e $body } };
    (Bitwise [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $b $body } };
    (Short [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $s $body } };
    (Waited [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $w $body } };
    (Bits [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $t $body } };
    (Sum [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $p $body } };
    (OldBits [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $ob $body } };
    (OldOrder [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $oo $body } };
    (OldSum [$r:tt $v:tt $a:tt $e:tt $b:tt $s:tt $w:tt $t:tt $p:tt $ob:tt $oo:tt $os:tt] $body:tt) => { $crate::types::if_in! { $os $body } };
    (x { $($body:tt)* }) => { $($body)* };
    (c $body:tt) => {};
    (- $body:tt) => {};
}

pub(crate) use {if_in, is_marked, type_rows, types};

/// The table, for printing.
pub const TYPES: &[Type] = types!(TABLE);

/// The element sizes that a family covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sizes {
    /// 8 to 128 bits, and mem: bytes.
    All,
    /// 8 to 128 bits.
    Bits,
    /// mem: bytes.
    Mem,
    /// 32 and 64 bits.
    Words,
}

impl Sizes {
    /// Returns the sizes as they stand in names.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::All => &["8", "16", "32", "64", "128", "mem"],
            Self::Bits => &["8", "16", "32", "64", "128"],
            Self::Mem => &["mem"],
            Self::Words => &["32", "64"],
        }
    }
}

/// Does the same as `types!`, with the types that stand for the sizes:
/// `sizes!(SIZES => macro! {tokens})` calls `macro!` with the tokens, the size in the name and the
/// Rust type.
macro_rules! sizes {
    (All => $then:ident! $with:tt) => {
        $crate::types::sizes! { Bits => $then! $with }
        $crate::types::sizes! { Mem => $then! $with }
    };
    (Bits => $then:ident! $with:tt) => {
        $then! { $with "8" u8 }
        $then! { $with "16" u16 }
        $crate::types::sizes! { Words => $then! $with }
        $then! { $with "128" $crate::types::Sixteen }
    };
    (Mem => $then:ident! $with:tt) => {
        $then! { $with "mem" u8 }
    };
    (Words => $then:ident! $with:tt) => {
        $then! { $with "32" u32 }
        $then! { $with "64" u64 }
    };
}
pub(crate) use sizes;
