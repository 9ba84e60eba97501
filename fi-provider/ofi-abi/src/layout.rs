//! The layouts of all structs: numbers that the compiler and a test check.

use crate::info::*;
use crate::objects::*;
use crate::operations::*;
use crate::trigger::*;
use std::mem::offset_of;

/// The layout of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The struct's name in C, without `struct`.
    pub name: &'static str,
    /// Its bytes here.
    pub size: usize,
    /// Its fields, and the offset of each.
    pub fields: &'static [(&'static str, usize)],
}

/// States sizes and offsets: asserts each, and lists them in [`LAYOUTS`].
macro_rules! layouts {
    ($($ours:ident = $theirs:ident: $size:literal { $($field:ident $offset:literal),* })*) => {
        $(const _: () = {
            assert!(size_of::<$ours>() == $size);
            $(assert!(offset_of!($ours, $field) == $offset);)*
        };)*

        /// All layouts.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            name: stringify!($theirs),
            size: $size,
            fields: &[$((stringify!($field), $offset)),*],
        }),*];
    };
}

layouts! {
    FiInfo = fi_info: 120 {
        next 0, caps 8, mode 16, addr_format 24, src_addrlen 32, dest_addrlen 40, src_addr 48,
        dest_addr 56, handle 64, tx_attr 72, rx_attr 80, ep_attr 88, domain_attr 96,
        fabric_attr 104, nic 112
    }
    FiTxAttr = fi_tx_attr: 80 {
        caps 0, mode 8, op_flags 16, msg_order 24, comp_order 32, inject_size 40, size 48,
        iov_limit 56, rma_iov_limit 64, tclass 72
    }
    FiRxAttr = fi_rx_attr: 64 {
        caps 0, mode 8, op_flags 16, msg_order 24, comp_order 32, total_buffered_recv 40, size 48,
        iov_limit 56
    }
    FiEpAttr = fi_ep_attr: 96 {
        r#type 0, protocol 4, protocol_version 8, max_msg_size 16, msg_prefix_size 24,
        max_order_raw_size 32, max_order_war_size 40, max_order_waw_size 48, mem_tag_format 56,
        tx_ctx_cnt 64, rx_ctx_cnt 72, auth_key_size 80, auth_key 88
    }
    FiDomainAttr = fi_domain_attr: 192 {
        domain 0, name 8, threading 16, control_progress 20, data_progress 24, resource_mgmt 28,
        av_type 32, mr_mode 36, mr_key_size 40, cq_data_size 48, cq_cnt 56, ep_cnt 64,
        tx_ctx_cnt 72, rx_ctx_cnt 80, max_ep_tx_ctx 88, max_ep_rx_ctx 96, max_ep_stx_ctx 104,
        max_ep_srx_ctx 112, cntr_cnt 120, mr_iov_limit 128, caps 136, mode 144, auth_key 152,
        auth_key_size 160, max_err_data 168, mr_cnt 176, tclass 184
    }
    FiFabricAttr = fi_fabric_attr: 32 {
        fabric 0, name 8, prov_name 16, prov_version 24, api_version 28
    }
    FiAvAttr = fi_av_attr: 48 {
        r#type 0, rx_ctx_bits 4, count 8, ep_per_node 16, name 24, map_addr 32, flags 40
    }
    FiCqAttr = fi_cq_attr: 40 {
        size 0, flags 8, format 16, wait_obj 20, signaling_vector 24, wait_cond 28, wait_set 32
    }
    FiCntrAttr = fi_cntr_attr: 24 {
        events 0, wait_obj 4, wait_set 8, flags 16
    }
    FiEqAttr = fi_eq_attr: 32 {
        size 0, flags 8, wait_obj 16, signaling_vector 20, wait_set 24
    }
    FiPollAttr = fi_poll_attr: 8 {
        flags 0
    }
    FiMrAttr = fi_mr_attr: 80 {
        mr_iov 0, iov_count 8, access 16, offset 24, requested_key 32, context 40,
        auth_key_size 48, auth_key 56, iface 64
    }
    FiCqTaggedEntry = fi_cq_tagged_entry: 48 {
        op_context 0, flags 8, len 16, buf 24, data 32, tag 40
    }
    FiCqMsgEntry = fi_cq_msg_entry: 24 {
        op_context 0, flags 8, len 16
    }
    FiCqErrEntry = fi_cq_err_entry: 80 {
        op_context 0, flags 8, len 16, buf 24, data 32, tag 40, olen 48, err 56, prov_errno 60,
        err_data 64, err_data_size 72
    }
    FiEqEntry = fi_eq_entry: 24 {
        fid 0, context 8, data 16
    }
    FiEqErrEntry = fi_eq_err_entry: 48 {
        fid 0, context 8, data 16, err 24, prov_errno 28, err_data 32, err_data_size 40
    }
    Iovec = iovec: 16 {
        iov_base 0, iov_len 8
    }
    FiRmaIov = fi_rma_iov: 24 {
        addr 0, len 8, key 16
    }
    FiMsg = fi_msg: 48 {
        msg_iov 0, desc 8, iov_count 16, addr 24, context 32, data 40
    }
    FiMsgTagged = fi_msg_tagged: 64 {
        msg_iov 0, desc 8, iov_count 16, addr 24, tag 32, ignore 40, context 48, data 56
    }
    FiMsgRma = fi_msg_rma: 64 {
        msg_iov 0, desc 8, iov_count 16, addr 24, rma_iov 32, rma_iov_count 40, context 48,
        data 56
    }
    FiIoc = fi_ioc: 16 {
        addr 0, count 8
    }
    FiRmaIoc = fi_rma_ioc: 24 {
        addr 0, count 8, key 16
    }
    FiMsgAtomic = fi_msg_atomic: 72 {
        msg_iov 0, desc 8, iov_count 16, addr 24, rma_iov 32, rma_iov_count 40, datatype 48, op 52,
        context 56, data 64
    }
    FiAtomicAttr = fi_atomic_attr: 16 {
        count 0, size 8
    }
    FiTriggeredContext = fi_triggered_context: 32 {
        event_type 0
    }
    FiDeferredWork = fi_deferred_work: 104 {
        context 0, threshold 64, triggering_cntr 72, completion_cntr 80, op_type 88, op 96
    }
    FiOpMsg = fi_op_msg: 64 {
        ep 0, msg 8, flags 56
    }
    FiOpTagged = fi_op_tagged: 80 {
        ep 0, msg 8, flags 72
    }
    FiOpRma = fi_op_rma: 80 {
        ep 0, msg 8, flags 72
    }
    FiMsgFetch = fi_msg_fetch: 24 {
        msg_iov 0, desc 8, iov_count 16
    }
    FiMsgCompare = fi_msg_compare: 24 {
        msg_iov 0, desc 8, iov_count 16
    }
    FiOpAtomic = fi_op_atomic: 88 {
        ep 0, msg 8, flags 80
    }
    FiOpFetchAtomic = fi_op_fetch_atomic: 112 {
        ep 0, msg 8, fetch 80, flags 104
    }
    FiOpCompareAtomic = fi_op_compare_atomic: 136 {
        ep 0, msg 8, fetch 80, compare 104, flags 128
    }
    FiOpCntr = fi_op_cntr: 16 {
        cntr 0, value 8
    }
    FiAlias = fi_alias: 16 {
        fid 0, flags 8
    }
    Fid = fid: 24 {
        fclass 0, context 8, ops 16
    }
    FidFabric = fid_fabric: 40 {
        fid 0, ops 24, api_version 32
    }
    FidDomain = fid_domain: 40 {
        fid 0, ops 24, mr 32
    }
    FidEp = fid_ep: 80 {
        fid 0, ops 24, cm 32, msg 40, rma 48, tagged 56, atomic 64, collective 72
    }
    FidStx = fid_stx: 32 {
        fid 0, ops 24
    }
    FidAv = fid_av: 32 {
        fid 0, ops 24
    }
    FidMr = fid_mr: 40 {
        fid 0, mem_desc 24, key 32
    }
    FidEq = fid_eq: 32 {
        fid 0, ops 24
    }
    FidCq = fid_cq: 32 {
        fid 0, ops 24
    }
    FidCntr = fid_cntr: 32 {
        fid 0, ops 24
    }
    FidPoll = fid_poll: 32 {
        fid 0, ops 24
    }
    FiProvider = fi_provider: 72 {
        version 0, fi_version 4, context 8, name 40, getinfo 48, fabric 56, cleanup 64
    }
    FiOps = fi_ops: 56 {
        size 0, close 8, bind 16, control 24, ops_open 32, tostr 40, ops_set 48
    }
    FiOpsFabric = fi_ops_fabric: 56 {
        size 0, domain 8, passive_ep 16, eq_open 24, wait_open 32, trywait 40, domain2 48
    }
    FiOpsDomain = fi_ops_domain: 104 {
        size 0, av_open 8, cq_open 16, endpoint 24, scalable_ep 32, cntr_open 40, poll_open 48,
        stx_ctx 56, srx_ctx 64, query_atomic 72, query_collective 80, endpoint2 88
    }
    FiOpsMr = fi_ops_mr: 32 {
        size 0, reg 8, regv 16, regattr 24
    }
    FiOpsAv = fi_ops_av: 96 {
        size 0, insert 8, insertsvc 16, insertsym 24, remove 32, lookup 40, straddr 48, av_set 56
    }
    FiOpsCq = fi_ops_cq: 72 {
        size 0, read 8, readfrom 16, readerr 24, sread 32, sreadfrom 40, signal 48, strerror 56
    }
    FiOpsPoll = fi_ops_poll: 32 {
        size 0, poll 8, poll_add 16, poll_del 24
    }
    FiOpsCntr = fi_ops_cntr: 72 {
        size 0, read 8, readerr 16, add 24, set 32, wait 40, adderr 48, seterr 56
    }
    FiOpsEq = fi_ops_eq: 48 {
        size 0, read 8, readerr 16, write 24, sread 32, strerror 40
    }
    FiOpsEp = fi_ops_ep: 72 {
        size 0, cancel 8, getopt 16, setopt 24, tx_ctx 32, rx_ctx 40, rx_size_left 48,
        tx_size_left 56
    }
    FiOpsCm = fi_ops_cm: 80 {
        size 0, setname 8, getname 16, getpeer 24, connect 32, listen 40, accept 48, reject 56,
        shutdown 64, join 72
    }
    FiOpsMsg = fi_ops_msg: 80 {
        size 0, recv 8, recvv 16, recvmsg 24, send 32, sendv 40, sendmsg 48, inject 56,
        senddata 64, injectdata 72
    }
    FiOpsRma = fi_ops_rma: 80 {
        size 0, read 8, readv 16, readmsg 24, write 32, writev 40, writemsg 48, inject 56,
        writedata 64, injectdata 72
    }
    FiOpsTagged = fi_ops_tagged: 80 {
        size 0, recv 8, recvv 16, recvmsg 24, send 32, sendv 40, sendmsg 48, inject 56,
        senddata 64, injectdata 72
    }
    FiOpsAtomic = fi_ops_atomic: 112 {
        size 0, write 8, writev 16, writemsg 24, inject 32, readwrite 40, readwritev 48,
        readwritemsg 56, compwrite 64, compwritev 72, compwritemsg 80, writevalid 88,
        readwritevalid 96, compwritevalid 104
    }
}
