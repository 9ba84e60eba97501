//! The rings of a queue pair's doorbell that strict mode keeps, as they were made.

use fi_mlx5_defs::wqe::BASIC_BLOCK;

/// The doorbells of a queue pair, and the blocks that they were rung for.
#[derive(Debug, Default)]
pub(super) struct Rings {
    /// The counter of blocks that was rung last.
    pub(super) rung: u16,
    /// Time of a ring while no block waited, or when the thread was seen to have run on.
    pub(super) since: u64,
    /// The thread that rang, the answer of [`Memory::has_run`](super::memory::Memory::has_run) for it
    /// then, and the time until which that is asked again.
    pub(super) ringer: Option<(u32, (u64, u64), u64)>,
    /// The blocks that were rung and are not executed, as they were then.
    pub(super) posted: Vec<u8>,
    /// Time when the doorbell record is looked at next.
    pub(super) next_look: u64,
    /// Since when the doorbell record tells of blocks that were not rung, and its counter.
    pub(super) unrung: Option<(u64, u16)>,
}

impl Rings {
    /// Drops the first blocks, which are executed.
    pub(super) fn skip(&mut self, blocks: u16) {
        let bytes = (usize::from(blocks) * BASIC_BLOCK).min(self.posted.len());
        self.posted.drain(..bytes);
    }
}
