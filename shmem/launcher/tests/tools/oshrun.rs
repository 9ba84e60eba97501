//! oshrun with small programs: their output, their ends, and their leftovers.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{
    Folder, Running, children, is_stopped, launch, oshrun, pe, runs, signal, wait_at_most,
};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn plain_programs_run_n_times() {
    let outcome = launch("-n 3 PE say:hello");
    assert_eq!((outcome.status, outcome.lines()), (0, vec!["hello"; 3]));
    assert_eq!(launch("PE say:one").lines(), ["one"]);
    assert_eq!(launch("-np 2 -- PE say:two").lines(), ["two", "two"]);
}

#[test]
fn pes_meet_and_exchange() {
    for size in [1, 2, 7] {
        let outcome = launch(&format!("-n {size} PE init exchange barrier finalize"));
        let nodes = vec![0; size];
        let expected: Vec<_> = (0..size)
            .map(|rank| format!("{rank} of {size} on nodes {nodes:?}"))
            .collect();
        assert_eq!(outcome.lines(), expected, "{outcome:?}");
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    }
}

#[test]
fn a_pe_may_begin_again() {
    let outcome =
        launch("-n 2 PE init barrier finalize again exchange finalize again barrier finalize");
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(outcome.stdout.matches("listens: true").count(), 4);
}

#[test]
fn the_environment_is_passed_on() {
    let run = |line: &str| {
        let mut command = oshrun(line);
        command
            .env("OUTER", "kept")
            .env("PMI_PORT", "stale")
            .env("PMIX_RANK", "3")
            .env("LD_LIBRARY_PATH", "/mine");
        Running::start(&mut command).finish()
    };
    let outcome = run(
        "-n 2 -x INNER=a=b PE env:INNER env:OUTER env:PMI_SIZE env:PMI_RANK env:FARREACH_OSHRUN env:PMIX_RANK",
    );
    assert_eq!(
        outcome.lines(),
        [
            "", "", "0", "1", "1", "1", "2", "2", "a=b", "a=b", "kept", "kept"
        ]
    );
    let path = run("PE env:LD_LIBRARY_PATH").stdout;
    assert!(
        path.starts_with("/mine:/") && path.ends_with("/lib/farreach\n"),
        "{path}"
    );
    let path = run("-x LD_LIBRARY_PATH=/given PE env:LD_LIBRARY_PATH").stdout;
    assert!(
        path.starts_with("/given:/") && path.ends_with("/lib/farreach\n"),
        "{path}"
    );
}

#[test]
fn what_a_pe_starts_is_no_pe() {
    // It has the PE's variables and not its connection, says so, and the job goes on; without
    // PMI_FD it is a job of one.
    for (action, lines) in [
        ("start:init", vec!["start: exit status: 99"; 2]),
        (
            "alone:init+exchange+barrier+finalize",
            ["0 of 1 on nodes [0]", "alone: exit status: 0"]
                .repeat(2)
                .to_vec(),
        ),
    ] {
        let line = format!("-n 2 PE init barrier {action} barrier finalize");
        let outcome = launch(&line);
        let mut expected = lines.clone();
        expected.sort_unstable();
        assert_eq!((outcome.status, outcome.lines()), (0, expected));
        let told = outcome
            .stderr
            .matches("A program that a PE starts is no PE");
        let failed = lines[0].contains("99");
        assert_eq!(told.count(), if failed { 2 } else { 0 }, "{outcome:?}");
    }
}

