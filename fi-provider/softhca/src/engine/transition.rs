//! Changes of state that a queue pair may make, and their attributes (InfiniBand architecture
//! specification, volume 1, 11.2.5.2, table "QP state transition properties"; for DC the rules of
//! the mlx5 kernel driver).

use super::types::attr::{
    ACCESS_FLAGS, ALT_PATH, AV, CAP, CUR_STATE, DEST_QPN, EN_SQD_ASYNC_NOTIFY, MAX_DEST_RD_ATOMIC,
    MAX_QP_RD_ATOMIC, MIN_RNR_TIMER, PATH_MIG_STATE, PATH_MTU, PKEY_INDEX, PORT, QKEY, RATE_LIMIT,
    RETRY_CNT, RNR_RETRY, RQ_PSN, SQ_PSN, STATE, TIMEOUT,
};
use super::types::{Error, QpAttr, QpKind, QpState};

/// Returns the state that `attr` under `mask` leads to from `current`.
pub(super) fn next_state(
    kind: QpKind,
    current: QpState,
    attr: &QpAttr,
    mask: u32,
) -> Result<QpState, Error> {
    if mask & CUR_STATE != 0 && attr.cur_state != current {
        return Err(Error::Invalid("the queue pair is in another state"));
    }
    let next = if mask & STATE != 0 {
        attr.state
    } else {
        current
    };
    let (required, optional) = match kind {
        _ if next == QpState::Reset => (0, 0),
        _ if next == QpState::Error && current != QpState::Reset => (0, 0),
        QpKind::Rc => connected(current, next)?,
        QpKind::Uc => unreliable(current, next)?,
        QpKind::Ud => datagram(current, next)?,
        QpKind::Dci => initiator(current, next)?,
        QpKind::Dct => target(current, next)?,
    };
    if mask & (ALT_PATH | CAP | RATE_LIMIT) != 0 {
        return Err(Error::Unsupported("this attribute of a queue pair"));
    }
    if mask & required != required {
        return Err(Error::Invalid(
            "an attribute that the transition needs is missing",
        ));
    }
    if mask & !(required | optional | STATE | CUR_STATE) != 0 {
        return Err(Error::Invalid(
            "an attribute does not go with the transition",
        ));
    }
    ranges(attr, mask)?;
    Ok(next)
}

/// Reads and atomics that a queue pair can have under way, in either direction.
pub(crate) const MOST_READS: u8 = 16;

const REFUSED: Error = Error::Invalid("there is no such transition");

fn connected(current: QpState, next: QpState) -> Result<(u32, u32), Error> {
    use QpState::{Init, ReadyToReceive, ReadyToSend, Reset, SendDrained};
    const SENDING: u32 = ACCESS_FLAGS | MIN_RNR_TIMER | PATH_MIG_STATE;
    Ok(match (current, next) {
        (Reset, Init) => (PKEY_INDEX | PORT | ACCESS_FLAGS, 0),
        (Init, Init) => (0, PKEY_INDEX | PORT | ACCESS_FLAGS),
        (Init, ReadyToReceive) => (
            AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER,
            ACCESS_FLAGS | PKEY_INDEX,
        ),
        (ReadyToReceive, ReadyToSend) => (
            TIMEOUT | RETRY_CNT | RNR_RETRY | SQ_PSN | MAX_QP_RD_ATOMIC,
            SENDING,
        ),
        (ReadyToSend | SendDrained, ReadyToSend) => (0, SENDING),
        (ReadyToSend, SendDrained) => (0, EN_SQD_ASYNC_NOTIFY),
        (SendDrained, SendDrained) => (
            0,
            SENDING
                | PORT
                | AV
                | TIMEOUT
                | RETRY_CNT
                | RNR_RETRY
                | MAX_QP_RD_ATOMIC
                | MAX_DEST_RD_ATOMIC
                | PKEY_INDEX,
        ),
        _ => return Err(REFUSED),
    })
}

