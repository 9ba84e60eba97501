//! Cases of the figures of the paper: the endpoints, and the operations on them.

use crate::error::{Error, Result};
use crate::message_rate::{Features, Plan};
use crate::shape::{Shape, Ways, named};
use fi_mlx5::policy::POLICIES;

/// A figure of the message rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// Its name on the command line and in results.
    pub(crate) name: &'static str,
    /// Its title.
    pub(crate) title: &'static str,
    cases: fn(&Basis) -> Result<Vec<Case>>,
}

/// Returns a figure by the name in results.
pub(crate) fn title(name: &str) -> &str {
    let message_rate = FIGURES.iter().map(|figure| (figure.name, figure.title));
    let others = [
        ("account", "1 to 16 threads, by policy (paper: section VI)"),
        ("global-array", "Global array, by policy (paper: figure 12)"),
        (
            "stencil",
            "Stencil, processes.threads of a node (paper: figure 14)",
        ),
    ];
    let found = message_rate.chain(others).find(|&(known, _)| known == name);
    found.map_or(name, |(_, title)| title)
}

/// The figures of the message rate, in the order of the paper.
pub(crate) const FIGURES: [Figure; 11] = [
    figure(
        "policies",
        "1 to 16 threads, by policy (paper: figure 2b has the first and the last)",
        policies,
    ),
    figure(
        "scaling",
        "A context for each thread (paper: figure 3)",
        scaling,
    ),
    figure(
        "share-buf",
        "Threads to a buffer (paper: figure 5)",
        share_buffer,
    ),
    figure(
        "alignment",
        "Buffers in cache lines of their own, or in one (paper: figure 6)",
        alignment,
    ),
    figure(
        "share-ctx",
        "Threads to a device context (paper: figure 7)",
        share_context,
    ),
    figure(
        "share-pd",
        "Threads to a protection domain (paper: figure 8)",
        share_protection,
    ),
    figure(
        "share-mr",
        "Threads to a registered region (paper: figure 8)",
        share_region,
    ),
    figure(
        "share-cq",
        "Threads to a completion queue (paper: figure 9)",
        share_completion,
    ),
    figure(
        "unsignalled-p32",
        "Threads to a completion queue, in lists (paper: figure 10a)",
        unsignalled_lists,
    ),
    figure(
        "unsignalled-p1",
        "Threads to a completion queue, one by one (paper: figure 10b)",
        unsignalled_single,
    ),
    figure(
        "share-qp",
        "Threads to a queue pair (paper: figure 11)",
        share_pair,
    ),
];

const fn figure(
    name: &'static str,
    title: &'static str,
    cases: fn(&Basis) -> Result<Vec<Case>>,
) -> Figure {
    Figure { name, title, cases }
}

/// Settings of all cases of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis {
    /// The plan of a thread with everything of its own; the others differ from it.
    pub(crate) plan: Plan,
}

/// A row to be.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its place on the horizontal axis.
    pub(crate) place: String,
    /// The words that tell its endpoints apart.
    pub(crate) endpoints: String,
    /// The features.
    pub(crate) work: String,
    /// The plan of its run.
    pub(crate) plan: Plan,
}

impl Figure {
    /// Returns the one of this name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        FIGURES
            .into_iter()
            .find(|figure| figure.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
                Error::Usage(format!(
                    "there is no figure {name}; there are {}",
                    names.join(", ")
                ))
            })
    }

    /// Returns its cases.
    pub(crate) fn cases(&self, basis: &Basis) -> Result<Vec<Case>> {
        (self.cases)(basis)
    }
}