#[test]
fn children_and_all_below_may_clean_up_on_sigterm() {
    // A shell that waits for another one, which cleans up; and PEs that are stopped, the first one
    // as well.
    let script = "trap 'echo cleaned; exit 0' TERM; echo 1; while :; do sleep 0.01; done";
    let stopped = "trap 'echo cleaned; exit 0' TERM; echo 1; kill -STOP $$; sleep 60";
    for (inner, first) in [
        (script, "sh -c \"$0\"; true"),
        (stopped, "exec sh -c \"$0\""),
    ] {
        let mut job = Running::start(oshrun("-n 2 sh -c").args([first, inner]));
        assert_eq!(job.numbers(2), [1, 1]);
        if inner == stopped {
            let runner = children(job.pid())[0];
            let all_stopped = || children(runner).iter().all(|&pid| is_stopped(pid));
            assert!(wait_at_most(SECOND, all_stopped));
        }
        signal("TERM", job.pid());
        let outcome = job.finish();
        assert_eq!(
            (outcome.status, outcome.stdout.as_str()),
            (143, "cleaned\ncleaned\n"),
            "{inner}: {outcome:?}"
        );
    }
}

#[test]
fn only_pe_0_reads_standard_input() {
    let file = super::support::Folder::new("stdin");
    let text = file.path().join("text");
    std::fs::write(&text, "words\n").unwrap();
    let outcome =
        Running::start(oshrun("-n 2 PE stdin").stdin(std::fs::File::open(text).unwrap())).finish();
    assert_eq!(outcome.lines(), ["0: ", "6: words"]);
}

#[test]
fn labels_mark_whole_lines() {
    let outcome = launch("-n 2 --label PE say:one complain:bad @1,say:two");
    assert_eq!(outcome.lines(), ["[0] one", "[1] one", "[1] two"]);
    let mut errors: Vec<_> = outcome.stderr.lines().collect();
    errors.sort_unstable();
    assert_eq!(errors, ["[0] bad", "[1] bad"]);

    // Many lines, from PEs that write at the same time, and a last one without its end.
    let script =
        "i=0; while [ $i -lt 5000 ]; do echo $PMI_RANK-$i-$PMI_RANK; i=$((i+1)); done; printf end";
    let mut command = oshrun("-l -n 4 sh -c");
    let outcome = Running::start(command.arg(script)).finish();
    assert_eq!(outcome.stdout.lines().count(), 20_004);
    for line in outcome.stdout.lines() {
        let (rank, text) = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("] "))
            .unwrap();
        let whole = text.starts_with(&format!("{rank}-")) && text.ends_with(&format!("-{rank}"));
        assert!(whole || text == "end", "{line}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_output_only() {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "\"$0\" -l -n 2 yes | head -n 1",
            env!("CARGO_BIN_EXE_oshrun"),
        ])
        .stdin(Stdio::null());
    let outcome = Running::start(&mut command).finish();
    assert!(
        outcome.stdout == "[0] y\n" || outcome.stdout == "[1] y\n",
        "{outcome:?}"
    );
    assert!(outcome.stderr.contains("SIGPIPE"), "{outcome:?}");
}

#[test]
fn the_status_is_that_of_the_first_failure() {
    assert_eq!(launch("-n 3 PE @1,exit:4 sleep:100 @2,exit:5").status, 4);
    assert_eq!(launch("-n 3 PE init barrier finalize @2,exit:6").status, 6);
    assert_eq!(launch("-n 1 PE init exit:3").status, 3);
    launch("-n 1 PE init exit:0").assert_one_line(
        1,
        &["PE 0 exited with status 0 before shmem_finalize or gasnet_exit"],
    );
}

#[test]
fn a_pe_that_never_initialises_may_leave() {
    let outcome = launch("-n 2 PE @1,exit:0 sleep:200 say:done");
    assert_eq!(
        (
            outcome.status,
            outcome.stdout.as_str(),
            outcome.stderr.as_str()
        ),
        (0, "done\n", "")
    );
    let outcome = launch("-n 2 PE init finalize @1,exit:3 sleep:200 say:done");
    assert_eq!(
        (
            outcome.status,
            outcome.stdout.as_str(),
            outcome.stderr.as_str()
        ),
        (3, "done\n", "")
    );
}

#[test]
fn a_pe_that_is_killed_ends_the_job() {
    for (name, number) in [("KILL", 9), ("ABRT", 6), ("TERM", 15)] {
        let outcome = launch(&format!(
            "-n 3 PE init barrier @1,kill:{name} sleep:60000 finalize"
        ));
        let signal = format!("was killed by signal {number} (SIG{name}); ending the job");
        outcome.assert_one_line(128 + number, &["PE 1 (pid ", &signal]);
        assert!(outcome.time < SECOND, "{outcome:?}");
    }
}

