//! Datagrams: how processes meet that are not connected yet.
//!
//! Here the library's own data path is used, as nothing is in a hurry. A datagram that finds no
//! recipient, or one without a receive, is lost, and nobody is told.

mod buffers;
mod events;

use super::Device;
use super::account::PairEntry;
use super::channel::Channel;
use super::context::{Context, check};
use super::domain::ThreadDomain;
use super::queue_pair::{
    attributes, create, direct_attr, initial, layout, modify, number, ready_to_receive,
};
use crate::error::Error;
use crate::verbs::core::{AhAttr, Qp, QpAttr, QpCap, qp_attr, qp_state, qp_type};
use crate::verbs::datagrams::{Ah, Datagram, RecvWr, SendWr, send_flags, wr_opcode};
use crate::verbs::inline;
use buffers::Buffers;
use events::Polled;
use fi_mlx5_defs::doorbell::QueueRecord;
use std::collections::BTreeMap;
use std::mem::size_of;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// Bytes in front of a received datagram, for a global route.
const ROUTE: usize = 40;

/// A process that takes datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Its port's local identifier.
    pub lid: u16,
    /// Its queue pair's number.
    pub number: u32,
    /// Its key (Q_Key), of 31 bits.
    pub key: u32,
}

/// A datagram that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes of it.
    pub bytes: usize,
    /// The number of the sender's queue pair.
    pub number: u32,
    /// The local identifier of the sender's port.
    pub lid: u16,
}

/// A queue pair for datagrams (UD), with a file that tells of them. One thread at a time uses it.
#[derive(Debug)]
pub struct Datagrams {
    pair: Pair,
    routes: BTreeMap<u16, Route>,
    port: u8,
    sends: Polled,
    receives: Polled,
    channel: Channel,
    /// Buffers of sends that are not under way.
    free: Vec<u32>,
    outgoing: Buffers,
    incoming: Buffers,
}

impl Device {
    /// Makes a queue pair for datagrams, and a file that tells of them. At least so many can be
    /// under way in each direction. Others send to it by `key`, of which 31 bits count.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Unexpected`] of a port whose packets are too small.
    pub fn datagrams(&self, entries: u32, key: u32) -> Result<Datagrams, Error> {
        Datagrams::new(self, entries, key)
    }
}

impl Datagrams {
    /// Bytes of the longest datagram.
    pub const LONGEST: usize = 1024;

    pub(super) fn new(device: &Device, entries: u32, key: u32) -> Result<Self, Error> {
        let features = &device.features;
        if usize::from(features.mtu) < Self::LONGEST {
            let what = format!("packets of {} bytes at most", features.mtu);
            let call = "ibv_query_port";
            return Err(Error::Unexpected { call, what });
        }
        let (protection, entries) = (&device.protection, entries.max(1));
        let channel = Channel::new(&device.context)?;
        let sends = Polled::new(&channel, entries)?;
        let receives = Polled::new(&channel, entries)?;
        let outgoing = Buffers::new(protection, entries, Self::LONGEST)?;
        let incoming = Buffers::new(protection, entries, ROUTE + Self::LONGEST)?;
        let pair = Pair::new(device, entries, [&sends, &receives])?;
        pair.start(device, usable(key))?;
        let mut made = Self {
            pair,
            routes: BTreeMap::new(),
            port: features.port,
            sends,
            receives,
            channel,
            free: (0..entries).collect(),
            outgoing,
            incoming,
        };
        (0..entries).try_for_each(|buffer| made.post_receive(buffer))?;
        Ok(made)
    }

    /// Returns the number by which others send to it.
    #[must_use]
    pub fn number(&self) -> u32 {
        number(self.pair.qp)
    }

