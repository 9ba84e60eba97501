//! Arguments and results of the engine's callers: plain numbers and structures.

use super::transaction::Transaction;
use std::fmt;

/// A process whose memory the device reaches, by the number that [`super::Memory`] understands (a pid).
pub type Pid = u32;

/// An opened device context; numbers are not used again within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(pub u32);

/// Errors with which the device refuses a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is out of its range, or an object of another context was named: `EINVAL`.
    #[error("an argument is not valid: {0}")]
    Invalid(&'static str),
    /// No such object: `EINVAL`, as the kernel says it for unknown handles.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// Something still uses the object: `EBUSY`.
    #[error("{0} is still in use")]
    Busy(&'static str),
    /// A limit of the device is reached: `ENOMEM`.
    #[error("no more {0}")]
    Exhausted(&'static str),
    /// The model does not have it: `EOPNOTSUPP`.
    #[error("{0} is not modelled")]
    Unsupported(&'static str),
    /// The process's memory could not be reached: `EFAULT`.
    #[error("memory of the process could not be reached")]
    Fault,
}

impl Error {
    /// Returns the number that the kernel would answer with (positive, Linux).
    #[must_use]
    pub fn errno(self) -> i32 {
        match self {
            Self::Invalid(_) | Self::NotFound(_) => 22,
            Self::Busy(_) => 16,
            Self::Exhausted(_) => 12,
            Self::Unsupported(_) => 95,
            Self::Fault => 14,
        }
    }
}

impl From<super::Fault> for Error {
    fn from(_: super::Fault) -> Self {
        Self::Fault
    }
}

/// The device's constants.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The port's local identifier; a destination with another one does not answer.
    pub lid: u16,
    /// The most bytes of a message.
    pub max_message: u32,
    /// Work-queue entries executed for one queue pair before the next one has its turn.
    pub burst: u32,
    /// Bytes moved for one queue pair before the next one has its turn; an entry that was begun is finished.
    pub burst_bytes: u64,
    /// The shortest time after which a request to a peer that does not answer fails, in ns (a transport
    /// retry; the queue pair's own time-out counts when it is longer).
    pub min_retry_ns: u64,
    /// Act on UAR writes alone and check them, see [`super::Engine::ring`].
    pub strict: bool,
    /// With `strict`: the time between a doorbell and the execution of the rung entries, in ns, in
    /// which the thread that rang runs on; [`super::Engine::release`] ends it. An entry that is
    /// changed meanwhile was rung too early.
    pub hold_ns: u64,
    /// Leave queue pairs alone for some steps now and then, and let them act in any order, as this
    /// seed draws them.
    pub delay_seed: Option<u64>,
    /// The times that operations take; `None`: none, each is executed when it is seen.
    pub latencies: Option<Latencies>,
    /// Tell of PCIe transactions ([`Progress::transactions`]); without `latencies` these are 0.
    pub transactions: bool,
}

/// The times of the parts of an operation's way, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// One way between a root complex and its NIC.
    pub pcie: u64,
    /// One way on the wires between two NICs.
    pub wire: u64,
    /// The switch between them, one way.
    pub switch: u64,
    /// The write to memory by the root complex.
    pub memory: u64,
}

impl Latencies {
    /// Returns the time of one way between two NICs.
    #[must_use]
    pub fn network(&self) -> u64 {
        self.wire + self.switch
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lid: 1,
            max_message: 1 << 31,
            burst: 64,
            burst_bytes: 4 << 20,
            min_retry_ns: 500_000_000,
            strict: false,
            hold_ns: 0,
            delay_seed: None,
            latencies: None,
            transactions: false,
        }
    }
}

/// Component that assigns doorbell registers to queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UarRegime {
    /// `tot_bfregs` is 0: the library asks for pages and shares them out itself.
    LibraryManaged,
    /// The kernel assigns them; `total` and `low_latency` are counts of registers asked for at GET_CONTEXT.
    Legacy {
        /// Registers of the static pages, non-BlueFlame register 0 included.
        total: u32,
        /// Number of them that serve one queue pair each.
        low_latency: u32,
    },
}

