//! Prints programs that use every routine and every generic name with every type: if they compile
//! without a warning and link, the header and the library agree with the tables.

use crate::header::extended;
use crate::registry::{Family, Naming, Routine, families};
use crate::types::{TYPES, Type};
use std::fmt::Write;

/// Returns a program in C99 and, where the compiler speaks it, C11.
pub fn c() -> String {
    let mut out = String::from(
        "#include <pshmem.h>\n#include <shmem.h>\n#include <mpp/shmem.h>\n#include <mpp/shmemx.h>\n\n",
    );
    print_pointers(&mut out);
    out.push_str("\n#if __STDC_VERSION__ >= 201112L\n");
    print_sizes(&mut out, "_Static_assert");
    print_generics(&mut out, |result, call| {
        format!("_Static_assert(_Generic({call}, {result}: 1, default: 0), \"result\"); ")
    });
    out.push_str(NESTED);
    out.push_str("#endif\n");
    out.push_str(MAIN);
    out
}

/// Returns a program in C++17 that includes the header inside `extern "C"`, as many programs do.
pub fn cxx() -> String {
    let mut out = String::from(
        "#include <type_traits>\n\
         extern \"C\" {\n#include <shmem.h>\n#include <shmemx.h>\n#include <pshmem.h>\n}\n\n\
         __extension__ typedef double _Complex complexd;\n\
         __extension__ typedef float _Complex complexf;\n",
    );
    let top = out.len();
    print_pointers(&mut out);
    print_sizes(&mut out, "static_assert");
    print_generics(&mut out, |result, call| {
        format!("static_assert(std::is_same<decltype({call}), {result}>::value, \"result\"); ")
    });
    out.push_str(NESTED);
    out.push_str(MAIN);
    // Strict C++ has no complex numbers of C; they are named once, above.
    let body = out.split_off(top);
    out + &body
        .replace("double _Complex", "complexd")
        .replace("float _Complex", "complexf")
}

/// Returns programs that must not compile, one to a line: a generic name with a type that the
/// routine does not cover, or with too many or too few arguments. All are valid up to that call,
/// and `x` stands for the code that makes them invalid.
pub fn bad() -> String {
    let mut out = String::new();
    for (declaration, call) in [
        ("struct pair { int a, b; } x", "shmem_put(&x, &x, 1, 0)"),
        (
            "struct pair { int a, b; } x",
            "shmem_put(SHMEM_CTX_DEFAULT, &x, &x, 1, 0)",
        ),
        ("short x", "shmem_atomic_add(&x, 1, 0)"),
        ("double x", "shmem_atomic_fetch_add(&x, 1, 0)"),
        ("char x", "shmem_atomic_set(&x, 1, 0)"),
        ("long long x", "shmem_atomic_and(&x, 1, 0)"),
        ("float x", "shmem_wait_until(&x, SHMEM_CMP_EQ, 1)"),
        ("int x", "shmem_put(&x, &x, 1)"),
        (
            "int x",
            "shmem_p(SHMEM_CTX_DEFAULT, SHMEM_CTX_DEFAULT, &x, 1, 0)",
        ),
        ("int x", "shmem_put(&x, &x)"),
        ("int x", "shmem_g(&x)"),
        ("uint64_t x", "shmem_signal_add(&x, 1)"),
        ("long x", "shmem_sync(0, 0, &x)"),
        ("double x", "shmem_and_reduce(SHMEM_TEAM_WORLD, &x, &x, 1)"),
        ("int x", "shmem_broadcast(SHMEM_TEAM_WORLD, &x, &x, 1)"),
        ("short x", "shmem_swap(&x, 1, 0)"),
        ("char x", "shmem_wait_until(&x, SHMEM_CMP_EQ, 1)"),
    ] {
        let _ = writeln!(out, "{declaration}; {call}");
    }
    out
}

/// Asserts that the types of C and of Rust that stand for each other have the same size.
fn print_sizes(out: &mut String, assert: &str) {
    for t in TYPES {
        let _ = writeln!(out, "{assert}(sizeof({}) == {}, \"size\");", t.c, t.size);
    }
}

/// Takes the address of every routine, by each of its names, as a pointer of exactly its type.
fn print_pointers(out: &mut String) {
    let routines = families().flat_map(Family::routines);
    let names = routines.flat_map(|routine| {
        let extended = extended(&routine.name).into_iter();
        let names = [format!("p{}", routine.name), routine.name.clone()];
        let names = names.into_iter().chain(extended).collect::<Vec<_>>();
        names.into_iter().map(move |name| (name, routine.clone()))
    });
    for (i, (name, routine)) in names.enumerate() {
        let types: Vec<&str> = routine.arguments.iter().map(|(_, c)| c.as_str()).collect();
        let types = if types.is_empty() {
            "void".to_owned()
        } else {
            types.join(", ")
        };
        let _ = writeln!(out, "{} (*pointer_{i})({types}) = {name};", routine.result);
    }
}

