//! Archives of any values, and of any bytes: these are loaded, or refused, with bounded memory.

#![expect(unsafe_code, reason = "counts what is allocated")]

use calls::archive::{Archive, Serde};
use calls::{Load, LoadError, Save, Saver, SharedSlice};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, LinkedList, VecDeque};
use std::fmt::Debug;
use std::sync::Arc;

/// Keeps the longest allocation of each thread.
struct Longest;

thread_local! {
    static LONGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all requirements are the system allocator's, which is given the same arguments.
unsafe impl GlobalAlloc for Longest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LONGEST.try_with(|longest| longest.set(longest.get().max(layout.size())));
        // SAFETY: the layout has bytes, as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the memory was allocated by `alloc` with this layout, as the caller promises.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Longest = Longest;

#[derive(Save, Load, Clone, PartialEq, Debug)]
enum Tree {
    Leaf(Vec<u16>),
    Pair { left: Box<Tree>, right: Arc<Tree> },
    Many(Vec<Tree>),
    Nothing,
}

#[derive(Save, Load, Clone, PartialEq, Debug)]
struct List(u8, Option<Box<List>>);

#[derive(Save, Load, Clone, PartialEq, Debug)]
struct Wide([Option<u64>; 64]);

type Nested = (
    Vec<Vec<u32>>,
    BTreeMap<String, Option<Vec<f64>>>,
    Tree,
    Vec<(char, bool, [i16; 3])>,
    Result<VecDeque<u128>, Serde<(String, Vec<i64>)>>,
    Vec<String>,
);

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop::collection::vec(any::<u16>(), 0..40).prop_map(Tree::Leaf),
        Just(Tree::Nothing),
    ];
    leaf.prop_recursive(5, 30, 4, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(left, right)| Tree::Pair {
                left: Box::new(left),
                right: Arc::new(right),
            }),
            prop::collection::vec(inner, 0..4).prop_map(Tree::Many),
        ]
    })
}

fn text(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<char>(), 0..=most).prop_map(|all| all.into_iter().collect())
}

fn nested() -> impl Strategy<Value = Nested> {
    use prop::collection::vec;
    (
        vec(vec(any::<u32>(), 0..30), 0..5),
        prop::collection::btree_map(text(20), prop::option::of(vec(0.0..1.0_f64, 0..9)), 0..5),
        tree(),
        vec(any::<(char, bool, [i16; 3])>(), 0..6),
        prop_oneof![
            vec(any::<u128>(), 0..4).prop_map(|all| Ok(all.into())),
            (text(9), vec(any::<i64>(), 0..5)).prop_map(|pair| Err(Serde(pair))),
        ],
        vec(text(40), 0..8),
    )
}

/// Index data and chunks of any bytes.
struct Any<'a>(&'a [u8], &'a [Vec<u8>]);

impl Save for Any<'_> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        to.bytes(self.0);
        // Each leaves a word behind the bytes.
        self.1.iter().for_each(|chunk| to.slice(chunk));
    }
}

/// Loads bytes as a type. No allocation is longer than `most`, also where they are refused.
fn load<T: Load>(index: &[u8], chunks: &[Vec<u8>], most: usize) -> Result<T, LoadError> {
    let any = Any(index, chunks);
    let archive = Archive::of(&any, 1);
    LONGEST.set(0);
    let loaded = archive.load::<T>();
    let longest = LONGEST.get();
    assert!(
        longest <= most,
        "{longest} bytes, of {} and chunks",
        index.len()
    );
    loaded
}

/// The same as all types here; a value takes at most so many times the bytes of its index data.
fn load_all(index: &[u8], chunks: &[Vec<u8>]) {
    let of_chunks = chunks.iter().map(Vec::len).max().unwrap_or(0);
    let len = index.len() + 8 * chunks.len() + of_chunks + 256;
    let _ = load::<Nested>(index, chunks, 16 * len);
    let _ = load::<Tree>(index, chunks, 32 * len);
    let _ = load::<List>(index, chunks, 16 * len);
    let _ = load::<Vec<u64>>(index, chunks, 16 * len);
    let _ = load::<String>(index, chunks, 2 * len);
    let _ = load::<Vec<Vec<String>>>(index, chunks, 16 * len);
    let _ = load::<Vec<Wide>>(index, chunks, 64 * len);
    let _ = load::<HashMap<u8, BTreeSet<String>>>(index, chunks, 64 * len);
    let _ = load::<(BinaryHeap<u32>, LinkedList<u8>)>(index, chunks, 64 * len);
    let _ = load::<SharedSlice<i8>>(index, chunks, 2 * len);
    let _ = load::<Arc<[bool]>>(index, chunks, 4 * len);
    let _ = load::<Serde<Vec<String>>>(index, chunks, 64 * len);
    let _ = load::<[Box<[char]>; 4]>(index, chunks, 16 * len);
    let _ = load::<(Vec<()>, Vec<u32>)>(index, chunks, 16 * len);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back(value in nested()) {
        for threshold in [1, 16, 4096, usize::MAX] {
            let archive = Archive::of(&value, threshold);
            prop_assert!(threshold > 1 << 20 || archive.chunks().all(|len| len >= threshold));
            prop_assert_eq!(&archive.load::<Nested>(), &Ok(value.clone()));
        }
    }

    #[test]
    fn changed_archives_are_loaded_or_refused(
        value in nested(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        for threshold in [16, usize::MAX] {
            let archive = Archive::of(&value, threshold);
            let mut index = archive.index().to_vec();
            for (at, byte) in &changes {
                let at = at.index(index.len());
                index[at] = *byte;
            }
            if is_cut {
                index.truncate(cut.index(index.len()));
            }
            let chunks: Vec<_> = archive.chunks().map(|len| vec![0xff; len]).collect();
            load_all(&index, &chunks);
        }
    }

    #[test]
    fn any_bytes_are_loaded_or_refused(
        index in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..600),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..50), 0..4),
    ) {
        load_all(&index, &chunks);
    }
}

