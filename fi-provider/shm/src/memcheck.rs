//! Words to valgrind's memcheck about memory: instructions that do nothing, and that valgrind knows
//! (client requests; the Valgrind manual, section 4.7, and valgrind/memcheck.h).

/// The first request of memcheck: 'M', 'C'.
const BASE: u64 = 0x4d43_0000;

/// A request about a range of memory.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Request {
    /// Nobody may access it.
    NoAccess = BASE,
    /// It may be accessed, and has values.
    Defined = BASE + 2,
    /// Accesses that nobody may make are told of.
    Report = BASE + 13,
    /// They are not.
    ReportNot = BASE + 14,
}

/// Makes a request about `len` bytes from `start`.
#[cfg(target_arch = "x86_64")]
pub(crate) fn request(request: Request, start: usize, len: usize) {
    let words = [request as u64, start as u64, len as u64, 0, 0, 0];
    // SAFETY: the rotations are by 128 bits in all, and the exchange is of a register with itself;
    // valgrind reads the words and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inlateout("rdx") 0_u64 => _,
            options(nostack),
        );
    }
}

/// Does nothing: memory is as memcheck takes it by itself.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn request(_: Request, _: usize, _: usize) {}