/// Rights of memory regions and queue pairs (`IBV_ACCESS_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(pub u32);

impl Access {
    /// The device may write for its own process.
    pub const LOCAL_WRITE: u32 = 1;
    /// Peers may write.
    pub const REMOTE_WRITE: u32 = 2;
    /// Peers may read.
    pub const REMOTE_READ: u32 = 4;
    /// Peers may use atomics.
    pub const REMOTE_ATOMIC: u32 = 8;
    /// Weaker ordering is welcome; bits from here on are optional and ignored.
    pub const RELAXED_ORDERING: u32 = 1 << 20;

    /// Returns whether all of `bits` are granted.
    #[must_use]
    pub fn has(self, bits: u32) -> bool {
        self.0 & bits == bits
    }
}

/// A registered region, as REG_MR answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MrKeys {
    /// The handle by which it is deregistered.
    pub handle: u32,
    /// The key of local data segments.
    pub lkey: u32,
    /// The key that peers use.
    pub rkey: u32,
}

/// CREATE_CQ.
#[derive(Clone, Copy, Debug)]
pub struct CqInit {
    /// Address of the ring of entries in the process.
    pub buf_addr: u64,
    /// Address of the doorbell record: consumer index, arm word.
    pub db_addr: u64,
    /// Entries of the ring: a power of two.
    pub cqe_count: u32,
    /// 64 or 128.
    pub cqe_size: u32,
    /// The consumer index is not looked at: the process sees to it that the ring never overruns.
    pub ignore_overrun: bool,
    /// Handed back with [`CompletionEvent`]; `None`: no completion channel, no events.
    pub channel: Option<u64>,
    /// The element of the events: the library's own handle.
    pub user_handle: u64,
}

/// CREATE_SRQ.
#[derive(Clone, Copy, Debug)]
pub struct SrqInit {
    /// The protection domain.
    pub pd: u32,
    /// Address of the ring in the process.
    pub buf_addr: u64,
    /// Address of the doorbell record (one counter).
    pub db_addr: u64,
    /// Entries: a power of two.
    pub wqe_count: u32,
    /// Bytes of an entry, as a power of two (5 and up).
    pub wqe_shift: u32,
    /// The element of the events: the library's own handle.
    pub user_handle: u64,
}

/// Kinds of queue pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpKind {
    /// Reliable connected.
    Rc,
    /// Unreliable connected: sends and writes, which nobody acknowledges.
    Uc,
    /// Unreliable datagrams: to any queue pair of this kind, whose queue key the sender shows.
    Ud,
    /// Dynamically connected initiator: sends only.
    Dci,
    /// Dynamically connected target: receives only, needs a shared receive queue. Its number is given by
    /// [`super::Engine::modify_qp`] to ready-to-receive.
    Dct,
}

/// CREATE_QP.
#[derive(Clone, Copy, Debug)]
pub struct QpInit {
    /// Kind.
    pub kind: QpKind,
    /// The protection domain.
    pub pd: u32,
    /// Completion queue of requests (not looked at for a DCT).
    pub send_cq: u32,
    /// Completion queue of receives.
    pub recv_cq: u32,
    /// Shared receive queue, or its own one.
    pub srq: Option<u32>,
    /// Start of the queues' buffer in the process; the receive queue comes first.
    pub buf_addr: u64,
    /// Doorbell record: receive counter, send counter.
    pub db_addr: u64,
    /// Offset of the send queue in the buffer, in bytes.
    pub sq_offset: u64,
    /// Send queue, in basic blocks of 64 bytes: 0 or a power of two.
    pub sq_wqe_count: u32,
    /// Receive queue, in entries: 0 or a power of two.
    pub rq_wqe_count: u32,
    /// Bytes of a receive entry, as a power of two (4 and up).
    pub rq_wqe_shift: u32,
    /// The library's index, put into completions (version 1 of completion entries).
    pub uidx: u32,
    /// Doorbell register that it rings.
    pub uar: QpUar,
    /// The key that initiators must show (DCT).
    pub dc_key: u64,
    /// The element of the events: the library's own handle.
    pub user_handle: u64,
}