    /// Sends a datagram; false where as many as there are entries are still under way.
    ///
    /// # Errors
    /// [`Error::Call`], and [`Error::Unexpected`] where an earlier one was not sent: none is then.
    ///
    /// # Panics
    /// When it is longer than [`Datagrams::LONGEST`].
    pub fn send(&mut self, to: &Recipient, bytes: &[u8]) -> Result<bool, Error> {
        assert!(bytes.len() <= Self::LONGEST, "{} bytes", bytes.len());
        while let Some(done) = self.sends.poll("ibv_post_send")? {
            self.free.push(done.wr_id as u32);
        }
        let ah = self.route(to.lid)?;
        let Some(buffer) = self.free.pop() else {
            return Ok(false);
        };
        // The buffer is not under way: nobody else touches it.
        self.outgoing.fill(buffer, bytes);
        let mut piece = self.outgoing.piece(buffer);
        piece.length = bytes.len() as u32;
        let mut request = SendWr {
            wr_id: buffer.into(),
            next: null_mut(),
            sg_list: &raw mut piece,
            num_sge: 1,
            opcode: wr_opcode::SEND,
            send_flags: send_flags::SIGNALED,
            imm_data: 0,
            ud: Datagram {
                ah,
                remote_qpn: to.number,
                remote_qkey: usable(to.key),
            },
            unused: [0; 9],
        };
        // SAFETY: the queue pair is alive, and the caller has all of this; the buffer stays as it is
        // until its completion.
        let result = unsafe { inline::post_send(self.pair.qp.as_ptr(), &mut request) };
        if result != 0 {
            self.free.push(buffer);
        }
        check("ibv_post_send", result).map(|()| true)
    }

    /// Takes the next datagram that has come, if there is one.
    ///
    /// # Errors
    /// [`Error::Call`] and [`Error::Unexpected`] of a device that is gone.
    pub fn receive(&mut self, into: &mut [u8; Self::LONGEST]) -> Result<Option<Received>, Error> {
        let Some(done) = self.receives.poll("ibv_post_recv")? else {
            return Ok(None);
        };
        let buffer = done.wr_id as u32;
        let bytes = (done.byte_len as usize).saturating_sub(ROUTE);
        let bytes = bytes.min(Self::LONGEST);
        self.incoming.take(buffer, ROUTE, &mut into[..bytes]);
        self.post_receive(buffer)?;
        Ok(Some(Received {
            bytes,
            number: done.src_qp,
            lid: done.slid,
        }))
    }

    /// Returns the file that an event makes readable. After [`Datagrams::arm`] one comes with the
    /// next datagram or, where [`Datagrams::send`] has found no room, when there is room.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }

    /// Asks for one event. It tells of datagrams that come from now on: a thread that is to sleep
    /// takes those that are there before this and once more after it.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn arm(&mut self) -> Result<(), Error> {
        if self.free.is_empty() {
            self.sends.arm()?;
        }
        self.receives.arm()
    }

    /// Takes the events that are there, so that the file is not readable.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn drain_events(&mut self) -> Result<(), Error> {
        self.channel.drain()
    }

    fn post_receive(&mut self, buffer: u32) -> Result<(), Error> {
        let mut piece = self.incoming.piece(buffer);
        let mut request = RecvWr {
            wr_id: buffer.into(),
            next: null_mut(),
            sg_list: &raw mut piece,
            num_sge: 1,
        };
        // SAFETY: the queue pair is alive, and the caller has all of this; nobody else touches the
        // buffer until its completion.
        let result = unsafe { inline::post_recv(self.pair.qp.as_ptr(), &mut request) };
        check("ibv_post_recv", result)
    }

    /// Returns the address handle of the port of this identifier.
    fn route(&mut self, lid: u16) -> Result<*mut Ah, Error> {
        if let Some(route) = self.routes.get(&lid) {
            return Ok(route.ah.as_ptr());
        }
        let route = Route::new(&self.pair, self.port, lid)?;
        let ah = route.ah.as_ptr();
        self.routes.insert(lid, route);
        Ok(ah)
    }
}

