//! The data path over plain memory: a lane's rings, records and register lie in memory of the tests, and a model of a
//! device in the same program reads the entries and writes the completions.
#![expect(
    unsafe_code,
    reason = "reads rings and registers, and writes completion entries, as a device does"
)]

mod apart;
mod completions;
mod direct;
mod entries;
mod failures;
mod flow;
mod following;
mod later;
mod lists;
mod model;
mod progress;
mod sends;
mod shared;
mod short;
