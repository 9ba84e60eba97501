//! A distributed count of words: each word has its counter on the PE that a hash of it names.
//!
//! A PE goes through its own text and tells the owner of each word; such calls travel together. When
//! no call is under way any more, PE 0 asks each owner for its most frequent words. It counts all texts
//! alone in the end and compares.
//!
//! Usage: wordcount [WORDS-OF-A-PE]
//!
// run: np=1,2,3,4 expect-stdout="as alone"
// run: np=3 args=0

use calls::{Calls, Load, Save, action};
use std::collections::BTreeMap;
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard};

/// Words that are shown.
const SHOWN: usize = 4;

type Counts = BTreeMap<String, u64>;

/// Returns the words that this PE owns.
fn owned() -> MutexGuard<'static, Counts> {
    static OWNED: Mutex<Counts> = Mutex::new(Counts::new());
    OWNED.lock().expect("no action has panicked")
}

/// Counts a word.
#[action]
fn count(word: String) {
    *owned().entry(word).or_default() += 1;
}

/// Returns the summary of the words that a PE owns.
#[action]
fn counted() -> Summary {
    Summary::of(&owned())
}

/// The number of words, of different ones, and the most frequent ones.
#[derive(Save, Load, Debug, Default, PartialEq)]
struct Summary {
    words: u64,
    different: usize,
    most: Vec<(u64, String)>,
}

impl Summary {
    fn of(counts: &Counts) -> Self {
        let most = counts.iter().map(|(word, &count)| (count, word.clone()));
        Self {
            words: counts.values().sum(),
            different: counts.len(),
            most: most_frequent(most.collect()),
        }
    }

    /// Returns the summary of both, which have no word in common.
    fn and(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            different: self.different + other.different,
            most: most_frequent([self.most, other.most].concat()),
        }
    }
}

/// Returns the most frequent words: those of the same number by the alphabet.
fn most_frequent(mut all: Vec<(u64, String)>) -> Vec<(u64, String)> {
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.truncate(SHOWN);
    all
}

/// Returns the text of a PE: words of syllables in a fixed order without a pattern, short ones more
/// often.
fn text(rank: u32, words: usize) -> impl Iterator<Item = String> {
    let mut state = u64::from(rank) + 1;
    let mut next = move |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    (0..words).map(move |_| {
        let syllables = 1 + next(3) * next(2);
        let syllable = |_| ["ka", "lo", "mi", "nu", "re", "so", "ta", "we"][next(8)];
        (0..syllables).map(syllable).collect()
    })
}

/// Returns the PE that owns a word: all run the same program, and so have the same hashes.
fn owner(word: &str, ranks: u32) -> u32 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    (hasher.finish() % u64::from(ranks)) as u32
}

fn main() -> Result<(), Box<dyn Error>> {
    let number = std::env::args().nth(1).map(|number| number.parse());
    let words = number.transpose()?.unwrap_or(50_000);
    let calls = Calls::open()?;
    let (rank, ranks) = (calls.rank(), calls.ranks());

    for word in text(rank, words) {
        calls.to(owner(&word, ranks))?.tell(count, (word,));
    }
    calls.settle()?;

    if rank == 0 {
        let mut found = Summary::default();
        for summary in calls.to_each(0..ranks, counted, ())? {
            found = found.and(summary.wait()?);
        }
        let mut alone = Counts::new();
        for word in (0..ranks).flat_map(|rank| text(rank, words)) {
            *alone.entry(word).or_default() += 1;
        }
        let alone = Summary::of(&alone);
        if found != alone {
            return Err(format!("{ranks} PEs count {found:?}, and one PE {alone:?}").into());
        }
        let Summary {
            words, different, ..
        } = found;
        println!("{words} words on {ranks} PEs, {different} different ones, as alone:");
        for (count, word) in found.most {
            println!("{count:8} {word}");
        }
    }
    Ok(calls.close()?)
}