#[test]
fn lists_and_heaps_come_back() {
    let list: LinkedList<String> = ["a", "bc", ""].map(str::to_owned).into();
    assert_eq!(Archive::of(&list, 4096).load(), Ok(list));
    let heap: BinaryHeap<u16> = [3, 1, 2].into();
    let back: BinaryHeap<u16> = Archive::of(&heap, 4096).load().unwrap();
    assert_eq!(back.into_sorted_vec(), [1, 2, 3]);
}

fn word(word: u64) -> [u8; 8] {
    word.to_ne_bytes()
}

#[test]
fn counts_that_cannot_be_take_no_memory() {
    for count in [1 << 20, 1 << 40, u64::MAX >> 1] {
        for of in [count << 1, count << 1 | 1] {
            let index = [&word(of)[..], &[0xff; 1000]].concat();
            load_all(&index, &[]);
            load_all(&index, &[vec![0; 64]]);
        }
    }
    // As many as there are bytes, of which the first is none.
    let index = [&word(60_000 << 1)[..], &[2; 60_000]].concat();
    let loaded = load::<Vec<Wide>>(&index, &[], 2 * index.len());
    assert!(loaded.is_err(), "{loaded:?}");
}

#[test]
fn values_without_bytes_are_bounded_together() {
    let most = 1 << 24;
    let one = [&word(1 << 1)[..], &word(most << 1)].concat();
    assert_eq!(
        load::<Vec<Vec<()>>>(&one, &[], 1 << 20).map(|all| all[0].len()),
        Ok(1 << 24)
    );
    let many = [&word(1000 << 1)[..], &word(most << 1).repeat(1000)].concat();
    assert_eq!(
        load::<Vec<Vec<()>>>(&many, &[], 1 << 20).unwrap_err(),
        LoadError::Count
    );
}

fn list(len: u64) -> List {
    (1..len).fold(List(0, None), |list, _| List(1, Some(Box::new(list))))
}

#[test]
fn deep_values_are_refused() {
    let deep = list(200);
    assert_eq!(Archive::of(&deep, 1).load(), Ok(deep));
    // Each in another one: a list, and boxes and sequences of a tree.
    let lists = [1_u8, 1].repeat(1 << 20);
    assert_eq!(load::<List>(&lists, &[], 1 << 12), Err(LoadError::Deep));
    let pairs = 1_u32.to_ne_bytes().repeat(1 << 20);
    assert_eq!(load::<Tree>(&pairs, &[], 1 << 12), Err(LoadError::Deep));
    let many = [&2_u32.to_ne_bytes()[..], &word(1 << 1)]
        .concat()
        .repeat(1 << 18);
    assert_eq!(load::<Tree>(&many, &[], 1 << 12), Err(LoadError::Deep));
}

/// A list of serde's.
#[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
enum Chain {
    End,
    Next(Box<Chain>),
    Both {
        left: Option<Box<Chain>>,
        right: Vec<Chain>,
    },
}

#[test]
fn deep_values_of_serde_are_refused() {
    let of = |depth| {
        (0..depth).fold(Chain::End, |inner, number| match number % 3 {
            0 => Chain::Next(Box::new(inner)),
            1 => Chain::Both {
                left: Some(Box::new(inner)),
                right: vec![Chain::End],
            },
            _ => Chain::Both {
                left: None,
                right: vec![inner],
            },
        })
    };
    let value = Serde(of(70));
    assert_eq!(Archive::of(&value, 4096).load::<Serde<Chain>>(), Ok(value));
    let loaded = Archive::of(&Serde(of(260)), 4096).load::<Serde<Chain>>();
    assert_eq!(loaded, Err(LoadError::Deep));
    // More than any stack has room for.
    for bytes in [[1, 1], [2, 1]] {
        let index = index_of(&bytes.repeat(2_000_000));
        let loaded = load::<Serde<Chain>>(&index, &[], 1 << 20);
        assert_eq!(loaded, Err(LoadError::Deep));
    }
    let loaded = load::<Serde<Vec<Vec<Option<()>>>>>(&index_of(&[1, 2, 1, 0]), &[], 1 << 10);
    assert_eq!(loaded, Ok(Serde(vec![vec![Some(()), None]])));
}

/// Index data of these bytes in postcard's format.
fn index_of(bytes: &[u8]) -> Vec<u8> {
    [&word((bytes.len() as u64) << 1)[..], bytes].concat()
}

#[test]
fn values_of_serde_without_bytes_are_bounded() {
    let endless = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let loaded = load::<Serde<Vec<()>>>(&index_of(&endless), &[], 1 << 10);
    assert_eq!(loaded, Err(LoadError::Count));
    let few = load::<Serde<Vec<()>>>(&index_of(&[100]), &[], 1 << 10);
    assert_eq!(few, Ok(Serde(vec![(); 100])));
}
