//! Jobs of which the command line is all: their output, their ends, and that nothing is left.

use super::Program;
use super::denied::in_namespace;
use crate::case::{Case, Invocation, Status};
use crate::session::Session;
use crate::sys;

/// One command line. `JOB` stands for the compiled job.c.
struct Row {
    name: &'static str,
    command: &'static str,
    status: Status,
    stdout: &'static [&'static str],
    stderr: &'static [&'static str],
}

const fn row(
    name: &'static str,
    command: &'static str,
    status: i32,
    stdout: &'static [&'static str],
    stderr: &'static [&'static str],
) -> Row {
    Row {
        name,
        command,
        status: Status::Is(status),
        stdout,
        stderr,
    }
}

const ROWS: &[Row] = &[
    row("no launcher", "JOB", 0, &["PE 0 of 1"], &[]),
    row(
        "four PEs",
        "oshrun -n 4 JOB",
        0,
        &["PE 0 of 4", "PE 1 of 4", "PE 2 of 4", "PE 3 of 4"],
        &[],
    ),
    row(
        "four PEs by -np and --",
        "oshrun -np 4 -- JOB",
        0,
        &["PE 3 of 4"],
        &[],
    ),
    row(
        "four PEs under hydra",
        "/usr/bin/mpiexec.hydra -n 4 JOB",
        0,
        &["PE 0 of 4", "PE 3 of 4"],
        &[],
    ),
    row(
        "labels",
        "oshrun -l -n 2 JOB",
        0,
        &["[0] PE 0 of 2", "[1] PE 1 of 2"],
        &[],
    ),
    row("N = 0", "oshrun -n 0 JOB", 2, &[], &["oshrun: ", "0"]),
    row("N = -1", "oshrun -n -1 JOB", 2, &[], &["oshrun: "]),
    row(
        "N no number",
        "oshrun -n four JOB",
        2,
        &[],
        &["oshrun: ", "four"],
    ),
    row(
        "unknown option",
        "oshrun --frobnicate JOB",
        2,
        &[],
        &["oshrun: ", "--frobnicate"],
    ),
    row("no program", "oshrun -n 2", 2, &[], &["oshrun: "]),
    row(
        "program missing",
        "oshrun -n 2 ./no-such-program",
        127,
        &[],
        &["oshrun: ", "no-such-program"],
    ),
    row(
        "program missing in PATH",
        "oshrun -n 2 no-such-program",
        127,
        &[],
        &["oshrun: ", "no-such-program"],
    ),
    row(
        "program not executable",
        "oshrun -n 2 ./Cargo.toml",
        126,
        &[],
        &["oshrun: ", "Cargo.toml"],
    ),
    row(
        "program is a folder",
        "oshrun -n 2 ./examples",
        126,
        &[],
        &["oshrun: ", "examples"],
    ),
    row(
        "source missing",
        "oshrun -n 2 no-such-program.c",
        127,
        &[],
        &["oshrun: ", "no-such-program.c"],
    ),
    row(
        "a host's name that cannot be one",
        "oshrun -n 2 --host one,-two JOB",
        2,
        &[],
        &["oshrun: ", "\"-two\""],
    ),
    row(
        "a host that no agent starts on",
        "oshrun -n 2 --host one,two --launch-agent /bin/false JOB",
        1,
        &[],
        &["oshrun: host ", "no agent was started"],
    ),
    row(
        "status of main counts",
        "oshrun -n 3 JOB finally 2 5",
        5,
        &["PE 0 of 3"],
        &[],
    ),
    row(
        "status of main counts alone",
        "JOB finally 0 5",
        5,
        &["PE 0 of 1"],
        &[],
    ),
    row(
        "exit(3), others in a barrier",
        "oshrun -n 3 JOB leave exit 3 barrier",
        3,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "exit(3), others wait",
        "oshrun -n 3 JOB leave exit 3 wait",
        3,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "exit(3), others compute",
        "oshrun -n 3 JOB leave exit 3 compute",
        3,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "exit(3), others sleep",
        "oshrun -n 3 JOB leave exit 3 sleep",
        3,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "exit(3), others finalize",
        "oshrun -n 3 JOB leave exit 3 finalize",
        3,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "_exit(0), others in a barrier",
        "oshrun -n 3 JOB leave _exit 0 barrier",
        1,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "_exit(0), others wait",
        "oshrun -n 3 JOB leave _exit 0 wait",
        1,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "_exit(0), others compute",
        "oshrun -n 3 JOB leave _exit 0 compute",
        1,
        &["ready"],
        &["PE 1 "],
    ),
    row(
        "abort(), others in a barrier",
        "oshrun -n 3 JOB leave abort 0 barrier",
        134,
        &["ready"],
        &["PE 1 ", "SIGABRT"],
    ),
    row(
        "SIGSEGV, others wait",
        "oshrun -n 3 JOB leave crash 0 wait",
        139,
        &["ready"],
        &["PE 1 ", "SIGSEGV"],
    ),
    row(
        "SIGKILL, others compute",
        "oshrun -n 3 JOB leave kill 9 compute",
        137,
        &["ready"],
        &["PE 1 ", "SIGKILL"],
    ),
    row(
        "global_exit(6), others wait",
        "oshrun -n 3 JOB leave global_exit 6 wait",
        6,
        &["ready"],
        &[],
    ),
    row(
        "global_exit(6), others compute",
        "oshrun -n 3 JOB leave global_exit 6 compute",
        6,
        &["ready"],
        &[],
    ),
    row(
        "a PE that never calls shmem_init",
        "oshrun -n 3 JOB never-init 0",
        1,
        &[],
        &["PE 1 ", "shmem_init"],
    ),
    row(
        "a child left in the background",
        "oshrun -n 2 JOB leave-process",
        0,
        &["ready", "PE 1 of 2"],
        &[],
    ),
    row(
        "a daemon left in the background",
        "oshrun -n 2 JOB leave-process daemon",
        0,
        &["ready", "PE 1 of 2"],
        &[],
    ),
    row(
        "the length of the job's memory",
        "oshrun -n 2 JOB resize",
        0,
        &["the length stays"],
        &[],
    ),
    row(
        "more PEs than cores",
        "oshrun -n 64 JOB",
        0,
        &["PE 0 of 64", "PE 63 of 64"],
        &[],
    ),
    Row {
        name: "exit(3) under hydra, others in a barrier",
        command: "/usr/bin/mpiexec.hydra -n 3 JOB leave exit 3 barrier",
        // hydra kills the others and reports that, or the 3: whichever it sees first.
        status: Status::Nonzero,
        stdout: &["ready"],
        stderr: &[],
    },
];

