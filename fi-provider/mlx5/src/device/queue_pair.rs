//! Queue pairs: connected ones and initiators of dynamic connections.

use super::Device;
use super::account::PairEntry;
use super::completion::CompletionQueue;
use super::context::{Context, check, none};
use super::domain::ThreadDomain;
use super::features::Features;
use super::receive_queue::ReceiveQueue;
use crate::error::Error;
use crate::queue::SendRing;
use crate::verbs::core::{
    AhAttr, Cq, Qp, QpAttr, QpCap, QpInitAttrEx, Srq, access, qp_attr, qp_init, qp_state, qp_type,
    send_ops,
};
use crate::verbs::direct::{
    self, DcInitAttr, Object, Pair, QpInitAttr, QpLayout, dc_type, object, qp_create,
};
use fi_mlx5_defs::doorbell::QueueRecord;
use fi_mlx5_defs::wqe::BASIC_BLOCK;
use std::mem::zeroed;
use std::ptr::NonNull;
use std::sync::Arc;

/// Time that an acknowledgement may take before the request is sent again: 4.096 us * 2^18, about a
/// second.
const TIMEOUT: u8 = 18;
/// Number of times that a request is sent again. The largest number; for a peer that has no receive
/// posted it means for ever.
const RETRIES: u8 = 7;
/// Time that a peer waits that found no receive posted: 0.64 ms (InfiniBand specification, table
/// "Encoding for RNR NAK Timer Field").
pub(super) const RECEIVER_NOT_READY_TIMER: u8 = 12;
/// Basic blocks of the largest entry that the library counts with: one that is written to a
/// BlueFlame register at once.
const ENTRY_BLOCKS: u32 = 4;

/// The other side of a connection, as it tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its queue pair.
    pub number: u32,
    /// Its port's local identifier.
    pub lid: u16,
    /// Its port's largest packet, in bytes ([`Features::mtu`]).
    pub mtu: u16,
    /// [`Features::max_read_atomic`].
    pub max_read_atomic: u8,
    /// Its process's key ([`Device::with_key`]).
    pub key: u64,
}

/// Returns the number of the first packet that queue pair `number` of a process with this key
/// sends, of 24 bits: a process without the key does not know where a connection begins. Steele,
/// Lea and Flood's SplitMix64, "Fast splittable pseudorandom number generators", OOPSLA 2014.
fn first_packet(key: u64, number: u32) -> u32 {
    let mut mixed = key.wrapping_add(u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 40) as u32
}

/// A queue pair that sends. Of a connected peer it takes reads, writes and atomics, and messages
/// where it was made with a receive queue.
#[derive(Debug)]
pub struct QueuePair {
    qp: NonNull<Qp>,
    kind: u32,
    ring: SendRing,
    features: Features,
    /// Its process's key.
    key: u64,
    /// Its entry in the context's book.
    entry: Option<PairEntry>,
    context: Arc<Context>,
    _domain: ThreadDomain,
    completions: CompletionQueue,
    _receives: Option<ReceiveQueue>,
    /// One that is made for it and not used.
    spare: Option<Box<Self>>,
}

// SAFETY: libibverbs lets any thread use a queue pair; the ring's pointers are handed out, and not used here.
unsafe impl Send for QueuePair {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for QueuePair {}

impl Device {
    /// Makes a reliably connected queue pair of at least so many basic blocks for sends and none
    /// for receives, in the state INIT.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn connected(
        &self,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        QueuePair::connected(self, domain, completions, None, blocks)
    }

    /// Makes a reliably connected queue pair, in the state INIT, by which the peer reads, writes
    /// and does atomics, and by which nothing is posted here.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn passive(&self) -> Result<QueuePair, Error> {
        let completions = CompletionQueue::of_receives(&self.context, None, 1)?;
        let domain = self.plain_domain();
        QueuePair::connected(self, &domain, &completions, None, 1)
    }

    /// Makes a queue pair as [`Device::connected`] does, with receives: those of this queue, of the
    /// same protection domain.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn connected_receiving(
        &self,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        receives: &ReceiveQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        QueuePair::connected(self, domain, completions, Some(receives), blocks)
    }

    /// Makes an initiator of dynamic connections of at least so many basic blocks, ready to send.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn initiator(
        &self,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        blocks: u32,
    ) -> Result<QueuePair, Error> {
        QueuePair::initiator(self, domain, completions, blocks)
    }
}

