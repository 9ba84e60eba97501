//! Queue pairs.

use super::abi::{
    CREATE_QP_RESPONSE_OLD, CreateQp, CreateQpResponse, DRIVER_IN, DRIVER_OUT, DriverCreateQp,
    HandleWithResponse, ModifyQp, QpDestination, QueryQp, QueryQpResponse, invoke_write, qp_flag,
    qp_kind,
};
use super::{Call, Capacities, Device, Errno, Events};
use crate::engine::{Access, ContextId, Path, QpAttr, QpInit, QpKind, QpState, QpUar, attr};
use bytemuck::{Zeroable, bytes_of, bytes_of_mut};
use fi_mlx5_defs::wqe::Data;

/// Flags that are modelled; that of scattering into completions is a wish that a device may leave.
const FLAGS: u32 = qp_flag::SCATTER_CQE
    | qp_flag::ALLOW_SCATTER_CQE
    | qp_flag::BFREG_INDEX
    | qp_flag::TYPE_DCT
    | qp_flag::TYPE_DCI
    | qp_flag::UAR_PAGE_INDEX;

impl Device {
    pub(super) fn create_qp(
        &mut self,
        id: ContextId,
        call: &mut Call<'_>,
        extended: bool,
    ) -> Result<(), Errno> {
        let request = request(call, extended)?;
        let driver: DriverCreateQp = call.versioned(DRIVER_IN)?;
        if request.comp_mask != 0 || request.create_flags != 0 || driver.flags & !FLAGS != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        if let Some(limit) = self.settings.queue_pairs
            && self.queue_pairs_of(id)? >= limit as usize
        {
            return Err(Errno::NO_MEMORY);
        }
        let init = init(&request, &driver)?;
        if self.settings.no_dc && matches!(init.kind, QpKind::Dci | QpKind::Dct) {
            return Err(Errno::NOT_SUPPORTED);
        }
        let created = self.engine.create_qp(id, &init)?;
        let entry = 1_u32.checked_shl(init.rq_wqe_shift).unwrap_or(0);
        let capacities = Capacities {
            max_send_wr: request.max_send_wr,
            // Those of the ring, which the library has made as large or larger.
            max_recv_wr: init.rq_wqe_count,
            max_send_sge: request.max_send_sge,
            max_recv_sge: entry / size_of::<Data>() as u32,
            max_inline_data: request.max_inline_data,
            sq_sig_all: request.sq_sig_all,
        };
        let events = Events {
            element: request.user_handle,
            ..Events::default()
        };
        let pairs = &mut self.context(id)?.queue_pairs;
        pairs.insert(created.handle, (capacities, events));
        let response = CreateQpResponse {
            handle: created.handle,
            qpn: created.qpn,
            max_send_wr: capacities.max_send_wr,
            max_recv_wr: capacities.max_recv_wr,
            max_send_sge: capacities.max_send_sge,
            max_recv_sge: capacities.max_recv_sge,
            max_inline_data: capacities.max_inline_data,
            response_length: size_of::<CreateQpResponse>() as u32,
            ..Zeroable::zeroed()
        };
        let length = if extended {
            size_of::<CreateQpResponse>()
        } else {
            CREATE_QP_RESPONSE_OLD
        };
        call.output(invoke_write::CORE_OUT, &bytes_of(&response)[..length])?;
        call.answer(DRIVER_OUT, &created.bfreg_index)
    }

    /// Returns the number of queue pairs that the process of a context has.
    fn queue_pairs_of(&mut self, id: ContextId) -> Result<usize, Errno> {
        let own = self.contexts_of(id)?;
        let counts = own.iter().filter_map(|id| self.contexts.get(id));
        Ok(counts.map(|context| context.queue_pairs.len()).sum())
    }

    pub(super) fn modify_qp(
        &mut self,
        id: ContextId,
        call: &mut Call<'_>,
        extended: bool,
    ) -> Result<(), Errno> {
        let request: ModifyQp = call.structure(invoke_write::CORE_IN)?;
        let state = |number, bit| match QpState::from_number(number) {
            Some(state) => Ok(state),
            None if request.mask & bit == 0 => Ok(QpState::Reset),
            None => Err(Errno::INVALID),
        };
        let wanted = QpAttr {
            state: state(request.state, attr::STATE)?,
            cur_state: state(request.cur_state, attr::CUR_STATE)?,
            path_mtu: request.path_mtu,
            qkey: request.qkey,
            rq_psn: request.rq_psn,
            sq_psn: request.sq_psn,
            dest_qpn: request.dest_qpn,
            access: Access(request.access),
            pkey_index: request.pkey_index,
            port_num: request.port,
            max_rd_atomic: request.max_rd_atomic,
            max_dest_rd_atomic: request.max_dest_rd_atomic,
            min_rnr_timer: request.min_rnr_timer,
            timeout: request.timeout,
            retry_cnt: request.retry_cnt,
            rnr_retry: request.rnr_retry,
            path: path(&request.dest),
        };
        let modified = self
            .engine
            .modify_qp(id, request.handle, &wanted, request.mask)?;
        if extended {
            call.answer(invoke_write::CORE_OUT, &[0_u32, 8])?;
            let length = 16.min(call.room(DRIVER_OUT)) as u32;
            call.answer(DRIVER_OUT, &[length, modified.dctn, 0, 0])?;
        }
        Ok(())
    }

