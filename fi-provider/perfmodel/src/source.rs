//! Values, and where they come from.

use crate::{Component, Ns};
use std::fmt::{self, Display};

/// Says where a value comes from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// The paper, with its table or section.
    Paper(String),
    /// A measurement on this machine: how, the standard deviation, the number of samples.
    Measured {
        /// The timed code, and the way.
        how: String,
        /// The standard deviation of the samples.
        spread: Ns,
        /// How many samples the mean is of.
        samples: u64,
    },
    /// The user.
    Given,
    /// A trace of transactions: its file, and what was taken from it.
    Trace {
        /// The name of the file.
        file: String,
        /// Which transactions the time lies between.
        how: String,
    },
    /// A fit, with what it assumes.
    Fitted(String),
    /// Other values, with the arithmetic.
    Derived(String),
}

impl Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paper(place) => write!(f, "paper: {place}"),
            Self::Measured {
                how,
                spread,
                samples,
            } => write!(
                f,
                "measured: {how}; spread {} ns, {samples} samples",
                spread.0
            ),
            Self::Given => f.write_str("given"),
            Self::Trace { file, how } => write!(f, "trace {file}: {how}"),
            Self::Fitted(assumptions) => write!(f, "fitted: {assumptions}"),
            Self::Derived(how) => write!(f, "derived: {how}"),
        }
    }
}

impl Source {
    /// Reads what [`Display`] prints.
    ///
    /// # Errors
    /// Returns a sentence that names the mistake in the text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "given" {
            return Ok(Self::Given);
        }
        let wrong = || {
            format!(
                "{text:?} is no source: given, paper: PLACE, measured: HOW; spread S ns, N samples, \
                 trace FILE: HOW, fitted: ASSUMPTIONS, or derived: HOW"
            )
        };
        if let Some(rest) = text.strip_prefix("trace ") {
            let (file, how) = rest.split_once(": ").ok_or_else(wrong)?;
            return Ok(Self::Trace {
                file: file.to_owned(),
                how: how.to_owned(),
            });
        }
        let (kind, rest) = text.split_once(": ").ok_or_else(wrong)?;
        match kind {
            "paper" => Ok(Self::Paper(rest.to_owned())),
            "fitted" => Ok(Self::Fitted(rest.to_owned())),
            "derived" => Ok(Self::Derived(rest.to_owned())),
            "measured" => Self::measured(rest).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    /// Reads `HOW; spread S ns, N samples`.
    fn measured(text: &str) -> Option<Self> {
        let (how, numbers) = text.rsplit_once("; spread ")?;
        let (spread, samples) = numbers.split_once(" ns, ")?;
        Some(Self::Measured {
            how: how.to_owned(),
            spread: Ns(spread.parse().ok()?),
            samples: samples.strip_suffix(" samples")?.parse().ok()?,
        })
    }
}

/// Holds a value of a system, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<T> {
    /// The value is known.
    Known {
        /// The value.
        value: T,
        /// Where it comes from.
        source: Source,
    },
    /// It is contained in another component's, and could not be told apart; with the reason.
    Within(Component, String),
    /// It is not known, with the reason.
    Unknown(String),
}

impl<T> Entry<T> {
    /// Makes a known entry.
    pub const fn known(value: T, source: Source) -> Self {
        Self::Known { value, source }
    }

    /// Makes one of the paper's.
    pub(crate) fn of_paper(value: T, place: &str) -> Self {
        Self::known(value, Source::Paper(place.to_owned()))
    }
}
