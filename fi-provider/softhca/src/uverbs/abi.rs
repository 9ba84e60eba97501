//! The layouts of the kernel's uverbs commands, and of mlx5's additions to them.
//!
//! Source: the kernel's user-space interface, `include/uapi/rdma/` (`rdma_user_ioctl_cmds.h`,
//! `ib_user_verbs.h`, `mlx5-abi.h`). All numbers are in the byte order of the machine unless a
//! field says otherwise. Fields that the device does not use are kept as reserved words.

use bytemuck::{Pod, Zeroable};

/// Declares a layout and asserts its size.
macro_rules! layout {
    ($(#[$doc:meta])* $name:ident: $size:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Pod, Zeroable)]
        #[repr(C)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub(crate) $field: $type,)+
        }
        const _: () = assert!(size_of::<$name>() == $size);
    };
}

layout! {
    /// `ib_uverbs_ioctl_hdr`.
    IoctlHeader: 24 {
        length: u16,
        object: u16,
        method: u16,
        attributes: u16,
        reserved1: u64,
        driver: u32,
        reserved2: u32,
    }
}

layout! {
    /// `ib_uverbs_attr`.
    IoctlAttribute: 16 {
        id: u16,
        length: u16,
        flags: u16,
        enumeration: u16,
        data: u64,
    }
}

/// Set in an attribute's flags by the kernel when it wrote the output.
pub(crate) const FLAG_VALID_OUTPUT: u16 = 2;

/// Objects of ioctls (`uverbs_default_objects`, `mlx5_ib_objects`).
pub(crate) mod object {
    pub(crate) const DEVICE: u16 = 0;
    pub(crate) const ASYNC_EVENT: u16 = 16;
    pub(crate) const MLX5_DEVX: u16 = 0x1000;
    pub(crate) const MLX5_DEVX_OBJECT: u16 = 0x1001;
    pub(crate) const MLX5_DEVX_MEMORY: u16 = 0x1002;
    pub(crate) const MLX5_DEVX_EVENTS: u16 = 0x1005;
    pub(crate) const MLX5_UAR: u16 = 0x1008;
}

/// Methods of [`object::DEVICE`], of events, and of mlx5's DEVX and UARs.
pub(crate) mod method {
    pub(crate) const INVOKE_WRITE: u16 = 0;
    pub(crate) const QUERY_PORT: u16 = 2;
    pub(crate) const GET_CONTEXT: u16 = 3;
    pub(crate) const QUERY_GID_TABLE: u16 = 5;
    pub(crate) const QUERY_GID_ENTRY: u16 = 6;
    pub(crate) const ASYNC_EVENT_ALLOC: u16 = 0;
    pub(crate) const DEVX_OTHER: u16 = 0x1000;
    pub(crate) const DEVX_MODIFY: u16 = 0x1002;
    pub(crate) const DEVX_QUERY: u16 = 0x1003;
    pub(crate) const DEVX_MEMORY_REGISTER: u16 = 0x1000;
    pub(crate) const DEVX_MEMORY_DEREGISTER: u16 = 0x1001;
    pub(crate) const DEVX_EVENTS_ALLOC: u16 = 0x1000;
    pub(crate) const UAR_ALLOC: u16 = 0x1000;
    pub(crate) const UAR_DESTROY: u16 = 0x1001;
}

/// Attributes of the driver, in any method.
pub(crate) const DRIVER_IN: u16 = 0x1000;
/// See [`DRIVER_IN`].
pub(crate) const DRIVER_OUT: u16 = 0x1001;

/// Attributes of INVOKE_WRITE.
pub(crate) mod invoke_write {
    pub(crate) const CORE_IN: u16 = 0;
    pub(crate) const CORE_OUT: u16 = 1;
    pub(crate) const COMMAND: u16 = 2;
    /// Set in the command's number for the extended form.
    pub(crate) const EXTENDED: u64 = 0x8000_0000;
}

