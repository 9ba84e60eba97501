//! oshrun on several hosts (tests/hosts): jobs, and how they end when PEs, agents, oshrun or hosts do.

use super::Program;
use super::hosts::{expect, nothing_is_left, text, wireup};
use crate::case::{Case, Invocation};
use crate::own::Own;
use crate::place::Place;
use crate::procfs::{self, Process};
use crate::session::Session;
use crate::sys;
use farreach_hosts::{Lab, RSH, SWITCH_NAME};
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A job that comes to harm: the place of its program in the cases' arguments, its words, the times of harm where no argument says
/// another number, and the latest moment of harm after the start: PEs are up and at their work well before.
#[derive(Debug)]
struct Victim {
    program: usize,
    words: &'static [&'static str],
    rounds: u32,
    rounds_of_hosts: u32,
    latest_us: u64,
}

/// PEs without a library, that wait.
const PLAIN: Victim = Victim {
    program: 0,
    words: &["wait", "/tmp/gone"],
    rounds: 10,
    rounds_of_hosts: 3,
    latest_us: 400_000,
};
/// PEs of OpenSHMEM, with operations of all kinds under way between the hosts.
const OPENSHMEM: Victim = Victim {
    program: 1,
    words: &["traffic"],
    rounds: 5,
    rounds_of_hosts: 2,
    latest_us: 1_500_000,
};

/// Time in which a job has to be over.
const OVER_WITHIN: Duration = Duration::from_secs(10);

/// The cases. Their arguments are the compiled wireup.rs, the compiled job.c and, by hand, a number of rounds.
pub(crate) const OWN: &[Own] = &[
    Own {
        name: "oshrun, 2 hosts",
        seconds: 60,
        run: |place, args| exchanges(place, 2, &args[0]),
    },
    Own {
        name: "oshrun, 4 hosts",
        seconds: 60,
        run: |place, args| exchanges(place, 4, &args[0]),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM",
        seconds: 60,
        run: openshmem,
    },
    Own {
        name: "oshrun, 2 hosts, ends of all kinds",
        seconds: 120,
        run: ends,
    },
    Own {
        name: "oshrun, 2 hosts, a PE is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &PLAIN, Harm::Pe),
    },
    Own {
        name: "oshrun, 2 hosts, an agent is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &PLAIN, Harm::Agent),
    },
    Own {
        name: "oshrun, 2 hosts, oshrun is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &PLAIN, Harm::Oshrun),
    },
    Own {
        name: "oshrun, 2 hosts, one is cut off",
        seconds: 900,
        run: |place, args| harm(place, args, &PLAIN, Harm::Cut),
    },
    Own {
        name: "oshrun, 2 hosts, one is killed",
        seconds: 900,
        run: |place, args| harm(place, args, &PLAIN, Harm::Host),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM, a PE is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &OPENSHMEM, Harm::Pe),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM, an agent is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &OPENSHMEM, Harm::Agent),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM, oshrun is killed",
        seconds: 600,
        run: |place, args| harm(place, args, &OPENSHMEM, Harm::Oshrun),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM, one is cut off",
        seconds: 900,
        run: |place, args| harm(place, args, &OPENSHMEM, Harm::Cut),
    },
    Own {
        name: "oshrun, 2 hosts, OpenSHMEM, one is killed",
        seconds: 900,
        run: |place, args| harm(place, args, &OPENSHMEM, Harm::Host),
    },
    Own {
        name: "hydra, 2 hosts, OpenSHMEM, one is cut off",
        seconds: 120,
        run: cut_under_hydra,
    },
    Own {
        name: "oshrun, 2 hosts, one is silent for a while",
        seconds: 60,
        run: patience,
    },
];

/// Returns all cases; where there can be no hosts they are named, and the reason with them.
pub(super) fn cases(session: &Session, job: &Program) -> Result<Vec<Case>, String> {
    let (program, build) = wireup(session);
    let programs = [program, job.executable.display().to_string()];
    let missing = farreach_hosts::missing();
    let mut cases = Vec::new();
    for own in OWN {
        if let Some(why) = &missing {
            let name = format!("{}: skipped, {why}", own.name);
            cases.push(Case::new(name, 10, Invocation::new("true")));
            continue;
        }
        let mut case = own.case(&programs)?;
        case.needs.extend([build.clone(), job.build.clone()]);
        case.leaves_nothing = true;
        cases.push(case);
    }
    Ok(cases)
}

