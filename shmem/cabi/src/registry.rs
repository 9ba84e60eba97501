//! Types of the families' rows: names, C types, lists.

use crate::handles::HANDLES;
use crate::types::{Set, Sizes, Type};

/// The way in which the routines of a family are named.
#[derive(Clone, Copy, Debug)]
pub enum Naming {
    /// One routine, after `shmem_` or `shmem_ctx_`: `fence`.
    Once(&'static str),
    /// One routine with a name of its own: `start_pes`.
    Old(&'static str),
    /// One for each size: the parts of the name before and after it, `put` and `_nbi`.
    Sized(Sizes, &'static str, &'static str),
    /// One for each type: `int_put`.
    Typed {
        /// The types.
        set: Set,
        /// The types that the generic name covers; none: there is no generic name.
        generic: Option<Set>,
        /// The part of the name behind the type, which is the generic name: `put`.
        base: &'static str,
    },
}

/// A row of a family table.
#[derive(Debug)]
pub struct Family {
    /// The contract and the peculiarities of this row, as the lines of its documentation.
    pub docs: &'static [&'static str],
    /// Meanings of the arguments of the module's rows, unless the row says otherwise.
    pub known: &'static [(&'static str, &'static str)],
    /// The behaviour on errors, unless the row says otherwise.
    pub errors: &'static str,
    /// The section of OpenSHMEM 1.6.
    pub section: &'static str,
    /// Whether each routine has a `shmem_ctx_` form.
    pub has_ctx: bool,
    /// The way in which its routines are named.
    pub naming: Naming,
    /// Names and Rust types of the arguments, without the context.
    pub arguments: &'static [(&'static str, &'static str)],
    /// The Rust type of the result, empty if there is none.
    pub result: &'static str,
}

/// One routine, in its plain or its `shmem_ctx_` form.
#[derive(Clone, Debug)]
pub struct Routine {
    /// The C name.
    pub name: String,
    /// Arguments: name and C type.
    pub arguments: Vec<(String, String)>,
    /// The C type of the result.
    pub result: String,
    /// Whether it never returns.
    pub never_returns: bool,
}

/// The families under one heading of the header.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The heading.
    pub title: &'static str,
    /// Its families.
    pub families: &'static [Family],
}

/// All families, in the order of the header.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Set-up, exit and query; thread support",
        families: crate::setup::FAMILIES,
    },
    Group {
        title: "Memory management",
        families: crate::memory::FAMILIES,
    },
    Group {
        title: "Teams",
        families: crate::team::FAMILIES,
    },
    Group {
        title: "Contexts and sessions",
        families: crate::ctx::FAMILIES,
    },
    Group {
        title: "Remote memory access",
        families: crate::rma::FAMILIES,
    },
    Group {
        title: "Atomic memory operations",
        families: crate::amo::FAMILIES,
    },
    Group {
        title: "Signaling operations",
        families: crate::signal::FAMILIES,
    },
    Group {
        title: "Collectives",
        families: crate::collective::FAMILIES,
    },
    Group {
        title: "Reductions and scans",
        families: crate::reduce::FAMILIES,
    },
    Group {
        title: "Collectives of active sets (deprecated)",
        families: crate::active::FAMILIES,
    },
    Group {
        title: "Point-to-point synchronization",
        families: crate::sync::FAMILIES,
    },
    Group {
        title: "Memory ordering",
        families: crate::order::FAMILIES,
    },
    Group {
        title: "Locks",
        families: crate::lock::FAMILIES,
    },
    Group {
        title: "Profiling",
        families: crate::profiling::FAMILIES,
    },
];

/// Returns all families.
pub fn families() -> impl Iterator<Item = &'static Family> {
    GROUPS.iter().flat_map(|group| group.families)
}

/// Returns the names of the standard's routines.
pub fn names() -> impl Iterator<Item = String> {
    families().flat_map(Family::routines).map(|r| r.name)
}

