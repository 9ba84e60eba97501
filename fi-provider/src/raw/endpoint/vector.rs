//! Operations on several pieces of memory at a time, with one report for the whole (fi_writev,
//! fi_readv, fi_writemsg with several fi_rma_iov, fi_fetch_atomicmsg).
//!
//! Memory that is mapped is copied piece by piece, and the kernel takes all pieces in one call. By
//! a device and by rings the operation consists of parts, each with a post of its own: over a
//! device a part has up to [`MOST_PIECES`] pieces, where those lie in own regions. Parts that find
//! no room are started later, by [`Endpoint::progress`].

#![expect(unsafe_code, reason = "operations are on memory by its C address")]

use super::arithmetic::apply;
use super::atomic::put_word;
use super::counted::{access, counted};
use super::landings::gathered;
use super::link::{Link, Path};
use super::pending::{Pending, State};
use super::range::{Range, Word};
use super::remote::RemoteRegion;
use super::rma::rma_entry;
use super::threshold::Work;
use super::{Atomic, Endpoint, MOST_ASKED, Operation};
use crate::raw::completion::{Part, Report};
use crate::raw::error::Error;
use crate::raw::far::vector::MOST_PIECES;
use crate::raw::protocol::Kind;
use crate::raw::region::Rights;
use fi_mlx5::lane::Local;
use fi_shm::foreign::Piece;
use fi_shm::{copy, order};
use std::num::NonZero;
use std::rc::Rc;

/// Whether bytes go to the peer or come from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Write,
    Read,
}

impl Direction {
    fn operation(self) -> Operation {
        match self {
            Self::Write => Operation::Write,
            Self::Read => Operation::Read,
        }
    }

    fn right(self) -> Rights {
        match self {
            Self::Write => Rights::WRITE,
            Self::Read => Rights::READ,
        }
    }
}

/// All of a transfer but its bytes.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// The peer is told it behind the bytes.
    pub(super) data: Option<u64>,
    /// Memory that the operation holds: its pieces lie in it.
    pub(super) held: Vec<u8>,
    /// Regions that count it as a whole.
    pub(super) counted: Vec<RemoteRegion>,
}

/// A piece of local memory, and as many bytes of a region.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    region: &'a RemoteRegion,
    address: u64,
    local: *mut u8,
    len: usize,
}

impl Pair<'_> {
    fn work(&self, direction: Direction) -> Work {
        let (region, address, len) = (self.region.clone(), self.address, self.len);
        match direction {
            Direction::Write => Work::Write {
                region,
                address,
                source: self.local,
                len,
            },
            Direction::Read => Work::Read {
                region,
                address,
                dest: self.local,
                len,
            },
        }
    }
}

/// Pairs that one post takes: one, or several that lie one behind the other in the region, and in
/// registered memory.
#[derive(Debug)]
struct Group<'a> {
    pairs: Vec<Pair<'a>>,
    registered: Vec<Local>,
}

/// Cuts ranges and pieces where either ends; none where their bytes are not the same number.
fn pairs<'a>(ranges: &[Range<'a>], pieces: &[(*mut u8, usize)]) -> Option<Vec<Pair<'a>>> {
    let add = |sum: usize, len: usize| sum.checked_add(len);
    let there = ranges.iter().map(|range| range.len).try_fold(0, add)?;
    if pieces.iter().map(|(_, len)| *len).try_fold(0, add)? != there {
        return None;
    }
    let mut all = Vec::with_capacity(ranges.len().max(pieces.len()));
    let mut pieces = pieces.iter().copied();
    let (mut local, mut left) = (std::ptr::null_mut::<u8>(), 0);
    for range in ranges {
        let mut done = 0;
        while done < range.len {
            if left == 0 {
                (local, left) = pieces.next()?;
                continue;
            }
            let len = left.min(range.len - done);
            all.push(Pair {
                region: range.region,
                address: range.address.wrapping_add(done as u64),
                local,
                len,
            });
            (local, left) = (local.wrapping_add(len), left - len);
            done += len;
        }
    }
    Some(all)
}

