//! Resources that the objects on a device take: queue pairs, completion queues, and doorbell pages
//! with their registers (UARs, uUARs).
//!
//! No call tells which pages a context has, so a book is kept of it. There are two regimes. In the legacy one the kernel gives a context
//! its static pages when it is opened; in the other the library (libmlx5) asks for pages as queue pairs come, and for one at the beginning
//! that takes no copies. In both a thread domain takes a register of a page of two that libmlx5 asks for then, and a register that is given
//! back is used again before there is another page.

use fi_mlx5_defs::doorbell::REGISTERS_PER_PAGE;
use std::fmt::{self, Display};
use std::ops::AddAssign;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Component that hands out the registers of queue pairs that are in no thread domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// libmlx5, on pages that it asks the kernel for.
    Library,
    /// The kernel, on pages that a context has from the beginning.
    Legacy,
}

impl Regime {
    /// Returns the name by which it is reported.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Legacy => "legacy",
        }
    }
}

/// Resources of a device that lanes and datagrams take. Targets of dynamic connections, receive
/// queues and their completion queues are not in it: they are the process's, and have no doorbell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// Contexts, which are openings of the device.
    pub contexts: u32,
    /// Queue pairs, spare ones included.
    pub queue_pairs: u32,
    /// Completion queues, spare ones included.
    pub completion_queues: u32,
    /// Doorbell pages (UARs).
    pub uars: u32,
    /// The registers on them that queue pairs may have (uUARs), two of each page.
    pub uuars: u32,
    /// Registers (uUARs) that queue pairs ring.
    pub used_uuars: u32,
    /// Bytes of the rings of queue pairs and completion queues, and of their doorbell records.
    pub bytes: u64,
}

impl Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            contexts,
            queue_pairs,
            completion_queues,
            uars,
            uuars,
            used_uuars,
            bytes,
        } = self;
        write!(
            f,
            "contexts {contexts}, QPs {queue_pairs}, CQs {completion_queues}, UARs {uars}, uUARs {uuars} ({used_uuars} used), bytes {bytes}"
        )
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        self.contexts += other.contexts;
        self.queue_pairs += other.queue_pairs;
        self.completion_queues += other.completion_queues;
        self.uars += other.uars;
        self.uuars += other.uuars;
        self.used_uuars += other.used_uuars;
        self.bytes += other.bytes;
    }
}

/// Numbers of the objects of each kind on a context; receive queues and their completion queues are
/// not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Objects {
    /// Protection domains.
    pub protection_domains: u32,
    /// Thread domains.
    pub thread_domains: u32,
    /// Memory regions.
    pub regions: u32,
    /// Completion queues.
    pub completion_queues: u32,
    /// Queue pairs.
    pub queue_pairs: u32,
    /// Targets of dynamic connections.
    pub targets: u32,
}

/// The registers that libmlx5 and the kernel are to share out (`MLX5_TOTAL_UUARS`, `MLX5_NUM_LOW_LAT_UUARS`), as libmlx5 reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    total: u32,
    /// Registers that serve one queue pair each.
    low_latency: u32,
    /// Whether queue pairs in no thread domain are to have registers for copies (`MLX5_SHUT_UP_BF`).
    blueflame: bool,
}

impl Shares {
    /// Defaults of libmlx5 where the environment sets none; and the most registers that are shared.
    const TOTAL: u32 = 16;
    const LOW_LATENCY: u32 = 4;
    const MOST_SHARED: u32 = 12;

    /// Returns the values that the environment sets.
    pub(super) fn of_environment() -> Self {
        let number = |name| std::env::var(name).ok()?.trim().parse::<u32>().ok();
        let silent = std::env::var("MLX5_SHUT_UP_BF").is_ok_and(|value| value != "0");
        Self::new(
            number("MLX5_TOTAL_UUARS").unwrap_or(Self::TOTAL),
            number("MLX5_NUM_LOW_LAT_UUARS").unwrap_or(Self::LOW_LATENCY),
            !silent,
        )
    }

