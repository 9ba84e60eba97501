//! One ioctl: its attributes, its inputs, and where its outputs belong.

use super::abi::{FLAG_VALID_OUTPUT, IoctlAttribute, IoctlHeader, invoke_write, method, object};
use super::{Errno, Host};
use crate::engine::Pid;
use bytemuck::{Pod, Zeroable, bytes_of, bytes_of_mut};
use std::fmt;

/// No method has more attributes than this.
const MOST_ATTRIBUTES: usize = 64;

/// A descriptor that goes back with the answer, and where its number belongs in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// The event queue whose reading end it is.
    pub(crate) queue: u64,
    /// The address of its number.
    pub(crate) at: u64,
    /// 4 or 8 bytes.
    pub(crate) size: u32,
}

/// An ioctl that a process makes.
pub(crate) struct Call<'a> {
    pub(crate) host: &'a mut dyn Host,
    pub(crate) process: Pid,
    pub(crate) object: u16,
    pub(crate) method: u16,
    pub(crate) descriptor: Option<Descriptor>,
    at: u64,
    attributes: Vec<IoctlAttribute>,
}

impl<'a> Call<'a> {
    /// Reads header and attributes at address `at` of the process.
    pub(crate) fn read(host: &'a mut dyn Host, process: Pid, at: u64) -> Result<Self, Errno> {
        let mut header = IoctlHeader::zeroed();
        host.read(process, at, bytes_of_mut(&mut header))?;
        let count = usize::from(header.attributes);
        let length = size_of::<IoctlHeader>() + count * size_of::<IoctlAttribute>();
        if usize::from(header.length) != length || count > MOST_ATTRIBUTES {
            return Err(Errno::INVALID);
        }
        if header.reserved1 != 0 || header.reserved2 != 0 {
            return Err(Errno::PROTOCOL);
        }
        let mut attributes = vec![IoctlAttribute::zeroed(); count];
        let first = at
            .checked_add(size_of::<IoctlHeader>() as u64)
            .ok_or(Errno::FAULT)?;
        host.read(
            process,
            first,
            bytemuck::cast_slice_mut(attributes.as_mut_slice()),
        )?;
        Ok(Self {
            host,
            process,
            object: header.object,
            method: header.method,
            descriptor: None,
            at,
            attributes,
        })
    }

    fn find(&self, id: u16) -> Option<(usize, IoctlAttribute)> {
        let index = self.attributes.iter().position(|found| found.id == id)?;
        Some((index, self.attributes[index]))
    }

    /// Returns true when the call has this attribute.
    pub(crate) fn has(&self, id: u16) -> bool {
        self.find(id).is_some()
    }

