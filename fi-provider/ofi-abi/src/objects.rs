//! The objects to which applications hold pointers. Each begins with its [`Fid`].

use crate::info::{FiFabricAttr, FiInfo};
use crate::operations::*;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
#[derive(Debug)]
pub struct Fid {
    pub fclass: usize,
    pub context: *mut c_void,
    pub ops: *const FiOps,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidFabric {
    pub fid: Fid,
    pub ops: *const FiOpsFabric,
    pub api_version: u32,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidDomain {
    pub fid: Fid,
    pub ops: *const FiOpsDomain,
    pub mr: *const FiOpsMr,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidEp {
    pub fid: Fid,
    pub ops: *const FiOpsEp,
    pub cm: *const FiOpsCm,
    pub msg: *const FiOpsMsg,
    pub rma: *const FiOpsRma,
    pub tagged: *const FiOpsTagged,
    pub atomic: *const FiOpsAtomic,
    pub collective: *const c_void,
}

/// A shared transmit context.
#[repr(C)]
#[derive(Debug)]
pub struct FidStx {
    pub fid: Fid,
    pub ops: *const FiOpsEp,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidAv {
    pub fid: Fid,
    pub ops: *const FiOpsAv,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidMr {
    pub fid: Fid,
    pub mem_desc: *mut c_void,
    pub key: u64,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidEq {
    pub fid: Fid,
    pub ops: *const FiOpsEq,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidCq {
    pub fid: Fid,
    pub ops: *const FiOpsCq,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidCntr {
    pub fid: Fid,
    pub ops: *const FiOpsCntr,
}

#[repr(C)]
#[derive(Debug)]
pub struct FidPoll {
    pub fid: Fid,
    pub ops: *const FiOpsPoll,
}

/// A network card, which no function here looks at.
#[repr(C)]
#[derive(Debug)]
pub struct FidNic {
    pub fid: Fid,
}

/// The provider itself. `context` is libfabric's, which writes there.
#[repr(C)]
#[derive(Debug)]
pub struct FiProvider {
    pub version: u32,
    pub fi_version: u32,
    pub context: [*mut c_void; 4],
    pub name: *const c_char,
    pub getinfo: Option<
        unsafe extern "C" fn(
            version: u32,
            node: *const c_char,
            service: *const c_char,
            flags: u64,
            hints: *const FiInfo,
            info: *mut *mut FiInfo,
        ) -> c_int,
    >,
    pub fabric:
        Option<unsafe extern "C" fn(*mut FiFabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int>,
    pub cleanup: Option<unsafe extern "C" fn()>,
}
