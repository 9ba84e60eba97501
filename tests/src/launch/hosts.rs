//! Jobs on several hosts (tests/hosts), and the hosts themselves.

use crate::case::{Build, Case, Invocation};
use crate::groups::programs::MPIRUN;
use crate::own::Own;
use crate::place::{self, Place};
use crate::procfs::{self, Process};
use crate::session::Session;
use crate::sys;
use farreach_hosts::{Lab, RSH, SWITCH_NAME};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) const HYDRA: &str = "/usr/bin/mpiexec.hydra";
/// Datagrams of a look at the network, and how long each of them is waited for.
const ASKED: u32 = 30;
const PATIENCE: Duration = Duration::from_millis(40);
const PORT: u16 = 7000;

/// The cases. Their argument is the compiled wireup.rs.
pub(crate) const OWN: &[Own] = &[
    Own {
        name: "hosts are apart, and connected",
        seconds: 60,
        run: apart_and_connected,
    },
    Own {
        name: "hosts end with the process that has started them",
        seconds: 60,
        run: end_with_their_owner,
    },
    Own {
        name: "hydra, 2 hosts",
        seconds: 60,
        run: |_, args| hydra(2, &args[0]),
    },
    Own {
        name: "hydra, 4 hosts",
        seconds: 60,
        run: |_, args| hydra(4, &args[0]),
    },
    Own {
        name: "mpirun, 2 hosts",
        seconds: 60,
        run: |_, args| mpirun(&args[0]),
    },
    Own {
        name: "hydra, 2 hosts, a PE asks for the end or is killed",
        seconds: 120,
        run: |_, args| hydra_ends(&args[0]),
    },
];

/// Returns the program that jobs on hosts run, and its build.
pub(super) fn wireup(session: &Session) -> (String, Arc<Build>) {
    let build = [
        "build",
        "--package",
        "farreach-tests",
        "--example",
        "wireup",
    ];
    let build = Build::new(session.cargo(&build), Duration::from_secs(300));
    let program = session.place.target.join("debug/examples/wireup");
    (program.display().to_string(), build)
}

/// Returns all cases; where there can be no hosts they are named, and the reason with them.
pub(super) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let (program, build) = wireup(session);
    let missing = farreach_hosts::missing();
    let mut cases = Vec::new();
    for own in OWN {
        if let Some(why) = &missing {
            let name = format!("{}: skipped, {why}", own.name);
            cases.push(Case::new(name, 10, Invocation::new("true")));
            continue;
        }
        let mut case = own.case(std::slice::from_ref(&program))?;
        case.needs.push(build.clone());
        case.leaves_nothing = true;
        cases.push(case);
    }
    Ok(cases)
}

/// Returns an error in words.
pub(super) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Checks that a lab has hosts that are apart and connected, beside another one.
fn apart_and_connected(_: &Place, args: &[String]) -> Result<(), String> {
    match args.get(1).map(String::as_str) {
        Some("answer") => return answer(),
        Some("ask") => return ask(&args[2]),
        _ => {}
    }
    let [lab, other] = [2, 1].map(Lab::start);
    let (lab, other) = (lab.map_err(text)?, other.map_err(text)?);
    are_apart(&lab, &other)?;
    commands_are_run(&lab)?;
    is_a_network(&lab, &args[0])?;

    lab.kill("h2").map_err(text)?;
    let (dead, alive) = (lab.script("h2", "true"), lab.script("h1", "hostname"));
    if dead.is_ok() || alive.is_err() {
        return Err(format!("after the death of h2: h2 {dead:?}, h1 {alive:?}"));
    }
    let first = lab.first() as sys::Pid;
    drop(lab);
    if Process::read(first).is_some() {
        return Err("the lab has not ended with its value".to_owned());
    }
    other.script("h1", "true").map(drop).map_err(text)
}

fn are_apart(lab: &Lab, other: &Lab) -> Result<(), String> {
    let look = r#"cat /proc/sys/kernel/hostname /proc/sys/kernel/random/boot_id /etc/machine-id
        ls -A /dev/shm /tmp; ls /proc | grep -c '^[0-9]'
        echo > /dev/shm/mark; echo > /tmp/mark"#;
    let mut seen = HashSet::new();
    for id in ["/proc/sys/kernel/random/boot_id", "/etc/machine-id"] {
        seen.extend(std::fs::read_to_string(id).map(|id| id.trim().to_owned()));
    }
    for (lab, host) in [(lab, "h1"), (lab, "h2"), (other, "h1")] {
        let said = lab.script(host, look).map_err(text)?;
        let lines: Vec<_> = said.lines().collect();
        let [name, boot, machine, folders @ .., processes] = lines.as_slice() else {
            return Err(said);
        };
        let is_new = seen.insert((*boot).to_owned()) & seen.insert((*machine).to_owned());
        // The first process, the shell, ls and grep.
        let is_alone = processes.parse::<u32>().is_ok_and(|count| count <= 5);
        let folders: Vec<_> = folders.iter().filter(|line| !line.is_empty()).collect();
        if *name != host || !is_new || !is_alone || folders.len() != 2 {
            return Err(format!("{host} is not apart:\n{said}"));
        }
    }
    Ok(())
}