/// Clears the highest bit of a key: keys with it are for the system (IBTA volume 1, 10.2.5).
fn usable(key: u32) -> u32 {
    key & !(1 << 31)
}

/// The queue pair.
#[derive(Debug)]
struct Pair {
    qp: NonNull<Qp>,
    /// Its entry in the context's book.
    entry: Option<PairEntry>,
    /// Its own, as the library rings its register and knows nothing of the locks of lanes. The other
    /// is not used: it has the rest of the page, so that each lane that comes has a page of its own.
    domains: [ThreadDomain; 2],
    context: Arc<Context>,
}

// SAFETY: libibverbs lets any thread use a queue pair.
unsafe impl Send for Pair {}

impl Pair {
    fn new(device: &Device, entries: u32, [sends, receives]: [&Polled; 2]) -> Result<Self, Error> {
        let domains = [device.lane_domain()?, device.lane_domain()?];
        let mut attr = attributes(&domains[0], [sends.raw(), receives.raw()], qp_type::UD);
        attr.cap = QpCap {
            max_send_wr: entries,
            max_recv_wr: entries,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: 0,
        };
        let context = &device.context;
        let qp = create(context, &mut attr, &mut direct_attr(None))?;
        // From here on it is destroyed when it is dropped.
        let mut made = Self {
            qp,
            entry: None,
            domains,
            context: Arc::clone(context),
        };
        let layout = layout(context, qp)?;
        let rings = [&layout.sq, &layout.rq];
        let bytes = rings.map(|ring| u64::from(ring.wqe_cnt) * u64::from(ring.stride));
        let bytes = bytes.iter().sum::<u64>() + size_of::<QueueRecord>() as u64;
        made.entry = Some(context.book.add_pair(layout.bf.reg.addr(), true, bytes));
        Ok(made)
    }

    /// Takes the queue pair to the state RTS, with this key.
    fn start(&self, device: &Device, key: u32) -> Result<(), Error> {
        let features = &device.features;
        let (mut attr, mask) = initial(features, 0);
        attr.qkey = key;
        let mask = mask & !qp_attr::ACCESS_FLAGS | qp_attr::QKEY;
        modify(&self.context, self.qp, &mut attr, mask)?;
        let mut attr = ready_to_receive(features, features.mtu, 0);
        modify(&self.context, self.qp, &mut attr, 0)?;
        let mut attr = QpAttr {
            qp_state: qp_state::RTS,
            ..QpAttr::default()
        };
        modify(&self.context, self.qp, &mut attr, qp_attr::SQ_PSN)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.context.book.remove_pair(entry);
        }
        // SAFETY: it is the library's, and destroyed once.
        self.context
            .close(|library| unsafe { (library.destroy_qp)(self.qp.as_ptr()) });
    }
}

/// The way to a port (an address handle).
#[derive(Debug)]
struct Route {
    ah: NonNull<Ah>,
    context: Arc<Context>,
    _domain: ThreadDomain,
}

// SAFETY: libibverbs lets any thread use an address handle.
unsafe impl Send for Route {}

impl Route {
    fn new(pair: &Pair, port: u8, lid: u16) -> Result<Self, Error> {
        let [domain, _] = &pair.domains;
        let mut attr = AhAttr {
            dlid: lid,
            port_num: port,
            ..AhAttr::default()
        };
        let create = pair.context.library.create_ah;
        // SAFETY: the domain is alive, and the structure is valid.
        let ah = unsafe { create(domain.pd(), &raw mut attr) };
        Ok(Self {
            ah: NonNull::new(ah).ok_or_else(|| Error::last("ibv_create_ah"))?,
            context: Arc::clone(&pair.context),
            _domain: domain.clone(),
        })
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        // SAFETY: it is the library's and destroyed once; no request that names it will be posted.
        self.context
            .close(|library| unsafe { (library.destroy_ah)(self.ah.as_ptr()) });
    }
}
