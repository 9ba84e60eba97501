//! The OpenSHMEM routine that a fault happened in, by the exported symbols of this library.
//!
//! They are found at initialisation; the handler reads them, code, and the stack, and first asks
//! the kernel whether an address is mapped. dladdr(3) takes a lock.

#![expect(
    unsafe_code,
    reason = "reads tables of the dynamic linker, code and the stack by their addresses"
)]

use crate::plain::Plain;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;

/// The exported symbols of the object that this library is in; none in an executable that exports
/// nothing.
static SYMBOLS: Plain<Option<Symbols>> = Plain::new(None);

/// An object's table of dynamic symbols.
#[derive(Clone, Copy)]
struct Symbols {
    /// Address at which the object is loaded, less the addresses in its file.
    bias: usize,
    table: *const libc::Elf64_Sym,
    count: usize,
    strings: *const c_char,
}

// SAFETY: the tables lie in memory of the object that is mapped as long as this code is, and that
// nobody writes.
unsafe impl Send for Symbols {}
// SAFETY: nobody writes the tables, so that threads may read them at a time.
unsafe impl Sync for Symbols {}

/// A function in a symbol's `st_info` (`STT_FUNC`).
const FUNCTION: u8 = 2;

/// Finds this library's symbols.
///
/// # Safety
/// No other thread is inside the library.
pub(super) unsafe fn learn() {
    let mut found: Option<Symbols> = None;
    // SAFETY: the callback gets the address of a live value and keeps nothing.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut found).cast()) };
    // SAFETY: no other thread is inside the library, by contract; the handler is not installed yet.
    unsafe { *SYMBOLS.get_mut() = found };
}

/// Takes the tables of the object that holds this function, and ends the walk there.
unsafe extern "C" fn look_at(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the C library passes a valid record, and the address that `learn` gave.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<Symbols>>()) };
    // SAFETY: the record says where the headers are and how many.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let bias = info.dlpi_addr as usize;
    let own = look_at as *const () as usize;
    let holds = |h: &libc::Elf64_Phdr| {
        own.wrapping_sub(bias.wrapping_add(h.p_vaddr as usize)) < h.p_memsz as usize
    };
    if !headers
        .iter()
        .any(|h| h.p_type == libc::PT_LOAD && holds(h))
    {
        return 0;
    }
    let dynamic = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC);
    *found = dynamic.and_then(|h| {
        // SAFETY: the header is of a loaded object's dynamic section.
        unsafe {
            symbols(
                bias,
                bias.wrapping_add(h.p_vaddr as usize) as *const Dynamic,
            )
        }
    });
    1
}

/// An entry of a dynamic section (`Elf64_Dyn`).
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// Returns the tables that a dynamic section names.
///
/// # Safety
/// The section is a loaded object's, whose addresses in the file lie `bias` lower.
unsafe fn symbols(bias: usize, section: *const Dynamic) -> Option<Symbols> {
    const STRINGS: i64 = 5;
    const TABLE: i64 = 6;
    const HASH: i64 = 4;
    const GNU_HASH: i64 = 0x6fff_fef5;
    let entry = |wanted: i64| {
        // SAFETY: the section ends with a tag of 0, which the walk does not pass.
        let entries = (0..).map(|i| unsafe { &*section.add(i) });
        let mut entries = entries.take_while(|entry| entry.tag != 0);
        let value = entries.find(|entry| entry.tag == wanted)?.value as usize;
        // Some C libraries leave the file's addresses there.
        Some(if value < bias { value + bias } else { value })
    };
    let count = match (entry(HASH), entry(GNU_HASH)) {
        // SAFETY: the second word of the table is the number of symbols (System V ABI, "Hash
        // Table").
        (Some(hash), _) => unsafe { (hash as *const u32).add(1).read() as usize },
        // SAFETY: the table is the loaded object's.
        (None, Some(hash)) => unsafe { count_of(hash as *const u32) },
        (None, None) => return None,
    };
    Some(Symbols {
        bias,
        table: entry(TABLE)? as *const libc::Elf64_Sym,
        count,
        strings: entry(STRINGS)? as *const c_char,
    })
}

