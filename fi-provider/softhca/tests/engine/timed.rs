//! Operations that take time: when their effects are seen, and the transactions that tell of them.

use crate::world::{Pair, World, signalled};
use fi_mlx5_defs::build::Entry;
use fi_mlx5_defs::endian::Be64;
use fi_mlx5_defs::opcode::{Opcode, Syndrome};
use fi_mlx5_defs::wqe::{Atomic, Data, flags};
use softhca::engine::{Config, Latencies, QpState, Transaction};

/// Times of which no sum of a few is another one.
const P: u64 = 1_000_000;
const W: u64 = 10_000;
const S: u64 = 100;
const M: u64 = 1;
const N: u64 = W + S;
/// The time of the first step.
const T: u64 = 7_000_000_000;

fn timed() -> Config {
    Config {
        latencies: Some(Latencies {
            pcie: P,
            wire: W,
            switch: S,
            memory: M,
        }),
        transactions: true,
        ..Config::default()
    }
}

fn pair() -> Pair {
    let mut pair = Pair::with(timed(), 64, 8);
    pair.world.now = T;
    pair
}

/// Steps at each time at which something is due, up to one before `end`; gives those times.
fn run(world: &mut World, end: u64) -> (Vec<u64>, Vec<Transaction>) {
    let (mut times, mut told) = (Vec::new(), Vec::new());
    loop {
        let progress = world.step();
        told.extend(progress.transactions);
        match progress.due {
            Some(due) if due < end => {
                assert!(due > world.now, "{due} is not after {}", world.now);
                world.now = due;
                times.push(due - T);
            }
            _ if progress.more => {}
            _ => return (times, told),
        }
    }
}

/// Runs to the end; gives the times at which something happened, and the lines of the trace.
fn all(world: &mut World) -> (Vec<u64>, Vec<String>) {
    let (times, mut told) = run(world, u64::MAX);
    told.extend(world.engine.last_transactions());
    assert!(told.is_sorted_by_key(|line| line.time));
    (times, relative(&told))
}

/// Returns the lines, with their times from T.
fn relative(told: &[Transaction]) -> Vec<String> {
    let since = |line: &Transaction| Transaction {
        time: line.time - T,
        ..*line
    };
    told.iter().map(|line| since(line).to_string()).collect()
}

/// Returns a line of the trace; side 0 is the requester's.
fn line(pair: &Pair, time: u64, words: &str, what: &str, side: usize, operation: u64) -> String {
    let (qpn, process) = (pair.qp[side].qpn, [10, 20][side]);
    let role = ["requester", "responder"][side];
    format!("{time},{words},{qpn},{what},{process},{role},{operation}")
}

/// Returns the lines of the only operation, given as (time, "direction,kind,bytes", what, side).
fn lines(pair: &Pair, expected: &[(u64, &str, &str, usize)]) -> Vec<String> {
    let mut expected = expected.to_vec();
    expected.sort_by_key(|line| line.0);
    let lines = expected
        .iter()
        .map(|(time, words, what, side)| line(pair, *time, words, what, *side, 1));
    lines.collect()
}

fn post_put(pair: &mut Pair) {
    let there = pair.buffer[1];
    pair.post(Opcode::Write, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.inline(&[5; 8])
    });
}

#[test]
fn a_write_in_line() {
    let mut pair = pair();
    post_put(&mut pair);
    // Nothing is there before its time, and everything at its time.
    let (payload, completion) = (2 * P + N + M, 2 * (P + N) + M);
    run(&mut pair.world, T + payload);
    pair.world.now = T + payload - 1;
    pair.world.step();
    assert_eq!(pair.bytes(1, 0, 8), [0; 8]);
    pair.world.now = T + payload;
    pair.world.step();
    assert_eq!(pair.bytes(1, 0, 8), [5; 8]);
    pair.world.now = T + completion - 1;
    assert_eq!(pair.world.step().due, Some(T + completion));
    assert!(pair.world.poll(&mut pair.cq[0]).is_none());
    pair.world.now = T + completion;
    assert_eq!(pair.world.step().due, None);
    assert!(pair.world.poll(&mut pair.cq[0]).is_some());
}

