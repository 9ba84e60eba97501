//! The begin of an endpoint.

use super::keys::Keys;
use super::landings::Landings;
use super::todo::Todo;
use super::{Config, DEVICE, Endpoint, LIBFABRIC, SHARED};
use crate::raw::address;
use crate::raw::address_vector::{AddressVector, Told};
use crate::raw::completion::Counter;
use crate::raw::domain::Domain;
use crate::raw::error::Error;
use crate::raw::far::Far;
use crate::raw::far::hub::Hub;
use crate::raw::far::mark::Mark;
use crate::raw::inbox::{BellKind, Inbox};
use crate::raw::libfabric::Libfabric;
use crate::raw::matcher::Matcher;
use crate::raw::tagged::Tagged;
use fi_shm::ring;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

impl Endpoint {
    /// Opens an endpoint, which peers reach from then on.
    ///
    /// # Errors
    /// [`Error::NoRoom`]; [`Error::NoLibfabric`].
    pub fn open(domain: &Domain, vector: &AddressVector, config: Config) -> Result<Self, Error> {
        let alone = domain.shared().keep(1).and_then(|one| one.receiver(0));
        Self::open_member(domain, vector, config, alone.ok_or(Error::NoRoom)?)
    }

    /// Opens an endpoint of a family for which the domain has kept addresses, as [`Endpoint::open`]
    /// does: each once.
    ///
    /// # Errors
    /// [`Error::NoRoom`], also where it is open already; [`Error::NoSuchPeer`] where the endpoints
    /// of its shared receive context have another address vector.
    pub fn open_member(
        domain: &Domain,
        vector: &AddressVector,
        config: Config,
        address::Member(number): address::Member,
    ) -> Result<Self, Error> {
        let (arena, belfry) = (&domain.regions().arena, &domain.regions().belfry);
        let ring_bytes = domain.config().ring_bytes;
        let kind = match config.in_place {
            Some(_) => BellKind::Bytes,
            None => BellKind::Bits,
        };
        let inbox = Arc::new(Inbox::new(arena, belfry, kind, ring_bytes)?);
        let shared = domain.shared();
        if !shared.add(number, Arc::clone(&inbox)) {
            return Err(Error::NoRoom);
        }
        let far = shared.exchange().map(|exchange| {
            let (most, table) = (ring::max_payload(ring_bytes), domain.regions().for_peers());
            let hub = Hub::open(&exchange.device, number, arena, &inbox, most, table);
            let hub = Arc::new(hub.inspect_err(|_| shared.remove(number))?);
            exchange.add(&hub);
            Ok::<_, Error>(Far::new(hub))
        });
        let far = far.transpose()?;
        let libfabric = domain.libfabric().map(|provider| {
            let most = ring::max_payload(ring_bytes);
            Libfabric::open(provider, most, shared.address(number))
                .inspect_err(|_| shared.remove(number))
        });
        let libfabric = libfabric.transpose()?;
        let member = config.shared.as_ref();
        let member = member.map(|shared| shared.join(number, vector));
        let member = member.transpose().inspect_err(|_| shared.remove(number))?;
        let keys = Rc::new(Keys::default());
        let told: Weak<dyn Told> = Rc::downgrade(&keys) as _;
        vector.tell_removals(told);
        Ok(Self {
            links: RefCell::default(),
            seen: Cell::new(vector.version()),
            named: Cell::new(vector.version()),
            known: RefCell::default(),
            places: keys.places(),
            keys,
            incoming: RefCell::default(),
            first_bells: inbox.bells().first(),
            words: Cell::new(1),
            todo: Todo::new(
                if far.is_some() { DEVICE } else { 0 }
                    | if libfabric.is_some() { LIBFABRIC } else { 0 }
                    | if config.shared.is_some() { SHARED } else { 0 },
            ),
            requests: Cell::new(0),
            left: RefCell::default(),
            owing: RefCell::default(),
            streams: RefCell::default(),
            matcher: RefCell::new(Matcher::new(config.most_early)),
            tagged: RefCell::new(Tagged::new(config.most_early)),
            paired: RefCell::default(),
            shared: member,
            pending: RefCell::default(),
            deferred: RefCell::default(),
            leaving: RefCell::default(),
            landings: match &config.shared {
                Some(shared) => shared.landings().clone(),
                None => Landings::default(),
            },
            counters: std::array::from_fn(|note| {
                let Config { read, written, .. } = &config;
                Mark::counter(note, [read, written, &Counter::new()]).clone()
            }),
            receive_counters: RefCell::default(),
            unread: Box::default(),
            config,
            vector: vector.clone(),
            number,
            far,
            libfabric,
            inbox,
            domain: domain.clone(),
        })
    }
}
