//! Takes whole entries apart, as a device does with the bytes of a ring. Any bytes are an entry or
//! an error.

use crate::atomic::Arithmetic;
use crate::opcode::Opcode;
use crate::wqe::{
    Atomic, CompactAddress, Control, Data, END_OF_LIST_KEY, GlobalRoute, INLINE,
    MaskedCompareSwap32, MaskedCompareSwap64, MaskedFetchAdd32, MaskedFetchAdd64, RemoteAddress,
    UNIT, inline_len, masked_modifier,
};
use bytemuck::Pod;
use std::mem::size_of;

/// Bytes that are no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// It ends within a segment.
    #[error("the entry ends within a segment")]
    Short,
    /// The opcode is not known.
    #[error("opcode {0:#x} is not known")]
    Opcode(u8),
    /// The operation modifier does not go with the opcode.
    #[error("operation modifier {0:#x} does not go with the opcode")]
    Modifier(u8),
    /// Data segments do not go with the operation.
    #[error("the data segments do not go with the operation")]
    Data,
}

/// Kind of queue that entries come from: it tells which segments follow the control segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A connected queue pair.
    Connected,
    /// Each entry carries the address of its peer.
    Addressed,
}

/// Operation that a WQE requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Nop,
    /// Send, with immediate data where given.
    Send(Option<u32>),
    /// Write, with immediate data where given.
    Write(RemoteAddress, Option<u32>),
    /// Read.
    Read(RemoteAddress),
    /// An atomic of this many bytes.
    Atomic(RemoteAddress, Arithmetic, usize),
    /// Known, but of no data: sends that invalidate, changes of keys.
    Other(Opcode),
}

/// An entry, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The control segment.
    pub control: Control,
    /// The peer, where the service has it in the entry.
    pub address: Option<CompactAddress>,
    /// The global route to it.
    pub route: Option<GlobalRoute>,
    /// The requested operation.
    pub operation: Operation,
    /// Pieces of the data.
    pub pieces: Pieces<'a>,
}

/// A piece of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// In the entry.
    Inline(&'a [u8]),
    /// In local memory.
    Local {
        /// Address, in the terms of the key.
        address: u64,
        /// Bytes; the field's 0 stands for 2^31.
        length: u32,
        /// Local key.
        lkey: u32,
    },
}

impl Piece<'_> {
    /// Returns the number of its bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Local { length, .. } => u64::from(*length),
        }
    }

    /// Returns whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The data segments of an entry or a receive.
#[derive(Clone, Copy, Debug)]
pub struct Pieces<'a>(&'a [u8]);

