//! `shmem_direct.h`: operations in line at the place of the call, for programs that are compiled with
//! `SHMEM_DIRECT`. `direct` has the library's side, and `shmem::direct` the part that they share.

use super::before;
use crate::registry::{Family, GROUPS, Naming, Routine};
use crate::types::{Set, Type};
use shmem::direct::{Peer, TYPES, Table, VERSION};
use std::fmt::Write;
use std::mem::offset_of;

/// The way in which a routine is done in line.
#[derive(Clone, Copy)]
enum How {
    /// With `at` the place of the object, which `.0` names, in reach by the length `.1`: `.2`.
    At(&'static str, &'static str, &'static str),
    /// As that, and by the steps for peers elsewhere.
    Put,
}

/// The typed families that are done in line, by their names. `T` stands for the type.
const TYPED: &[(&str, How)] = &[
    ("p", How::Put),
    (
        "g",
        How::At(
            "source",
            "window_length",
            "T value = *at; FARREACH_ORDER_LOADS(); return value;",
        ),
    ),
    ("atomic_fetch", FETCH),
    ("atomic_set", SET),
    ("atomic_swap", SWAP),
    ("atomic_compare_swap", COMPARE_SWAP),
    ("atomic_fetch_inc", FETCH_INC),
    ("atomic_inc", INC),
    ("atomic_fetch_add", FETCH_ADD),
    ("atomic_add", ADD),
    (
        "atomic_fetch_and",
        update("return __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST);"),
    ),
    (
        "atomic_and",
        update("(void)__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;"),
    ),
    (
        "atomic_fetch_or",
        update("return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);"),
    ),
    (
        "atomic_or",
        update("(void)__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;"),
    ),
    (
        "atomic_fetch_xor",
        update("return __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST);"),
    ),
    (
        "atomic_xor",
        update("(void)__atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;"),
    ),
    ("fetch", FETCH),
    ("set", SET),
    ("swap", SWAP),
    ("cswap", COMPARE_SWAP),
    ("finc", FETCH_INC),
    ("inc", INC),
    ("fadd", FETCH_ADD),
    ("add", ADD),
];

const fn update(what: &'static str) -> How {
    How::At("dest", "atomic_length", what)
}

const FETCH: How = How::At(
    "source",
    "atomic_length",
    "T found; __atomic_load(at, &found, __ATOMIC_ACQUIRE); return found;",
);
const SET: How = update("__atomic_store(at, &value, __ATOMIC_RELEASE); return;");
const SWAP: How =
    update("T found; __atomic_exchange(at, &value, &found, __ATOMIC_SEQ_CST); return found;");
const COMPARE_SWAP: How = update(
    "__atomic_compare_exchange_n(at, &cond, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); return cond;",
);
const FETCH_INC: How = update("return __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST);");
const INC: How = update("(void)__atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); return;");
const FETCH_ADD: How = update("return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);");
const ADD: How = update("(void)__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;");

/// Returns the header.
pub fn print() -> String {
    let mut out = String::from(OPENING);
    print_table(&mut out);
    let no_steps = vec!["NULL"; TYPES].join(", ");
    out.push_str(&MEANS.replace("NO_STEPS", &no_steps));
    for group in GROUPS {
        for family in group.families {
            print_family(&mut out, family);
        }
    }
    out.push_str(CLOSING);
    // Files that were compiled for different versions may be in one program.
    out.replace("farreach_direct_N", &format!("farreach_direct_{VERSION}"))
}

/// Returns the types of `shmem_TYPE_p` that have a step for peers elsewhere: all but `long double`,
/// whose routine is in C.
fn stepped() -> impl Iterator<Item = &'static Type> {
    Type::all_in(Set::Value).filter(|t| t.name != "longdouble")
}

/// Prints the structs that the library fills, and the checks that their layout is the library's.
fn print_table(out: &mut String) {
    let [window_length, atomic_length, distance] = Peer::NEAR;
    let _ = write!(
        out,
        "\n/* The version of what follows. */\n#define FARREACH_DIRECT_VERSION {VERSION}\n{STRUCTS}"
    );
    for t in stepped() {
        let (c, name) = (t.c, t.name);
        let _ = writeln!(
            out,
            "    void (*p_{name})({c} *dest, {c} value, int pe, const struct farreach_direct_peer *peer, size_t offset);"
        );
    }
    assert_eq!(stepped().count(), TYPES);
    out.push_str(
        "};\n\n/* The layout is the library's, or this does not compile. */\n\
         typedef char farreach_direct_layout[(",
    );
    let mut checks = vec![
        format!(
            "sizeof(struct farreach_direct_peer) == {}",
            size_of::<Peer>()
        ),
        format!("sizeof(struct farreach_direct) == {}", size_of::<Table>()),
    ];
    for (field, offset) in [
        ("window_length", window_length),
        ("atomic_length", atomic_length),
        ("distance", distance),
    ] {
        checks.push(format!(
            "offsetof(struct farreach_direct_peer, {field}) == {offset}"
        ));
    }
    for (field, offset) in [
        ("pe_count", offset_of!(Table, peer_count)),
        ("near_count", offset_of!(Table, near_count)),
        ("peers", offset_of!(Table, peers)),
        ("window", offset_of!(Table, window)),
        ("ranges", offset_of!(Table, ranges)),
        ("stores_alone", offset_of!(Table, stores_alone)),
        ("p_float", offset_of!(Table, beyond)),
    ] {
        checks.push(format!(
            "offsetof(struct farreach_direct, {field}) == {offset}"
        ));
    }
    out.push_str(&checks.join(" &&\n        "));
    out.push_str(") ? 1 : -1];\n");
}

