use super::*;
use proptest::prelude::*;

fn answer(job: &mut Job, rank: usize, line: &str) -> String {
    match job.receive(rank, line.as_bytes()).as_slice() {
        [Effect::Reply { rank: to, line }] if *to == rank => line.trim_end().to_owned(),
        other => panic!("{line}: {other:?}"),
    }
}

fn started(size: usize) -> Job {
    let mut job = Job::new(size, "kvs");
    for rank in 0..size {
        assert!(answer(&mut job, rank, "cmd=init pmi_version=1 pmi_subversion=1").contains("rc=0"));
    }
    job
}

#[test]
fn questions_are_answered() {
    let mut job = started(3);
    assert!(answer(&mut job, 0, "cmd=get_maxes").contains("vallen_max=1024"));
    assert!(answer(&mut job, 0, "cmd=get_my_kvsname").contains("kvsname=kvs"));
    assert!(answer(&mut job, 0, "cmd=get_universe_size").contains("size=3"));
    assert!(
        answer(&mut job, 0, "cmd=get kvsname=kvs key=PMI_process_mapping")
            .contains("(vector,(0,1,3))")
    );
    assert!(answer(&mut job, 0, "cmd=get kvsname=kvs key=nothing").contains("rc=-1"));
    assert!(answer(&mut job, 1, "cmd=put kvsname=kvs key=a value=1").contains("rc=0"));
    assert!(answer(&mut job, 1, "cmd=put kvsname=kvs key=a value=2").contains("rc=0"));
    assert!(answer(&mut job, 2, "cmd=get kvsname=kvs key=a").ends_with("value=2"));
    let long = "v".repeat(VALLEN_MAX + 1);
    assert!(answer(&mut job, 1, &format!("cmd=put key=a value={long}")).contains("rc=-1"));
    assert!(answer(&mut job, 1, "cmd=finalize").starts_with("cmd=finalize_ack"));
}

#[test]
fn keys_and_values_may_be_as_long_as_is_told() {
    let mut job = started(1);
    for (key, value, taken) in [
        (KEYLEN_MAX, VALLEN_MAX, true),
        (KEYLEN_MAX + 1, 1, false),
        (1, VALLEN_MAX + 1, false),
    ] {
        let (key, value) = ("k".repeat(key), "v".repeat(value));
        let put = answer(&mut job, 0, &format!("cmd=put key={key} value={value}"));
        assert_eq!(put.contains("rc=0"), taken, "{put}");
        let got = answer(&mut job, 0, &format!("cmd=get key={key}"));
        assert_eq!(got.ends_with(&format!("value={value}")), taken, "{got}");
    }
}

#[test]
fn what_a_job_holds_is_bounded() {
    let mut job = started(1);
    let value = "v".repeat(VALLEN_MAX);
    let put = |job: &mut Job, key: usize| {
        answer(job, 0, &format!("cmd=put key=k{key} value={value}")).contains("rc=0")
    };
    let mut count = 0;
    while put(&mut job, count) {
        count += 1;
        assert!(count < 2 * ROOM_PER_PE / VALLEN_MAX);
    }
    assert!(count > ROOM_PER_PE / (VALLEN_MAX + KEYLEN_MAX));
    // A value in the place of another takes no more.
    assert!(put(&mut job, 0));
}

#[test]
fn ranks_are_told_their_nodes() {
    let mut job = Job::new(5, "kvs").on_nodes_of(2);
    assert!(answer(&mut job, 4, "cmd=init pmi_version=1 pmi_subversion=1").contains("rc=0"));
    let told = answer(&mut job, 4, "cmd=get kvsname=kvs key=PMI_process_mapping");
    assert!(told.ends_with("value=(vector,(0,2,2),(2,1,1))"), "{told}");
}

#[test]
fn a_newer_protocol_is_refused() {
    let mut job = Job::new(1, "kvs");
    assert!(answer(&mut job, 0, "cmd=init pmi_version=2 pmi_subversion=0").contains("rc=-1"));
}

