//! Programs that use MPI and OpenSHMEM: `tests/launch/mpi.c`, with Debian's MPICH, which speaks
//! PMI-1 over the same connection as the library.

use super::Program;
use super::hosts::HYDRA;
use crate::case::{Case, Invocation, Status};
use crate::session::Session;

/// The steps of jobs that end well, by either launcher: both orders at the beginning and at the
/// end; OpenSHMEM that begins again beside MPI, and after its end.
const WELL: &[&str] = &["MSusm", "MSums", "SMusm", "SMums", "MSusSusm", "SMumsSs"];

/// The numbers of PEs.
const SIZES: [u32; 3] = [1, 2, 3];

/// Returns all cases.
pub(super) fn cases(session: &Session) -> Vec<Case> {
    let program = Program::with(session, "mpi", &["-l:libmpich.so.12"]);
    let oshrun = session.place.staged("bin/oshrun");
    let case = |name: &str, launcher: Invocation, pes: u32, steps: &str| {
        let run = launcher.args(["-n", &pes.to_string()]);
        let run = run.arg(&program.executable).arg(steps);
        let mut case = Case::new(format!("MPI, {name}, {steps}, {pes} PEs"), 30, run);
        case.needs.push(program.build.clone());
        case.leaves_nothing = true;
        case
    };
    let mut cases = Vec::new();
    for steps in WELL {
        for pes in SIZES {
            for (name, launcher) in [
                ("oshrun", Invocation::new(&oshrun)),
                ("hydra", Invocation::new(HYDRA)),
            ] {
                let mut case = case(name, launcher, pes, steps);
                case.expect.stdout = (0..pes)
                    .map(|rank| format!("rank {rank} is done"))
                    .collect();
                case.expect.refused = vec!["farreach".to_owned(), "oshrun".to_owned()];
                cases.push(case);
            }
        }
    }
    // Neither has finalized.
    let mut early = case("oshrun", Invocation::new(&oshrun), 2, "MSue");
    early.expect.status = Status::Is(1);
    early.expect.stderr = vec!["PE 0 exited with status 0 before shmem_finalize".to_owned()];
    cases.push(early);
    cases
}