/// The numbers of the older commands (`ib_uverbs_write_cmds`).
pub(crate) mod command {
    pub(crate) const QUERY_DEVICE: u64 = 1;
    pub(crate) const ALLOC_PD: u64 = 3;
    pub(crate) const DEALLOC_PD: u64 = 4;
    pub(crate) const REG_MR: u64 = 9;
    pub(crate) const DEREG_MR: u64 = 13;
    pub(crate) const CREATE_COMP_CHANNEL: u64 = 17;
    pub(crate) const CREATE_CQ: u64 = 18;
    pub(crate) const DESTROY_CQ: u64 = 20;
    pub(crate) const CREATE_QP: u64 = 24;
    pub(crate) const QUERY_QP: u64 = 25;
    pub(crate) const MODIFY_QP: u64 = 26;
    pub(crate) const DESTROY_QP: u64 = 27;
    pub(crate) const CREATE_SRQ: u64 = 32;
    pub(crate) const MODIFY_SRQ: u64 = 33;
    pub(crate) const QUERY_SRQ: u64 = 34;
    pub(crate) const DESTROY_SRQ: u64 = 35;
    pub(crate) const CREATE_XSRQ: u64 = 39;
}

layout! {
    /// `mlx5_ib_alloc_ucontext_req_v2`.
    ContextRequest: 32 {
        total_bfregs: u32,
        low_latency_bfregs: u32,
        flags: u32,
        comp_mask: u32,
        max_cqe_version: u8,
        reserved: [u8; 7],
        lib_caps: u64,
    }
}

/// In [`ContextRequest::flags`]: the context shall speak DEVX.
pub(crate) const CONTEXT_DEVX: u32 = 1;
/// In [`ContextRequest::lib_caps`]: the library manages UARs.
pub(crate) const LIB_CAP_DYN_UAR: u64 = 2;

layout! {
    /// `mlx5_ib_alloc_ucontext_resp`.
    ContextResponse: 72 {
        qp_tab_size: u32,
        bf_reg_size: u32,
        tot_bfregs: u32,
        cache_line_size: u32,
        max_sq_desc_sz: u16,
        max_rq_desc_sz: u16,
        max_send_wqebb: u32,
        max_recv_wr: u32,
        max_srq_recv_wr: u32,
        num_ports: u16,
        flow_action_flags: u16,
        comp_mask: u32,
        response_length: u32,
        cqe_version: u8,
        cmds_supp_uhw: u8,
        eth_min_inline: u8,
        clock_info_versions: u8,
        hca_core_clock_offset: u64,
        log_uar_size: u32,
        num_uars_per_page: u32,
        num_dyn_bfregs: u32,
        dump_fill_mkey: u32,
    }
}

layout! {
    /// `mlx5_ib_clock_info`: the wall clock's time in ns at a time of the device, and the factor by
    /// which the two go on.
    ClockInfo: 56 {
        sign: u32,
        reserved: u32,
        nsec: u64,
        cycles: u64,
        frac: u64,
        mult: u32,
        shift: u32,
        mask: u64,
        overflow_period: u64,
    }
}

layout! {
    /// `ib_uverbs_query_port_resp_ex`.
    Port: 48 {
        capabilities: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        gid_tbl_len: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
        state: u8,
        max_mtu: u8,
        active_mtu: u8,
        lmc: u8,
        max_vl_num: u8,
        sm_sl: u8,
        subnet_timeout: u8,
        init_type_reply: u8,
        active_width: u8,
        active_speed: u8,
        phys_state: u8,
        link_layer: u8,
        flags: u8,
        reserved: u8,
        capabilities2: u16,
        reserved2: [u8; 6],
    }
}

layout! {
    /// `ib_uverbs_gid_entry`.
    GidEntry: 32 {
        gid: [u8; 16],
        gid_index: u32,
        port: u32,
        kind: u32,
        netdev: u32,
    }
}

