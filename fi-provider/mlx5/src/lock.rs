//! A lock of one bit, for the few stores of a post, and other short turns.

use crate::unit::give_way;
use std::sync::atomic::{AtomicU32, Ordering};

/// Looks at a lock that is taken before the processor is offered to others.
const LOOKS: u32 = 64;

/// A lock of one bit.
#[derive(Debug, Default)]
pub struct Lock(AtomicU32);

const TAKEN: u32 = 1;

impl Lock {
    /// A lock that nobody has.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Takes the lock, if nobody has it.
    #[inline(always)]
    #[must_use]
    pub fn try_take(&self) -> bool {
        // ORDERING: pairs with the release in `give`: what one left, the next one finds.
        self.0.fetch_or(TAKEN, Ordering::Acquire) & TAKEN == 0
    }

    /// Waits for the lock and takes it. There is no call in here: a post needs no frame for it.
    #[inline(always)]
    pub fn take(&self) {
        if self.try_take() {
            return;
        }
        let mut looks = 0;
        loop {
            // ORDERING: none; `try_take` has it.
            let is_taken = self.0.load(Ordering::Relaxed) != 0;
            if !is_taken && self.try_take() {
                return;
            }
            looks += 1;
            if looks % LOOKS == 0 {
                give_way();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Lets others have it.
    #[inline(always)]
    pub fn give(&self) {
        // ORDERING: pairs with the exchange in `try_take`.
        self.0.store(0, Ordering::Release);
    }
}