impl<'a> Pieces<'a> {
    /// Returns the pieces in the bytes of a receive, behind the linking segment if it has one.
    #[must_use]
    pub fn of_receive(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns all the pieces.
    ///
    /// # Errors
    /// [`Malformed::Short`] when the last one is not whole.
    pub fn collect(mut self) -> Result<Vec<Piece<'a>>, Malformed> {
        let mut pieces = Vec::new();
        while let Some(piece) = self.next_piece()? {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    fn next_piece(&mut self) -> Result<Option<Piece<'a>>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let word = u32::from_be_bytes(*self.0.first_chunk().ok_or(Malformed::Short)?);
        if word & INLINE != 0 {
            let length = (word & !INLINE) as usize;
            let data = self.0[4..].get(..length).ok_or(Malformed::Short)?;
            self.0 = self.0.get(inline_len(length)..).unwrap_or_default();
            return Ok(Some(Piece::Inline(data)));
        }
        let segment: Data = take(&mut self.0)?;
        if segment.lkey.get() == END_OF_LIST_KEY && word == 0 {
            self.0 = &[];
            return Ok(None);
        }
        Ok(Some(Piece::Local {
            address: segment.address.get(),
            length: if word == 0 { INLINE } else { word },
            lkey: segment.lkey.get(),
        }))
    }
}

fn take<T: Pod>(bytes: &mut &[u8]) -> Result<T, Malformed> {
    let (head, rest) = bytes
        .split_at_checked(size_of::<T>())
        .ok_or(Malformed::Short)?;
    *bytes = rest;
    Ok(bytemuck::pod_read_unaligned(head))
}

/// Returns the control segment at the start of `bytes`.
///
/// # Errors
/// [`Malformed::Short`] for less than 16 bytes.
pub fn control(mut bytes: &[u8]) -> Result<Control, Malformed> {
    take(&mut bytes)
}

/// Takes an entry apart. `bytes` start with it and hold at least its length; the bytes behind it
/// are not looked at.
///
/// # Errors
/// [`Malformed`] for bytes that are no entry. Data segments are checked by [`Pieces::collect`].
pub fn request(bytes: &[u8], service: Service) -> Result<Request<'_>, Malformed> {
    let units = control(bytes)?.units();
    let mut rest = bytes.get(..units * UNIT).ok_or(Malformed::Short)?;
    let control: Control = take(&mut rest)?;
    let opcode =
        Opcode::from_number(control.opcode()).ok_or(Malformed::Opcode(control.opcode()))?;
    let (mut address, mut route) = (None, None);
    if service == Service::Addressed && !matches!(opcode, Opcode::Nop | Opcode::Umr) {
        let vector: CompactAddress = take(&mut rest)?;
        if vector.is_extended() {
            route = Some(take(&mut rest)?);
        }
        address = Some(vector);
    }
    let immediate = control.immediate.get();
    let operation = match opcode {
        Opcode::Nop => {
            rest = &[];
            Operation::Nop
        }
        Opcode::Send => Operation::Send(None),
        Opcode::SendImmediate => Operation::Send(Some(immediate)),
        Opcode::Write => Operation::Write(take(&mut rest)?, None),
        Opcode::WriteImmediate => Operation::Write(take(&mut rest)?, Some(immediate)),
        Opcode::Read => Operation::Read(take(&mut rest)?),
        Opcode::CompareSwap
        | Opcode::FetchAdd
        | Opcode::MaskedCompareSwap
        | Opcode::MaskedFetchAdd => atomic(opcode, control.modifier(), &mut rest)?,
        Opcode::SendInvalidate | Opcode::Umr => Operation::Other(opcode),
    };
    Ok(Request {
        control,
        address,
        route,
        operation,
        pieces: Pieces(rest),
    })
}

fn atomic(opcode: Opcode, modifier: u8, rest: &mut &[u8]) -> Result<Operation, Malformed> {
    let remote = take(rest)?;
    let (four, eight) = (
        modifier == masked_modifier(4),
        modifier == masked_modifier(8),
    );
    let (arithmetic, size) = match opcode {
        Opcode::CompareSwap => {
            let s: Atomic = take(rest)?;
            (
                Arithmetic::compare_swap(s.swap_or_add.get(), s.compare.get()),
                8,
            )
        }
        Opcode::FetchAdd => {
            let s: Atomic = take(rest)?;
            (Arithmetic::fetch_add(s.swap_or_add.get()), 8)
        }
        Opcode::MaskedCompareSwap if eight => {
            let s: MaskedCompareSwap64 = take(rest)?;
            let masked = Arithmetic::CompareSwap {
                swap: s.swap.get(),
                compare: s.compare.get(),
                swap_mask: s.swap_mask.get(),
                compare_mask: s.compare_mask.get(),
            };
            (masked, 8)
        }
        Opcode::MaskedCompareSwap if four => {
            let s: MaskedCompareSwap32 = take(rest)?;
            let masked = Arithmetic::CompareSwap {
                swap: s.swap.get().into(),
                compare: s.compare.get().into(),
                swap_mask: s.swap_mask.get().into(),
                compare_mask: s.compare_mask.get().into(),
            };
            (masked, 4)
        }
        Opcode::MaskedFetchAdd if eight => {
            let s: MaskedFetchAdd64 = take(rest)?;
            let (add, field_boundary) = (s.add.get(), s.field_boundary.get());
            (
                Arithmetic::FetchAdd {
                    add,
                    field_boundary,
                },
                8,
            )
        }
        Opcode::MaskedFetchAdd if four => {
            let s: MaskedFetchAdd32 = take(rest)?;
            let (add, field_boundary) = (s.add.get().into(), s.field_boundary.get().into());
            (
                Arithmetic::FetchAdd {
                    add,
                    field_boundary,
                },
                4,
            )
        }
        _ => return Err(Malformed::Modifier(modifier)),
    };
    Ok(Operation::Atomic(remote, arithmetic, size))
}
