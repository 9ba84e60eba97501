//! The processor's timer: the time stamp counter of x86-64, cntvct_el0 of aarch64.

#![expect(unsafe_code, reason = "reads the processor's timer")]

use crate::Error;
use crate::samples::Samples;
use fi_perfmodel::Ns;
use std::time::{Duration, Instant};

/// The name of the timer.
#[cfg(target_arch = "x86_64")]
pub const NAME: &str = "TSC between lfence";
/// The name of the timer.
#[cfg(target_arch = "aarch64")]
pub const NAME: &str = "cntvct_el0 behind isb";
/// The name of the timer.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub const NAME: &str = "the system's monotonic clock";

/// Time for which the timer is compared with the system's clock.
#[cfg(target_arch = "x86_64")]
const CALIBRATION: Duration = Duration::from_millis(50);

/// Reads the timer, when all instructions before have been done, in ticks.
#[inline(always)]
#[must_use]
#[cfg(target_arch = "x86_64")]
pub fn now() -> u64 {
    // SAFETY: SSE2 and the counter are part of x86-64; Linux lets programs read it.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let ticks = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        ticks
    }
}

/// Reads the timer, when all instructions before have been done, in ticks.
#[inline(always)]
#[must_use]
#[cfg(target_arch = "aarch64")]
pub fn now() -> u64 {
    let ticks;
    // SAFETY: Linux lets programs read the virtual counter; the barrier has no requirements.
    unsafe {
        core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack));
    }
    ticks
}

/// Reads the timer, in ticks.
#[inline(always)]
#[must_use]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn now() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Returns the nanoseconds of a tick.
#[cfg(target_arch = "x86_64")]
fn tick() -> f64 {
    let (from, begin) = both();
    std::thread::sleep(CALIBRATION);
    let (to, end) = both();
    (end - begin).as_nanos() as f64 / to.wrapping_sub(from) as f64
}

/// Reads both clocks at one time: of several times, when the least lay between two readings of the
/// timer, so that nothing else had the processor there.
#[cfg(target_arch = "x86_64")]
fn both() -> (u64, Instant) {
    let mut best = (u64::MAX, 0, Instant::now());
    for _ in 0..100 {
        let from = now();
        let instant = Instant::now();
        let between = now() - from;
        if between < best.0 {
            best = (between, from + between / 2, instant);
        }
    }
    (best.1, best.2)
}

/// Returns the nanoseconds of a tick.
#[cfg(target_arch = "aarch64")]
fn tick() -> f64 {
    let frequency: u64;
    // SAFETY: Linux lets programs read the register.
    unsafe {
        core::arch::asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nostack, nomem));
    }
    1e9 / frequency as f64
}

/// Returns the nanoseconds of a tick.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn tick() -> f64 {
    1.0
}

/// Knows the times of a tick and of a reading.
#[derive(Clone, Debug)]
pub struct Clock {
    tick: f64,
    overhead: f64,
    readings: Samples,
}

impl Clock {
    /// Calibrates the timer by so many samples.
    ///
    /// # Errors
    /// [`Error::NoClock`].
    pub fn calibrate(samples: usize) -> Result<Self, Error> {
        let tick = tick();
        if !(tick.is_finite() && tick > 0.0) {
            return Err(Error::NoClock);
        }
        let mut readings = Samples::new();
        for _ in 0..samples {
            let from = now();
            let to = now();
            readings.add((to - from) as f64 * tick);
        }
        Ok(Self {
            tick,
            overhead: readings.mean().0,
            readings,
        })
    }

    /// Returns the result of a measurement of nothing: it is taken off all others.
    #[must_use]
    pub fn readings(&self) -> &Samples {
        &self.readings
    }

    /// Returns a tick.
    #[must_use]
    pub fn tick(&self) -> Ns {
        Ns(self.tick)
    }

    /// Returns the time between two readings in nanoseconds, without the time of a measurement; that may
    /// be less than nothing by the noise of one reading.
    #[must_use]
    pub fn between(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from) as f64 * self.tick - self.overhead
    }

    /// Returns the time between two readings in nanoseconds.
    #[must_use]
    pub fn apart(&self, from: u64, to: u64) -> f64 {
        to.wrapping_sub(from) as f64 * self.tick
    }

    /// Calls `body`, and returns the time of it.
    #[inline(always)]
    pub fn time(&self, body: impl FnOnce()) -> f64 {
        let from = now();
        body();
        let to = now();
        self.between(from, to)
    }
}

/// The longest wait without sleep: a processor that sleeps is slower behind it, and its caches are
/// others'.
const AWAKE: Duration = Duration::from_millis(20);

/// Waits about so long, without sleeping where that is not very long.
pub fn pause(length: Duration) {
    if length > AWAKE {
        std::thread::sleep(length);
        return;
    }
    let begin = Instant::now();
    while begin.elapsed() < length {
        std::hint::spin_loop();
    }
}

/// Knows the time until everything that is under way has come: found by trial.
#[derive(Clone, Debug)]
pub struct Settling {
    length: Duration,
    /// Number of times in a row that it was too short.
    misses: u32,
}

impl Settling {
    /// Times in a row that it has to be too short to be made longer: once may be by chance.
    const MISSES: u32 = 3;
    /// The longest.
    pub const LIMIT: Duration = Duration::from_secs(10);

    /// Begins with this length.
    #[must_use]
    pub const fn new(length: Duration) -> Self {
        Self { length, misses: 0 }
    }

    /// Waits so long.
    pub fn wait(&self) {
        pause(self.length);
    }

    /// Notes whether everything had come.
    ///
    /// # Errors
    /// [`Error::Late`] where it does not come at all.
    pub fn note(&mut self, has_come: bool) -> Result<(), Error> {
        self.misses = if has_come { 0 } else { self.misses + 1 };
        if self.misses == Self::MISSES {
            *self = Self::new(self.length * 2);
        }
        if self.length > Self::LIMIT {
            return Err(Error::Late("completions", Self::LIMIT.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_grows_where_it_is_too_short_again_and_again() {
        let mut settling = Settling::new(Duration::from_secs(4));
        for has_come in [false, false, true, false, false] {
            settling.note(has_come).expect("not late");
        }
        assert_eq!(settling.length, Duration::from_secs(4));
        settling.note(false).expect("not late");
        assert_eq!(settling.length, Duration::from_secs(8));
        let late = (0..3).map(|_| settling.note(false)).filter(Result::is_err);
        assert_eq!(late.count(), 1);
    }

    #[test]
    fn a_time_is_found_again() {
        let clock = Clock::calibrate(1000).expect("a clock");
        // The shortest of several: others use the processor, too.
        let length = Duration::from_micros(500);
        let times = (0..20).map(|_| {
            clock.time(|| {
                let begin = Instant::now();
                while begin.elapsed() < length {}
            })
        });
        let least = times.fold(f64::MAX, f64::min);
        assert!((490_000.0..600_000.0).contains(&least), "{least}");
        assert!(clock.readings().mean().0 < 5_000.0, "{clock:?}");
        assert_eq!(clock.readings().len(), 1000);
    }
}
