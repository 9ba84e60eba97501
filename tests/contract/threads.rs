//! On-node parties as threads of this process.

use crate::party::Party;
use crate::shm::{Node, Setting};
use crate::transport::Transport;
use std::thread;

/// Parties are threads; their windows have nothing in common but the memory behind them.
#[derive(Debug)]
pub(crate) struct Threads;

impl Transport for Threads {
    fn name(&self) -> &'static str {
        "shm between threads"
    }

    fn maps(&self, _: u32, _: u32) -> bool {
        true
    }

    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String> {
        let node = Node::create(parties, &Setting::ONE_NODE)?;
        thread::scope(|scope| {
            for rank in 0..parties {
                let node = &node;
                scope.spawn(move || node.attend(rank, body));
            }
        });
        node.meeting.verdict()
    }
}