#[test]
fn a_pe_that_leaves_early_ends_the_job() {
    for (status, job) in [(0, 1), (5, 5)] {
        let outcome = launch(&format!(
            "-n 3 PE init barrier @2,exit:{status} barrier finalize"
        ));
        let line = format!(
            "PE 2 exited with status {status} before shmem_finalize or gasnet_exit \
             while others were still running"
        );
        outcome.assert_one_line(job, &[&line]);
        assert!(outcome.time < SECOND, "{outcome:?}");
    }
}

#[test]
fn a_pe_that_others_wait_for_ends_the_job() {
    for line in [
        "-n 3 PE @1,exit:0 init barrier finalize",
        "-n 3 PE @1,sleep:100 @1,exit:0 init barrier finalize",
    ] {
        let outcome = launch(line);
        outcome.assert_one_line(
            1,
            &[
                "PE 1 exited with status 0 without calling shmem_init or gasnet_init \
               while others wait",
            ],
        );
        assert!(outcome.time < SECOND, "{outcome:?}");
    }
    launch("-n 2 PE init barrier finalize @1,exit:0 again barrier")
        .assert_one_line(1, &["PE 1", "after shmem_finalize"]);
}

#[test]
fn abort_ends_all_with_its_status() {
    let outcome = launch("-n 3 PE init barrier @2,abort:7 sleep:60000");
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (7, ""),
        "{outcome:?}"
    );
    assert!(outcome.time < SECOND);
    launch("-n 3 PE init @0,abort:8:out:of_paper barrier sleep:60000")
        .assert_one_line(8, &["PE 0", "out:of_paper"]);
    for (code, status) in [(0, 0), (256, 1), (-512, 1), (259, 3), (-1, 255)] {
        let line = format!("-n 2 PE init @0,abort:{code} barrier");
        assert_eq!(launch(&line).status, status, "{code}");
    }
    // PEs that the library itself has ended may be seen to exit before the abort comes.
    let outcome = launch("-n 3 PE init barrier @1,exit:7 sleep:20 @2,abort:7 sleep:60000");
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (7, ""),
        "{outcome:?}"
    );
}

#[test]
fn a_pe_that_speaks_nonsense_ends_the_job() {
    let mut command = oshrun("-n 2 bash -c");
    let outcome =
        Running::start(command.arg("[ $PMI_RANK = 0 ] || echo nonsense >&$PMI_FD; exec sleep 60"))
            .finish();
    outcome.assert_one_line(1, &["PE 1 broke the protocol"]);
    let mut command = oshrun("-n 2 bash -c");
    let outcome = Running::start(
        command.arg("head -c 200000 /dev/zero 2>/dev/null >&$PMI_FD; exec sleep 60"),
    )
    .finish();
    outcome.assert_one_line(1, &["longer than"]);
}

#[test]
fn signals_end_everything() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let mut job = Running::start(&mut oshrun("-n 2 PE spawn:60 pid sleep:60000"));
        let pids = job.numbers(4);
        signal(name, job.pid());
        let outcome = job.finish();
        outcome.assert_one_line(
            128 + number,
            &[&format!("signal {number} (SIG{name}) came")],
        );
        assert!(outcome.time < 2 * SECOND, "{outcome:?}");
        assert!(!pids.iter().any(|&pid| runs(pid)), "{name}");
    }
}

#[test]
fn pes_that_ignore_sigterm_are_killed() {
    let script = "trap '' TERM; echo $$; while :; do sleep 60; done";
    let mut job = Running::start(oshrun("-n 2 sh -c").arg(script));
    let pids = job.numbers(2);
    signal("TERM", job.pid());
    let outcome = job.finish();
    assert_eq!(outcome.status, 143);
    assert!(outcome.time < SECOND, "{outcome:?}");
    assert!(!pids.iter().any(|&pid| runs(pid)));
}

