//! Threads of one process that take part as if they were processes.

use std::sync::{Arc, Barrier, Mutex, PoisonError};

/// Brings threads of one process together, each of which has calls of its own: for tests.
///
/// ```
/// use calls::{Calls, Config, Together, action};
///
/// #[action]
/// fn square(number: u64) -> u64 {
///     number * number
/// }
///
/// std::thread::scope(|threads| {
///     for meeting in Together::of(3) {
///         threads.spawn(move || {
///             let config = Config { meeting: Some(Box::new(meeting)), ..Config::default() };
///             let calls = Calls::open_with(config)?;
///             let next = (calls.rank() + 1) % calls.ranks();
///             assert_eq!(calls.to(next)?.run(square, (7,)).wait()?, 49);
///             calls.close()
///         });
///     }
/// });
/// ```
#[derive(Debug)]
pub struct Together {
    rank: u32,
    ranks: u32,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    bytes: Mutex<Vec<Vec<u8>>>,
    barrier: Barrier,
}

impl Together {
    /// Returns the meetings of so many ranks, in their order.
    pub fn of(ranks: u32) -> Vec<Self> {
        let shared = Arc::new(Shared {
            bytes: Mutex::new(vec![Vec::new(); ranks as usize]),
            barrier: Barrier::new(ranks as usize),
        });
        let one = |rank| Self {
            rank,
            ranks,
            shared: Arc::clone(&shared),
        };
        (0..ranks).map(one).collect()
    }
}

impl fi_job::Meeting for Together {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn exchange(&mut self, own: &[u8], all: &mut [u8]) -> Result<(), i32> {
        let bytes = || {
            self.shared
                .bytes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        bytes()[self.rank as usize] = own.to_vec();
        self.shared.barrier.wait();
        let read = bytes().concat();
        self.shared.barrier.wait();
        if read.len() != all.len() {
            return Err(1);
        }
        all.copy_from_slice(&read);
        Ok(())
    }
}
