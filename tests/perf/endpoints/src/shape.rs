//! The way in which threads share the parts of endpoints.

use crate::error::{Error, Result};
use crate::words::{Line, Words};
use fi_mlx5::policy::{POLICIES, Policy};

/// Threads to one object of each kind; 1: each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    /// To a buffer.
    pub(crate) buffer: usize,
    /// To a device context.
    pub(crate) context: usize,
    /// To a protection domain, within a context.
    pub(crate) protection: usize,
    /// To a registered region, within a protection domain.
    pub(crate) region: usize,
    /// To a completion queue, within a protection domain.
    pub(crate) completion: usize,
    /// To a queue pair.
    pub(crate) pair: usize,
}

/// The endpoints of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The policy by which registers come to lanes.
    pub(crate) policy: &'static Policy,
    /// Threads.
    pub(crate) threads: usize,
    /// The objects that they share.
    pub(crate) ways: Ways,
}

impl Shape {
    /// Returns the shape of a policy for so many threads: one context, unless each is to have its
    /// own, and a lane for each, unless all are one.
    pub(crate) fn of_policy(policy: &'static Policy, threads: usize) -> Self {
        let pair = if policy.one_lane { threads } else { 1 };
        let ways = Ways {
            buffer: 1,
            context: threads,
            protection: threads,
            region: 1,
            completion: pair,
            pair,
        };
        Self {
            policy,
            threads,
            ways,
        }
    }

    /// Returns endpoints that answer and do not post: connected queue pairs of one context with one
    /// completion queue.
    pub(crate) fn passive(lanes: usize) -> Result<Self> {
        let policy = named("static")?;
        let mut shape = Self::of_policy(policy, lanes);
        shape.ways.completion = lanes;
        Ok(shape)
    }

    /// Checks that the numbers divide each other where they have to.
    pub(crate) fn check(&self) -> Result<()> {
        let Ways {
            buffer,
            context,
            protection,
            region,
            completion,
            pair,
        } = self.ways;
        let divides = |less: usize, more: usize| less > 0 && more.is_multiple_of(less);
        let all = [
            (buffer, self.threads),
            (context, self.threads),
            (protection, context),
            (region, protection),
            (completion, protection),
            (pair, completion),
        ];
        if all.iter().all(|&(less, more)| divides(less, more)) {
            Ok(())
        } else {
            Err(Error::Usage(format!(
                "{} threads do not share so: {:?}",
                self.threads, self.ways
            )))
        }
    }

    /// Returns the number of lanes, which are queue pairs with their parts.
    pub(crate) fn lanes(&self) -> usize {
        self.threads / self.ways.pair
    }

    /// Returns the lane of a thread.
    pub(crate) fn lane_of(&self, thread: usize) -> usize {
        thread / self.ways.pair
    }

    /// Adds it to a line.
    pub(crate) fn tell(&self, line: Line) -> Line {
        let Ways {
            buffer,
            context,
            protection,
            region,
            completion,
            pair,
        } = self.ways;
        line.word("policy", self.policy.name)
            .word("threads", self.threads)
            .list(
                "ways",
                &[buffer, context, protection, region, completion, pair],
            )
    }

    /// Returns the shape of a line.
    pub(crate) fn hear(words: &Words<'_>) -> Result<Self> {
        let ways: Vec<usize> = words.list("ways")?;
        let [buffer, context, protection, region, completion, pair] = ways[..] else {
            return Err(Error::Words(format!("ways={ways:?}")));
        };
        let shape = Self {
            policy: named(&words.get::<String>("policy")?)?,
            threads: words.get("threads")?,
            ways: Ways {
                buffer,
                context,
                protection,
                region,
                completion,
                pair,
            },
        };
        shape.check().map(|()| shape)
    }
}

/// Returns the policy of this name.
pub(crate) fn named(name: &str) -> Result<&'static Policy> {
    Policy::named(name).ok_or_else(|| {
        let names: Vec<&str> = POLICIES.iter().map(|policy| policy.name).collect();
        Error::Usage(format!(
            "there is no policy {name}; there are {}",
            names.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_pass_through_lines() {
        for policy in &POLICIES {
            let shape = Shape::of_policy(policy, 16);
            let line = shape.tell(Line::new()).end();
            assert_eq!(Shape::hear(&Words::of(&line)).unwrap(), shape);
            assert_eq!(shape.lanes(), if policy.one_lane { 1 } else { 16 });
        }
        assert!(
            named("nonsense")
                .unwrap_err()
                .to_string()
                .contains("2x-dynamic")
        );
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        let mut shape = Shape::of_policy(named("dynamic").unwrap(), 6);
        assert!(shape.check().is_ok());
        shape.ways.context = 4;
        assert!(shape.check().is_err());
        shape.ways.context = 2;
        // A protection domain does not reach beyond its context.
        assert!(shape.check().is_err());
        shape.ways.protection = 2;
        assert!(shape.check().is_ok());
    }
}
