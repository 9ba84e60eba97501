//! Refused operations, which have no effect.

#![expect(
    unsafe_code,
    reason = "what is refused here would otherwise be no memory of anybody's"
)]

use crate::access::Place;
use crate::lane::Lane;
use crate::party::Party;
use crate::transport::{Transport, check};
use bytemuck::{Pod, Zeroable};
use fi_provider::symmetric::Error;
use fi_provider::symmetric::endpoint::Endpoint;
use std::ptr::{null, null_mut};

/// Returns a place that the fabric has to refuse, with any contents.
fn wild<T>(addr: usize) -> Place<T> {
    Place {
        at: addr as *mut T,
        room: usize::MAX,
    }
}

/// Returns the errors of every operation on one element.
fn element_errors<T: Pod>(lane: &Lane, at: Place<T>, peer: u32) -> Vec<Option<Error>> {
    let value = T::zeroed();
    vec![
        lane.inject(value, at, peer).err(),
        lane.read_element(at, peer).err(),
        lane.write(at, &[value], peer).err(),
        lane.read(&mut [value], at, peer).err(),
        lane.start_writes(&[(at, &[value])], peer).err(),
        lane.start_reads(&mut [(&mut [value], at)], peer).err(),
    ]
}

/// Returns the errors of every atomic operation.
fn atomic_errors<T: fi_provider::symmetric::atomic::Integer + Pod>(
    lane: &Lane,
    at: Place<T>,
    peer: u32,
) -> Vec<Option<Error>> {
    let value = T::zeroed();
    vec![
        lane.fetch(at, peer).err(),
        lane.set(at, value, peer).err(),
        lane.swap(at, value, peer).err(),
        lane.add(at, value, peer).err(),
        lane.fetch_add(at, value, peer).err(),
        lane.and(at, value, peer).err(),
        lane.or(at, value, peer).err(),
        lane.xor(at, value, peer).err(),
        lane.fetch_and(at, value, peer).err(),
        lane.fetch_or(at, value, peer).err(),
        lane.fetch_xor(at, value, peer).err(),
        lane.compare_swap(at, value, value, peer).err(),
    ]
}

/// Asserts that every operation on an element at `at` of `peer` is refused for this reason.
fn all_refused(lane: &Lane, addr: usize, peer: u32, why: Error) {
    let mut answers = element_errors::<u8>(lane, wild(addr), peer);
    answers.extend(element_errors::<u32>(lane, wild(addr & !3), peer));
    answers.extend(element_errors::<u128>(lane, wild(addr & !15), peer));
    answers.extend(atomic_errors::<i32>(lane, wild(addr & !3), peer));
    answers.extend(atomic_errors::<u64>(lane, wild(addr & !7), peer));
    for (index, answer) in answers.into_iter().enumerate() {
        assert_eq!(
            answer,
            Some(why),
            "operation {index} at {addr:#x} of peer {peer}"
        );
    }
}

/// Runs `body` where all memory holds a pattern, and asserts that it still does afterwards.
fn harmless(transport: &dyn Transport, body: impl Fn(&Party) + Sync) {
    for parties in [1, 3] {
        check(transport, parties, |party| {
            for area in party.areas() {
                area.fill(0, area.len(), 0x77);
            }
            party.meet();
            body(party);
            party.quiet_and_meet();
            for area in party.areas() {
                assert!(
                    area.bytes(0, area.len()).iter().all(|&byte| byte == 0x77),
                    "something was transferred"
                );
            }
        });
    }
}

pub(crate) fn have_stable_codes(_: &dyn Transport) {
    let codes = [
        (Error::NotEnabled, 258),
        (Error::NoSuchPeer, 22),
        (Error::NotInWindow, 14),
        (Error::PastWindow, 34),
        (Error::TooLong, 90),
        (Error::Unsupported, 95),
        (Error::Misaligned, 99),
    ];
    for (error, code) in codes {
        assert_eq!(error.code(), code, "{error}");
    }
}

pub(crate) fn of_unknown_peers(transport: &dyn Transport) {
    harmless(transport, |party| {
        assert_eq!(party.lane.peer_count(), party.count);
        for peer in [
            party.count,
            party.count + 1,
            i32::MAX as u32,
            1 << 31,
            u32::MAX,
        ] {
            for area in party.areas() {
                all_refused(&party.lane, area.base(), peer, Error::NoSuchPeer);
            }
            all_refused(&party.lane, 0, peer, Error::NoSuchPeer);
            assert_eq!(
                party.lane.write::<u8>(party.heap.place(0), &[], peer),
                Err(Error::NoSuchPeer)
            );
            assert_eq!(
                party.lane.read::<u8>(&mut [], party.heap.place(0), peer),
                Err(Error::NoSuchPeer)
            );
        }
    });
}

