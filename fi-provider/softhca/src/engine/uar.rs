//! Doorbell pages and registers, and the queue pairs that ring them.
//!
//! Where the library manages them, the device gives out pages and learns of registers by looking. In the
//! legacy regime it assigns registers to queue pairs as the mlx5 kernel driver does: register 0 has no
//! BlueFlame and serves those that get nothing better, then come registers of medium class, which are
//! shared, and at the end those of low latency, which serve one queue pair each.

use super::types::{Error, QpUar, RegisterKind, UarAccount, UarKind, UarRegime, UarRegister};
use fi_mlx5_defs::doorbell::REGISTERS_PER_PAGE;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Registers of a page in the kernel's numbering, two of which are for fast-path hardware only.
const NUMBERED_PER_PAGE: u32 = 4;
/// The device's pages.
pub(crate) const MAX_PAGES: u32 = 1 << 16;
/// Static registers of a context at most (`MLX5_MAX_BFREGS` of the kernel driver).
const MAX_STATIC: u32 = 512;
/// Registers without BlueFlame.
const PLAIN: u32 = 1;

/// A register: page, and which of the page.
pub(super) type Register = (u32, u32);

/// The doorbell pages of one context.
#[derive(Debug)]
pub(super) struct Uars {
    regime: UarRegime,
    /// Queue pairs on each static register (legacy).
    assigned: Vec<u32>,
    /// Pages that the library asked for.
    pages: BTreeMap<u32, UarKind>,
    next_page: u32,
}

impl Default for Uars {
    fn default() -> Self {
        Self {
            regime: UarRegime::LibraryManaged,
            assigned: Vec::new(),
            pages: BTreeMap::new(),
            next_page: 0,
        }
    }
}

/// Register that a queue pair rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A static register that the device assigned.
    Assigned(u32),
    /// A register of a page that the library mapped for itself.
    Mapped(Register),
    /// A page, and the register once it was seen to ring.
    Page(u32, Option<u32>),
    /// Nowhere.
    None,
}

impl Uars {
    pub(super) fn new(regime: UarRegime) -> Result<Self, Error> {
        let UarRegime::Legacy { total, low_latency } = regime else {
            return Ok(Self::default());
        };
        if !(1..=MAX_STATIC).contains(&total) || low_latency >= total {
            return Err(Error::Invalid("counts of doorbell registers"));
        }
        let registers = total.next_multiple_of(REGISTERS_PER_PAGE);
        Ok(Self {
            regime,
            assigned: vec![0; registers as usize],
            pages: BTreeMap::new(),
            next_page: registers / REGISTERS_PER_PAGE,
        })
    }

    /// Returns whether the library got any page.
    pub(super) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    pub(super) fn alloc(&mut self, kind: UarKind) -> Result<u32, Error> {
        let used = self.pages.len() as u32 + self.static_pages();
        if used >= MAX_PAGES {
            return Err(Error::Exhausted("doorbell pages"));
        }
        loop {
            let page = self.next_page;
            self.next_page = if page + 1 >= MAX_PAGES {
                self.static_pages()
            } else {
                page + 1
            };
            if let Entry::Vacant(free) = self.pages.entry(page) {
                free.insert(kind);
                return Ok(page);
            }
        }
    }

    pub(super) fn destroy(&mut self, page: u32) -> Result<(), Error> {
        self.pages
            .remove(&page)
            .map(drop)
            .ok_or(Error::NotFound("doorbell page"))
    }

    /// Returns whether BlueFlame copies may be written to a register.
    pub(super) fn has_blueflame(&self, (page, register): Register) -> bool {
        match self.pages.get(&page) {
            Some(kind) => *kind == UarKind::BlueFlame,
            None => self.regime != UarRegime::LibraryManaged && (page > 0 || register >= PLAIN),
        }
    }

    /// Returns the pages that the library asked for.
    pub(super) fn pages(&self) -> impl Iterator<Item = u32> {
        self.pages.keys().copied()
    }

    /// Returns whether there are pages that the library did not ask for.
    pub(super) fn has_static_pages(&self) -> bool {
        self.regime != UarRegime::LibraryManaged
    }

    /// Returns the number of pages of the static registers: the first ones.
    pub(super) fn static_pages(&self) -> u32 {
        self.assigned.len() as u32 / REGISTERS_PER_PAGE
    }

