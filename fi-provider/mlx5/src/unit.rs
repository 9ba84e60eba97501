//! The 16-byte units of entries as the data path handles them: in a vector register from where they are made to
//! where they are stored, in the ring and in the BlueFlame register.

#![expect(unsafe_code, reason = "stores into rings and device registers")]

/// Sixteen bytes of an entry.
#[cfg(target_arch = "x86_64")]
pub(crate) type Unit = core::arch::x86_64::__m128i;

/// Sixteen bytes of an entry.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Unit([u64; 2]);

/// Returns a unit of two words as they lie in memory.
#[inline(always)]
pub(crate) fn unit(low: u64, high: u64) -> Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_set_epi64x(high.cast_signed(), low.cast_signed())
    }
    #[cfg(not(target_arch = "x86_64"))]
    Unit([low, high])
}

/// Returns the unit of four bytes and eight behind them; zeros fill it up.
#[inline(always)]
pub(crate) fn twelve(first: u32, behind: u64) -> Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        use core::arch::x86_64::{_mm_bslli_si128, _mm_cvtsi64_si128, _mm_or_si128};
        let behind = _mm_bslli_si128::<4>(_mm_cvtsi64_si128(behind.cast_signed()));
        _mm_or_si128(behind, unit(first.into(), 0))
    }
    #[cfg(not(target_arch = "x86_64"))]
    unit(u64::from(first) | behind << 32, behind >> 32)
}

/// Returns the unit of a word and another behind it, which one instruction reads into its place.
#[inline(always)]
pub(crate) fn before(low: u64, high: &u64) -> Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64; a word of any bits is read as one of floating point.
    unsafe {
        use core::arch::x86_64::{
            _mm_castpd_si128, _mm_castsi128_pd, _mm_cvtsi64_si128, _mm_loadh_pd,
        };
        let low = _mm_castsi128_pd(_mm_cvtsi64_si128(low.cast_signed()));
        _mm_castpd_si128(_mm_loadh_pd(low, std::ptr::from_ref(high).cast()))
    }
    #[cfg(not(target_arch = "x86_64"))]
    unit(low, *high)
}

/// Returns the exclusive or of two units.
#[inline(always)]
pub(crate) fn combine(one: Unit, other: Unit) -> Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_xor_si128(one, other)
    }
    #[cfg(not(target_arch = "x86_64"))]
    Unit([one.0[0] ^ other.0[0], one.0[1] ^ other.0[1]])
}

/// Returns the lower words of two units.
#[inline(always)]
pub(crate) fn lows(one: Unit, other: Unit) -> Unit {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_unpacklo_epi64(one, other)
    }
    #[cfg(not(target_arch = "x86_64"))]
    Unit([one.0[0], other.0[0]])
}

/// Returns the same unit, computed here and not later: so its operands need not be kept in
/// registers.
#[inline(always)]
pub(crate) fn now(unit: Unit) -> Unit {
    #[cfg(target_arch = "x86_64")]
    {
        let mut unit = unit;
        // SAFETY: a comment of the assembler's.
        unsafe {
            core::arch::asm!("/* {0} */", inout(xmm_reg) unit, options(nomem, nostack, preserves_flags));
        }
        unit
    }
    #[cfg(not(target_arch = "x86_64"))]
    unit
}

/// Returns the same place, computed here and not later: in one register.
#[expect(
    clippy::pointers_in_nomem_asm_block,
    reason = "nothing is read or written there"
)]
#[inline(always)]
pub(crate) fn settled(place: *mut u8) -> *mut u8 {
    let mut place = place;
    // SAFETY: a comment of the assembler's.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) place, options(nomem, nostack, preserves_flags));
    }
    place
}

/// Copies `units` into a BlueFlame register.
///
/// # Safety
/// The register is mapped, aligned to 64 bytes, and as long as `units`.
#[inline(always)]
pub(crate) unsafe fn store_to_register(register: *mut u8, units: &[Unit]) {
    let register = register.cast::<Unit>();
    for (at, &unit) in units.iter().enumerate() {
        // SAFETY: the register is mapped, aligned and as long as `units`; volatile, because a
        // device looks at each store.
        unsafe { register.add(at).write_volatile(unit) };
    }
}

/// Orders the stores of an entry before that of its doorbell record, for the device.
#[inline(always)]
pub(crate) fn entry_before_record() {
    // ORDERING: pairs with the device's reads: record first, then the entry. Stores of x86-64 to memory are
    // seen in their order (rdma-core: udma_to_device_barrier); elsewhere std's release fence is the barrier.
    #[cfg(target_arch = "x86_64")]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::Release);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no preconditions.
    unsafe {
        core::arch::asm!("dmb oshst", options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Orders a receive's entry before the record that counts it, behind which no register is rung.
#[inline(always)]
pub(crate) fn receive_before_record() {
    entry_before_record();
}

/// Orders reads of memory that a device has written behind the read that told of it.
#[inline(always)]
pub(crate) fn after_device() {
    // ORDERING: pairs with the device's writes: a completion's owner last, and data before the completion. Loads of x86-64
    // are in their order; on aarch64 the device is outside of the inner shareable domain, which a load fence of std's is for
    // (rdma-core: udma_from_device_barrier).
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no preconditions.
    unsafe {
        core::arch::asm!("dmb oshld", options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
}

/// Orders all earlier stores before those to a register that is mapped write-combining (rdma-core: mmio_wc_start).
#[inline(always)]
pub(crate) fn record_before_register() {
    write_combining_fence();
}

/// Sends the bytes that were stored to a register on their way, before anything stored later
/// (rdma-core: mmio_flush_writes).
#[inline(always)]
pub(crate) fn flush_register() {
    write_combining_fence();
}

#[inline(always)]
fn write_combining_fence() {
    // ORDERING: pairs with the device, which reads the record after the register was written. Stores to
    // write-combining memory are not ordered with others but by a store fence (Intel SDM vol. 3, 12.3.1).
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a barrier has no preconditions.
    unsafe {
        core::arch::asm!("dsb st", options(nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