/// Returns addresses below and above the window, near and far.
fn outside(party: &Party) -> Vec<usize> {
    let window = party.domain.window();
    let (base, end) = (window.base(), window.base() + window.len());
    let local = 0_u64;
    let mut all = vec![
        0,
        16,
        usize::MAX - 15,
        1 << 63,
        (&raw const local).addr(),
        base ^ (1 << 46),
    ];
    all.extend([1, 15, 16, 4096].map(|distance| base - distance));
    all.extend([0, 16, 4096].map(|distance| end + distance));
    all
}

/// Returns the numbers of bytes before and behind an end, so that ranges of each length that a post
/// of few bytes may have cross it.
fn across() -> impl Iterator<Item = (usize, usize)> {
    (1..=16).flat_map(|before| (1..=16).map(move |behind| (before, behind)))
}

pub(crate) fn of_addresses_outside(transport: &dyn Transport) {
    harmless(transport, |party| {
        let base = party.domain.window().base();
        for peer in party.all() {
            for (below, inside) in across() {
                let at = (base - below) as *mut u8;
                assert_eq!(
                    range_answers(&party.lane, at, below + inside, peer),
                    [Err(Error::NotInWindow); 4],
                    "{below} bytes below, {inside} inside"
                );
            }
        }
        for peer in party.all() {
            for addr in outside(party) {
                all_refused(&party.lane, addr, peer, Error::NotInWindow);
                assert_eq!(party.lane.element(addr, peer), None);
            }
        }
    });
}

/// Refuses misaligned atomics over a device, which does no atomic operation on an object that is
/// not aligned to its size.
pub(crate) fn of_misaligned_atomics(transport: &dyn Transport) {
    harmless(transport, |party| {
        for peer in party.all() {
            for area in party.areas() {
                let at = area.base() + 64;
                let words = (1..8).map(|by| atomic_errors::<u64>(&party.lane, wild(at + by), peer));
                let halves = [1, 2, 3, 5, 6, 7]
                    .map(|by| atomic_errors::<i32>(&party.lane, wild(at + by), peer));
                for (index, answers) in words.chain(halves).enumerate() {
                    let refused = answers.iter().all(|&why| why == Some(Error::Misaligned));
                    assert!(refused, "{index}: {answers:?}");
                }
            }
        }
    });
}

/// Returns the results of write and read of `count` elements at `at`, by pointers, blocking and
/// not.
fn range_answers<T: Copy>(
    lane: &Lane,
    at: *mut T,
    count: usize,
    peer: u32,
) -> [Result<(), Error>; 4] {
    let local = null_mut::<T>();
    // SAFETY: the range is refused, or has no elements.
    unsafe {
        [
            lane.write_raw(at, local, count, peer),
            lane.read_raw(local, at, count, peer),
            lane.start_write_raw(at, local, count, peer),
            lane.start_read_raw(local, at, count, peer),
        ]
    }
}

pub(crate) fn of_ranges_past_the_end(transport: &dyn Transport) {
    harmless(transport, |party| {
        let end = party.domain.window().base() + party.domain.window().len();
        for peer in party.all() {
            let far = [1, 2, 8, 15, 16, 17, 4096].map(|inside| (inside, [4096, 1 << 40]));
            let far = far
                .into_iter()
                .flat_map(|(inside, over)| over.map(|over| (inside, over)));
            for (inside, over) in across().chain(far) {
                let at = (end - inside) as *mut u8;
                assert_eq!(
                    range_answers(&party.lane, at, inside + over, peer),
                    [Err(Error::PastWindow); 4],
                    "{inside} bytes inside, {over} past"
                );
            }
            for inside in [1, 2, 8, 15, 16, 17, 4096] {
                let answers = range_answers(
                    &party.lane,
                    (end - 8 * inside) as *mut u64,
                    inside + 1,
                    peer,
                );
                assert_eq!(
                    answers,
                    [Err(Error::PastWindow); 4],
                    "{inside} words inside, one past"
                );
                let answers = range_answers(
                    &party.lane,
                    (end - inside) as *mut [u8; 24],
                    inside.div_ceil(24),
                    peer,
                );
                assert_eq!(
                    answers,
                    [Err(Error::PastWindow); 4],
                    "{inside} bytes inside, a part of an element past"
                );
            }
            let longest = isize::MAX as usize;
            assert_eq!(
                range_answers(&party.lane, party.heap.base() as *mut u8, longest, peer),
                [Err(Error::PastWindow); 4]
            );
        }
    });
}

