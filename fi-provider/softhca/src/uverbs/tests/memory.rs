//! Registered memory, and how much of it a process may have.

use super::{Bench, Given};
use crate::uverbs::abi::{DRIVER_OUT, RegMr, command, invoke_write};
use crate::uverbs::{Errno, Settings};
use bytemuck::{Zeroable, bytes_of, pod_read_unaligned};

/// The end of the address space, in whole pages.
const END: u64 = u64::MAX - 4095;

/// Registers memory in a new domain.
fn register(bench: &mut Bench, start: u64, length: u64) -> Result<(), Errno> {
    let given = [
        Given::In(invoke_write::CORE_IN, &[0; 8]),
        Given::Out(invoke_write::CORE_OUT, 4),
        Given::Out(DRIVER_OUT, 4),
    ];
    let domain = bench.write_command(command::ALLOC_PD, &given)?;
    let request = RegMr {
        start,
        length,
        hca_va: 0,
        pd: pod_read_unaligned(&domain[0]),
        access: 1,
        ..Zeroable::zeroed()
    };
    let given = [
        Given::In(invoke_write::CORE_IN, bytes_of(&request)),
        Given::Out(invoke_write::CORE_OUT, 12),
    ];
    bench.write_command(command::REG_MR, &given).map(drop)
}

#[test]
fn a_length_near_the_end_of_numbers_is_beyond_every_limit() {
    let mut bench = Bench::with(Settings {
        max_pinned: Some(1 << 20),
        ..Settings::default()
    });
    bench.get_context(32, 0).expect("a context");
    register(&mut bench, 0, 8192).expect("two pages");
    // With the two pages, nothing at all if the sum wrapped around.
    assert_eq!(register(&mut bench, 0, END - 4096), Err(Errno::NO_MEMORY));
    assert_eq!(
        register(&mut bench, 4096, END - 4096),
        Err(Errno::NO_MEMORY)
    );
    assert_eq!(register(&mut bench, 0, u64::MAX), Err(Errno::NO_MEMORY));
    register(&mut bench, 0, 8192).expect("two pages more");
}

#[test]
fn what_was_registered_without_a_limit_counts_when_there_is_one() {
    let mut bench = Bench::ready();
    register(&mut bench, 0, END).expect("no limit yet");
    register(&mut bench, 0, 8192).expect("no limit yet");
    bench.device.settings.max_pinned = Some(1 << 20);
    assert_eq!(register(&mut bench, 0, 4096), Err(Errno::NO_MEMORY));
}
