//! Functions that `verbs.h` defines in line: calls through the table of an open device.

use super::core::{
    Context, Cq, EXTENDED, ParentDomainInitAttr, Pd, PortAttr, Qp, Td, TdInitAttr, VerbsContext,
};
use super::datagrams::{RecvWr, SendWr, Wc};
use std::ffi::c_int;
use std::mem::{offset_of, size_of};
use std::ptr::null_mut;

/// Returns the larger table around `context`, where it reaches back to the field at `offset`
/// (`verbs_get_ctx_op`).
///
/// # Safety
/// `context` is open.
unsafe fn table(context: *mut Context, offset: usize) -> Option<*mut VerbsContext> {
    // SAFETY: the context is open, and every context has this field.
    if unsafe { (*context).abi_compat }.addr() != EXTENDED {
        return None;
    }
    let table = context
        .wrapping_byte_sub(offset_of!(VerbsContext, context))
        .cast::<VerbsContext>();
    // SAFETY: the mark says that the context is the end of a larger one, of which every version has this field just before it.
    let bytes = unsafe { (*table).sz };
    (bytes >= size_of::<VerbsContext>() - offset).then_some(table)
}

/// Calls `ibv_query_port`, with the whole structure: the exported function of this name fills a
/// former one. Gives an errno, or 0.
///
/// # Safety
/// `context` is open.
pub(crate) unsafe fn query_port(context: *mut Context, port: u8, attr: &mut PortAttr) -> c_int {
    // SAFETY: the context is open; the field is there when there is a table, and then of this type.
    let function = unsafe {
        table(context, offset_of!(VerbsContext, query_port)).and_then(|it| (*it).query_port)
    };
    let Some(function) = function else {
        return libc::EOPNOTSUPP;
    };
    // SAFETY: the context is open, and the structure is as long as said.
    unsafe { function(context, port, attr, size_of::<PortAttr>()) }
}

/// Calls `ibv_alloc_td`; returns null where there are no thread domains.
///
/// # Safety
/// `context` is open.
pub(crate) unsafe fn alloc_td(context: *mut Context) -> *mut Td {
    // SAFETY: the context is open; the field is there when there is a table, and then of this type.
    let function =
        unsafe { table(context, offset_of!(VerbsContext, alloc_td)).and_then(|it| (*it).alloc_td) };
    let mut attr = TdInitAttr { comp_mask: 0 };
    // SAFETY: the context is open, and the attributes are valid.
    function.map_or(null_mut(), |function| unsafe {
        function(context, &raw mut attr)
    })
}

/// Calls `ibv_dealloc_td`.
///
/// # Safety
/// `td` is one of `context`, which is open, and no object uses it.
pub(crate) unsafe fn dealloc_td(context: *mut Context, td: *mut Td) -> c_int {
    // SAFETY: the context is open; the field is there when there is a table, and then of this type.
    let function = unsafe {
        table(context, offset_of!(VerbsContext, dealloc_td)).and_then(|it| (*it).dealloc_td)
    };
    // SAFETY: `td` is one of the open context, and no object uses it.
    function.map_or(libc::EOPNOTSUPP, |function| unsafe { function(td) })
}

/// Calls `ibv_alloc_parent_domain`; returns null where there are no parent domains.
///
/// # Safety
/// `pd` and `td` are of `context`, which is open.
pub(crate) unsafe fn alloc_parent_domain(
    context: *mut Context,
    pd: *mut Pd,
    td: *mut Td,
) -> *mut Pd {
    // SAFETY: the context is open; the field is there when there is a table, and then of this type.
    let function = unsafe {
        table(context, offset_of!(VerbsContext, alloc_parent_domain))
            .and_then(|it| (*it).alloc_parent_domain)
    };
    let mut attr = ParentDomainInitAttr {
        pd,
        td,
        comp_mask: 0,
        alloc: null_mut(),
        free: null_mut(),
        pd_context: null_mut(),
    };
    // SAFETY: the context is open, `pd` and `td` are of it, and the attributes are valid.
    function.map_or(null_mut(), |function| unsafe {
        function(context, &raw mut attr)
    })
}

/// Calls `ibv_poll_cq`, for one completion; returns the number of completions, or less than 0.
///
/// # Safety
/// `cq` is alive, and one thread at a time polls it.
pub(crate) unsafe fn poll_cq(cq: *mut Cq, wc: &mut Wc) -> c_int {
    // SAFETY: the queue is alive, and so is its context.
    let function = unsafe { (*(*cq).context).ops.poll_cq };
    // SAFETY: the queue is alive and no other thread polls it; there is room for one completion.
    function.map_or(-1, |function| unsafe { function(cq, 1, wc) })
}

/// Calls `ibv_req_notify_cq`, for all completions. Gives an errno, or 0.
///
/// # Safety
/// `cq` is alive.
pub(crate) unsafe fn req_notify_cq(cq: *mut Cq) -> c_int {
    // SAFETY: the queue is alive, and so is its context.
    let function = unsafe { (*(*cq).context).ops.req_notify_cq };
    // SAFETY: the queue is alive.
    function.map_or(libc::EOPNOTSUPP, |function| unsafe { function(cq, 0) })
}

/// Calls `ibv_post_send`, with one request. Gives an errno, or 0.
///
/// # Safety
/// `qp` is alive, and one thread at a time posts to it. The request is valid, and the memory that it
/// names stays so until the completion.
pub(crate) unsafe fn post_send(qp: *mut Qp, wr: &mut SendWr) -> c_int {
    // SAFETY: the queue pair is alive, and so is its context.
    let function = unsafe { (*(*qp).context).ops.post_send };
    let mut bad = null_mut();
    // SAFETY: the queue pair is alive and no other thread posts to it; the request is valid.
    function.map_or(libc::EOPNOTSUPP, |function| unsafe {
        function(qp, wr, &raw mut bad)
    })
}

/// Calls `ibv_post_recv`, with one request. Gives an errno, or 0.
///
/// # Safety
/// As [`post_send`].
pub(crate) unsafe fn post_recv(qp: *mut Qp, wr: &mut RecvWr) -> c_int {
    // SAFETY: the queue pair is alive, and so is its context.
    let function = unsafe { (*(*qp).context).ops.post_recv };
    let mut bad = null_mut();
    // SAFETY: the queue pair is alive and no other thread posts to it; the request is valid.
    function.map_or(libc::EOPNOTSUPP, |function| unsafe {
        function(qp, wr, &raw mut bad)
    })
}
