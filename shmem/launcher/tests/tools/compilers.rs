//! oshcc, oshc++ and source files given to oshrun, with an installation that holds a library of one function.

use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{Folder, Outcome, Running, install, signal, wait_until};

const SOURCE: &str = "#include <shmem.h>\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", shmem_answer()); return 0; }\n";

fn tool(folder: &Path, name: &str, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(folder.join("bin").join(name));
    Running::start(
        command
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null()),
    )
    .finish()
}

/// Makes an installation with sources in C and C++ in it.
fn place(name: &str) -> Folder {
    let folder = Folder::new(name);
    install(folder.path());
    std::fs::write(folder.path().join("x.c"), SOURCE).unwrap();
    std::fs::write(
        folder.path().join("y.cpp"),
        SOURCE.replace("<stdio.h>", "<cstdio>"),
    )
    .unwrap();
    folder
}

#[test]
fn programs_are_compiled_and_find_their_library() {
    let folder = place("compile");
    for (compiler, arguments) in [
        ("oshcc", &["x.c", "-o", "prog"][..]),
        ("oshcc", &["-O2", "-static", "x.c", "-o", "prog"]),
        ("oshc++", &["y.cpp", "-o", "prog"]),
        ("oshc++", &["-static", "y.cpp", "-o", "prog"]),
    ] {
        let outcome = tool(folder.path(), compiler, arguments);
        assert_eq!(
            (outcome.status, outcome.stderr.as_str()),
            (0, ""),
            "{compiler} {arguments:?}"
        );
        let output = Command::new(folder.path().join("prog")).output().unwrap();
        assert_eq!(
            output.stdout, b"42\n",
            "{compiler} {arguments:?}: {output:?}"
        );
    }
    // The two steps of a makefile.
    assert_eq!(tool(folder.path(), "oshcc", &["-c", "x.c"]).status, 0);
    assert_eq!(
        tool(folder.path(), "oshcc", &["x.o", "-o", "prog"]).status,
        0
    );
}

#[test]
fn the_installation_can_be_moved() {
    let folder = place("move");
    let moved = Folder::new("moved");
    std::fs::remove_dir(moved.path()).unwrap();
    std::fs::rename(folder.path(), moved.path()).unwrap();
    assert_eq!(
        tool(moved.path(), "oshcc", &["x.c", "-o", "prog"]).status,
        0
    );
    assert_eq!(
        tool(moved.path(), "oshrun", &["-n", "2", "./prog"]).stdout,
        "42\n42\n"
    );
    // A program linked before the move finds the library when oshrun starts it.
    std::fs::rename(moved.path(), folder.path()).unwrap();
    assert_eq!(
        tool(folder.path(), "oshrun", &["-n", "2", "./prog"]).stdout,
        "42\n42\n"
    );
}

#[test]
fn the_installations_folder_shadows_no_library() {
    let folder = place("shadow");
    assert_eq!(
        tool(folder.path(), "oshcc", &["x.c", "-o", "prog"]).status,
        0
    );
    // A folder of libraries that is shared with others, which have another C library in it; and the
    // program was linked where the installation was before.
    let moved = Folder::new("shadow-moved");
    std::fs::remove_dir(moved.path()).unwrap();
    std::fs::rename(folder.path(), moved.path()).unwrap();
    std::fs::write(moved.path().join("lib/libc.so.6"), "another").unwrap();
    for check in ["", "1"] {
        let mut command = Command::new(moved.path().join("bin/oshrun"));
        command.args(["-n", "2", "sh", "-c", "./prog && echo child"]);
        command.env("SHMEM_CHECK", check).current_dir(moved.path());
        let outcome = Running::start(command.stdin(Stdio::null())).finish();
        assert_eq!(
            (outcome.status, outcome.lines()),
            (0, vec!["42", "42", "child", "child"]),
            "{outcome:?}"
        );
    }
}

#[test]
fn the_compilers_failures_are_passed_on() {
    let folder = place("failures");
    std::fs::write(
        folder.path().join("bad.c"),
        "int main(void) { return x; }\n",
    )
    .unwrap();
    let outcome = tool(folder.path(), "oshcc", &["bad.c"]);
    assert!(
        outcome.status == 1 && outcome.stderr.contains("bad.c:1"),
        "{outcome:?}"
    );
    let outcome = tool(folder.path(), "oshrun", &["-n", "2", "bad.c"]);
    assert!(
        outcome.status == 1 && outcome.stderr.ends_with("oshrun: bad.c does not compile\n"),
        "{outcome:?}"
    );
    assert_eq!(tool(folder.path(), "oshcc", &["--version"]).status, 0);

    let mut command = Command::new(folder.path().join("bin/oshcc"));
    let outcome = Running::start(command.env("OSHCC_CC", "no-such-compiler").arg("x.c")).finish();
    assert!(
        outcome.status == 127 && outcome.stderr.contains("no-such-compiler"),
        "{outcome:?}"
    );
    std::fs::remove_file(folder.path().join("include/shmem.h")).unwrap();
    let outcome = tool(folder.path(), "oshcc", &["x.c"]);
    assert!(
        outcome.status == 1 && outcome.stderr.contains("shmem.h is missing"),
        "{outcome:?}"
    );
}