#[test]
fn the_trace_of_a_write_in_line() {
    let mut pair = pair();
    post_put(&mut pair);
    let (times, told) = all(&mut pair.world);
    assert_eq!(times, [2 * P + N + M, 2 * (P + N) + M]);
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (P + N, "up,MWr,8", "payload", 1),
        (P + N + 2 * P, "down,Ack,0", "payload", 1),
        (P + 2 * N, "up,MWr,64", "completion", 0),
        (P + 2 * N + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(told, lines(&pair, &expected));
}

#[test]
fn a_write_that_is_not_signalled_has_no_completion() {
    let mut pair = pair();
    let there = pair.buffer[1];
    pair.post(Opcode::Write, |entry| {
        entry.remote(there.addr, there.key()).inline(&[5; 8])
    });
    let (_, told) = all(&mut pair.world);
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (P + N, "up,MWr,8", "payload", 1),
        (P + N + 2 * P, "down,Ack,0", "payload", 1),
    ];
    assert_eq!(told, lines(&pair, &expected));
}

#[test]
fn payload_that_is_not_in_line_is_read_first() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    pair.fill(0, 0, &[6; 40]);
    pair.post(Opcode::Write, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry
            .data(here.addr, 32, here.key())
            .data(here.addr, 8, here.key())
    });
    let (times, told) = all(&mut pair.world);
    let r = 3 * P;
    assert_eq!(times, [r + N + P + M, r + 2 * N + P + M]);
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (P, "up,MRd,32", "payload", 0),
        (P, "up,MRd,8", "payload", 0),
        (r, "down,CplD,32", "payload", 0),
        (r, "down,CplD,8", "payload", 0),
        (r + N, "up,MWr,40", "payload", 1),
        (r + N + 2 * P, "down,Ack,0", "payload", 1),
        (r + 2 * N, "up,MWr,64", "completion", 0),
        (r + 2 * N + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(told, lines(&pair, &expected));
    assert_eq!(pair.bytes(1, 0, 41), [&[6; 40][..], &[0]].concat());
}

#[test]
fn an_entry_that_no_register_takes_is_read_first() {
    let mut pair = pair();
    let there = pair.buffer[1];
    pair.post(Opcode::Write, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.inline(&[6; 240])
    });
    let (times, told) = all(&mut pair.world);
    let r = 3 * P;
    assert_eq!(times, [r + N + P + M, r + 2 * N + P + M]);
    let expected = [
        (P, "down,MWr,8", "doorbell", 0),
        (P, "up,MRd,320", "entry", 0),
        (r, "down,CplD,320", "entry", 0),
        (r + N, "up,MWr,240", "payload", 1),
        (r + N + 2 * P, "down,Ack,0", "payload", 1),
        (r + 2 * N, "up,MWr,64", "completion", 0),
        (r + 2 * N + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(told, lines(&pair, &expected));
}

#[test]
fn a_message_and_its_completion_come_together() {
    let mut pair = pair();
    let there = pair.buffer[1];
    let to = [Data::new(there.addr, 64, there.key())];
    pair.world.receive(&mut pair.qp[1], &to);
    pair.post(Opcode::Send, |entry| signalled(entry).inline(&[7; 8]));
    let mut told = run(&mut pair.world, T + 2 * P + N + M).1;
    pair.world.now = T + 2 * P + N + M;
    assert!(pair.world.poll(&mut pair.cq[1]).is_none());
    told.extend(pair.world.step().transactions);
    assert!(pair.world.poll(&mut pair.cq[1]).is_some());
    assert_eq!(pair.bytes(1, 0, 8), [7; 8]);
    told.extend(run(&mut pair.world, u64::MAX).1);
    told.extend(pair.world.engine.last_transactions());
    assert_eq!(pair.world.now, T + 2 * (P + N) + M);
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (P + N, "up,MWr,8", "payload", 1),
        (P + N, "up,MWr,64", "completion", 1),
        (P + N + 2 * P, "down,Ack,0", "payload", 1),
        (P + N + 2 * P, "down,Ack,0", "completion", 1),
        (P + 2 * N, "up,MWr,64", "completion", 0),
        (P + 2 * N + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(relative(&told), lines(&pair, &expected));
}

#[test]
fn a_read() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    pair.fill(1, 0, &[1; 32]);
    pair.post(Opcode::Read, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.data(here.addr, 32, here.key())
    });
    let (a, back) = (P + N, P + N + 2 * P + N);
    run(&mut pair.world, T + a + P);
    // The read takes bytes that are written up to its time, and no later ones.
    pair.fill(1, 0, &[2; 16]);
    pair.world.now = T + a + P;
    pair.world.step();
    pair.fill(1, 0, &[3; 32]);
    pair.world.now = T + back + P + M - 1;
    pair.world.step();
    assert_eq!(pair.bytes(0, 0, 32), [0; 32]);
    assert!(pair.world.poll(&mut pair.cq[0]).is_none());
    pair.world.now += 1;
    let told = pair.world.step().transactions;
    assert_eq!(pair.bytes(0, 0, 32), [[2; 16], [1; 16]].concat());
    assert!(pair.world.poll(&mut pair.cq[0]).is_some());
    assert!(!told.is_empty());
}

