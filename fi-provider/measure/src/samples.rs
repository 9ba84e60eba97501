//! Samples of a time: means, spreads, distributions.

use fi_perfmodel::{Ns, Source};

/// Holds samples in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<f64>);

/// One bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Begin of the bar.
    pub from: Ns,
    /// End of the bar.
    pub to: Ns,
    /// Number of samples between.
    pub count: u64,
}

impl Samples {
    /// Makes an empty collection.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a sample.
    pub fn add(&mut self, ns: f64) {
        self.0.push(ns);
    }

    /// Returns the sums of the samples of two collections, one by one.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sums = self.0.iter().zip(&other.0);
        Self(sums.map(|(one, other)| one + other).collect())
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// Returns the samples without the lowest and the highest quarter, which are those that
    /// something else disturbed: interrupts, other processes.
    fn middle(&self) -> Vec<f64> {
        let sorted = self.sorted();
        let cut = sorted.len() / 4;
        sorted[cut..sorted.len() - cut].to_vec()
    }

    /// Returns the mean of the middle half; 0 of none.
    #[must_use]
    pub fn mean(&self) -> Ns {
        Ns(mean(&self.middle()))
    }

    /// Returns the mean of the lowest tenth, of one sample at least; 0 of none. It is for times in
    /// which a device and several waits lie: all that disturbs them makes them longer.
    #[must_use]
    pub fn floor(&self) -> Ns {
        let sorted = self.sorted();
        let tenth = sorted.len().div_ceil(10);
        Ns(mean(&sorted[..tenth]))
    }

    /// Returns the standard deviation of the middle half; 0 of fewer than two.
    #[must_use]
    pub fn spread(&self) -> Ns {
        let middle = self.middle();
        if middle.len() < 2 {
            return Ns(0.0);
        }
        let mean = mean(&middle);
        let squares: f64 = middle.iter().map(|ns| (ns - mean).powi(2)).sum();
        Ns((squares / (middle.len() - 1) as f64).sqrt())
    }

    /// Returns the mean of all; 0 of none.
    #[must_use]
    pub fn mean_of_all(&self) -> Ns {
        Ns(mean(&self.0))
    }

    /// Returns the lowest, the one in the middle and the highest sample, if there are any.
    #[must_use]
    pub fn range(&self) -> Option<(Ns, Ns, Ns)> {
        let sorted = self.sorted();
        let (first, last) = (sorted.first()?, sorted.last()?);
        Some((Ns(*first), Ns(sorted[sorted.len() / 2]), Ns(*last)))
    }

    /// Returns the distribution: `bins` bars of one width from the lowest sample to the one that 99 of
    /// 100 are below, and one bar for the rest.
    #[must_use]
    pub fn histogram(&self, bins: usize) -> Vec<Bin> {
        let sorted = self.sorted();
        let (Some(&low), Some(&highest)) = (sorted.first(), sorted.last()) else {
            return Vec::new();
        };
        let high = sorted[(sorted.len() * 99 / 100).min(sorted.len() - 1)];
        let width = ((high - low) / bins as f64).max(f64::MIN_POSITIVE);
        let mut counts = vec![0; bins + 1];
        for &sample in &sorted {
            // The quotient is not negative, and of those beyond the last bar it does not matter.
            let bin = ((sample - low) / width) as usize;
            counts[if sample <= high {
                bin.min(bins - 1)
            } else {
                bins
            }] += 1;
        }
        let edge = |at: usize| Ns(low + width * at as f64);
        let bars = counts.iter().enumerate().map(|(at, &count)| Bin {
            from: edge(at),
            to: if at < bins { edge(at + 1) } else { Ns(highest) },
            count,
        });
        bars.filter(|bin| bin.to > bin.from || bin.count > 0)
            .collect()
    }

    /// Returns the source of [`Samples::floor`].
    #[must_use]
    pub fn floor_source(&self, how: &str) -> Source {
        let mean = self.mean();
        Source::Measured {
            how: format!("{how}, mean of the lowest tenth (of the middle half {mean})"),
            spread: Ns((self.spread().0 * 100.0).round() / 100.0),
            samples: self.len() as u64,
        }
    }

    /// Returns the source of the mean.
    #[must_use]
    pub fn source(&self, how: &str) -> Source {
        Source::Measured {
            how: format!("{how}, mean of the middle half"),
            spread: Ns((self.spread().0 * 100.0).round() / 100.0),
            samples: self.len() as u64,
        }
    }
}

fn mean(samples: &[f64]) -> f64 {
    if samples.is_empty() {
        return 0.0;
    }
    samples.iter().sum::<f64>() / samples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(all: impl IntoIterator<Item = f64>) -> Samples {
        Samples(all.into_iter().collect())
    }

    #[test]
    fn what_was_disturbed_does_not_count() {
        let some = samples((0..100).map(|at| match at {
            0..20 => 1.0,
            80..100 => 1e9,
            at => 10.0 + f64::from(at % 2),
        }));
        assert_eq!(some.mean(), Ns(10.5));
        assert!(
            (some.spread().0 - 0.505).abs() < 0.001,
            "{:?}",
            some.spread()
        );
        assert_eq!(some.range(), Some((Ns(1.0), Ns(11.0), Ns(1e9))));
        assert_eq!(
            (some.floor(), samples([3.0, 2.0]).floor()),
            (Ns(1.0), Ns(2.0))
        );
        assert_eq!(Samples::new().floor(), Ns(0.0));
        assert_eq!(Samples::new().mean(), Ns(0.0));
        assert_eq!(samples([3.0]).mean(), Ns(3.0));
        assert_eq!(samples([3.0]).spread(), Ns(0.0));
        assert!(Samples::new().range().is_none() && Samples::new().histogram(4).is_empty());
    }

    #[test]
    fn a_histogram_has_every_sample_once() {
        let some = samples((0..1000).map(|at| f64::from(at % 100)).chain([1e6]));
        let bins = some.histogram(10);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 1001);
        assert_eq!(bins.len(), 11);
        assert_eq!((bins[10].count, bins[10].to), (1, Ns(1e6)));
        assert!(bins[..9].iter().all(|bin| bin.count == 100), "{bins:?}");
        // All the same: one bar.
        let bins = samples([5.0; 7]).histogram(10);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 7);
    }
}
