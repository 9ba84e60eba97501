//! The way of the PEs' output out of oshrun: in whole lines, or straight from the PEs.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{
    Folder, Outcome, Running, children, launch, oshrun, pe, runs, signal, wait_at_most,
};

const SECOND: Duration = Duration::from_secs(1);

/// Runs `"$@"`, which is oshrun with these arguments, within a shell's script.
fn in_a_shell(script: &str, line: &str) -> Outcome {
    let inner = oshrun(line);
    let mut command = Command::new("sh");
    command
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_oshrun")])
        .args(inner.get_args())
        .stdin(Stdio::null());
    Running::start(&mut command).finish()
}

/// Asserts that `text` holds the first `count` lines of each of `pes` writers (the action `lines`),
/// each whole and after the writer's line before it; yields the other lines.
#[track_caller]
fn assert_whole(text: &str, pes: usize, count: usize) -> Vec<&str> {
    let mut next = vec![0; pes];
    let mut others = Vec::new();
    for line in text.split_inclusive('\n') {
        let words: Vec<_> = line.split(' ').collect();
        let rank = words[0].parse().unwrap_or(usize::MAX);
        if rank >= pes {
            others.push(line);
            continue;
        }
        assert_eq!(line, format!("{rank} {} {:->60}{rank}\n", next[rank], ""));
        next[rank] += 1;
    }
    assert_eq!(next, vec![count; pes]);
    others
}

/// Returns the files of a PE's stdout and stderr, as /proc names them, when oshrun's are files.
fn descriptors(folder: &Path, line: &str) -> [String; 2] {
    let script = "readlink /proc/$$/fd/1; readlink /proc/$$/fd/2 >&2";
    let paths = ["stdout", "stderr"].map(|name| folder.join(name));
    let [stdout, stderr] = paths.each_ref().map(|path| File::create(path).unwrap());
    let mut command = oshrun(line);
    command.args(["sh", "-c", script]);
    assert!(
        command
            .stdout(stdout)
            .stderr(stderr)
            .status()
            .unwrap()
            .success()
    );
    paths.map(|path| {
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .to_owned()
    })
}

#[test]
fn lines_of_many_pes_come_out_whole() {
    let folder = Folder::new("whole");
    let file = folder.path().join("out");
    let mut command = oshrun("-n 16 PE lines:2000");
    assert!(
        command
            .stdout(File::create(&file).unwrap())
            .status()
            .unwrap()
            .success()
    );
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(assert_whole(&text, 16, 2000), [""; 0]);

    // So they do in a pipe, and with both outputs in one file.
    let outcome = launch("-n 16 PE lines:2000");
    assert_eq!(assert_whole(&outcome.stdout, 16, 2000), [""; 0]);
    for script in ["\"$@\" 2>&1 | cat", "\"$@\" 2>&1"] {
        let words: Vec<_> = (0..200).map(|i| format!("complain:error-{i}")).collect();
        let line = format!("-n 4 PE lines:1000 {}", words.join(" "));
        let outcome = in_a_shell(script, &line);
        let others = assert_whole(&outcome.stdout, 4, 1000);
        assert_eq!(others.len(), 800, "{others:?}");
        assert!(
            others
                .iter()
                .all(|line| line.starts_with("error-") && line.len() <= 10)
        );
    }
}

#[test]
fn both_outputs_in_one_pipe_do_not_tear_each_other() {
    // Longer than the most that a pipe takes in one piece.
    let folder = Folder::new("both");
    let program = folder.path().join("program");
    let text = "line=$(printf %06000d 0); for i in $(seq 100); do echo $line; echo $line >&2; done";
    std::fs::write(&program, text).unwrap();
    let line = format!("-n 4 sh {}", program.display());
    for script in ["\"$@\" 2>&1 | (sleep 0.3; cat)", "\"$@\" 2>&1"] {
        let outcome = in_a_shell(script, &line);
        assert_eq!(outcome.stdout.lines().count(), 800);
        assert!(outcome.stdout.lines().all(|line| line.len() == 6000));
    }
}

