//! Results of a process of a benchmark, on their way to the command.

use crate::error::Result;
use crate::lanes::{Ends, SOFTWARE, hook};
use crate::usage::Usage;
use crate::words::{Line, Words};

/// Result of a benchmark in one process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The device's name.
    device: String,
    /// Whether it is software.
    software: bool,
    /// The name of the regime of its doorbell pages.
    regime: String,
    /// The usage of the endpoints.
    pub(crate) usage: Usage,
    /// Messages a second of each round, for each kind of messages.
    pub(crate) rates: Vec<Vec<f64>>,
}

impl Outcome {
    /// Makes the outcome of a run with these endpoints.
    pub(crate) fn new(ends: &Ends, rates: Vec<Vec<f64>>) -> Self {
        let (device, regime) = ends.device();
        Self {
            device,
            software: hook().is_some(),
            regime,
            usage: ends.usage(),
            rates,
        }
    }

    /// Returns it as a line.
    pub(crate) fn tell(&self) -> String {
        let mut line = Line::new()
            .word("device", &self.device)
            .word("software", self.software)
            .word("regime", &self.regime)
            .word("kinds", self.rates.len());
        for (kind, rates) in self.rates.iter().enumerate() {
            line = line.list(&format!("rates{kind}"), rates);
        }
        self.usage.tell(line).end()
    }

    /// Returns the outcome of a line.
    pub(crate) fn hear(line: &str) -> Result<Self> {
        let words = Words::of(line);
        let kinds: usize = words.get("kinds")?;
        let rates = (0..kinds).map(|kind| words.list(&format!("rates{kind}")));
        Ok(Self {
            device: words.get("device")?,
            software: words.get("software")?,
            regime: words.get("regime")?,
            usage: Usage::hear(&words)?,
            rates: rates.collect::<Result<_>>()?,
        })
    }

    /// Returns the device's name in results.
    pub(crate) fn device(&self) -> String {
        let software = if self.software {
            format!("{SOFTWARE}, ")
        } else {
            String::new()
        };
        format!("{} ({software}{} doorbell pages)", self.device, self.regime)
    }

    /// Joins those of several processes of one machine to one: all their resources, and round by
    /// round their joint rates.
    pub(crate) fn join(all: &[Self]) -> Option<Self> {
        let (first, others) = all.split_first()?;
        let mut joint = first.clone();
        for other in others {
            joint.usage = joint.usage + other.usage;
            for (sums, more) in joint.rates.iter_mut().zip(&other.rates) {
                for (sum, more) in sums.iter_mut().zip(more) {
                    *sum += more;
                }
            }
        }
        Some(joint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_pass_through_lines_and_add_up() {
        let one = Outcome {
            device: "mlx5_0".to_owned(),
            software: true,
            regime: "legacy".to_owned(),
            usage: Usage {
                pages: 9,
                ..Usage::default()
            },
            rates: vec![vec![1.5, 2.0], Vec::new()],
        };
        assert_eq!(Outcome::hear(&one.tell()).unwrap(), one);
        assert_eq!(one.device(), "mlx5_0 (softhca, legacy doorbell pages)");
        let both = Outcome::join(&[one.clone(), one]).unwrap();
        assert_eq!(
            (both.usage.pages, &both.rates[0][..]),
            (18, &[3.0, 4.0][..])
        );
    }
}
