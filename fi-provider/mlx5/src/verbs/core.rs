//! The structures of libibverbs (`infiniband/verbs.h`) and the numbers in them.

use super::datagrams::{RecvWr, SendWr, Wc};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::{offset_of, size_of};

/// Capabilities of a device.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct DeviceAttr {
    pub(crate) fw_ver: [c_char; 64],
    pub(crate) node_guid: u64,
    pub(crate) sys_image_guid: u64,
    pub(crate) max_mr_size: u64,
    pub(crate) page_size_cap: u64,
    pub(crate) vendor_id: u32,
    pub(crate) vendor_part_id: u32,
    pub(crate) hw_ver: u32,
    pub(crate) max_qp: c_int,
    pub(crate) max_qp_wr: c_int,
    pub(crate) device_cap_flags: c_uint,
    pub(crate) max_sge: c_int,
    pub(crate) max_sge_rd: c_int,
    pub(crate) max_cq: c_int,
    pub(crate) max_cqe: c_int,
    pub(crate) max_mr: c_int,
    pub(crate) max_pd: c_int,
    pub(crate) max_qp_rd_atom: c_int,
    pub(crate) max_ee_rd_atom: c_int,
    pub(crate) max_res_rd_atom: c_int,
    pub(crate) max_qp_init_rd_atom: c_int,
    pub(crate) max_ee_init_rd_atom: c_int,
    /// See [`atomic_cap`].
    pub(crate) atomic_cap: c_uint,
    pub(crate) max_ee: c_int,
    pub(crate) max_rdd: c_int,
    pub(crate) max_mw: c_int,
    pub(crate) max_raw_ipv6_qp: c_int,
    pub(crate) max_raw_ethy_qp: c_int,
    pub(crate) max_mcast_grp: c_int,
    pub(crate) max_mcast_qp_attach: c_int,
    pub(crate) max_total_mcast_qp_attach: c_int,
    pub(crate) max_ah: c_int,
    pub(crate) max_fmr: c_int,
    pub(crate) max_map_per_fmr: c_int,
    pub(crate) max_srq: c_int,
    pub(crate) max_srq_wr: c_int,
    pub(crate) max_srq_sge: c_int,
    pub(crate) max_pkeys: u16,
    pub(crate) local_ca_ack_delay: u8,
    pub(crate) phys_port_cnt: u8,
}

const _: () = assert!(
    size_of::<DeviceAttr>() == 232
        && offset_of!(DeviceAttr, max_qp_rd_atom) == 144
        && offset_of!(DeviceAttr, max_qp_init_rd_atom) == 156
        && offset_of!(DeviceAttr, atomic_cap) == 164
        && offset_of!(DeviceAttr, phys_port_cnt) == 227
);

/// `enum ibv_atomic_cap`.
pub(crate) mod atomic_cap {
    pub(crate) const NONE: u32 = 0;
}

/// A port's state.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PortAttr {
    /// See [`port_state`].
    pub(crate) state: c_uint,
    pub(crate) max_mtu: c_uint,
    /// 1 for 256 bytes, and one more for each doubling.
    pub(crate) active_mtu: c_uint,
    pub(crate) gid_tbl_len: c_int,
    pub(crate) port_cap_flags: u32,
    pub(crate) max_msg_sz: u32,
    pub(crate) bad_pkey_cntr: u32,
    pub(crate) qkey_viol_cntr: u32,
    pub(crate) pkey_tbl_len: u16,
    pub(crate) lid: u16,
    pub(crate) sm_lid: u16,
    pub(crate) lmc: u8,
    pub(crate) max_vl_num: u8,
    pub(crate) sm_sl: u8,
    pub(crate) subnet_timeout: u8,
    pub(crate) init_type_reply: u8,
    pub(crate) active_width: u8,
    pub(crate) active_speed: u8,
    pub(crate) phys_state: u8,
    /// See [`link_layer`].
    pub(crate) link_layer: u8,
    pub(crate) flags: u8,
    pub(crate) port_cap_flags2: u16,
}

