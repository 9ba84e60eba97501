//! The structures and numbers of this module against those of the installed headers, which a small C program prints.
//!
//! It needs a C compiler and Debian's package `libibverbs-dev`.

use super::core::{self, *};
use super::datagrams::*;
use super::direct::{self, *};
use std::mem::{offset_of, size_of};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An expression of C, and its expected value.
type Fact = (String, usize);

/// Returns the size of the field that `field` gives.
fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Facts of structures: `Ours as "theirs" { field, field = "path in theirs" }`. Theirs may be
/// longer: ours may end behind the last used field, and later versions add to the end.
macro_rules! layouts {
    ($($ours:ident as $theirs:literal { $($field:ident $(= $path:literal)?),* $(,)? })*) => {{
        let mut facts: Vec<Fact> = Vec::new();
        $(
            let (size, theirs) = (size_of::<$ours>(), concat!("sizeof(struct ", $theirs, ")"));
            facts.push((format!("{theirs} < {size} ? {theirs} : {size}"), size));
            $(
                let path = [stringify!($field) $(, $path)?];
                let path = path[path.len() - 1];
                facts.push((format!("offsetof(struct {}, {path})", $theirs), offset_of!($ours, $field)));
                let size = size_of_field(|it: &$ours| &it.$field);
                facts.push((format!("sizeof(((struct {} *)0)->{path})", $theirs), size));
            )*
        )*
        facts
    }};
}

/// Facts of the structure that grows at its start: how far before the context its fields are.
macro_rules! before_context {
    ($($field:ident),*) => {
        vec![$((
            format!("offsetof(struct verbs_context, context) - offsetof(struct verbs_context, {})", stringify!($field)),
            offset_of!(VerbsContext, context) - offset_of!(VerbsContext, $field),
        ),)*]
    };
}

macro_rules! numbers {
    ($($theirs:ident = $ours:expr;)*) => {
        vec![$((stringify!($theirs).to_owned(), $ours as usize),)*]
    };
}

/// Evaluates the expressions with the installed headers.
fn evaluate(name: &str, facts: &[Fact]) -> Vec<usize> {
    let unique = format!("fi-mlx5-{name}-{}", std::process::id());
    let scratch: PathBuf = std::env::temp_dir().join(unique);
    std::fs::create_dir_all(&scratch).expect("a scratch directory");
    let mut source = String::from(
        "#include <infiniband/mlx5dv.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n",
    );
    for (expression, _) in facts {
        source += &format!("\tprintf(\"%zu\\n\", (size_t)({expression}));\n");
    }
    source += "}\n";
    let (file, program) = (scratch.join("facts.c"), scratch.join("facts"));
    std::fs::write(&file, source).expect("a file in it");
    let status = Command::new("cc")
        .args(["-w", "-o"])
        .args([&program, &file])
        .stdin(Stdio::null())
        .status();
    let status = status.expect("a C compiler is there");
    assert!(status.success(), "apt-get install libibverbs-dev");
    let output = Command::new(&program).output().expect("it runs");
    // Nothing to be done about it where it cannot be removed.
    let _ = std::fs::remove_dir_all(&scratch);
    let printed = String::from_utf8(output.stdout).expect("text");
    let number = |line: &str| line.parse().expect("a number");
    printed.lines().map(number).collect()
}

fn compare(name: &str, facts: &[Fact]) {
    let theirs = evaluate(name, facts);
    assert_eq!(theirs.len(), facts.len());
    for ((expression, ours), theirs) in facts.iter().zip(theirs) {
        assert_eq!(*ours, theirs, "{expression}");
    }
}