/// Returns the link by which all regions are reached.
pub(super) fn common<'a>(
    mut regions: impl Iterator<Item = &'a RemoteRegion>,
) -> Result<Option<&'a Rc<Link>>, Error> {
    let first = regions.next().map(|region| &region.link);
    let is_one = first.is_none_or(|link| regions.all(|other| Rc::ptr_eq(&other.link, link)));
    is_one.then_some(first).ok_or(Error::NoSuchPeer)
}

impl Endpoint {
    /// Writes pieces of memory, one behind the other, to ranges of regions of one peer, one after
    /// the other (fi_writev, fi_writemsg). Nothing is written where it returns an error.
    ///
    /// # Errors
    /// As [`Endpoint::write`], for each range; [`Error::OutOfRange`] where pieces and ranges are
    /// not of as many bytes, [`Error::NoSuchPeer`] where the ranges are not of one peer.
    ///
    /// # Safety
    /// Each piece holds its bytes, which stay as they are until the operation is reported, or the
    /// endpoint dropped.
    pub unsafe fn write_vector<R: Report>(
        &self,
        ranges: &[Range<'_>],
        pieces: &[(*const u8, usize)],
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the pieces hold their bytes until the operation is reported.
        unsafe { self.write_pieces(ranges, pieces, Beside::default(), report) }
    }

    /// Writes as [`Endpoint::write_vector`] does, and tells the peer so with 64 bits of data, as
    /// [`Endpoint::write_with_data`] does, but of any length (fi_writemsg with FI_REMOTE_CQ_DATA).
    ///
    /// # Errors
    /// As [`Endpoint::write_vector`]; [`Error::NoSuchPeer`] where there is no range.
    ///
    /// # Safety
    /// As [`Endpoint::write_vector`].
    pub unsafe fn write_vector_with_data<R: Report>(
        &self,
        ranges: &[Range<'_>],
        pieces: &[(*const u8, usize)],
        data: u64,
        report: R,
    ) -> Result<(), Error> {
        let beside = Beside {
            data: Some(data),
            ..Beside::default()
        };
        // SAFETY: the pieces hold their bytes until the operation is reported.
        unsafe { self.write_pieces(ranges, pieces, beside, report) }
    }

    /// Writes as [`Endpoint::write_vector`] does, or with data as
    /// [`Endpoint::write_vector_with_data`]; the bytes are taken over at once (fi_writemsg with
    /// FI_INJECT).
    ///
    /// # Errors
    /// As these; [`Error::NoRoom`] where there is no memory for the bytes.
    ///
    /// # Safety
    /// Each piece holds its bytes.
    pub unsafe fn inject_write_vector<R: Report>(
        &self,
        ranges: &[Range<'_>],
        pieces: &[(*const u8, usize)],
        data: Option<u64>,
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the pieces hold their bytes.
        let held = unsafe { gathered(pieces)? };
        let whole = [(held.as_ptr(), held.len())];
        let beside = Beside {
            data,
            held,
            ..Beside::default()
        };
        // SAFETY: the operation holds the bytes until it is reported.
        unsafe { self.write_pieces(ranges, &whole, beside, report) }
    }

    /// # Safety
    /// As [`Endpoint::write_vector`]; the pieces may lie in the memory beside them.
    unsafe fn write_pieces<R: Report>(
        &self,
        ranges: &[Range<'_>],
        pieces: &[(*const u8, usize)],
        beside: Beside,
        report: R,
    ) -> Result<(), Error> {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(at, len)| (at.cast_mut(), *len))
            .collect();
        // SAFETY: the pieces hold their bytes until the operation is reported.
        unsafe { self.transfer(Direction::Write, ranges, &pieces, beside, report) }
    }

    /// Reads ranges of regions of one peer, one after the other, into pieces of memory, of which
    /// one is filled after the other (fi_readv, fi_readmsg).
    ///
    /// # Errors
    /// As [`Endpoint::write_vector`].
    ///
    /// # Safety
    /// Each piece has room for its bytes, and is nobody else's until the operation is reported, or
    /// the endpoint dropped.
    pub unsafe fn read_vector<R: Report>(
        &self,
        ranges: &[Range<'_>],
        pieces: &[(*mut u8, usize)],
        report: R,
    ) -> Result<(), Error> {
        // SAFETY: the pieces have room for their bytes until the operation is reported.
        unsafe { self.transfer(Direction::Read, ranges, pieces, Beside::default(), report) }
    }

    /// Does one atomic operation on each of several words of `bytes` bytes in regions of one peer
    /// (fi_fetch_atomicmsg): each as [`Endpoint::fetch_atomic`], in no order.
    ///
    /// # Errors
    /// As [`Endpoint::fetch_atomic`], for each word; [`Error::NoSuchPeer`] where they are not of
    /// one peer. Nothing is done then.
    ///
    /// # Safety
    /// As [`Endpoint::fetch_atomic`], for each word.
    pub unsafe fn fetch_atomics<R: Report>(
        &self,
        words: &[Word<'_>],
        bytes: usize,
        operation: Atomic,
        report: R,
    ) -> Result<(), Error> {
        if !matches!(bytes, 4 | 8) {
            return Err(Error::TooLong);
        }
        let link = common(words.iter().map(|word| word.region))?;
        for word in words {
            word.region.check(word.address, bytes, Rights::ATOMIC)?;
            let place = word.region.found.place(word.address);
            if !place.is_multiple_of(bytes as u64) {
                return Err(Error::Misaligned);
            }
        }
        if report.context().is_some() && !self.transmit().has_room() {
            return Err(Error::Again);
        }
        let len = words.len() * bytes;
        let Some(link) = link.filter(|_| words.iter().any(|word| !word.region.is_mapped())) else {
            for word in words {
                let offset = word.region.reach(word.address, bytes, Rights::ATOMIC)?;
                let place = word.region.mapped.wrapping_add(offset);
                // SAFETY: the word lies in the region, which is mapped here; `found` has room for
                // a word, aligned to it.
                unsafe {
                    let before = apply(operation, place, bytes, word.operand, word.comparand)?;
                    put_word(word.found, bytes, before);
                }
            }
            self.report_rma(Operation::Atomic, len, report);
            return Ok(());
        };
        let later = |word: &Word<'_>| Work::Atomic {
            region: word.region.clone(),
            word: (word.address, bytes),
            operation,
            operands: (word.operand, word.comparand),
            found: word.found,
        };
        let start = |word: &Word<'_>, part: Part| {
            let (target, operands) = ((word.address, bytes), (word.operand, word.comparand));
            // SAFETY: `found` has room for the word until the operation is reported, aligned to it.
            unsafe { self.fetch_atomic(word.region, target, operation, operands, word.found, part) }
        };
        let what = (Operation::Atomic, len, report);
        let all = (what, Beside::default());
        self.start_parts(link, all, words, start, |word| vec![later(word)])
    }

    /// # Safety
    /// As [`Endpoint::write_vector`] or [`Endpoint::read_vector`].
    unsafe fn transfer<R: Report>(
        &self,
        direction: Direction,
        ranges: &[Range<'_>],
        pieces: &[(*mut u8, usize)],
        beside: Beside,
        report: R,
    ) -> Result<(), Error> {
        let all = || ranges.iter().map(|range| range.region);
        // A single one that has bytes is counted where it is done.
        let is_plain = ranges.len().max(pieces.len()) == 1 && ranges.iter().any(|one| one.len > 0);
        if !is_plain && all().any(|region| region.counted.is_some()) {
            let counted = counted(all());
            let parts: Vec<_> = all().map(RemoteRegion::for_parts).collect();
            let ranges: Vec<_> = (parts.iter().zip(ranges))
                .map(|(region, range)| Range { region, ..*range })
                .collect();
            let beside = Beside { counted, ..beside };
            // SAFETY: the pieces are as the operation demands until it is reported.
            return unsafe { self.transfer(direction, &ranges, pieces, beside, report) };
        }
        let link = common(all())?;
        for range in ranges {
            let right = direction.right();
            range.region.check(range.address, range.len, right)?;
        }
        let pairs = pairs(ranges, pieces).ok_or(Error::OutOfRange)?;
        let told = beside.data.zip(link);
        if beside.data.is_some() && link.is_none() {
            return Err(Error::NoSuchPeer);
        }
        if told.is_some_and(|(_, link)| link.burden() >= MOST_ASKED) {
            return Err(Error::Again);
        }
        if report.context().is_some() && !self.transmit().has_room() {
            return Err(Error::Again);
        }
        let what = (
            direction.operation(),
            pairs.iter().map(|pair| pair.len).sum(),
            report,
        );
        // SAFETY: the pieces are as the operation demands until it is reported.
        let is_done = unsafe { self.transfer_at_once(direction, link, &pairs)? };
        // No bytes are done at once for any peer, but only one of the node is counted for so.
        let is_done = is_done && beside.counted.iter().all(|one| one.link.near().is_some());
        let Some(link) = link.filter(|_| !is_done) else {
            let access = access(what.0);
            beside.counted.iter().for_each(|one| one.count(access));
            self.report_rma(what.0, what.1, report);
            if let Some((data, link)) = told {
                self.owe(link, Kind::Told, [data, what.1 as u64, 0]);
            }
            return Ok(());
        };
        let groups = self.groups(link, pairs);
        if let [group] = &*groups
            && told.is_none()
            && beside.held.is_empty()
            && beside.counted.is_empty()
        {
            // SAFETY: the pieces are as the operation demands until it is reported.
            return unsafe { self.transfer_group(direction, group, report) };
        }
        // SAFETY: the pieces are as the operation demands until it is reported.
        let start =
            |group: &Group<'_>, part| unsafe { self.transfer_group(direction, group, part) };
        let later = |group: &Group<'_>| {
            let works = group.pairs.iter().map(|pair| pair.work(direction));
            works.collect()
        };
        self.start_parts(link, (what, beside), &groups, start, later)
    }

    /// Copies where this process or the kernel does; false where bytes have to go another way.
    ///
    /// # Safety
    /// As [`Endpoint::write_vector`] or [`Endpoint::read_vector`].
    unsafe fn transfer_at_once(
        &self,
        direction: Direction,
        link: Option<&Rc<Link>>,
        pairs: &[Pair<'_>],
    ) -> Result<bool, Error> {
        if pairs.iter().all(|pair| pair.region.is_mapped()) {
            for pair in pairs {
                let offset = pair.address.wrapping_sub(pair.region.found.start) as usize;
                let there = pair.region.mapped.wrapping_add(offset);
                // SAFETY: the range lies in the region, which is mapped here; the piece has its
                // bytes.
                unsafe {
                    match direction {
                        Direction::Write => copy::copy(there, pair.local, pair.len),
                        Direction::Read => copy::copy(pair.local, there, pair.len),
                    }
                }
            }
            if direction == Direction::Read {
                order::loads();
            }
            return Ok(true);
        }
        let is_foreign = |region: &RemoteRegion| !region.is_mapped() && region.counted.is_none();
        let is_foreign = pairs.iter().all(|pair| is_foreign(pair.region));
        let Some(near) = link.and_then(|link| link.near()).filter(|_| is_foreign) else {
            return Ok(false);
        };
        let piece = |pair: &Pair<'_>| Piece {
            here: pair.local,
            there: pair.region.found.place(pair.address),
            len: pair.len,
        };
        let pieces: Vec<_> = pairs.iter().map(piece).collect();
        // SAFETY: the pieces hold their bytes, or have room for them.
        unsafe {
            match direction {
                Direction::Write => near.write_pieces(&pieces),
                Direction::Read => near.read_pieces(&pieces),
            }
        }
    }

    /// Puts pairs together that the device takes by one entry.
    fn groups<'a>(&self, link: &Link, pairs: Vec<Pair<'a>>) -> Vec<Group<'a>> {
        let most = link.far().map_or(0, |path| path.hub.memory.max_message());
        let mut groups: Vec<Group<'a>> = Vec::new();
        for pair in pairs {
            let local = self.own_memory(pair.local.addr(), pair.len);
            let is_counted = pair.region.counted.is_some();
            let local = local.filter(|_| pair.len <= most && !is_counted);
            let follows = |group: &&mut Group<'_>| {
                let bytes: usize = group.pairs.iter().map(|one| one.len).sum();
                !group.registered.is_empty()
                    && group.registered.len() < MOST_PIECES
                    && bytes <= most - pair.len
                    && std::ptr::eq(group.pairs[0].region, pair.region)
                    && group.pairs[0].address.wrapping_add(bytes as u64) == pair.address
            };
            match (local, groups.last_mut()) {
                (Some(local), Some(last)) if follows(&last) => {
                    last.registered.push(local);
                    last.pairs.push(pair);
                }
                (local, _) => groups.push(Group {
                    pairs: vec![pair],
                    registered: local.into_iter().collect(),
                }),
            }
        }
        groups
    }