const _: () = assert!(
    size_of::<PortAttr>() == 52
        && offset_of!(PortAttr, active_mtu) == 8
        && offset_of!(PortAttr, max_msg_sz) == 20
        && offset_of!(PortAttr, lid) == 34
        && offset_of!(PortAttr, link_layer) == 46
);

/// `enum ibv_port_state`.
pub(crate) mod port_state {
    pub(crate) const ACTIVE: u32 = 4;
}

/// The link layers of a port.
pub(crate) mod link_layer {
    pub(crate) const INFINIBAND: u8 = 1;
    pub(crate) const ETHERNET: u8 = 2;
}

/// A device, before it is opened. The library's own.
#[repr(C)]
pub(crate) struct Device {
    _private: [u8; 0],
}

/// The functions of a context (`ibv_context_ops`) that `verbs.h` calls in line; the others are of
/// former versions or not used.
#[repr(C)]
pub(crate) struct Ops {
    pub(crate) unused: [*mut c_void; 11],
    pub(crate) poll_cq: Option<PollCq>,
    pub(crate) req_notify_cq: Option<ReqNotifyCq>,
    pub(crate) unused2: [*mut c_void; 12],
    pub(crate) post_send: Option<PostSend>,
    pub(crate) post_recv: Option<PostRecv>,
    pub(crate) unused3: [*mut c_void; 5],
}

pub(crate) type PollCq = unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int;
pub(crate) type ReqNotifyCq = unsafe extern "C" fn(*mut Cq, c_int) -> c_int;
pub(crate) type PostSend = unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int;
pub(crate) type PostRecv = unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int;

const _: () = assert!(size_of::<Ops>() == 256);

/// The table that every open device has, for functions that are defined in line.
#[repr(C)]
pub(crate) struct Context {
    pub(crate) device: *mut Device,
    pub(crate) ops: Ops,
    pub(crate) cmd_fd: c_int,
    pub(crate) async_fd: c_int,
    pub(crate) num_comp_vectors: c_int,
    pub(crate) mutex: libc::pthread_mutex_t,
    /// [`EXTENDED`] where this is the end of a [`VerbsContext`].
    pub(crate) abi_compat: *mut c_void,
}

/// The mark of an extended context (`__VERBS_ABI_IS_EXTENDED`).
pub(crate) const EXTENDED: usize = usize::MAX;

/// The larger table, of which a [`Context`] is the end. Later versions add to its start.
#[repr(C)]
pub(crate) struct VerbsContext {
    pub(crate) query_port:
        Option<unsafe extern "C" fn(*mut Context, u8, *mut PortAttr, usize) -> c_int>,
    /// From `advise_mr` to `modify_qp_rate_limit`.
    pub(crate) unused: [*mut c_void; 13],
    pub(crate) alloc_parent_domain:
        Option<unsafe extern "C" fn(*mut Context, *mut ParentDomainInitAttr) -> *mut Pd>,
    pub(crate) dealloc_td: Option<unsafe extern "C" fn(*mut Td) -> c_int>,
    pub(crate) alloc_td: Option<unsafe extern "C" fn(*mut Context, *mut TdInitAttr) -> *mut Td>,
    /// From `modify_cq` to `_ABI_placeholder3`.
    pub(crate) unused2: [*mut c_void; 22],
    /// Bytes of the whole, as the library knows it.
    pub(crate) sz: usize,
    pub(crate) context: Context,
}

#[cfg(target_arch = "x86_64")]
const _: () = assert!(size_of::<Context>() == 328 && offset_of!(Context, abi_compat) == 320);
const _: () = assert!(
    offset_of!(VerbsContext, query_port) == 0
        && offset_of!(VerbsContext, alloc_parent_domain) == 14 * 8
        && offset_of!(VerbsContext, alloc_td) == 16 * 8
        && offset_of!(VerbsContext, sz) == 39 * 8
        && offset_of!(VerbsContext, context) == 40 * 8
);