#[test]
fn the_trace_of_a_read() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    pair.post(Opcode::Read, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.data(here.addr, 32, here.key())
    });
    let (times, told) = all(&mut pair.world);
    let (a, back) = (P + N, P + N + 2 * P + N);
    assert_eq!(times, [a + P, back + P + M]);
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (a, "up,MRd,32", "payload", 1),
        (a + 2 * P, "down,CplD,32", "payload", 1),
        (back, "up,MWr,32", "payload", 0),
        (back, "up,MWr,64", "completion", 0),
        (back + 2 * P, "down,Ack,0", "payload", 0),
        (back + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(told, lines(&pair, &expected));
}

fn add(pair: &mut Pair, to: u64) {
    let [here, there] = pair.buffer;
    let one = Atomic {
        swap_or_add: Be64::new(1),
        ..Atomic::default()
    };
    pair.post(Opcode::FetchAdd, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.segment(&one).data(here.addr + to, 8, here.key())
    });
}

#[test]
fn an_atomic() {
    let mut pair = pair();
    pair.fill(1, 0, &41_u64.to_ne_bytes());
    add(&mut pair, 0);
    let (a, back) = (P + N, P + N + 2 * P + N);
    let mut told = run(&mut pair.world, T + a + 3 * P + M).1;
    assert_eq!(pair.bytes(1, 0, 8), 41_u64.to_ne_bytes());
    pair.world.now = T + a + 3 * P + M;
    told.extend(pair.world.step().transactions);
    assert_eq!(pair.bytes(1, 0, 8), 42_u64.to_ne_bytes());
    assert_eq!(pair.bytes(0, 0, 8), [0; 8]);
    told.extend(run(&mut pair.world, u64::MAX).1);
    told.extend(pair.world.engine.last_transactions());
    assert_eq!(pair.world.now, T + back + P + M);
    assert_eq!(pair.bytes(0, 0, 8), 41_u64.to_ne_bytes());
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (a, "up,MRd,8", "payload", 1),
        (a + 2 * P, "down,CplD,8", "payload", 1),
        (a + 2 * P, "up,MWr,8", "payload", 1),
        (a + 4 * P, "down,Ack,0", "payload", 1),
        (back, "up,MWr,8", "payload", 0),
        (back, "up,MWr,64", "completion", 0),
        (back + 2 * P, "down,Ack,0", "payload", 0),
        (back + 2 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(relative(&told), lines(&pair, &expected));
}

#[test]
fn no_operation_stays_in_the_nic() {
    let mut pair = pair();
    pair.post(Opcode::Nop, signalled);
    let (times, told) = all(&mut pair.world);
    assert_eq!(times.last(), Some(&(2 * P + M)));
    let expected = [
        (P, "down,MWr,64", "post", 0),
        (P, "up,MWr,64", "completion", 0),
        (3 * P, "down,Ack,0", "completion", 0),
    ];
    assert_eq!(told, lines(&pair, &expected));
}

#[test]
fn operations_overlap() {
    let mut pair = pair();
    // Seen 1000 ns apart, while the first ones are under way.
    for _ in 0..10 {
        post_put(&mut pair);
        pair.world.step();
        assert!(pair.world.poll(&mut pair.cq[0]).is_none());
        pair.world.now += 1000;
    }
    let completion = T + 2 * (P + N) + M;
    for n in 0..10 {
        run(&mut pair.world, completion + 1000 * n);
        assert!(pair.world.poll(&mut pair.cq[0]).is_none());
        pair.world.now = completion + 1000 * n;
        pair.world.step();
        let cqe = pair.world.poll(&mut pair.cq[0]);
        assert_eq!(cqe.map(|cqe| u64::from(cqe.wqe_counter.get())), Some(n));
    }
}

#[test]
fn a_queue_pair_keeps_its_order() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    pair.fill(0, 0, &[8; 64]);
    // By themselves each would be seen before the one in front of it.
    add(&mut pair, 512);
    pair.post(Opcode::Write, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.data(here.addr, 64, here.key())
    });
    post_put(&mut pair);
    pair.post(Opcode::Read, |entry| {
        let entry = signalled(entry).remote(there.addr, there.key());
        entry.data(here.addr + 256, 64, here.key())
    });
    let (_, told) = all(&mut pair.world);
    // The read sees the later write over the earlier one, and neither sees the sum.
    assert_eq!(pair.bytes(0, 256, 9), [5, 5, 5, 5, 5, 5, 5, 5, 8]);
    let order: Vec<_> = std::iter::from_fn(|| pair.world.poll(&mut pair.cq[0]))
        .map(|cqe| cqe.wqe_counter.get())
        .collect();
    assert_eq!(order, [0, 1, 2, 3]);
    let own = pair.qp[0].qpn;
    let completions: Vec<_> = told
        .iter()
        .filter(|line| line.contains("up,MWr,64") && line.contains(",completion,"))
        .collect();
    for (n, line) in completions.iter().enumerate() {
        let end = format!("{own},completion,10,requester,{}", n + 1);
        assert!(line.ends_with(&end), "{line}");
    }
    // The atomic's answer is on its way for 2P + N behind its arrival; the writes wait for it.
    let write = line(&pair, 3 * P + 2 * N, "up,MWr,64", "completion", 0, 2);
    assert!(told.contains(&write), "{told:#?}");
}

