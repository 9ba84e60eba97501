//! A routine's name, taken apart: `shmem_ctx_int_put_nbi` is `put_nbi` of `int`.

use super::values::{Argument, Value};
use crate::registry::c_name;
use crate::types::TYPES;
use shmem::check::Checks;

/// Classifies a routine by the kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Writes to another PE.
    Put,
    /// Reads from another PE.
    Get,
    /// Changes an element of another PE.
    Atomic,
    /// Looks at own memory that others change.
    Wait,
    Lock,
    Collective,
    Other,
}

/// The call of a routine.
#[derive(Debug)]
pub(super) struct Routine<'a> {
    pub(super) check: Checks,
    pub(super) at: shmem::Routine,
    pub(super) arguments: &'a [Argument],
    /// The name without the parts for the type, the size and the context.
    pub(super) base: String,
    /// The type or the size, the same for all names of a type; empty where there is none.
    pub(super) element: &'static str,
    pub(super) kind: Kind,
}

/// The names that are followed by a size, or by `mem`.
const SIZED: [&str; 11] = [
    "alltoalls",
    "alltoall",
    "broadcast",
    "collect",
    "fcollect",
    "put",
    "get",
    "iput",
    "iget",
    "ibput",
    "ibget",
];

/// The sizes, and `mem`.
const SIZES: [&str; 6] = ["8", "16", "32", "64", "128", "mem"];

/// The old names of atomic operations, which stood alone.
const OLD_ATOMICS: [&str; 8] = [
    "swap", "cswap", "finc", "inc", "fadd", "add", "fetch", "set",
];

/// Collectives over all PEs or over a team that are not told by their arguments.
const COLLECTIVES: [&str; 16] = [
    "barrier_all",
    "sync_all",
    "malloc",
    "malloc_with_hints",
    "calloc",
    "align",
    "realloc",
    "free",
    "shmalloc",
    "shmemalign",
    "shrealloc",
    "shfree",
    "team_sync",
    "team_destroy",
    "team_split_strided",
    "team_split_2d",
];

impl<'a> Routine<'a> {
    pub(super) fn of(check: Checks, at: shmem::Routine, arguments: &'a [Argument]) -> Self {
        let (base, element) = take_apart(at);
        let mut routine = Self {
            check,
            at,
            arguments,
            base,
            element,
            kind: Kind::Other,
        };
        routine.kind = routine.find_kind();
        routine
    }

    fn find_kind(&self) -> Kind {
        let base = self.base.as_str();
        let starts = |starts: &[&str]| starts.iter().any(|start| base.starts_with(start));
        if base.ends_with("_lock") {
            Kind::Lock
        } else if self.is_collective() {
            Kind::Collective
        } else if starts(&["atomic_", "signal_add", "signal_set"]) || OLD_ATOMICS.contains(&base) {
            Kind::Atomic
        } else if base == "p" || starts(&["put", "iput", "ibput"]) {
            Kind::Put
        } else if base == "g" || starts(&["get", "iget", "ibget"]) {
            Kind::Get
        } else if starts(&["wait", "test", "signal_wait_until", "signal_fetch"]) {
            Kind::Wait
        } else {
            Kind::Other
        }
    }

    fn is_collective(&self) -> bool {
        let moves_data = self.pointer("dest").is_some() && self.pointer("source").is_some();
        COLLECTIVES.contains(&self.base.as_str()) && !self.is_about_nothing()
            || self.number("PE_size").is_some()
            || (moves_data && self.number("team").is_some())
    }

    /// Whether the call asks for no bytes, or gives no block back: it waits for nobody (section
    /// 9.3).
    fn is_about_nothing(&self) -> bool {
        let block = self.pointer("ptr").map(|(addr, _)| addr);
        let size = self.number("size");
        let bytes = size.map(|size| size * self.number("count").unwrap_or(1));
        (block.is_some() || bytes.is_some()) && block.unwrap_or(0) == 0 && bytes.unwrap_or(0) == 0
    }

    fn value(&self, name: &str) -> Option<Value> {
        let same = |argument: &&Argument| c_name(argument.name) == name;
        self.arguments
            .iter()
            .find(same)
            .map(|argument| argument.value)
    }