/// Returns all features, and all without one.
fn variants(all: Features) -> [(&'static str, Features); 5] {
    [
        ("All", all),
        ("All w/o Postlist", Features { postlist: 1, ..all }),
        (
            "All w/o Inlining",
            Features {
                inlining: false,
                ..all
            },
        ),
        (
            "All w/o Unsignalled",
            Features {
                unsignalled: 1,
                ..all
            },
        ),
        (
            "All w/o BlueFlame",
            Features {
                blueflame: false,
                ..all
            },
        ),
    ]
}

/// Returns endpoints whose queue pairs have pages of their own, in one context.
fn one_context(policy: &str, threads: usize) -> Result<Shape> {
    Ok(Shape::of_policy(named(policy)?, threads))
}

/// Returns endpoints of which no two threads share anything: a context for each, and in it a page
/// for its queue pair.
fn alone(threads: usize) -> Result<Shape> {
    let mut shape = one_context("dynamic", threads)?;
    shape.ways.context = 1;
    shape.ways.protection = 1;
    Ok(shape)
}

/// Returns 1, 2, 4, … up to the number of threads.
fn powers(threads: usize) -> impl Iterator<Item = usize> {
    (0..)
        .map(|power| 1 << power)
        .take_while(move |&ways| ways <= threads)
}

/// Returns the cases of each number of threads to a shared object: `share` makes the endpoints.
fn shared(
    basis: &Basis,
    endpoints: &str,
    share: impl Fn(usize) -> Result<Shape>,
) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for ways in powers(basis.plan.shape.threads) {
        for (work, features) in variants(basis.plan.features) {
            let plan = Plan {
                shape: share(ways)?,
                features,
                ..basis.plan
            };
            cases.push(Case::new(format!("{ways}-way"), endpoints, work, plan));
        }
    }
    Ok(cases)
}

impl Case {
    fn new(place: String, endpoints: &str, work: &str, plan: Plan) -> Self {
        Self {
            place,
            endpoints: endpoints.to_owned(),
            work: work.to_owned(),
            plan,
        }
    }
}

fn policies(basis: &Basis) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for threads in powers(basis.plan.shape.threads) {
        for policy in &POLICIES {
            let shape = Shape::of_policy(policy, threads);
            let plan = Plan {
                shape,
                ..basis.plan
            };
            cases.push(Case::new(threads.to_string(), policy.name, "All", plan));
        }
    }
    Ok(cases)
}

fn scaling(basis: &Basis) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for threads in powers(basis.plan.shape.threads) {
        for (work, features) in variants(basis.plan.features) {
            let plan = Plan {
                shape: alone(threads)?,
                features,
                ..basis.plan
            };
            cases.push(Case::new(threads.to_string(), "a context each", work, plan));
        }
    }
    Ok(cases)
}

fn share_buffer(basis: &Basis) -> Result<Vec<Case>> {
    shared(basis, "a context each", |buffer| {
        let shape = alone(basis.plan.shape.threads)?;
        Ok(Shape {
            ways: Ways {
                buffer,
                ..shape.ways
            },
            ..shape
        })
    })
}

fn alignment(basis: &Basis) -> Result<Vec<Case>> {
    let shape = alone(basis.plan.shape.threads)?;
    let features = Features {
        inlining: false,
        ..basis.plan.features
    };
    let case = |(place, packed): (&str, bool)| {
        let plan = Plan {
            shape,
            features,
            packed,
            ..basis.plan
        };
        Case::new(place.to_owned(), "a context each", "All w/o Inlining", plan)
    };
    Ok([("own lines", false), ("one line", true)]
        .into_iter()
        .map(case)
        .collect())
}

fn share_context(basis: &Basis) -> Result<Vec<Case>> {
    let threads = basis.plan.shape.threads;
    let share = |policy: &str, context: usize| {
        let shape = one_context(policy, threads)?;
        let ways = Ways {
            context,
            protection: context,
            ..shape.ways
        };
        Ok(Shape { ways, ..shape })
    };
    let mut cases = shared(basis, "own pages", |ways| share("dynamic", ways))?;
    let features = Features {
        postlist: 1,
        ..basis.plan.features
    };
    for ways in powers(threads) {
        for (policy, endpoints) in [("2x-dynamic", "2xQPs"), ("shared-dynamic", "Sharing 2")] {
            let plan = Plan {
                shape: share(policy, ways)?,
                features,
                ..basis.plan
            };
            cases.push(Case::new(
                format!("{ways}-way"),
                endpoints,
                "All w/o Postlist",
                plan,
            ));
        }
    }
    Ok(cases)
}

