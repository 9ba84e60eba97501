//! Collections of the standard library.

use super::load::{Load, LoadError, Loader};
use super::save::{Save, Saver};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};

/// Saves a number of values.
fn save_each<'a, T: Save + 'a>(values: impl ExactSizeIterator<Item = &'a T>, to: &mut Saver<'a>) {
    to.count(values.len());
    values.for_each(|value| value.save(to));
}

/// Saves a number of pairs.
fn save_pairs<'a, K: Save + 'a, V: Save + 'a>(
    pairs: impl ExactSizeIterator<Item = (&'a K, &'a V)>,
    to: &mut Saver<'a>,
) {
    to.count(pairs.len());
    for (key, value) in pairs {
        key.save(to);
        value.save(to);
    }
}

/// Loads a number and as many values.
fn load_each<T: Load, C: FromIterator<T>>(from: &mut Loader<'_, '_>) -> Result<C, LoadError> {
    let count = from.count(T::LEAST)?;
    from.deeper(|from| (0..count).map(|_| T::load(from)).collect())
}

macro_rules! collections {
    ($($type:ty, [$($bounds:tt)*], $item:ty, $save:ident;)*) => {$(
        impl<$($bounds)*> Save for $type where $item: Save {
            fn save<'a>(&'a self, to: &mut Saver<'a>) {
                $save(self.iter(), to);
            }
        }
    )*};
}

collections! {
    VecDeque<T>, [T], T, save_each;
    LinkedList<T>, [T], T, save_each;
    BinaryHeap<T>, [T], T, save_each;
    BTreeSet<T>, [T], T, save_each;
    HashSet<T, S>, [T, S], T, save_each;
}

impl<K: Save, V: Save> Save for BTreeMap<K, V> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        save_pairs(self.iter(), to);
    }
}

impl<K: Save, V: Save, S> Save for HashMap<K, V, S> {
    fn save<'a>(&'a self, to: &mut Saver<'a>) {
        save_pairs(self.iter(), to);
    }
}

impl<T: Load> Load for VecDeque<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each(from)
    }
}

impl<T: Load> Load for LinkedList<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each(from)
    }
}

impl<T: Load + Ord> Load for BinaryHeap<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each(from)
    }
}

impl<T: Load + Ord> Load for BTreeSet<T> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each(from)
    }
}

impl<T: Load + Eq + Hash, S: BuildHasher + Default> Load for HashSet<T, S> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each(from)
    }
}

impl<K: Load + Ord, V: Load> Load for BTreeMap<K, V> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each::<(K, V), _>(from)
    }
}

impl<K: Load + Eq + Hash, V: Load, S: BuildHasher + Default> Load for HashMap<K, V, S> {
    const LEAST: usize = 8;

    fn load(from: &mut Loader<'_, '_>) -> Result<Self, LoadError> {
        load_each::<(K, V), _>(from)
    }
}
