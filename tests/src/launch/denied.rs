//! Jobs where the system denies or lacks something: they work, or end in time with a line that
//! names the cause. docs/requirements.md says the same in words.

use super::Program;
use super::commands::unshare;
use crate::case::{Case, Invocation, Status};
use crate::place;
use crate::session::Session;
use std::fs;
use std::path::Path;

/// The PEs on one node, and on two with the software device between them.
const NEAR: &[&str] = &["-n", "2"];
const FAR: &[&str] = &["-n", "2", "--ppn", "1", "--fabric", "softhca"];

/// A transfer that goes in place where private memory can be registered.
const TRANSFER: &[&str] = &["transfer", "1000000"];
const BOTH: [&str; 2] = ["PE 0 of 2", "PE 1 of 2"];

/// The end of a job.
#[derive(Clone, Copy)]
enum End {
    /// All PEs do their work.
    Works,
    /// With this status, and this text on standard error.
    Fails(i32, &'static str),
}

use End::{Fails, Works};

/// A system call that is denied: how a job on one node ends, and one on two nodes.
const CALLS: &[(&str, End, End)] = &[
    ("userfaultfd", Works, Works),
    ("pidfd_open", Works, Fails(1, "pidfd_open: ")),
    ("process_vm_readv", Works, Fails(1, "process_vm_readv: ")),
    ("process_vm_writev", Works, Fails(1, "process_vm_writev: ")),
    (
        "memfd_create",
        Fails(1, "shmem_init: creating the node's memory (memfd_create): "),
        Fails(1, "shmem_init: creating the node's memory (memfd_create): "),
    ),
];

/// A script that changes the surroundings in a mount namespace of its own and becomes the job.
const SURROUNDINGS: &[(&str, &str, End, End)] = &[
    (
        "no /proc",
        r#"mount -t tmpfs tmpfs /proc; exec "$@""#,
        Fails(1, "/proc/self/exe: "),
        Fails(1, "/proc/self/exe: "),
    ),
    (
        "all read-only",
        r#"mount --bind "$TMPDIR" "$TMPDIR"; mount -o remount,bind,ro "$TMPDIR"
        mount -o remount,bind,ro /; ! touch "$TMPDIR/file" 2> /dev/null; exec "$@""#,
        Works,
        Fails(1, "cannot set up the device: "),
    ),
    (
        "all read-only but TMPDIR",
        r#"mount -o remount,bind,ro /; mount -t tmpfs tmpfs /var/tmp
        export TMPDIR=/var/tmp; exec "$@""#,
        Works,
        Works,
    ),
];

/// Address space in KiB, in place of a machine that promises no more memory than it has: to turn
/// that on (vm.overcommit_memory) would be for all programs of the machine.
const ADDRESS_SPACE: &[(u32, End, End)] = &[
    (400_000, Fails(1, "ulimit -v"), Fails(1, "ulimit -v")),
    (1_300_000, Fails(1, "ulimit -v"), Works),
];

/// Runs a job with 100 MiB of memory: `$1` is the hierarchy of groups, `$2` and `$3` are the files
/// of the limits of memory and, where there is one, of swap.
const MEMORY_GROUP: &str = r#"group=$1/farreach-tests-$$; mkdir "$group"
    echo 100M > "$group/$2"; ! test -e "$group/$3" || echo "$4" > "$group/$3"; shift 4
    status=0; sh -euc 'echo 0 > "$0/cgroup.procs"; exec "$@"' "$group" "$@" || status=$?
    for again in 1 2 3 4 5; do ! rmdir "$group" 2> /dev/null || break; sleep 0.1; done
    test ! -e "$group"; exit $status"#;

/// Returns all cases.
pub(super) fn cases(session: &Session, job: &Program) -> Result<Vec<Case>, String> {
    let oshrun = session.place.staged("bin/oshrun");
    let case = |name: String, run: Invocation, words: &[&str], what: &[&str], end| {
        let run = run.arg(&oshrun).args(words).arg(&job.executable).args(what);
        ending(job, Case::new(name, 20, run), end)
    };
    let mut cases = Vec::new();
    for (place, words) in [("one node", NEAR), ("two nodes", FAR)] {
        let of_place = |near: End, far: End| if words == NEAR { near } else { far };
        for &(call, near, far) in CALLS {
            for error in ["EPERM", "ENOSYS"] {
                let name = format!("{call} answers {error}, {place}");
                let run = denied(call, error)?;
                let mut case = case(name, run, words, TRANSFER, of_place(near, far));
                if call == "userfaultfd" && words == FAR {
                    // The job works because it registers no private memory.
                    case.run = case.run.env("SHMEM_DEBUG", "1");
                    case.expect
                        .stderr
                        .push("registration cache: 0 hits".to_owned());
                    case.expect.stderr.push("0 entries of 0 bytes".to_owned());
                }
                cases.push(case);
            }
        }
        for &(surroundings, script, near, far) in SURROUNDINGS {
            let name = format!("{surroundings}, {place}");
            // Where it points elsewhere, softhca's directory is there.
            let run = in_namespace(script).env("XDG_RUNTIME_DIR", "");
            cases.push(case(name, run, words, TRANSFER, of_place(near, far)));
        }
        for &(limit, near, far) in ADDRESS_SPACE {
            let script = format!(r#"ulimit -v {limit}; exec "$@""#);
            let run = Invocation::new("sh").args(["-euc", &script, "sh"]);
            let name = format!("{limit} KiB of address space, {place}");
            cases.push(case(name, run, words, TRANSFER, of_place(near, far)));
        }
        if let Some(files) = memory_groups() {
            let run = || {
                let run = Invocation::new("sh").args(["-euc", MEMORY_GROUP, "sh"]);
                run.args(files)
            };
            let name = format!("a memory group that suffices, {place}");
            cases.push(case(name, run(), words, TRANSFER, Works));
            let name = format!("a memory group that does not suffice, {place}");
            let end = Fails(137, "for lack of memory");
            cases.push(case(name, run(), words, &["heap", "400000000"], end));
        }
    }
    cases.push(exit_without_pidfd(&oshrun, job)?);
    cases.push(alone_without_proc(job));
    Ok(cases)
}

/// Returns the case in which shmem_global_exit ends the job by its launcher.
fn exit_without_pidfd(oshrun: &Path, job: &Program) -> Result<Case, String> {
    let run = denied("pidfd_open", "EPERM")?
        .arg(oshrun)
        .args(["-n", "3"])
        .arg(&job.executable)
        .args(["leave", "global_exit", "6", "wait"]);
    let mut case = ending(
        job,
        Case::new("global_exit without pidfd_open", 20, run),
        Works,
    );
    case.expect.status = Status::Is(6);
    case.expect.stdout = vec!["ready".to_owned()];
    Ok(case)
}

/// Returns the case of a job of one PE, which has no launcher that would need /proc.
fn alone_without_proc(job: &Program) -> Case {
    let run = in_namespace(SURROUNDINGS[0].1).arg(&job.executable);
    let mut case = ending(job, Case::new("no /proc, no launcher", 20, run), Works);
    case.expect.stdout = vec!["PE 0 of 1".to_owned()];
    case
}

fn ending(job: &Program, mut case: Case, end: End) -> Case {
    match end {
        Works => case.expect.stdout = BOTH.map(str::to_owned).to_vec(),
        Fails(status, text) => {
            case.expect.status = Status::Is(status);
            case.expect.stderr = vec![text.to_owned()];
        }
    }
    case.needs.push(job.build.clone());
    case.leaves_nothing = true;
    case
}

fn denied(call: &str, error: &str) -> Result<Invocation, String> {
    Ok(Invocation::new(place::own_program()?).args(["deny", call, error]))
}

/// Returns a script in a mount namespace of its own; the command that it becomes is to follow.
pub(super) fn in_namespace(script: &str) -> Invocation {
    unshare(&["--mount"]).args(["sh", "-euc", script, "sh"])
}

/// Returns, where memory groups can be made, the files of their limits, and the limit of swap;
/// `None` where this user cannot make any, as in most containers.
fn memory_groups() -> Option<[&'static str; 4]> {
    let first = [
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.memsw.limit_in_bytes",
        "100M",
    ];
    let second = ["/sys/fs/cgroup", "memory.max", "memory.swap.max", "0"];
    let controllers = fs::read_to_string("/sys/fs/cgroup/cgroup.subtree_control");
    let is_second = controllers.is_ok_and(|words| words.split_whitespace().any(|w| w == "memory"));
    let files = if is_second { second } else { first };
    let group = Path::new(files[0]).join(format!("farreach-tests-try-{}", std::process::id()));
    let can = fs::create_dir(&group).is_ok() && group.join(files[1]).exists();
    (fs::remove_dir(&group).is_ok() && can).then_some(files)
}
