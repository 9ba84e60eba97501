//! Instructions of x86-64 that store: as many as code that rings doorbells is made of.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2
//! (formats), 4 to 6 (MOV and its kin).
//! Instructions that read the register before they write (XCHG, ADD), that mask, or that push are
//! not among them.

/// An instruction that stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// Bytes of the instruction.
    pub(crate) length: usize,
    /// Address that it stores to.
    pub(crate) target: Target,
    /// Bytes that it stores; of one element for [`Source::String`].
    pub(crate) size: usize,
    /// Source of the bytes that it stores.
    pub(crate) source: Source,
}

/// The address: the sum of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    /// A general register.
    pub(crate) base: Option<u8>,
    /// A general register, and its factor.
    pub(crate) index: Option<(u8, u8)>,
    /// A constant.
    pub(crate) displacement: i64,
    /// The address of the next instruction is added.
    pub(crate) relative: bool,
    /// The sum has 32 bits.
    pub(crate) narrow: bool,
}

/// Source of the bytes that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A general register, shifted right by some bits; its bytes in reverse if `swapped`.
    General {
        register: u8,
        shift: u8,
        swapped: bool,
    },
    /// A constant.
    Immediate(u64),
    /// A vector register, from some byte on.
    Vector { register: u8, from: u8 },
    /// Memory at RSI, or RAX again and again if `fill`; RCX elements if `repeated`, else one.
    String { fill: bool, repeated: bool },
}

/// The mandatory prefix of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    None,
    X66,
    XF3,
    XF2,
}

/// The prefixes of an instruction, of any encoding.
#[derive(Clone, Copy, Debug)]
struct Prefixes {
    prefix: Prefix,
    /// There is a REX prefix.
    rex: bool,
    /// 64 bits.
    wide: bool,
    /// Numbers added to those of registers: in the field `reg`, as index, as base.
    reg: u8,
    index: u8,
    base: u8,
    /// Bytes of vectors.
    vector: usize,
    narrow: bool,
    /// EVEX: displacements of a byte count stores.
    scaled: bool,
}

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.code.get(self.at).copied()
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Reads a signed number of so many bytes.
    fn number(&mut self, bytes: usize) -> Option<i64> {
        let mut value = 0_u64;
        for n in 0..bytes {
            value |= u64::from(self.byte()?) << (8 * n);
        }
        let unused = 64 - 8 * bytes as u32;
        Some((value << unused).cast_signed() >> unused)
    }
}

/// Returns the instruction at the start of `code`, if it is one that is known here.
pub(crate) fn decode(code: &[u8]) -> Option<Instruction> {
    let mut reader = Reader { code, at: 0 };
    let mut prefixes = Prefixes {
        prefix: Prefix::None,
        rex: false,
        wide: false,
        reg: 0,
        index: 0,
        base: 0,
        vector: 16,
        narrow: false,
        scaled: false,
    };
    let mut narrow_operand = false;
    loop {
        match reader.peek()? {
            0x66 => narrow_operand = true,
            0x67 => prefixes.narrow = true,
            0xf2 => prefixes.prefix = Prefix::XF2,
            0xf3 => prefixes.prefix = Prefix::XF3,
            // Segments that are flat.
            0x26 | 0x2e | 0x36 | 0x3e => {}
            _ => break,
        }
        reader.byte();
    }
    match reader.peek()? {
        0xc4 | 0xc5 if !narrow_operand && prefixes.prefix == Prefix::None => {
            return vex(&mut reader, prefixes);
        }
        0x62 if !narrow_operand && prefixes.prefix == Prefix::None => {
            return evex(&mut reader, prefixes);
        }
        rex @ 0x40..=0x4f => {
            prefixes.rex = true;
            prefixes.wide = rex & 8 != 0;
            prefixes.reg = (rex & 4) << 1;
            prefixes.index = (rex & 2) << 2;
            prefixes.base = (rex & 1) << 3;
            reader.byte();
        }
        _ => {}
    }
    let size = match (prefixes.wide, narrow_operand) {
        (true, _) => 8,
        (false, true) => 2,
        (false, false) => 4,
    };
    match reader.byte()? {
        0x0f => {}
        opcode => return general(&mut reader, &prefixes, opcode, size),
    }
    if prefixes.prefix == Prefix::None && narrow_operand {
        prefixes.prefix = Prefix::X66;
    }
    match reader.byte()? {
        // MOVNTI
        0xc3 if prefixes.prefix == Prefix::None => register(&mut reader, &prefixes, size, false),
        0x38 => match (reader.byte()?, prefixes.prefix) {
            // MOVBE
            (0xf1, Prefix::None | Prefix::X66) => register(&mut reader, &prefixes, size, true),
            // MOVDIRI
            (0xf9, Prefix::None) => register(&mut reader, &prefixes, size, false),
            _ => None,
        },
        0x3a => {
            let opcode = reader.byte()?;
            extract(&mut reader, &prefixes, opcode)
        }
        opcode => vector(&mut reader, &prefixes, opcode),
    }
}

