//! oshrun with several hosts, all of which are this machine by different names.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use shmem_launcher::oshrun::scale;

use super::support::{
    Folder, Outcome, Running, children, launch, oshrun, pe, runs, signal, wait_at_most, wait_until,
};

/// Two hosts, the second with two slots.
const HOSTS: &str = "--host localhost,127.0.0.1:2";

/// Makes a launch agent that stays on this machine: it tells programs the host's name.
fn agent(folder: &Folder) -> PathBuf {
    let path = folder.path().join("agent");
    let script = "#!/bin/sh\nhost=$1\nshift\nexec env AGENTS_HOST=$host sh -c \"$*\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// Returns all processes below one.
fn below(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        found.extend(children(pid));
        next += 1;
    }
    found
}

/// Returns the command line of a process.
fn command(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Returns the processes below oshrun that are agents: each is two.
fn agents(oshrun: u32) -> Vec<u32> {
    let mut found = below(oshrun);
    found.retain(|&pid| command(pid).contains("--agent"));
    found
}

fn assert_gone(pids: &[u32]) {
    for &pid in pids {
        assert!(
            wait_at_most(Duration::from_secs(5), || !runs(pid)),
            "{pid}: {}",
            command(pid)
        );
    }
}

#[test]
fn pes_fill_slots_and_exchange() {
    for (hosts, nodes) in [
        (HOSTS, "[0, 1, 1]"),
        (&format!("-n 5 {HOSTS}"), "[0, 1, 1, 0, 1]"),
        (&format!("-n 2 {HOSTS}"), "[0, 1]"),
        ("--host localhost:3", "[0, 0, 0]"),
        ("-n 2 --host localhost:4,127.0.0.1", "[0, 0]"),
    ] {
        let outcome = launch(&format!(
            "{hosts} PE init exchange barrier exchange finalize"
        ));
        let size = nodes.split(',').count();
        let mut expected: Vec<_> = (0..size)
            .map(|rank| format!("{rank} of {size} on nodes {nodes}"))
            .collect();
        expected.extend(expected.clone());
        expected.sort_unstable();
        assert_eq!(outcome.lines(), expected, "{outcome:?}");
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    }
}

#[test]
fn a_start_is_as_it_is_simulated() {
    for (hosts, each, network) in [(2, 3, "dc"), (2, 6, "libfabric"), (1, 2, "dc")] {
        let shape = format!("{hosts},{each},{network}");
        let names = ["localhost", "127.0.0.1"].map(|name| format!("{name}:{each}"));
        let list = names[2 - hosts..].join(",");
        // As a single host `localhost` would be this machine, which has no agent.
        let folder = Folder::new("account");
        let mut command = oshrun(&format!("--host {list} PE scale:{shape}"));
        command
            .env("FARREACH_LAUNCH_AGENT", agent(&folder))
            .env("FARREACH_LAUNCH_ACCOUNT", "1");
        let outcome = Running::start(&mut command).finish();
        assert_eq!(outcome.status, 0, "{outcome:?}");
        let is_barriers = |line: &&str| line.starts_with("Entered ") || line.starts_with("Open ");
        let account = outcome.stderr.lines();
        let mut said: Vec<_> = account
            .filter_map(|line| line.strip_prefix("oshrun: account: "))
            .filter(is_barriers)
            .collect();
        let shape = scale::Shape::read(&shape).unwrap();
        let start = scale::simulate(&shape, &scale::Costs::default());
        let mut simulated = start.account();
        said.sort_unstable();
        simulated.sort_unstable();
        assert_eq!(said, simulated, "{outcome:?}");
        assert_eq!(said.len(), 2);
    }
}

#[test]
fn a_pe_may_begin_again() {
    let outcome = launch(&format!(
        "{HOSTS} PE init barrier finalize again exchange finalize"
    ));
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert_eq!(outcome.stdout.matches("listens: true").count(), 3);
}

#[test]
fn files_and_allocations_name_hosts() {
    let folder = Folder::new("hostfile");
    let file = folder.path().join("hosts");
    std::fs::write(&file, "# both\nlocalhost\n127.0.0.1 slots=2\n").unwrap();
    let outcome = launch(&format!("--hostfile {} PE env:PMI_SIZE", file.display()));
    assert_eq!(outcome.lines(), ["3", "3", "3"], "{outcome:?}");
    std::fs::write(&file, "localhost\n127.0.0.1\nlocalhost\n").unwrap();
    let pbs = Running::start(oshrun("-l PE init exchange finalize").env("PBS_NODEFILE", &file));
    let outcome = pbs.finish();
    assert!(
        outcome.stdout.contains("2 of 3 on nodes [0, 0, 1]"),
        "{outcome:?}"
    );
    // A Slurm allocation, by a srun that starts each node's agent here.
    let srun = "#!/bin/sh\nfor word; do case $word in --nodelist=*) list=${word#*=};; esac; done\n\
                while case $1 in srun | -*) ;; *) false;; esac; do shift; done\n\
                read secret\necho $list $* | grep -q ' --agent - ' || exit 9\n\
                for host in $(echo $list | tr , ' '); do\n\
                echo $secret | SLURMD_NODENAME=$host \"$@\" &\ndone\nwait\n";
    let path = folder.path().join("srun");
    std::fs::write(&path, srun).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let others = std::env::var("PATH").unwrap_or_default();
    let slurm = Running::start(
        oshrun("-l PE init exchange finalize env:SLURMD_NODENAME")
            .env("PATH", format!("{}:{others}", folder.path().display()))
            .env("SLURM_JOB_ID", "1")
            .env("SLURM_JOB_NODELIST", "n[1-2]")
            .env("SLURM_TASKS_PER_NODE", "1(x2)"),
    );
    let outcome = slurm.finish();
    let expected = [
        "[0] 0 of 2 on nodes [0, 1]",
        "[0] n1",
        "[1] 1 of 2 on nodes [0, 1]",
        "[1] n2",
    ];
    assert_eq!(outcome.lines(), expected, "{outcome:?}");
}

#[test]
fn a_launch_agent_starts_programs_on_all_hosts() {
    let folder = Folder::new("agent");
    let agent = agent(&folder);
    let variables = "env:AGENTS_HOST env:GIVEN env:OUTER env:FI_OFI_RXM_MSG_RX_SIZE";
    let line = format!("{HOSTS} -x GIVEN=word --label PE {variables}");
    let mut command = oshrun(&line);
    // Variables of PEs are oshrun's own, not the agent's.
    command
        .env("FARREACH_LAUNCH_AGENT", &agent)
        .env("OUTER", "kept")
        .env_remove("FI_OFI_RXM_MSG_RX_SIZE");
    let outcome = Running::start(&mut command).finish();
    let expected: Vec<_> = ["", "512", "kept", "word"]
        .iter()
        .map(|value| format!("[0] {value}"))
        .collect();
    assert_eq!(outcome.lines()[..4], expected, "{outcome:?}");
    assert_eq!((outcome.status, outcome.stdout.lines().count()), (0, 12));
    // One that names the host: it runs for each, and a blank in a folder's name does not matter.
    let there = folder.path().join("a place");
    std::fs::create_dir_all(there.join("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_oshrun"), there.join("bin/oshrun")).unwrap();
    let mut command = oshrun(HOSTS);
    command
        .arg("--launch-agent")
        .arg(&agent)
        .arg("--prefix")
        .arg(&there);
    let program = "tr '\\0' ' ' </proc/$PPID/cmdline; echo";
    let outcome = Running::start(command.args(["sh", "-c", program])).finish();
    let by = format!("{} --agent 127.0.0.1 ", there.join("bin/oshrun").display());
    assert_eq!(outcome.stdout.matches(&by).count(), 2, "{outcome:?}");
}

#[test]
fn the_working_directory_is_the_same() {
    let folder = Folder::new("directory");
    let mut command = oshrun(HOSTS);
    let outcome = Running::start(command.arg("pwd").current_dir(folder.path())).finish();
    let path = folder.path().canonicalize().unwrap();
    assert_eq!(outcome.lines(), [path.to_str().unwrap(); 3], "{outcome:?}");
}

#[test]
fn output_comes_out_whole_and_all_of_it() {
    let outcome = launch(&format!("{HOSTS} PE lines:20000"));
    assert_eq!(
        (outcome.status, outcome.stdout.lines().count()),
        (0, 60_000)
    );
    let whole = |line: &str| line.split(' ').next() == line.get(line.len() - 1..);
    assert!(outcome.stdout.lines().all(whole));
    // Lines without an end stay apart from others.
    let mut command = oshrun(HOSTS);
    let outcome = Running::start(command.args(["printf", "one\\ntwo"])).finish();
    assert_eq!(outcome.stdout, "one\none\none\ntwotwotwo", "{outcome:?}");
    let mut command = oshrun(&format!("{HOSTS} -l"));
    let outcome = Running::start(command.args(["printf", "one\\ntwo"])).finish();
    let expected = [
        "[0] one", "[0] two", "[1] one", "[1] two", "[2] one", "[2] two",
    ];
    assert_eq!(outcome.lines(), expected);
    // stderr is stderr, and bytes come as they are.
    let outcome = launch(&format!("{HOSTS} --output direct PE say:a complain:b"));
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("a\na\na\n", "b\nb\nb\n")
    );
}

