//! The shim's decoder alone: the meanings that it gives to instructions, and that it leaves alone
//! those that it does not know. That stores are done as the processor does them is tried in
//! `strict.rs`.

#[path = "../shim/src/strict/decode.rs"]
mod decode;

use decode::{Instruction, Source, Target, decode};
use proptest::prelude::*;

fn base(register: u8) -> Target {
    Target {
        base: Some(register),
        ..Target::default()
    }
}

fn general(register: u8) -> Source {
    Source::General {
        register,
        shift: 0,
        swapped: false,
    }
}

fn vector(register: u8, from: u8) -> Source {
    Source::Vector { register, from }
}

type Case = (&'static [u8], Target, usize, Source);

fn known() -> [Case; 12] {
    [
        // mov %rdx,(%rax)
        (&[0x48, 0x89, 0x10], base(0), 8, general(2)),
        // mov %r9d,(%r12)
        (&[0x45, 0x89, 0x0c, 0x24], base(12), 4, general(9)),
        // movw %ax,-8(%rbp)
        (
            &[0x66, 0x89, 0x45, 0xf8],
            Target {
                displacement: -8,
                ..base(5)
            },
            2,
            general(0),
        ),
        // mov %rax,0x100(%rip)
        (
            &[0x48, 0x89, 0x05, 0, 1, 0, 0],
            Target {
                displacement: 0x100,
                relative: true,
                ..Target::default()
            },
            8,
            general(0),
        ),
        // mov %rax,0x10(,%rbx,8)
        (
            &[0x48, 0x89, 0x04, 0xdd, 0x10, 0, 0, 0],
            Target {
                index: Some((3, 8)),
                displacement: 0x10,
                ..Target::default()
            },
            8,
            general(0),
        ),
        // mov %rax,(%edi)
        (
            &[0x67, 0x48, 0x89, 0x07],
            Target {
                narrow: true,
                ..base(7)
            },
            8,
            general(0),
        ),
        // movq $-2,(%rdi)
        (
            &[0x48, 0xc7, 0x07, 0xfe, 0xff, 0xff, 0xff],
            base(7),
            8,
            Source::Immediate(u64::MAX - 1),
        ),
        // movdiri %rax,(%rdi)
        (&[0x48, 0x0f, 0x38, 0xf9, 0x07], base(7), 8, general(0)),
        // movhps %xmm9,(%rdi)
        (&[0x44, 0x0f, 0x17, 0x0f], base(7), 8, vector(9, 8)),
        // vmovdqu %ymm12,(%r8)
        (&[0xc4, 0x41, 0x7e, 0x7f, 0x20], base(8), 32, vector(12, 0)),
        // vmovdqu64 %zmm16,-64(%rdi,%rdx)
        (
            &[0x62, 0xe1, 0xfe, 0x48, 0x7f, 0x44, 0x17, 0xff],
            Target {
                index: Some((2, 1)),
                displacement: -64,
                ..base(7)
            },
            64,
            vector(16, 0),
        ),
        // rep movsq
        (
            &[0xf3, 0x48, 0xa5],
            base(7),
            8,
            Source::String {
                fill: false,
                repeated: true,
            },
        ),
    ]
}

#[test]
fn instructions_are_taken_for_what_they_are() {
    for (code, target, size, source) in known() {
        let length = code.len();
        let expected = Instruction {
            length,
            target,
            size,
            source,
        };
        let followed = [code, &[0x90; 4]].concat();
        assert_eq!(decode(&followed), Some(expected), "{code:02x?}");
        for cut in 0..length {
            assert_eq!(decode(&code[..cut]), None, "{code:02x?} up to {cut}");
        }
    }
}

#[test]
fn what_does_more_than_to_store_is_not_known() {
    let cases: [&[u8]; 12] = [
        &[0x48, 0x87, 0x02],                   // xchg %rax,(%rdx)
        &[0x48, 0x01, 0x02],                   // add %rax,(%rdx)
        &[0xf0, 0x48, 0x0f, 0xb1, 0x0a],       // lock cmpxchg %rcx,(%rdx)
        &[0x48, 0x0f, 0xc7, 0x0a],             // cmpxchg16b (%rdx)
        &[0x64, 0x48, 0x89, 0x02],             // mov %rax,%fs:(%rdx)
        &[0x48, 0x8b, 0x02],                   // mov (%rdx),%rax
        &[0x48, 0x89, 0xc2],                   // mov %rax,%rdx
        &[0x48, 0xc7, 0x0a, 0, 0, 0, 0],       // another number in the place of the register
        &[0xf2, 0x48, 0x0f, 0x38, 0xf1, 0x02], // crc32q (%rdx),%rax
        &[0x66, 0x0f, 0x38, 0xf8, 0x02],       // movdir64b (%rdx),%rax
        &[0x62, 0xf1, 0xfe, 0x49, 0x7f, 0x07], // vmovdqu64 %zmm0,(%rdi){%k1}
        &[0x0f, 0x7f, 0x07],                   // movq %mm0,(%rdi)
    ];
    for code in cases {
        let followed = [code, &[0x90; 8]].concat();
        assert_eq!(decode(&followed), None, "{code:02x?}");
    }
}

proptest! {
    #[test]
    fn any_bytes(code in prop::collection::vec(any::<u8>(), 0..16)) {
        if let Some(instruction) = decode(&code) {
            prop_assert!(instruction.length <= code.len());
            prop_assert!((1..=64).contains(&instruction.size));
            if let Source::Vector { register, from } = instruction.source {
                prop_assert!(register < 32 && usize::from(from) + instruction.size <= 64);
            }
        }
    }
}