/// Returns the number of symbols by a GNU hash table: four numbers, the words of a filter, the
/// first symbol of each bucket, and a word for each symbol, odd for the last of a bucket.
///
/// # Safety
/// The table is a loaded object's.
unsafe fn count_of(table: *const u32) -> usize {
    // SAFETY: every index lies in the table, by its form.
    let word = |i: usize| unsafe { table.add(i).read() } as usize;
    let (buckets, first, filter) = (word(0), word(1), word(2));
    let start = 4 + filter * (size_of::<u64>() / size_of::<u32>());
    let last = (0..buckets).map(|i| word(start + i)).max().unwrap_or(0);
    if last < first {
        return first;
    }
    let chain = start + buckets;
    let end = (last..).find(|symbol| word(chain + symbol - first) & 1 == 1);
    end.unwrap_or(last) + 1
}

impl Symbols {
    /// Returns the name of the OpenSHMEM routine that `address` lies in.
    fn routine_at(&self, address: usize) -> Option<&'static str> {
        (0..self.count)
            // SAFETY: the table has `count` entries.
            .map(|i| unsafe { &*self.table.add(i) })
            .filter(|symbol| {
                let start = self.bias.wrapping_add(symbol.st_value as usize);
                let is_function = symbol.st_info & 0xf == FUNCTION && symbol.st_shndx != 0;
                is_function && address.wrapping_sub(start) < symbol.st_size as usize
            })
            .find_map(|symbol| {
                // SAFETY: a symbol's name is a C string of the table, which stays as long as this
                // code.
                let name = unsafe { CStr::from_ptr(self.strings.add(symbol.st_name as usize)) };
                let name = name.to_str().ok()?;
                // The profiling interface gives every routine two names at one address.
                let name = name.strip_prefix('p').unwrap_or(name);
                name.starts_with("shmem_").then_some(name)
            })
    }
}

/// Returns the OpenSHMEM routine that a fault happened in: the one that holds the place of the
/// fault or the nearest return address on the stack, or that was called from there (a large copy is
/// a jump out of the routine, which leaves no address of its own).
///
/// # Safety
/// The context is one that the kernel has passed to a handler.
pub(super) unsafe fn at_fault(context: *mut c_void) -> Option<&'static str> {
    let symbols = SYMBOLS.get().as_ref()?;
    // SAFETY: the kernel has passed the context to a handler.
    let (place, stack) = unsafe { registers(context)? };
    let find = |address: usize| symbols.routine_at(address);
    let called = |address: usize| find(address).or_else(|| find(callee(address)?));
    find(place).or_else(|| words_of(stack).find_map(called))
}

/// Returns the place of the interrupted code, and its stack pointer.
///
/// # Safety
/// The context is one that the kernel has passed to a handler.
#[cfg(target_arch = "x86_64")]
unsafe fn registers(context: *mut c_void) -> Option<(usize, usize)> {
    // SAFETY: the kernel has passed the context to a handler, as a ucontext_t.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let register = |which: c_int| registers[which as usize] as usize;
    Some((register(libc::REG_RIP), register(libc::REG_RSP)))
}

/// # Safety
/// None: nothing is read.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn registers(_context: *mut c_void) -> Option<(usize, usize)> {
    None
}

/// Returns the words on the stack that may be addresses of code.
fn words_of(stack: usize) -> impl Iterator<Item = usize> {
    const WORDS: usize = 256;
    const CODE: Range<usize> = 0x1_0000..1 << 47;
    let page = fi_provider::node::segment::page_size();
    let stack = stack & !(size_of::<usize>() - 1);
    // The page of the stack pointer is mapped; the next one need not be.
    let words = WORDS.min((stack / page * page + page - stack) / size_of::<usize>());
    let words = if is_readable(stack) { words } else { 0 };
    (0..words)
        // SAFETY: the word lies in the page that was found mapped.
        .map(move |i| unsafe { (stack as *const usize).add(i).read_volatile() })
        .filter(|word| CODE.contains(word))
}