/// Returns oshrun in the switch, for these hosts.
fn oshrun(place: &Place, lab: &Lab, hosts: &str) -> Command {
    let mut command = lab.command(SWITCH_NAME, place.staged("bin/oshrun"));
    command.args(["--host", hosts, "--launch-agent", RSH]);
    command.stdin(Stdio::null());
    command
}

/// Returns `h1:2,h2:2`, for so many hosts.
fn two_on_each(hosts: usize) -> String {
    let names: Vec<_> = (1..=hosts).map(|host| format!("h{host}:2")).collect();
    names.join(",")
}

/// Exchanges between PEs on several hosts.
fn exchanges(place: &Place, hosts: usize, program: &str) -> Result<(), String> {
    let lab = Lab::start(hosts).map_err(text)?;
    let run = |words: &[&str]| -> Result<Output, String> {
        let mut command = oshrun(place, &lab, &two_on_each(hosts));
        command.arg(program).args(words).output().map_err(text)
    };
    let said = run(&["all"])?;
    let size = 2 * hosts;
    let nodes: Vec<_> = (0..size).map(|rank| rank / 2).collect();
    for rank in 0..size {
        let line = format!("PE {rank} of {size} on h{}, nodes {nodes:?},", rank / 2 + 1);
        expect(&said, true, &line)?;
    }
    expect(&run(&["many", "400"])?, true, "has read 400")?;
    nothing_is_left(&lab, hosts, program)?;
    nothing_is_left(&lab, hosts, "oshrun")
}

/// Runs a program of OpenSHMEM, over the system's libfabric, with its output and its status.
fn openshmem(place: &Place, args: &[String]) -> Result<(), String> {
    let lab = Lab::start(2).map_err(text)?;
    let job = args[1].as_str();
    let run = |words: &[&str]| -> Result<Output, String> {
        let mut command = oshrun(place, &lab, &two_on_each(2));
        command
            .args(["--label", job])
            .args(words)
            .output()
            .map_err(text)
    };
    let said = run(&[])?;
    for rank in 0..4 {
        expect(&said, true, &format!("[{rank}] PE {rank} of 4"))?;
    }
    for (words, status) in [
        (&["finally", "2", "6"][..], 6),
        (&["leave", "global_exit", "7", "compute"], 7),
        (&["leave", "kill", "9", "barrier"], 137),
    ] {
        let said = run(words)?;
        if said.status.code() != Some(status) {
            return Err(format!("{words:?}: {said:?}"));
        }
    }
    nothing_is_left(&lab, 2, job)
}

/// Checks status and words of jobs that end early, on the host that is at fault.
fn ends(place: &Place, args: &[String]) -> Result<(), String> {
    let lab = Lab::start(2).map_err(text)?;
    let (hosts, program) = ("h1,h2", args[0].as_str());
    lab.script(
        "h1",
        "printf '#!/bin/sh\\necho ran\\n' > /tmp/on-one; chmod +x /tmp/on-one",
    )
    .map_err(text)?;
    for (hosts, words, status, part) in [
        (hosts, &[program, "abort", "7"][..], 7, ""),
        (
            hosts,
            &[program, "exit", "3"],
            3,
            "PE 1 on host h2 exited with status 3 before",
        ),
        (hosts, &[program, "kill"], 137, "PE 1 on host h2 (pid "),
        (
            hosts,
            &["/tmp/on-one"],
            127,
            "host h2: /tmp/on-one: no such file",
        ),
        (
            "h1,h9",
            &[program, "all"],
            1,
            "host h9: no agent was started: rsh exited with status 255",
        ),
        ("h1,h2", &["sh", "-c", "exit 4"], 4, ""),
    ] {
        let started = Instant::now();
        let mut command = oshrun(place, &lab, hosts);
        let said = command.args(words).output().map_err(text)?;
        let error = String::from_utf8_lossy(&said.stderr);
        let lines = usize::from(!part.is_empty());
        if said.status.code() != Some(status)
            || !error.contains(part)
            || error.lines().count() != lines
            || started.elapsed() > OVER_WITHIN
        {
            return Err(format!("{words:?}: {said:?} after {:?}", started.elapsed()));
        }
        nothing_is_left(&lab, 2, program).map_err(|error| format!("{words:?}: {error}"))?;
        nothing_is_left(&lab, 2, "oshrun").map_err(|error| format!("{words:?}: {error}"))?;
    }
    Ok(())
}