#[test]
fn pes_may_clean_up_on_sigterm() {
    let script =
        "trap 'sleep 0.05; echo cleaned; exit 0' TERM; echo 1; while :; do sleep 0.01; done";
    let mut job = Running::start(oshrun("-n 2 sh -c").arg(script));
    assert_eq!(job.numbers(2), [1, 1]);
    signal("INT", job.pid());
    let outcome = job.finish();
    assert_eq!(
        (outcome.status, outcome.stdout.as_str()),
        (130, "cleaned\ncleaned\n")
    );
}

#[test]
fn what_pes_leave_in_the_background_is_ended() {
    let mut job = Running::start(oshrun("-n 2 sh -c").arg("sleep 60 >/dev/null 2>&1 & echo $!"));
    let pids = job.numbers(2);
    let outcome = job.finish();
    assert_eq!(outcome.status, 0);
    assert!(outcome.time < SECOND, "{outcome:?}");
    assert!(!pids.iter().any(|&pid| runs(pid)));
}

/// Kills one of oshrun's processes, or both, and looks for leftovers. PEs run below a shell, so
/// that the kernel alone would not end them.
fn kill_oshrun(which: &str) {
    for round in 0..5_u64 {
        let script = "\"$0\" pid sleep:60000; true";
        let mut job = Running::start(oshrun("-n 2 sh -c").arg(script).arg(pe()));
        let pids = job.numbers(2);
        let runner = children(job.pid());
        assert_eq!(runner.len(), 1);
        let shells = children(runner[0]);
        assert_eq!(shells.len(), 2);
        std::thread::sleep(Duration::from_millis(round * 7));
        let target = if which == "guard" {
            job.pid()
        } else {
            runner[0]
        };
        signal("KILL", target);
        let outcome = job.finish();
        assert_eq!(outcome.status, 137, "{outcome:?}");
        let mut all = pids;
        all.extend(runner.iter().chain(&shells));
        assert!(
            wait_at_most(2 * SECOND, || !all.iter().any(|&pid| runs(pid))),
            "{which}: {all:?}"
        );
        assert!(outcome.time < 2 * SECOND, "{outcome:?}");
        let silent = outcome.stderr.is_empty();
        assert!(
            if which == "guard" {
                silent
            } else {
                outcome.stderr.contains("was killed by signal 9")
            },
            "{outcome:?}"
        );
    }
}

#[test]
fn kill_9_of_the_guard_leaves_nothing() {
    kill_oshrun("guard");
}

#[test]
fn kill_9_of_the_runner_leaves_nothing() {
    kill_oshrun("runner");
}

#[test]
fn kill_9_of_both_takes_the_pes_along() {
    let mut job = Running::start(&mut oshrun("-n 3 PE init barrier pid sleep:60000"));
    let pids = job.numbers(3);
    let runner = children(job.pid())[0];
    let status = Command::new("kill")
        .args(["-KILL", &job.pid().to_string(), &runner.to_string()])
        .status();
    assert!(status.unwrap().success());
    // Its output ends when the last PE has ended.
    let outcome = job.finish();
    assert_eq!(outcome.status, 137);
    assert!(outcome.time < 2 * SECOND, "{outcome:?}");
    assert!(wait_at_most(2 * SECOND, || !pids
        .iter()
        .any(|&pid| runs(pid))));
}

#[test]
fn a_time_limit_ends_the_job() {
    let outcome = launch("--timeout 0.3 -n 2 sleep 60");
    outcome.assert_one_line(124, &["longer than 0.3 s"]);
    assert!(outcome.time < SECOND, "{outcome:?}");
    assert_eq!(
        launch("--timeout 20 -n 2 PE init barrier finalize").status,
        0
    );
}