/// A file of completion events (`ibv_comp_channel`), up to its descriptor.
#[repr(C)]
pub(crate) struct CompChannel {
    pub(crate) context: *mut Context,
    pub(crate) fd: c_int,
}

const _: () = assert!(offset_of!(CompChannel, fd) == 8);

/// A protection domain, which a parent domain is, too. The library's own.
#[repr(C)]
pub(crate) struct Pd {
    _private: [u8; 0],
}

/// A thread domain. The library's own.
#[repr(C)]
pub(crate) struct Td {
    _private: [u8; 0],
}

/// Wishes for a thread domain: none.
#[repr(C)]
pub(crate) struct TdInitAttr {
    pub(crate) comp_mask: u32,
}

/// Parts of a parent domain.
#[repr(C)]
pub(crate) struct ParentDomainInitAttr {
    pub(crate) pd: *mut Pd,
    pub(crate) td: *mut Td,
    pub(crate) comp_mask: u32,
    pub(crate) alloc: *mut c_void,
    pub(crate) free: *mut c_void,
    pub(crate) pd_context: *mut c_void,
}

const _: () = assert!(
    size_of::<TdInitAttr>() == 4
        && size_of::<ParentDomainInitAttr>() == 48
        && offset_of!(ParentDomainInitAttr, comp_mask) == 16
);

/// A memory region, up to the last used field.
#[repr(C)]
pub(crate) struct Mr {
    pub(crate) context: *mut Context,
    pub(crate) pd: *mut Pd,
    pub(crate) addr: *mut c_void,
    pub(crate) length: usize,
    pub(crate) handle: u32,
    pub(crate) lkey: u32,
    pub(crate) rkey: u32,
}

const _: () = assert!(offset_of!(Mr, lkey) == 36 && offset_of!(Mr, rkey) == 40);

/// `enum ibv_access_flags`.
pub(crate) mod access {
    pub(crate) const LOCAL_WRITE: u32 = 1;
    pub(crate) const REMOTE_WRITE: u32 = 1 << 1;
    pub(crate) const REMOTE_READ: u32 = 1 << 2;
    pub(crate) const REMOTE_ATOMIC: u32 = 1 << 3;
    /// All that peers do.
    pub(crate) const REMOTE: u32 = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;
}

/// A completion queue, up to the last used field; an extended one (`ibv_cq_ex`) is one.
#[repr(C)]
pub(crate) struct Cq {
    pub(crate) context: *mut Context,
    pub(crate) channel: *mut c_void,
    pub(crate) cq_context: *mut c_void,
    pub(crate) handle: u32,
    pub(crate) cqe: c_int,
}

const _: () = assert!(offset_of!(Cq, cqe) == 28);

/// Wishes for a completion queue.
#[repr(C)]
pub(crate) struct CqInitAttrEx {
    pub(crate) cqe: u32,
    pub(crate) cq_context: *mut c_void,
    pub(crate) channel: *mut c_void,
    pub(crate) comp_vector: u32,
    pub(crate) wc_flags: u64,
    pub(crate) comp_mask: u32,
    pub(crate) flags: u32,
    pub(crate) parent_domain: *mut Pd,
}

const _: () = assert!(
    size_of::<CqInitAttrEx>() == 56
        && offset_of!(CqInitAttrEx, comp_vector) == 24
        && offset_of!(CqInitAttrEx, wc_flags) == 32
        && offset_of!(CqInitAttrEx, comp_mask) == 40
        && offset_of!(CqInitAttrEx, flags) == 44
        && offset_of!(CqInitAttrEx, parent_domain) == 48
);

/// `enum ibv_cq_init_attr_mask`.
pub(crate) mod cq_init {
    pub(crate) const FLAGS: u32 = 1 << 0;
    pub(crate) const PD: u32 = 1 << 1;
}

/// `enum ibv_create_cq_attr_flags`.
pub(crate) mod cq_flags {
    pub(crate) const SINGLE_THREADED: u32 = 1 << 0;
    pub(crate) const IGNORE_OVERRUN: u32 = 1 << 1;
}