/// Decodes MOV of general registers and constants, and strings.
fn general(
    reader: &mut Reader<'_>,
    prefixes: &Prefixes,
    opcode: u8,
    size: usize,
) -> Option<Instruction> {
    let string = |fill, size, reader: &Reader<'_>| Instruction {
        length: reader.at,
        target: Target {
            base: Some(7),
            narrow: prefixes.narrow,
            ..Target::default()
        },
        size,
        source: Source::String {
            fill,
            repeated: prefixes.prefix != Prefix::None,
        },
    };
    match opcode {
        0x88 => register(reader, prefixes, 1, false),
        0x89 => register(reader, prefixes, size, false),
        0xa4 => Some(string(false, 1, reader)),
        0xa5 => Some(string(false, size, reader)),
        0xaa => Some(string(true, 1, reader)),
        0xab => Some(string(true, size, reader)),
        0xc6 | 0xc7 => {
            let size = if opcode == 0xc6 { 1 } else { size };
            let (digit, target) = operand(reader, prefixes, size)?;
            let value = reader.number(size.min(4))?.cast_unsigned();
            (digit & 7 == 0).then_some(Instruction {
                length: reader.at,
                target,
                size,
                source: Source::Immediate(value),
            })
        }
        _ => None,
    }
}

/// Stores a general register.
fn register(
    reader: &mut Reader<'_>,
    prefixes: &Prefixes,
    size: usize,
    swapped: bool,
) -> Option<Instruction> {
    let (number, target) = operand(reader, prefixes, size)?;
    // AH, CH, DH, BH.
    let high = size == 1 && !prefixes.rex && number >= 4;
    let (register, shift) = if high { (number - 4, 8) } else { (number, 0) };
    Some(Instruction {
        length: reader.at,
        target,
        size,
        source: Source::General {
            register,
            shift,
            swapped,
        },
    })
}

/// Stores a vector register, or a part of it.
fn vector(reader: &mut Reader<'_>, prefixes: &Prefixes, opcode: u8) -> Option<Instruction> {
    use Prefix::{None as NoPrefix, X66, XF2, XF3};
    let (size, from) = match (opcode, prefixes.prefix) {
        // MOVUPS, MOVUPD, MOVSS, MOVSD
        (0x11, NoPrefix | X66) => (prefixes.vector, 0),
        (0x11, XF3) => (4, 0),
        (0x11, XF2) => (8, 0),
        // MOVLPS, MOVLPD, MOVHPS, MOVHPD
        (0x13, NoPrefix | X66) => (8, 0),
        (0x17, NoPrefix | X66) => (8, 8),
        // MOVAPS, MOVAPD, MOVNTPS, MOVNTPD
        (0x29 | 0x2b, NoPrefix | X66) => (prefixes.vector, 0),
        // MOVD, MOVQ
        (0x7e, X66) => (if prefixes.wide { 8 } else { 4 }, 0),
        (0xd6, X66) => (8, 0),
        // MOVDQA, MOVDQU, VMOVDQU8, VMOVDQU16, MOVNTDQ
        (0x7f, X66 | XF3) | (0xe7, X66) => (prefixes.vector, 0),
        (0x7f, XF2) if prefixes.scaled => (prefixes.vector, 0),
        _ => return None,
    };
    let (register, target) = operand(reader, prefixes, size)?;
    Some(Instruction {
        length: reader.at,
        target,
        size,
        source: Source::Vector { register, from },
    })
}

