//! The structures of libmlx5 (`infiniband/mlx5dv.h`) and the numbers in them.

use super::core::{Cq, Qp, Srq};
use fi_mlx5_defs::endian::Be32;
use std::ffi::{c_uint, c_void};
use std::mem::{offset_of, size_of};

/// Attributes with which a device is opened.
#[repr(C)]
pub(crate) struct ContextAttr {
    /// See [`context`].
    pub(crate) flags: u32,
    pub(crate) comp_mask: u64,
}

/// `enum mlx5dv_context_attr_flags`.
pub(crate) mod context {
    pub(crate) const DEVX: u32 = 1 << 0;
}

/// A doorbell page that is asked for by itself. The library's own.
#[repr(C)]
pub(crate) struct Uar {
    _private: [u8; 0],
}

/// `enum mlx5_ib_uapi_uar_alloc_type`.
pub(crate) mod uar {
    pub(crate) const NON_CACHED: u32 = 1;
}

/// Wishes of mlx5's own for a completion queue.
#[repr(C)]
pub(crate) struct CqInitAttr {
    /// See [`cq_init`].
    pub(crate) comp_mask: u64,
    pub(crate) cqe_comp_res_format: u8,
    pub(crate) flags: u32,
    pub(crate) cqe_size: u16,
}

const _: () = assert!(
    size_of::<ContextAttr>() == 16
        && size_of::<CqInitAttr>() == 24
        && offset_of!(CqInitAttr, flags) == 12
        && offset_of!(CqInitAttr, cqe_size) == 16
);

/// `enum mlx5dv_cq_init_attr_mask`.
pub(crate) mod cq_init {
    pub(crate) const CQE_SIZE: u64 = 1 << 2;
}

/// Wishes of mlx5's own for a queue pair.
#[repr(C)]
pub(crate) struct QpInitAttr {
    /// See [`qp_init`].
    pub(crate) comp_mask: u64,
    /// See [`qp_create`].
    pub(crate) create_flags: u32,
    pub(crate) dc: DcInitAttr,
    pub(crate) send_ops_flags: u64,
}

/// The end of a dynamic connection that a queue pair is.
#[repr(C)]
pub(crate) struct DcInitAttr {
    /// See [`dc_type`].
    pub(crate) dc_type: c_uint,
    /// `dct_access_key`; unused in an initiator.
    pub(crate) access_key: u64,
}

const _: () = assert!(
    size_of::<QpInitAttr>() == 40
        && offset_of!(QpInitAttr, create_flags) == 8
        && offset_of!(QpInitAttr, dc) == 16
        && offset_of!(QpInitAttr, send_ops_flags) == 32
        && offset_of!(DcInitAttr, access_key) == 8
);

/// `enum mlx5dv_qp_init_attr_mask`.
pub(crate) mod qp_init {
    pub(crate) const QP_CREATE_FLAGS: u64 = 1 << 0;
    pub(crate) const DC: u64 = 1 << 1;
}

/// `enum mlx5dv_qp_create_flags`.
pub(crate) mod qp_create {
    pub(crate) const DISABLE_SCATTER_TO_CQE: u32 = 1 << 3;
}

/// `enum mlx5dv_dc_type`.
pub(crate) mod dc_type {
    pub(crate) const TARGET: u32 = 1;
    pub(crate) const INITIATOR: u32 = 2;
}

/// A queue pair as the device sees it.
#[repr(C)]
pub(crate) struct QpLayout {
    pub(crate) dbrec: *mut Be32,
    pub(crate) sq: Ring,
    pub(crate) rq: Ring,
    pub(crate) bf: Register,
    pub(crate) comp_mask: u64,
    pub(crate) uar_mmap_offset: i64,
    pub(crate) tirn: u32,
    pub(crate) tisn: u32,
    pub(crate) rqn: u32,
    pub(crate) sqn: u32,
    pub(crate) tir_icm_addr: u64,
}

/// One of its rings.
#[repr(C)]
pub(crate) struct Ring {
    pub(crate) buf: *mut c_void,
    pub(crate) wqe_cnt: u32,
    pub(crate) stride: u32,
}

/// Its doorbell register.
#[repr(C)]
pub(crate) struct Register {
    pub(crate) reg: *mut c_void,
    pub(crate) size: u32,
}

/// A completion queue as the device sees it.
#[repr(C)]
pub(crate) struct CqLayout {
    pub(crate) buf: *mut c_void,
    pub(crate) dbrec: *mut Be32,
    pub(crate) cqe_cnt: u32,
    pub(crate) cqe_size: u32,
    pub(crate) cq_uar: *mut c_void,
    pub(crate) cqn: u32,
    pub(crate) comp_mask: u64,
}

/// A shared receive queue as the device sees it.
#[repr(C)]
pub(crate) struct SrqLayout {
    pub(crate) buf: *mut c_void,
    pub(crate) dbrec: *mut Be32,
    pub(crate) stride: u32,
    /// The first and the last of the entries that are linked to each other for its user.
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) comp_mask: u64,
    pub(crate) srqn: u32,
}

/// Asks for [`QpLayout`], [`CqLayout`] and [`SrqLayout`]; the pairs that follow are not looked at.
#[repr(C)]
pub(crate) struct Object {
    pub(crate) qp: Pair<Qp, QpLayout>,
    pub(crate) cq: Pair<Cq, CqLayout>,
    pub(crate) srq: Pair<Srq, SrqLayout>,
}

/// An object and its layout.
#[repr(C)]
pub(crate) struct Pair<I, O> {
    pub(crate) input: *mut I,
    pub(crate) output: *mut O,
}

const _: () = assert!(
    size_of::<QpLayout>() == 96
        && offset_of!(QpLayout, sq) == 8
        && offset_of!(QpLayout, bf) == 40
        && offset_of!(QpLayout, comp_mask) == 56
        && size_of::<CqLayout>() == 48
        && offset_of!(CqLayout, cqe_cnt) == 16
        && offset_of!(CqLayout, cqn) == 32
        && size_of::<SrqLayout>() == 48
        && offset_of!(SrqLayout, tail) == 24
        && offset_of!(SrqLayout, srqn) == 40
        && offset_of!(Object, cq) == 16
        && offset_of!(Object, srq) == 32
);

/// `enum mlx5dv_obj_type`.
pub(crate) mod object {
    pub(crate) const QP: u64 = 1 << 0;
    pub(crate) const CQ: u64 = 1 << 1;
    pub(crate) const SRQ: u64 = 1 << 2;
}