/// The harm to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    /// SIGKILL to a PE.
    Pe,
    /// SIGKILL to one of the processes of an agent.
    Agent,
    /// SIGKILL to one of the processes of oshrun.
    Oshrun,
    /// A host is silent.
    Cut,
    /// A host is gone.
    Host,
}

/// Harms a job at random moments: for each process or host that it hits, the job is over in time,
/// the host is named, and no host that lives has anything left.
fn harm(place: &Place, args: &[String], victim: &Victim, harm: Harm) -> Result<(), String> {
    let program = args[victim.program].as_str();
    let of_host = matches!(harm, Harm::Cut | Harm::Host);
    let rounds = match args.get(2) {
        Some(text) => text.parse().map_err(|_| format!("{text:?} rounds"))?,
        None if of_host => victim.rounds_of_hosts,
        None => victim.rounds,
    };
    let mut random = super::kills::Random::new();
    let seed = random.seed();
    let (mut lab, mut slowest) = (Lab::start(2).map_err(text)?, Duration::ZERO);
    for round in 0..rounds {
        let moment = Duration::from_micros(random.next() % victim.latest_us);
        let in_round =
            |error: String| format!("round {round} after {moment:?} (seed {seed:#x}): {error}");
        let mut command = oshrun(place, &lab, &two_on_each(2));
        command.arg(program).args(victim.words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if !of_host {
            // A killed process is missed at once, without a look at the time.
            command.env("FARREACH_HOST_TIMEOUT", "0");
        }
        let child = command.spawn().map_err(text)?;
        std::thread::sleep(moment);
        let expected = strike(harm, &lab, program, &mut random).map_err(in_round)?;
        let started = Instant::now();
        let said = child.wait_with_output().map_err(text)?;
        let ended = started.elapsed();
        let error = String::from_utf8_lossy(&said.stderr).into_owned();
        let fits = |&(status, part): &(i32, &str)| {
            said.status.code() == Some(status) && error.contains(part)
        };
        if !expected.is_empty() && !expected.iter().any(fits) {
            let how = said.status;
            return Err(in_round(format!(
                "{how}, expected one of {expected:?}\n{error}"
            )));
        }
        let living = if harm == Harm::Host { 1 } else { 2 };
        for name in [program, "oshrun"] {
            let left = nothing_is_left_by(started + OVER_WITHIN, &lab, living, name);
            left.map_err(|left| {
                in_round(format!("{left}, oshrun ended after {ended:?}\n{error}"))
            })?;
        }
        slowest = slowest.max(started.elapsed());
        match harm {
            Harm::Cut => lab.heal("h2").map_err(text)?,
            Harm::Host => lab = Lab::start(2).map_err(text)?,
            Harm::Pe | Harm::Agent | Harm::Oshrun => {}
        }
    }
    println!("{rounds} rounds, seed {seed:#x}, the slowest was over after {slowest:?}");
    Ok(())
}

/// Checks that PEs leave by themselves, under a launcher that does not watch hosts, when one is
/// silent: on both sides, in time and with a message. The launcher may stay.
fn cut_under_hydra(_: &Place, args: &[String]) -> Result<(), String> {
    let program = args[1].as_str();
    let rounds = match args.get(2) {
        Some(text) => text.parse().map_err(|_| format!("{text:?} rounds"))?,
        None => 2,
    };
    let mut random = super::kills::Random::new();
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let lab = Lab::start(2).map_err(text)?;
        let mut command = lab.command(SWITCH_NAME, super::hosts::HYDRA);
        command.args(["-launcher", "rsh", "-launcher-exec", RSH]);
        command.args(["-hosts", "h1:2,h2:2", "-n", "4", program, "traffic"]);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(text)?;
        let mut ready = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut ready).map_err(text)?;
        std::thread::sleep(Duration::from_micros(random.next() % OPENSHMEM.latest_us));
        lab.cut("h2").map_err(text)?;
        let started = Instant::now();
        let left = has_left(started + OVER_WITHIN, &lab, program);
        slowest = slowest.max(started.elapsed());
        // It ends with the lab.
        drop(lab);
        let said = child.wait_with_output().map_err(text)?;
        let error = String::from_utf8_lossy(&said.stderr);
        left.map_err(|left| format!("round {round}: {left}\n{error}"))?;
        if !error.contains("nothing has come from the host of PE") {
            return Err(format!("round {round}: {ready}{error}"));
        }
    }
    println!("{rounds} rounds, the slowest was over after {slowest:?}");
    Ok(())
}