/// Doorbell register that CREATE_QP asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpUar {
    /// The kernel chooses among the static registers (legacy regime).
    Choose,
    /// A register index of a page that the library mapped for itself (flag BFREG_INDEX).
    Register(u32),
    /// A UAR page by its number (flag UAR_PAGE_INDEX, library-managed regime).
    Page(u32),
    /// Rings nowhere (DCT).
    None,
}

/// The answer to CREATE_QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpCreated {
    /// The handle: unique in the device. It equals `qpn` but for a DCT.
    pub handle: u32,
    /// The queue pair's number; 0 for a DCT, which gets it when it becomes ready to receive.
    pub qpn: u32,
    /// The register that was assigned (legacy regime), else 0.
    pub bfreg_index: u32,
}

/// States of a queue pair, numbered as `ibv_qp_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum QpState {
    /// Nothing is processed.
    Reset = 0,
    /// Receives may be posted.
    Init = 1,
    /// Receives.
    ReadyToReceive = 2,
    /// Sends and receives.
    ReadyToSend = 3,
    /// Sending is stopped after the started entries.
    SendDrained = 4,
    /// The send queue failed; receives go on.
    SendError = 5,
    /// All work is flushed.
    Error = 6,
}

impl QpState {
    /// Returns the state with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Reset,
            1 => Self::Init,
            2 => Self::ReadyToReceive,
            3 => Self::ReadyToSend,
            4 => Self::SendDrained,
            5 => Self::SendError,
            6 => Self::Error,
            _ => return None,
        })
    }
}

/// The path to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Destination LID.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// Source path bits.
    pub src_path_bits: u8,
    /// Static rate.
    pub static_rate: u8,
    /// A global route header is used.
    pub is_global: bool,
    /// Port, from 1.
    pub port_num: u8,
    /// Global route: destination.
    pub dgid: [u8; 16],
    /// Global route: flow label.
    pub flow_label: u32,
    /// Global route: index of the source.
    pub sgid_index: u8,
    /// Global route: hop limit.
    pub hop_limit: u8,
    /// Global route: traffic class.
    pub traffic_class: u8,
}

/// Attributes of a queue pair, as MODIFY_QP and QUERY_QP carry them. Which fields of a modification count
/// is said by the mask ([`attr`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpAttr {
    /// The next state.
    pub state: QpState,
    /// The state that the caller takes it to be in.
    pub cur_state: QpState,
    /// Path MTU, 1 (256) to 5 (4096).
    pub path_mtu: u8,
    /// Not used by RC; kept.
    pub qkey: u32,
    /// First sequence number of receives; kept, not checked.
    pub rq_psn: u32,
    /// First sequence number of sends; kept, not checked.
    pub sq_psn: u32,
    /// The peer's number.
    pub dest_qpn: u32,
    /// Rights of peers through this queue pair.
    pub access: Access,
    /// Partition key index.
    pub pkey_index: u16,
    /// Port, from 1.
    pub port_num: u8,
    /// Reads and atomics under way, as requester.
    pub max_rd_atomic: u8,
    /// Reads and atomics under way, as responder; 0: none are answered.
    pub max_dest_rd_atomic: u8,
    /// Receiver-not-ready time code, 0 to 31.
    pub min_rnr_timer: u8,
    /// Time-out code: 4.096 us << timeout; 0: for ever.
    pub timeout: u8,
    /// Transport retries, 0 to 7.
    pub retry_cnt: u8,
    /// Receiver-not-ready retries, 0 to 6; 7: for ever.
    pub rnr_retry: u8,
    /// The path.
    pub path: Path,
}