impl QueuePair {
    pub(super) fn connected(
        device: &Device,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        receives: Option<&ReceiveQueue>,
        blocks: u32,
    ) -> Result<Self, Error> {
        let kind = qp_type::RC;
        let made = Self::new(device, domain, completions, receives, blocks, kind)?;
        made.initialise(access::REMOTE)?;
        Ok(made)
    }

    pub(super) fn initiator(
        device: &Device,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        blocks: u32,
    ) -> Result<Self, Error> {
        let made = Self::new(device, domain, completions, None, blocks, qp_type::DRIVER)?;
        made.initialise(0)?;
        let mut attr = made.ready_to_receive(device.features.mtu, 0);
        made.modify(&mut attr, qp_attr::PATH_MTU | qp_attr::AV)?;
        made.send(device.features.max_read_atomic)?;
        Ok(made)
    }

    fn new(
        device: &Device,
        domain: &ThreadDomain,
        completions: &CompletionQueue,
        receives: Option<&ReceiveQueue>,
        blocks: u32,
        kind: u32,
    ) -> Result<Self, Error> {
        let mut attr = init_attr(domain, completions, receives, kind);
        attr.cap = QpCap {
            max_send_wr: blocks.div_ceil(ENTRY_BLOCKS).max(1),
            max_send_sge: 1,
            max_inline_data: max_inline(kind),
            ..QpCap::default()
        };
        // Names the operation by which the library counts the size of an entry; it does not limit
        // the operations that are posted here.
        attr.comp_mask |= qp_init::SEND_OPS_FLAGS;
        attr.send_ops_flags = send_ops::RDMA_WRITE;
        let mut own = direct_attr(if kind == qp_type::RC {
            None
        } else {
            Some((dc_type::INITIATOR, 0))
        });
        own.comp_mask |= direct::qp_init::QP_CREATE_FLAGS;
        own.create_flags = qp_create::DISABLE_SCATTER_TO_CQE;
        let qp = create(&device.context, &mut attr, &mut own)?;
        // From here on it is destroyed when it is dropped.
        let mut made = Self {
            qp,
            kind,
            // SAFETY: a structure of pointers and numbers, of which zero is one.
            ring: unsafe { zeroed() },
            features: device.features,
            key: device.key,
            entry: None,
            context: Arc::clone(&device.context),
            _domain: domain.clone(),
            completions: completions.clone(),
            _receives: receives.cloned(),
            spare: None,
        };
        made.look(attr.cap.max_inline_data, blocks)?;
        let ring = &made.ring;
        let bytes = u64::from(ring.blocks) * BASIC_BLOCK as u64 + size_of::<QueueRecord>() as u64;
        let register = ring.register.addr();
        let book = &made.context.book;
        made.entry = Some(book.add_pair(register, domain.exclusive(), bytes));
        Ok(made)
    }

    /// Makes one beside it, in `domain`, that is never used.
    pub(super) fn make_spare(
        &mut self,
        device: &Device,
        domain: &ThreadDomain,
    ) -> Result<(), Error> {
        let completions = self.completions.spare();
        let (kind, blocks) = (self.kind, self.ring.blocks);
        let spare = Self::new(device, domain, completions, None, blocks, kind)?;
        let rights = if kind == qp_type::RC {
            access::REMOTE
        } else {
            0
        };
        spare.initialise(rights)?;
        self.spare = Some(Box::new(spare));
        Ok(())
    }

