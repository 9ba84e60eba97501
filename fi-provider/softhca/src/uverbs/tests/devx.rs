//! DEVX: capabilities, memory, events, and the commands of queue pairs.

use super::*;
use crate::engine::{Access, CqInit, QpInit, QpKind, QpState, QpUar};

fn ready(masked_atomics: bool) -> Bench {
    let mut bench = Bench::with(Settings {
        devx: true,
        masked_atomics,
        ..Settings::default()
    });
    bench.get_context(32, 1).expect("a context with DEVX");
    bench
}

impl Bench {
    /// Gives the general command; returns its answer.
    fn general(&mut self, command: &[u8; 16], length: usize) -> Result<Vec<u8>, Errno> {
        let given = [Given::In(0x1000, command), Given::Out(0x1001, length)];
        let outputs = self.ioctl(object::MLX5_DEVX, method::DEVX_OTHER, &given)?;
        Ok(outputs[0].clone())
    }

    fn register(&mut self, address: u64, length: u64, access: u64) -> Result<u64, Errno> {
        let [address, length, access] = [address, length, access].map(u64::to_ne_bytes);
        let given = [
            Given::Object(0x1000, 0),
            Given::In(0x1001, &address),
            Given::In(0x1002, &length),
            Given::In(0x1003, &access),
            Given::Out(0x1004, 4),
        ];
        let outputs = self.ioctl(
            object::MLX5_DEVX_MEMORY,
            method::DEVX_MEMORY_REGISTER,
            &given,
        )?;
        assert_eq!(outputs[0][..4], outputs[1], "the handle is the number");
        Ok(number(&outputs[0]))
    }

    fn deregister(&mut self, number: u64) -> Result<(), Errno> {
        let given = [Given::Object(0x1000, number)];
        let method = method::DEVX_MEMORY_DEREGISTER;
        self.ioctl(object::MLX5_DEVX_MEMORY, method, &given)
            .map(drop)
    }

    /// Makes a queue pair in reset.
    fn queue_pair(&mut self, kind: QpKind) -> u32 {
        let (engine, context) = (&mut self.device.engine, self.context);
        let pd = engine.alloc_pd(context).expect("a domain");
        let init = CqInit {
            buf_addr: BASE + 0x8000,
            db_addr: BASE + 0x7000,
            cqe_count: 16,
            cqe_size: 64,
            ignore_overrun: false,
            channel: None,
            user_handle: 1,
        };
        let cq = engine.create_cq(&mut self.host, context, &init);
        let cq = cq.expect("a completion queue");
        let page = engine.uar_alloc(context, crate::engine::UarKind::BlueFlame);
        let init = QpInit {
            kind,
            pd,
            send_cq: cq,
            recv_cq: cq,
            srq: None,
            buf_addr: BASE + 0x9000,
            db_addr: BASE + 0x7100,
            sq_offset: 0,
            sq_wqe_count: 16,
            rq_wqe_count: 0,
            rq_wqe_shift: 0,
            uidx: 0,
            uar: QpUar::Page(page.expect("a page")),
            dc_key: 0,
            user_handle: 2,
        };
        engine
            .create_qp(context, &init)
            .expect("a queue pair")
            .handle
    }

    /// Gives a command for a queue pair, with these bytes of its context set.
    fn command(&mut self, method: u16, handle: u32, command: &[u8]) -> Result<Vec<u8>, Errno> {
        let given = [
            Given::Object(0x1000, handle.into()),
            Given::In(0x1001, command),
            Given::Out(0x1002, 0x110),
        ];
        let outputs = self.ioctl(object::MLX5_DEVX_OBJECT, method, &given)?;
        Ok(outputs[1].clone())
    }

    fn modify(
        &mut self,
        handle: u32,
        opcode: u16,
        rights: u8,
        context: &[(usize, u8)],
    ) -> Result<QpState, Errno> {
        let mut bytes = vec![0; 0x110];
        bytes[..2].copy_from_slice(&opcode.to_be_bytes());
        bytes[8..12].copy_from_slice(&handle.to_be_bytes());
        bytes[0x13] = rights;
        for (at, value) in context {
            bytes[0x18 + at] = *value;
        }
        let answer = self.command(method::DEVX_MODIFY, handle, &bytes)?;
        assert_eq!(answer[0], 0, "the status");
        let attr = self.device.engine.query_qp(self.context, handle);
        Ok(attr.expect("the queue pair").state)
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes.try_into().expect("8 bytes"))
}