/// Does the harm; returns exit statuses of oshrun and words that go with them, or none if oshrun itself was hit.
fn strike(
    harm: Harm,
    lab: &Lab,
    program: &str,
    random: &mut super::kills::Random,
) -> Result<Vec<(i32, &'static str)>, String> {
    let mut kill = |is_one: &dyn Fn(&str) -> bool| -> Result<(), String> {
        let deadline = Instant::now() + OVER_WITHIN;
        loop {
            let mut found = procfs::descendants(procfs::own_pid());
            found.retain(|process: &Process| !process.is_zombie() && is_one(&process.command()));
            if !found.is_empty() {
                sys::kill(found[random.below(found.len())].pid, libc::SIGKILL);
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err("there is no process to kill".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let is_oshrun = |command: &str| {
        let first = command.split(' ').next().unwrap_or_default();
        first.ends_with("/oshrun")
    };
    match harm {
        Harm::Pe => {
            kill(&|command| command.starts_with(program))?;
            Ok(vec![(137, "on host h")])
        }
        Harm::Agent => {
            kill(&|command| is_oshrun(command) && command.contains(" --agent "))?;
            Ok(vec![(1, "oshrun: host h"), (137, "oshrun: host h")])
        }
        Harm::Oshrun => {
            kill(&|command| is_oshrun(command) && !command.contains(" --agent "))?;
            Ok(Vec::new())
        }
        Harm::Cut => {
            lab.cut("h2").map_err(text)?;
            Ok(vec![(1, "host h2")])
        }
        Harm::Host => {
            lab.kill("h2").map_err(text)?;
            Ok(vec![(1, "host h2")])
        }
    }
}

/// Waits until neither host has a process of this program, with or without its launcher.
fn has_left(deadline: Instant, lab: &Lab, program: &str) -> Result<(), String> {
    let script = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'";
    for host in ["h1", "h2"] {
        loop {
            let all = lab.script(host, script).map_err(text)?;
            if !all.lines().any(|word| word == "traffic") {
                break;
            }
            if Instant::now() > deadline {
                return Err(format!("{program} is left on {host}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Waits until the first hosts have no process of this program.
fn nothing_is_left_by(
    deadline: Instant,
    lab: &Lab,
    hosts: usize,
    program: &str,
) -> Result<(), String> {
    loop {
        let left = nothing_is_left(lab, hosts, program);
        if left.is_ok() && Instant::now() <= deadline {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("after {} s: {left:?}", OVER_WITHIN.as_secs()));
        }
    }
}

/// Checks that a host that is silent for less than FARREACH_HOST_TIMEOUT, or for any time if that
/// is 0, does not end the job.
fn patience(place: &Place, args: &[String]) -> Result<(), String> {
    let lab = Lab::start(2).map_err(text)?;
    for (silence, cut) in [("4", 2), ("0", 7)] {
        let mut command = oshrun(place, &lab, "h1,h2");
        command.args(["-x", &format!("CUT={cut}"), "sh", "-c"]);
        command.args(["sleep $((CUT + 3)); exec \"$0\" all", &args[0]]);
        command.env("FARREACH_HOST_TIMEOUT", silence);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(text)?;
        std::thread::sleep(Duration::from_secs(1));
        lab.cut("h2").map_err(text)?;
        std::thread::sleep(Duration::from_secs(cut));
        lab.heal("h2").map_err(text)?;
        let said = child.wait_with_output().map_err(text)?;
        expect(&said, true, "PE 1 of 2 on h2").map_err(|error| format!("{silence}: {error}"))?;
    }
    Ok(())
}
