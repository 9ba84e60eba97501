use super::host::ROOM_PER_PE;
use super::*;
use crate::wire::{KEYLEN_MAX, Message, VALLEN_MAX};
use proptest::prelude::*;

/// A job and its hosts, without a network between them.
struct Whole {
    job: Job,
    hosts: Vec<Host>,
    /// The host of every PE.
    places: Vec<u32>,
    /// Messages from hosts to the job, and back.
    messages: (usize, usize),
}

impl Whole {
    fn new(size: usize, kvsname: &str) -> Self {
        Self::on(&vec![0; size], kvsname)
    }

    fn on(places: &[u32], kvsname: &str) -> Self {
        let count = places.iter().max().map_or(0, |&last| last + 1);
        let hosts: Vec<_> = (0..count)
            .map(|host| Host::of(places, host, kvsname))
            .collect();
        Whole {
            job: Job::new(places.len(), hosts.len()),
            hosts,
            places: places.to_vec(),
            messages: (0, 0),
        }
    }

    fn on_nodes_of(mut self, each: usize) -> Self {
        let hosts = self.hosts.into_iter();
        self.hosts = hosts.map(|host| host.on_nodes_of(each)).collect();
        self
    }

    fn receive(&mut self, rank: usize, line: &[u8]) -> Vec<Effect> {
        let host = self.places[rank] as usize;
        let mut effects = Vec::new();
        for effect in self.hosts[host].receive(rank, line) {
            let Effect::Entered { values } = effect else {
                effects.push(effect);
                continue;
            };
            self.messages.0 += 1;
            if let Some(values) = self.job.enter(host, values) {
                self.messages.1 += self.hosts.len();
                let open = |host: &mut Host| host.open(values.clone());
                effects.extend(self.hosts.iter_mut().flat_map(open));
            }
        }
        effects
    }

    fn depart(&mut self, rank: usize, departure: Departure) -> Option<Fault> {
        let left = self.hosts[self.places[rank] as usize].depart(rank, departure);
        let fault = self.job.depart(left);
        let awaited = self.job.first_left().and_then(|left| {
            let mut hosts = self.hosts.iter_mut();
            hosts.find_map(|host| host.leave(left))
        });
        fault.or(awaited)
    }

    fn status(&self) -> i32 {
        self.job.status()
    }
}

fn answer(job: &mut Whole, rank: usize, line: &str) -> String {
    match job.receive(rank, line.as_bytes()).as_slice() {
        [Effect::Reply { rank: to, line }] if *to == rank => line.trim_end().to_owned(),
        other => panic!("{line}: {other:?}"),
    }
}

