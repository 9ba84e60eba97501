//! The structures of libibverbs's own data path (`infiniband/verbs.h`), as datagrams need them.

use std::ffi::{c_int, c_uint};
use std::mem::{offset_of, size_of};

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

/// Destination of a datagram.
#[repr(C)]
pub(crate) struct Datagram {
    pub(crate) ah: *mut Ah,
    pub(crate) remote_qpn: u32,
    pub(crate) remote_qkey: u32,
}

/// Work completion: the outcome of a request.
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
    size_of::<Sge>() == 16
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
