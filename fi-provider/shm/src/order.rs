//! Store and memory fences.
//!
//! On x86-64 every ordinary store is ordered behind the earlier ones (Intel SDM vol. 3, 9.2.2), so that
//! an OpenSHMEM fence needs no instruction; [`crate::copy`] makes no non-temporal stores, which are the
//! exception. Only store-to-load order needs an instruction: [`full`].

/// Orders every earlier load and store before every later one, for all processors.
///
/// On x86-64 the compiler makes of this a locked read-modify-write of the stack, several times
/// cheaper than `mfence` and as strong for write-back memory (Intel SDM vol. 3, 9.2.5).
#[inline(always)]
pub fn full() {
    // ORDERING: pairs with the same fence, or a locked instruction, in the process that stores first
    // and loads second.
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

/// Orders every earlier load before every later load and store of this processor.
///
/// Only the compiler is held back on x86-64, where loads keep their order; elsewhere it is std's acquire
/// fence.
#[inline(always)]
pub fn loads() {
    // ORDERING: pairs with `stores` or a release store of the process that wrote the loaded value.
    #[cfg(target_arch = "x86_64")]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::Acquire);
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
}

/// Orders every earlier store before every later one, for all processors.
///
/// Only the compiler is held back on x86-64; elsewhere it is std's release fence.
#[inline(always)]
pub fn stores() {
    #[cfg(target_arch = "x86_64")]
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::Release);
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::Release);
}
