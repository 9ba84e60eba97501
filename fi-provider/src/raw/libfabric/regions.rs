//! Regions of peers that are reached by libfabric: their keys are looked up by messages.

use super::Libfabric;
use super::looks::Look;
use super::notice::{Kind, Notice};
use super::path::LibfabricPath;
use crate::raw::completion::{Entry, Report};
use crate::raw::endpoint::origin::Origin;
use crate::raw::endpoint::{Endpoint, RemoteRegion, State};
use crate::raw::error::Error;
use crate::raw::protocol::{self, CHECKED};
use crate::raw::record::{Flat, Record};
use crate::raw::region::{Access, Found};
use std::time::{Duration, Instant};

/// Time for which an answer holds that nobody has come for.
const LASTS: Duration = Duration::from_secs(1);

impl Libfabric {
    /// Notes the answer to a look.
    pub(super) fn note_found(&self, record: &Flat) {
        let Some([number, answer @ ..]) = record.words::<4>() else {
            return;
        };
        let mut asked = self.looks.asked.borrow_mut();
        // Another number is that of a look that was given up.
        if let Some(look) = asked.values_mut().find(|look| look.number == number) {
            look.answer = Some((answer, Instant::now()));
        }
    }
}

impl Endpoint {
    /// Looks the region of a key up at a peer, which answers as it makes progress.
    ///
    /// # Errors
    /// [`Error::Again`] until it has, [`Error::NoSuchKey`], [`Error::PeerGone`].
    pub(crate) fn look_by_libfabric(&self, path: &LibfabricPath, key: u64) -> Result<Found, Error> {
        if !path.is_alive() {
            return Err(Error::PeerGone);
        }
        let looks = &path.libfabric.looks;
        let name = (path.line.id, key);
        let mut asked = looks.asked.borrow_mut();
        match asked.get(&name) {
            Some(Look { answer: None, .. }) => return Err(Error::Again),
            Some(Look {
                answer: Some(([state, len, start], came)),
                ..
            }) if came.elapsed() < LASTS => {
                let found = Found::of_wire(*state, *len, *start);
                asked.remove(&name);
                return found.ok_or(Error::NoSuchKey);
            }
            _ => {}
        }
        if !path.is_greeted() {
            return Err(Error::Again);
        }
        let number = looks.last.get().wrapping_add(1);
        looks.last.set(number);
        let answer = None;
        asked.insert(name, Look { number, answer });
        // The end of the peer, which is found here maybe, takes it out.
        drop(asked);
        path.libfabric.tell(Notice {
            peer: path.line.peer,
            kind: Kind::Look,
            line: path.line.id,
            words: [number, key, 0, 0],
        });
        Err(Error::Again)
    }

    /// Has a peer count an access that brings no bytes: an operation by itself, or a part of one.
    ///
    /// # Errors
    /// [`Error::Again`], [`Error::PeerGone`].
    pub(crate) fn count_by_libfabric<R: Report>(
        &self,
        region: &RemoteRegion,
        path: &LibfabricPath,
        access: Access,
        (entry, report): (Entry, R),
    ) -> Result<(), Error> {
        let number = self.begin_reported(&region.link, entry, report, State::Answer)?;
        path.libfabric.tell(Notice {
            peer: path.line.peer,
            kind: Kind::Count,
            line: path.line.id,
            words: [number, region.key, access as u64, region.mark],
        });
        Ok(())
    }

    /// Refuses an access that is to a region of a generation which the key has no longer; false of all
    /// other records.
    pub(super) fn refuse_outdated(&self, origin: &mut Origin, record: &Flat) -> bool {
        use protocol::Kind;
        let accesses = [Kind::Write, Kind::Read, Kind::Atomic].map(|kind| kind as u16);
        let Some([number, key, _, mark]) = record.words() else {
            return false;
        };
        let found = || self.regions().find(key);
        let is_meant = || found().is_some_and(|found| found.state.is_meant_by(mark));
        if !accesses.contains(&record.kind) || mark & CHECKED == 0 || is_meant() {
            return false;
        }
        if let Some(link) = self.way_back(origin) {
            let code = Error::NoSuchKey.to_wire().into();
            self.owe(&link, Kind::Done, [number, code, 0]);
        }
        true
    }

    /// Tells a peer of the region that it asks for.
    pub(super) fn tell_region(&self, libfabric: &Libfabric, to: (u64, u64), record: &Flat) {
        let Some([number, key]) = record.words() else {
            return;
        };
        let found = self.regions().find(key);
        let [state, len, start] = found.map_or([0; 3], Found::to_wire);
        let (line, peer) = to;
        libfabric.tell(Notice {
            peer,
            kind: Kind::Found,
            line,
            words: [number, state, len, start],
        });
    }

    /// Counts an access of a peer, and tells it.
    pub(super) fn count_for_peer(&self, origin: &mut Origin, record: &Flat) {
        let Some([number, key, access, mark]) = record.words() else {
            return;
        };
        let access = match access {
            0 => Access::Write,
            _ => Access::Read,
        };
        let found = self.regions().find(key);
        let found = found.filter(|found| found.state.is_meant_by(mark));
        let code = match &found {
            Some(found) => {
                self.regions().count(found, access);
                0
            }
            None => Error::NoSuchKey.to_wire(),
        };
        if let Some(link) = self.way_back(origin) {
            self.owe(&link, protocol::Kind::Done, [number, code.into(), 0]);
        }
    }
}
