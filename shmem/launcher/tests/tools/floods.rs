//! PEs that send to their launcher without end: nobody waits for them, and they end with the job.

use std::time::Duration;

use super::support::{Outcome, Running, children, oshrun, pe, runs, signal, wait_at_most};

const SECOND: Duration = Duration::from_secs(1);

/// The floods of PE 1, as scripts of bash: requests whose answers are read, and requests whose
/// answers are not.
const FLOODS: [&str; 2] = [
    "cat <&$PMI_FD >/dev/null & exec yes cmd=get key=x >&$PMI_FD",
    "exec yes cmd=get key=x >&$PMI_FD",
];

/// Starts a job of two PEs, of which PE 1 floods the launcher and PE 0 speaks to it after that has
/// begun, prints its number and waits.
fn flooded(flood: &str) -> (Running, Vec<u32>) {
    let script = format!(
        "if [ $PMI_RANK = 0 ]; then sleep 0.2; exec \"$0\" init finalize again finalize pid sleep:60000; fi; \
         echo $$; echo cmd=init >&$PMI_FD; {flood}"
    );
    let mut job = Running::start(oshrun("--timeout 20 -n 2 bash -c").arg(script).arg(pe()));
    let mut lines = job.lines(3);
    lines.retain(|line| !line.starts_with("listens"));
    let pids = lines.iter().map(|line| line.parse().expect("a number"));
    let pids = pids.collect();
    (job, pids)
}

/// Waits for the end of the job, which is to come soon and to leave nothing.
#[track_caller]
fn finish(job: Running, pids: &[u32]) -> Outcome {
    let start = std::time::Instant::now();
    let outcome = job.finish();
    assert!(start.elapsed() < 5 * SECOND, "{outcome:?}");
    let gone = || !pids.iter().any(|&pid| runs(pid));
    assert!(wait_at_most(5 * SECOND, gone), "{pids:?}");
    outcome
}

#[test]
fn requests_without_end_leave_others_and_signals_their_turns() {
    for flood in FLOODS {
        let (job, pids) = flooded(flood);
        signal("TERM", job.pid());
        finish(job, &pids).assert_one_line(143, &["SIGTERM"]);
    }
}

#[test]
fn kill_9_of_oshrun_ends_pes_that_flood_it() {
    for flood in FLOODS {
        let (job, mut pids) = flooded(flood);
        pids.extend(children(job.pid()));
        signal("KILL", job.pid());
        assert_eq!(finish(job, &pids).status, 137);
    }
}

#[test]
fn a_time_limit_holds_for_pes_that_flood() {
    let mut command = oshrun("--timeout 0.5 -n 1 bash -c");
    let job = Running::start(command.arg(format!("echo cmd=init >&$PMI_FD; {}", FLOODS[0])));
    finish(job, &[]).assert_one_line(124, &["longer than 0.5 s"]);
}

#[test]
fn what_is_no_message_ends_the_job_however_much_of_it_comes() {
    for (flood, part) in [
        ("exec yes nonsense >&$PMI_FD", "has no command"),
        ("exec cat /dev/zero >&$PMI_FD", "longer than 65536 bytes"),
    ] {
        let job = Running::start(oshrun("-n 3 bash -c").arg(flood));
        finish(job, &[]).assert_one_line(1, &["broke the protocol", part]);
    }
}

#[test]
fn what_a_pe_leaves_behind_is_not_heard() {
    let script = "if [ $PMI_RANK = 0 ]; then exec sleep 0.5; fi; \
                  (sleep 0.1; exec yes nonsense >&$PMI_FD 2>/dev/null) & exit 0";
    let job = Running::start(oshrun("-n 2 bash -c").arg(script));
    let outcome = finish(job, &[]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}
