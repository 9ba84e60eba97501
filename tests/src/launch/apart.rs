//! Jobs whose PEs do not see each other's `/proc/PID`, or have other processes in their places.

use super::Program;
use super::commands::unshare;
use crate::case::{Case, Invocation, Status};
use crate::session::Session;

/// Runs a copy of `$1` that nobody may read, by `$2`, as a user that is bound by that: root without
/// capabilities is one.
const EXECUTE_ONLY: &str = r#"copy=$(mktemp -d); cp "$1" "$copy/job"; chmod 0111 "$copy/job"
    if test "$(id -u)" = 0; then set -- "$@" setpriv --bounding-set=-all --inh-caps=-all; fi
    job=$1 oshrun=$2; shift 2
    if "$@" cat "$copy/job" > /dev/null 2>&1; then echo "the copy can be read"; exit 8; fi
    status=0; "$@" "$oshrun" -n 2 "$copy/job" || status=$?
    rm -rf "$copy"; exit $status"#;

/// Executes the rest of the words, on PE 1 by way of `$1`.
const PE_1_BY: &str = r#"by=$1; shift; if test "$PMI_RANK" = 1; then exec $by "$@"; fi; exec "$@""#;

/// Returns all cases.
pub(super) fn cases(session: &Session, job: &Program) -> Vec<Case> {
    let oshrun = || Invocation::new(session.place.staged("bin/oshrun")).args(["-n", "2"]);
    let words = |run: &Invocation| {
        let program = std::iter::once(&run.program);
        program.chain(&run.args).cloned().collect::<Vec<_>>()
    };
    let mut cases = vec![
        Case::new(
            "a program that may be executed and not read",
            20,
            Invocation::new("sh")
                .args(["-euc", EXECUTE_ONLY, "sh"])
                .arg(&job.executable)
                .arg(session.place.staged("bin/oshrun")),
        ),
        Case::new(
            "each PE in a PID namespace of its own",
            20,
            oshrun()
                .args(words(&unshare(&["--pid", "--fork"])))
                .arg(&job.executable),
        ),
    ];
    for case in &mut cases {
        case.expect.stdout = vec!["PE 0 of 2".to_owned(), "PE 1 of 2".to_owned()];
    }
    let by = unshare(&["--net"]);
    let by = words(&by).join(std::ffi::OsStr::new(" "));
    let mut elsewhere = Case::new(
        "a PE in another network namespace",
        20,
        oshrun()
            .args(["sh", "-euc", PE_1_BY, "sh"])
            .arg(by)
            .arg(&job.executable),
    );
    elsewhere.expect.status = Status::Is(1);
    elsewhere.expect.stderr =
        vec!["PE 1: shmem_init: PE 1 is in another network namespace than PE 0".to_owned()];
    cases.push(elsewhere);
    for case in &mut cases {
        case.needs.push(job.build.clone());
    }
    cases.push(stranger(session));
    for case in &mut cases {
        case.leaves_nothing = true;
    }
    cases
}

/// Returns the case of shmem_global_exit under another launcher than oshrun, which leaves it to PEs
/// to tell each other.
fn stranger(session: &Session) -> Case {
    let program = Program::new(session, "stranger");
    let run = unshare(&["--pid", "--fork", "--mount-proc"])
        .arg(session.place.staged("bin/oshrun"))
        .args(["-n", "2", "env", "-u", "FARREACH_OSHRUN"])
        .arg(&program.executable);
    let mut case = Case::new("global_exit, a stranger with the number of a PE", 20, run);
    case.expect.status = Status::Is(7);
    case.expect.stdout = vec!["a stranger is there".to_owned()];
    case.expect.refused = vec!["a stranger got".to_owned()];
    case.needs.push(program.build);
    case
}