    pub(super) fn query_qp(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: QueryQp = call.structure(invoke_write::CORE_IN)?;
        let known = self.engine.query_qp(id, request.handle)?;
        let pairs = &self.context(id)?.queue_pairs;
        let (capacities, _) = pairs.get(&request.handle).ok_or(Errno::INVALID)?;
        let response = QueryQpResponse {
            dest: destination(&known.path),
            max_send_wr: capacities.max_send_wr,
            max_recv_wr: capacities.max_recv_wr,
            max_send_sge: capacities.max_send_sge,
            max_recv_sge: capacities.max_recv_sge,
            max_inline_data: capacities.max_inline_data,
            qkey: known.qkey,
            rq_psn: known.rq_psn,
            sq_psn: known.sq_psn,
            dest_qpn: known.dest_qpn,
            access: known.access.0,
            pkey_index: known.pkey_index,
            state: known.state as u8,
            cur_state: known.state as u8,
            path_mtu: known.path_mtu,
            max_rd_atomic: known.max_rd_atomic,
            max_dest_rd_atomic: known.max_dest_rd_atomic,
            min_rnr_timer: known.min_rnr_timer,
            port: known.port_num,
            timeout: known.timeout,
            retry_cnt: known.retry_cnt,
            rnr_retry: known.rnr_retry,
            sq_sig_all: capacities.sq_sig_all,
            ..Zeroable::zeroed()
        };
        call.answer(invoke_write::CORE_OUT, &response)
    }

    pub(super) fn destroy_qp(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: HandleWithResponse = call.structure(invoke_write::CORE_IN)?;
        self.engine.check_rung(call.host, id, request.handle);
        self.engine.destroy_qp(id, request.handle)?;
        let context = self.context(id)?;
        let kept = context.queue_pairs.remove(&request.handle);
        let (_, events) = kept.unwrap_or_default();
        let (_, asynchronous) = context.reported(call.host, &events);
        call.answer(invoke_write::CORE_OUT, &asynchronous)
    }
}

/// Returns the request in its extended form, from the form that was sent.
fn request(call: &mut Call<'_>, extended: bool) -> Result<CreateQp, Errno> {
    const OLD: usize = 48;
    if extended {
        return call.structure(invoke_write::CORE_IN);
    }
    let given = call.input(invoke_write::CORE_IN)?;
    // The address of the response comes first.
    let given = given.get(8..8 + OLD).ok_or(Errno::NO_SPACE)?;
    let mut request = CreateQp::zeroed();
    bytes_of_mut(&mut request)[..OLD].copy_from_slice(given);
    Ok(request)
}

fn init(request: &CreateQp, driver: &DriverCreateQp) -> Result<QpInit, Errno> {
    let kinds = driver.flags & (qp_flag::TYPE_DCT | qp_flag::TYPE_DCI);
    let kind = match (request.kind, kinds) {
        (qp_kind::RC, 0) => QpKind::Rc,
        (qp_kind::UC, 0) => QpKind::Uc,
        (qp_kind::UD, 0) => QpKind::Ud,
        (qp_kind::DRIVER, qp_flag::TYPE_DCI) => QpKind::Dci,
        (qp_kind::DRIVER, qp_flag::TYPE_DCT) => QpKind::Dct,
        _ => return Err(Errno::NOT_SUPPORTED),
    };
    let uar = if kind == QpKind::Dct {
        QpUar::None
    } else if driver.flags & qp_flag::UAR_PAGE_INDEX != 0 {
        QpUar::Page(driver.bfreg_index)
    } else if driver.flags & qp_flag::BFREG_INDEX != 0 {
        QpUar::Register(driver.bfreg_index)
    } else {
        QpUar::Choose
    };
    let rq_bytes = u64::from(driver.rq_wqe_count).checked_shl(driver.rq_wqe_shift);
    Ok(QpInit {
        kind,
        pd: request.pd,
        send_cq: request.send_cq,
        recv_cq: request.recv_cq,
        srq: (request.is_srq != 0).then_some(request.srq),
        buf_addr: driver.buf_addr,
        db_addr: driver.db_addr,
        // The send queue follows the receive queue.
        sq_offset: rq_bytes.ok_or(Errno::INVALID)?,
        sq_wqe_count: driver.sq_wqe_count,
        rq_wqe_count: driver.rq_wqe_count,
        rq_wqe_shift: driver.rq_wqe_shift,
        uidx: driver.uidx,
        uar,
        dc_key: driver.access_key,
        user_handle: request.user_handle,
    })
}

fn path(from: &QpDestination) -> Path {
    Path {
        dlid: from.dlid,
        sl: from.sl,
        src_path_bits: from.src_path_bits,
        static_rate: from.static_rate,
        is_global: from.is_global != 0,
        port_num: from.port,
        dgid: from.dgid,
        flow_label: from.flow_label,
        sgid_index: from.sgid_index,
        hop_limit: from.hop_limit,
        traffic_class: from.traffic_class,
    }
}

fn destination(from: &Path) -> QpDestination {
    QpDestination {
        dgid: from.dgid,
        flow_label: from.flow_label,
        dlid: from.dlid,
        reserved: 0,
        sgid_index: from.sgid_index,
        hop_limit: from.hop_limit,
        traffic_class: from.traffic_class,
        sl: from.sl,
        src_path_bits: from.src_path_bits,
        static_rate: from.static_rate,
        is_global: u8::from(from.is_global),
        port: from.port_num,
    }
}