fn share_protection(basis: &Basis) -> Result<Vec<Case>> {
    shared(basis, "one context", |protection| {
        let shape = one_context("dynamic", basis.plan.shape.threads)?;
        Ok(Shape {
            ways: Ways {
                protection,
                ..shape.ways
            },
            ..shape
        })
    })
}

fn share_region(basis: &Basis) -> Result<Vec<Case>> {
    shared(basis, "one context", |region| {
        let shape = one_context("dynamic", basis.plan.shape.threads)?;
        Ok(Shape {
            ways: Ways {
                region,
                ..shape.ways
            },
            ..shape
        })
    })
}

fn share_completion(basis: &Basis) -> Result<Vec<Case>> {
    shared(basis, "one context", |completion| {
        let shape = one_context("dynamic", basis.plan.shape.threads)?;
        Ok(Shape {
            ways: Ways {
                completion,
                ..shape.ways
            },
            ..shape
        })
    })
}

/// The values of q whose trade-off with shared completion queues is looked at.
const UNSIGNALLED: [u32; 4] = [1, 4, 16, 64];

fn unsignalled(basis: &Basis, postlist: u32) -> Result<Vec<Case>> {
    let threads = basis.plan.shape.threads;
    let mut cases = Vec::new();
    for completion in powers(threads) {
        for unsignalled in UNSIGNALLED {
            let shape = one_context("dynamic", threads)?;
            let shape = Shape {
                ways: Ways {
                    completion,
                    ..shape.ways
                },
                ..shape
            };
            let features = Features {
                postlist,
                unsignalled,
                ..basis.plan.features
            };
            let plan = Plan {
                shape,
                features,
                ..basis.plan
            };
            cases.push(Case::new(
                format!("{completion}-way"),
                "one context",
                &format!("q={unsignalled}"),
                plan,
            ));
        }
    }
    Ok(cases)
}

fn unsignalled_lists(basis: &Basis) -> Result<Vec<Case>> {
    unsignalled(basis, basis.plan.features.postlist)
}

fn unsignalled_single(basis: &Basis) -> Result<Vec<Case>> {
    unsignalled(basis, 1)
}

/// Returns the cases of shared queue pairs. Queue pairs that several threads use are in no thread
/// domain: that would promise the device's library a single one.
fn share_pair(basis: &Basis) -> Result<Vec<Case>> {
    shared(basis, "one context", |pair| {
        let shape = one_context("static", basis.plan.shape.threads)?;
        Ok(Shape {
            ways: Ways {
                pair,
                completion: pair,
                ..shape.ways
            },
            ..shape
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_figures_have_cases_that_can_be_made() {
        let features = Features {
            postlist: 32,
            unsignalled: 64,
            inlining: true,
            blueflame: true,
        };
        let shape = alone(16).unwrap();
        let plan = Plan {
            shape,
            features,
            depth: 128,
            size: 2,
            packed: false,
            messages: 1,
            rounds: 1,
        };
        let basis = Basis { plan };
        let count = |name| {
            let cases = Figure::named(name).unwrap().cases(&basis).unwrap();
            for case in &cases {
                case.plan.shape.check().unwrap();
            }
            cases.len()
        };
        let counts = FIGURES.map(|figure| count(figure.name));
        assert_eq!(counts, [30, 25, 25, 2, 35, 25, 25, 25, 20, 20, 25]);
        assert!(Figure::named("share-all").is_err());
        assert_eq!(
            title("stencil"),
            "Stencil, processes.threads of a node (paper: figure 14)"
        );
    }
}