    /// Finds the place of a new queue pair.
    pub(super) fn place(&mut self, uar: QpUar) -> Result<Place, Error> {
        match uar {
            QpUar::None => Ok(Place::None),
            QpUar::Page(page) if self.pages.contains_key(&page) => Ok(Place::Page(page, None)),
            QpUar::Page(_) => Err(Error::NotFound("doorbell page")),
            QpUar::Register(index) => {
                // The library counts these registers from 0; their pages follow the static ones.
                let page = self.static_pages() + index / REGISTERS_PER_PAGE;
                Ok(Place::Mapped((page, index % REGISTERS_PER_PAGE)))
            }
            QpUar::Choose => {
                let UarRegime::Legacy { low_latency, .. } = self.regime else {
                    return Err(Error::Invalid(
                        "the library manages the doorbell pages, and named none",
                    ));
                };
                let register = choose(&self.assigned, low_latency)
                    .ok_or(Error::Exhausted("doorbell registers"))?;
                self.assigned[register] += 1;
                Ok(Place::Assigned(register as u32))
            }
        }
    }

    /// Releases the register of a queue pair that is gone.
    pub(super) fn release(&mut self, place: Place) {
        if let Place::Assigned(register) = place
            && let Some(count) = self.assigned.get_mut(register as usize)
        {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) fn regime(&self) -> UarRegime {
        self.regime
    }

    /// Returns the registers that queue pairs ring, and the queue pairs whose register is not
    /// known.
    pub(super) fn registers(
        &self,
        places: impl Iterator<Item = (u32, Place)>,
    ) -> (Vec<UarRegister>, Vec<u32>) {
        let mut registers: BTreeMap<Register, UarRegister> = BTreeMap::new();
        let mut unseen = Vec::new();
        for (number, place) in places {
            let Some((page, register)) = place.register() else {
                unseen.extend(place.page().map(|_| number));
                continue;
            };
            let kind = match (place, self.pages.get(&page)) {
                (Place::Assigned(_), _) => RegisterKind::Assigned,
                (_, Some(UarKind::BlueFlame)) => RegisterKind::BlueFlame,
                (_, Some(UarKind::NonCached)) => RegisterKind::NonCached,
                (_, None) => RegisterKind::Mapped,
            };
            let entry = registers.entry((page, register));
            let entry = entry.or_insert_with(|| UarRegister {
                page,
                register,
                kind,
                queue_pairs: Vec::new(),
            });
            entry.queue_pairs.push(number);
        }
        (registers.into_values().collect(), unseen)
    }

    /// Returns the account of a context whose queue pairs ring at `places`.
    pub(super) fn account(&self, places: impl Iterator<Item = Place>) -> UarAccount {
        let mut registers: BTreeMap<Register, u32> = BTreeMap::new();
        let mut used = BTreeSet::new();
        let mut mapped = BTreeSet::new();
        for place in places {
            if let Place::Mapped(_) = place
                && let Some((page, _)) = place.register()
            {
                mapped.insert(page);
            }
            used.extend(place.page());
            if let Some(register) = place.register() {
                *registers.entry(register).or_default() += 1;
            }
        }
        UarAccount {
            pages: self.static_pages() + self.pages.len() as u32 + mapped.len() as u32,
            used_pages: used.len() as u32,
            registers: registers.len() as u32,
            largest_sharing: registers.values().copied().max().unwrap_or(0),
        }
    }
}

impl Place {
    /// Returns the page.
    pub(super) fn page(self) -> Option<u32> {
        match self {
            Self::Page(page, _) => Some(page),
            _ => self.register().map(|(page, _)| page),
        }
    }

    /// Returns the register, as far as it is known.
    pub(super) fn register(self) -> Option<Register> {
        match self {
            Self::Assigned(n) => Some((n / REGISTERS_PER_PAGE, n % REGISTERS_PER_PAGE)),
            Self::Mapped(register) => Some(register),
            Self::Page(page, register) => register.map(|register| (page, register)),
            Self::None => None,
        }
    }

