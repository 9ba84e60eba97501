//! The table of a shared address vector (fi_av(3), name): the history of its insertions and
//! removals, in a memory of its name.
//!
//! Every process that has it open goes through the whole history, so that all give the same numbers.
//! A change is written behind the last one, then the count of changes. Both are read and written in a
//! process's turn.

use super::address::Address;
use super::error::Error;
use super::peer::PeerIndex;
use fi_shm::named::{Named, Turn};
use fi_shm::segment::Reservation;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The first bytes: the version of the format.
const VERSION: [u8; 8] = *b"faravec1";
/// Offset of the count of changes, 8 bytes.
const COUNT: u64 = 8;
/// Offset of the numbers, 8 bytes each, which programs may read.
const NUMBERS: u64 = 4096;
/// Most numbers that there are; peers of higher numbers are not among them.
const MOST_NUMBERS: u64 = 1 << 20;
/// Offset of the changes, [`CHANGE`] bytes each: a kind, and an address.
const CHANGES: u64 = NUMBERS + 8 * MOST_NUMBERS;
const CHANGE: usize = 4 + Address::BYTES;
const INSERTED: u8 = 1;
const REMOVED: u8 = 2;
/// The number of a peer that was removed: FI_ADDR_NOTAVAIL.
const NO_NUMBER: u64 = u64::MAX;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// An address was inserted.
    Inserted(Address),
    /// An address was removed, which has been inserted before.
    Removed(Address),
}

impl Change {
    fn to_bytes(&self) -> [u8; CHANGE] {
        let (kind, address) = match self {
            Self::Inserted(address) => (INSERTED, address),
            Self::Removed(address) => (REMOVED, address),
        };
        let mut bytes = [0; CHANGE];
        bytes[0] = kind;
        bytes[4..].copy_from_slice(&address.to_short_bytes());
        bytes
    }

    fn of_bytes(bytes: &[u8; CHANGE]) -> Result<Self, Error> {
        let [kind, 0, 0, 0, address @ ..] = bytes else {
            return Err(Error::Broken);
        };
        let address = Address::of_bytes(address).map_err(|_| Error::Broken)?;
        match *kind {
            INSERTED => Ok(Self::Inserted(address)),
            REMOVED => Ok(Self::Removed(address)),
            _ => Err(Error::Broken),
        }
    }
}

/// The open table.
#[derive(Debug)]
pub(crate) struct SharedTable {
    memory: Named,
    numbers: Reservation,
    may_change: bool,
}

impl SharedTable {
    /// Opens the table of this name; makes it where there is none, if it `may_change`.
    ///
    /// # Errors
    /// [`Error::System`]; [`Error::Broken`] where the memory is no such table.
    pub(crate) fn open(name: &[u8], may_change: bool) -> Result<Self, Error> {
        let memory = if may_change {
            Named::open_or_make(name, lay_out)
        } else {
            Named::open(name)
        };
        let memory = memory.map_err(refusal)?;
        let mut version = VERSION;
        memory.turn()?.read(0, &mut version)?;
        if version != VERSION {
            return Err(Error::Broken);
        }
        let numbers = memory.map_for_reading(CHANGES as usize)?;
        Ok(Self {
            memory,
            numbers,
            may_change,
        })
    }

    /// Returns whether it was opened to be changed.
    pub(crate) fn may_change(&self) -> bool {
        self.may_change
    }

    /// Returns the numbers of peers, as others see them, too: of 0 to the highest.
    pub(crate) fn numbers(&self) -> *const u64 {
        let address = self.numbers.base() + NUMBERS as usize;
        address as *const u64
    }

    /// Returns the changes behind the first `known` ones, and the turn in which they are the last.
    ///
    /// # Errors
    /// [`Error::System`], [`Error::Broken`].
    pub(crate) fn after(&self, known: u64) -> Result<(Vec<Change>, TableTurn<'_>), Error> {
        let turn = self.memory.turn()?;
        let mut count = [0; 8];
        turn.read(COUNT, &mut count)?;
        let count = u64::from_le_bytes(count);
        let change = |number: u64| {
            let mut bytes = [0; CHANGE];
            turn.read(CHANGES + number * CHANGE as u64, &mut bytes)?;
            Change::of_bytes(&bytes)
        };
        let changes = (known..count).map(change).collect::<Result<_, _>>()?;
        Ok((changes, TableTurn { turn, count }))
    }
}

/// The only right to change the table.
#[derive(Debug)]
pub(crate) struct TableTurn<'a> {
    turn: Turn<'a>,
    count: u64,
}

impl TableTurn<'_> {
    /// Writes a change, which gives the address this number or takes it away.
    ///
    /// # Errors
    /// [`Error::System`].
    pub(crate) fn write(&mut self, change: &Change, number: PeerIndex) -> Result<(), Error> {
        let place = CHANGES + self.count * CHANGE as u64;
        self.turn.write(place, &change.to_bytes())?;
        let count = self.count + 1;
        self.turn.write(COUNT, &count.to_le_bytes())?;
        self.count = count;
        let told = match change {
            Change::Inserted(_) => number.into(),
            Change::Removed(_) => NO_NUMBER,
        };
        let number = u64::from(number);
        if number < MOST_NUMBERS {
            self.turn.write(NUMBERS + 8 * number, &told.to_ne_bytes())?;
        }
        Ok(())
    }
}

/// Fills a new table.
fn lay_out(file: &File) -> io::Result<()> {
    file.set_len(CHANGES)?;
    file.write_all_at(&VERSION, 0)
}

/// Returns the error of opening a memory, by the system's number.
fn refusal(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::System(libc::ENOENT),
        io::ErrorKind::PermissionDenied => Error::System(libc::EACCES),
        io::ErrorKind::InvalidFilename => Error::System(libc::ENAMETOOLONG),
        _ => error.into(),
    }
}