fn print_family(out: &mut String, family: &Family) {
    match family.naming {
        Naming::Typed { set, base, .. } => {
            let Some((_, how)) = TYPED.iter().find(|(name, _)| *name == base) else {
                return;
            };
            out.push('\n');
            for t in Type::all_in(set) {
                let routine = family.typed(false, t);
                print_function(out, &routine, &body(*how, t, false));
                if family.has_ctx {
                    print_with_ctx(out, &family.typed(true, t), &body(*how, t, true));
                }
            }
        }
        Naming::Once("fence") => {
            let routines = family.routines();
            out.push('\n');
            print_function(out, &routines[0], FENCE);
            print_with_ctx(out, &routines[1], FENCE);
        }
        Naming::Once("ptr") => {
            out.push('\n');
            print_function(out, &family.routines()[0], PTR);
        }
        _ => {}
    }
}

/// Returns the C statements before the call of the library. The steps for peers elsewhere are of
/// the routines without a context, by whose names messages go.
fn body(how: How, t: &Type, has_ctx: bool) -> String {
    let (c, name) = (t.c, t.name);
    match how {
        How::At(object, length, what) => {
            let what = what.replace("T ", &format!("{c} "));
            format!("    FARREACH_AT({c}, {object}, {length}, {what});\n")
        }
        How::Put if !has_ctx && stepped().any(|stepped| stepped.name == name) => {
            format!("    FARREACH_PUT({c}, {name});\n")
        }
        How::Put => format!("    FARREACH_AT({c}, dest, window_length, *at = value; return);\n"),
    }
}

const FENCE: &str = "    FARREACH_FENCE();\n";
const PTR: &str = "    FARREACH_PTR();\n";

/// Prints the function in line, and the declaration of the one that it calls otherwise.
fn print_function(out: &mut String, routine: &Routine, body: &str) {
    let called = Routine {
        name: format!("p{}", routine.name),
        ..routine.clone()
    };
    let _ = writeln!(out, "{}{};", before(routine), called.prototype());
    let _ = writeln!(
        out,
        "FARREACH_DIRECT {}\n{{\n{body}    {};\n}}",
        routine.prototype(),
        call(&called)
    );
}

/// Prints the form with a context: in line on the default one, where the compiler sees that it is
/// the default one.
fn print_with_ctx(out: &mut String, routine: &Routine, body: &str) {
    let body = format!("    if (FARREACH_IS_DEFAULT(ctx)) {{\n    {body}    }}\n");
    print_function(out, routine, &body);
}

/// Returns a call that passes the arguments on, and returns the result.
fn call(routine: &Routine) -> String {
    let names: Vec<&str> = routine
        .arguments
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let result = if routine.result == "void" {
        ""
    } else {
        "return "
    };
    format!("{result}{}({})", routine.name, names.join(", "))
}

const OPENING: &str = "\
/* shmem_direct.h: operations of OpenSHMEM in line at the place of the call, by Farreach.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Printed from the tables of shmem/cabi by `cargo xtask headers`: change those, not this file.
 * shmem.h includes it where SHMEM_DIRECT is defined. p, g, the atomics, ptr and fence to PEs of the
 * node are then in line; all else calls the library, by the names with p before them: a profiling
 * library sees none of these calls. */
#ifndef FARREACH_SHMEM_DIRECT_H
#define FARREACH_SHMEM_DIRECT_H

#ifndef FARREACH_SHMEM_H
#error \"include shmem.h with SHMEM_DIRECT defined\"
#endif

#if defined(__GNUC__)

#ifdef __cplusplus
extern \"C\" {
#endif
";

/// The structs, up to the steps of `shmem_TYPE_p`.
const STRUCTS: &str = "
/* The library's record of a PE, as this one reaches it. */
struct farreach_direct_peer {
    size_t window_length; /* bytes from the window's base that loads and stores reach */
    size_t atomic_length; /* the same for the processor's atomics */
    uintptr_t distance;   /* from an own address to that of the same object of the PE */
    unsigned char rest[40];
};

/* The library fills this table of each program, and of each shared library, that was compiled so.
 * There are no PEs but between initialization and finalization, nor for the checking library. */
