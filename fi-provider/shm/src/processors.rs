//! Which processors a process may use, and whether several processes can have one each.
//!
//! The mask of one process does not tell: one that is bound to a single processor has it for itself
//! where all others are bound elsewhere, and one that may use them all shares them with as many
//! others as there are. So processes tell each other, and are matched to the processors of their
//! masks. Of the processes of a cgroup no more have a processor each than it may use at a time.

mod cgroups;

use cgroups::Limit;
use std::collections::HashMap;
use std::io;

/// The processors that a process may use, when it looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    /// A bit for each processor, without words of zeros at the end.
    mask: Vec<u64>,
    limits: Vec<Limit>,
}

/// Words of a mask that the kernel is asked for: 65536 processors, more than it can have.
const WORDS: usize = 1024;

impl Processors {
    /// Returns the processors of this process: of the calling thread, and of the cgroups that the
    /// process is in.
    pub fn own() -> Self {
        let mask = affinity().unwrap_or_else(|_| {
            // Nobody can tell which; at least as many there are.
            let count = std::thread::available_parallelism().map_or(1, |count| count.get());
            let word = |at: usize| match count.saturating_sub(at * 64) {
                rest @ 0..64 => (1 << rest) - 1,
                _ => u64::MAX,
            };
            (0..count.div_ceil(64)).map(word).collect()
        });
        Self {
            mask,
            limits: cgroups::own_limits(),
        }
    }

    /// Writes them as text for [`Processors::parse`].
    pub fn to_text(&self) -> String {
        let mask: Vec<_> = self.mask.iter().map(|word| format!("{word:x}")).collect();
        let limits = self.limits.iter();
        let limits = limits.map(|limit| format!(" {:x}:{:x}", limit.group, limit.processors));
        mask.join(".") + &limits.collect::<String>()
    }

    /// Reads text of [`Processors::to_text`]; returns `None` for any other.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mask = words.next()?.split('.');
        let mask = mask.map(|word| u64::from_str_radix(word, 16).ok());
        let limits = words.map(|word| {
            let (group, processors) = word.split_once(':')?;
            Some(Limit {
                group: u64::from_str_radix(group, 16).ok()?,
                processors: usize::from_str_radix(processors, 16).ok()?,
            })
        });
        Some(Self {
            mask: mask.collect::<Option<_>>()?,
            limits: limits.collect::<Option<_>>()?,
        })
    }
}

/// Returns the calling thread's affinity mask.
fn affinity() -> io::Result<Vec<u64>> {
    let mut mask = vec![0_u64; WORDS];
    let bytes = size_of_val(mask.as_slice());
    // SAFETY: the pointer is valid for writes of `bytes` bytes, all of the words' memory; the
    // kernel writes whole words of its own, and takes the memory for nothing else.
    if unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let len = mask
        .iter()
        .rposition(|&word| word != 0)
        .map_or(0, |at| at + 1);
    mask.truncate(len);
    Ok(mask)
}

/// Returns whether each of these processes of a machine can have a processor for itself, all at one
/// time.
pub fn each_has_its_own(processes: &[Processors]) -> bool {
    are_within_limits(processes) && Matching::of(processes)
}

/// Returns whether no cgroup has more of the processes than processors.
fn are_within_limits(processes: &[Processors]) -> bool {
    let mut groups: HashMap<u64, (usize, usize)> = HashMap::new();
    for limit in processes.iter().flat_map(|process| &process.limits) {
        let (members, most) = groups.entry(limit.group).or_insert((0, usize::MAX));
        *members += 1;
        *most = limit.processors.min(*most);
    }
    groups.values().all(|(members, most)| members <= most)
}

/// A matching of processes to processors, in which another process is put after the other, and
/// those before give way where they can (augmenting paths: Kuhn 1955).
struct Matching<'a> {
    processes: Vec<&'a [u64]>,
    /// The processes of processors, and the other way round.
    process_of: HashMap<usize, usize>,
    processor_of: Vec<Option<usize>>,
    /// A bit for each processor that no process has.
    free: Vec<u64>,
}

impl<'a> Matching<'a> {
    /// Returns whether all processes can be matched.
    fn of(processes: &'a [Processors]) -> bool {
        let mut processes: Vec<_> = processes.iter().map(|it| it.mask.as_slice()).collect();
        // Those with little choice first, so that few have to give way.
        processes.sort_by_key(|mask| mask.iter().map(|word| word.count_ones()).sum::<u32>());
        let words = processes.iter().map(|mask| mask.len()).max().unwrap_or(0);
        let mut matching = Self {
            process_of: HashMap::new(),
            processor_of: vec![None; processes.len()],
            free: vec![u64::MAX; words],
            processes,
        };
        (0..matching.processes.len()).all(|process| matching.add(process))
    }

    /// Gives `process` a processor, where others may have to change theirs; returns whether it
    /// could.
    fn add(&mut self, process: usize) -> bool {
        // Process that found each processor, as one that it could change to.
        let mut found_by: HashMap<usize, usize> = HashMap::new();
        let mut unseen = vec![u64::MAX; self.free.len()];
        let mut open = vec![process];
        while let Some(finder) = open.pop() {
            let mask = self.processes[finder];
            if let Some(processor) = first_of(mask, &self.free) {
                self.give(processor, finder, &found_by);
                return true;
            }
            while let Some(processor) = first_of(mask, &unseen) {
                unseen[processor / 64] &= !(1 << (processor % 64));
                found_by.insert(processor, finder);
                open.push(self.process_of[&processor]);
            }
        }
        false
    }