#[test]
fn the_command_can_be_seen() {
    let folder = place("show");
    let path = folder.path().display();
    let rpath = format!("-L{path}/lib -Wl,--enable-new-dtags,-rpath,{path}/lib -lshmem -lm");
    let show = |arguments: &[&str]| tool(folder.path(), "oshcc", arguments).stdout;
    assert_eq!(
        show(&["-show", "x.c", "-DA=b c"]),
        format!("cc -I{path}/include x.c '-DA=b c' {rpath}\n")
    );
    assert_eq!(
        show(&["--showme", "-c", "x.c"]),
        format!("cc -I{path}/include -c x.c\n")
    );
    assert_eq!(show(&["-show"]), format!("cc -I{path}/include {rpath}\n"));
    assert_eq!(show(&["--showme:compile"]), format!("-I{path}/include\n"));
    assert_eq!(show(&["--showme:link"]), format!("{rpath}\n"));
    assert!(
        tool(folder.path(), "oshc++", &["-show", "y.cpp"])
            .stdout
            .starts_with("c++ ")
    );
    assert!(show(&["--help"]).contains("Usage: oshcc"));
}

/// Returns oshrun with its temporary files in a folder that must be empty in the end.
fn run_source(folder: &Path, temporary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(folder.join("bin/oshrun"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", temporary)
        .stdin(Stdio::null());
    command
}

#[test]
fn sources_are_compiled_and_run() {
    let folder = place("sources");
    let temporary = Folder::new("sources-tmp");
    for source in ["x.c", "./x.c", "y.cpp"] {
        let outcome = Running::start(&mut run_source(
            folder.path(),
            temporary.path(),
            &["-n", "2", source],
        ))
        .finish();
        assert_eq!(
            (
                outcome.status,
                outcome.stdout.as_str(),
                outcome.stderr.as_str()
            ),
            (0, "42\n42\n", ""),
            "{source}"
        );
        assert_eq!(temporary.count(), 0);
    }
    std::fs::write(
        folder.path().join("args.c"),
        "int main(int n, char **a) { (void)a; return n; }\n",
    )
    .unwrap();
    let mut command = run_source(
        folder.path(),
        temporary.path(),
        &["args.c", "-n", "--", "c"],
    );
    assert_eq!(Running::start(&mut command).finish().status, 4);
    assert_eq!(temporary.count(), 0);
}

#[test]
fn a_signal_during_the_compilation_leaves_nothing() {
    let folder = place("interrupted");
    let temporary = Folder::new("interrupted-tmp");
    let compiler = folder.path().join("slow-cc");
    std::fs::write(
        &compiler,
        "#!/bin/sh\ntouch \"$TMPDIR/started\"\nsleep 60\n",
    )
    .unwrap();
    super::support::run(Command::new("chmod").arg("+x").arg(&compiler));
    for (name, status) in [("INT", 130), ("TERM", 143), ("KILL", 137)] {
        let mut command = run_source(folder.path(), temporary.path(), &["-n", "2", "x.c"]);
        let job = Running::start(command.env("OSHCC_CC", &compiler));
        let started = || {
            let mut entries = std::fs::read_dir(temporary.path()).unwrap().flatten();
            entries.any(|entry| entry.path().join("started").exists())
        };
        assert!(wait_until(started));
        signal(name, job.pid());
        let outcome = job.finish();
        assert_eq!(outcome.status, status);
        let told = format!("SIG{name}) came while the program was being compiled");
        let killed = status == 137;
        assert!(killed || outcome.stderr.contains(&told), "{outcome:?}");
        assert!(wait_until(|| temporary.count() == 0), "{name}");
    }
}

#[test]
fn nothing_lies_about_while_a_source_runs() {
    let folder = place("running");
    let temporary = Folder::new("running-tmp");
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"1\\n\"); fflush(stdout); pause(); }\n";
    std::fs::write(folder.path().join("z.c"), source).unwrap();
    let mut job = Running::start(&mut run_source(
        folder.path(),
        temporary.path(),
        &["-n", "2", "z.c"],
    ));
    assert_eq!(job.numbers(2), [1, 1]);
    // It goes as soon as both have started, which they may have before oshrun has seen it.
    assert!(wait_until(|| temporary.count() == 0));
    signal("TERM", job.pid());
    assert_eq!(job.finish().status, 143);
}