/// Checks that the device knows of the hole between the parts; for peers whose memory is mapped the
/// window is one.
pub(crate) fn of_ranges_into_the_hole(transport: &dyn Transport) {
    harmless(transport, |party| {
        let end = party.statics.base() + party.statics.len();
        for peer in party.all() {
            if transport.maps(party.rank, peer) {
                continue;
            }
            for (inside, over) in across() {
                let at = (end - inside) as *mut u8;
                let answers = range_answers(&party.lane, at, inside + over, peer);
                assert!(
                    answers.iter().all(Result::is_err),
                    "{inside} bytes inside, {over} in the hole: {answers:?}"
                );
            }
        }
    });
}

pub(crate) fn of_lengths_that_overflow(transport: &dyn Transport) {
    harmless(transport, |party| {
        let refused = [Err(Error::TooLong); 4];
        for peer in party.all() {
            for area in party.areas() {
                let at = area.base() + 64;
                // The products are 8, 0, -8 and 16 modulo 2^64.
                assert_eq!(
                    range_answers(&party.lane, at as *mut u64, (1 << 61) + 1, peer),
                    refused
                );
                assert_eq!(
                    range_answers(&party.lane, at as *mut u64, 1 << 61, peer),
                    refused
                );
                assert_eq!(
                    range_answers(&party.lane, at as *mut u64, usize::MAX, peer),
                    refused
                );
                assert_eq!(
                    range_answers(&party.lane, at as *mut u128, (1 << 60) + 1, peer),
                    refused
                );
                assert_eq!(
                    range_answers(&party.lane, at as *mut u8, usize::MAX, peer),
                    refused
                );
                assert_eq!(
                    range_answers(&party.lane, at as *mut u8, isize::MAX as usize + 1, peer),
                    refused
                );
                // From here, the range would end in front of its start, inside of the window.
                let wraps = 0_usize.wrapping_sub(32);
                assert_eq!(
                    range_answers(&party.lane, at as *mut u8, wraps, peer),
                    refused
                );
            }
            assert_eq!(
                range_answers(&party.lane, null_mut::<u64>(), (1 << 61) + 1, peer),
                refused
            );
        }
    });
}

pub(crate) fn spare_empty_ranges(transport: &dyn Transport) {
    harmless(transport, |party| {
        let end = party.domain.window().base() + party.domain.window().len();
        for peer in party.all() {
            for addr in outside(party)
                .into_iter()
                .chain([end - 1, end - 16, party.heap.base()])
            {
                assert_eq!(
                    range_answers(&party.lane, addr as *mut u8, 0, peer),
                    [Ok(()); 4],
                    "{addr:#x}"
                );
                assert_eq!(
                    range_answers(&party.lane, addr as *mut [u64; 3], 0, peer),
                    [Ok(()); 4],
                    "{addr:#x}"
                );
            }
        }
    });
}

pub(crate) fn by_endpoints_that_are_not_enabled(transport: &dyn Transport) {
    harmless(transport, |party| {
        let mut was_enabled = Lane::enabled(party.domain);
        let at = party.heap.place::<u8>(0);
        assert_eq!(was_enabled.inject(0x77, at, party.rank), Ok(()));
        assert_eq!((was_enabled.fence(), was_enabled.quiet()), (Ok(()), Ok(())));
        was_enabled.close();
        for lane in [&was_enabled, &Lane::nowhere(Endpoint::closed())] {
            assert_eq!(
                (lane.fence(), lane.quiet()),
                (Err(Error::NotEnabled), Err(Error::NotEnabled))
            );
            refuses_all(lane, party);
        }
        let void = Lane::nowhere(Endpoint::void());
        assert_eq!((void.fence(), void.quiet()), (Ok(()), Ok(())));
        refuses_all(&void, party);
    });
}

fn refuses_all(lane: &Lane, party: &Party) {
    assert_eq!(lane.peer_count(), 0);
    for peer in [0, party.rank, party.count, u32::MAX] {
        for area in party.areas() {
            all_not_enabled(lane, area.base(), peer);
        }
        all_not_enabled(lane, null::<u8>().addr(), peer);
        assert_eq!(lane.element(party.heap.base(), peer), None);
    }
}

fn all_not_enabled(lane: &Lane, addr: usize, peer: u32) {
    for result in range_answers(lane, addr as *mut u64, 1, peer) {
        assert_eq!(result, Err(Error::NotEnabled));
    }
    let single = [
        lane.inject(u64::zeroed(), wild(addr), peer).err(),
        lane.read_element::<u64>(wild(addr), peer).err(),
    ];
    assert_eq!(single, [Some(Error::NotEnabled); 2]);
    for result in atomic_errors::<u64>(lane, wild(addr), peer) {
        assert_eq!(result, Some(Error::NotEnabled));
    }
}
