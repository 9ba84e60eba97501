//! What the rows of the families describe: names, C types, lists.

use crate::types::{SIZES, Set, Type};

/// How the routines of a family are named, after `shmem_` or `shmem_ctx_`.
#[derive(Clone, Copy, Debug)]
pub enum Naming {
    /// One routine: `fence`.
    Once(&'static str),
    /// One for each size: what stands before and after it, `put` and `_nbi`.
    Sized(&'static str, &'static str),
    /// One for each type of the set: `int_put`.
    Typed(Set, &'static str),
}

/// A row of a family table.
#[derive(Debug)]
pub struct Family {
    /// The contract in one line.
    pub summary: &'static str,
    /// The section of OpenSHMEM 1.6.
    pub section: &'static str,
    /// Whether each routine has a `shmem_ctx_` form.
    pub has_ctx: bool,
    /// How its routines are named.
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
        title: "Point-to-point synchronization",
        families: crate::sync::FAMILIES,
    },
    Group {
        title: "Memory ordering and collectives",
        families: crate::order::FAMILIES,
    },
];

/// All families.
pub fn families() -> impl Iterator<Item = &'static Family> {
    GROUPS.iter().flat_map(|group| group.families)
}

/// The names that the library exports, sorted.
pub fn symbols() -> Vec<String> {
    let mut names: Vec<String> = families()
        .flat_map(Family::routines)
        .map(|r| r.name)
        .collect();
    names.sort();
    names
}

impl Family {
    /// The routines of the family, the plain ones first.
    pub fn routines(&self) -> Vec<Routine> {
        let forms: &[bool] = if self.has_ctx {
            &[false, true]
        } else {
            &[false]
        };
        forms
            .iter()
            .flat_map(|&ctx| match self.naming {
                Naming::Once(name) => vec![self.routine(ctx, name.to_owned(), "void")],
                Naming::Sized(before, after) => SIZES
                    .iter()
                    .map(|size| self.routine(ctx, format!("{before}{size}{after}"), "void"))
                    .collect(),
                Naming::Typed(set, _) => Type::all_in(set).map(|t| self.typed(ctx, t)).collect(),
            })
            .collect()
    }

    /// The routine of a typed family for `t`.
    ///
    /// # Panics
    /// When the family is not named by type.
    pub fn typed(&self, ctx: bool, t: &Type) -> Routine {
        let Naming::Typed(_, base) = self.naming else {
            panic!("{:?} is not named by type", self.naming)
        };
        self.routine(ctx, format!("{}_{base}", t.name), t.c)
    }

    fn routine(&self, ctx: bool, name: String, element: &str) -> Routine {
        let handle = ctx.then(|| ("ctx".to_owned(), "shmem_ctx_t".to_owned()));
        let rest = self.arguments.iter();
        Routine {
            name: format!("shmem_{}{name}", if ctx { "ctx_" } else { "" }),
            arguments: handle
                .into_iter()
                .chain(rest.map(|(name, rust)| ((*name).to_owned(), c_type(rust, element))))
                .collect(),
            result: c_type(self.result, element),
            never_returns: self.result == "!",
        }
    }
}

impl Routine {
    /// The arguments as a C parameter list.
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

    /// The prototype, without the semicolon.
    pub fn prototype(&self) -> String {
        format!(
            "{}({})",
            declare(&self.result, &self.name),
            self.parameters()
        )
    }
}

/// `name` declared to be of the C type `c`.
pub fn declare(c: &str, name: &str) -> String {
    let space = if c.ends_with('*') { "" } else { " " };
    format!("{c}{space}{name}")
}

/// The C spelling of the Rust type of an argument or a result; `element` stands for `T`.
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
        unknown => panic!("no C spelling for the Rust type {unknown}"),
    }
    .to_owned()
}