/// Calls every generic name with every type of its set, also those that are other names of one
/// built-in type, and asserts the type of the result.
fn print_generics(out: &mut String, assert: impl Fn(&str, &str) -> String) {
    for family in families() {
        if let Some((base, set)) = family.generic() {
            for t in Type::all_in(set) {
                for ctx in [false, true] {
                    if family.has_ctx || !ctx {
                        print_call(out, base, &family.typed(ctx, t), &assert);
                    }
                }
            }
        }
        if let Naming::Once(name @ ("signal_add" | "signal_set")) = family.naming {
            for routine in family.routines() {
                print_call(out, name, &routine, &assert);
            }
        }
    }
}

/// Prints functions that pass their own parameters on to the generic name, and to the name with x
/// if it has one.
fn print_call(
    out: &mut String,
    base: &str,
    routine: &Routine,
    assert: impl Fn(&str, &str) -> String,
) {
    let names: Vec<&str> = routine
        .arguments
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let generic = format!("shmem_{base}");
    let extended = extended(&routine.name).and(extended(&generic));
    let has_result = routine.result != "void";
    for (letter, generic) in [("", Some(generic)), ("x", extended)] {
        let Some(generic) = generic else { continue };
        let call = format!("{generic}({})", names.join(", "));
        let _ = writeln!(
            out,
            "{result} call{letter}_{name}({parameters});\n\
             {result} call{letter}_{name}({parameters}) {{ {assertion}{returns}{call}; }}",
            result = routine.result,
            name = routine.name,
            parameters = routine.parameters(),
            assertion = if has_result {
                assert(&routine.result, &call)
            } else {
                String::new()
            },
            returns = if has_result { "return " } else { "" },
        );
    }
}

/// Generic names inside the arguments of generic names, qualified types, arrays, and handles as
/// initial values.
const NESTED: &str = "
static shmem_ctx_t nested_default = SHMEM_CTX_DEFAULT, nested_invalid = SHMEM_CTX_INVALID;
shmem_team_t nested_teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
long nested_work[SHMEM_SYNC_SIZE];
long nested_bits[] = {
    SHMEM_SYNC_VALUE, SHMEM_TEAM_NUM_CONTEXTS, SHMEM_CTX_SESSION_BATCH, SHMEM_CTX_SESSION_TOTAL_OPS,
    SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
char nested_sizes[] = {
    sizeof(char[SHMEM_BARRIER_SYNC_SIZE]), sizeof(char[SHMEM_BCAST_SYNC_SIZE]),
    sizeof(char[SHMEM_COLLECT_SYNC_SIZE]), sizeof(char[SHMEM_REDUCE_SYNC_SIZE]),
    sizeof(char[SHMEM_ALLTOALL_SYNC_SIZE]), sizeof(char[SHMEM_ALLTOALLS_SYNC_SIZE]),
    sizeof(char[SHMEM_REDUCE_MIN_WRKDATA_SIZE]), sizeof(char[_SHMEM_BARRIER_SYNC_SIZE]),
    sizeof(char[_SHMEM_BCAST_SYNC_SIZE]), sizeof(char[_SHMEM_COLLECT_SYNC_SIZE]),
    sizeof(char[_SHMEM_REDUCE_SYNC_SIZE]), sizeof(char[_SHMEM_REDUCE_MIN_WRKDATA_SIZE]),
    _SHMEM_SYNC_VALUE};
int nested_sync(shmem_team_t team, int size);
int nested_sync(shmem_team_t team, int size)
{
    shmem_sync(0, 0, size, nested_work);
    shmemx_sync(0, 0, size, nested_work);
    return shmem_sync(team) + shmemx_sync(team);
}
void nested(long *a, const long *b, double (*c)[4]);
void nested(long *a, const long *b, double (*c)[4])
{
    shmem_p(a, shmem_g(&b[shmem_g(nested_default, b, 0)], 0), (int)shmem_g(b, 0));
    shmem_atomic_add(a, shmem_atomic_fetch_add(a, shmem_atomic_fetch(b, 0), 0), 0);
    shmem_put(nested_invalid, c[0], c[1], sizeof(c[0]) / sizeof(c[0][0]), 0);
    shmem_get(c[0], c[1], 4, 0);
}
";

const MAIN: &str = "\nint main(void)\n{\n    return 0;\n}\n";