#[test]
fn structures_of_libibverbs_are_laid_out_as_in_its_header() {
    let mut facts = layouts! {
        DeviceAttr as "ibv_device_attr" {
            fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver, max_qp, max_qp_wr,
            device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom,
            max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd, max_mw, max_raw_ipv6_qp,
            max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_fmr, max_map_per_fmr,
            max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay, phys_port_cnt,
        }
        PortAttr as "ibv_port_attr" {
            state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr, pkey_tbl_len,
            lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state,
            link_layer, flags, port_cap_flags2,
        }
        Context as "ibv_context" {
            device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat,
        }
        TdInitAttr as "ibv_td_init_attr" { comp_mask }
        ParentDomainInitAttr as "ibv_parent_domain_init_attr" { pd, td, comp_mask, alloc, free, pd_context }
        Mr as "ibv_mr" { context, pd, addr, length, handle, lkey, rkey }
        CqInitAttrEx as "ibv_cq_init_attr_ex" {
            cqe, cq_context, channel, comp_vector, wc_flags, comp_mask, flags, parent_domain,
        }
        SrqInitAttr as "ibv_srq_init_attr" {
            srq_context, max_wr = "attr.max_wr", max_sge = "attr.max_sge", srq_limit = "attr.srq_limit",
        }
        Qp as "ibv_qp" { context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num }
        QpCap as "ibv_qp_cap" { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data }
        GlobalRoute as "ibv_global_route" { dgid, flow_label, sgid_index, hop_limit, traffic_class }
        AhAttr as "ibv_ah_attr" { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num }
    };
    facts.extend(layouts! {
        QpInitAttrEx as "ibv_qp_init_attr_ex" {
            qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all, comp_mask, pd, xrcd, create_flags, max_tso_header,
            rwq_ind_tbl, rx_hash = "rx_hash_conf", source_qpn, send_ops_flags,
        }
        QpAttr as "ibv_qp_attr" {
            qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags, cap, ah_attr,
            alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic,
            min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout, rate_limit,
        }
    });
    facts.extend(layouts! {
        Cq as "ibv_cq" { context, channel, cq_context, handle, cqe }
        CompChannel as "ibv_comp_channel" { context, fd }
        Sge as "ibv_sge" { addr, length, lkey }
        RecvWr as "ibv_recv_wr" { wr_id, next, sg_list, num_sge }
        SendWr as "ibv_send_wr" {
            wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data, ud = "wr.ud",
        }
        Wc as "ibv_wc" {
            wr_id, status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags,
            pkey_index, slid, sl, dlid_path_bits,
        }
        Ops as "ibv_context_ops" { poll_cq, req_notify_cq, post_send, post_recv }
    });
    let table: Vec<Fact> =
        before_context!(query_port, alloc_parent_domain, dealloc_td, alloc_td, sz);
    facts.extend(table);
    compare("core", &facts);
}

#[test]
fn structures_of_libmlx5_are_laid_out_as_in_its_header() {
    let facts = layouts! {
        ContextAttr as "mlx5dv_context_attr" { flags, comp_mask }
        CqInitAttr as "mlx5dv_cq_init_attr" { comp_mask, cqe_comp_res_format, flags, cqe_size }
        QpInitAttr as "mlx5dv_qp_init_attr" { comp_mask, create_flags, dc = "dc_init_attr", send_ops_flags }
        DcInitAttr as "mlx5dv_dc_init_attr" { dc_type, access_key = "dct_access_key" }
        QpLayout as "mlx5dv_qp" {
            dbrec, sq, rq, bf, comp_mask, uar_mmap_offset, tirn, tisn, rqn, sqn, tir_icm_addr,
        }
        CqLayout as "mlx5dv_cq" { buf, dbrec, cqe_cnt, cqe_size, cq_uar, cqn, comp_mask }
        SrqLayout as "mlx5dv_srq" { buf, dbrec, stride, head, tail, comp_mask, srqn }
        Object as "mlx5dv_obj" { qp, cq, srq }
    };
    compare("direct", &facts);
}

#[test]
fn parts_of_a_layout_are_where_the_header_has_them() {
    let inner = |outer: usize, inner: usize| outer + inner;
    let (sq, bf) = (offset_of!(QpLayout, sq), offset_of!(QpLayout, bf));
    let (qp, cq) = (offset_of!(Object, qp), offset_of!(Object, cq));
    let (srq, ud) = (offset_of!(Object, srq), offset_of!(SendWr, ud));
    let facts: Vec<Fact> = [
        ("mlx5dv_qp, sq.buf", inner(sq, offset_of!(Ring, buf))),
        (
            "mlx5dv_qp, sq.wqe_cnt",
            inner(sq, offset_of!(Ring, wqe_cnt)),
        ),
        ("mlx5dv_qp, sq.stride", inner(sq, offset_of!(Ring, stride))),
        ("mlx5dv_qp, bf.reg", inner(bf, offset_of!(Register, reg))),
        ("mlx5dv_qp, bf.size", inner(bf, offset_of!(Register, size))),
        (
            "mlx5dv_obj, qp.out",
            inner(qp, offset_of!(Pair<Qp, QpLayout>, output)),
        ),
        (
            "mlx5dv_obj, cq.out",
            inner(cq, offset_of!(Pair<Cq, CqLayout>, output)),
        ),
        (
            "ibv_send_wr, wr.ud.remote_qpn",
            inner(ud, offset_of!(Datagram, remote_qpn)),
        ),
        (
            "ibv_send_wr, wr.ud.remote_qkey",
            inner(ud, offset_of!(Datagram, remote_qkey)),
        ),
        (
            "mlx5dv_obj, srq.out",
            inner(srq, offset_of!(Pair<Srq, SrqLayout>, output)),
        ),
    ]
    .map(|(path, offset)| (format!("offsetof(struct {path})"), offset))
    .into();
    compare("parts", &facts);
}