/// Returns the address that the call before `return_address` went to, through a jump of the
/// procedure linkage table if there is one.
fn callee(return_address: usize) -> Option<usize> {
    const CALL: u8 = 0xe8;
    const JUMP_INDIRECT: [u8; 2] = [0xff, 0x25];
    const CALL_INDIRECT: [u8; 2] = [0xff, 0x15];
    const PREFIXES: [&[u8]; 2] = [&[0xf3, 0x0f, 0x1e, 0xfa], &[0xf2]];
    let relative = |code: &[u8]| code.try_into().ok().map(i32::from_le_bytes);
    let slot =
        |next: usize, distance: i32| read::<usize>(next.wrapping_add_signed(distance as isize));
    let before: [u8; 8] = read(return_address.checked_sub(8)?)?;
    let before = &before[2..];
    if before[..2] == CALL_INDIRECT {
        return slot(return_address, relative(&before[2..])?);
    }
    if before[1] != CALL {
        return None;
    }
    let mut target = return_address.wrapping_add_signed(relative(&before[2..])? as isize);
    for prefix in PREFIXES {
        if read::<[u8; 8]>(target)?.starts_with(prefix) {
            target += prefix.len();
        }
    }
    let code: [u8; 8] = read(target)?;
    if code[..2] == JUMP_INDIRECT {
        slot(target + 6, relative(&code[2..6])?)
    } else {
        Some(target)
    }
}

/// Returns the eight bytes at `address`, where they are mapped.
fn read<T: Copy>(address: usize) -> Option<T> {
    const { assert!(size_of::<T>() == 8) };
    // SAFETY: the bytes are mapped for reading, and types that are read here are of plain bits.
    is_readable(address).then(|| unsafe { (address as *const T).read_unaligned() })
}

/// Returns whether eight bytes are mapped for reading: the kernel reads a set of signals from there
/// before it finds that the operation on the set is none.
fn is_readable(address: usize) -> bool {
    const NOTHING: c_int = -1;
    const BYTES: usize = 8;
    // SAFETY: the call changes no mask, as it is told of no way to, and the kernel checks the
    // address.
    let refused = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            NOTHING,
            address,
            std::ptr::null_mut::<c_void>(),
            BYTES,
        )
    };
    // SAFETY: the location is the thread's own.
    refused != 0 && unsafe { *libc::__errno_location() } == libc::EINVAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_what_can_be_read() {
        let word = 7_u64;
        assert!(is_readable((&raw const word).addr()));
        assert!(is_readable(
            the_kernel_tells_what_can_be_read as *const () as usize
        ));
        assert!(!is_readable(8));
        assert_eq!(read((&raw const word).addr()), Some(word));
        assert_eq!(read::<u64>(1 << 46), None);
    }

    #[test]
    fn a_table_of_symbols_is_counted_and_searched() {
        // The tables of every object. getpid is in the C library's, of either kind of hash table.
        unsafe extern "C" fn of_getpid(
            info: *mut libc::dl_phdr_info,
            _size: usize,
            found: *mut c_void,
        ) -> c_int {
            // SAFETY: a valid record, and the address that was given below.
            let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Symbols>>()) };
            // SAFETY: the record says where the headers are and how many.
            let headers =
                unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
            let bias = info.dlpi_addr as usize;
            for h in headers.iter().filter(|h| h.p_type == libc::PT_DYNAMIC) {
                let section = bias.wrapping_add(h.p_vaddr as usize) as *const Dynamic;
                // SAFETY: the header is of a loaded object's dynamic section.
                found.extend(unsafe { symbols(bias, section) });
            }
            0
        }
        let mut objects: Vec<Symbols> = Vec::new();
        // SAFETY: the callback gets the address of a live value and keeps nothing.
        unsafe { libc::dl_iterate_phdr(Some(of_getpid), (&raw mut objects).cast()) };
        let getpid = libc::getpid as *const () as usize;
        let names = |object: &Symbols| {
            let symbols = (0..object.count)
                // SAFETY: the table has as many entries.
                .map(|i| unsafe { &*object.table.add(i) });
            symbols
                .filter(|symbol| symbol.st_shndx != 0)
                .filter(|symbol| object.bias.wrapping_add(symbol.st_value as usize) == getpid)
                // SAFETY: a symbol's name is a C string of the table.
                .map(|symbol| unsafe {
                    CStr::from_ptr(object.strings.add(symbol.st_name as usize))
                })
                .map(|name| name.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let found: Vec<String> = objects.iter().flat_map(names).collect();
        assert!(found.iter().any(|name| name == "getpid"), "{found:?}");
        assert!(
            objects
                .iter()
                .all(|object| object.routine_at(getpid).is_none())
        );
    }
}
