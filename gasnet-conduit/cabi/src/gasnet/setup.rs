//! Joining the job, the segment, and questions about both.

use super::{
    BAD_ARG, HAS_LOCK, Mode, NOT_INIT, OK, RESOURCE, core, engine, exit, failure, handlers, index,
    rank, ranks, state,
};
use gasnet_conduit::{Alone, Config, Core, Engine, Error, Segment, Threads};
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The mode that has threads, and the modes of waits, as gasnet.h has them.
const PAR: c_int = 2;
const WAIT_SPIN: c_int = 0;
const WAIT_BLOCK: c_int = 1;
const WAIT_SPINBLOCK: c_int = 2;

/// Bytes that the segment is counted in.
const PAGE: u64 = 4096;

/// The memory for segments of a node, at most, where no variable says otherwise.
const MOST_MEMORY: u64 = 16 << 30;

/// Polls of a wait before the processor is given to others, where each process has one.
const SPINS: u32 = 1000;

/// By rank, the lowest rank of its node.
static NODES: OnceLock<Box<[u32]>> = OnceLock::new();

/// An entry of the table of handlers: `gasnet_handlerentry_t`.
#[repr(C)]
#[derive(Debug)]
struct Entry {
    index: u8,
    function: *mut c_void,
}

/// `gasnet_seginfo_t`.
#[repr(C)]
#[derive(Debug)]
struct SegmentInfo {
    address: *mut c_void,
    bytes: usize,
}

/// `gasnet_nodeinfo_t`.
#[repr(C)]
#[derive(Debug)]
struct NodeInfo {
    host: u32,
    supernode: u32,
    offset: isize,
}

#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_init(
    _count: *mut c_int,
    _words: *mut *mut *mut c_char,
    mode: c_int,
) -> c_int {
    if !state().am.load(Ordering::Relaxed).is_null() {
        failure::say("gasnet_init", format_args!("it has been called already"));
        return NOT_INIT;
    }
    let result = if mode == PAR {
        HAS_LOCK.store(true, Ordering::Relaxed);
        join::<Threads>()
    } else {
        join::<Alone>()
    };
    match result {
        Ok(()) => OK,
        Err(error) => {
            failure::say("gasnet_init", format_args!("{error}"));
            RESOURCE
        }
    }
}

/// Opens the engine and fills the state.
fn join<G: Mode>() -> Result<(), Error> {
    let memory = memory()?;
    exit::read_limit()?;
    let engine = Engine::<G>::open(Config {
        most_memory: memory as usize,
        ..Config::default()
    })?;
    let engine = Box::leak(engine);
    // SAFETY: others send from the exchange below on.
    unsafe { handlers::register_own(engine) };
    let near = || (0..engine.ranks()).filter(|rank| engine.is_near(*rank));
    let most_local = (memory / near().count() as u64) & !(PAGE - 1);
    let lowest = near().next().unwrap_or(0);
    let own = [most_local, lowest.into()].map(u64::to_le_bytes).concat();
    let all = engine.exchange(&own)?;
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let most = all.chunks_exact(16).map(|both| number(&both[..8]));
    let nodes = all.chunks_exact(16).map(|both| number(&both[8..]) as u32);
    // Set once: the engine is opened once.
    let _ = NODES.set(nodes.collect());

    let state = state();
    state.node.store(engine.rank(), Ordering::Relaxed);
    state.nodes.store(engine.ranks(), Ordering::Relaxed);
    state
        .most_medium
        .store(engine.most_medium() as u32, Ordering::Relaxed);
    state.most_local.store(most_local, Ordering::Relaxed);
    state
        .most_global
        .store(most.min().unwrap_or(0), Ordering::Relaxed);
    state.am.store(
        std::ptr::from_ref(engine).cast_mut().cast(),
        Ordering::Relaxed,
    );
    farreach_gasnet_set_waitmode(WAIT_SPINBLOCK);
    exit::install();
    Ok(())
}

