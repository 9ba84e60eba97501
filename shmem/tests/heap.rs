//! The allocator of the symmetric heap against a model, and its corner cases.

use proptest::prelude::*;
use shmem::heap::{GRANULE, Heap, HeapError};
use std::collections::BTreeMap;

const SIZE: usize = 1 << 16;

fn checked(heap: &Heap) {
    if let Err(broken) = heap.check() {
        panic!("{broken}");
    }
}

#[test]
fn a_new_heap_is_one_free_block() {
    let heap = Heap::new(1000);
    assert_eq!(heap.size(), 960);
    assert_eq!(heap.largest_free(), 960);
    assert_eq!(heap.in_use(), 0);
    checked(&heap);
}

#[test]
fn a_heap_smaller_than_a_granule_holds_nothing() {
    for size in [0, 1, GRANULE - 1] {
        let mut heap = Heap::new(size);
        checked(&heap);
        assert_eq!(heap.largest_free(), 0);
        assert_eq!(heap.alloc(1, 1), None);
        assert_eq!(
            heap.free(0),
            Err(HeapError::OutOfRange { offset: 0, size: 0 })
        );
    }
}

#[test]
fn size_zero_gives_nothing() {
    let mut heap = Heap::new(SIZE);
    assert_eq!(heap.alloc(0, 16), None);
    let block = heap.alloc(100, 16).unwrap();
    assert!(!heap.realloc_in_place(block, 0));
    assert_eq!(heap.size_of(block), Some(128));
}

#[test]
fn an_alignment_is_a_power_of_two() {
    let mut heap = Heap::new(SIZE);
    for align in [0, 3, 24, 96, usize::MAX] {
        assert_eq!(heap.alloc(64, align), None, "alignment {align}");
    }
    checked(&heap);
    assert_eq!(heap.largest_free(), SIZE);
}

#[test]
fn sizes_and_alignments_that_overflow_are_refused() {
    let top = 1_usize << (usize::BITS - 1);
    for total in [SIZE, usize::MAX] {
        let mut heap = Heap::new(total);
        let first = heap.alloc(1, 1).unwrap();
        assert_eq!(heap.alloc(usize::MAX, 16), None);
        assert_eq!(heap.alloc(usize::MAX - GRANULE, 16), None);
        assert_eq!(heap.alloc(usize::MAX - GRANULE, top), None);
        assert!(!heap.realloc_in_place(first, usize::MAX));
        checked(&heap);
        assert_eq!(heap.in_use(), GRANULE);
    }
    let mut heap = Heap::new(usize::MAX);
    let whole = usize::MAX - (GRANULE - 1);
    assert_eq!(heap.alloc(1, 1), Some(0));
    assert!(heap.realloc_in_place(0, whole));
    assert_eq!(heap.in_use(), whole);
    assert!(heap.realloc_in_place(0, 1));
    assert_eq!(heap.alloc(top + GRANULE, top), None);
    assert_eq!(heap.alloc(1, top), Some(top));
    assert_eq!(heap.alloc(1, top), None);
    checked(&heap);
}

#[test]
fn the_largest_alignment_still_finds_offset_zero() {
    let mut heap = Heap::new(SIZE);
    assert_eq!(heap.alloc(1, 1 << (usize::BITS - 1)), Some(0));
    checked(&heap);
}

#[test]
fn the_whole_heap_is_one_block_again_and_again() {
    let mut heap = Heap::new(SIZE);
    for _ in 0..3 {
        assert_eq!(heap.alloc(SIZE, 4096), Some(0));
        assert_eq!(heap.largest_free(), 0);
        assert_eq!(heap.alloc(1, 1), None);
        checked(&heap);
        assert_eq!(heap.free(0), Ok(SIZE));
    }
    assert_eq!(heap.largest_free(), SIZE);
}

#[test]
fn two_blocks_never_share_a_cache_line() {
    let mut heap = Heap::new(SIZE);
    let offsets: Vec<_> = (0..8).map(|_| heap.alloc(8, 8).unwrap()).collect();
    for pair in offsets.windows(2) {
        assert!(pair[1] - pair[0] >= GRANULE, "{pair:?}");
    }
}