    /// Returns the bytes of an input: up to 8 stand in the attribute itself, more where it points
    /// to.
    pub(crate) fn input(&mut self, id: u16) -> Result<Vec<u8>, Errno> {
        let (_, attribute) = self.find(id).ok_or(Errno::INVALID)?;
        let length = usize::from(attribute.length);
        if length <= 8 {
            return Ok(attribute.data.to_ne_bytes()[..length].to_vec());
        }
        let mut bytes = vec![0; length];
        self.host.read(self.process, attribute.data, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns an input that is at least as long as `T`.
    pub(crate) fn structure<T: Pod>(&mut self, id: u16) -> Result<T, Errno> {
        let bytes = self.input(id)?;
        let bytes = bytes.get(..size_of::<T>()).ok_or(Errno::NO_SPACE)?;
        Ok(bytemuck::pod_read_unaligned(bytes))
    }

    /// Returns an input of a program that may know a shorter or longer `T`: missing bytes count as
    /// zero, and further bytes must be zero.
    pub(crate) fn versioned<T: Pod>(&mut self, id: u16) -> Result<T, Errno> {
        let given = if self.has(id) {
            self.input(id)?
        } else {
            Vec::new()
        };
        let mut value = T::zeroed();
        let known = given.len().min(size_of::<T>());
        bytes_of_mut(&mut value)[..known].copy_from_slice(&given[..known]);
        if given[known..].iter().any(|byte| *byte != 0) {
            return Err(Errno::NOT_SUPPORTED);
        }
        Ok(value)
    }

    /// Returns an input that is a number of up to 8 bytes.
    pub(crate) fn number(&self, id: u16) -> Result<u64, Errno> {
        let (_, attribute) = self.find(id).ok_or(Errno::INVALID)?;
        match attribute.length {
            8 => Ok(attribute.data),
            4 => Ok(attribute.data & 0xffff_ffff),
            _ => Err(Errno::INVALID),
        }
    }

    /// Returns the handle in an attribute that names an object.
    pub(crate) fn handle(&self, id: u16) -> Result<u32, Errno> {
        let (_, attribute) = self.find(id).ok_or(Errno::INVALID)?;
        u32::try_from(attribute.data).map_err(|_| Errno::INVALID)
    }

    /// Writes an output as far as the program has room for it, and zeros behind; without the attribute nothing is written.
    pub(crate) fn output(&mut self, id: u16, bytes: &[u8]) -> Result<(), Errno> {
        let Some((index, attribute)) = self.find(id) else {
            return Ok(());
        };
        let mut padded = vec![0; usize::from(attribute.length)];
        let known = bytes.len().min(padded.len());
        padded[..known].copy_from_slice(&bytes[..known]);
        self.host.write(self.process, attribute.data, &padded)?;
        let flags = attribute.flags | FLAG_VALID_OUTPUT;
        let at = self.address_of(index) + std::mem::offset_of!(IoctlAttribute, flags) as u64;
        Ok(self.host.write(self.process, at, &flags.to_ne_bytes())?)
    }

    /// Writes a structure as an output.
    pub(crate) fn answer<T: Pod>(&mut self, id: u16, value: &T) -> Result<(), Errno> {
        self.output(id, bytes_of(value))
    }

    /// Returns the bytes of room that the program has for an output; 0 without the attribute.
    pub(crate) fn room(&self, id: u16) -> usize {
        self.find(id)
            .map_or(0, |(_, attribute)| usize::from(attribute.length))
    }

    /// Writes the handle of a new object.
    pub(crate) fn new_handle(&mut self, id: u16, handle: u32) -> Result<(), Errno> {
        let at = self.data_of(id)?;
        Ok(self
            .host
            .write(self.process, at, &u64::from(handle).to_ne_bytes())?)
    }

    /// Lets the number of a new descriptor be written into an attribute.
    pub(crate) fn new_descriptor(&mut self, id: u16, queue: u64) -> Result<(), Errno> {
        let at = self.data_of(id)?;
        self.descriptor = Some(Descriptor { queue, at, size: 8 });
        Ok(())
    }

    /// Lets the number of a new descriptor be written to the start of an output.
    pub(crate) fn new_descriptor_in_output(&mut self, id: u16, queue: u64) -> Result<(), Errno> {
        let (_, attribute) = self.find(id).ok_or(Errno::INVALID)?;
        if attribute.length < 4 {
            return Err(Errno::NO_SPACE);
        }
        self.output(id, &[])?;
        self.descriptor = Some(Descriptor {
            queue,
            at: attribute.data,
            size: 4,
        });
        Ok(())
    }

    fn address_of(&self, index: usize) -> u64 {
        // An address that wraps leads to a fault, not to a panic.
        self.at
            .wrapping_add((size_of::<IoctlHeader>() + index * size_of::<IoctlAttribute>()) as u64)
    }

    fn data_of(&self, id: u16) -> Result<u64, Errno> {
        let (index, _) = self.find(id).ok_or(Errno::INVALID)?;
        Ok(self.address_of(index) + std::mem::offset_of!(IoctlAttribute, data) as u64)
    }
}

impl fmt::Display for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (self.object, self.method) != (object::DEVICE, method::INVOKE_WRITE) {
            return write!(f, "object {:#x}, method {:#x}", self.object, self.method);
        }
        match self.number(invoke_write::COMMAND) {
            Ok(number) if number & invoke_write::EXTENDED != 0 => {
                write!(f, "extended command {}", number & !invoke_write::EXTENDED)
            }
            Ok(number) => write!(f, "command {number}"),
            Err(_) => write!(f, "a command without a number"),
        }
    }
}
