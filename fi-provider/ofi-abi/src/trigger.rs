//! The records of operations that start when a counter has reached a threshold.

use crate::info::{FiIoc, FiMsg, FiMsgAtomic, FiMsgRma, FiMsgTagged};
use crate::objects::{Fid, FidCntr, FidEp};
use std::ffi::c_void;

/// The context of an operation with FI_TRIGGER, as it is for FI_TRIGGER_THRESHOLD.
#[repr(C)]
#[derive(Debug)]
pub struct FiTriggeredContext {
    pub event_type: u32,
    pub cntr: *mut FidCntr,
    pub threshold: usize,
    pub internal: *mut c_void,
}

/// Deferred work. The context is the provider's.
#[repr(C)]
#[derive(Debug)]
pub struct FiDeferredWork {
    pub context: [*mut c_void; 8],
    pub threshold: u64,
    pub triggering_cntr: *mut FidCntr,
    pub completion_cntr: *mut FidCntr,
    pub op_type: u32,
    pub op: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpMsg {
    pub ep: *mut FidEp,
    pub msg: FiMsg,
    pub flags: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpTagged {
    pub ep: *mut FidEp,
    pub msg: FiMsgTagged,
    pub flags: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpRma {
    pub ep: *mut FidEp,
    pub msg: FiMsgRma,
    pub flags: u64,
}

/// The elements of an atomic operation that come back.
#[repr(C)]
#[derive(Debug)]
pub struct FiMsgFetch {
    pub msg_iov: *mut FiIoc,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
}

/// The elements that an atomic operation compares with.
#[repr(C)]
#[derive(Debug)]
pub struct FiMsgCompare {
    pub msg_iov: *const FiIoc,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpAtomic {
    pub ep: *mut FidEp,
    pub msg: FiMsgAtomic,
    pub flags: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpFetchAtomic {
    pub ep: *mut FidEp,
    pub msg: FiMsgAtomic,
    pub fetch: FiMsgFetch,
    pub flags: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpCompareAtomic {
    pub ep: *mut FidEp,
    pub msg: FiMsgAtomic,
    pub fetch: FiMsgFetch,
    pub compare: FiMsgCompare,
    pub flags: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FiOpCntr {
    pub cntr: *mut FidCntr,
    pub value: u64,
}

/// The request of FI_ALIAS.
#[repr(C)]
#[derive(Debug)]
pub struct FiAlias {
    pub fid: *mut *mut Fid,
    pub flags: u64,
}