fn unreliable(current: QpState, next: QpState) -> Result<(u32, u32), Error> {
    use QpState::{Init, ReadyToReceive, ReadyToSend, Reset, SendDrained, SendError};
    const SENDING: u32 = ACCESS_FLAGS | PATH_MIG_STATE;
    Ok(match (current, next) {
        (Reset, Init) => (PKEY_INDEX | PORT | ACCESS_FLAGS, 0),
        (Init, Init) => (0, PKEY_INDEX | PORT | ACCESS_FLAGS),
        (Init, ReadyToReceive) => (AV | PATH_MTU | DEST_QPN | RQ_PSN, ACCESS_FLAGS | PKEY_INDEX),
        (ReadyToReceive, ReadyToSend) => (SQ_PSN, SENDING),
        (ReadyToSend | SendDrained, ReadyToSend) => (0, SENDING),
        (SendError, ReadyToSend) => (0, ACCESS_FLAGS),
        (ReadyToSend, SendDrained) => (0, EN_SQD_ASYNC_NOTIFY),
        (SendDrained, SendDrained) => (0, SENDING | AV | PKEY_INDEX),
        _ => return Err(REFUSED),
    })
}

fn datagram(current: QpState, next: QpState) -> Result<(u32, u32), Error> {
    use QpState::{Init, ReadyToReceive, ReadyToSend, Reset, SendDrained, SendError};
    Ok(match (current, next) {
        (Reset, Init) => (PKEY_INDEX | PORT | QKEY, 0),
        (Init, Init) => (0, PKEY_INDEX | PORT | QKEY),
        (Init, ReadyToReceive) => (0, PKEY_INDEX | QKEY),
        (ReadyToReceive, ReadyToSend) => (SQ_PSN, QKEY),
        (ReadyToSend | SendDrained | SendError, ReadyToSend) => (0, QKEY),
        (ReadyToSend, SendDrained) => (0, EN_SQD_ASYNC_NOTIFY),
        (SendDrained, SendDrained) => (0, PKEY_INDEX | QKEY),
        _ => return Err(REFUSED),
    })
}

fn initiator(current: QpState, next: QpState) -> Result<(u32, u32), Error> {
    use QpState::{Init, ReadyToReceive, ReadyToSend, Reset};
    Ok(match (current, next) {
        (Reset, Init) => (PKEY_INDEX | PORT, 0),
        (Init, Init) => (0, PKEY_INDEX | PORT),
        (Init, ReadyToReceive) => (PATH_MTU, PKEY_INDEX | AV),
        (ReadyToReceive, ReadyToSend) => (
            TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC | SQ_PSN,
            MIN_RNR_TIMER,
        ),
        (ReadyToSend, ReadyToSend) => (0, MIN_RNR_TIMER),
        _ => return Err(REFUSED),
    })
}

fn target(current: QpState, next: QpState) -> Result<(u32, u32), Error> {
    use QpState::{Init, ReadyToReceive, Reset};
    Ok(match (current, next) {
        (Reset, Init) => (PKEY_INDEX | PORT | ACCESS_FLAGS, 0),
        (Init, ReadyToReceive) => (MIN_RNR_TIMER | AV | PATH_MTU, 0),
        _ => return Err(REFUSED),
    })
}

fn ranges(attr: &QpAttr, mask: u32) -> Result<(), Error> {
    let has = |bit| mask & bit != 0;
    let bad = has(PORT) && attr.port_num != 1
        || has(PATH_MTU) && !(1..=5).contains(&attr.path_mtu)
        || has(AV) && attr.path.port_num > 1
        || has(MIN_RNR_TIMER) && attr.min_rnr_timer > 31
        || has(TIMEOUT) && attr.timeout > 31
        || has(MAX_QP_RD_ATOMIC) && attr.max_rd_atomic > MOST_READS
        || has(MAX_DEST_RD_ATOMIC) && attr.max_dest_rd_atomic > MOST_READS
        || has(RETRY_CNT) && attr.retry_cnt > 7
        || has(RNR_RETRY) && attr.rnr_retry > 7
        || has(PKEY_INDEX) && attr.pkey_index > 0
        || has(DEST_QPN) && attr.dest_qpn > 0xff_ffff;
    if bad {
        return Err(Error::Invalid("an attribute is out of its range"));
    }
    Ok(())
}

