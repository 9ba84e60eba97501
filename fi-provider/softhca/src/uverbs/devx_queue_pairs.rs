//! DEVX commands for queue pairs that verbs created: the changes of state, and the query.
//!
//! Source: the NVIDIA "Ethernet Adapters Programming Manual", RST2INIT_QP, INIT2RTR_QP, RTR2RTS_QP, 2ERR_QP, 2RST_QP, QUERY_QP and
//! "Queue Pair Context"; all fields are big-endian. Offsets are in bytes.

use super::devx::word;
use super::{Call, Device, Errno};
use crate::engine::{Access, ContextId, Path, QpAttr, QpKind, QpState, attr};

/// Attributes of the methods that change an object and that ask for it.
const HANDLE: u16 = 0x1000;
const COMMAND_IN: u16 = 0x1001;
const COMMAND_OUT: u16 = 0x1002;

/// Opcodes.
const RESET_TO_INIT: u16 = 0x502;
const INIT_TO_RECEIVE: u16 = 0x503;
const RECEIVE_TO_SEND: u16 = 0x504;
const TO_ERROR: u16 = 0x507;
const TO_RESET: u16 = 0x50a;
const QUERY: u16 = 0x50b;

/// Offsets of the optional parameters' mask and of the queue pair's context in a command and in the
/// answer to a query, and the length of the context.
const OPTIONAL: usize = 0x10;
const CONTEXT: usize = 0x18;
const CONTEXT_LENGTH: usize = 0xe8;

/// Optional parameters: the rights of peers. The rights' bits in the context, of [`RIGHTS`], go
/// with them.
const OPTIONAL_RIGHTS: [(u16, u8, u32); 3] = [
    (1 << 1, 1 << 7, Access::REMOTE_READ),
    (1 << 3, 1 << 6, Access::REMOTE_WRITE),
    (1 << 2, 1 << 5, Access::REMOTE_ATOMIC),
];

/// Fields of the context.
const STATE: usize = 0;
const MTU: usize = 0x8;
const REMOTE_QPN: usize = 0x15;
const PATH: usize = 0x18;
const SEND_READS_AND_RETRIES: usize = 0x71;
const RECEIVER_RETRIES: usize = 0x72;
const SEND_SEQUENCE: usize = 0x79;
const RECEIVE_READS: usize = 0x91;
const RIGHTS: usize = 0x92;
const RECEIVER_TIMER: usize = 0x94;
const RECEIVE_SEQUENCE: usize = 0x95;

/// Fields of the primary path within the context.
const PARTITION: usize = PATH + 0x2;
const GLOBAL_AND_SOURCE: usize = PATH + 0x5;
const LID: usize = PATH + 0x6;
const TIMEOUT: usize = PATH + 0x8;
const HOP_LIMIT: usize = PATH + 0xb;
const GID: usize = PATH + 0x10;
const SERVICE_LEVEL: usize = PATH + 0x24;
const PORT: usize = PATH + 0x25;

impl Device {
    pub(super) fn devx_modify(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let (handle, command) = queue_pair(call)?;
        let kind = self.engine.qp_kind(id, handle)?;
        let current = self.engine.query_qp(id, handle)?;
        let (attr, mask) = change(&command, &current, kind)?;
        self.engine.modify_qp(id, handle, &attr, mask)?;
        call.output(COMMAND_OUT, &[])
    }

    pub(super) fn devx_query(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let (handle, command) = queue_pair(call)?;
        if word(&command, 0)? != QUERY {
            return Err(Errno::NOT_SUPPORTED);
        }
        let known = self.engine.query_qp(id, handle)?;
        call.output(COMMAND_OUT, &answer(&known))
    }
}

/// Returns the handle that a call names, and its command, which must name the same queue pair.
fn queue_pair(call: &mut Call<'_>) -> Result<(u32, Vec<u8>), Errno> {
    let (handle, command) = (call.handle(HANDLE)?, call.input(COMMAND_IN)?);
    // Handle and number are the same for the queue pairs that these commands are for.
    if number(&command, 0x9)? != handle {
        return Err(Errno::INVALID);
    }
    Ok((handle, command))
}