layout! {
    /// `ib_uverbs_ex_query_device_resp`; its first 176 bytes are `ib_uverbs_query_device_resp`.
    DeviceAttributes: 304 {
        fw_ver: u64,
        /// Big-endian.
        node_guid: [u8; 8],
        /// Big-endian.
        sys_image_guid: [u8; 8],
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: u32,
        max_qp_wr: u32,
        device_cap_flags: u32,
        max_sge: u32,
        max_sge_rd: u32,
        max_cq: u32,
        max_cqe: u32,
        max_mr: u32,
        max_pd: u32,
        max_qp_rd_atom: u32,
        max_ee_rd_atom: u32,
        max_res_rd_atom: u32,
        max_qp_init_rd_atom: u32,
        max_ee_init_rd_atom: u32,
        atomic_cap: u32,
        reserved_ee: [u32; 3],
        reserved_raw: [u32; 2],
        reserved_multicast: [u32; 3],
        max_ah: u32,
        reserved_fmr: [u32; 2],
        max_srq: u32,
        max_srq_wr: u32,
        max_srq_sge: u32,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
        reserved: [u8; 4],
        comp_mask: u32,
        response_length: u32,
        reserved_odp: [u64; 3],
        timestamp_mask: u64,
        hca_core_clock: u64,
        device_cap_flags_ex: u64,
        reserved_rest: [u64; 9],
    }
}

/// The length of the older form of [`DeviceAttributes`].
pub(crate) const DEVICE_ATTRIBUTES_OLD: usize = 176;

/// The length of `mlx5_ib_query_device_resp`, of which only the length is not zero.
pub(crate) const DRIVER_DEVICE_ATTRIBUTES: usize = 104;

layout! {
    /// A handle alone: DEALLOC_PD, DEREG_MR.
    Handle: 4 {
        handle: u32,
    }
}

layout! {
    /// `ib_uverbs_destroy_cq`, `_qp`, `_srq`; also `ib_uverbs_query_srq`.
    HandleWithResponse: 16 {
        response: u64,
        handle: u32,
        reserved: u32,
    }
}

layout! {
    /// `ib_uverbs_reg_mr`.
    RegMr: 40 {
        response: u64,
        start: u64,
        length: u64,
        hca_va: u64,
        pd: u32,
        access: u32,
    }
}

layout! {
    /// `ib_uverbs_create_cq`.
    CreateCq: 32 {
        response: u64,
        user_handle: u64,
        cqe: u32,
        comp_vector: u32,
        comp_channel: i32,
        reserved: u32,
    }
}

layout! {
    /// `ib_uverbs_ex_create_cq`.
    CreateCqExtended: 32 {
        user_handle: u64,
        cqe: u32,
        comp_vector: u32,
        comp_channel: i32,
        comp_mask: u32,
        flags: u32,
        reserved: u32,
    }
}

layout! {
    /// `mlx5_ib_create_cq`.
    DriverCreateCq: 32 {
        buf_addr: u64,
        db_addr: u64,
        cqe_size: u32,
        compression: u8,
        compression_format: u8,
        flags: u16,
        uar_page_index: u16,
        reserved: [u8; 6],
    }
}

/// In [`DriverCreateCq::flags`]: the UAR page's index is given.
pub(crate) const CQ_UAR_PAGE_INDEX: u16 = 2;

layout! {
    /// `ib_uverbs_create_qp`; the extended form has no response address and goes on behind.
    CreateQp: 56 {
        user_handle: u64,
        pd: u32,
        send_cq: u32,
        recv_cq: u32,
        srq: u32,
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
        sq_sig_all: u8,
        kind: u8,
        is_srq: u8,
        reserved: u8,
        // Only in the extended form.
        comp_mask: u32,
        create_flags: u32,
    }
}

layout! {
    /// `mlx5_ib_create_qp`.
    DriverCreateQp: 56 {
        buf_addr: u64,
        db_addr: u64,
        sq_wqe_count: u32,
        rq_wqe_count: u32,
        rq_wqe_shift: u32,
        flags: u32,
        uidx: u32,
        bfreg_index: u32,
        access_key: u64,
        ece_options: u32,
        reserved: u32,
    }
}

