//! The layers of a call, and the layer of an instruction by its source.
//!
//! An instruction belongs to the innermost function that is of a layer; functions of the standard
//! library, in line there, belong to their callers. So the layers are of lines and not of
//! addresses, and the counted library has no instruction for them.

use crate::source::Frame;
use std::fmt;

/// A layer of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The caller: the call, the jump in the PLT, arguments and the loop around it.
    Caller,
    /// The routine that is called, as its standard describes it: arguments, contexts, teams,
    /// handles, its return.
    Interface,
    /// The way to a peer: its number, the address and key there, the transport and the lane.
    Routing,
    /// The access itself to memory of the own node: load, store, atomic operation, copy, and
    /// the rings and flags that lie in it.
    Memory,
    /// The work-queue entry: room in the queue, its segments, its bytes.
    Descriptor,
    /// The doorbell record, with the order before it.
    DoorbellRecord,
    /// The BlueFlame register, with the order before it and behind it.
    BlueFlame,
    /// Completions: of entries, and of operations by counters and completion queues.
    Completion,
    /// The match of messages with buffers.
    Matching,
    /// Locks.
    Lock,
    /// Loops that wait. Their count depends on others.
    Waiting,
    /// Other libraries: functions of the C library and of Rust's, libfabric's own part.
    Misc,
    /// Instructions of these libraries of no layer: a rule is missing.
    Unaccounted,
}

impl Layer {
    /// All, from the caller down.
    pub const ALL: [Self; 13] = [
        Self::Caller,
        Self::Interface,
        Self::Routing,
        Self::Memory,
        Self::Descriptor,
        Self::DoorbellRecord,
        Self::BlueFlame,
        Self::Completion,
        Self::Matching,
        Self::Lock,
        Self::Waiting,
        Self::Misc,
        Self::Unaccounted,
    ];

    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Interface => "interface",
            Self::Routing => "routing",
            Self::Memory => "memory",
            Self::Descriptor => "descriptor",
            Self::DoorbellRecord => "doorbell record",
            Self::BlueFlame => "BlueFlame",
            Self::Completion => "completion",
            Self::Matching => "matching",
            Self::Lock => "lock",
            Self::Waiting => "waiting",
            Self::Misc => "misc",
            Self::Unaccounted => "unaccounted",
        }
    }

    /// Returns the layer of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A rule: a part of the path of a source file, the last words of functions in it, all if there