/// Returns the names that the library exports, sorted: those of the routines, and each with a `p`
/// before it, for profiling libraries (section 10); those of the handles; and those that are for
/// the library's own headers.
pub fn symbols() -> Vec<String> {
    let mut names: Vec<String> = names()
        .flat_map(|name| [format!("p{name}"), name])
        .chain(HANDLES.iter().map(|handle| handle.name.to_owned()))
        .chain(own().map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Returns the names that are for the library's own headers.
pub fn own() -> impl Iterator<Item = &'static str> {
    crate::direct::SYMBOLS.into_iter()
}

impl Family {
    /// Returns the routines of the family, the plain ones first.
    pub fn routines(&self) -> Vec<Routine> {
        let forms: &[bool] = if self.has_ctx {
            &[false, true]
        } else {
            &[false]
        };
        forms
            .iter()
            .flat_map(|&ctx| match self.naming {
                Naming::Once(name) => vec![self.routine(ctx, name, "void")],
                Naming::Old(name) => vec![Routine {
                    name: name.to_owned(),
                    ..self.routine(ctx, name, "void")
                }],
                Naming::Sized(sizes, before, after) => sizes
                    .names()
                    .iter()
                    .map(|size| self.routine(ctx, &format!("{before}{size}{after}"), "void"))
                    .collect(),
                Naming::Typed { set, .. } => {
                    Type::all_in(set).map(|t| self.typed(ctx, t)).collect()
                }
            })
            .collect()
    }

    /// Returns the routine of a typed family for `t`.
    ///
    /// # Panics
    /// When the family is not named by type.
    pub fn typed(&self, ctx: bool, t: &Type) -> Routine {
        let Naming::Typed { base, .. } = self.naming else {
            panic!("{:?} is not named by type", self.naming)
        };
        self.routine(ctx, &format!("{}_{base}", t.name), t.c)
    }

    fn routine(&self, ctx: bool, name: &str, element: &str) -> Routine {
        let handle = ctx.then(|| ("ctx".to_owned(), "shmem_ctx_t".to_owned()));
        let rest = self.arguments.iter();
        Routine {
            name: format!("shmem_{}{name}", if ctx { "ctx_" } else { "" }),
            arguments: handle
                .into_iter()
                .chain(rest.map(|(name, rust)| (c_name(name).to_owned(), c_type(rust, element))))
                .collect(),
            result: c_type(self.result, element),
            never_returns: self.result == "!",
        }
    }

    /// Returns the generic name without `shmem_`, and the types that it covers, if there is one.
    pub fn generic(&self) -> Option<(&'static str, Set)> {
        match self.naming {
            Naming::Typed {
                generic: Some(set),
                base,
                ..
            } => Some((base, set)),
            _ => None,
        }
    }

    /// Returns the contract: a sentence or two.
    pub fn summary(&self) -> String {
        let is_contract = |line: &&str| {
            !["- ", "Errors: ", DEPRECATED]
                .iter()
                .any(|s| line.starts_with(s))
        };
        self.lines()
            .take_while(is_contract)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Returns the meaning of an argument, with its unit; the row's own words before the module's.
    pub fn about(&self, argument: &str) -> Option<&'static str> {
        let own = self.lines().find_map(|line| {
            let (name, meaning) = line.strip_prefix("- ")?.split_once(": ")?;
            (name == argument).then_some(meaning)
        });
        let known = || self.known.iter().find(|(name, _)| *name == argument);
        own.or_else(|| known().map(|(_, meaning)| *meaning))
    }

    /// Returns the behaviour on errors; the row's own words before the module's.
    pub fn on_errors(&self) -> &'static str {
        let own = self.lines().find_map(|line| line.strip_prefix("Errors: "));
        own.unwrap_or(self.errors)
    }

    /// Returns the line that says since when the routines are deprecated, and by which they are
    /// replaced; none if they are not.
    pub fn deprecated(&self) -> Option<&'static str> {
        self.lines().find(|line| line.starts_with(DEPRECATED))
    }

    fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.docs.iter().map(|line| line.trim())
    }
}

const DEPRECATED: &str = "Deprecated since ";

impl Routine {
    /// Returns the arguments as a C parameter list.
    pub fn parameters(&self) -> String {
        if self.arguments.is_empty() {
            return "void".to_owned();
        }
        let one = |(name, c): &(String, String)| declare(c, name);
        self.arguments
            .iter()
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Returns the prototype, without the semicolon.
    pub fn prototype(&self) -> String {
        format!(
            "{}({})",
            declare(&self.result, &self.name),
            self.parameters()
        )
    }
}

/// Returns `name` declared to be of the C type `c`. Further arguments of any type have no name.
pub fn declare(c: &str, name: &str) -> String {
    if c == MORE {
        return c.to_owned();
    }
    let space = if c.ends_with('*') { "" } else { " " };
    format!("{c}{space}{name}")
}

/// Returns the name of an argument as the specification has it, and messages too.
pub fn c_name(rust: &str) -> &str {
    match rust {
        "pe_root" => "PE_root",
        "pe_start" => "PE_start",
        "log_pe_stride" => "logPE_stride",
        "pe_size" => "PE_size",
        "pwrk" => "pWrk",
        "psync" => "pSync",
        other => other,
    }
}

/// C's spelling of further arguments of any type.
const MORE: &str = "...";

/// Returns the C spelling of the Rust type of an argument or a result; `element` stands for `T`.
///
/// # Panics
/// When a row uses a type that this does not know: the generator stops there.
fn c_type(rust: &str, element: &str) -> String {
    if let Some(target) = rust.strip_prefix("*mut ") {
        return declare(&c_type(target, element), "*");
    }
    if let Some(target) = rust.strip_prefix("*const ") {
        return format!("const {}", declare(&c_type(target, element), "*"));
    }
    match rust {
        "" | "!" | "c_void" => "void",
        "T" => element,
        "c_char" => "char",
        "c_int" => "int",
        "c_long" => "long",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "isize" => "ptrdiff_t",
        "More" => MORE,
        "CtxHandle" => "shmem_ctx_t",
        "SessionConfig" => "shmem_ctx_session_config_t",
        "Handle" => "shmem_team_t",
        "Config" => "shmem_team_config_t",
        unknown => panic!("no C spelling for the Rust type {unknown}"),
    }
    .to_owned()
}
