//! The end of an endpoint: its peers learn it, behind all that it has sent.

use super::{Endpoint, FAREWELL};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use std::time::Instant;

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.domain.shared().remove(self.number);
        let own = self.address();
        let known = self.incoming.take().into_iter().flatten();
        let known = known.map(|one| one.origin.address().clone());
        let new = self.inbox.take_new();
        let new = new.iter().map(|lead| lead.from.clone());
        let far = self
            .far
            .as_ref()
            .map(|far| far.arrivals.borrow().addresses());
        let by_libfabric = self.libfabric.as_ref().map(|it| it.addresses());
        let far = far.into_iter().chain(by_libfabric).flatten();
        let new = new.chain(far);
        // The senders to here learn it by their own rings, behind the answers that wait, as soon as
        // there is room.
        for address in known.chain(new).filter(|address| *address != own) {
            let Ok(link) = self.link_to(&address) else {
                continue;
            };
            let start = Instant::now();
            while !(link.pay() && link.tell(Kind::Bye, []) != Err(Error::Again))
                && start.elapsed() < FAREWELL
            {
                self.let_act();
                std::thread::yield_now();
            }
        }
        self.settle();
    }
}

impl Endpoint {
    /// Waits until the device or libfabric has done all that it was given, half a second at most:
    /// for a process that ends without the endpoint being closed. Nothing is reported any more.
    pub fn settle(&self) {
        let start = Instant::now();
        while self.let_act() && start.elapsed() < FAREWELL {
            std::thread::yield_now();
        }
    }
}