#[test]
fn long_lines_of_several_pes_do_not_mix() {
    // Of 300 kB, written in pieces that come at any time.
    let script = "line=$(printf %0300000d 0 | tr 0 $PMI_RANK); for i in 1 2 3; do echo $line; done";
    for label in ["", "-l "] {
        let line = format!("{label}-n 4 sh -c");
        let outcome = Running::start(oshrun(&line).arg(script)).finish();
        let lines: Vec<_> = outcome.stdout.lines().collect();
        assert_eq!((outcome.status, lines.len()), (0, 12));
        for line in lines {
            let text = line.split_once("] ").map_or(line, |(_, text)| text);
            let first = text.as_bytes()[0];
            let whole = text.len() == 300_000 && text.bytes().all(|byte| byte == first);
            assert!(whole, "{} bytes, from {:?}", text.len(), &text[..20]);
        }
    }
}

#[test]
fn files_and_pipes_get_lines_unless_told_otherwise() {
    let folder = Folder::new("passage");
    let pipe =
        |line: &str| descriptors(folder.path(), line).map(|target| target.starts_with("pipe:"));
    for (line, piped) in [
        ("-n 2", true),
        ("-n 1", false),
        ("-n 1 --output lines", true),
        ("-n 2 --output direct", false),
        ("-n 2 --output=lines", true),
    ] {
        assert_eq!(pipe(line), [piped; 2], "{line}");
    }
    let [stdout, stderr] = descriptors(folder.path(), "-n 2 --output direct");
    assert!(stdout.ends_with("/stdout") && stderr.ends_with("/stderr"));
}