    /// Returns the argument that the specification calls `name`, where it is a number.
    pub(super) fn number(&self, name: &str) -> Option<i128> {
        match self.value(name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the argument that the specification calls `name`, where it is a pointer: the
    /// address, and the bytes of one element there.
    pub(super) fn pointer(&self, name: &str) -> Option<(usize, usize)> {
        match self.value(name)? {
            Value::Pointer { addr, element } => Some((addr, element)),
            _ => None,
        }
    }
}

/// Returns the base of a name, and its type or size.
fn take_apart(name: &str) -> (String, &'static str) {
    let rest = name.strip_prefix("shmem_").unwrap_or(name);
    for rest in [rest.strip_prefix("ctx_"), Some(rest)]
        .into_iter()
        .flatten()
    {
        for t in TYPES {
            let base = rest
                .strip_prefix(t.name)
                .and_then(|rest| rest.strip_prefix('_'));
            if let Some(base) = base {
                return (base.to_owned(), t.same_as);
            }
        }
        for stem in SIZED {
            let Some(after) = rest.strip_prefix(stem) else {
                continue;
            };
            let is_end = |rest: &str| rest.is_empty() || rest.starts_with('_');
            let ends = |size: &&&str| after.strip_prefix(**size).is_some_and(is_end);
            if let Some(size) = SIZES.iter().find(ends) {
                return (format!("{stem}{}", &after[size.len()..]), size);
            }
        }
    }
    let base = match rest.strip_prefix("ctx_") {
        // The routines that are about contexts, beside those that have a form with one.
        Some(plain)
            if ["fence", "quiet", "pe_quiet", "signal_add", "signal_set"].contains(&plain) =>
        {
            plain
        }
        _ => rest,
    };
    (base.to_owned(), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Family, families};

    #[test]
    fn names_are_taken_apart() {
        for (name, base, element) in [
            ("shmem_int_put", "put", "int"),
            ("shmem_ctx_int32_put_nbi", "put_nbi", "int"),
            (
                "shmem_longlong_atomic_fetch_add_nbi",
                "atomic_fetch_add_nbi",
                "long long",
            ),
            ("shmem_size_p", "p", "unsigned long"),
            ("shmem_put8", "put", "8"),
            ("shmem_ctx_putmem_signal_nbi", "put_signal_nbi", "mem"),
            ("shmem_ibget128", "ibget", "128"),
            ("shmem_alltoalls32", "alltoalls", "32"),
            ("shmem_alltoallmem", "alltoall", "mem"),
            ("shmem_ctx_signal_add", "signal_add", ""),
            ("shmem_ctx_create", "ctx_create", ""),
            ("shmem_ctx_get_team", "ctx_get_team", ""),
            ("shmem_barrier_all", "barrier_all", ""),
            ("shmem_int_sum_to_all", "sum_to_all", "int"),
            ("shmalloc", "shmalloc", ""),
        ] {
            assert_eq!(take_apart(name), (base.to_owned(), element), "{name}");
        }
    }

    /// Checks that every routine that has an argument for a PE, or for a symmetric object, is of
    /// some kind.
    #[test]
    fn no_routine_with_objects_is_overlooked() {
        let objects = [
            "dest", "source", "ivar", "ivars", "sig_addr", "lock", "pSync",
        ];
        let excused = ["ptr", "team_ptr"];
        for routine in families().flat_map(Family::routines) {
            let argument = |(name, _): &(String, String)| objects.contains(&name.as_str());
            let arguments: Vec<Argument> = routine
                .arguments
                .iter()
                .map(|(name, c)| Argument {
                    name: Box::leak(name.clone().into_boxed_str()),
                    value: if c.ends_with('*') {
                        Value::Pointer {
                            addr: 0,
                            element: 1,
                        }
                    } else {
                        Value::Number(0)
                    },
                })
                .collect();
            let name: &'static str = Box::leak(routine.name.clone().into_boxed_str());
            // SAFETY: nothing is asked.
            let check = unsafe { Checks::in_a_call() };
            let taken = Routine::of(check, Box::leak(Box::new(name)), &arguments);
            if routine.arguments.iter().any(argument) && !excused.contains(&taken.base.as_str()) {
                assert_ne!(taken.kind, Kind::Other, "{name}");
            }
        }
    }
}
