//! The fabric as a provider of libfabric: applications of libfabric run over it.
//!
//! libfabric loads the library and calls [`fi_prov_ini`]. Each C object holds its place in the
//! tables of its domain (`state`), whose one lock every call takes: the fabric's own objects are
//! of one thread at a time.

#![expect(
    unsafe_code,
    reason = "C calls these functions, and hands over raw pointers"
)]

mod alias;
mod atomic;
mod automatic;
mod av;
mod closed;
mod cntr;
mod contexts;
mod core;
mod cq;
mod deferred;
mod direct;
mod domain;
mod ep;
mod eq;
mod events;
mod fabric;
mod info;
mod log;
mod mr;
mod msg;
mod object;
mod poll;
mod quick;
mod refuse;
mod rma;
mod settings;
mod shared_contexts;
mod slab;
mod state;
mod tagged;
mod transfer;
mod wait;
mod work;

use fi_ofi_abi::{FiProvider, fi_version};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// The newest version of libfabric's interface that the tables of functions are long enough for.
const NEWEST: u32 = fi_version(2, 6);

/// The record that libfabric keeps a pointer to, and writes to.
struct Provider(UnsafeCell<FiProvider>);

// SAFETY: `Sync` requires that shared accesses do not race. This library writes the record in
// `fi_prov_ini` alone, which libfabric calls under its lock; all other accesses are libfabric's.
unsafe impl Sync for Provider {}

static PROVIDER: Provider = Provider(UnsafeCell::new(FiProvider {
    version: fi_version(0, 1),
    fi_version: NEWEST,
    context: [null_mut(); 4],
    name: info::NAME.as_ptr(),
    getinfo: Some(info::getinfo),
    fabric: Some(fabric::open),
    cleanup: Some(cleanup),
}));

/// Tells libfabric of the provider.
#[unsafe(no_mangle)]
pub extern "C" fn fi_prov_ini() -> *mut FiProvider {
    let provider = PROVIDER.0.get();
    // SAFETY: the record is static; libfabric calls this function under a lock, and reads the
    // record only after it has returned: nobody accesses the field meanwhile.
    unsafe { (*provider).fi_version = core::version().map_or(NEWEST, |its| its.min(NEWEST)) };
    settings::define();
    provider
}

/// Returns the record, by which libfabric knows the provider.
fn provider() -> *const FiProvider {
    PROVIDER.0.get()
}

/// Frees the memory of objects that were closed. Each domain stops its thread when it is closed, and
/// the library stays mapped.
extern "C" fn cleanup() {
    closed::free();
}