fn started(size: usize) -> Whole {
    let mut job = Whole::new(size, "kvs");
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
    let put = |job: &mut Whole, key: usize| {
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
    let mut job = Whole::new(5, "kvs").on_nodes_of(2);
    assert!(answer(&mut job, 4, "cmd=init pmi_version=1 pmi_subversion=1").contains("rc=0"));
    let told = answer(&mut job, 4, "cmd=get kvsname=kvs key=PMI_process_mapping");
    assert!(told.ends_with("value=(vector,(0,2,2),(2,1,1))"), "{told}");
}

#[test]
fn a_newer_protocol_is_refused() {
    let mut job = Whole::new(1, "kvs");
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
fn an_exchange_is_a_message_up_and_one_down_for_each_host() {
    let places = [0, 0, 1, 1, 2, 0];
    let mut job = Whole::on(&places, "kvs");
    for rank in 0..places.len() {
        answer(&mut job, rank, "cmd=init pmi_version=1");
    }
    for round in 0..3 {
        for rank in 0..places.len() {
            let put = format!("cmd=put key=key-{rank} value={round}-{rank}");
            assert!(answer(&mut job, rank, &put).contains("rc=0"));
        }
        let before = job.messages;
        let last = places.len() - 1;
        for rank in 0..last {
            assert!(job.receive(rank, b"cmd=barrier_in").is_empty());
        }
        assert_eq!(job.receive(last, b"cmd=barrier_in").len(), places.len());
        assert_eq!(
            (job.messages.0 - before.0, job.messages.1 - before.1),
            (3, 3)
        );
        for rank in 0..places.len() {
            for other in 0..places.len() {
                let got = answer(&mut job, rank, &format!("cmd=get key=key-{other}"));
                assert!(got.ends_with(&format!("value={round}-{other}")), "{got}");
            }
        }
    }
    let told = answer(&mut job, 4, "cmd=get key=PMI_process_mapping");
    assert!(told.ends_with("(vector,(0,2,2),(2,1,1),(0,1,1))"), "{told}");
}

#[test]
fn nobody_waits_for_the_departed_of_another_host() {
    let gone = Fault::Awaited {
        rank: 1,
        departure: Departure::Exited(0),
        finalized: false,
    };
    let mut job = Whole::on(&[0, 1], "kvs");
    assert_eq!(job.depart(1, Departure::Exited(0)), None);
    answer(&mut job, 0, "cmd=init pmi_version=1");
    let entered = job.receive(0, b"cmd=barrier_in");
    assert_eq!(entered, [Effect::Fault(gone.clone())]);
    // The other way round.
    let mut job = Whole::on(&[0, 1], "kvs");
    answer(&mut job, 0, "cmd=init pmi_version=1");
    assert!(job.receive(0, b"cmd=barrier_in").is_empty());
    assert_eq!(job.depart(1, Departure::Exited(0)), Some(gone));
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

    let mut job = Whole::new(2, "kvs");
    assert_eq!(job.depart(1, Departure::Exited(0)), None);
    assert_eq!(job.depart(0, Departure::Exited(0)), None);
    assert_eq!(job.status(), 0);
}

#[test]
fn two_libraries_of_a_pe_share_its_connection() {
    let mut job = started(2);
    for rank in 0..2 {
        // MPICH's PMI-1, beside this project's own.
        assert!(answer(&mut job, rank, "cmd=init pmi_version=1 pmi_subversion=1").contains("rc=0"));
        assert!(answer(&mut job, rank, "cmd=get_my_kvsname").ends_with("kvsname=kvs"));
        let put = format!("cmd=put kvsname=kvs key=P{rank} value={rank}");
        assert!(answer(&mut job, rank, &put).contains("rc=0"));
    }
    for _ in 0..2 {
        assert!(job.receive(0, b"cmd=barrier_in").is_empty());
        assert_eq!(job.receive(1, b"cmd=barrier_in").len(), 2);
        assert!(answer(&mut job, 0, "cmd=get kvsname=kvs key=P1").ends_with("value=1"));
        // One of the two is done, and the other goes on.
        assert!(answer(&mut job, 0, "cmd=finalize").starts_with("cmd=finalize_ack"));
        assert!(answer(&mut job, 0, "cmd=init pmi_version=1").contains("rc=0"));
    }
    for _ in 0..2 {
        assert!(answer(&mut job, 0, "cmd=finalize").starts_with("cmd=finalize_ack"));
    }
    let once_more = job.receive(0, b"cmd=finalize");
    assert!(matches!(
        once_more.as_slice(),
        [Effect::Fault(Fault::Garbage { rank: 0, .. })]
    ));
}

#[test]
fn an_end_is_as_orderly_as_the_last_word() {
    // The requests after which PE 0 exits, and the statuses of 0 and 5 that are faults then.
    for (words, faults) in [
        (&["init"][..], [true, true]),
        (&["init", "init"], [true, true]),
        (&["init", "finalize", "init"], [true, true]),
        (&["init", "init", "finalize", "init"], [true, true]),
        (&["init", "init", "finalize"], [false, true]),
        (&["init", "init", "finalize", "finalize"], [false, false]),
        (&["init", "finalize", "init", "finalize"], [false, false]),
    ] {
        for (status, is_fault) in [0, 5].into_iter().zip(faults) {
            let mut job = Whole::new(2, "kvs");
            for word in words {
                answer(&mut job, 0, &format!("cmd={word}"));
            }
            let (rank, others) = (0, true);
            let expected = is_fault.then_some(Fault::LeftEarly {
                rank,
                status,
                others,
            });
            let fault = job.depart(0, Departure::Exited(status));
            assert_eq!(fault, expected, "{words:?}, {status}");
        }
    }
}

#[test]
fn a_signal_is_always_a_fault() {
    let mut job = Whole::new(2, "kvs");
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
    let mut job = Whole::new(2, "kvs");
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
    let mut job = Whole::new(2, "kvs");
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
    for line in ["", "mcmd=spawn", "cmd=nonsense"] {
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
    let mut job = Whole::new(1, "kvs");
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
        let mut job = Whole::new(3, "kvs");
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
