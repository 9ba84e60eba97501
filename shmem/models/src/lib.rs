//! State that threads share in the crate `shmem`, under the loom model checker: every interleaving
//! of a few threads, with the C11 memory model.
//!
//! The modules are those of the library, which is not compiled for the model checker as a whole.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p shmem-models`.

#![cfg(all(loom, test))]

#[path = "../../src/safe/created/registry.rs"]
mod registry;
#[path = "../../src/owner/state.rs"]
mod state;

mod ends;
mod quiets;
mod resource;

/// Runs `model` in all orders with at most 3 preemptions.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}