/// are none, and their layer.
type Rule = (&'static str, &'static [&'static str], Layer);

/// The rules, of which the first that applies to a frame decides.
const RULES: &[Rule] = &[
    // The device's data path.
    ("mlx5/src/completion.rs", &[], Layer::Completion),
    (
        "mlx5/src/",
        &["count", "entry_before_record"],
        Layer::DoorbellRecord,
    ),
    (
        "mlx5/src/",
        &[
            "store_to_register",
            "record_before_register",
            "flush_register",
            "write_combining_fence",
            "other_half",
            "ring",
            "ring_own",
            "ring_shared",
        ],
        Layer::BlueFlame,
    ),
    ("mlx5/src/guard.rs", &[], Layer::Lock),
    ("mlx5/src/registers.rs", &[], Layer::Lock),
    ("mlx5/src/head.rs", &["take", "drop"], Layer::Lock),
    ("mlx5/src/head.rs", &[], Layer::Descriptor),
    ("mlx5/src/route.rs", &[], Layer::Routing),
    ("mlx5/src/remote.rs", &[], Layer::Routing),
    ("mlx5/src/lane/", &["idle"], Layer::Waiting),
    ("mlx5/src/lane/completing.rs", &[], Layer::Completion),
    ("mlx5/src/lane/quiet.rs", &[], Layer::Completion),
    ("mlx5/src/lane/shared.rs", &[], Layer::Completion),
    ("mlx5/src/lane/following.rs", &[], Layer::Completion),
    ("mlx5/src/receives.rs", &[], Layer::Completion),
    ("mlx5/src/", &[], Layer::Descriptor),
    ("mlx5-defs/src/", &[], Layer::Descriptor),
    // Memory of the own node.
    ("shm/src/lock.rs", &[], Layer::Lock),
    ("shm/src/wait.rs", &[], Layer::Waiting),
    ("shm/src/futex.rs", &[], Layer::Waiting),
    (
        "shm/src/flag.rs",
        &["wait", "sleep", "sleep_while", "relax", "yield_processor"],
        Layer::Waiting,
    ),
    ("shm/src/", &[], Layer::Memory),
    // The system's libfabric.
    ("fi-provider/ofi/src/progress.rs", &[], Layer::Completion),
    ("fi-provider/ofi/src/operation.rs", &[], Layer::Completion),
    ("fi-provider/ofi/src/lane.rs", &[], Layer::Completion),
    ("fi-provider/ofi/src/", &[], Layer::Descriptor),
    // Symmetric memory on the fabric.
    ("fi-provider/src/symmetric/", &[], Layer::Routing),
    ("fi-provider/src/device/", &[], Layer::Routing),
    ("fi-provider/src/registration/", &[], Layer::Routing),
    // The fabric's own objects.
    ("fi-provider/src/raw/completion/", &[], Layer::Completion),
    ("fi-provider/src/raw/far/log.rs", &[], Layer::Completion),
    ("fi-provider/src/raw/far/lone.rs", &[], Layer::Completion),
    (
        "fi-provider/src/raw/endpoint/pending.rs",
        &[],
        Layer::Completion,
    ),
    (
        "fi-provider/src/raw/endpoint/counted.rs",
        &[],
        Layer::Completion,
    ),
    (
        "fi-provider/src/raw/endpoint/arrive.rs",
        &[],
        Layer::Matching,
    ),
    (
        "fi-provider/src/raw/endpoint/early.rs",
        &[],
        Layer::Matching,
    ),
    ("fi-provider/src/raw/endpoint/held.rs", &[], Layer::Matching),
    (
        "fi-provider/src/raw/endpoint/origin.rs",
        &[],
        Layer::Matching,
    ),
    (
        "fi-provider/src/raw/endpoint/tagged.rs",
        &[],
        Layer::Matching,
    ),
    ("fi-provider/src/raw/matcher.rs", &[], Layer::Matching),
    ("fi-provider/src/raw/fifo.rs", &[], Layer::Matching),
    ("fi-provider/src/raw/tagged/", &[], Layer::Matching),
    ("fi-provider/src/raw/progress.rs", &[], Layer::Completion),
    ("fi-provider/src/raw/", &[], Layer::Routing),
    ("fi-provider/src/", &[], Layer::Routing),
    // Interfaces.
    ("fi-provider/libfabric/src/cq.rs", &[], Layer::Completion),
    ("fi-provider/libfabric/src/cntr.rs", &[], Layer::Completion),
    ("fi-provider/libfabric/src/", &[], Layer::Interface),
    ("fi-provider/ofi-abi/src/", &[], Layer::Interface),
    ("fi-provider/bootstrap/src/", &[], Layer::Interface),
    ("gasnet-conduit/src/lock.rs", &[], Layer::Lock),
    ("gasnet-conduit/", &[], Layer::Interface),
    ("shmem/src/stall.rs", &[], Layer::Waiting),
    ("shmem/src/sync.rs", &["wait_for"], Layer::Waiting),
    ("shmem/src/", &[], Layer::Interface),
    ("shmem/cabi/src/", &[], Layer::Interface),
    // Loops that count.
    ("tests/icount/", &[], Layer::Caller),
];

/// Returns the layer of an instruction with these frames, the innermost first, and the frame that
/// is of it; `None` where no frame is of one.
pub fn of(frames: &[Frame]) -> Option<(Layer, &Frame)> {
    let layers = frames.iter().map(of_frame).enumerate();
    let (index, layer) = layers
        .filter_map(|(index, layer)| Some((index, layer?)))
        .next()?;
    let frame = &frames[index];
    let is_access = frame.file.contains(NEAR)
        && frames[..index]
            .iter()
            .any(|inner| ACCESS.contains(&last_word(&inner.function)));
    Some((if is_access { Layer::Memory } else { layer }, frame))
}

/// Returns whether these frames are of other libraries of Rust: of a function that is called, and
/// not in line.
pub fn is_of_others(frames: &[Frame]) -> bool {
    frames.last().is_some_and(|outermost| {
        let is_there = OTHERS.iter().any(|part| outermost.file.contains(part));
        is_there || outermost.file.is_empty() && is_of_standard_library(&outermost.function)
    })
}

/// Returns whether a function is the standard library's, by its path.
pub(crate) fn is_of_standard_library(function: &str) -> bool {
    let path = function.trim_start_matches(['<', '*', '&']);
    let crates = ["std::", "core::", "alloc::"];
    crates.iter().any(|name| path.starts_with(name))
}

/// Returns whether a function comes with the compiler, and so may be in each of several libraries:
/// one of the standard library, one of the allocator, or a method of a plain type by a trait of
/// the standard library, as `<&str as core::fmt::Debug>::fmt`.
pub(crate) fn comes_with_the_compiler(function: &str) -> bool {
    let of_plain_type = || {
        let (plain, of_trait) = function.strip_prefix('<')?.split_once(" as ")?;
        (!plain.contains("::")).then(|| is_of_standard_library(of_trait))
    };
    is_of_standard_library(function)
        || function.starts_with("__rustc::")
        || of_plain_type().unwrap_or(false)
}

/// Parts of the paths of their sources: of the standard library, of the libraries that it stands
/// on, and of a registry.
const OTHERS: [&str; 3] = ["/rustc/", "/rust/deps/", "/registry/src/"];

/// Returns the path of a source file of Farreach within the project, any other as it is.
pub fn in_project(file: &str) -> &str {
    let roots = ["/fi-provider/", "/shmem/", "/gasnet-conduit/", "/tests/"];
    let at = roots.iter().filter_map(|root| file.find(root)).min();
    at.map_or(file, |at| &file[at + 1..])
}

/// The sources that reach memory of the own node by the processor's loads and stores, and the
/// functions of the standard library that are these.
const NEAR: &str = "fi-provider/src/symmetric/";
const ACCESS: [&str; 2] = ["read_volatile", "write_volatile"];

fn of_frame(frame: &Frame) -> Option<Layer> {
    let name = last_word(&frame.function);
    let rule = RULES.iter().find(|(path, functions, _)| {
        frame.file.contains(path) && (functions.is_empty() || functions.contains(&name))
    });
    rule.map(|(.., layer)| *layer)
}

/// Returns the name of a function without its path and its generic arguments.
fn last_word(function: &str) -> &str {
    let function = match function.strip_suffix('>') {
        // `path::name::<T>` and `path::name<T>`.
        Some(_) => {
            let mut depth = 0;
            let begin = function.char_indices().rev().find(|(_, char)| {
                match char {
                    '>' => depth += 1,
                    '<' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            begin.map_or(function, |(at, _)| function[..at].trim_end_matches("::"))
        }
        None => function,
    };
    function.rsplit("::").next().unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, function: &str) -> Frame {
        Frame {
            file: file.to_owned(),
            line: 1,
            function: function.to_owned(),
        }
    }

    #[test]
    fn the_innermost_frame_of_a_layer_decides() {
        let core = frame(
            "/rustc/1/library/core/src/ptr/mod.rs",
            "core::ptr::write_volatile",
        );
        let record = frame(
            "/x/fi-provider/mlx5/src/queue.rs",
            "fi_mlx5::queue::Queue::count",
        );
        let post = frame(
            "/x/fi-provider/mlx5/src/post.rs",
            "fi_mlx5::post::finish::<Alone>",
        );
        let call = frame("/x/shmem/cabi/src/rma.rs", "shmem_int_p");
        let all = [core.clone(), record, post.clone(), call.clone()];
        let of = |frames: &[Frame]| super::of(frames).map(|(layer, _)| layer);
        assert_eq!(of(&all), Some(Layer::DoorbellRecord));
        assert_eq!(
            of(&[core.clone(), post, call.clone()]),
            Some(Layer::Descriptor)
        );
        assert_eq!(of(&[core.clone(), call]), Some(Layer::Interface));
        assert_eq!(of(&[core]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn words_of_functions() {
        for (function, word) in [
            ("shmem_int_p", "shmem_int_p"),
            ("a::b::c", "c"),
            ("a::b::<T<U>, V>", "b"),
            ("a::b<T::X>", "b"),
            ("<a::T as b::U>::c", "c"),
        ] {
            assert_eq!(last_word(function), word, "{function}");
        }
    }

    #[test]
    fn functions_of_the_standard_library_are_of_others() {
        let function = "<alloc::raw_vec::RawVec<u8> as core::ops::Drop>::drop";
        assert!(is_of_others(&[frame("", function)]));
        assert!(is_of_others(&[frame(
            "/rustc/1/library/std/src/io/mod.rs",
            "write"
        )]));
        assert!(!is_of_others(&[frame("", "shmem::world::init")]));
        assert!(!is_of_others(&[]));
    }

    #[test]
    fn functions_of_the_compiler_are_in_many_libraries() {
        for (function, is_theirs) in [
            ("__rustc::__rust_alloc", true),
            (
                "<&str as <alloc::ffi::c_str::CString>::new::SpecNewImpl>::spec_new_impl",
                true,
            ),
            ("core::fmt::write", true),
            ("<shmem::job::Error as core::fmt::Display>::fmt", false),
            ("<u64 as shmem::Bytes>::bytes", false),
            ("shmem_int_p", false),
        ] {
            assert_eq!(comes_with_the_compiler(function), is_theirs, "{function}");
        }
    }

    #[test]
    fn names_of_layers_lead_back() {
        for layer in Layer::ALL {
            assert_eq!(Layer::named(layer.name()), Some(layer));
        }
    }
}