    /// Returns the number by which the device knows it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.ring.number
    }

    /// Returns the ring where entries are posted. It is valid as long as this lives. BlueFlame
    /// copies go to the two halves of the register by turns, which all queue pairs of the thread
    /// domain share.
    #[must_use]
    pub fn ring(&self) -> SendRing {
        self.ring
    }

    /// Connects it: from then on it answers the peer, and may send as soon as the peer is connected, too.
    ///
    /// # Errors
    /// [`Error::Call`], also of one that is connected already or is an initiator.
    pub fn connect(&self, peer: &Peer) -> Result<(), Error> {
        let own = self.features;
        let mut attr = self.ready_to_receive(own.mtu.min(peer.mtu), peer.lid);
        attr.dest_qp_num = peer.number;
        attr.rq_psn = first_packet(peer.key, peer.number);
        attr.max_dest_rd_atomic = own.max_read_atomic;
        attr.min_rnr_timer = RECEIVER_NOT_READY_TIMER;
        self.modify(
            &mut attr,
            qp_attr::AV
                | qp_attr::PATH_MTU
                | qp_attr::DEST_QPN
                | qp_attr::RQ_PSN
                | qp_attr::MAX_DEST_RD_ATOMIC
                | qp_attr::MIN_RNR_TIMER,
        )?;
        self.send(own.max_read_atomic.min(peer.max_read_atomic))
    }

    fn initialise(&self, rights: u32) -> Result<(), Error> {
        let (mut attr, mut mask) = initial(&self.features, rights);
        if rights == 0 {
            mask &= !qp_attr::ACCESS_FLAGS;
        }
        self.modify(&mut attr, mask)
    }

    fn ready_to_receive(&self, mtu: u16, lid: u16) -> QpAttr {
        ready_to_receive(&self.features, mtu, lid)
    }

    /// Takes the queue pair to the state RTS.
    fn send(&self, max_read_atomic: u8) -> Result<(), Error> {
        let mut attr = QpAttr {
            qp_state: qp_state::RTS,
            timeout: TIMEOUT,
            retry_cnt: RETRIES,
            rnr_retry: RETRIES,
            sq_psn: first_packet(self.key, self.number()),
            max_rd_atomic: max_read_atomic,
            ..QpAttr::default()
        };
        self.modify(
            &mut attr,
            qp_attr::TIMEOUT
                | qp_attr::RETRY_CNT
                | qp_attr::RNR_RETRY
                | qp_attr::SQ_PSN
                | qp_attr::MAX_QP_RD_ATOMIC,
        )
    }

    fn modify(&self, attr: &mut QpAttr, mask: i32) -> Result<(), Error> {
        modify(&self.context, self.qp, attr, mask)
    }

    /// Takes over from the library the rings that it set up.
    fn look(&mut self, max_inline: u32, wanted: u32) -> Result<(), Error> {
        let layout = layout(&self.context, self.qp)?;
        let (blocks, stride) = (layout.sq.wqe_cnt, layout.sq.stride);
        if stride as usize != BASIC_BLOCK || !blocks.is_power_of_two() || blocks < wanted {
            let what = format!("a send queue of {blocks} blocks of {stride} bytes");
            let call = "mlx5dv_create_qp";
            return Err(Error::Unexpected { call, what });
        }
        self.ring = SendRing {
            number: number(self.qp),
            base: layout.sq.buf.cast(),
            blocks,
            // The first word is for receives.
            record: layout.dbrec.wrapping_add(1),
            register: layout.bf.reg.cast(),
            register_size: layout.bf.size,
            max_inline,
        };
        Ok(())
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.context.book.remove_pair(entry);
        }
        // SAFETY: it is the library's, and destroyed once.
        self.context
            .close(|library| unsafe { (library.destroy_qp)(self.qp.as_ptr()) });
    }
}

/// Returns the bytes that, inline, make a write of [`ENTRY_BLOCKS`]: those that are left by the
/// control segment, the remote address and the length word, and in dynamic connections by the
/// address vector in its long form.
const fn max_inline(kind: u32) -> u32 {
    let connected = ENTRY_BLOCKS * 64 - 16 - 16 - 4;
    if kind == qp_type::RC {
        connected
    } else {
        connected - 48
    }
}

/// Returns the rings of a queue pair.
pub(super) fn layout(context: &Context, qp: NonNull<Qp>) -> Result<QpLayout, Error> {
    // SAFETY: structures of pointers and numbers, of which zero is one.
    let (mut layout, mut object): (QpLayout, Object) = unsafe { (zeroed(), zeroed()) };
    object.qp = Pair {
        input: qp.as_ptr(),
        output: &raw mut layout,
    };
    // SAFETY: the queue pair is alive; only the pair of queue pairs is looked at, and it is valid.
    let result = unsafe { (context.library.init_object)(&raw mut object, object::QP) };
    check("mlx5dv_init_obj", result)?;
    Ok(layout)
}

/// Returns the attributes of lanes' queue pairs and targets: completions where an entry asks for
/// them, and receives of a shared queue or none.
pub(super) fn init_attr(
    domain: &ThreadDomain,
    completions: &CompletionQueue,
    receives: Option<&ReceiveQueue>,
    kind: u32,
) -> QpInitAttrEx {
    let of_receives = receives.map_or(completions, ReceiveQueue::completions);
    QpInitAttrEx {
        srq: receives.map_or(none::<Srq>(), ReceiveQueue::raw),
        ..attributes(domain, [completions.raw(), of_receives.raw()], kind)
    }
}

