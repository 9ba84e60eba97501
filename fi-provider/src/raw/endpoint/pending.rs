//! Operations that wait for their peers.

use super::link::Link;
use super::remote::RemoteRegion;
use crate::raw::completion::{Counter, Entry, Operation, Promise};
use crate::raw::error::Error;
use fi_mlx5::device::Region;
use std::num::NonZero;
use std::rc::Rc;

/// An operation under way.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) link: Rc<Link>,
    /// The entry of its success.
    pub(crate) entry: Entry,
    pub(crate) promise: Promise,
    /// The operation of which it is a part.
    pub(crate) part: Option<NonZero<u64>>,
    pub(crate) state: State,
    /// Part that few operations have: the others pay one word for it.
    pub(crate) rare: Option<Box<Rare>>,
}

/// The parts of an operation that few have.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// The bytes of a message, as peers read them over the device.
    shown: Option<Region>,
    /// The bytes of a message, where the operation holds them.
    held: Vec<u8>,
    /// Regions of the peer that count it when all its parts have ended.
    pub(crate) counted: Vec<RemoteRegion>,
    /// Counts it, in the place of the endpoint's counter.
    pub(crate) counter: Option<Counter>,
    /// Bytes of a message for which its buffer has no room.
    pub(crate) cut: Option<NonZero<usize>>,
}

impl Pending {
    /// Returns whether the device brings the bytes, or parts of it are operations of their own:
    /// these alone tell of the end.
    pub(crate) fn is_with_others(&self) -> bool {
        let with_device = matches!(self.state, State::Gathering { left: 0, .. });
        with_device || matches!(self.state, State::Parts { .. })
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the buffer to which a message is coming.
    pub(crate) fn buffer(&self) -> Option<*mut u8> {
        match self.state {
            State::Gathering { dest, .. } if self.entry.operation == Operation::Receive => {
                Some(dest.wrapping_sub(self.entry.offset))
            }
            _ => None,
        }
    }
}

/// The rest of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// The peer's word that it is done.
    Answer,
    /// The peer's word that it is done; until then the peer may fetch the bytes.
    Offered { source: *const u8 },
    /// Bytes, `left` of them, or none where the device brings them; when all are there, the peer is
    /// told of the end of its operation with this number, if it has one.
    Gathering {
        dest: *mut u8,
        left: usize,
        answer: Option<u64>,
    },
    /// The ends of so many parts; and the first error of one. Behind them the peer is told this
    /// data, if there is some.
    Parts {
        left: usize,
        error: Option<Error>,
        told: Option<u64>,
    },
}

/// All of an endpoint, by numbers that are never 0 and hardly ever the same.
#[derive(Debug, Default)]
pub(crate) struct Table {
    slots: Vec<(u32, Option<Pending>)>,
    free: Vec<u32>,
}

/// Operations of an endpoint that may wait at a time.
const MOST: usize = 1 << 16;