struct farreach_direct {
    uint32_t version, bytes; /* of this struct */
    uint32_t pe_count;
    uint32_t near_count; /* the same, if all of them are on this node, and else 0 */
    const struct farreach_direct_peer *peers;
    uintptr_t window;
    struct { uintptr_t base; size_t length; } ranges[2]; /* of symmetric memory */
    size_t stores_alone; /* whether a fence orders the processor's stores and nothing else */
    /* Functions that go on with p to a PE elsewhere. */
";

const MEANS: &str = "
/* The table of this program or shared library. A library that lacks the two functions, or knows
 * another version, leaves it as it is. */
extern struct farreach_direct farreach_direct_N __attribute__((__visibility__(\"hidden\")));
struct farreach_direct farreach_direct_N __attribute__((__weak__, __visibility__(\"hidden\"))) = {
    FARREACH_DIRECT_VERSION, sizeof(struct farreach_direct), 0, 0, NULL, 0, {{0, 0}, {0, 0}}, 0,
    NO_STEPS};
extern void farreach_direct_register(struct farreach_direct *table) __attribute__((__weak__));
extern void farreach_direct_forget(struct farreach_direct *table) __attribute__((__weak__));
static void __attribute__((__constructor__, __used__)) farreach_direct_begin(void)
{
    if (farreach_direct_register) farreach_direct_register(&farreach_direct_N);
}
static void __attribute__((__destructor__, __used__)) farreach_direct_end(void)
{
    if (farreach_direct_forget) farreach_direct_forget(&farreach_direct_N);
}

/* The compiler has the function's body for the place of a call, and takes the library's for its
 * address. */
#define FARREACH_DIRECT extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* Other PEs load from and store to the object, as if its address were passed to a function. */
#define FARREACH_SHARED(object) __asm__ volatile(\"\" : : \"r\"(object))

#ifdef __x86_64__
#define FARREACH_ORDER_LOADS() __asm__ volatile(\"\" : : : \"memory\")
#define FARREACH_ORDER_STORES() __asm__ volatile(\"\" : : : \"memory\")
#else
#define FARREACH_ORDER_LOADS() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define FARREACH_ORDER_STORES() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Whether the compiler sees that the context is the default one. */
#define FARREACH_IS_DEFAULT(ctx) \\
    (__builtin_constant_p((ctx) == SHMEM_CTX_DEFAULT) && (ctx) == SHMEM_CTX_DEFAULT)

#define FARREACH_PEER(pe) (farreach_direct_N.peers + (uint32_t)(pe))
#define FARREACH_OFFSET(object) ((uintptr_t)(object) - farreach_direct_N.window)

/* With `at` where the object is on the PE, if it is in reach: does the rest. */
#define FARREACH_AT(type, object, length, ...) \\
    FARREACH_SHARED(object); \\
    if (__builtin_expect((uint32_t)pe < farreach_direct_N.pe_count, 1)) { \\
        const struct farreach_direct_peer *const peer = FARREACH_PEER(pe); \\
        if (__builtin_expect(FARREACH_OFFSET(object) < peer->length, 1)) { \\
            typedef type farreach_object __attribute__((__may_alias__)); \\
            volatile farreach_object *const at = \\
                (volatile farreach_object *)((uintptr_t)(object) + peer->distance); \\
            __VA_ARGS__; \\
        } \\
    }

#define FARREACH_PUT(type, t) \\
    FARREACH_SHARED(dest); \\
    if (__builtin_expect((uint32_t)pe < farreach_direct_N.pe_count, 1)) { \\
        typedef type farreach_object __attribute__((__may_alias__)); \\
        const struct farreach_direct_peer *const peer = FARREACH_PEER(pe); \\
        const size_t offset = FARREACH_OFFSET(dest); \\
        if (__builtin_expect(offset < peer->window_length, 1)) \\
            *(volatile farreach_object *)((uintptr_t)dest + peer->distance) = value; \\
        else \\
            farreach_direct_N.p_##t(dest, value, pe, peer, offset); \\
        return; \\
    }

#define FARREACH_FENCE() \\
    if (__builtin_expect(farreach_direct_N.stores_alone != 0, 1)) { \\
        FARREACH_ORDER_STORES(); \\
        return; \\
    }

#define FARREACH_IS_IN(object, n) \\
    ((uintptr_t)(object) - farreach_direct_N.ranges[n].base < farreach_direct_N.ranges[n].length)
#define FARREACH_PTR() \\
    FARREACH_SHARED(dest); \\
    if (__builtin_expect((uint32_t)pe < farreach_direct_N.near_count, 1) && \\
        (FARREACH_IS_IN(dest, 0) || FARREACH_IS_IN(dest, 1))) \\
        return (void *)((uintptr_t)dest + FARREACH_PEER(pe)->distance);
";

const CLOSING: &str = "
#ifdef __cplusplus
}
#endif

#endif /* __GNUC__ */

#endif /* FARREACH_SHMEM_DIRECT_H */
";