fn commands_are_run(lab: &Lab) -> Result<(), String> {
    let status = lab.command("h1", "sh").args(["-c", "exit 7"]).status();
    let status = status.map_err(text)?.code();
    let mut shell = lab.command(SWITCH_NAME, RSH);
    let shell = shell.args([
        "-x",
        "h2",
        "cat",
        "/proc/sys/kernel/hostname;",
        "exit",
        "$((1+2))",
    ]);
    let said = shell.output().map_err(text)?;
    let name = String::from_utf8_lossy(&said.stdout);
    if status != Some(7) || name.trim() != "h2" || said.status.code() != Some(3) {
        return Err(format!("{status:?}, {said:?}"));
    }
    Ok(())
}

/// Checks the network of two hosts: whole, cut, lossy, silent, healed.
fn is_a_network(lab: &Lab, program: &str) -> Result<(), String> {
    let own = place::own_program()?;
    let run = |host: &str, words: &[&str]| {
        let mut command = lab.command(host, &own);
        let name = OWN[0].name;
        command.args(["case", name, program]).args(words);
        command
    };
    let mut server = run("h2", &["answer"]).spawn().map_err(text)?;
    let answered = || -> Result<u32, String> {
        let said = run("h1", &["ask", "h2"]).output().map_err(text)?;
        let count = String::from_utf8_lossy(&said.stdout).trim().parse();
        count.map_err(|_| format!("{said:?}"))
    };
    let whole = |_: &str| -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        // The server may not listen yet, or the hosts not know each other again.
        while answered()? != ASKED {
            if Instant::now() > deadline {
                return Err("datagrams are lost in a whole network".to_owned());
            }
        }
        Ok(())
    };
    whole("at first")?;
    lab.cut("h2").map_err(text)?;
    let after_cut = answered()?;
    lab.heal("h2").map_err(text)?;
    whole("healed")?;
    if after_cut != 0 {
        return Err(format!("{after_cut} answers from a host that is cut off"));
    }
    if let Some(why) = farreach_hosts::missing_for_drops() {
        println!("no packets are dropped: {why}");
    } else {
        lab.drop_packets("h1", 30).map_err(text)?;
        let lossy = answered()?;
        lab.drop_packets("h1", 100).map_err(text)?;
        let silent = answered()?;
        lab.heal("h1").map_err(text)?;
        whole("healed again")?;
        // Half of the pairs go through; all of 30 do by a chance of 1 to 10^9.
        if !(1..ASKED).contains(&lossy) || silent != 0 {
            return Err(format!("{lossy} answers at 30 %, {silent} at 100 %"));
        }
    }
    // Processes in a host end with it.
    lab.script("h2", "kill -KILL -1").unwrap_or_default();
    server.wait().map(drop).map_err(text)
}

/// Sends each datagram back.
fn answer() -> Result<(), String> {
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).map_err(text)?;
    loop {
        let mut byte = [0];
        let (_, from) = socket.recv_from(&mut byte).map_err(text)?;
        // It may be cut off.
        let _ = socket.send_to(&byte, from);
    }
}

/// Prints how many datagrams come back.
fn ask(host: &str) -> Result<(), String> {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).map_err(text)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(text)?;
    let mut count = 0;
    for number in 0..ASKED as u8 {
        let mut byte = [u8::MAX];
        let sent = socket.send_to(&[number], (host, PORT)).is_ok();
        // Those of others come too late.
        while sent && socket.recv_from(&mut byte).is_ok() {
            if byte == [number] {
                count += 1;
                break;
            }
        }
    }
    println!("{count}");
    Ok(())
}

