//! Claims of a call beside its budget: how it compares with another, and whether it locks.

use crate::cases::{Call, Counted};

/// A claim of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    call: Call,
    what: What,
    /// As it was written.
    words: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// It executes no instruction that locks.
    NoLock,
    /// It does.
    Lock,
    /// It takes fewer instructions than another.
    LessThan(Call),
    /// It takes at most a third of another's instructions.
    Third(Call),
    /// It takes at most so many instructions more than another.
    More(u32, Call),
}

impl Claim {
    /// Returns a claim in the words of `budgets.tsv`, if they are one.
    pub(crate) fn parse(routine: &str, target: &str, words: &str) -> Option<Self> {
        let call = |words: &str| {
            let (routine, target) = words.rsplit_once(", ")?;
            Some((routine.to_owned(), target.to_owned()))
        };
        let what = if let Some(other) = words.strip_prefix("less than ") {
            What::LessThan(call(other)?)
        } else if let Some(other) = words.strip_prefix("a third of ") {
            What::Third(call(other)?)
        } else if let Some(more) = words.strip_prefix("at most ") {
            let (count, other) = more.split_once(" more than ")?;
            What::More(count.parse().ok()?, call(other)?)
        } else {
            match words {
                "no lock" => What::NoLock,
                "a lock" => What::Lock,
                _ => return None,
            }
        };
        Some(Self {
            call: (routine.to_owned(), target.to_owned()),
            what,
            words: words.to_owned(),
        })
    }

    /// Returns whether it is of a call to one of these targets.
    pub(crate) fn is_of(&self, targets: &[&str]) -> bool {
        targets.contains(&self.call.1.as_str())
    }

    /// Returns a sentence if the counts are otherwise.
    pub(crate) fn broken(&self, counted: &Counted) -> Option<String> {
        let ((routine, target), words) = (&self.call, &self.words);
        let found = match self.found(counted) {
            Ok((true, _)) => return None,
            Ok((false, found)) => found,
            Err(other) => format!("{}, {}, was not counted", other.0, other.1),
        };
        Some(format!("{routine}, {target}: {words}, is claimed; {found}"))
    }

    /// Returns whether it holds, and the counts that were found; an error is a call that was not
    /// counted.
    fn found(&self, counted: &Counted) -> Result<(bool, String), Call> {
        let count = |call: &Call| counted.counts.get(call).copied().ok_or(call.clone());
        let own = count(&self.call)?;
        let compared = |other: &Call, holds: fn(f64, f64) -> bool, more: u32| {
            let other = count(other)?;
            let found = format!("it takes {own}, the other one {other}");
            Ok((holds(own, other + f64::from(more)), found))
        };
        match &self.what {
            What::LessThan(other) => compared(other, |own, other| own < other, 0),
            What::Third(other) => compared(other, |own, other| own * 3.0 <= other, 0),
            What::More(more, other) => compared(other, |own, most| own <= most, *more),
            What::NoLock | What::Lock => {
                let locking = counted.locking.get(&self.call).ok_or(self.call.clone())?;
                let found: Vec<_> = locking.iter().map(String::as_str).collect();
                let holds = found.is_empty() == (self.what == What::NoLock);
                Ok((holds, format!("it executes [{}]", found.join("; "))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> Counted {
        let call = |name: &str| (name.to_owned(), "RC".to_owned());
        let mut counted = Counted::default();
        for (name, count) in [("ours", 70.5), ("static", 82.5), ("other", 211.5)] {
            counted.counts.insert(call(name), count);
            counted.locking.entry(call(name)).or_default();
        }
        let locking = counted.locking.entry(call("static")).or_default();
        locking.insert("xchg %al,(%rdi)".to_owned());
        counted
    }

    fn broken(routine: &str, words: &str) -> Option<String> {
        Claim::parse(routine, "RC", words)
            .expect(words)
            .broken(&counted())
    }

    #[test]
    fn what_holds() {
        for (routine, words) in [
            ("ours", "no lock"),
            ("static", "a lock"),
            ("ours", "less than static, RC"),
            ("ours", "a third of other, RC"),
            ("static", "at most 12 more than ours, RC"),
        ] {
            assert_eq!(broken(routine, words), None, "{routine} {words}");
        }
    }

    #[test]
    fn what_does_not() {
        for (routine, words, found) in [
            ("ours", "a lock", "it executes []"),
            ("static", "no lock", "it executes [xchg %al,(%rdi)]"),
            ("ours", "less than ours, RC", "it takes 70.5"),
            ("static", "a third of other, RC", "it takes 82.5"),
            ("static", "at most 11 more than ours, RC", "it takes 82.5"),
            (
                "ours",
                "less than static, DC",
                "static, DC, was not counted",
            ),
            ("theirs", "no lock", "theirs, RC, was not counted"),
        ] {
            let sentence = broken(routine, words).expect(words);
            assert!(sentence.contains(found), "{sentence}");
        }
    }

    #[test]
    fn words_that_claim_nothing() {
        for words in [
            "",
            "14",
            "no locks",
            "less than 14",
            "at most x more than a, b",
        ] {
            assert_eq!(Claim::parse("a", "b", words), None, "{words}");
        }
    }
}