/// Jobs that need another /dev/shm: a script gets the command as its arguments, in a mount namespace of its own.
const SMALL: &str = r#"mount -t tmpfs -o size=64m tmpfs /dev/shm; exec "$@""#;
const MISSING: &str = r#"dev=$(mktemp -d); mount -t tmpfs tmpfs "$dev"
    for name in null zero full random urandom tty; do : > "$dev/$name"; mount --bind "/dev/$name" "$dev/$name"; done
    ln -s /proc/self/fd "$dev/fd"; mount --move "$dev" /dev; rmdir "$dev"
    test ! -e /dev/shm; exec "$@""#;

/// Returns all rows, as cases.
pub(super) fn cases(session: &Session, job: &Program) -> Result<Vec<Case>, String> {
    let mut cases: Vec<_> = ROWS.iter().map(|row| case(session, job, row)).collect();
    cases.extend(heap_cases(session, job));
    cases.push(core_case(session, job));
    cases.extend(room_cases(session, job)?);
    Ok(cases)
}

/// Returns the invocation of a command line, with paths for the words JOB and oshrun.
fn invocation(session: &Session, job: &Program, command: &str) -> Invocation {
    let mut words = command.split(' ').map(|word| match word {
        "JOB" => job.executable.clone().into_os_string(),
        "oshrun" => session.place.staged("bin/oshrun").into_os_string(),
        other => other.into(),
    });
    Invocation::new(words.next().unwrap_or_default()).args(words)
}

fn case(session: &Session, job: &Program, row: &Row) -> Case {
    let mut case = Case::new(row.name, 20, invocation(session, job, row.command));
    case.expect.status = row.status;
    case.expect.stdout = row.stdout.iter().map(|&text| text.to_owned()).collect();
    case.expect.stderr = row.stderr.iter().map(|&text| text.to_owned()).collect();
    case.needs.push(job.build.clone());
    case.leaves_nothing = true;
    case
}

/// Returns a command in namespaces of its own: a user that is not root has to be root in one for
/// that.
pub(super) fn unshare(namespaces: &[&str]) -> Invocation {
    let user: &[&str] = if sys::is_root() {
        &[]
    } else {
        &["--map-root-user"]
    };
    Invocation::new("unshare").args(user).args(namespaces)
}