    fn new(total: u32, low_latency: u32, blueflame: bool) -> Self {
        let total = total.max(1).next_multiple_of(REGISTERS_PER_PAGE);
        Self {
            total,
            low_latency: low_latency.max(total.saturating_sub(Self::MOST_SHARED)),
            blueflame,
        }
    }
}

/// Book of the doorbell pages of one context, and of the objects on it.
#[derive(Debug)]
pub(super) struct Book(Mutex<Entries>);

#[derive(Debug)]
struct Entries {
    regime: Regime,
    shares: Shares,
    objects: Objects,
    bytes: u64,
    /// The most thread domains that there were at a time.
    most_domains: u32,
    /// Registers of the library's for one queue pair each: made, and free of those.
    dedicated: u32,
    free: u32,
    /// Registers of the library's that queue pairs share.
    shared: u32,
    /// Queue pairs on each register, by its address.
    rung: Vec<(usize, u32)>,
}

/// Entry of a queue pair in the book.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairEntry {
    register: usize,
    bytes: u64,
    /// Whether it has one of the library's registers for itself.
    dedicated: bool,
}

impl Book {
    pub(super) fn new(regime: Regime) -> Self {
        Self::of(regime, Shares::of_environment())
    }

    fn of(regime: Regime, shares: Shares) -> Self {
        Self(Mutex::new(Entries {
            regime,
            shares,
            objects: Objects::default(),
            bytes: 0,
            most_domains: 0,
            dedicated: 0,
            free: 0,
            shared: 0,
            rung: Vec::new(),
        }))
    }

    fn open(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn regime(&self) -> Regime {
        self.open().regime
    }

    pub(super) fn objects(&self) -> Objects {
        self.open().objects
    }

    /// Changes the numbers of objects that have no doorbell.
    pub(super) fn note(&self, change: impl FnOnce(&mut Objects)) {
        change(&mut self.open().objects);
    }

    /// Counts a new thread domain.
    pub(super) fn add_domain(&self) {
        let mut book = self.open();
        book.objects.thread_domains += 1;
        book.most_domains = book.most_domains.max(book.objects.thread_domains);
    }

    /// Counts off a thread domain that has gone; its register stays for the next one.
    pub(super) fn remove_domain(&self) {
        self.open().objects.thread_domains -= 1;
    }

    /// Counts a completion queue that has come or, where `come` is false, counts off one that has
    /// gone.
    pub(super) fn count_completions(&self, bytes: u64, come: bool) {
        let mut book = self.open();
        if come {
            book.objects.completion_queues += 1;
            book.bytes += bytes;
        } else {
            book.objects.completion_queues -= 1;
            book.bytes -= bytes;
        }
    }

    /// Enters a new queue pair that rings `register`, that of a thread domain or one that it was
    /// assigned.
    pub(super) fn add_pair(&self, register: usize, in_domain: bool, bytes: u64) -> PairEntry {
        let mut book = self.open();
        book.objects.queue_pairs += 1;
        book.bytes += bytes;
        match book.rung.iter_mut().find(|(at, _)| *at == register) {
            Some((_, pairs)) => *pairs += 1,
            None => book.rung.push((register, 1)),
        }
        PairEntry {
            register,
            bytes,
            dedicated: !in_domain && book.assign(),
        }
    }

    pub(super) fn remove_pair(&self, pair: PairEntry) {
        let mut book = self.open();
        book.objects.queue_pairs -= 1;
        book.bytes -= pair.bytes;
        book.free += u32::from(pair.dedicated);
        for (_, pairs) in book.rung.iter_mut().filter(|(at, _)| *at == pair.register) {
            *pairs -= 1;
        }
        book.rung.retain(|&(_, pairs)| pairs > 0);
    }

    /// Returns the resources that the context and the objects on it take.
    pub(super) fn account(&self) -> Account {
        let book = self.open();
        let uars = book.pages();
        Account {
            contexts: 1,
            queue_pairs: book.objects.queue_pairs,
            completion_queues: book.objects.completion_queues,
            uars,
            uuars: uars * REGISTERS_PER_PAGE,
            used_uuars: book.rung.len() as u32,
            bytes: book.bytes,
        }
    }
}

impl Entries {
    /// Follows libmlx5 (`mlx5_get_qp_uar`) for a queue pair in no thread domain: a register for itself while there are such, and
    /// then a shared one, with one page more for each queue pair until there are enough. Whether it got one for itself.
    fn assign(&mut self) -> bool {
        if self.regime == Regime::Legacy || !self.shares.blueflame {
            return false;
        }
        if self.free == 0 && self.dedicated < self.shares.low_latency {
            self.dedicated += REGISTERS_PER_PAGE;
            self.free += REGISTERS_PER_PAGE;
        }
        if self.free > 0 {
            self.free -= 1;
            return true;
        }
        if self.shared < self.shares.total.saturating_sub(self.shares.low_latency) {
            self.shared += REGISTERS_PER_PAGE;
        }
        false
    }

