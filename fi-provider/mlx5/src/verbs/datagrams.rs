//! The structures of libibverbs's own data path (`infiniband/verbs.h`), as datagrams need them.

use super::core::{Context, Cq, Qp};
use std::ffi::{c_int, c_uint, c_void};
use std::mem::{offset_of, size_of};

/// A file of completion events (`ibv_comp_channel`), up to its descriptor.
#[repr(C)]
pub(crate) struct CompChannel {
    pub(crate) context: *mut Context,
    pub(crate) fd: c_int,
}

/// The way to a port. The library's own.
#[repr(C)]
pub(crate) struct Ah {
    _private: [u8; 0],
}

/// A piece of registered memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Sge {
    pub(crate) addr: u64,
    pub(crate) length: u32,
    pub(crate) lkey: u32,
}

/// A request to receive.
#[repr(C)]
pub(crate) struct RecvWr {
    pub(crate) wr_id: u64,
    pub(crate) next: *mut RecvWr,
    pub(crate) sg_list: *mut Sge,
    pub(crate) num_sge: c_int,
}

/// A request to send a datagram.
#[repr(C)]
pub(crate) struct SendWr {
    pub(crate) wr_id: u64,
    pub(crate) next: *mut SendWr,
    pub(crate) sg_list: *mut Sge,
    pub(crate) num_sge: c_int,
    /// See [`wr_opcode`].
    pub(crate) opcode: c_uint,
    /// See [`send_flags`].
    pub(crate) send_flags: c_uint,
    pub(crate) imm_data: u32,
    /// `wr.ud`.
    pub(crate) ud: Datagram,
    /// The rest of `wr`, `qp_type`, `bind_mw` and `tso`.
    pub(crate) unused: [u64; 9],
}

/// Where a datagram goes.
#[repr(C)]
pub(crate) struct Datagram {
    pub(crate) ah: *mut Ah,
    pub(crate) remote_qpn: u32,
    pub(crate) remote_qkey: u32,
}

/// What became of a request.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Wc {
    pub(crate) wr_id: u64,
    /// See [`wc_status`].
    pub(crate) status: c_uint,
    pub(crate) opcode: c_uint,
    pub(crate) vendor_err: u32,
    pub(crate) byte_len: u32,
    pub(crate) imm_data: u32,
    pub(crate) qp_num: u32,
    pub(crate) src_qp: u32,
    pub(crate) wc_flags: c_uint,
    pub(crate) pkey_index: u16,
    pub(crate) slid: u16,
    pub(crate) sl: u8,
    pub(crate) dlid_path_bits: u8,
}

const _: () = assert!(
    offset_of!(CompChannel, fd) == 8
        && size_of::<Sge>() == 16
        && size_of::<RecvWr>() == 32
        && size_of::<SendWr>() == 128
        && offset_of!(SendWr, ud) == 40
        && size_of::<Wc>() == 48
        && offset_of!(Wc, slid) == 42
);

/// `enum ibv_wr_opcode`.
pub(crate) mod wr_opcode {
    pub(crate) const SEND: u32 = 2;
}

/// `enum ibv_send_flags`.
pub(crate) mod send_flags {
    pub(crate) const SIGNALED: u32 = 1 << 1;
}

/// `enum ibv_wc_status`.
pub(crate) mod wc_status {
    pub(crate) const SUCCESS: u32 = 0;
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