#[test]
fn the_best_fit_is_taken_and_of_equals_the_lowest() {
    let mut heap = Heap::new(SIZE);
    let sizes = [1024, 256, 512, 256];
    let holes = sizes.map(|size| {
        let hole = heap.alloc(size, 16).unwrap();
        heap.alloc(64, 16).unwrap();
        hole
    });
    for hole in holes {
        heap.free(hole).unwrap();
    }
    assert_eq!(heap.alloc(200, 16), Some(holes[1]));
    assert_eq!(heap.alloc(200, 16), Some(holes[3]));
    assert_eq!(heap.alloc(200, 16), Some(holes[2]));
    checked(&heap);
}

#[test]
fn an_aligned_request_finds_the_only_block_that_fits_by_luck() {
    let mut heap = Heap::new(3 * 4096);
    // In the middle lies the only aligned page that is free; it is smaller than a page plus the worst padding.
    let low = heap.alloc(4096, 4096).unwrap();
    let middle = heap.alloc(4096, 4096).unwrap();
    let high = heap.alloc(4096, 4096).unwrap();
    heap.free(middle).unwrap();
    assert_eq!(heap.alloc(4096, 4096), Some(middle));

    // Two holes of one size: the lower one, which comes first, is not aligned.
    for block in [low, middle, high] {
        heap.free(block).unwrap();
    }
    assert_eq!(heap.alloc(64, 64), Some(0));
    let unaligned = heap.alloc(4096, 64).unwrap();
    let fence = heap.alloc(4096 - 128, 64).unwrap();
    assert_eq!((unaligned, fence), (64, 4096 + 64));
    let aligned = heap.alloc(4096, 4096).unwrap();
    assert_eq!(aligned, 8192);
    heap.free(unaligned).unwrap();
    heap.free(aligned).unwrap();
    assert_eq!(heap.alloc(4096, 4096), Some(aligned));
    checked(&heap);
}

#[test]
fn padding_for_an_alignment_stays_usable() {
    let mut heap = Heap::new(SIZE);
    assert_eq!(heap.alloc(64, 64), Some(0));
    assert_eq!(heap.alloc(64, 4096), Some(4096));
    assert_eq!(heap.alloc(4096 - 64, 64), Some(64));
    checked(&heap);
}

#[test]
fn wrong_offsets_are_told_apart_and_change_nothing() {
    let mut heap = Heap::new(SIZE);
    let block = heap.alloc(200, 16).unwrap();
    let other = heap.alloc(200, 16).unwrap();
    let cases = [
        (
            block + 1,
            HeapError::Inside {
                offset: block + 1,
                start: block,
            },
        ),
        (
            block + 64,
            HeapError::Inside {
                offset: block + 64,
                start: block,
            },
        ),
        (
            other + 256,
            HeapError::Free {
                offset: other + 256,
            },
        ),
        (SIZE - 1, HeapError::Free { offset: SIZE - 1 }),
        (
            SIZE,
            HeapError::OutOfRange {
                offset: SIZE,
                size: SIZE,
            },
        ),
        (
            usize::MAX,
            HeapError::OutOfRange {
                offset: usize::MAX,
                size: SIZE,
            },
        ),
    ];
    for (offset, error) in cases {
        assert_eq!(heap.size_of(offset), None);
        assert!(!heap.realloc_in_place(offset, 64));
        assert_eq!(heap.free(offset), Err(error));
        checked(&heap);
        assert_eq!(heap.in_use(), 512);
    }
    assert_eq!(heap.free(block), Ok(256));
    assert_eq!(heap.free(block), Err(HeapError::Free { offset: block }));
    assert_eq!(heap.free(other), Ok(256));
    assert_eq!(heap.free(other), Err(HeapError::Free { offset: other }));
    assert_eq!(heap.largest_free(), SIZE);
}