/// Stores a part of a vector register that a constant names.
fn extract(reader: &mut Reader<'_>, prefixes: &Prefixes, opcode: u8) -> Option<Instruction> {
    let size = match opcode {
        // PEXTRD, PEXTRQ, EXTRACTPS
        0x16 if prefixes.wide => 8,
        0x16 | 0x17 => 4,
        // VEXTRACTF128, VEXTRACTI128, VEXTRACTF32X4, ...
        0x19 | 0x39 if prefixes.vector > 16 => 16,
        // VEXTRACTF64X4, VEXTRACTF32X8, ...
        0x1b | 0x3b if prefixes.vector == 64 => 32,
        _ => return None,
    };
    let (register, target) = operand(reader, prefixes, size)?;
    let which = reader.byte()? as usize & (prefixes.vector / size - 1);
    (prefixes.prefix == Prefix::X66).then_some(Instruction {
        length: reader.at,
        target,
        size,
        source: Source::Vector {
            register,
            from: (which * size) as u8,
        },
    })
}

fn vex(reader: &mut Reader<'_>, mut prefixes: Prefixes) -> Option<Instruction> {
    let long = reader.byte()? == 0xc4;
    let first = reader.byte()?;
    prefixes.reg = (!first >> 7) << 3;
    let (mut map, mut last) = (1, first);
    if long {
        prefixes.index = (!first >> 6 & 1) << 3;
        prefixes.base = (!first >> 5 & 1) << 3;
        map = first & 0x1f;
        last = reader.byte()?;
        prefixes.wide = last & 0x80 != 0;
    }
    prefixes.vector = if last & 4 == 0 { 16 } else { 32 };
    prefixes.prefix = mandatory(last);
    // A register that no store has.
    if last >> 3 & 15 != 15 {
        return None;
    }
    let opcode = reader.byte()?;
    match map {
        1 => vector(reader, &prefixes, opcode),
        3 => extract(reader, &prefixes, opcode),
        _ => None,
    }
}

fn evex(reader: &mut Reader<'_>, mut prefixes: Prefixes) -> Option<Instruction> {
    reader.byte()?;
    let (first, second, third) = (reader.byte()?, reader.byte()?, reader.byte()?);
    prefixes.reg = (!first >> 7) << 3 | (!first >> 4 & 1) << 4;
    prefixes.index = (!first >> 6 & 1) << 3;
    prefixes.base = (!first >> 5 & 1) << 3;
    prefixes.wide = second & 0x80 != 0;
    prefixes.prefix = mandatory(second);
    prefixes.vector = match third >> 5 & 3 {
        0 => 16,
        1 => 32,
        2 => 64,
        _ => return None,
    };
    prefixes.scaled = true;
    // No further register, no mask, no broadcast.
    if first & 8 != 0 || second & 0x7c != 0x7c || third & 0x9f != 0x08 {
        return None;
    }
    let opcode = reader.byte()?;
    match first & 7 {
        1 => vector(reader, &prefixes, opcode),
        3 => extract(reader, &prefixes, opcode),
        _ => None,
    }
}

fn mandatory(bits: u8) -> Prefix {
    [Prefix::None, Prefix::X66, Prefix::XF3, Prefix::XF2][usize::from(bits & 3)]
}

/// Returns the register and the memory that ModRM and the bytes behind it name; `size` bytes are
/// stored.
fn operand(reader: &mut Reader<'_>, prefixes: &Prefixes, size: usize) -> Option<(u8, Target)> {
    let modrm = reader.byte()?;
    let (mode, low) = (modrm >> 6, modrm & 7);
    let mut target = Target {
        narrow: prefixes.narrow,
        ..Target::default()
    };
    let mut absolute = false;
    match (mode, low) {
        (3, _) => return None,
        (_, 4) => {
            let sib = reader.byte()?;
            let index = sib >> 3 & 7 | prefixes.index;
            target.index = (index != 4).then_some((index, 1 << (sib >> 6)));
            absolute = mode == 0 && sib & 7 == 5;
            target.base = (!absolute).then_some(sib & 7 | prefixes.base);
        }
        (0, 5) => {
            target.relative = true;
            absolute = true;
        }
        _ => target.base = Some(low | prefixes.base),
    }
    target.displacement = match mode {
        1 if prefixes.scaled => reader.number(1)? * size as i64,
        1 => reader.number(1)?,
        2 => reader.number(4)?,
        _ if absolute => reader.number(4)?,
        _ => 0,
    };
    Some((modrm >> 3 & 7 | prefixes.reg, target))
}
