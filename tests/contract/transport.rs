//! The suite's view of a transport.

use crate::party::Party;

/// A way to reach peers, and a way to have peers to reach.
pub(crate) trait Transport: Sync {
    /// Returns its name in messages.
    fn name(&self) -> &'static str;

    /// Returns whether the memory of party `peer` is mapped in party `rank`, so that objects in it
    /// have addresses.
    fn maps(&self, rank: u32, peer: u32) -> bool;

    /// Returns the number of times that a contract opens parties, of those that open them again and
    /// again. Where opening takes long, it is less often.
    fn openings(&self) -> u32 {
        24
    }

    /// Runs the test of this name elsewhere if the transport's device is not here; says whether it did so.
    fn has_run(&self, _test: &str) -> bool {
        false
    }

    /// Opens `parties` parties that reach each other, runs `body` in each of them at the same time, and closes them when
    /// all are through.
    ///
    /// # Errors
    /// The reason for which the first party failed that did, or for which they could not be opened.
    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String>;
}

/// A contract.
pub(crate) type Contract = fn(&dyn Transport);

/// Runs the test of this name: that `transport` keeps `contract`.
pub(crate) fn hold(transport: &dyn Transport, test: &str, contract: Contract) {
    if !transport.has_run(test) {
        contract(transport);
    }
}

/// Runs `body` in each of `parties` parties; panics if one of them fails.
pub(crate) fn check(transport: &dyn Transport, parties: u32, body: impl Fn(&Party) + Sync) {
    if let Err(why) = transport.run(parties, &body) {
        panic!("{} with {parties} parties: {why}", transport.name());
    }
}