#[test]
fn a_barrier_opens_when_all_are_in() {
    let mut job = started(3);
    for _ in 0..2 {
        assert!(job.receive(2, b"cmd=barrier_in").is_empty());
        assert!(job.receive(0, b"cmd=barrier_in").is_empty());
        let effects = job.receive(1, b"cmd=barrier_in");
        let ranks: Vec<_> = effects
            .iter()
            .map(|effect| match effect {
                Effect::Reply { rank, line } if line.starts_with("cmd=barrier_out") => *rank,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(ranks, [0, 1, 2]);
    }
}

#[test]
fn leaving_before_finalize_is_a_fault_whatever_the_status() {
    for (status, code) in [(0, 1), (5, 5)] {
        let mut job = started(2);
        let fault = job.depart(1, Departure::Exited(status)).unwrap();
        assert_eq!(
            fault,
            Fault::LeftEarly {
                rank: 1,
                status,
                others: true
            }
        );
        assert_eq!((fault.status(), job.status()), (code, code));
    }
}

#[test]
fn leaving_after_finalize_or_without_init_is_none() {
    let mut job = started(2);
    answer(&mut job, 0, "cmd=finalize");
    assert_eq!(job.depart(0, Departure::Exited(3)), None);
    answer(&mut job, 1, "cmd=finalize");
    assert_eq!(job.depart(1, Departure::Exited(4)), None);
    assert_eq!(job.status(), 3);

    let mut job = Job::new(2, "kvs");
    assert_eq!(job.depart(1, Departure::Exited(0)), None);
    assert_eq!(job.depart(0, Departure::Exited(0)), None);
    assert_eq!(job.status(), 0);
}

#[test]
fn a_signal_is_always_a_fault() {
    let mut job = Job::new(2, "kvs");
    let fault = job.depart(0, Departure::Killed(9)).unwrap();
    assert_eq!(
        fault,
        Fault::Killed {
            rank: 0,
            signal: 9,
            others: true
        }
    );
    assert_eq!(job.status(), 137);
}

#[test]
fn the_last_one_out_ends_nothing() {
    let mut job = started(1);
    assert_eq!(job.depart(0, Departure::Exited(7)), None);
    assert_eq!(job.status(), 7);
    let mut job = started(1);
    assert_eq!(
        job.depart(0, Departure::Exited(0)),
        Some(Fault::LeftEarly {
            rank: 0,
            status: 0,
            others: false
        })
    );
    assert_eq!(job.status(), 1);
}

#[test]
fn nobody_waits_for_the_departed() {
    // It leaves first, then the other comes to the barrier.
    let mut job = Job::new(2, "kvs");
    assert_eq!(job.depart(1, Departure::Exited(0)), None);
    answer(&mut job, 0, "cmd=init pmi_version=1");
    let gone = Fault::Awaited {
        rank: 1,
        departure: Departure::Exited(0),
        finalized: false,
    };
    assert_eq!(gone.status(), 1);
    assert_eq!(
        job.receive(0, b"cmd=barrier_in"),
        [Effect::Fault(gone.clone())]
    );

    // The other way round.
    let mut job = Job::new(2, "kvs");
    answer(&mut job, 0, "cmd=init pmi_version=1");
    assert!(job.receive(0, b"cmd=barrier_in").is_empty());
    assert_eq!(job.depart(1, Departure::Exited(0)), Some(gone));

    // It had finished, and the other began again.
    let mut job = started(2);
    answer(&mut job, 0, "cmd=finalize");
    answer(&mut job, 1, "cmd=finalize");
    assert_eq!(job.depart(1, Departure::Exited(2)), None);
    answer(&mut job, 0, "cmd=init pmi_version=1");
    let gone = Fault::Awaited {
        rank: 1,
        departure: Departure::Exited(2),
        finalized: true,
    };
    assert_eq!(job.receive(0, b"cmd=barrier_in"), [Effect::Fault(gone)]);
}

#[test]
fn abort_carries_its_code_and_reason() {
    let mut job = started(2);
    let abort = |code, message| {
        [Effect::Abort {
            rank: 1,
            code,
            message,
        }]
    };
    assert_eq!(job.receive(1, b"cmd=abort exitcode=3"), abort(3, None));
    assert_eq!(job.receive(1, b"cmd=abort"), abort(1, None));
    assert_eq!(
        job.receive(1, b"cmd=abort exitcode=3 message=1-6f0a6b"),
        abort(3, Some("o k".to_owned()))
    );
    assert_eq!(
        job.receive(1, b"cmd=abort exitcode=3 message=zz"),
        abort(3, None)
    );
}

#[test]
fn who_breaks_the_protocol_is_named() {
    for line in ["", "mcmd=spawn", "cmd=nonsense", "cmd=init"] {
        let mut job = started(2);
        let effects = job.receive(1, line.as_bytes());
        assert!(
            matches!(
                effects.as_slice(),
                [Effect::Fault(Fault::Garbage { rank: 1, .. })]
            ),
            "{line}: {effects:?}"
        );
    }
    let mut job = Job::new(1, "kvs");
    assert!(matches!(
        job.receive(0, b"cmd=barrier_in").as_slice(),
        [Effect::Fault(Fault::Garbage { .. })]
    ));
}

proptest! {
    #[test]
    fn any_lines_are_taken_without_panic(
        lines in proptest::collection::vec((0_usize..3, prop_oneof![
            "\\PC{0,30}",
            "cmd=(init|put|get|abort|barrier_in|finalize|get_maxes)( (key|value|exitcode|message|pmi_version)=[a-z0-9-]{0,9}){0,3}",
        ]), 0..40)
    ) {
        let mut job = Job::new(3, "kvs");
        for (rank, line) in &lines {
            for effect in job.receive(*rank, line.as_bytes()) {
                if let Effect::Reply { line, .. } = effect {
                    prop_assert!(line.ends_with('\n') && line.matches('\n').count() == 1);
                    prop_assert!(Message::parse(line.as_bytes()).is_ok());
                }
            }
        }
    }
}