    /// # Safety
    /// As [`Endpoint::write_vector`] or [`Endpoint::read_vector`].
    unsafe fn transfer_group<R: Report>(
        &self,
        direction: Direction,
        group: &Group<'_>,
        report: R,
    ) -> Result<(), Error> {
        let Group { pairs, registered } = group;
        let first = &pairs[0];
        let (region, address) = (first.region, first.address);
        // SAFETY: the pieces are as the operation demands until it is reported; several lie in own
        // regions, which are registered.
        unsafe {
            match (direction, &region.link.path) {
                (Direction::Write, Path::Far(path)) if pairs.len() > 1 => {
                    self.write_gathered_far(region, path, address, registered, report)
                }
                (Direction::Read, Path::Far(path)) if pairs.len() > 1 => {
                    self.read_scattered_far(region, path, address, registered, report)
                }
                (Direction::Write, _) => {
                    self.write(region, address, first.local, first.len, report)
                }
                (Direction::Read, _) => self.read(region, address, first.local, first.len, report),
            }
        }
    }

    /// Tells the peer of an operation whose parts have all ended in this way, if it is to be told.
    #[inline(always)]
    pub(super) fn tell_whole(&self, pending: &Pending, result: Result<(), Error>) {
        if let State::Parts { told, .. } = pending.state
            && let (Some(data), Ok(())) = (told, result)
        {
            let len = pending.entry.len as u64;
            self.owe(&pending.link, Kind::Told, [data, len, 0]);
        }
    }