#[test]
fn messages_name_the_offset() {
    let mut heap = Heap::new(SIZE);
    assert_eq!(
        heap.free(0x40).unwrap_err().to_string(),
        "offset 0x40 lies in free memory: freed twice, or never allocated"
    );
    assert_eq!(
        heap.free(SIZE).unwrap_err().to_string(),
        "offset 0x10000 lies outside the heap of 0x10000 bytes"
    );
    heap.alloc(256, 16).unwrap();
    assert_eq!(
        heap.free(0x50).unwrap_err().to_string(),
        "offset 0x50 lies inside the block that starts at 0x0"
    );
}

#[test]
fn a_block_grows_into_a_free_neighbour_only() {
    let mut heap = Heap::new(1024);
    let first = heap.alloc(128, 16).unwrap();
    let second = heap.alloc(128, 16).unwrap();
    let third = heap.alloc(128, 16).unwrap();
    assert!(!heap.realloc_in_place(first, 129));
    heap.free(second).unwrap();
    assert!(!heap.realloc_in_place(first, 257));
    assert!(heap.realloc_in_place(first, 192));
    assert_eq!(heap.size_of(first), Some(192));
    assert!(heap.realloc_in_place(first, 256));
    assert_eq!(heap.size_of(first), Some(256));
    checked(&heap);
    assert!(heap.realloc_in_place(third, 768 - 128));
    assert_eq!(heap.largest_free(), 128);
    checked(&heap);
}

#[test]
fn a_block_that_shrinks_gives_its_tail_back() {
    let mut heap = Heap::new(1024);
    let block = heap.alloc(1024, 16).unwrap();
    assert!(heap.realloc_in_place(block, 1000));
    assert_eq!(heap.size_of(block), Some(1024));
    assert!(heap.realloc_in_place(block, 65));
    assert_eq!(heap.size_of(block), Some(128));
    assert_eq!(heap.largest_free(), 896);
    assert!(heap.realloc_in_place(block, 1));
    assert_eq!(heap.largest_free(), 960);
    checked(&heap);
    assert_eq!(heap.free(block), Ok(64));
    assert_eq!(heap.largest_free(), 1024);
}

#[derive(Debug, Clone)]
enum Step {
    Alloc { size: usize, align: usize },
    Free { which: usize },
    Resize { which: usize, size: usize },
    FreeAnywhere { offset: usize },
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![0..200_usize, 1..SIZE / 8, 1..SIZE + 100, Just(usize::MAX)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (sizes(), 0..15_u32).prop_map(|(size, bits)| Step::Alloc { size, align: 1 << bits }),
        4 => any::<usize>().prop_map(|which| Step::Free { which }),
        2 => (any::<usize>(), sizes()).prop_map(|(which, size)| Step::Resize { which, size }),
        1 => (0..SIZE + 100).prop_map(|offset| Step::FreeAnywhere { offset }),
    ];
    prop::collection::vec(step, 0..200)
}

/// A plain model: one flag a granule, and the blocks in use by offset.
struct Model {
    used: Vec<bool>,
    blocks: BTreeMap<usize, usize>,
}

impl Model {
    fn new() -> Self {
        Self {
            used: vec![false; SIZE / GRANULE],
            blocks: BTreeMap::new(),
        }
    }

    fn fill(&mut self, offset: usize, size: usize, value: bool) {
        for slot in &mut self.used[offset / GRANULE..(offset + size) / GRANULE] {
            assert_ne!(*slot, value, "the granule was in that state before");
            *slot = value;
        }
    }

    fn is_free(&self, offset: usize, size: usize) -> bool {
        offset.checked_add(size).is_some_and(|end| {
            end <= SIZE
                && self.used[offset / GRANULE..end.div_ceil(GRANULE)]
                    .iter()
                    .all(|used| !used)
        })
    }

    fn fits_anywhere(&self, size: usize, align: usize) -> bool {
        size > 0
            && (0..SIZE)
                .step_by(align.max(GRANULE))
                .any(|offset| self.is_free(offset, size))
    }

    fn largest_free(&self) -> usize {
        self.used
            .split(|used| *used)
            .map(|run| run.len() * GRANULE)
            .max()
            .unwrap_or(0)
    }

    fn pick(&self, which: usize) -> Option<usize> {
        let count = self.blocks.len();
        (count > 0).then(|| *self.blocks.keys().nth(which % count).unwrap())
    }
}

