//! The places of peers' objects in this process's addresses.

#![expect(
    unsafe_code,
    reason = "looks through the pointers that the fabric gives out"
)]

use crate::party::{HEAP, Party, STATICS};
use crate::transport::{Transport, check};
use fi_provider::node::segment::page_size;
use fi_provider::symmetric::domain::DirectMap;
use fi_provider::symmetric::window::ELEMENT_SLACK;

/// Runs `body` where each part of each party begins and ends with words that say whose it is.
fn run(transport: &dyn Transport, body: impl Fn(&Party, &DirectMap) + Sync) {
    for parties in [1, 2, 5] {
        check(transport, parties, |party| {
            for (index, area) in party.areas().into_iter().enumerate() {
                for offset in ends(area.len()) {
                    area.store(offset, name_of(party.rank, index, offset));
                }
            }
            party.meet();
            body(party, &party.domain.direct_map());
            party.meet();
        });
    }
}

/// Returns the first and the last word of a part, and one in the middle.
fn ends(len: usize) -> [usize; 3] {
    [0, len / 2, len - 8]
}

fn name_of(rank: u32, index: usize, offset: usize) -> u64 {
    u64::from(rank) << 48 | (index as u64) << 40 | offset as u64
}

/// Returns the map's pointer to `addr` of party `peer`, if there is one.
fn pointer(map: &DirectMap, addr: usize, peer: u32) -> Option<usize> {
    // SAFETY: the domain is open as long as its party, which the callers borrow; an empty map asks for nothing.
    unsafe { map.pointer(addr, peer) }
}

/// Returns addresses around the window and in its hole, where no object is.
fn nowhere(party: &Party) -> Vec<usize> {
    let (heap, statics) = (party.heap.base(), party.statics.base());
    let hole = statics + STATICS;
    vec![
        0,
        usize::MAX,
        1 << 63,
        statics - 1,
        heap + HEAP,
        heap + HEAP + 1,
        hole,
        hole + 8,
        heap - 8,
        heap - 1,
    ]
}

pub(crate) fn of_peers_are_exact(transport: &dyn Transport) {
    run(transport, |party, map| {
        for peer in party.all() {
            if transport.maps(party.rank, peer) {
                objects_are_there(party, map, peer);
            }
        }
        for peer in party.all().chain([party.count, u32::MAX]) {
            for addr in nowhere(party) {
                assert_eq!(pointer(map, addr, peer), None, "{addr:#x} of {peer}");
            }
            let reached = peer < party.count && transport.maps(party.rank, peer);
            for area in party.areas() {
                for addr in [area.base(), area.base() + area.len() - 1] {
                    assert_eq!(
                        pointer(map, addr, peer).is_some(),
                        reached,
                        "{addr:#x} of {peer}"
                    );
                }
            }
            assert_eq!(pointer(&DirectMap::empty(), party.heap.base(), peer), None);
        }
    });
}

fn objects_are_there(party: &Party, map: &DirectMap, peer: u32) {
    for (index, area) in party.areas().into_iter().enumerate() {
        for offset in ends(area.len()) {
            let addr = area.base() + offset;
            let there = pointer(map, addr, peer).unwrap();
            assert!(
                peer != party.rank || there == addr,
                "an own object is somewhere else"
            );
            assert_eq!(
                party.lane.element(addr, peer),
                Some(there),
                "the map and the endpoint differ"
            );
            // SAFETY: the fabric says that the peer's object is mapped there; nobody writes to it now.
            let seen = unsafe { (there as *const u64).read_volatile() };
            assert_eq!(seen, name_of(peer, index, offset), "{offset} of {peer}");
        }
    }
}

pub(crate) fn have_owners(transport: &dyn Transport) {
    run(transport, |party, map| {
        let window = party.domain.window();
        for addr in [
            window.base(),
            party.heap.base(),
            window.base() + window.len() - 1,
        ] {
            assert_eq!(party.domain.owner_of(addr), Some((party.rank, addr)));
        }
        for addr in [
            0,
            usize::MAX,
            window.base() - 1,
            window.base() + window.len(),
            (&raw const map).addr(),
        ] {
            assert_eq!(party.domain.owner_of(addr), None, "{addr:#x}");
        }
        for peer in party.all() {
            for area in party.areas() {
                for addr in [
                    area.base(),
                    area.base() + 1,
                    area.base() + area.len() / 2,
                    area.base() + area.len() - 1,
                ] {
                    if let Some(there) = pointer(map, addr, peer) {
                        assert_eq!(
                            party.domain.owner_of(there),
                            Some((peer, addr)),
                            "{addr:#x} of {peer}"
                        );
                    }
                }
            }
            // A fault in a peer's hole is explained by the hole's own address.
            let hole = party.statics.base() + STATICS + 8;
            if let Some(there) = party.lane.element(hole, peer) {
                assert_eq!(
                    party.domain.owner_of(there),
                    Some((peer, hole)),
                    "the hole of {peer}"
                );
            }
        }
    });
}

pub(crate) fn are_pages_apart(transport: &dyn Transport) {
    run(transport, |party, map| {
        let page = page_size();
        let window = party.domain.window();
        let mut windows = Vec::new();
        for peer in party.all() {
            let Some(first) = pointer(map, window.base(), peer) else {
                continue;
            };
            assert_eq!(first % page, window.base() % page);
            windows.push((first, first + window.len()));
            let last = first + window.len() - 1;
            assert!(
                is_readable(first) && is_readable(last),
                "the window of {peer} has its ends"
            );
            assert!(
                !is_readable(last + 1),
                "something behind the window of {peer}"
            );
            assert!(
                !is_readable(last + ELEMENT_SLACK),
                "within an element behind the window of {peer}"
            );
            assert!(
                !is_readable(last + page),
                "a page behind the window of {peer}"
            );
            for offset in [
                STATICS,
                STATICS + page,
                party.heap.base() - window.base() - 1,
            ] {
                assert!(
                    !is_readable(first + offset),
                    "something in the hole of {peer}"
                );
            }
        }
        windows.sort_unstable();
        for pair in windows.windows(2) {
            assert!(pair[0].1 + page <= pair[1].0, "windows overlap, or touch");
        }
        let mapped = party.all().filter(|&peer| transport.maps(party.rank, peer));
        assert_eq!(windows.len(), mapped.count());
    });
}

/// Returns whether a byte can be read: the kernel is asked, which says so without a signal.
fn is_readable(addr: usize) -> bool {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    let opened = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(opened, 0, "no pipe");
    // SAFETY: write only reads the byte, and fails where there is none; a pipe has room for one.
    let written = unsafe { libc::write(ends[1], addr as *const _, 1) };
    for end in ends {
        // SAFETY: both descriptors were opened above and belong to nobody else.
        unsafe { libc::close(end) };
    }
    written == 1
}
