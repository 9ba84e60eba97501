//! What the suite needs of a transport.

use crate::party::Party;

/// A way to reach peers, and a way to have peers to reach.
pub(crate) trait Transport: Sync {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Whether peers' memory is mapped here, so that objects in it have addresses.
    fn maps_peers(&self) -> bool;

    /// Opens `parties` parties that reach each other, runs `body` in each of them at the same time, and closes them when
    /// all are through.
    ///
    /// # Errors
    /// Why the first party failed that did, or why they could not be opened.
    fn run(&self, parties: u32, body: &(dyn Fn(&Party) + Sync)) -> Result<(), String>;
}

/// Runs `body` in each of `parties` parties; panics if one of them fails.
pub(crate) fn check(transport: &dyn Transport, parties: u32, body: impl Fn(&Party) + Sync) {
    if let Err(why) = transport.run(parties, &body) {
        panic!("{} with {parties} parties: {why}", transport.name());
    }
}