fn alloc(heap: &mut Heap, model: &mut Model, size: usize, align: usize) -> Option<usize> {
    let possible = model.fits_anywhere(size, align);
    let offset = heap.alloc(size, align);
    assert_eq!(
        offset.is_some(),
        possible,
        "{size} bytes aligned to {align}"
    );
    if let Some(offset) = offset {
        let usable = heap.size_of(offset).unwrap();
        assert!(usable >= size && usable < size + GRANULE);
        assert_eq!(offset % align.max(GRANULE), 0);
        model.fill(offset, usable, true);
        model.blocks.insert(offset, usable);
    }
    offset
}

fn resize(heap: &mut Heap, model: &mut Model, offset: usize, size: usize) -> bool {
    let old = model.blocks[&offset];
    let possible = size > 0 && (size <= old || model.is_free(offset + old, size - old));
    let done = heap.realloc_in_place(offset, size);
    assert_eq!(done, possible, "from {old} to {size} bytes at {offset:#x}");
    if done {
        let new = heap.size_of(offset).unwrap();
        assert!(new >= size && new < size + GRANULE);
        model.fill(offset, old, false);
        model.fill(offset, new, true);
        model.blocks.insert(offset, new);
    }
    done
}

/// Runs one step against the model and returns the results that a program would see.
fn run(heap: &mut Heap, model: &mut Model, step: &Step) -> (Option<usize>, bool) {
    match *step {
        Step::Alloc { size, align } => (alloc(heap, model, size, align), false),
        Step::Free { which } => {
            let Some(offset) = model.pick(which) else {
                return (None, false);
            };
            let size = model.blocks.remove(&offset).unwrap();
            model.fill(offset, size, false);
            assert_eq!(heap.free(offset), Ok(size));
            (Some(size), true)
        }
        Step::Resize { which, size } => match model.pick(which) {
            Some(offset) => (Some(offset), resize(heap, model, offset, size)),
            None => (None, false),
        },
        Step::FreeAnywhere { offset } => {
            let known = model.blocks.remove(&offset);
            if let Some(size) = known {
                model.fill(offset, size, false);
            }
            assert_eq!(heap.free(offset).ok(), known);
            (known, false)
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_model(steps in steps()) {
        let mut heap = Heap::new(SIZE);
        let mut model = Model::new();
        for step in &steps {
            run(&mut heap, &mut model, step);
            checked(&heap);
            prop_assert_eq!(heap.in_use(), model.blocks.values().sum::<usize>());
            prop_assert_eq!(heap.largest_free(), model.largest_free());
        }
        for offset in model.blocks.keys() {
            heap.free(*offset).unwrap();
        }
        checked(&heap);
        prop_assert_eq!(heap.in_use(), 0);
        prop_assert_eq!(heap.largest_free(), SIZE);
    }

    #[test]
    fn two_heaps_give_the_same_offsets(steps in steps()) {
        let mut first = (Heap::new(SIZE), Model::new());
        let mut second = (Heap::new(SIZE), Model::new());
        for step in &steps {
            let here = run(&mut first.0, &mut first.1, step);
            let there = run(&mut second.0, &mut second.1, step);
            prop_assert_eq!(here, there);
        }
    }
}

#[test]
fn a_hundred_thousand_blocks_come_back_as_one() {
    const BLOCKS: usize = 100_000;
    let mut heap = Heap::new(BLOCKS * GRANULE);
    let offsets: Vec<_> = (0..BLOCKS).map(|_| heap.alloc(1, 1).unwrap()).collect();
    assert_eq!(heap.largest_free(), 0);
    assert_eq!(heap.alloc(1, 1), None);
    // Every other block first: the largest number of free blocks there can be.
    for offset in offsets
        .iter()
        .step_by(2)
        .chain(offsets.iter().skip(1).step_by(2))
    {
        assert_eq!(heap.free(*offset), Ok(GRANULE));
    }
    checked(&heap);
    assert_eq!(heap.largest_free(), BLOCKS * GRANULE);
}
