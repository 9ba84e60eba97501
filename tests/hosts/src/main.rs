//! A lab of hosts for people and for launchers: `tests/hosts/hosts`.

use farreach_hosts::Lab;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
tests/hosts/hosts up N               start the hosts h1 to hN, and the switch sw
tests/hosts/hosts run HOST CMD...    run a program in a host, in this directory
tests/hosts/hosts rsh HOST WORDS...  run words by a shell in a host, as rsh(1)
tests/hosts/hosts cut HOST           cut a host off
tests/hosts/hosts drop HOST PERCENT  drop packets from and to a host
tests/hosts/hosts heal HOST          undo both
tests/hosts/hosts kill HOST          kill a host
tests/hosts/hosts down               end all
tests/hosts/hosts with N PERCENT CMD...  run a program in the switch of N hosts that end with it;
                                         so many of the packets from and to h2 are dropped

Launchers run in sw, where /run/hosts/rsh is the remote shell:
  tests/hosts/hosts run sw mpiexec.hydra -launcher rsh -launcher-exec /run/hosts/rsh -hosts h1,h2 ...
FARREACH_HOSTS names the file that tells of the lab (/run/farreach-hosts), for several labs.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match act(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("hosts: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does as the words say. `false` when they make no sense.
fn act(args: &[&str]) -> io::Result<bool> {
    let file =
        std::env::var_os("FARREACH_HOSTS").map_or("/run/farreach-hosts".into(), PathBuf::from);
    match args {
        ["up", hosts] => match hosts.parse() {
            Ok(hosts) => up(&file, hosts)?,
            Err(_) => return Ok(false),
        },
        ["run", host, program, args @ ..] => {
            return Err(lab(&file)?.command(host, program).args(args).exec());
        }
        ["rsh", host, words @ ..] => {
            let mut command = lab(&file)?.command("sw", farreach_hosts::RSH);
            return Err(command.arg(host).args(words).exec());
        }
        ["cut", host] => lab(&file)?.cut(host)?,
        ["heal", host] => lab(&file)?.heal(host)?,
        ["kill", host] => lab(&file)?.kill(host)?,
        ["drop", host, percent] => match percent.parse() {
            Ok(percent) => lab(&file)?.drop_packets(host, percent)?,
            Err(_) => return Ok(false),
        },
        ["down"] => down(&file)?,
        ["with", hosts, percent, program, args @ ..] => match (hosts.parse(), percent.parse()) {
            (Ok(hosts), Ok(percent)) => return with(hosts, percent, program, args),
            _ => return Ok(false),
        },
        _ => return Ok(false),
    }
    Ok(true)
}

/// Runs a program in the switch of hosts that end with it, and ends with its status.
fn with(hosts: usize, percent: u32, program: &str, args: &[&str]) -> io::Result<bool> {
    let lab = Lab::start(hosts)?;
    if percent > 0 {
        lab.drop_packets("h2", percent)?;
    }
    let ended = lab.command("sw", program).args(args).status()?;
    drop(lab);
    std::process::exit(ended.code().unwrap_or(1))
}

fn up(file: &Path, hosts: usize) -> io::Result<()> {
    if lab(file).is_ok() {
        let text = format!("{} tells of a lab that is up", file.display());
        return Err(io::Error::other(text));
    }
    if let Some(why) = farreach_hosts::missing() {
        return Err(io::Error::other(why));
    }
    let first = Lab::start_detached(hosts)?;
    std::fs::write(file, format!("{first} {}\n", started(first)?))
}

/// Returns the lab that the file tells of.
fn lab(file: &Path) -> io::Result<Lab> {
    let none = || io::Error::other(format!("no lab is up, says {}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|_| none())?;
    let (first, when) = text.trim().split_once(' ').ok_or_else(none)?;
    let first = first.parse().map_err(|_| none())?;
    // Another process may have its number.
    if started(first).is_ok_and(|now| now == when) {
        Ok(Lab::attach(first))
    } else {
        Err(none())
    }
}

fn down(file: &Path) -> io::Result<()> {
    let first = lab(file)?.first();
    let killed = Command::new("kill")
        .args(["-KILL", &first.to_string()])
        .status()?;
    if !killed.success() {
        return Err(io::Error::other(format!("kill: {killed}")));
    }
    while started(first).is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::fs::remove_file(file)
}

/// Returns when a process has started, in ticks since the machine has (proc(5)).
fn started(process: u32) -> io::Result<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let field = fields.split_whitespace().nth(19);
    field
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("/proc cannot be read"))
}
