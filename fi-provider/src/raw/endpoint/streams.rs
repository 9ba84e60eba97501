//! The streams of an endpoint.

#![expect(unsafe_code, reason = "sends bytes by their C address")]

use super::Endpoint;
use super::stream::{Stream, Target};
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::Access;

impl Endpoint {
    /// Sends bytes now, and those later for which there is no room.
    pub(crate) fn stream(&self, stream: Stream) {
        stream.link.streams.update(|streams| streams + 1);
        self.streams.borrow_mut().push_back(stream);
        self.note_work();
    }

    /// Goes on with all streams.
    pub(crate) fn push_streams(&self) {
        let mut streams = std::mem::take(&mut *self.streams.borrow_mut());
        streams
            .iter()
            .for_each(|stream| stream.link.is_full.set(false));
        streams.retain_mut(|stream| {
            // Those before it go first.
            let stays = stream.link.is_full.get() || self.push_stream(stream);
            if !stays {
                stream.link.streams.update(|streams| streams - 1);
            }
            stays
        });
        if !streams.is_empty() {
            self.note_work();
        }
        self.streams.borrow_mut().extend(streams);
    }

    /// Goes on with a stream. Returns whether there is more of it.
    fn push_stream(&self, stream: &mut Stream) -> bool {
        if let Some(number) = stream.own
            && self
                .pending
                .borrow_mut()
                .get(number, &stream.link)
                .is_none()
        {
            return false;
        }
        if let (Some((key, found)), Target::Pieces(number)) = (&stream.region, stream.target)
            && !self.is_open(*key, found)
        {
            let code = Error::NoSuchKey.to_wire().into();
            self.owe(&stream.link, Kind::Done, [number, code, 0]);
            return false;
        }
        // SAFETY: an own operation's bytes stay until it is done, and a region's while it is
        // open; that was just looked at.
        match unsafe { stream.push() } {
            Ok(is_whole) => {
                stream.link.is_full.set(!is_whole);
                let is_counted = is_whole && stream.is_counted;
                if let Some((_, found)) = stream.region.as_ref().filter(|_| is_counted) {
                    self.domain.regions().count(found, Access::Read);
                }
                !is_whole
            }
            Err(error) => {
                if let Some(number) = stream.own {
                    self.finish(number, Err(error));
                }
                false
            }
        }
    }
}
