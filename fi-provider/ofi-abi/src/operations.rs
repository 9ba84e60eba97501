//! The tables of functions that objects point to.
//!
//! A [`Stub`] stands where the provider has no function. It may be called with the arguments of any
//! function of its place, as they are in registers or on the caller's stack, and the caller takes
//! the lower half of the result where it expects an `int`.

use crate::info::*;
use crate::objects::*;
use std::ffi::{c_char, c_int, c_void};

/// A function that refuses.
pub type Stub = extern "C" fn() -> isize;

/// A pointer to a C function.
macro_rules! function {
    (($($argument:ty),*) -> $result:ty) => {
        unsafe extern "C" fn($($argument),*) -> $result
    };
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOps {
    pub size: usize,
    pub close: function!((*mut Fid) -> c_int),
    pub bind: function!((*mut Fid, *mut Fid, u64) -> c_int),
    pub control: function!((*mut Fid, c_int, *mut c_void) -> c_int),
    pub ops_open: function!((*mut Fid, *const c_char, u64, *mut *mut c_void, *mut c_void) -> c_int),
    pub tostr: Stub,
    pub ops_set: Stub,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsFabric {
    pub size: usize,
    pub domain: function!((*mut FidFabric, *mut FiInfo, *mut *mut FidDomain, *mut c_void) -> c_int),
    pub passive_ep: Stub,
    pub eq_open: function!((*mut FidFabric, *mut FiEqAttr, *mut *mut FidEq, *mut c_void) -> c_int),
    pub wait_open: Stub,
    pub trywait: function!((*mut FidFabric, *mut *mut Fid, c_int) -> c_int),
    pub domain2: Stub,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsDomain {
    pub size: usize,
    pub av_open: function!((*mut FidDomain, *mut FiAvAttr, *mut *mut FidAv, *mut c_void) -> c_int),
    pub cq_open: function!((*mut FidDomain, *mut FiCqAttr, *mut *mut FidCq, *mut c_void) -> c_int),
    pub endpoint: function!((*mut FidDomain, *mut FiInfo, *mut *mut FidEp, *mut c_void) -> c_int),
    pub scalable_ep: function!((*mut FidDomain, *mut FiInfo, *mut *mut FidEp, *mut c_void)
        -> c_int),
    pub cntr_open: function!((*mut FidDomain, *mut FiCntrAttr, *mut *mut FidCntr, *mut c_void)
        -> c_int),
    pub poll_open: function!((*mut FidDomain, *mut FiPollAttr, *mut *mut FidPoll) -> c_int),
    pub stx_ctx: function!((*mut FidDomain, *mut FiTxAttr, *mut *mut FidStx, *mut c_void) -> c_int),
    pub srx_ctx: function!((*mut FidDomain, *mut FiRxAttr, *mut *mut FidEp, *mut c_void) -> c_int),
    pub query_atomic: function!((*mut FidDomain, u32, u32, *mut FiAtomicAttr, u64) -> c_int),
    pub query_collective: Stub,
    pub endpoint2: Stub,
    pub newer: [Stub; 1],
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsMr {
    pub size: usize,
    pub reg: function!((*mut Fid, *const c_void, usize, u64, u64, u64, u64, *mut *mut FidMr,
        *mut c_void) -> c_int),
    pub regv: function!((*mut Fid, *const Iovec, usize, u64, u64, u64, u64, *mut *mut FidMr,
        *mut c_void) -> c_int),
    pub regattr: function!((*mut Fid, *const FiMrAttr, u64, *mut *mut FidMr) -> c_int),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsAv {
    pub size: usize,
    pub insert: function!((*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int),
    pub insertsvc: function!((*mut FidAv, *const c_char, *const c_char, *mut u64, u64, *mut c_void)
        -> c_int),
    pub insertsym: function!((*mut FidAv, *const c_char, usize, *const c_char, usize, *mut u64, u64,
        *mut c_void) -> c_int),
    pub remove: function!((*mut FidAv, *mut u64, usize, u64) -> c_int),
    pub lookup: function!((*mut FidAv, u64, *mut c_void, *mut usize) -> c_int),
    pub straddr: function!((*mut FidAv, *const c_void, *mut c_char, *mut usize) -> *const c_char),
    pub av_set: Stub,
    pub newer: [Stub; 4],
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsCq {
    pub size: usize,
    pub read: function!((*mut FidCq, *mut c_void, usize) -> isize),
    pub readfrom: function!((*mut FidCq, *mut c_void, usize, *mut u64) -> isize),
    pub readerr: function!((*mut FidCq, *mut FiCqErrEntry, u64) -> isize),
    pub sread: function!((*mut FidCq, *mut c_void, usize, *const c_void, c_int) -> isize),
    pub sreadfrom: function!((*mut FidCq, *mut c_void, usize, *mut u64, *const c_void, c_int)
        -> isize),
    pub signal: function!((*mut FidCq) -> c_int),
    pub strerror: function!((*mut FidCq, c_int, *const c_void, *mut c_char, usize)
        -> *const c_char),
    pub newer: [Stub; 1],
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsPoll {
    pub size: usize,
    pub poll: function!((*mut FidPoll, *mut *mut c_void, c_int) -> c_int),
    pub poll_add: function!((*mut FidPoll, *mut Fid, u64) -> c_int),
    pub poll_del: function!((*mut FidPoll, *mut Fid, u64) -> c_int),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsCntr {
    pub size: usize,
    pub read: function!((*mut FidCntr) -> u64),
    pub readerr: function!((*mut FidCntr) -> u64),
    pub add: function!((*mut FidCntr, u64) -> c_int),
    pub set: function!((*mut FidCntr, u64) -> c_int),
    pub wait: function!((*mut FidCntr, u64, c_int) -> c_int),
    pub adderr: function!((*mut FidCntr, u64) -> c_int),
    pub seterr: function!((*mut FidCntr, u64) -> c_int),
    pub newer: [Stub; 1],
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsEq {
    pub size: usize,
    pub read: function!((*mut FidEq, *mut u32, *mut c_void, usize, u64) -> isize),
    pub readerr: function!((*mut FidEq, *mut FiEqErrEntry, u64) -> isize),
    pub write: function!((*mut FidEq, u32, *const c_void, usize, u64) -> isize),
    pub sread: function!((*mut FidEq, *mut u32, *mut c_void, usize, c_int, u64) -> isize),
    pub strerror: function!((*mut FidEq, c_int, *const c_void, *mut c_char, usize)
        -> *const c_char),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsEp {
    pub size: usize,
    pub cancel: function!((*mut Fid, *mut c_void) -> isize),
    pub getopt: function!((*mut Fid, c_int, c_int, *mut c_void, *mut usize) -> c_int),
    pub setopt: function!((*mut Fid, c_int, c_int, *const c_void, usize) -> c_int),
    pub tx_ctx: function!((*mut FidEp, c_int, *mut FiTxAttr, *mut *mut FidEp, *mut c_void)
        -> c_int),
    pub rx_ctx: function!((*mut FidEp, c_int, *mut FiRxAttr, *mut *mut FidEp, *mut c_void)
        -> c_int),
    pub rx_size_left: Stub,
    pub tx_size_left: Stub,
    pub newer: [Stub; 1],
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsCm {
    pub size: usize,
    pub setname: Stub,
    pub getname: function!((*mut Fid, *mut c_void, *mut usize) -> c_int),
    pub getpeer: Stub,
    pub connect: Stub,
    pub listen: Stub,
    pub accept: Stub,
    pub reject: Stub,
    pub shutdown: Stub,
    pub join: Stub,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsMsg {
    pub size: usize,
    pub recv: function!((*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize),
    pub recvv: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, *mut c_void)
        -> isize),
    pub recvmsg: function!((*mut FidEp, *const FiMsg, u64) -> isize),
    pub send: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize),
    pub sendv: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, *mut c_void)
        -> isize),
    pub sendmsg: function!((*mut FidEp, *const FiMsg, u64) -> isize),
    pub inject: function!((*mut FidEp, *const c_void, usize, u64) -> isize),
    pub senddata: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, *mut c_void)
        -> isize),
    pub injectdata: function!((*mut FidEp, *const c_void, usize, u64, u64) -> isize),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsRma {
    pub size: usize,
    pub read: function!((*mut FidEp, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void)
        -> isize),
    pub readv: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, u64, u64,
        *mut c_void) -> isize),
    pub readmsg: function!((*mut FidEp, *const FiMsgRma, u64) -> isize),
    pub write: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, u64,
        *mut c_void) -> isize),
    pub writev: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, u64, u64,
        *mut c_void) -> isize),
    pub writemsg: function!((*mut FidEp, *const FiMsgRma, u64) -> isize),
    pub inject: function!((*mut FidEp, *const c_void, usize, u64, u64, u64) -> isize),
    pub writedata: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, u64, u64,
        *mut c_void) -> isize),
    pub injectdata: function!((*mut FidEp, *const c_void, usize, u64, u64, u64, u64) -> isize),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsTagged {
    pub size: usize,
    pub recv: function!((*mut FidEp, *mut c_void, usize, *mut c_void, u64, u64, u64, *mut c_void)
        -> isize),
    pub recvv: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, u64, u64,
        *mut c_void) -> isize),
    pub recvmsg: function!((*mut FidEp, *const FiMsgTagged, u64) -> isize),
    pub send: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, *mut c_void)
        -> isize),
    pub sendv: function!((*mut FidEp, *const Iovec, *mut *mut c_void, usize, u64, u64,
        *mut c_void) -> isize),
    pub sendmsg: function!((*mut FidEp, *const FiMsgTagged, u64) -> isize),
    pub inject: function!((*mut FidEp, *const c_void, usize, u64, u64) -> isize),
    pub senddata: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, u64,
        *mut c_void) -> isize),
    pub injectdata: function!((*mut FidEp, *const c_void, usize, u64, u64, u64) -> isize),
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpsAtomic {
    pub size: usize,
    pub write: function!((*mut FidEp, *const c_void, usize, *mut c_void, u64, u64, u64, u32, u32,
        *mut c_void) -> isize),
    pub writev: function!((*mut FidEp, *const FiIoc, *mut *mut c_void, usize, u64, u64, u64, u32,
        u32, *mut c_void) -> isize),
    pub writemsg: function!((*mut FidEp, *const FiMsgAtomic, u64) -> isize),
    pub inject: function!((*mut FidEp, *const c_void, usize, u64, u64, u64, u32, u32) -> isize),
    pub readwrite: function!((*mut FidEp, *const c_void, usize, *mut c_void, *mut c_void,
        *mut c_void, u64, u64, u64, u32, u32, *mut c_void) -> isize),
    pub readwritev: function!((*mut FidEp, *const FiIoc, *mut *mut c_void, usize, *mut FiIoc,
        *mut *mut c_void, usize, u64, u64, u64, u32, u32, *mut c_void) -> isize),
    pub readwritemsg: function!((*mut FidEp, *const FiMsgAtomic, *mut FiIoc, *mut *mut c_void,
        usize, u64) -> isize),
    pub compwrite: function!((*mut FidEp, *const c_void, usize, *mut c_void, *const c_void,
        *mut c_void, *mut c_void, *mut c_void, u64, u64, u64, u32, u32, *mut c_void) -> isize),
    pub compwritev: function!((*mut FidEp, *const FiIoc, *mut *mut c_void, usize, *const FiIoc,
        *mut *mut c_void, usize, *mut FiIoc, *mut *mut c_void, usize, u64, u64, u64, u32, u32,
        *mut c_void) -> isize),
    pub compwritemsg: function!((*mut FidEp, *const FiMsgAtomic, *const FiIoc, *mut *mut c_void,
        usize, *mut FiIoc, *mut *mut c_void, usize, u64) -> isize),
    pub writevalid: function!((*mut FidEp, u32, u32, *mut usize) -> c_int),
    pub readwritevalid: function!((*mut FidEp, u32, u32, *mut usize) -> c_int),
    pub compwritevalid: function!((*mut FidEp, u32, u32, *mut usize) -> c_int),
}