#[test]
fn capabilities_tell_of_masked_atomics_where_they_are_on() {
    for masked in [false, true] {
        let mut bench = ready(masked);
        // QUERY_HCA_CAP, the greatest values of the atomics.
        let query = [1, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
        let answer = bench.general(&query, 16 + 0x1000).expect("capabilities");
        assert_eq!(answer[0], 0, "the status");
        let (operations, sizes) = if masked { (15, 12) } else { (3, 8) };
        assert_eq!(answer[16 + 0x12..16 + 0x14], [0, operations]);
        assert_eq!(answer[16 + 0x16..16 + 0x18], [0, sizes]);
        assert_eq!(answer[16 + 0x1a..16 + 0x1c], [0, sizes]);
        // The general ones: messages of 2^30 bytes, DC, atomics.
        let query = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let answer = bench.general(&query, 16 + 0x1000).expect("capabilities");
        assert_eq!((answer[16 + 0x38], answer[16 + 0x43]), (30, 0x22));
        // Ports are not bonded; other commands there are none.
        let query = [8, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bench.general(&query, 32), Ok(vec![0; 32]));
        let create = [10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bench.general(&create, 16), Err(Errno::NOT_SUPPORTED));
    }
}

#[test]
fn memory_has_numbers_until_it_is_dropped() {
    let mut bench = ready(true);
    assert_eq!(bench.register(BASE, SIZE as u64, 7), Ok(1));
    assert_eq!(bench.register(BASE + 1, 1, 0), Ok(2));
    assert_eq!(bench.deregister(1), Ok(()));
    assert_eq!(bench.deregister(1), Err(Errno::INVALID));
    assert_eq!(bench.register(BASE, 8, 7), Ok(3));
    for (address, length, access, errno) in [
        (BASE, 8, 8, Errno::INVALID),
        (BASE, 0, 1, Errno::INVALID),
        (u64::MAX, 2, 1, Errno::INVALID),
        (BASE, SIZE as u64 + 1, 1, Errno::FAULT),
        (BASE - 1, 8, 1, Errno::FAULT),
    ] {
        assert_eq!(bench.register(address, length, access), Err(errno));
    }
    // A context that does not speak DEVX has none.
    let mut bench = Bench::ready();
    assert_eq!(bench.register(BASE, 8, 1), Err(Errno::PROTOCOL));
}

#[test]
fn files_of_events_are_handed_out_and_objects_are_not() {
    let mut bench = ready(true);
    for (flags, expected) in [(0_u64, Ok(())), (1, Ok(())), (2, Err(Errno::INVALID))] {
        let flags = flags.to_ne_bytes();
        let given = [Given::Object(0x1000, 0), Given::In(0x1001, &flags)];
        let answer = bench.ioctl(object::MLX5_DEVX_EVENTS, method::DEVX_EVENTS_ALLOC, &given);
        assert_eq!(answer.map(drop), expected);
    }
    assert_eq!(bench.host.queues.len(), 2);
    let given = [
        Given::Object(0x1000, 0),
        Given::In(0x1001, &[5; 16]),
        Given::Out(0x1002, 16),
    ];
    let create = bench.ioctl(object::MLX5_DEVX_OBJECT, 0x1000, &given);
    assert_eq!(create, Err(Errno::PROTOCOL));
}

#[test]
fn a_connected_queue_pair_goes_through_its_states() {
    let mut bench = ready(true);
    let qp = bench.queue_pair(QpKind::Rc);
    // Port 1; peers may write.
    let init = [(0x18 + 0x25, 1), (0x92, 1 << 6)];
    assert_eq!(bench.modify(qp, 0x502, 0, &init), Ok(QpState::Init));
    assert_eq!(bench.modify(qp, 0x502, 0, &init), Err(Errno::INVALID));
    // MTU 4096, peer 0x123456, LID 0x102, 8 reads, timer 12; reads and atomics, of which the mask takes the former.
    let receive = [
        (0x8, 5 << 5),
        (0x15, 0x12),
        (0x16, 0x34),
        (0x17, 0x56),
        (0x18 + 0x6, 1),
        (0x18 + 0x7, 2),
        (0x18 + 0x24, 3),
        (0x18 + 0x25, 1),
        (0x91, 3 << 5),
        (0x92, 1 << 7 | 1 << 5),
        (0x94, 12),
        (0x97, 9),
    ];
    assert_eq!(
        bench.modify(qp, 0x503, 1 << 1, &receive),
        Ok(QpState::ReadyToReceive)
    );
    // 16 reads, 7 and 6 retries, time-out 14.
    let send = [(0x71, 4 << 5 | 7), (0x72, 6 << 5), (0x18 + 0x8, 14 << 3)];
    assert_eq!(bench.modify(qp, 0x504, 0, &send), Ok(QpState::ReadyToSend));
    let attr = bench.device.engine.query_qp(bench.context, qp).expect("it");
    assert_eq!((attr.path_mtu, attr.dest_qpn), (5, 0x12_3456));
    assert_eq!((attr.path.dlid, attr.path.sl, attr.rq_psn), (0x102, 3, 9));
    assert_eq!((attr.max_dest_rd_atomic, attr.max_rd_atomic), (8, 16));
    assert_eq!((attr.min_rnr_timer, attr.timeout), (12, 14));
    assert_eq!((attr.retry_cnt, attr.rnr_retry), (7, 6));
    let rights = Access::REMOTE_WRITE | Access::REMOTE_READ;
    assert_eq!(attr.access.0, rights);

    let mut query = [0; 16];
    query[..2].copy_from_slice(&0x50b_u16.to_be_bytes());
    query[8..12].copy_from_slice(&qp.to_be_bytes());
    let answer = bench.command(method::DEVX_QUERY, qp, &query).expect("it");
    let context = &answer[0x18..];
    assert_eq!((context[0] >> 4, context[8] >> 5), (3, 5));
    assert_eq!(context[0x15..0x18], [0x12, 0x34, 0x56]);
    assert_eq!(context[0x1e..0x20], [1, 2]);

    assert_eq!(bench.modify(qp, 0x507, 0, &[]), Ok(QpState::Error));
    assert_eq!(bench.modify(qp, 0x50a, 0, &[]), Ok(QpState::Reset));
    assert_eq!(bench.modify(qp, 0x504, 0, &send), Err(Errno::INVALID));
}

#[test]
fn an_initiator_needs_no_peer_and_gives_no_rights() {
    let mut bench = ready(true);
    let qp = bench.queue_pair(QpKind::Dci);
    let rights = (0x92, 0xe0);
    let init = [(0x18 + 0x25, 1), rights];
    assert_eq!(bench.modify(qp, 0x502, 0, &init), Ok(QpState::Init));
    let receive = [(0x8, 5 << 5), rights];
    assert_eq!(
        bench.modify(qp, 0x503, 0xe, &receive),
        Ok(QpState::ReadyToReceive)
    );
    assert_eq!(bench.modify(qp, 0x504, 0, &[]), Ok(QpState::ReadyToSend));
    let attr = bench.device.engine.query_qp(bench.context, qp).expect("it");
    assert_eq!((attr.path_mtu, attr.access.0), (5, 0));
}

#[test]
fn commands_that_do_not_fit_are_refused() {
    let mut bench = ready(true);
    let qp = bench.queue_pair(QpKind::Rc);
    let mut command = vec![0; 0x110];
    command[..2].copy_from_slice(&0x502_u16.to_be_bytes());
    command[8..12].copy_from_slice(&(qp + 1).to_be_bytes());
    let modify = method::DEVX_MODIFY;
    assert_eq!(
        bench.command(modify, qp, &command),
        Err(Errno::INVALID),
        "of another queue pair"
    );
    command[8..12].copy_from_slice(&qp.to_be_bytes());
    for length in [0, 1, 9, 16, 0xff] {
        let short = bench.command(modify, qp, &command[..length]);
        assert_eq!(short, Err(Errno::INVALID), "{length} bytes");
    }
    let nobody = bench.command(modify, qp + 1, &command);
    assert_eq!(nobody, Err(Errno::INVALID));
    command[1] = 0x05;
    let unknown = bench.command(modify, qp, &command);
    assert_eq!(unknown, Err(Errno::NOT_SUPPORTED));
    assert_eq!(
        bench.command(method::DEVX_QUERY, qp, &command),
        Err(Errno::NOT_SUPPORTED)
    );
}