impl Table {
    /// Adds an operation; none where there are too many.
    pub(crate) fn add(&mut self, pending: Pending) -> Option<u64> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < MOST => {
                self.slots.push((0, None));
                (self.slots.len() - 1) as u32
            }
            None => return None,
        };
        let (generation, slot) = &mut self.slots[index as usize];
        *generation = generation.wrapping_add(1).max(1);
        pending.link.asked.update(|asked| asked + 1);
        *slot = Some(pending);
        Some(u64::from(*generation) << 32 | u64::from(index))
    }

    /// Returns the operation of this number, if it is one with the peer of `link`.
    pub(crate) fn get(&mut self, number: u64, link: &Link) -> Option<&mut Pending> {
        let (generation, slot) = self.slots.get_mut(number as u32 as usize)?;
        let is_it = u64::from(*generation) == number >> 32;
        let pending = slot.as_mut().filter(|_| is_it);
        pending.filter(|pending| pending.link.address == link.address)
    }

    /// Notes that the device brings the bytes of the operation of this number.
    pub(crate) fn leave_to_device(&mut self, number: u64) {
        if let Some((_, Some(pending))) = self.slots.get_mut(number as u32 as usize)
            && let State::Gathering { left, .. } = &mut pending.state
        {
            *left = 0;
        }
    }

    /// Notes of which operation that of this number is a part.
    pub(crate) fn set_part(&mut self, number: u64, whole: NonZero<u64>) {
        if let Some((_, Some(pending))) = self.slots.get_mut(number as u32 as usize) {
            pending.part = Some(whole);
        }
    }

    /// Has a counter count the operation of this number, in the place of the endpoint's.
    pub(crate) fn count_by(&mut self, number: u64, counter: Counter) {
        if let Some((_, Some(pending))) = self.slots.get_mut(number as u32 as usize) {
            pending.rare().counter = Some(counter);
            pending.promise.counts = false;
        }
    }

    /// Has the operation of this number, which brings a message, end as one that cuts so many
    /// bytes.
    pub(crate) fn cut(&mut self, number: u64, bytes: usize) {
        let slot = self.slots.get_mut(number as u32 as usize);
        if let (Some((_, Some(pending))), Some(bytes)) = (slot, NonZero::new(bytes)) {
            pending.rare().cut = Some(bytes);
        }
    }

    /// Notes one more part of the operation of this number.
    pub(crate) fn add_part(&mut self, number: u64) {
        if let Some((_, Some(pending))) = self.slots.get_mut(number as u32 as usize)
            && let State::Parts { left, .. } = &mut pending.state
        {
            *left += 1;
        }
    }

    /// Takes out the operation of this number, which has ended in this way, or a part of it: then
    /// only if that was the last one.
    pub(crate) fn end(
        &mut self,
        number: u64,
        result: Result<(), Error>,
    ) -> Option<(Pending, Result<(), Error>)> {
        let (generation, slot) = self.slots.get_mut(number as u32 as usize)?;
        let is_it = u64::from(*generation) == number >> 32;
        let mut result = result;
        if let State::Parts { left, error, .. } = &mut slot.as_mut().filter(|_| is_it)?.state {
            *left -= 1;
            *error = error.or(result.err());
            if *left > 0 {
                return None;
            }
            result = error.map_or(Ok(()), Err);
        }
        self.take(number).map(|pending| (pending, result))
    }

    /// Keeps the bytes of a message registered as long as the operation of this number is there.
    pub(crate) fn show(&mut self, number: u64, region: Region) {
        let slot = self.slots.get_mut(number as u32 as usize);
        if let Some((_, Some(pending))) = slot {
            pending.rare().shown = Some(region);
        }
    }

    /// Keeps bytes as long as the operation of this number is there.
    pub(crate) fn hold(&mut self, number: u64, bytes: Vec<u8>) {
        let slot = self.slots.get_mut(number as u32 as usize);
        if let Some((_, Some(pending))) = slot {
            pending.rare().held = bytes;
        }
    }

    /// Has regions of the peer count the operation of this number at its end.
    pub(crate) fn count_at_end(&mut self, number: u64, counted: Vec<RemoteRegion>) {
        if counted.is_empty() {
            return;
        }
        let slot = self.slots.get_mut(number as u32 as usize);
        if let Some((_, Some(pending))) = slot {
            pending.rare().counted = counted;
        }
    }

    /// Takes out the operation of this number, which is there.
    pub(crate) fn take(&mut self, number: u64) -> Option<Pending> {
        let index = number as u32;
        let (generation, slot) = self.slots.get_mut(index as usize)?;
        if u64::from(*generation) != number >> 32 {
            return None;
        }
        let pending = slot.take()?;
        pending.link.asked.update(|asked| asked - 1);
        self.free.push(index);
        Some(pending)
    }

    /// Returns the entry of a message that is still coming to the buffer at `buffer`.
    pub(crate) fn coming_to(&mut self, buffer: *mut u8) -> Option<&mut Entry> {
        let mut waiting = self.slots.iter_mut().filter_map(|(_, slot)| slot.as_mut());
        // A buffer for a tagged message is for no other one.
        let is_it = |one: &Pending| one.entry.tag.is_none() && one.buffer() == Some(buffer);
        waiting.find(|one| is_it(one)).map(|one| &mut one.entry)
    }

    /// Returns the numbers of operations for which `is_wanted`.
    pub(crate) fn numbers(&self, is_wanted: impl Fn(&Pending) -> bool) -> Vec<u64> {
        let slots = (0..).zip(&self.slots);
        let wanted = slots.filter(|(_, (_, slot))| slot.as_ref().is_some_and(&is_wanted));
        wanted
            .map(|(index, (generation, _))| u64::from(*generation) << 32 | index)
            .collect()
    }

    /// Returns the number of operations that wait.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