/// Returns the bytes of memory for the segments of a node: GASNET_MAX_SEGMENT_SIZE, or half of the
/// memory that there is.
fn memory() -> Result<u64, Error> {
    if let Some(value) =
        std::env::var_os("GASNET_MAX_SEGMENT_SIZE").filter(|value| !value.is_empty())
    {
        let text = value.to_string_lossy();
        return bytes(&text).filter(|bytes| *bytes >= PAGE).ok_or_else(|| {
            Error::variable(
                "GASNET_MAX_SEGMENT_SIZE",
                &text,
                "numbers of bytes from 4096 on, with K, M, G or T behind or not",
            )
        });
    }
    // SAFETY: sysconf has no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    let there = u64::try_from(pages).unwrap_or(0) * PAGE / 2;
    Ok(there.clamp(64 << 20, MOST_MEMORY))
}

/// Reads a number of bytes: `512M`, `1.5GB`, `65536`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_suffix('B').unwrap_or(&text);
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let unit = units
        .iter()
        .find_map(|(end, bits)| Some((text.strip_suffix(end)?, *bits)));
    let (number, bits) = unit.unwrap_or((text, 0));
    let number: f64 = number.trim().parse().ok()?;
    let bytes = number * (1_u64 << bits) as f64;
    (bytes.is_finite() && (0.0..9e15).contains(&bytes)).then_some(bytes as u64)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_attach(
    table: *mut c_void,
    entries: c_int,
    bytes: usize,
    mode: c_int,
) -> c_int {
    let routine = "gasnet_attach";
    if state().am.load(Ordering::Relaxed).is_null() {
        failure::say(routine, format_args!("gasnet_init has not been called"));
        return NOT_INIT;
    }
    if (mode == PAR) != HAS_LOCK.load(Ordering::Relaxed) {
        let what = format_args!("the program's files are compiled for different modes");
        failure::say(routine, what);
        return BAD_ARG;
    }
    let most = state().most_local.load(Ordering::Relaxed);
    if !(bytes as u64).is_multiple_of(PAGE) || bytes as u64 > most {
        failure::say(
            routine,
            format_args!("a segment of {bytes} bytes: a multiple of {PAGE} up to {most} is wanted"),
        );
        return BAD_ARG;
    }
    if state().reach.load(Ordering::Relaxed) != 0 {
        failure::say(routine, format_args!("it has been called already"));
        return NOT_INIT;
    }
    let table = match usize::try_from(entries) {
        Ok(0) => &mut [],
        // SAFETY: the program passes a table of so many entries.
        Ok(many) => unsafe { std::slice::from_raw_parts_mut(table.cast::<Entry>(), many) },
        Err(_) => {
            failure::say(routine, format_args!("a table of {entries} entries"));
            return BAD_ARG;
        }
    };
    if let Err(what) = choose(table) {
        failure::say(routine, format_args!("{what}"));
        return BAD_ARG;
    }
    // SAFETY: the functions are handlers of the program's.
    let result = unsafe {
        if mode == PAR {
            reach(engine::<Threads>(), table, bytes)
        } else {
            reach(engine::<Alone>(), table, bytes)
        }
    };
    match result {
        Ok(()) => OK,
        Err(error) => {
            failure::say(routine, format_args!("{error}"));
            RESOURCE
        }
    }
}

/// Checks the indices of a table, and chooses those that are left to the library.
fn choose(table: &mut [Entry]) -> Result<(), String> {
    let mut taken = [false; 256];
    for entry in table.iter().filter(|entry| entry.index != 0) {
        if entry.index < index::FIRST {
            return Err(format!(
                "handler index {} is not between {} and 255",
                entry.index,
                index::FIRST
            ));
        }
        if std::mem::replace(&mut taken[usize::from(entry.index)], true) {
            return Err(format!("two handlers have the index {}", entry.index));
        }
    }
    for entry in table.iter_mut().filter(|entry| entry.index == 0) {
        let free = (index::FIRST..=255).find(|at| !taken[usize::from(*at)]);
        entry.index = free.ok_or("there are more than 128 handlers")?;
        taken[usize::from(entry.index)] = true;
    }
    Ok(())
}