impl Default for QpAttr {
    fn default() -> Self {
        Self {
            state: QpState::Reset,
            cur_state: QpState::Reset,
            path_mtu: 5,
            qkey: 0,
            rq_psn: 0,
            sq_psn: 0,
            dest_qpn: 0,
            access: Access(0),
            pkey_index: 0,
            port_num: 1,
            max_rd_atomic: 0,
            max_dest_rd_atomic: 0,
            min_rnr_timer: 0,
            timeout: 0,
            retry_cnt: 0,
            rnr_retry: 0,
            path: Path::default(),
        }
    }
}

/// Bits of the mask of [`super::Engine::modify_qp`], as `IBV_QP_*`.
pub mod attr {
    /// `state`.
    pub const STATE: u32 = 1 << 0;
    /// `cur_state`.
    pub const CUR_STATE: u32 = 1 << 1;
    /// Tell of a drained send queue.
    pub const EN_SQD_ASYNC_NOTIFY: u32 = 1 << 2;
    /// `access`.
    pub const ACCESS_FLAGS: u32 = 1 << 3;
    /// `pkey_index`.
    pub const PKEY_INDEX: u32 = 1 << 4;
    /// `port_num`.
    pub const PORT: u32 = 1 << 5;
    /// `qkey`.
    pub const QKEY: u32 = 1 << 6;
    /// `path`.
    pub const AV: u32 = 1 << 7;
    /// `path_mtu`.
    pub const PATH_MTU: u32 = 1 << 8;
    /// `timeout`.
    pub const TIMEOUT: u32 = 1 << 9;
    /// `retry_cnt`.
    pub const RETRY_CNT: u32 = 1 << 10;
    /// `rnr_retry`.
    pub const RNR_RETRY: u32 = 1 << 11;
    /// `rq_psn`.
    pub const RQ_PSN: u32 = 1 << 12;
    /// `max_rd_atomic`.
    pub const MAX_QP_RD_ATOMIC: u32 = 1 << 13;
    /// An alternate path: refused.
    pub const ALT_PATH: u32 = 1 << 14;
    /// `min_rnr_timer`.
    pub const MIN_RNR_TIMER: u32 = 1 << 15;
    /// `sq_psn`.
    pub const SQ_PSN: u32 = 1 << 16;
    /// `max_dest_rd_atomic`.
    pub const MAX_DEST_RD_ATOMIC: u32 = 1 << 17;
    /// Path migration: taken and without effect.
    pub const PATH_MIG_STATE: u32 = 1 << 18;
    /// Capacities: refused.
    pub const CAP: u32 = 1 << 19;
    /// `dest_qpn`.
    pub const DEST_QPN: u32 = 1 << 20;
    /// Packet pacing: refused.
    pub const RATE_LIMIT: u32 = 1 << 25;
}

/// The answer to MODIFY_QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpModified {
    /// A DCT's number once it is ready to receive, else 0.
    pub dctn: u32,
}

/// An armed completion queue has a new entry: wake the threads that wait on its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionEvent {
    /// The context.
    pub context: ContextId,
    /// The queue's number.
    pub cqn: u32,
    /// [`CqInit::channel`].
    pub channel: u64,
    /// [`CqInit::user_handle`], which the channel's reader must be given.
    pub user_handle: u64,
}

/// Kinds of asynchronous events, numbered as `ibv_event_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AsyncKind {
    /// A completion queue overran, or its memory is gone.
    CqError = 0,
    /// A queue pair's own memory or entries are not usable.
    QpFatal = 1,
    /// A peer sent a request that is not valid.
    QpRequestError = 2,
    /// A peer's request was refused for its rights.
    QpAccessError = 3,
    /// The send queue is drained.
    SendQueueDrained = 5,
    /// A shared receive queue is not usable.
    SrqError = 14,
    /// A shared receive queue fell below its limit.
    SrqLimit = 15,
    /// The last receive of a queue pair on a shared receive queue was used.
    LastWqe = 16,
}

/// An asynchronous event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncEvent {
    /// Context to tell.
    pub context: ContextId,
    /// Kind.
    pub kind: AsyncKind,
    /// The object's `user_handle`.
    pub element: u64,
}