#[test]
fn a_fence_waits_for_the_data() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    pair.fill(1, 0, &[4; 8]);
    let gather = |entry: Entry| {
        entry
            .remote(there.addr + 64, there.key())
            .data(here.addr, 8, here.key())
    };
    pair.post(Opcode::Read, |entry| {
        let entry = entry.remote(there.addr, there.key());
        entry.data(here.addr, 8, here.key())
    });
    pair.post(Opcode::Write, |entry| gather(signalled(entry)));
    all(&mut pair.world);
    assert_eq!(pair.bytes(1, 64, 8), [0; 8], "without a fence");
    let begin = pair.world.now;
    pair.fill(0, 0, &[0; 8]);
    pair.post(Opcode::Read, |entry| {
        let entry = entry.remote(there.addr, there.key());
        entry.data(here.addr, 8, here.key())
    });
    pair.post(Opcode::Write, |entry| {
        gather(entry.flags(flags::COMPLETION | flags::FENCE))
    });
    all(&mut pair.world);
    assert_eq!(pair.bytes(1, 64, 8), [4; 8], "with a fence");
    let read = 3 * P + 2 * N;
    assert_eq!(pair.world.now - begin, read + 2 * P + 2 * N + P + M);
}

#[test]
fn a_fence_waits_for_a_read_that_was_sent_late() {
    let mut pair = pair();
    let [here, there] = pair.buffer;
    let gather = |entry: Entry| {
        entry
            .remote(there.addr + 64, there.key())
            .data(here.addr, 8, here.key())
    };
    // Its payload is read first, and so the read behind it is sent later than by itself.
    pair.post(Opcode::Write, gather);
    pair.post(Opcode::Read, |entry| {
        let entry = entry.remote(there.addr, there.key());
        entry.data(here.addr + 8, 8, here.key())
    });
    pair.post(Opcode::Write, |entry| {
        gather(entry.flags(flags::COMPLETION | flags::FENCE))
    });
    all(&mut pair.world);
    let read = 3 * P + N + 2 * P + N;
    assert_eq!(pair.world.now - T, read + 2 * P + 2 * N + P + M);
}