    fn pages(&self) -> u32 {
        let first = match self.regime {
            // The page that takes no copies.
            Regime::Library => 1,
            Regime::Legacy => self.shares.total / REGISTERS_PER_PAGE,
        };
        let plain = (self.dedicated + self.shared) / REGISTERS_PER_PAGE;
        first + plain + self.most_domains.div_ceil(REGISTERS_PER_PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_to_share_out_are_whole_pages_and_at_most_twelve_are_shared() {
        for ((total, low_latency), expected) in [
            ((16, 4), (16, 4)),
            ((16, 15), (16, 15)),
            ((32, 8), (32, 20)),
            ((5, 1), (6, 1)),
            ((0, 0), (2, 0)),
        ] {
            let shares = Shares::new(total, low_latency, true);
            assert_eq!((shares.total, shares.low_latency), expected);
        }
    }

    #[test]
    fn pages_of_the_legacy_regime_are_there_before_any_queue_pair() {
        let book = Book::of(Regime::Legacy, Shares::new(16, 4, true));
        let pairs: Vec<_> = (0..40).map(|at| book.add_pair(at, false, 0)).collect();
        let account = book.account();
        assert_eq!(
            (account.uars, account.uuars, account.queue_pairs),
            (8, 16, 40)
        );
        for _ in 0..5 {
            book.add_domain();
        }
        assert_eq!(book.account().uars, 8 + 3);
        for _ in 0..5 {
            book.remove_domain();
        }
        pairs.into_iter().for_each(|pair| book.remove_pair(pair));
        book.add_domain();
        // A page that libmlx5 has once is not given back.
        assert_eq!(book.account().uars, 8 + 3);
        assert_eq!(book.account().queue_pairs, 0);
    }

    #[test]
    fn pages_of_the_library_come_with_queue_pairs() {
        let book = Book::of(Regime::Library, Shares::new(16, 4, true));
        let mut pages = vec![book.account().uars];
        let mut pairs = Vec::new();
        for at in 0..12 {
            pairs.push(book.add_pair(at, false, 0));
            pages.push(book.account().uars);
        }
        assert_eq!(pages, [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 9]);
        // The first four have registers for themselves, which the next ones get.
        pairs.drain(..4).for_each(|pair| book.remove_pair(pair));
        let again = (0..5).map(|at| book.add_pair(at, false, 0).dedicated);
        assert_eq!(again.collect::<Vec<_>>(), [true, true, true, true, false]);
        let silent = Book::of(Regime::Library, Shares::new(16, 4, false));
        silent.add_pair(0, false, 0);
        assert_eq!(silent.account().uars, 1);
    }

    #[test]
    fn registers_that_are_rung_are_counted_once() {
        let book = Book::of(Regime::Library, Shares::new(16, 4, true));
        let pairs = [8, 8, 16].map(|register| book.add_pair(register, true, 10));
        assert_eq!((book.account().used_uuars, book.account().bytes), (2, 30));
        book.remove_pair(pairs[0]);
        assert_eq!(book.account().used_uuars, 2);
        book.remove_pair(pairs[1]);
        assert_eq!((book.account().used_uuars, book.account().bytes), (1, 10));
    }
}