#[test]
fn wrong_command_lines_are_explained() {
    for (line, status, part) in [
        ("-n 0 true", 2, "from 1"),
        ("-n x true", 2, "\"x\""),
        ("-n 2", 2, "no program"),
        ("--nonsense true", 2, "--nonsense"),
        ("-H a,-b true", 2, "\"-b\" cannot be a host's name"),
        (
            "--hostfile no-such-file true",
            2,
            "host file no-such-file: No such file",
        ),
        ("--bind socket true", 2, "core or none"),
        ("--bind core -n 60000 true", 2, "60000 PEs"),
        (
            "-n 2 no-such-program",
            127,
            "no-such-program: no such program",
        ),
        ("-n 2 ./no-such-program", 127, "no such file"),
        ("-n 2 no-such-source.c", 127, "no such file"),
        ("-n 2 /etc", 126, "folder"),
        ("-n 2 /etc/passwd", 126, "not executable"),
    ] {
        let outcome = launch(line);
        outcome.assert_one_line(status, &[part]);
        assert_eq!(outcome.stdout, "");
    }
    let folder = Folder::new("interpreter");
    let script = folder.path().join("script");
    for (line, name) in [
        ("#!/no/such/sh -e", "\"/no/such/sh\""),
        ("#! /bin/sh\r", "\"/bin/sh\\r\""),
    ] {
        let text = format!("{line}\necho ran\n");
        let copy = Command::new("sh")
            .args([
                "-c",
                "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"",
                "sh",
                &text,
            ])
            .arg(&script)
            .status();
        assert!(copy.unwrap().success());
        let outcome = launch(&format!("-n 2 {}", script.display()));
        outcome.assert_one_line(126, &["cannot be started: its interpreter", name]);
    }
    let outcome = launch("--help");
    assert!(
        outcome.status == 0
            && outcome.stdout.contains("Usage: oshrun")
            && outcome.stderr.is_empty()
    );
    assert!(launch("--version").stdout.starts_with("oshrun (Farreach) "));
}

#[test]
fn a_file_that_is_missing_for_the_job_is_named() {
    // /dev without anything in it. A user other than root needs a user namespace for that.
    let root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = Command::new("unshare");
    command.args(if root { &[][..] } else { &["--map-root-user"] });
    command.args(["--mount", "sh", "-c"]);
    command.arg("exec 3</dev/null; mount -t tmpfs none /dev; exec \"$@\" <&3");
    command.args(["sh", env!("CARGO_BIN_EXE_oshrun"), "-n", "2", "true"]);
    let outcome = Running::start(&mut command).finish();
    outcome.assert_one_line(1, &["cannot start PE 1 of 2: /dev/null: No such file"]);
}

#[test]
fn pes_are_bound_on_request_only() {
    let cpus = |line: &str| -> Vec<String> {
        let mut command = oshrun(line);
        let outcome = Running::start(command.arg("while read a b; do [ $a = Cpus_allowed_list: ] && echo $b; done </proc/self/status; true")).finish();
        assert_eq!(outcome.status, 0, "{outcome:?}");
        outcome.lines().into_iter().map(str::to_owned).collect()
    };
    let mine = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let mine = mine
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:\t"))
        .unwrap();
    assert_eq!(cpus("-n 3 sh -c"), [mine, mine, mine]);
    assert_eq!(cpus("--bind none sh -c"), [mine]);
    let count = std::thread::available_parallelism().unwrap().get().min(4);
    let mut bound = cpus(&format!("--bind core -n {count} sh -c"));
    assert!(
        bound.iter().all(|cpu| cpu.parse::<usize>().is_ok()),
        "{bound:?}"
    );
    bound.dedup();
    assert_eq!(bound.len(), count);
}

#[test]
fn an_inherited_ignored_sigchld_does_no_harm() {
    let mut command = Command::new("bash");
    command.args([
        "-c",
        "trap '' CHLD; exec \"$@\"",
        "bash",
        env!("CARGO_BIN_EXE_oshrun"),
        "-n",
        "2",
    ]);
    let outcome = Running::start(
        command
            .arg(pe())
            .args(["init", "barrier", "finalize", "exit:3"]),
    )
    .finish();
    assert_eq!(outcome.status, 3, "{outcome:?}");
}
