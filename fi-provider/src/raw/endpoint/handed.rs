//! Messages that a shared receive context hands to their endpoint.

use super::shared::Member;
use super::{Endpoint, NAMELESS};
use crate::raw::protocol::Kind;

impl Endpoint {
    /// Brings the messages to their places that have got buffers of the shared context since they
    /// came, tells of buffers that take no more, and answers the senders of messages that were
    /// dropped.
    pub(super) fn deliver_shared(&self, member: &Member) {
        while self.config.receive.admits() {
            let first = member.handed.matched.borrow_mut().pop_front();
            let Some((early, place, source)) = first else {
                break;
            };
            self.deliver(early, &place, source);
        }
        while self.config.receive.admits() {
            let closed = member.context.0.closed.borrow_mut().pop_front();
            let Some(buffer) = closed else {
                break;
            };
            self.give_back(&buffer);
        }
        for (number, link) in member.handed.dropped.take() {
            self.owe(&link, Kind::Done, [number, 0, 0]);
        }
        if self.todo.get() & NAMELESS != 0 && !member.name_senders() {
            self.todo.set(self.todo.get() & !NAMELESS);
        }
    }
}