/// A shared receive queue. The library's own.
#[repr(C)]
pub(crate) struct Srq {
    _private: [u8; 0],
}

/// Wishes for a shared receive queue.
#[repr(C)]
pub(crate) struct SrqInitAttr {
    pub(crate) srq_context: *mut c_void,
    pub(crate) max_wr: u32,
    pub(crate) max_sge: u32,
    pub(crate) srq_limit: u32,
}

const _: () = assert!(size_of::<SrqInitAttr>() == 24 && offset_of!(SrqInitAttr, max_wr) == 8);

/// A queue pair, up to the last used field.
#[repr(C)]
pub(crate) struct Qp {
    pub(crate) context: *mut Context,
    pub(crate) qp_context: *mut c_void,
    pub(crate) pd: *mut Pd,
    pub(crate) send_cq: *mut Cq,
    pub(crate) recv_cq: *mut Cq,
    pub(crate) srq: *mut Srq,
    pub(crate) handle: u32,
    pub(crate) qp_num: u32,
}

const _: () = assert!(offset_of!(Qp, qp_num) == 52);

/// Capacities of a queue pair.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct QpCap {
    pub(crate) max_send_wr: u32,
    pub(crate) max_recv_wr: u32,
    pub(crate) max_send_sge: u32,
    pub(crate) max_recv_sge: u32,
    pub(crate) max_inline_data: u32,
}

/// Wishes for a queue pair.
#[repr(C)]
pub(crate) struct QpInitAttrEx {
    pub(crate) qp_context: *mut c_void,
    pub(crate) send_cq: *mut Cq,
    pub(crate) recv_cq: *mut Cq,
    pub(crate) srq: *mut Srq,
    pub(crate) cap: QpCap,
    /// See [`qp_type`].
    pub(crate) qp_type: c_uint,
    pub(crate) sq_sig_all: c_int,
    /// See [`qp_init`].
    pub(crate) comp_mask: u32,
    pub(crate) pd: *mut Pd,
    pub(crate) xrcd: *mut c_void,
    pub(crate) create_flags: u32,
    pub(crate) max_tso_header: u16,
    pub(crate) rwq_ind_tbl: *mut c_void,
    /// `rx_hash_conf`.
    pub(crate) rx_hash: [u64; 3],
    pub(crate) source_qpn: u32,
    /// See [`send_ops`].
    pub(crate) send_ops_flags: u64,
}

const _: () = assert!(
    size_of::<QpInitAttrEx>() == 136
        && offset_of!(QpInitAttrEx, cap) == 32
        && offset_of!(QpInitAttrEx, qp_type) == 52
        && offset_of!(QpInitAttrEx, comp_mask) == 60
        && offset_of!(QpInitAttrEx, pd) == 64
        && offset_of!(QpInitAttrEx, rwq_ind_tbl) == 88
        && offset_of!(QpInitAttrEx, source_qpn) == 120
        && offset_of!(QpInitAttrEx, send_ops_flags) == 128
);

/// `enum ibv_qp_type`.
pub(crate) mod qp_type {
    pub(crate) const RC: u32 = 2;
    pub(crate) const UD: u32 = 4;
    pub(crate) const DRIVER: u32 = 0xff;
}

/// `enum ibv_qp_init_attr_mask`.
pub(crate) mod qp_init {
    pub(crate) const PD: u32 = 1 << 0;
    pub(crate) const SEND_OPS_FLAGS: u32 = 1 << 6;
}

/// `enum ibv_qp_create_send_ops_flags`.
pub(crate) mod send_ops {
    pub(crate) const RDMA_WRITE: u64 = 1 << 0;
}

/// A global route.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct GlobalRoute {
    /// `dgid`, a union whose larger member is two words.
    pub(crate) dgid: [u64; 2],
    pub(crate) flow_label: u32,
    pub(crate) sgid_index: u8,
    pub(crate) hop_limit: u8,
    pub(crate) traffic_class: u8,
}

