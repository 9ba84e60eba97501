//! The queue of a lock: a PE's steps to join it, and to pass the lock on, for words in memory of
//! any kind.
//!
//! The tail names the last PE of the queue, [`FREE`] if there is none. Each PE has a link, 0 outside the queue, to which
//! the PE before it adds [`GRANTED`] and the PE behind it adds its name, each once and in any order. A PE that goes to sleep
//! adds [`ASLEEP`] itself: then the PE that passes the lock on finds it, or it finds the lock.

use fi_provider::symmetric::address_vector::PeerIndex;

/// The tail of a lock that is not set.
const FREE: u32 = 0;

/// In a link: the lock has been passed on to its owner.
const GRANTED: u32 = 1 << 31;

/// In a link: its owner sleeps, and has to be woken when the lock is passed on to it.
const ASLEEP: u32 = 1 << 30;

/// Returns the name of a PE in tails and links: not 0, and less than [`ASLEEP`].
fn name(pe: PeerIndex) -> u32 {
    pe + 1
}

/// Returns the name in a link, 0 if nobody is behind.
fn next(link: u32) -> u32 {
    link & !(GRANTED | ASLEEP)
}

/// Returns the PE of a name.
fn pe_of(name: u32) -> PeerIndex {
    name - 1
}

/// The words of a lock. Every operation is atomic and done when it returns.
pub(super) trait Words {
    /// Reason for which a word cannot be reached.
    type Error;

    /// Returns the number of this PE.
    fn me(&self) -> PeerIndex;

    /// Replaces the tail; returns the old one.
    fn swap_tail(&mut self, new: u32) -> Result<u32, Self::Error>;

    /// Replaces the tail if it is `old`; returns the tail before.
    fn replace_tail(&mut self, old: u32, new: u32) -> Result<u32, Self::Error>;

    /// Adds to the link of `pe`; returns its old value.
    fn add_to_link(&mut self, pe: PeerIndex, by: i64) -> Result<u32, Self::Error>;

    /// Returns the own link.
    fn link(&mut self) -> Result<u32, Self::Error>;

    /// Waits until the own link is greater than `floor`; returns it.
    fn wait_for_link_over(&mut self, floor: u32) -> Result<u32, Self::Error>;

    /// Waits as [`Words::wait_for_link_over`] does, but gives up and returns the link as it is
    /// where it is time to sleep, if this PE may.
    fn watch_link_over(&mut self, floor: u32) -> Result<u32, Self::Error>;

    /// Sleeps until woken, unless the own link is not `seen` any more. May wake for no reason.
    fn sleep_while(&mut self, seen: u32) -> Result<(), Self::Error>;

    /// Wakes `pe` if it sleeps.
    fn wake(&mut self, pe: PeerIndex) -> Result<(), Self::Error>;
}

/// Joins the queue and waits for the lock; returns whether it was joined, which it cannot be behind oneself.
///
/// # Errors
/// Those of the words.
pub(super) fn acquire<W: Words>(words: &mut W) -> Result<bool, W::Error> {
    let own = name(words.me());
    let before = words.swap_tail(own)?;
    if before == own {
        return Ok(false);
    }
    if before != FREE {
        words.add_to_link(pe_of(before), own.into())?;
        wait_for_grant(words)?;
    }
    Ok(true)
}

/// Waits until the PE before this one has passed the lock on.
fn wait_for_grant<W: Words>(words: &mut W) -> Result<(), W::Error> {
    let mut link = words.watch_link_over(GRANTED - 1)?;
    if link < GRANTED {
        link = words.add_to_link(words.me(), ASLEEP.into())?;
        while link < GRANTED {
            words.sleep_while(link | ASLEEP)?;
            link = words.link()?;
        }
    }
    Ok(())
}

/// Joins the queue if it is empty; returns whether it was.
///
/// # Errors
/// Those of the words.
pub(super) fn try_acquire<W: Words>(words: &mut W) -> Result<bool, W::Error> {
    let own = name(words.me());
    Ok(words.replace_tail(FREE, own)? == FREE)
}

/// Leaves the queue; returns whether there was one.
///
/// # Errors
/// Those of the words.
pub(super) fn release<W: Words>(words: &mut W) -> Result<bool, W::Error> {
    let own = name(words.me());
    let mut link = words.link()?;
    if next(link) == 0 {
        match words.replace_tail(own, FREE)? {
            FREE => return Ok(false),
            before if before == own => return clear(words, link),
            // Another has joined, and is about to say so.
            _ => link = words.wait_for_link_over(link)?,
        }
    }
    let next = pe_of(next(link));
    if words.add_to_link(next, GRANTED.into())? & ASLEEP != 0 {
        words.wake(next)?;
    }
    // The PEs before and behind have made their additions to the link.
    clear(words, link)
}

/// Makes the own link 0, which is `link` and which nobody adds to now.
fn clear<W: Words>(words: &mut W, link: u32) -> Result<bool, W::Error> {
    if link != 0 {
        words.add_to_link(words.me(), -i64::from(link))?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