    /// Gives the free `processor` to `process`, the former processor of this process to the process
    /// that it was found by, and so on.
    fn give(&mut self, processor: usize, process: usize, found_by: &HashMap<usize, usize>) {
        self.free[processor / 64] &= !(1 << (processor % 64));
        let mut next = Some((processor, process));
        while let Some((processor, process)) = next {
            self.process_of.insert(processor, process);
            let before = self.processor_of[process].replace(processor);
            next = before.map(|processor| (processor, found_by[&processor]));
        }
    }
}

/// Returns the first processor that is in both masks.
fn first_of(mask: &[u64], other: &[u64]) -> Option<usize> {
    let both = mask.iter().zip(other).map(|(one, other)| one & other);
    let mut found = both.enumerate().filter(|&(_, word)| word != 0);
    found
        .next()
        .map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a process that may use these processors.
    fn on(processors: impl IntoIterator<Item = usize>) -> Processors {
        let mut mask = Vec::new();
        for processor in processors {
            if mask.len() <= processor / 64 {
                mask.resize(processor / 64 + 1, 0);
            }
            mask[processor / 64] |= 1 << (processor % 64);
        }
        Processors {
            mask,
            limits: Vec::new(),
        }
    }

    fn limited(mut process: Processors, limits: &[(u64, usize)]) -> Processors {
        let limits = limits.iter();
        let limits = limits.map(|&(group, processors)| Limit { group, processors });
        process.limits = limits.collect();
        process
    }

    #[test]
    fn bound_one_to_one() {
        let all: Vec<_> = (0..200).map(|i| on([i])).collect();
        assert!(each_has_its_own(&all));
        assert!(each_has_its_own(&all[..1]) && each_has_its_own(&[]));
    }

    #[test]
    fn bound_to_one_processor() {
        assert!(!each_has_its_own(&[on([5]), on([5])]));
        assert!(!each_has_its_own(&[on([0]), on([1]), on([130]), on([1])]));
        assert!(!each_has_its_own(&[on([])]));
    }

    #[test]
    fn unbound() {
        let all = |processes| vec![on(0..100); processes];
        assert!(each_has_its_own(&all(100)));
        assert!(!each_has_its_own(&all(101)));
    }

    #[test]
    fn masks_that_overlap() {
        // Each has one, if those with a choice leave the others their only one.
        assert!(each_has_its_own(&[on([0, 1]), on([0]), on([1, 2])]));
        // A chain, along which all have to give way for the last.
        let mut chain: Vec<_> = (0..70).map(|i| on([i, i + 1])).collect();
        chain.push(on([0, 1]));
        assert!(each_has_its_own(&chain));
        chain.push(on([30, 31]));
        assert!(!each_has_its_own(&chain));
        // Enough processors in all, but three processes for two of them.
        let three = [on([0, 1]), on([0, 1]), on([0, 1]), on([2, 3, 4, 5])];
        assert!(!each_has_its_own(&three));
    }

    #[test]
    fn it_agrees_with_trying_all() {
        fn try_all(processes: &[Processors], taken: u64) -> bool {
            let Some((first, rest)) = processes.split_first() else {
                return true;
            };
            let mask = first.mask.first().copied().unwrap_or(0) & !taken;
            (0..5).any(|i| mask >> i & 1 == 1 && try_all(rest, taken | 1 << i))
        }
        // All masks of four processes of five processors would be a million: some.
        let mut seed = 1_u64;
        let mut both = [0; 2];
        for _ in 0..5000 {
            let mut random = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed >> 33
            };
            let count = random() % 5 + 1;
            let bits = |mask: u64| (0..5).filter(move |i| mask >> i & 1 == 1);
            let masks: Vec<u64> = (0..count).map(|_| random() & random() & 31).collect();
            let processes: Vec<_> = masks.iter().map(|&mask| on(bits(mask))).collect();
            let expected = try_all(&processes, 0);
            assert_eq!(each_has_its_own(&processes), expected, "{masks:?}");
            both[usize::from(expected)] += 1;
        }
        assert!(both.iter().all(|&times| times > 500), "{both:?}");
    }

    #[test]
    fn a_cgroup_allows_less_than_there_is() {
        let process = |limits: &[(u64, usize)]| limited(on(0..8), limits);
        assert!(each_has_its_own(&vec![process(&[(7, 2)]); 2]));
        assert!(!each_has_its_own(&vec![process(&[(7, 2)]); 3]));
        // In a cgroup each, that are in one.
        let [one, other] = [1, 2].map(|own| process(&[(own, 1), (9, 2)]));
        assert!(each_has_its_own(&[one.clone(), other.clone()]));
        assert!(!each_has_its_own(&[one, other, process(&[(9, 2)])]));
    }

    #[test]
    fn text_is_read_as_it_was_written() {
        for process in [
            on([0]),
            on([3, 64, 200]),
            limited(on([1]), &[(1 << 40, 3), (7, 12)]),
        ] {
            assert_eq!(Processors::parse(&process.to_text()), Some(process));
        }
        for text in ["", "x", "1 2", "1 2:", "1  2:3"] {
            assert_eq!(Processors::parse(text), None, "{text}");
        }
    }

    #[test]
    fn this_process_has_some() {
        let own = Processors::own();
        let count: u32 = own.mask.iter().map(|word| word.count_ones()).sum();
        let known = std::thread::available_parallelism().unwrap().get();
        assert!(count as usize >= known, "{own:?}, {known}");
        assert!(each_has_its_own(&[own]));
    }
}