/// Results of a [`super::Engine::step`].
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Anything at all was executed or completed.
    pub worked: bool,
    /// Something waits for a peer: look again soon, even if nobody rings.
    pub waiting: bool,
    /// More work is there already: do not sleep.
    pub more: bool,
    /// Channels to wake.
    pub completions: Vec<CompletionEvent>,
    /// Asynchronous events to deliver.
    pub async_events: Vec<AsyncEvent>,
    /// Violations that strict mode found since the last step, other than at a store itself, each
    /// with the process whose fault it is.
    pub violations: Vec<(Pid, Violation)>,
    /// Time when the next operation under way is due, in ns; `None` where none is.
    pub due: Option<u64>,
    /// PCIe transactions of the past, in the order of time over all steps.
    pub transactions: Vec<Transaction>,
}

/// Violation that strict mode finds: a doorbell that is not as hardware needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// No queue pair of the context has the number in the written bytes.
    UnknownQueue(u32),
    /// The queue pair was rung on a page that is not its own: hardware does not take that.
    WrongPage {
        /// The queue pair.
        qpn: u32,
        /// The page that was written.
        rung_on: u32,
        /// The queue pair's page.
        own: u32,
    },
    /// The doorbell record was not written before the register.
    RecordBehind {
        /// The queue pair.
        qpn: u32,
        /// The index in the register.
        rung: u16,
        /// The doorbell record's counter.
        record: u16,
    },
    /// The entry rung now had been rung before, or is further ahead than the ring is long.
    OutOfOrder {
        /// The queue pair.
        qpn: u32,
        /// The counter of blocks behind the entry.
        rung: u16,
        /// The counter that was rung before.
        before: u16,
    },
    /// The doorbell record told of entries that were never rung.
    NeverRung {
        /// The queue pair.
        qpn: u32,
        /// The counter that was rung.
        rung: u16,
        /// The doorbell record's counter.
        record: u16,
    },
    /// An entry was changed after it had been rung and before it was executed.
    EntryChanged {
        /// The queue pair.
        qpn: u32,
        /// The entry's index.
        index: u16,
        /// The first byte that was changed, from the start of the entry.
        at: usize,
    },
    /// BlueFlame bytes differ from the entry in the ring.
    BlueFlameDiffers {
        /// The queue pair.
        qpn: u32,
        /// The first byte that differs, from the start of the entry.
        at: usize,
    },
    /// A BlueFlame copy was begun and not finished.
    BlueFlameShort {
        /// The queue pair.
        qpn: u32,
        /// Bytes that were written.
        got: usize,
        /// Bytes of the entry's blocks.
        of: usize,
    },
    /// A BlueFlame copy was written to a register that takes 8 bytes only.
    NoBlueFlame {
        /// The queue pair.
        qpn: u32,
    },
    /// The ring's bytes at the rung entry are not the bytes of the register.
    EntryDiffers(u32),
    /// A register's buffer was written to, but not its first 8 bytes.
    NoDoorbell {
        /// The page.
        page: u32,
        /// Offset of the buffer in the page.
        offset: u32,
    },
    /// A thread wrote to a register while another one's copy was not finished.
    Interleaved {
        /// The page.
        page: u32,
        /// Offset of the buffer in the page.
        offset: u32,
    },
    /// A write that is none to a register: elsewhere, over its end, or of less than 4 bytes.
    NoRegister {
        /// Offset of the write in the page.
        offset: u32,
        /// Its bytes.
        size: usize,
    },
    /// A completion queue was armed that the context does not have.
    UnknownCompletionQueue(u32),
    /// The arm word in the doorbell record is not the one in the register.
    ArmDiffers {
        /// The completion queue.
        cqn: u32,
        /// The word in the register.
        rung: u32,
        /// The word in the doorbell record.
        record: u32,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UnknownQueue(qpn) => write!(
                f,
                "a doorbell names queue pair {qpn:#x}, which is not there"
            ),
            Self::WrongPage { qpn, rung_on, own } => write!(
                f,
                "queue pair {qpn:#x} was rung on doorbell page {rung_on}, and its own is {own}"
            ),
            Self::RecordBehind { qpn, rung, record } => write!(
                f,
                "queue pair {qpn:#x} rang entry {rung} before its doorbell record said so ({record})"
            ),
            Self::OutOfOrder { qpn, rung, before } => write!(
                f,
                "queue pair {qpn:#x} rang up to block {rung} after it had rung up to block {before}"
            ),
            Self::NeverRung { qpn, rung, record } => write!(
                f,
                "queue pair {qpn:#x}: the doorbell record says {record}, and only {rung} blocks were rung"
            ),
            Self::EntryChanged { qpn, index, at } => write!(
                f,
                "queue pair {qpn:#x}: byte {at} of entry {index} was written after the entry had been rung"
            ),
            Self::BlueFlameDiffers { qpn, at } => write!(
                f,
                "queue pair {qpn:#x}: BlueFlame byte {at} differs from the entry in the ring"
            ),
            Self::BlueFlameShort { qpn, got, of } => write!(
                f,
                "queue pair {qpn:#x}: a BlueFlame copy ended after {got} of {of} bytes"
            ),
            Self::NoBlueFlame { qpn } => write!(
                f,
                "queue pair {qpn:#x}: a BlueFlame copy to a register without BlueFlame"
            ),
            Self::EntryDiffers(qpn) => write!(
                f,
                "queue pair {qpn:#x}: the register's first 8 bytes are not those of the entry in the ring"
            ),
            Self::NoDoorbell { page, offset } => write!(
                f,
                "doorbell page {page}: the buffer at {offset:#x} was written to, but not its first 8 bytes"
            ),
            Self::Interleaved { page, offset } => write!(
                f,
                "doorbell page {page}: two threads wrote to the buffer at {offset:#x} at the same time"
            ),
            Self::NoRegister { offset, size } => write!(
                f,
                "a write of {size} bytes at {offset:#x} of a doorbell page, which is none to a register"
            ),
            Self::UnknownCompletionQueue(cqn) => {
                write!(f, "completion queue {cqn:#x} was armed, which is not there")
            }
            Self::ArmDiffers { cqn, rung, record } => write!(
                f,
                "completion queue {cqn:#x} was armed with {rung:#x}, and its doorbell record has {record:#x}"
            ),
        }
    }
}