/// Checks that a process that is killed takes its hosts along, and the processes in them.
fn end_with_their_owner(_: &Place, args: &[String]) -> Result<(), String> {
    if args.get(1).is_some_and(|word| word == "stay") {
        let lab = Lab::start(2).map_err(text)?;
        lab.command("h1", "sh")
            .args(["-c", "sleep 1000 & sleep 1000"])
            .spawn()
            .map_err(text)?;
        lab.command(SWITCH_NAME, "sleep")
            .arg("1000")
            .spawn()
            .map_err(text)?;
        println!("ready");
        std::thread::sleep(Duration::from_secs(50));
        return Ok(());
    }
    let mut owner = Command::new(place::own_program()?)
        .args(["case", OWN[1].name, &args[0], "stay"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let mut line = String::new();
    let stdout = owner.stdout.take().ok_or("no output")?;
    BufReader::new(stdout).read_line(&mut line).map_err(text)?;
    // The programs that it has started in the hosts may take a moment.
    let enough = Instant::now() + Duration::from_secs(10);
    let count = || procfs::descendants(owner.id() as sys::Pid).len();
    // unshare and the first process, of the switch and of two hosts; two commands in the hosts,
    // with the processes that wait for them.
    while count() < 12 && Instant::now() < enough {
        std::thread::sleep(Duration::from_millis(20));
    }
    let all = procfs::descendants(owner.id() as sys::Pid);
    if all.len() < 12 {
        return Err(format!("only {} processes: {all:?}", all.len()));
    }
    owner.kill().and_then(|()| owner.wait()).map_err(text)?;
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let lives = |process: &&Process| {
            Process::read(process.pid)
                .is_some_and(|now| !now.is_zombie() && now.command() == process.command())
        };
        let left: Vec<_> = all.iter().filter(lives).collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            let left: Vec<_> = left.iter().map(|process| process.command()).collect();
            return Err(format!("still there: {left:?}"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a job of two PEs a host by hydra; ends if hydra does not.
fn by_hydra(lab: &Lab, hosts: usize, program: &str, words: &[&str]) -> Result<Output, String> {
    let names: Vec<_> = (1..=hosts).map(|host| format!("h{host}")).collect();
    let mut command = lab.command(SWITCH_NAME, "timeout");
    command
        .args(["-k", "5", "30", HYDRA])
        .args(["-launcher", "rsh", "-launcher-exec", RSH])
        .args(["-hosts", &names.join(","), "-ppn", "2"])
        .args(["-n", &(2 * hosts).to_string(), program])
        .args(words);
    command.stdin(Stdio::null()).output().map_err(text)
}

/// Exchanges between PEs on several hosts.
fn hydra(hosts: usize, program: &str) -> Result<(), String> {
    let lab = Lab::start(hosts).map_err(text)?;
    let said = by_hydra(&lab, hosts, program, &["all"])?;
    let nodes: Vec<_> = (0..2 * hosts).map(|rank| rank / 2).collect();
    for rank in 0..2 * hosts {
        let size = 2 * hosts;
        let line = format!("PE {rank} of {size} on h{}, nodes {nodes:?},", rank / 2 + 1);
        expect(&said, true, &line)?;
    }
    let said = by_hydra(&lab, hosts, program, &["many", "400"])?;
    expect(&said, true, "has read 400")?;
    nothing_is_left(&lab, hosts, program)
}

/// Checks that a PE that asks for the end or is killed ends the job on all hosts. One that exits
/// ends, by hydra, its own host alone: the libraries ask for the end then.
fn hydra_ends(program: &str) -> Result<(), String> {
    let lab = Lab::start(2).map_err(text)?;
    for words in [&["abort", "7"][..], &["ask", "7"], &["kill"]] {
        let started = Instant::now();
        let said = by_hydra(&lab, 2, program, words)?;
        let took = started.elapsed();
        expect(&said, false, "").map_err(|error| format!("{words:?}: {error}"))?;
        if took > Duration::from_secs(10) {
            return Err(format!("{words:?}: over after {took:?}"));
        }
        nothing_is_left(&lab, 2, program).map_err(|error| format!("{words:?}: {error}"))?;
    }
    Ok(())
}

/// Exchanges between PEs on two hosts, whose PMIx servers are Open MPI's daemons there.
fn mpirun(program: &str) -> Result<(), String> {
    let lab = Lab::start(2).map_err(text)?;
    for (words, part) in [
        (&["all"][..], "PE 3 of 4 on h2, nodes [0, 0, 1, 1],"),
        (&["many", "200"], "PE 3 has read 200"),
    ] {
        let mut command = lab.command(SWITCH_NAME, "timeout");
        command
            .args(["-k", "5", "30"])
            .args(&MPIRUN[..2])
            .args([
                "--mca",
                "plm_rsh_agent",
                RSH,
                "--host",
                "h1:2,h2:2",
                "-n",
                "4",
            ])
            .arg(program)
            .args(words);
        let said = command.stdin(Stdio::null()).output().map_err(text)?;
        expect(&said, true, part)?;
    }
    nothing_is_left(&lab, 2, program)
}

/// Checks how a job has ended, and that its output contains a text.
pub(super) fn expect(said: &Output, success: bool, part: &str) -> Result<(), String> {
    let text = String::from_utf8_lossy(&said.stdout);
    if said.status.success() == success && text.contains(part) && !text.contains("is over") {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&said.stderr);
    Err(format!(
        "{}, expected {part:?}\n{text}{errors}",
        said.status
    ))
}

/// Waits until no host has a process of the program, or one of hydra.
pub(super) fn nothing_is_left(lab: &Lab, hosts: usize, program: &str) -> Result<(), String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    // Names of processes have 15 letters at most.
    let script =
        format!("cat /proc/[0-9]*/comm | grep -E '^({name}|hydra_pmi_proxy|orted|prted)' || true");
    let deadline = Instant::now() + Duration::from_secs(5);
    for host in (1..=hosts).map(|host| format!("h{host}")) {
        loop {
            let left = lab.script(&host, &script).map_err(text)?;
            if left.is_empty() {
                break;
            }
            if Instant::now() > deadline {
                return Err(format!("left on {host}: {left}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}
