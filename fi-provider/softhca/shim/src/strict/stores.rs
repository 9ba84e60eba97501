//! Does a store in the instruction's stead.

use super::decode::{Instruction, Source, decode};
use super::frame::{Frame, RAX, RCX, RDI, RSI};
use super::pages::{self, Watched};
use crate::wire::Store;
use std::io::Write as _;

/// The longest instruction, in bytes.
const LONGEST: usize = 15;

/// The size of a page of code.
const PAGE: u64 = 4096;

/// Does the work of the instruction that faulted at `address`, if that is in a doorbell page; says
/// whether it was. In a new child of fork `install` is called, as by [`pages::watch`].
pub(super) fn emulate(frame: &mut Frame<'_>, address: u64, install: fn()) -> bool {
    let Some(mapping) = pages::find(address, install) else {
        return false;
    };
    let mut code = [0; LONGEST];
    let at = frame.instruction();
    // The instruction may be the last one that is mapped.
    let before = (LONGEST as u64).min(PAGE - at % PAGE) as usize;
    let mut length = 0;
    if read(at, &mut code[..before]) {
        length = before;
        if before == LONGEST || read(at + before as u64, &mut code[before..]) {
            length = LONGEST;
        }
    }
    let code = &code[..length];
    match decode(code) {
        Some(instruction) => match instruction.source {
            Source::String { fill, repeated } => {
                string(frame, &mapping, &instruction, fill, repeated)
            }
            _ => plain(frame, &mapping, &instruction, code),
        },
        None => give_up("strict mode does not know this instruction", at, code),
    }
}

fn plain(frame: &mut Frame<'_>, mapping: &Watched, instruction: &Instruction, code: &[u8]) -> bool {
    let address = frame.address(&instruction.target, instruction.length);
    if mapping.room(address) < instruction.size as u64 {
        let at = frame.instruction();
        give_up("this store goes over the end of a doorbell page", at, code);
    }
    let mut bytes = [0; Store::LONGEST];
    let bytes = &mut bytes[..instruction.size];
    frame.bytes(&instruction.source, bytes);
    pages::tell(mapping, address, bytes);
    frame.advance(instruction.length);
    true
}

/// Stores a string, in pieces as long as the processor's fast form makes them: up to a multiple of
/// 64 bytes.
fn string(
    frame: &mut Frame<'_>,
    mapping: &Watched,
    instruction: &Instruction,
    fill: bool,
    repeated: bool,
) -> bool {
    let size = instruction.size as u64;
    loop {
        let left = if repeated { frame.general(RCX) } else { 1 };
        if left == 0 {
            break;
        }
        let address = frame.general(RDI);
        let room = mapping.room(address);
        if room < size {
            // The rest goes elsewhere: the instruction goes on by itself.
            return true;
        }
        let longest = Store::LONGEST as u64;
        let up = !frame.goes_down();
        let fits = room.min(longest - address % longest) / size;
        let count = if up { left.min(fits).max(1) } else { 1 };
        let mut bytes = [0; Store::LONGEST];
        let bytes = &mut bytes[..(count * size) as usize];
        if fill {
            let value = frame.general(RAX).to_le_bytes();
            for element in bytes.chunks_mut(instruction.size) {
                element.copy_from_slice(&value[..instruction.size]);
            }
        } else if !read(frame.general(RSI), bytes) {
            return false;
        }
        pages::tell(mapping, address, bytes);
        let moved = bytes.len() as i64 * if up { 1 } else { -1 };
        frame.add(RDI, moved);
        if !fill {
            frame.add(RSI, moved);
        }
        if !repeated {
            break;
        }
        frame.add(RCX, -(count as i64));
    }
    frame.advance(instruction.length);
    true
}

/// Reads this process's memory as another one would: an address that is not mapped is no fault.
fn read(address: u64, into: &mut [u8]) -> bool {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address as usize),
        iov_len: into.len(),
    };
    // SAFETY: the local buffer is valid for writes of its length; the other one is the kernel's to check.
    let got = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    usize::try_from(got) == Ok(into.len())
}

/// Ends the program: it cannot go on.
fn give_up(why: &str, at: u64, code: &[u8]) -> ! {
    // SAFETY: getpid has no requirements.
    let process = unsafe { libc::getpid() };
    // A signal handler has no memory of the heap. The words are shorter than that.
    let mut text = [0; 256];
    let mut rest = &mut text[..];
    let _ = write!(rest, "softhca: process {process}: {why}: at {at:#x}, bytes");
    for byte in code {
        let _ = write!(rest, " {byte:02x}");
    }
    let _ = writeln!(rest, "; it writes to a doorbell register");
    let room = rest.len();
    let text = &text[..text.len() - room];
    // SAFETY: the text is valid for reads of its length; abort has no requirements.
    unsafe {
        libc::syscall(
            libc::SYS_write,
            libc::STDERR_FILENO,
            text.as_ptr(),
            text.len(),
        );
        libc::abort()
    }
}
