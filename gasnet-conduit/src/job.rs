//! The job: which process this is, of how many, and how they tell each other a few bytes.

#![expect(unsafe_code, reason = "calls a C function of the program's")]

use crate::error::Error;
use fi_job::Job;
use std::ffi::{c_int, c_void};

/// Gives each process the bytes of all: `farreach_am_exchange_t`.
pub type Meeting = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut c_void) -> c_int;

/// A job that the program brings together itself.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    rank: u32,
    ranks: u32,
    meeting: Meeting,
    context: *mut c_void,
}

// SAFETY: `Send` requires that another thread may use the context: by the function alone, which any
// thread may call (the requirement of `new`).
unsafe impl Send for Exchange {}

impl Exchange {
    /// Makes the job of `ranks` processes, of which this is number `rank`. `meeting` is called with
    /// `context`, this process's bytes, their number, and room for those of all.
    ///
    /// # Safety
    /// `meeting` may be called so, by any thread, as long as the engine lives, and writes no more than
    /// that room.
    pub unsafe fn new(rank: u32, ranks: u32, meeting: Meeting, context: *mut c_void) -> Self {
        Self {
            rank,
            ranks,
            meeting,
            context,
        }
    }
}

impl fi_job::Meeting for Exchange {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn exchange(&mut self, own: &[u8], all: &mut [u8]) -> Result<(), i32> {
        let (own, len) = (own.as_ptr().cast(), own.len());
        // SAFETY: the program's promise in `Exchange::new`; there is room for all.
        match unsafe { (self.meeting)(self.context, own, len, all.as_mut_ptr().cast()) } {
            0 => Ok(()),
            failed => Err(failed),
        }
    }
}

/// Joins the job of the launcher, or the program's.
///
/// # Errors
/// [`Error::Job`].
pub(crate) fn join(exchange: Option<Exchange>) -> Result<Job, Error> {
    Ok(match exchange {
        None => Job::launched("am")?,
        Some(exchange) => Job::brought_by(Box::new(exchange))?,
    })
}
