//! Actions of rank 1 for rank 0.

use crate::shared::{self, shared};
use calls::{RmaVec, SharedSlice, action};
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Whether rank 1 is done.
pub(crate) static IS_OVER: AtomicBool = AtomicBool::new(false);
/// Threads that poll.
pub(crate) static THREADS: AtomicUsize = AtomicUsize::new(1);
static SUM: AtomicU64 = AtomicU64::new(0);
/// Memory that is copied to, touched before.
static WARM: Mutex<Vec<f64>> = Mutex::new(Vec::new());

#[action]
pub(crate) fn map(process: u32, file: i32) -> bool {
    shared::open(process, file).is_ok()
}

#[action]
pub(crate) fn end() {
    IS_OVER.store(true, Ordering::Release);
}

#[action]
pub(crate) fn threads(number: u64) {
    THREADS.store(number as usize, Ordering::Release);
}

/// Sets flags in turns with the caller.
#[action]
pub(crate) fn flags(turns: u64) {
    shared().flags(1, turns);
}

#[action]
pub(crate) fn nothing() {}

#[action]
pub(crate) fn add(words: [u64; 8]) {
    SUM.fetch_add(words[7], Ordering::Relaxed);
}

#[action]
pub(crate) fn sum() -> u64 {
    SUM.load(Ordering::Relaxed)
}

/// Copies the caller's elements to memory that was used before; returns the time in ns.
#[action]
pub(crate) fn copy_warm() -> u64 {
    let mut warm = WARM
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let all = shared().all();
    warm.resize(all.len(), 0.0);
    let start = Instant::now();
    warm.copy_from_slice(black_box(all));
    black_box(warm.as_ptr());
    start.elapsed().as_nanos() as u64
}

/// Copies the elements that the caller has written to a new vector, which is dropped; returns the time
/// in ns.
#[action]
pub(crate) fn copy_new() -> u64 {
    let start = Instant::now();
    drop(black_box(black_box(shared().all()).to_vec()));
    start.elapsed().as_nanos() as u64
}

/// Takes a vector of registered memory; returns its last element.
#[action]
pub(crate) fn take_rma(values: RmaVec<f64>) -> f64 {
    values.last().copied().unwrap_or_default()
}

/// Takes a vector; returns its last element.
#[action]
pub(crate) fn take_vec(values: Vec<f64>) -> f64 {
    values.last().copied().unwrap_or_default()
}

#[action]
pub(crate) fn echo_rma(bytes: RmaVec<u8>) -> RmaVec<u8> {
    bytes
}

#[action]
pub(crate) fn echo_vec(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

#[action]
pub(crate) fn echo_shared(bytes: SharedSlice<u8>) -> SharedSlice<u8> {
    bytes
}