/// Returns the attributes common to all kinds: the completion queues of sends and receives.
pub(super) fn attributes(
    domain: &ThreadDomain,
    [send_cq, recv_cq]: [*mut Cq; 2],
    kind: u32,
) -> QpInitAttrEx {
    QpInitAttrEx {
        qp_context: none(),
        send_cq,
        recv_cq,
        srq: none::<Srq>(),
        cap: QpCap::default(),
        qp_type: kind,
        sq_sig_all: 0,
        comp_mask: qp_init::PD,
        pd: domain.pd(),
        xrcd: none(),
        create_flags: 0,
        max_tso_header: 0,
        rwq_ind_tbl: none(),
        rx_hash: [0; 3],
        source_qpn: 0,
        send_ops_flags: 0,
    }
}

/// Returns the attributes that mlx5 adds: the end of a dynamic connection that it is, if any, and
/// its key.
pub(super) fn direct_attr(dynamic: Option<(u32, u64)>) -> QpInitAttr {
    let (dc_type, access_key) = dynamic.unwrap_or_default();
    QpInitAttr {
        comp_mask: if dynamic.is_some() {
            direct::qp_init::DC
        } else {
            0
        },
        create_flags: 0,
        dc: DcInitAttr {
            dc_type,
            access_key,
        },
        send_ops_flags: 0,
    }
}

pub(super) fn create(
    context: &Context,
    attr: &mut QpInitAttrEx,
    own: &mut QpInitAttr,
) -> Result<NonNull<Qp>, Error> {
    // SAFETY: the context is open; both structures are valid, and the objects that they name are alive.
    let qp = unsafe { (context.library.create_qp)(context.raw(), attr, own) };
    NonNull::new(qp).ok_or_else(|| Error::last("mlx5dv_create_qp"))
}

/// Returns the number of a queue pair; a target has none before it is ready to receive.
pub(super) fn number(qp: NonNull<Qp>) -> u32 {
    // SAFETY: the queue pair is alive.
    unsafe { (*qp.as_ptr()).qp_num }
}

/// Returns the attributes that make the state INIT, and the mask of the fields that count.
pub(super) fn initial(features: &Features, rights: u32) -> (QpAttr, i32) {
    let attr = QpAttr {
        qp_state: qp_state::INIT,
        qp_access_flags: rights,
        port_num: features.port,
        ..QpAttr::default()
    };
    let mask = qp_attr::PKEY_INDEX | qp_attr::PORT | qp_attr::ACCESS_FLAGS;
    (attr, mask)
}

/// Returns the attributes that make the state RTR, of all kinds.
pub(super) fn ready_to_receive(features: &Features, mtu: u16, lid: u16) -> QpAttr {
    QpAttr {
        qp_state: qp_state::RTR,
        // 1 stands for 256 bytes, and one more for each doubling.
        path_mtu: (u32::from(mtu) / 128).max(2).ilog2(),
        ah_attr: AhAttr {
            dlid: lid,
            port_num: features.port,
            ..AhAttr::default()
        },
        ..QpAttr::default()
    }
}

/// Takes a queue pair to another state; the mask tells of further fields that count.
pub(super) fn modify(
    context: &Context,
    qp: NonNull<Qp>,
    attr: &mut QpAttr,
    mask: i32,
) -> Result<(), Error> {
    let call = match attr.qp_state {
        qp_state::INIT => "ibv_modify_qp to INIT",
        qp_state::RTR => "ibv_modify_qp to RTR",
        _ => "ibv_modify_qp to RTS",
    };
    // SAFETY: the queue pair is alive, and the structure is valid.
    let result = unsafe { (context.library.modify_qp)(qp.as_ptr(), attr, mask | qp_attr::STATE) };
    check(call, result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn first_packets_are_numbers_of_24_bits_and_all_over_the_place() {
        let keys = [0, 1, u64::MAX, 0x6661_7272_6561_6368];
        let of = |key| (0x100..0x110).map(move |number| first_packet(key, number));
        let all: HashSet<_> = keys.into_iter().flat_map(of).collect();
        assert_eq!(all.len(), 64);
        assert!(all.iter().all(|&first| first < 1 << 24));
        // In the upper half of their range and in the lower, odd and even.
        assert!((16..48).contains(&all.iter().filter(|&&first| first >> 23 == 1).count()));
        assert!((16..48).contains(&all.iter().filter(|&&first| first % 2 == 1).count()));
    }
}