#[test]
fn what_waits_comes_when_it_can_be_done() {
    let mut pair = pair();
    let there = pair.buffer[1];
    pair.post(Opcode::Send, |entry| signalled(entry).inline(&[7; 8]));
    post_put(&mut pair);
    run(&mut pair.world, T + 10 * P);
    pair.world.now = T + 10 * P;
    assert!(pair.world.step().waiting);
    let to = [Data::new(there.addr + 64, 64, there.key())];
    pair.world.receive(&mut pair.qp[1], &to);
    let (_, told) = all(&mut pair.world);
    assert_eq!(pair.bytes(1, 64, 8), [7; 8]);
    assert_eq!(pair.bytes(1, 0, 8), [5; 8]);
    assert_eq!(pair.world.now, T + 10 * P + N);
    let arrived = 9 * P - M;
    for operation in [1, 2] {
        let payload = line(&pair, arrived, "up,MWr,8", "payload", 1, operation);
        assert!(told.contains(&payload), "{payload}: {told:#?}");
    }
}

#[test]
fn behind_a_failure_all_is_flushed() {
    let mut pair = pair();
    let there = pair.buffer[1];
    post_put(&mut pair);
    pair.post(Opcode::Write, |entry| {
        entry.remote(there.addr, there.key() + 1).inline(&[9; 8])
    });
    post_put(&mut pair);
    all(&mut pair.world);
    assert_eq!(pair.world.now, T + 2 * (P + N) + M, "the time of a success");
    let told: Vec<_> = std::iter::from_fn(|| pair.world.poll(&mut pair.cq[0]))
        .map(|cqe| {
            cqe.is_error()
                .then(|| Syndrome::from_number(cqe.syndrome()))
        })
        .collect();
    let (wrong, flushed) = (Some(Syndrome::RemoteAccess), Some(Syndrome::Flushed));
    assert_eq!(told, [None, Some(wrong), Some(flushed)]);
    assert_eq!(pair.states(), [QpState::Error; 2]);
    assert_eq!(pair.bytes(1, 0, 8), [5; 8]);
}

#[test]
fn reset_and_destruction_drop_what_is_under_way() {
    let mut pair = pair();
    post_put(&mut pair);
    pair.world.step();
    pair.world.modify(&pair.qp[0], QpState::Reset, 0, |_| {});
    all(&mut pair.world);
    assert_eq!(pair.bytes(1, 0, 8), [0; 8]);
    assert!(pair.world.poll(&mut pair.cq[0]).is_none());
    pair.qp[0].producer = 0;
    pair.world.record(&pair.qp[0]);
    let number = pair.qp[1].qpn;
    pair.world.connect(&pair.qp[0], number);
    post_put(&mut pair);
    pair.world.step();
    let (context, handle) = (pair.qp[0].client.context, pair.qp[0].handle);
    pair.world.engine.destroy_qp(context, handle).unwrap();
    assert_eq!(pair.world.step().due, None);
    assert_eq!(pair.bytes(1, 0, 8), [0; 8]);
}

#[test]
fn a_drained_queue_tells_when_it_is_empty() {
    use softhca::engine::attr::EN_SQD_ASYNC_NOTIFY;
    let mut pair = pair();
    post_put(&mut pair);
    pair.world.step();
    let drained = QpState::SendDrained;
    pair.world
        .modify(&pair.qp[0], drained, EN_SQD_ASYNC_NOTIFY, |_| {});
    assert!(pair.world.step().async_events.is_empty());
    assert_eq!(pair.world.settle().async_events.len(), 1);
    assert_eq!(pair.bytes(1, 0, 8), [5; 8]);
}

#[test]
fn late_steps_do_not_change_the_times() {
    let mut pair = pair();
    post_put(&mut pair);
    pair.world.step();
    pair.world.now = T + 100 * P;
    let (_, mut told) = run(&mut pair.world, u64::MAX);
    told.extend(pair.world.engine.last_transactions());
    let times: Vec<_> = told.iter().map(|line| line.time - T).collect();
    // The post was told of by the late step.
    assert_eq!(times, [P, P + N, P + 2 * N, 3 * P + N, 3 * P + 2 * N]);
}

#[test]
fn a_trace_without_times() {
    let config = Config {
        transactions: true,
        ..Config::default()
    };
    let mut pair = Pair::with(config, 16, 8);
    post_put(&mut pair);
    let progress = pair.world.step();
    assert!(progress.worked && pair.world.poll(&mut pair.cq[0]).is_some());
    assert_eq!(pair.bytes(1, 0, 8), [5; 8]);
    assert_eq!(pair.world.engine.last_transactions().len(), 5);
    let untraced = Pair::new().world.engine.last_transactions();
    assert!(untraced.is_empty());
}
