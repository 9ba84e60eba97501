//! A thread's registers as a signal found them.

use super::decode::{Source, Target};
use std::arch::x86_64::__cpuid_count;

/// Offset of the extended state's description in the area of floating-point registers, and its
/// mark.
const MAGIC_AT: usize = 464;
const MAGIC: u32 = 0x4650_5853;

/// The header of the extended state, and where the first 16 bytes of vector registers 0 to 15 lie.
const HEADER_AT: usize = 512;
const SSE_AT: usize = 160;

/// Components of the extended state: bytes 16 to 31 of registers 0 to 15, bytes 32 to 63 of them, registers 16 to 31.
const AVX: u32 = 2;
const HIGH_ZMM: u32 = 6;
const MORE_ZMM: u32 = 7;

/// The general registers in the order of their numbers in instructions.
const GENERAL: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

pub(super) const RAX: u8 = 0;
pub(super) const RCX: u8 = 1;
pub(super) const RSI: u8 = 6;
pub(super) const RDI: u8 = 7;

/// Strings go downwards.
const DIRECTION: i64 = 1 << 10;

/// The registers, which can be changed.
pub(super) struct Frame<'a> {
    context: &'a mut libc::ucontext_t,
}

impl<'a> Frame<'a> {
    pub(super) fn new(context: &'a mut libc::ucontext_t) -> Self {
        Self { context }
    }

    fn register(&mut self, number: libc::c_int) -> &mut i64 {
        &mut self.context.uc_mcontext.gregs[number as usize]
    }

    pub(super) fn general(&mut self, number: u8) -> u64 {
        self.register(GENERAL[usize::from(number & 15)])
            .cast_unsigned()
    }

    pub(super) fn add(&mut self, number: u8, value: i64) {
        let register = self.register(GENERAL[usize::from(number & 15)]);
        *register = register.wrapping_add(value);
    }

    /// Returns the address of the instruction.
    pub(super) fn instruction(&mut self) -> u64 {
        self.register(libc::REG_RIP).cast_unsigned()
    }

    /// Goes on behind an instruction of this length.
    pub(super) fn advance(&mut self, length: usize) {
        *self.register(libc::REG_RIP) += length as i64;
    }

    pub(super) fn goes_down(&mut self) -> bool {
        *self.register(libc::REG_EFL) & DIRECTION != 0
    }

    /// Returns the signals that were blocked.
    pub(super) fn blocked(&self) -> u64 {
        let mask = &raw const self.context.uc_sigmask;
        // SAFETY: the kernel has written the first 8 bytes of the mask, which has more.
        unsafe { mask.cast::<u64>().read_unaligned() }
    }

    /// Returns the address that an instruction of this length stores to.
    pub(super) fn address(&mut self, target: &Target, length: usize) -> u64 {
        let mut sum = target.displacement.cast_unsigned();
        if target.relative {
            sum = sum.wrapping_add(self.instruction() + length as u64);
        }
        if let Some(base) = target.base {
            sum = sum.wrapping_add(self.general(base));
        }
        if let Some((index, scale)) = target.index {
            sum = sum.wrapping_add(self.general(index).wrapping_mul(scale.into()));
        }
        if target.narrow {
            sum & 0xffff_ffff
        } else {
            sum
        }
    }

    /// Copies the bytes that are stored, for all but strings.
    pub(super) fn bytes(&mut self, source: &Source, into: &mut [u8]) {
        let value = match *source {
            Source::Immediate(value) => value.to_le_bytes(),
            Source::General {
                register,
                shift,
                swapped,
            } => {
                let mut bytes = (self.general(register) >> shift).to_le_bytes();
                if swapped {
                    bytes[..into.len()].reverse();
                }
                bytes
            }
            Source::Vector { register, from } => {
                for (at, byte) in (usize::from(from)..).zip(into) {
                    *byte = self.vector_byte(usize::from(register), at);
                }
                return;
            }
            Source::String { .. } => return,
        };
        into.copy_from_slice(&value[..into.len()]);
    }

    /// Returns byte `at` of a vector register.
    fn vector_byte(&self, register: usize, at: usize) -> u8 {
        let offset = match (register, at) {
            (0..16, 0..16) => Some(SSE_AT + 16 * register + at),
            (0..16, 16..32) => self
                .component(AVX)
                .map(|from| from + 16 * register + at - 16),
            (0..16, _) => self
                .component(HIGH_ZMM)
                .map(|from| from + 32 * register + at - 32),
            _ => self
                .component(MORE_ZMM)
                .map(|from| from + 64 * (register - 16) + at),
        };
        // A byte that is not in the frame has its initial value, 0.
        offset.map_or(0, |offset| self.state_byte(offset))
    }

    /// Returns the offset of a component of the extended state, if it is there.
    fn component(&self, number: u32) -> Option<usize> {
        let word = |at: usize, bytes: usize| {
            (0..bytes).fold(0_u64, |value, n| {
                value | u64::from(self.state_byte(at + n)) << (8 * n)
            })
        };
        if word(MAGIC_AT, 4) != u64::from(MAGIC) || word(HEADER_AT, 8) >> number & 1 == 0 {
            return None;
        }
        // The standard format, which signal frames have: the processor says where.
        Some(__cpuid_count(0xd, number).ebx as usize)
    }

    fn state_byte(&self, at: usize) -> u8 {
        let state = self.context.uc_mcontext.fpregs.cast::<u8>();
        if state.is_null() {
            return 0;
        }
        // SAFETY: the kernel has put the floating-point state there: 512 bytes, and, as MAGIC in it says, the extended state with
        // those components that its header names, at offsets that the processor gives.
        unsafe { state.add(at).read() }
    }
}
