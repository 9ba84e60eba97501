//! Time.

use std::fmt::{self, Display};
use std::iter::Sum;
use std::ops::{Add, Div, Mul, Sub};

/// Holds a time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ns(pub f64);

impl Ns {
    /// Returns which part of `whole` this is, in percent; 0 of nothing.
    #[must_use]
    pub fn percent_of(self, whole: Self) -> f64 {
        if whole.0 == 0.0 {
            0.0
        } else {
            self.0 / whole.0 * 100.0
        }
    }

    /// Reads a time with its unit: `15ns`, `1.5 us`, `2ms`.
    ///
    /// # Errors
    /// Returns a sentence that names the mistake in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let scales = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];
        let found = scales
            .iter()
            .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
        let Some((number, scale)) = found else {
            return Err(format!("{text:?} is no time with its unit (ns, us or ms)"));
        };
        match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Self(number * scale)),
            _ => Err(format!("{text:?} is no time of 0 or more")),
        }
    }
}

/// Prints two decimals, and the unit.
impl Display for Ns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.2} ns", self.0))
    }
}

impl Add for Ns {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Ns {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Ns {
    type Output = Self;
    fn mul(self, times: f64) -> Self {
        Self(self.0 * times)
    }
}

impl Div<f64> for Ns {
    type Output = Self;
    fn div(self, parts: f64) -> Self {
        Self(self.0 / parts)
    }
}

impl Sum for Ns {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::default(), Add::add)
    }
}