    /// Returns the number that CREATE_QP answers.
    pub(super) fn bfreg_index(self) -> u32 {
        match self {
            Self::Assigned(n) => {
                n / REGISTERS_PER_PAGE * NUMBERED_PER_PAGE + n % REGISTERS_PER_PAGE
            }
            Self::Mapped(_) | Self::Page(..) | Self::None => 0,
        }
    }
}

/// Returns the register for one more queue pair: a free one of low latency, else the medium one
/// with the fewest, else the plain one.
fn choose(assigned: &[u32], low_latency: u32) -> Option<usize> {
    let total = assigned.len() as u32;
    let medium = total.saturating_sub(low_latency.saturating_add(PLAIN));
    let first_low_latency = (PLAIN + medium) as usize;
    let free = (first_low_latency..assigned.len()).find(|&n| assigned[n] == 0);
    let shared = || (PLAIN as usize..first_low_latency).min_by_key(|&n| assigned[n]);
    free.or_else(shared)
        .or_else(|| (!assigned.is_empty()).then_some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks 40 plain queue pairs: distinct registers, pages, largest sharing.
    #[test]
    fn the_legacy_assignment() {
        for (total, low_latency, expected) in [
            (16, 4, (15, 8, 4)),
            (16, 15, (16, 8, 25)),
            (32, 8, (31, 16, 2)),
        ] {
            let mut uars = Uars::new(UarRegime::Legacy { total, low_latency }).unwrap();
            let places: Vec<Place> = (0..40)
                .map(|_| uars.place(QpUar::Choose).unwrap())
                .collect();
            let account = uars.account(places.iter().copied());
            assert_eq!(
                (
                    account.registers,
                    account.used_pages,
                    account.largest_sharing
                ),
                expected
            );
            assert_eq!(account.pages, total / 2);
            for place in places {
                uars.release(place);
            }
            assert!(uars.assigned.iter().all(|&count| count == 0));
        }
    }

    #[test]
    fn numbers_have_two_registers_in_four() {
        let mut uars = Uars::new(UarRegime::Legacy {
            total: 16,
            low_latency: 4,
        })
        .unwrap();
        let first: Vec<u32> = (0..6)
            .map(|_| uars.place(QpUar::Choose).unwrap().bfreg_index())
            .collect();
        // Registers 12 to 15, then 1 and 2.
        assert_eq!(first, [24, 25, 28, 29, 1, 4]);
    }

    #[test]
    fn thread_domains_of_the_legacy_regime_bring_their_pages() {
        let mut uars = Uars::new(UarRegime::Legacy {
            total: 16,
            low_latency: 4,
        })
        .unwrap();
        let places: Vec<Place> = (0..20)
            .map(|n| uars.place(QpUar::Register(n)).unwrap())
            .collect();
        let account = uars.account(places.iter().copied());
        assert_eq!(
            (
                account.registers,
                account.used_pages,
                account.largest_sharing
            ),
            (20, 10, 1)
        );
        assert_eq!(account.pages, 8 + 10);
    }

    #[test]
    fn counts_that_are_refused() {
        for (total, low_latency) in [(0, 0), (16, 16), (513, 1), (u32::MAX, 1)] {
            assert!(Uars::new(UarRegime::Legacy { total, low_latency }).is_err());
        }
    }

    #[test]
    fn pages_of_the_library() {
        let mut uars = Uars::new(UarRegime::LibraryManaged).unwrap();
        let pages: Vec<u32> = (0..500)
            .map(|_| uars.alloc(UarKind::BlueFlame).unwrap())
            .collect();
        let places = |n: u32| Place::Page(pages[n as usize / 2], Some(n % 2));
        let account = uars.account((0..1000).map(places));
        assert_eq!(
            (
                account.registers,
                account.used_pages,
                account.largest_sharing
            ),
            (1000, 500, 1)
        );
        assert_eq!(account.pages, 500);
        assert!(uars.place(QpUar::Choose).is_err());
        assert!(uars.place(QpUar::Page(500)).is_err());
        uars.destroy(pages[3]).unwrap();
        assert!(uars.destroy(pages[3]).is_err());
    }

    #[test]
    fn pages_run_out_and_come_back() {
        let mut uars = Uars::new(UarRegime::LibraryManaged).unwrap();
        for _ in 0..MAX_PAGES {
            uars.alloc(UarKind::NonCached).unwrap();
        }
        assert!(uars.alloc(UarKind::NonCached).is_err());
        uars.destroy(77).unwrap();
        assert_eq!(uars.alloc(UarKind::NonCached), Ok(77));
    }
}
