//! Parts of the time of a message on the mlx5 device that is there: the components of
//! [`fi_perfmodel`], measured.
//!
//! * [`clock`] reads the processor's timer and knows the time of a reading; [`samples`] has means and
//!   distributions. Neither knows of devices.
//! * [`low`] times the driver ([`fi_mlx5`]) on two connected queue pairs of this process; [`high`]
//!   times the fabric ([`fi_provider::raw`]) on two endpoints of it.
//! * [`trace`] takes times from PCIe transactions, [`fit`] from round trips; [`assemble`] makes a
//!   system of all.
//!
//! One component is timed at a time, many operations between two readings, so that a coarse tick
//! does not matter; the time of the readings is taken off.

pub mod assemble;
pub mod clock;
mod error;
pub mod fit;
pub mod high;
pub mod low;
pub mod samples;
pub mod trace;

pub use error::Error;

/// Amount of measuring.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Samples of each component.
    pub samples: usize,
    /// Operations of a sample, where there are many.
    pub batch: usize,
}

/// The least number of samples.
pub const LEAST_SAMPLES: usize = 100;
/// The most operations of a sample: a quarter of the send queue.
pub const MOST_BATCH: usize = low::QUARTER;

impl Default for Plan {
    fn default() -> Self {
        Self {
            samples: 200,
            batch: 32,
        }
    }
}