/// Kinds of UAR pages that the library asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UarKind {
    /// With BlueFlame registers.
    BlueFlame,
    /// Non-cached: doorbells of 8 bytes only.
    NonCached,
}

/// Counts of the device's doorbell pages and registers that a context uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UarAccount {
    /// Pages that can be rung on: static ones, asked for or mapped.
    pub pages: u32,
    /// Pages that some queue pair rings on.
    pub used_pages: u32,
    /// Distinct registers that queue pairs ring on, as far as they are known (assigned, or seen to ring).
    pub registers: u32,
    /// The largest number of queue pairs on one register.
    pub largest_sharing: u32,
}

/// Origin of a doorbell register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterKind {
    /// Of a static page; the device assigned it (legacy regime).
    Assigned,
    /// Of a page that the library mapped for a thread domain (legacy regime).
    Mapped,
    /// Of a page with BlueFlame that the library asked for.
    BlueFlame,
    /// Of a page without BlueFlame that the library asked for.
    NonCached,
}

/// A doorbell register in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UarRegister {
    /// The page, counted from the context's first.
    pub page: u32,
    /// Number of the register in the page.
    pub register: u32,
    /// Its origin.
    pub kind: RegisterKind,
    /// The queue pairs that ring there, in ascending order.
    pub queue_pairs: Vec<u32>,
}

/// A context's account of doorbell registers, one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UarReport {
    /// The process that opened the context.
    pub pid: Pid,
    /// Component that assigns registers.
    pub regime: UarRegime,
    /// The sums.
    pub account: UarAccount,
    /// The registers that are known to be in use.
    pub registers: Vec<UarRegister>,
    /// Queue pairs whose register is not known, since they have not rung yet.
    pub unseen: Vec<u32>,
}