#[test]
fn a_terminal_is_inherited() {
    let folder = Folder::new("terminal");
    let seen = |options: &str, redirection: &str| {
        let inner = "sh -c 'a=$(readlink /proc/$$/fd/1 /proc/$$/fd/2); echo \"$a\" >$0'";
        let (out, dump) = (folder.path().join("out"), folder.path().join("dump"));
        let line = format!(
            "{} {options} {inner} {} {redirection}{}",
            env!("CARGO_BIN_EXE_oshrun"),
            out.display(),
            if redirection.is_empty() {
                String::new()
            } else {
                dump.display().to_string()
            },
        );
        // script(1) runs it on a terminal.
        let mut command = Command::new("script");
        command
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::null());
        let outcome = Running::start(&mut command).finish();
        assert_eq!(outcome.status, 0, "{outcome:?}");
        let text = std::fs::read_to_string(&out).unwrap();
        text.lines()
            .map(|line| line.starts_with("/dev/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(seen("-n 2", ""), [true, true]);
    assert_eq!(seen("-n 2", ">"), [false, true]);
    assert_eq!(seen("-n 2", "2>"), [true, false]);
    assert_eq!(seen("-n 2 --output lines", ""), [false, false]);
}

#[test]
fn bytes_of_a_single_writer_pass_unchanged() {
    let folder = Folder::new("bytes");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    // Every byte, with stretches of up to 200 kB between line ends, and none at the end.
    let mut state = 1_u64;
    let mut bytes: Vec<u8> = (0..3_000_000)
        .map(|index| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let byte = (state >> 56) as u8;
            if byte == b'\n' && index % 400_000 < 200_000 {
                0
            } else {
                byte
            }
        })
        .collect();
    bytes.push(b'x');
    std::fs::write(&input, &bytes).unwrap();
    let program = folder.path().join("program");
    std::fs::write(&program, "[ $PMI_RANK = 0 ] || exec cat \"$1\"").unwrap();
    let line = format!("-n 2 sh {} {}", program.display(), input.display());
    let mut command = oshrun(&line);
    assert!(
        command
            .stdout(File::create(&output).unwrap())
            .status()
            .unwrap()
            .success()
    );
    assert!(
        std::fs::read(&output).unwrap() == bytes,
        "a file gets other bytes"
    );

    let outcome = in_a_shell(
        &format!("\"$@\" | (sleep 0.2; cat >{})", output.display()),
        &line,
    );
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert!(
        std::fs::read(&output).unwrap() == bytes,
        "a slow reader gets other bytes"
    );
}

#[test]
fn nothing_is_lost_when_the_job_is_ended() {
    // Some 130 kB of each, more than oshrun takes before it is read; then one is killed, or ends
    // the job.
    for (end, status) in [("kill:KILL", 137), ("abort:7", 7), ("exit:3", 3)] {
        let line = format!("-n 8 PE init lines:900 barrier @3,{end} sleep:60000");
        for script in [
            "exec \"$@\"",
            "{ \"$@\"; echo status $?; } | (sleep 1; cat)",
        ] {
            let outcome = in_a_shell(script, &line);
            let others = assert_whole(&outcome.stdout, 8, 900);
            if others.is_empty() {
                assert_eq!(outcome.status, status, "{outcome:?}");
            } else {
                assert_eq!(others, [format!("status {status}\n")]);
            }
        }
    }
}

#[test]
fn a_last_line_without_its_end_comes_out() {
    let outcome = Running::start(oshrun("-n 2 sh -c").arg(
        "if [ $PMI_RANK = 0 ]; then printf 'no end'; else sleep 0.2; echo line; kill -9 $$; fi",
    ))
    .finish();
    // It does not get into another's line.
    assert_eq!(outcome.stdout, "line\nno end");
    assert_eq!(outcome.status, 137);
    let outcome = Running::start(oshrun("-n 2 sh -c").arg("sleep 60 & printf end")).finish();
    assert_eq!(outcome.stdout, "endend");
    assert!(outcome.time < SECOND, "{outcome:?}");
}

#[test]
fn a_pipe_that_stays_open_does_not_hold_up_the_end() {
    for writes in [false, true] {
        let mut job = Running::start(
            oshrun("-n 2 sh -c").arg("[ $PMI_RANK = 1 ] || { echo $$; sleep 0.3; printf end; }"),
        );
        let pid = job.numbers(1)[0];
        // This process is not oshrun's to end.
        let mut pipe = OpenOptions::new()
            .write(true)
            .open(format!("/proc/{pid}/fd/1"))
            .unwrap();
        let writer = std::thread::spawn(move || {
            let start = std::time::Instant::now();
            while start.elapsed() < 3 * SECOND {
                if !writes {
                    std::thread::sleep(SECOND / 100);
                } else if pipe.write_all(b"more\n").is_err() {
                    return;
                }
            }
        });
        let outcome = job.finish();
        assert_eq!(outcome.status, 0);
        assert!(outcome.time < 2 * SECOND, "{:?}", outcome.time);
        assert!(writes || outcome.stdout == "end", "{outcome:?}");
        writer.join().unwrap();
    }
}

#[test]
fn what_pes_say_comes_before_what_oshrun_says() {
    let line = "-n 1 --output lines PE init pid sleep:200 complain:reason exit:0";
    let mut job = Running::start(&mut oshrun(line));
    let pe = job.numbers(1)[0];
    // Words and end come to oshrun at the same time.
    let runner = children(job.pid())[0];
    signal("STOP", runner);
    assert!(wait_at_most(5 * SECOND, || !runs(pe)));
    signal("CONT", runner);
    let outcome = job.finish();
    let lines: Vec<_> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{outcome:?}");
    assert!(
        lines[0] == "reason" && lines[1].starts_with("oshrun: PE 0 exited with status 0"),
        "{outcome:?}"
    );
}

#[test]
fn output_that_cannot_be_written_is_a_failure_of_oshrun_alone() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshrun"));
    command
        .args(["-n", "2", "sh", "-c", "\"$0\" lines:2000; echo done >&2"])
        .arg(pe())
        .stdin(Stdio::null())
        .stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(lines[..2], ["done", "done"]);
    assert!(
        lines.len() == 3 && lines[2].starts_with("oshrun: cannot write the output: No space"),
        "{text}"
    );
}

#[test]
fn help_that_cannot_be_written_is_told_of() {
    for (tool, option) in [
        (env!("CARGO_BIN_EXE_oshrun"), "--help"),
        (env!("CARGO_BIN_EXE_oshrun"), "--version"),
        (env!("CARGO_BIN_EXE_oshcc"), "--help"),
        (env!("CARGO_BIN_EXE_oshcc"), "-show"),
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(tool).arg(option).stdout(full).output();
        let output = output.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{tool} {option}: {text}");
        assert!(
            text.contains(": cannot write the output: No space") && text.lines().count() == 1,
            "{tool} {option}: {text}"
        );
    }
}
