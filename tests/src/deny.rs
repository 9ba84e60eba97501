//! Starts a program that is denied system calls, as containers deny them: by a filter of
//! seccomp(2), which every process that the program starts has as well.

#![expect(unsafe_code, reason = "installs the filter")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The system calls that can be denied.
const CALLS: &[(&str, libc::c_long)] = &[
    ("memfd_create", libc::SYS_memfd_create),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("userfaultfd", libc::SYS_userfaultfd),
];

/// The errors that a denied call may return.
const ERRORS: &[(&str, i32)] = &[("EPERM", libc::EPERM), ("ENOSYS", libc::ENOSYS)];

const USAGE: &str = "farreach-tests deny CALL[,CALL...] EPERM|ENOSYS PROGRAM ARGS...";

/// Runs the command `deny`, which becomes the program.
pub(crate) fn main(args: &[String]) -> ExitCode {
    let failed = match args {
        [calls, error, program, args @ ..] => match numbers(calls, error) {
            Some((calls, error)) => match install(&calls, error) {
                Ok(()) => Command::new(program).args(args).exec().to_string(),
                Err(error) => format!("seccomp: {error}"),
            },
            None => USAGE.to_owned(),
        },
        _ => USAGE.to_owned(),
    };
    eprintln!("{failed}");
    ExitCode::from(2)
}

fn numbers(calls: &str, error: &str) -> Option<(Vec<libc::c_long>, i32)> {
    let call = |name: &str| CALLS.iter().find(|(known, _)| *known == name);
    let calls: Option<Vec<_>> = calls.split(',').map(|name| Some(call(name)?.1)).collect();
    let (_, error) = ERRORS.iter().find(|(known, _)| *known == error)?;
    Some((calls?, *error))
}

/// Returns one instruction of the filter (linux/filter.h).
fn instruction(code: u32, k: u32, skip_unless: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: skip_unless,
        k,
    }
}

/// Lets this process, and those that come from it, find these calls denied.
fn install(calls: &[libc::c_long], error: i32) -> io::Result<()> {
    // The first field of seccomp_data is the number of the call.
    let mut filter = vec![instruction(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
    )];
    for &call in calls {
        filter.extend([
            instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 1),
            instruction(libc::BPF_RET, libc::SECCOMP_RET_ERRNO | error as u32, 0),
        ]);
    }
    filter.push(instruction(libc::BPF_RET, libc::SECCOMP_RET_ALLOW, 0));
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the first call takes integers; the second one a program, whose instructions outlive
    // it.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