/// Returns the attributes with the changes of a command, and the mask of the changed ones.
fn change(command: &[u8], current: &QpAttr, kind: QpKind) -> Result<(QpAttr, u32), Errno> {
    let (from, next) = match word(command, 0)? {
        RESET_TO_INIT => (QpState::Reset, QpState::Init),
        INIT_TO_RECEIVE => (QpState::Init, QpState::ReadyToReceive),
        RECEIVE_TO_SEND => (QpState::ReadyToReceive, QpState::ReadyToSend),
        TO_ERROR => (current.state, QpState::Error),
        TO_RESET => (current.state, QpState::Reset),
        _ => return Err(Errno::NOT_SUPPORTED),
    };
    let mut attr = QpAttr {
        state: next,
        cur_state: from,
        ..*current
    };
    let states = attr::STATE | attr::CUR_STATE;
    let connected = match kind {
        QpKind::Rc => true,
        QpKind::Dci => false,
        // The number of a target is none of a queue pair.
        QpKind::Dct | QpKind::Uc | QpKind::Ud => return Err(Errno::INVALID),
    };
    if matches!(next, QpState::Error | QpState::Reset) {
        return Ok((attr, states));
    }
    let context = command.get(CONTEXT..CONTEXT + CONTEXT_LENGTH);
    let context = context.ok_or(Errno::INVALID)?;
    let rights = word(command, OPTIONAL + 2)?;
    let mask = match next {
        QpState::Init => {
            attr.port_num = context[PORT];
            attr.pkey_index = word(context, PARTITION)?;
            attr.access = access(current.access, context[RIGHTS], u16::MAX);
            attr::PORT | attr::PKEY_INDEX
        }
        QpState::ReadyToReceive => {
            attr.path_mtu = context[MTU] >> 5;
            attr.dest_qpn = number(context, REMOTE_QPN)?;
            attr.path = path(context)?;
            attr.max_dest_rd_atomic = 1 << (context[RECEIVE_READS] >> 5);
            attr.min_rnr_timer = context[RECEIVER_TIMER] & 31;
            attr.rq_psn = number(context, RECEIVE_SEQUENCE)?;
            attr.access = access(current.access, context[RIGHTS], rights);
            let responder = attr::DEST_QPN
                | attr::RQ_PSN
                | attr::MAX_DEST_RD_ATOMIC
                | attr::MIN_RNR_TIMER
                | attr::AV;
            attr::PATH_MTU | if connected { responder } else { 0 }
        }
        _ => {
            attr.max_rd_atomic = 1 << (context[SEND_READS_AND_RETRIES] >> 5);
            attr.retry_cnt = context[SEND_READS_AND_RETRIES] & 7;
            attr.rnr_retry = context[RECEIVER_RETRIES] >> 5;
            attr.timeout = context[TIMEOUT] >> 3;
            attr.sq_psn = number(context, SEND_SEQUENCE)?;
            attr::MAX_QP_RD_ATOMIC
                | attr::RETRY_CNT
                | attr::RNR_RETRY
                | attr::TIMEOUT
                | attr::SQ_PSN
        }
    };
    // Nobody reaches an initiator, so it has no rights to give.
    let gives = connected && next != QpState::ReadyToSend;
    let rights = if gives { attr::ACCESS_FLAGS } else { 0 };
    Ok((attr, states | mask | rights))
}

/// Returns the rights after those named by `optional` were taken from the context.
fn access(current: Access, context: u8, optional: u16) -> Access {
    OPTIONAL_RIGHTS
        .into_iter()
        .filter(|(option, ..)| optional & option != 0)
        .fold(current, |access, (_, bit, right)| {
            let given = if context & bit == 0 { 0 } else { right };
            Access(access.0 & !right | given)
        })
}

fn path(context: &[u8]) -> Result<Path, Errno> {
    let mut dgid = [0; 16];
    dgid.copy_from_slice(&context[GID..GID + 16]);
    Ok(Path {
        dlid: word(context, LID)?,
        sl: context[SERVICE_LEVEL] & 15,
        src_path_bits: context[GLOBAL_AND_SOURCE] & 0x7f,
        is_global: context[GLOBAL_AND_SOURCE] & 0x80 != 0,
        port_num: context[PORT],
        dgid,
        hop_limit: context[HOP_LIMIT],
        ..Path::default()
    })
}

/// Returns the answer to QUERY_QP: state, peer and path.
fn answer(known: &QpAttr) -> Vec<u8> {
    let mut answer = vec![0; CONTEXT + CONTEXT_LENGTH];
    let context = &mut answer[CONTEXT..];
    // The two states in which sending has stopped are numbered the other way round.
    let state = match known.state {
        QpState::SendDrained => 5,
        QpState::SendError => 4,
        other => other as u8,
    };
    context[STATE] = state << 4;
    context[MTU] = known.path_mtu << 5;
    context[REMOTE_QPN..REMOTE_QPN + 3].copy_from_slice(&known.dest_qpn.to_be_bytes()[1..]);
    context[GLOBAL_AND_SOURCE] = u8::from(known.path.is_global) << 7 | known.path.src_path_bits;
    context[LID..LID + 2].copy_from_slice(&known.path.dlid.to_be_bytes());
    context[HOP_LIMIT] = known.path.hop_limit;
    context[GID..GID + 16].copy_from_slice(&known.path.dgid);
    context[SERVICE_LEVEL] = known.path.sl;
    context[PORT] = known.port_num;
    answer
}

/// Returns the number in three bytes of a command or a context.
fn number(bytes: &[u8], at: usize) -> Result<u32, Errno> {
    let bytes = bytes.get(at..at + 3).ok_or(Errno::INVALID)?;
    Ok(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
}