#[test]
fn a_reader_that_goes_away_ends_writers() {
    let mut command = Command::new("sh");
    let script = "$0 --host localhost,127.0.0.1:2 yes | head -n 3; echo done";
    let outcome =
        Running::start(command.args(["-c", script, env!("CARGO_BIN_EXE_oshrun")])).finish();
    assert_eq!(outcome.stdout, "y\ny\ny\ndone\n", "{outcome:?}");
}

#[test]
fn a_slow_reader_stops_writers_and_not_the_job() {
    // PE 0 fills stdout, which nobody reads; PE 2 ends the job on the other host.
    let mut command = oshrun(&format!(
        "{HOSTS} PE init @0,lines:100000 @2,sleep:1500 @2,abort:7 sleep:60000"
    ));
    let mut running = command
        .env("FARREACH_HOST_TIMEOUT", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(wait_until(|| running.try_wait().unwrap().is_some()));
    assert_eq!(running.wait().unwrap().code(), Some(7));
}

#[test]
fn pe_0_reads_the_input_and_no_other() {
    let mut text = String::new();
    for number in 0..100_000 {
        let _ = writeln!(text, "line {number}");
    }
    let mut child = oshrun(&format!("{HOSTS} PE stdin"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = text.clone();
    let writer = std::thread::spawn(move || stdin.write_all(bytes.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(&format!("{}: line 0\n", text.len())));
    assert!(stdout.contains("\nline 99999\n"));
    assert_eq!(stdout.matches("0: \n").count(), 2);
    // One that does not read does not keep the job from ending.
    let mut child = oshrun(&format!("{HOSTS} PE init finalize"))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    assert!(wait_until(|| child.try_wait().unwrap().is_some()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(stdin);
}

#[test]
fn ends_are_those_of_one_machine() {
    for (line, status, parts) in [
        (
            "PE init @1,abort:3:why barrier",
            3,
            &["PE 1 on host 127.0.0.1 ended the job with status 3: why"][..],
        ),
        (
            "PE init @1,kill:KILL barrier",
            137,
            &["PE 1 on host 127.0.0.1 (pid ", "SIGKILL"],
        ),
        (
            "PE init @0,kill:ABRT barrier",
            134,
            &["PE 0 on host localhost (pid ", "SIGABRT"],
        ),
        (
            "PE init @2,exit:5 barrier",
            5,
            &["PE 2 on host 127.0.0.1 exited with status 5 before"],
        ),
        (
            "PE init @2,exit:0 barrier",
            1,
            &["PE 2 on host 127.0.0.1 exited with status 0 before"],
        ),
        (
            "PE @1,exit:0 init barrier",
            1,
            &[
                "PE 1 on host 127.0.0.1 exited with status 0 without",
                "wait for it",
            ],
        ),
        (
            "PE @0,exit:0 @1,sleep:300 init barrier",
            1,
            &["PE 0 on host localhost exited with status 0 without"],
        ),
        ("--timeout 1 PE init sleep:9000", 124, &["longer than 1 s"]),
        (
            "./no-such-program",
            127,
            &["host ", "./no-such-program: no such file"],
        ),
        (
            "/etc/passwd",
            126,
            &["host ", "/etc/passwd is not executable"],
        ),
        ("--ppn 2 PE", 2, &["--ppn pretends nodes on one machine"]),
        (
            "--fabric softhca PE",
            2,
            &["--fabric softhca is a device of one machine"],
        ),
        ("program.c", 2, &["compile it with oshcc first"]),
        (
            "--launch-agent /no/such PE",
            1,
            &["/no/such cannot be started"],
        ),
        ("--launch-agent= PE", 2, &["--launch-agent takes a command"]),
    ] {
        let outcome = launch(&format!("{HOSTS} {line}"));
        outcome.assert_one_line(status, parts);
    }
    for (line, status) in [("PE init finalize @1,exit:4", 4), ("PE exit:6", 6)] {
        assert_eq!(launch(&format!("{HOSTS} {line}")).status, status, "{line}");
    }
    let wrong = Running::start(oshrun(&format!("{HOSTS} PE")).env("FARREACH_HOST_TIMEOUT", "x"));
    wrong
        .finish()
        .assert_one_line(2, &["FARREACH_HOST_TIMEOUT is \"x\""]);
}

#[test]
fn an_agent_that_ends_at_once_is_named() {
    // Both do: the one that is seen first is named.
    let outcome = launch(&format!("{HOSTS} --launch-agent false PE"));
    let is_named = ["localhost", "127.0.0.1"].iter().any(|host| {
        let why = "no agent was started: false exited with status 1";
        outcome
            .stderr
            .contains(&format!("oshrun: host {host}: {why}"))
    });
    assert!(is_named, "{outcome:?}");
    outcome.assert_one_line(1, &["no agent was started"]);
}

#[test]
fn what_a_host_says_last_is_told() {
    let folder = Folder::new("last-words");
    let path = folder.path().join("agent");
    let script = "#!/bin/sh\necho noise\necho \"$1: no route\" >&2\nexit 255\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let line = format!("--host far --launch-agent {} PE", path.display());
    let told = "host far: no agent was started: agent exited with status 255: far: no route";
    launch(&line).assert_one_line(1, &[told]);
    // oshrun is not there.
    let agent = agent(&folder);
    let line = format!(
        "--host far --launch-agent {} --prefix /no/such PE",
        agent.display()
    );
    launch(&line).assert_one_line(
        1,
        &["host far", "status 127", "/no/such/bin/oshrun", "--prefix"],
    );
    // oshrun cannot be reached.
    let line = format!("--host far --launch-agent {} PE", agent.display());
    let mut command = oshrun(&line);
    let outcome =
        Running::start(command.env("FARREACH_HOST_ADDRESS", "no.such.host.invalid")).finish();
    outcome.assert_one_line(
        1,
        &["host far", "no.such.host.invalid", "FARREACH_HOST_ADDRESS"],
    );
}

/// Starts a job that stays; returns it and its PEs.
fn staying(line: &str) -> (Running, Vec<u32>) {
    let mut job = Running::start(oshrun(line).env("FARREACH_HOST_TIMEOUT", "2"));
    let pes = job.numbers(3);
    assert!(pes.iter().all(|&pid| runs(pid)));
    (job, pes)
}

#[test]
fn signals_end_all_hosts() {
    for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (job, pes) = staying(&format!("{HOSTS} PE init pid sleep:60000"));
        let all = below(job.pid());
        signal(name, job.pid());
        let outcome: Outcome = job.finish();
        outcome.assert_one_line(status, &[&format!("SIG{name}"), "came"]);
        assert_gone(&pes);
        assert_gone(&all);
    }
    // PEs that do not mind are killed.
    let script = "trap '' TERM; echo $$; while :; do sleep 1; done";
    let mut command = oshrun(HOSTS);
    let mut job = Running::start(command.args(["sh", "-c", script]));
    let pes = job.numbers(3);
    signal("TERM", job.pid());
    assert_eq!(job.finish().status, 143);
    assert_gone(&pes);
}

#[test]
fn nothing_outlives_oshrun_or_an_agent() {
    // oshrun's two processes, and each of an agent's.
    for victim in 0..6 {
        let (job, pes) = staying(&format!("{HOSTS} PE init pid spawn:60 sleep:60000"));
        let all = below(job.pid());
        let agents = agents(job.pid());
        assert_eq!(agents.len(), 4, "{all:?}");
        let runner = children(job.pid())[0];
        let victims = [&[job.pid(), runner][..], &agents].concat();
        signal("KILL", victims[victim]);
        let outcome = job.finish();
        if victim >= 2 {
            assert_eq!(outcome.status, 1, "{victim}: {outcome:?}");
            let of = |host: &str| {
                outcome.stderr.contains(&format!("host {host} is lost"))
                    || outcome.stderr.contains(&format!("host {host}: its agent"))
            };
            let named = of("localhost") || of("127.0.0.1");
            assert!(
                named && outcome.stderr.lines().count() == 1,
                "{victim}: {outcome:?}"
            );
        }
        assert_gone(&pes);
        assert_gone(&all);
    }
}

#[test]
fn an_agent_that_is_silent_is_given_up() {
    let (job, pes) = staying(&format!("{HOSTS} PE init pid sleep:60000"));
    let agents = agents(job.pid());
    // The one that works is the child of the one that watches.
    let of = |host: &str| {
        let mut found = agents
            .iter()
            .copied()
            .filter(|&pid| command(pid).contains(host));
        found
            .find(|&pid| children(pid).iter().all(|&child| !agents.contains(&child)))
            .unwrap()
    };
    let stopped = of("--agent 127.0.0.1");
    signal("STOP", stopped);
    let outcome = job.finish();
    outcome.assert_one_line(
        1,
        &["host 127.0.0.1 has been silent for 2 s; ending the job"],
    );
    assert!(outcome.time < Duration::from_secs(8), "{outcome:?}");
    // It finds that oshrun has gone, or is killed with it.
    if runs(stopped) {
        signal("CONT", stopped);
    }
    assert_gone(&pes);
}

#[test]
fn a_stranger_changes_nothing() {
    let folder = Folder::new("stranger");
    // Before the agent itself connects, somebody else does, and says all kinds of things.
    let path = folder.path().join("agent");
    let script = "#!/bin/sh\necho \"$5\" >\"$(dirname \"$0\")/port.new\"\n\
                  mv \"$(dirname \"$0\")/port.new\" \"$(dirname \"$0\")/port\"\n\
                  while test ! -e \"$(dirname \"$0\")/go\"; do sleep 0.01; done\n\
                  shift\nexec sh -c \"$*\"\n";
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let line = format!(
        "-n 2 --host localhost:2 --launch-agent {} PE init exchange finalize",
        path.display()
    );
    let job = Running::start(&mut oshrun(&line));
    let port = folder.path().join("port");
    assert!(wait_until(|| port.exists()));
    let port: u16 = std::fs::read_to_string(port)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let says: [&[u8]; 5] = [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xff; 3000],
        // A frame that says that all is over, and one that is an agent's first.
        &[1, 0, 0, 0, 40],
        b"\x20\0\0\0\x01\x01\0\x09\0\0\0localhost0123456789abcdef",
    ];
    let mut strangers = Vec::new();
    for say in says {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = socket.write_all(say);
        strangers.push(socket);
    }
    std::fs::write(folder.path().join("go"), "").unwrap();
    let outcome = job.finish();
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{outcome:?}"
    );
    assert_eq!(outcome.stdout.lines().count(), 2);
    // The secret is neither on a command line nor in an environment.
    let (job, _) = staying(&format!("{HOSTS} PE init pid sleep:60000"));
    for pid in below(job.pid()) {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let text = command(pid) + &String::from_utf8_lossy(&environment);
        let long =
            |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(!text.split([' ', '\0', '=']).any(long), "{pid}: {text}");
    }
    drop(job);
    assert!(pe().is_file());
}
