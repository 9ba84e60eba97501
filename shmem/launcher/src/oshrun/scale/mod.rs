//! The start of a large job, simulated: the messages between PEs, agents and oshrun, by the code
//! that sends them, over a network of a given latency and bandwidth (docs/scale.md).
//!
//! Lines of PEs are those of `fi_bootstrap::request`, answers and barriers those of
//! `fi_bootstrap::server`, frames those of `hosts::frame`. Each host's PEs are played one host
//! after the other. A PE that asks for all keys with a number asks for one of each length: a line
//! is as long for all numbers of as many digits.

mod start;
mod steps;
mod table;

pub use start::{Exchange, Start, simulate};
pub use steps::{Network, Shape, Sizes, Step, ending, steps};
pub use table::main;

/// The costs of messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// From one host to another, in seconds.
    pub latency: f64,
    /// Of a host's link, in bytes per second.
    pub bandwidth: f64,
    /// Of oshrun or an agent for a frame, beside its bytes, in seconds.
    pub frame: f64,
    /// Of an agent for the request of a PE, with its answer, in seconds.
    pub request: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            latency: 20e-6,
            bandwidth: 3e9,
            frame: 5e-6,
            request: 10e-6,
        }
    }
}