/// Bits of [`DriverCreateQp::flags`].
pub(crate) mod qp_flag {
    pub(crate) const SCATTER_CQE: u32 = 1 << 1;
    pub(crate) const BFREG_INDEX: u32 = 1 << 3;
    pub(crate) const TYPE_DCT: u32 = 1 << 4;
    pub(crate) const TYPE_DCI: u32 = 1 << 5;
    pub(crate) const ALLOW_SCATTER_CQE: u32 = 1 << 8;
    pub(crate) const UAR_PAGE_INDEX: u32 = 1 << 10;
}

/// Kinds of queue pairs in [`CreateQp::kind`].
pub(crate) mod qp_kind {
    pub(crate) const RC: u8 = 2;
    pub(crate) const UC: u8 = 3;
    pub(crate) const UD: u8 = 4;
    pub(crate) const DRIVER: u8 = 0xff;
}

layout! {
    /// `ib_uverbs_create_qp_resp`; the extended form goes on with a mask and the length.
    CreateQpResponse: 40 {
        handle: u32,
        qpn: u32,
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
        reserved: u32,
        comp_mask: u32,
        response_length: u32,
    }
}

/// The length of the older form of [`CreateQpResponse`].
pub(crate) const CREATE_QP_RESPONSE_OLD: usize = 32;

layout! {
    /// `ib_uverbs_qp_dest`.
    QpDestination: 32 {
        dgid: [u8; 16],
        flow_label: u32,
        dlid: u16,
        reserved: u16,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port: u8,
    }
}

layout! {
    /// `ib_uverbs_modify_qp`; the extended form goes on with a rate limit.
    ModifyQp: 112 {
        dest: QpDestination,
        alt_dest: QpDestination,
        handle: u32,
        mask: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qpn: u32,
        access: u32,
        pkey_index: u16,
        alt_pkey_index: u16,
        state: u8,
        cur_state: u8,
        path_mtu: u8,
        path_mig_state: u8,
        en_sqd_async_notify: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port: u8,
        alt_timeout: u8,
        reserved: [u8; 2],
    }
}

layout! {
    /// `ib_uverbs_query_qp`.
    QueryQp: 16 {
        response: u64,
        handle: u32,
        mask: u32,
    }
}

layout! {
    /// `ib_uverbs_query_qp_resp`.
    QueryQpResponse: 128 {
        dest: QpDestination,
        alt_dest: QpDestination,
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qpn: u32,
        access: u32,
        pkey_index: u16,
        alt_pkey_index: u16,
        state: u8,
        cur_state: u8,
        path_mtu: u8,
        path_mig_state: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port: u8,
        alt_timeout: u8,
        sq_sig_all: u8,
        reserved: [u8; 5],
    }
}

layout! {
    /// `ib_uverbs_create_srq`.
    CreateSrq: 32 {
        response: u64,
        user_handle: u64,
        pd: u32,
        max_wr: u32,
        max_sge: u32,
        limit: u32,
    }
}

layout! {
    /// `ib_uverbs_create_xsrq`.
    CreateXsrq: 48 {
        response: u64,
        user_handle: u64,
        kind: u32,
        pd: u32,
        max_wr: u32,
        max_sge: u32,
        limit: u32,
        max_num_tags: u32,
        xrcd: u32,
        cq: u32,
    }
}

layout! {
    /// `mlx5_ib_create_srq`.
    DriverCreateSrq: 32 {
        buf_addr: u64,
        db_addr: u64,
        flags: u32,
        reserved: u32,
        uidx: u32,
        reserved1: u32,
    }
}

layout! {
    /// `ib_uverbs_modify_srq`.
    ModifySrq: 16 {
        handle: u32,
        mask: u32,
        max_wr: u32,
        limit: u32,
    }
}