/// The way to a peer.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct AhAttr {
    pub(crate) grh: GlobalRoute,
    pub(crate) dlid: u16,
    pub(crate) sl: u8,
    pub(crate) src_path_bits: u8,
    pub(crate) static_rate: u8,
    pub(crate) is_global: u8,
    pub(crate) port_num: u8,
}

const _: () = assert!(
    size_of::<GlobalRoute>() == 24
        && size_of::<AhAttr>() == 32
        && offset_of!(AhAttr, dlid) == 24
        && offset_of!(AhAttr, port_num) == 30
);

/// Attributes to which a queue pair is changed.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct QpAttr {
    /// See [`qp_state`].
    pub(crate) qp_state: c_uint,
    pub(crate) cur_qp_state: c_uint,
    pub(crate) path_mtu: c_uint,
    pub(crate) path_mig_state: c_uint,
    pub(crate) qkey: u32,
    pub(crate) rq_psn: u32,
    pub(crate) sq_psn: u32,
    pub(crate) dest_qp_num: u32,
    pub(crate) qp_access_flags: c_uint,
    pub(crate) cap: QpCap,
    pub(crate) ah_attr: AhAttr,
    pub(crate) alt_ah_attr: AhAttr,
    pub(crate) pkey_index: u16,
    pub(crate) alt_pkey_index: u16,
    pub(crate) en_sqd_async_notify: u8,
    pub(crate) sq_draining: u8,
    pub(crate) max_rd_atomic: u8,
    pub(crate) max_dest_rd_atomic: u8,
    pub(crate) min_rnr_timer: u8,
    pub(crate) port_num: u8,
    pub(crate) timeout: u8,
    pub(crate) retry_cnt: u8,
    pub(crate) rnr_retry: u8,
    pub(crate) alt_port_num: u8,
    pub(crate) alt_timeout: u8,
    pub(crate) rate_limit: u32,
}

const _: () = assert!(
    size_of::<QpAttr>() == 144
        && offset_of!(QpAttr, qp_access_flags) == 32
        && offset_of!(QpAttr, ah_attr) == 56
        && offset_of!(QpAttr, pkey_index) == 120
        && offset_of!(QpAttr, max_rd_atomic) == 126
        && offset_of!(QpAttr, rnr_retry) == 132
        && offset_of!(QpAttr, rate_limit) == 136
);

/// `enum ibv_qp_state`.
pub(crate) mod qp_state {
    pub(crate) const INIT: u32 = 1;
    pub(crate) const RTR: u32 = 2;
    pub(crate) const RTS: u32 = 3;
}

/// `enum ibv_qp_attr_mask`: which fields of [`QpAttr`] count.
pub(crate) mod qp_attr {
    pub(crate) const STATE: i32 = 1 << 0;
    pub(crate) const ACCESS_FLAGS: i32 = 1 << 3;
    pub(crate) const PKEY_INDEX: i32 = 1 << 4;
    pub(crate) const PORT: i32 = 1 << 5;
    pub(crate) const QKEY: i32 = 1 << 6;
    pub(crate) const AV: i32 = 1 << 7;
    pub(crate) const PATH_MTU: i32 = 1 << 8;
    pub(crate) const TIMEOUT: i32 = 1 << 9;
    pub(crate) const RETRY_CNT: i32 = 1 << 10;
    pub(crate) const RNR_RETRY: i32 = 1 << 11;
    pub(crate) const RQ_PSN: i32 = 1 << 12;
    pub(crate) const MAX_QP_RD_ATOMIC: i32 = 1 << 13;
    pub(crate) const MIN_RNR_TIMER: i32 = 1 << 15;
    pub(crate) const SQ_PSN: i32 = 1 << 16;
    pub(crate) const MAX_DEST_RD_ATOMIC: i32 = 1 << 17;
    pub(crate) const DEST_QPN: i32 = 1 << 20;
}