/// Runs `$1 -n 4 $2 core`, and looks at the core file: it holds the memory that PE 1 has used, and
/// is shorter than a heap, of which there are four.
const CORE: &str = r#"pattern=$(cat /proc/sys/kernel/core_pattern)
    case $pattern in "|"* | */* | "") echo "cores go elsewhere: $pattern"; exit 0 ;; esac
    if ! ulimit -c unlimited; then echo "no cores are allowed"; exit 0; fi
    dir=$(mktemp -d); cd "$dir"; status=0; "$1" -n 4 "$2" core || status=$?
    test "$status" = 134
    for mark in globals heap; do grep -q "mark-of-the-$mark" core*; done
    size=$(cat core* | wc -c); cd /; rm -r "$dir"
    echo "a core of $size bytes"; test "$size" -lt 67108864"#;

/// Returns the case of the core file that an abort leaves.
fn core_case(session: &Session, job: &Program) -> Case {
    let run = Invocation::new("sh")
        .args(["-euc", CORE, "sh"])
        .arg(session.place.staged("bin/oshrun"))
        .arg(&job.executable);
    let mut case = Case::new("a core file", 20, run);
    case.needs.push(job.build.clone());
    case.leaves_nothing = true;
    case
}

/// Returns the cases of jobs whose PEs have a processor each, or share one, and say so alike.
fn room_cases(session: &Session, job: &Program) -> Result<Vec<Case>, String> {
    let status = std::fs::read_to_string("/proc/thread-self/status");
    let status = status.map_err(|error| error.to_string())?;
    let mut lines = status.lines();
    let processors = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:\t"));
    let first = processors.and_then(|list| list.split([',', '-']).next());
    let first = first.ok_or("no Cpus_allowed_list")?;
    let bound = std::thread::available_parallelism().map_or(1, |count| count.get().min(2));
    let shared = format!("taskset -c {first} oshrun -n 2");
    let rows = [
        (
            "PEs that are bound",
            format!("oshrun --bind core -n {bound}"),
            bound,
            "a processor for each",
        ),
        (
            "PEs that are bound to one processor",
            shared.clone(),
            2,
            "processors are shared",
        ),
        (
            "PEs of two pretended nodes that are bound to one processor",
            shared + " --ppn 1 --fabric softhca",
            2,
            "processors are shared",
        ),
    ];
    let cases = rows.iter().map(|(name, command, pes, room)| {
        let run = invocation(session, job, &format!("{command} JOB"));
        let mut case = Case::new(*name, 20, run.env("SHMEM_DEBUG", "1"));
        let lines = (0..*pes).map(|pe| format!("farreach: PE {pe}: "));
        case.expect.stderr = lines.collect();
        case.expect.stderr.push((*room).to_owned());
        let mut others = rows.iter().filter(|row| row.3 != *room);
        case.expect
            .refused
            .extend(others.next().map(|row| row.3.to_owned()));
        case.needs.push(job.build.clone());
        case.leaves_nothing = true;
        case
    });
    Ok(cases.collect())
}

/// Returns the cases of a heap of 1 GiB, half of it touched, with any /dev/shm; and of heaps that
/// cannot be.
fn heap_cases(session: &Session, job: &Program) -> Vec<Case> {
    let oshrun = session.place.staged("bin/oshrun");
    let size = (1_u64 << 30).to_string();
    let in_namespace = |script: &str| in_namespace(script).arg(&oshrun);
    let with_heap = |run: Invocation, heap: &str| {
        run.args(["-n", "2"])
            .arg(&job.executable)
            .args(["heap", &size])
            .env("SHMEM_SYMMETRIC_SIZE", heap)
    };
    let mut cases = vec![
        Case::new(
            "1 GiB of heap",
            60,
            with_heap(Invocation::new(&oshrun), "1100M"),
        ),
        Case::new(
            "1 GiB of heap, /dev/shm of 64 MiB",
            60,
            with_heap(in_namespace(SMALL), "1100M"),
        ),
        Case::new(
            "1 GiB of heap, no /dev/shm",
            60,
            with_heap(in_namespace(MISSING), "1100M"),
        ),
    ];
    for heap in ["900P", "99999999999999999999", "many"] {
        let run = with_heap(Invocation::new(&oshrun), heap);
        let mut case = Case::new(format!("SHMEM_SYMMETRIC_SIZE={heap}"), 20, run);
        case.expect.status = Status::Nonzero;
        case.expect.stderr = vec!["farreach: PE ".to_owned(), heap.to_owned()];
        cases.push(case);
    }
    let mut small = Case::new(
        "malloc of more than the heap",
        20,
        with_heap(Invocation::new(&oshrun), "1M"),
    );
    small.expect.status = Status::Is(3);
    small.expect.stderr = vec!["no 1073741824 bytes".to_owned()];
    cases.push(small);
    for case in &mut cases {
        case.needs.push(job.build.clone());
        case.leaves_nothing = true;
    }
    cases
}