/// Registers the handlers and lets others reach the segment.
///
/// # Safety
/// The functions are handlers as the GASNet specification has them.
unsafe fn reach<G: Mode>(engine: &Engine<G>, table: &[Entry], bytes: usize) -> Result<(), Error> {
    // SAFETY: others send to these handlers when they are attached, which all do together.
    unsafe {
        for entry in table {
            handlers::register(engine, entry.index, entry.function);
        }
        engine.attach(None, bytes)?;
    }
    let segments = engine.segments().unwrap_or_default();
    state()
        .segments
        .store(segments.as_ptr().cast_mut(), Ordering::Relaxed);
    state()
        .reach
        .store(segments.len() as u32, Ordering::Relaxed);
    Ok(())
}

/// Returns the segments; none before they are attached.
fn segments() -> &'static [Segment] {
    core().and_then(Core::segments).unwrap_or_default()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_segment_info(table: *mut c_void, entries: c_int) -> c_int {
    if segments().is_empty() {
        let what = format_args!("gasnet_attach has not been called");
        failure::say("gasnet_getSegmentInfo", what);
        return NOT_INIT;
    }
    let many = usize::try_from(entries).unwrap_or(0);
    for (at, segment) in segments().iter().enumerate().take(many) {
        let info = SegmentInfo {
            address: std::ptr::with_exposed_provenance_mut(segment.start as usize),
            bytes: segment.bytes as usize,
        };
        // SAFETY: the program's table has so many entries.
        unsafe { table.cast::<SegmentInfo>().add(at).write(info) };
    }
    OK
}

#[unsafe(no_mangle)]
unsafe extern "C" fn farreach_gasnet_node_info(table: *mut c_void, entries: c_int) -> c_int {
    let Some(nodes) = NODES.get() else {
        let what = format_args!("gasnet_init has not been called");
        failure::say("gasnet_getNodeInfo", what);
        return NOT_INIT;
    };
    let many = usize::try_from(entries).unwrap_or(0);
    for (at, node) in nodes.iter().enumerate().take(many) {
        let segment = segments().get(at).filter(|segment| segment.near != 0);
        let info = NodeInfo {
            host: *node,
            supernode: *node,
            offset: segment.map_or(0, |segment| {
                (segment.mapped.addr() as isize).wrapping_sub(segment.start as isize)
            }),
        };
        // SAFETY: the program's table has so many entries.
        unsafe { table.cast::<NodeInfo>().add(at).write(info) };
    }
    OK
}

/// Sets how waits use the processor.
#[unsafe(no_mangle)]
extern "C" fn farreach_gasnet_set_waitmode(mode: c_int) -> c_int {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let own = NODES.get().and_then(|nodes| nodes.get(rank() as usize));
    let beside = NODES.get().map_or(1, |nodes| {
        nodes.iter().filter(|node| Some(*node) == own).count()
    });
    let spins = match mode {
        WAIT_SPIN => u32::MAX,
        WAIT_BLOCK => 0,
        WAIT_SPINBLOCK if beside > processors || ranks() == 1 => 0,
        WAIT_SPINBLOCK => SPINS,
        _ => {
            failure::say(
                "gasnet_set_waitmode",
                format_args!("there is no mode {mode}"),
            );
            return BAD_ARG;
        }
    };
    state().spins.store(spins, Ordering::Relaxed);
    OK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, number) in [
            ("65536", 65536),
            ("512M", 512 << 20),
            ("1.5 gb", 3 << 29),
            ("4K", 4096),
        ] {
            assert_eq!(bytes(text), Some(number), "{text}");
        }
        for text in ["", "M", "x", "-1", "1E30"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn indices_are_chosen_and_checked() {
        let table = |indices: &[u8]| -> Vec<Entry> {
            let entry = |index: &u8| Entry {
                index: *index,
                function: std::ptr::null_mut(),
            };
            indices.iter().map(entry).collect()
        };
        let mut some = table(&[128, 0, 255, 0]);
        choose(&mut some).unwrap();
        let indices: Vec<u8> = some.iter().map(|entry| entry.index).collect();
        assert_eq!(indices, [128, 129, 255, 130]);
        for wrong in [&[127][..], &[1], &[200, 200], &[0; 129]] {
            assert!(choose(&mut table(wrong)).is_err(), "{wrong:?}");
        }
        assert!(choose(&mut table(&[0; 128])).is_ok());
    }
}