    /// Starts the parts of an operation, which is reported when all have ended: with the first
    /// error if any has failed. Where the first one cannot start, nothing is done; others that find
    /// no room are started later, as `later` says.
    pub(super) fn start_parts<R: Report, P>(
        &self,
        link: &Rc<Link>,
        ((operation, len, report), beside): ((Operation, usize, R), Beside),
        parts: &[P],
        start: impl Fn(&P, Part) -> Result<(), Error>,
        later: impl Fn(&P) -> Vec<Work>,
    ) -> Result<(), Error> {
        let entry = rma_entry(operation, len, report);
        // One more than the parts that have started: this call's.
        let state = State::Parts {
            left: 1,
            error: None,
            told: beside.data,
        };
        let number = self.begin_reported(link, entry, report, state)?;
        self.pending.borrow_mut().hold(number, beside.held);
        self.pending
            .borrow_mut()
            .count_at_end(number, beside.counted);
        let whole = Part(NonZero::new(number).ok_or(Error::Again)?);
        let mut is_full = false;
        for (at, part) in parts.iter().enumerate() {
            if !is_full {
                self.pending.borrow_mut().add_part(number);
                match start(part, whole) {
                    Ok(()) => continue,
                    Err(error) if at == 0 => {
                        self.abandon(number);
                        return Err(error);
                    }
                    // Comes in other parts, and those behind it, too.
                    Err(Error::Again) => {
                        is_full = true;
                        self.finish(number, Ok(()));
                    }
                    Err(error) => {
                        self.finish(number, Err(error));
                        continue;
                    }
                }
            }
            for work in later(part) {
                self.pending.borrow_mut().add_part(number);
                self.start_part_later(work, whole);
            }
        }
        self.finish(number, Ok(()));
        Ok(())
    }
}