#[test]
fn numbers_are_those_of_the_headers() {
    let mut facts: Vec<Fact> = numbers! {
        IBV_ATOMIC_NONE = atomic_cap::NONE;
        IBV_PORT_ACTIVE = port_state::ACTIVE;
        IBV_LINK_LAYER_INFINIBAND = link_layer::INFINIBAND;
        IBV_LINK_LAYER_ETHERNET = link_layer::ETHERNET;
        __VERBS_ABI_IS_EXTENDED = EXTENDED;
        IBV_ACCESS_LOCAL_WRITE = access::LOCAL_WRITE;
        IBV_ACCESS_REMOTE_WRITE = access::REMOTE_WRITE;
        IBV_ACCESS_REMOTE_READ = access::REMOTE_READ;
        IBV_ACCESS_REMOTE_ATOMIC = access::REMOTE_ATOMIC;
        IBV_CQ_INIT_ATTR_MASK_FLAGS = core::cq_init::FLAGS;
        IBV_CQ_INIT_ATTR_MASK_PD = core::cq_init::PD;
        IBV_CREATE_CQ_ATTR_SINGLE_THREADED = cq_flags::SINGLE_THREADED;
        IBV_QPT_RC = qp_type::RC;
        IBV_QPT_UD = qp_type::UD;
        IBV_QPT_DRIVER = qp_type::DRIVER;
        IBV_QP_INIT_ATTR_PD = core::qp_init::PD;
        IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = core::qp_init::SEND_OPS_FLAGS;
        IBV_QP_EX_WITH_RDMA_WRITE = send_ops::RDMA_WRITE;
        IBV_WR_SEND = wr_opcode::SEND;
        IBV_SEND_SIGNALED = send_flags::SIGNALED;
        IBV_WC_SUCCESS = wc_status::SUCCESS;
        IBV_QPS_INIT = qp_state::INIT;
        IBV_QPS_RTR = qp_state::RTR;
        IBV_QPS_RTS = qp_state::RTS;
        IBV_QP_STATE = qp_attr::STATE;
        IBV_QP_ACCESS_FLAGS = qp_attr::ACCESS_FLAGS;
        IBV_QP_PKEY_INDEX = qp_attr::PKEY_INDEX;
        IBV_QP_PORT = qp_attr::PORT;
        IBV_QP_QKEY = qp_attr::QKEY;
        IBV_QP_AV = qp_attr::AV;
        IBV_QP_PATH_MTU = qp_attr::PATH_MTU;
        IBV_QP_TIMEOUT = qp_attr::TIMEOUT;
        IBV_QP_RETRY_CNT = qp_attr::RETRY_CNT;
        IBV_QP_RNR_RETRY = qp_attr::RNR_RETRY;
        IBV_QP_RQ_PSN = qp_attr::RQ_PSN;
        IBV_QP_MAX_QP_RD_ATOMIC = qp_attr::MAX_QP_RD_ATOMIC;
        IBV_QP_MIN_RNR_TIMER = qp_attr::MIN_RNR_TIMER;
        IBV_QP_SQ_PSN = qp_attr::SQ_PSN;
        IBV_QP_MAX_DEST_RD_ATOMIC = qp_attr::MAX_DEST_RD_ATOMIC;
        IBV_QP_DEST_QPN = qp_attr::DEST_QPN;
    };
    let direct: Vec<Fact> = numbers! {
        MLX5DV_CONTEXT_FLAGS_DEVX = context::DEVX;
        MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE = direct::cq_init::CQE_SIZE;
        MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS = direct::qp_init::QP_CREATE_FLAGS;
        MLX5DV_QP_INIT_ATTR_MASK_DC = direct::qp_init::DC;
        MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE = qp_create::DISABLE_SCATTER_TO_CQE;
        MLX5DV_DCTYPE_DCT = dc_type::TARGET;
        MLX5DV_DCTYPE_DCI = dc_type::INITIATOR;
        MLX5DV_OBJ_QP = object::QP;
        MLX5DV_OBJ_CQ = object::CQ;
        MLX5DV_OBJ_SRQ = object::SRQ;
    };
    facts.extend(direct);
    compare("numbers", &facts);
}