/// Takes the attributes under `mask` over.
pub(super) fn take_over(current: &mut QpAttr, attr: &QpAttr, mask: u32) {
    macro_rules! take {
        ($($bit:ident => $field:ident),* $(,)?) => {
            $(if mask & $bit != 0 { current.$field = attr.$field; })*
        };
    }
    take! {
        PATH_MTU => path_mtu, QKEY => qkey, RQ_PSN => rq_psn, SQ_PSN => sq_psn, DEST_QPN => dest_qpn,
        ACCESS_FLAGS => access, PKEY_INDEX => pkey_index, PORT => port_num, MAX_QP_RD_ATOMIC => max_rd_atomic,
        MAX_DEST_RD_ATOMIC => max_dest_rd_atomic, MIN_RNR_TIMER => min_rnr_timer, TIMEOUT => timeout,
        RETRY_CNT => retry_cnt, RNR_RETRY => rnr_retry, AV => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use QpState::{
        Error as Failed, Init, ReadyToReceive, ReadyToSend, Reset, SendDrained, SendError,
    };

    const STATES: [QpState; 7] = [
        Reset,
        Init,
        ReadyToReceive,
        ReadyToSend,
        SendDrained,
        SendError,
        Failed,
    ];

    fn allowed(kind: QpKind, from: QpState, to: QpState) -> bool {
        let attr = QpAttr {
            state: to,
            path_mtu: 5,
            port_num: 1,
            ..QpAttr::default()
        };
        // With every bit that some transition of this kind needs, one at least fits.
        let mut masks = vec![STATE];
        let (required, _) = match kind {
            QpKind::Rc => connected(from, to),
            QpKind::Uc => unreliable(from, to),
            QpKind::Ud => datagram(from, to),
            QpKind::Dci => initiator(from, to),
            QpKind::Dct => target(from, to),
        }
        .unwrap_or((0, 0));
        masks.push(STATE | required);
        masks
            .iter()
            .any(|&mask| next_state(kind, from, &attr, mask).is_ok())
    }

    #[test]
    fn the_table_of_transitions() {
        let rc = [
            (Reset, Init),
            (Init, Init),
            (Init, ReadyToReceive),
            (ReadyToReceive, ReadyToSend),
            (ReadyToSend, ReadyToSend),
            (ReadyToSend, SendDrained),
            (SendDrained, ReadyToSend),
            (SendDrained, SendDrained),
        ];
        let dci = [
            (Reset, Init),
            (Init, Init),
            (Init, ReadyToReceive),
            (ReadyToReceive, ReadyToSend),
            (ReadyToSend, ReadyToSend),
        ];
        let unreliable = [&rc[..], &[(SendError, ReadyToSend)]].concat();
        let dct = [(Reset, Init), (Init, ReadyToReceive)];
        for (kind, table) in [
            (QpKind::Rc, &rc[..]),
            (QpKind::Uc, &unreliable[..]),
            (QpKind::Ud, &unreliable[..]),
            (QpKind::Dci, &dci[..]),
            (QpKind::Dct, &dct[..]),
        ] {
            for from in STATES {
                for to in STATES {
                    let expected =
                        table.contains(&(from, to)) || to == Reset || to == Failed && from != Reset;
                    assert_eq!(
                        allowed(kind, from, to),
                        expected,
                        "{kind:?} {from:?} to {to:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn attributes_are_asked_for_and_bounded() {
        let attr = QpAttr {
            state: Init,
            ..QpAttr::default()
        };
        let full = STATE | PKEY_INDEX | PORT | ACCESS_FLAGS;
        assert_eq!(next_state(QpKind::Rc, Reset, &attr, full), Ok(Init));
        for mask in [full & !PORT, full | TIMEOUT, full | ALT_PATH] {
            assert!(
                next_state(QpKind::Rc, Reset, &attr, mask).is_err(),
                "{mask:#x}"
            );
        }
        let attr = QpAttr {
            port_num: 2,
            ..attr
        };
        assert!(next_state(QpKind::Rc, Reset, &attr, full).is_err());
        let attr = QpAttr {
            cur_state: Init,
            port_num: 1,
            ..attr
        };
        assert!(next_state(QpKind::Rc, Reset, &attr, full | CUR_STATE).is_err());
    }
}
