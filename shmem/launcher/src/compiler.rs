//! oshcc and oshc++: the system's compiler with the installation's header and library.
//!
//! The user's arguments pass unchanged; `-I` goes before them, the library after them where
//! something is linked.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::installation::Installation;
use crate::stdout::print;

/// The compiler to stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// oshcc: `$OSHCC_CC`, or `cc`.
    C,
    /// oshc++: `$OSHCXX_CXX`, or `c++`.
    Cxx,
}

impl Language {
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Language::C => "oshcc",
            Language::Cxx => "oshc++",
        }
    }

    fn compiler(self) -> (&'static str, &'static str) {
        match self {
            Language::C => ("OSHCC_CC", "cc"),
            Language::Cxx => ("OSHCXX_CXX", "c++"),
        }
    }
}

/// The text that the user wants to see instead of a compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    Command,
    CompileFlags,
    LinkFlags,
}

/// Options whose value is the next argument.
const TAKES_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-isysroot",
    "--sysroot",
    "--param",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-target",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-wrapper",
];

/// Options after which nothing is linked.
const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-r",
    "-Wl,-r",
];

/// Runs the compiler with this process's arguments; returns only when it could not, or with nothing
/// to run.
pub fn main(language: Language) -> i32 {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let tool = language.tool();
    let place = match Installation::find() {
        Ok(place) => place,
        Err(error) => {
            eprintln!("{tool}: cannot read /proc/self/exe to find the installation: {error}");
            return 1;
        }
    };
    if arguments.as_slice() == ["--help"] {
        return print(tool, &help(language));
    }
    let (variable, default) = language.compiler();
    let compiler = std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .unwrap_or(default.into());
    let (show, arguments) = take_show(arguments);
    let words = match show {
        Some(Show::CompileFlags) => compile_flags(&place),
        Some(Show::LinkFlags) => link_flags(&place, &arguments),
        // Without anything else, for tools that ask for the flags of both, as of MPI's compilers.
        Some(Show::Command) if arguments.is_empty() => {
            [command(&compiler, &place, vec![]), link_flags(&place, &[])].concat()
        }
        Some(Show::Command) | None => command(&compiler, &place, arguments),
    };
    if show.is_some() {
        let words: Vec<_> = words.iter().map(|word| quote(word)).collect();
        return print(tool, &(words.join(" ") + "\n"));
    }
    let header = place.include().join("shmem.h");
    if !header.is_file() {
        eprintln!(
            "{tool}: {} is missing; run the {tool} of an installation",
            header.display()
        );
        return 1;
    }
    let error = Command::new(&words[0]).args(&words[1..]).exec();
    eprintln!(
        "{tool}: cannot run the compiler {}: {error} ({variable} names another)",
        Path::new(&words[0]).display()
    );
    127
}

fn help(language: Language) -> String {
    let (tool, (variable, default)) = (language.tool(), language.compiler());
    format!(
        "Usage: {tool} [compiler options] file...\n\n\
         Runs {default} (or what {variable} names) with the header and the library of OpenSHMEM.\n\n\
         \x20 --showme, -show      print the command instead of running it; alone, with all flags\n\
         \x20 --showme:compile     print the options for compiling\n\
         \x20 --showme:link        print the options for linking\n\
         \x20 --help               print this\n\n\
         Everything else is passed on; -static links libshmem.a.\n"
    )
}

/// Takes the option that asks to show something out of the arguments.
fn take_show(mut arguments: Vec<OsString>) -> (Option<Show>, Vec<OsString>) {
    let mut show = None;
    arguments.retain(|argument| {
        let wanted = match argument.as_bytes() {
            b"-show" | b"--show" | b"-showme" | b"--showme" => Show::Command,
            b"-showme:compile" | b"--showme:compile" => Show::CompileFlags,
            b"-showme:link" | b"--showme:link" => Show::LinkFlags,
            _ => return true,
        };
        show = Some(wanted);
        false
    });
    (show, arguments)
}

/// Returns the compiler's whole command.
fn command(compiler: &OsStr, place: &Installation, arguments: Vec<OsString>) -> Vec<OsString> {
    // The variable may hold a wrapper and options: `ccache gcc -m64`.
    let mut words: Vec<OsString> = compiler
        .as_bytes()
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect();
    words.extend(compile_flags(place));
    let link = links(&arguments).then(|| link_flags(place, &arguments));
    words.extend(arguments);
    words.extend(link.into_iter().flatten());
    words
}

fn compile_flags(place: &Installation) -> Vec<OsString> {
    vec![glue("-I", &place.include())]
}

/// Returns the flags behind the user's objects. `-lm` is there because many OpenSHMEM programs
/// count on it.
fn link_flags(place: &Installation, arguments: &[OsString]) -> Vec<OsString> {
    let lib = place.lib();
    let mut flags = vec![glue("-L", &lib)];
    if arguments
        .iter()
        .any(|argument| argument == "-static" || argument == "-static-pie")
    {
        // The library stands around fork's system call, and names it weakly, which links nothing.
        // After it come the libraries of Rust's standard library, in the order in which symbols are
        // sought.
        flags.extend(
            [
                "-Wl,--undefined=_Fork,--wrap=_Fork",
                "-lshmem",
                "-lgcc_eh",
                "-lpthread",
                "-ldl",
                "-lm",
                "-lc",
            ]
            .map(OsString::from),
        );
    } else {
        // A RUNPATH, so that LD_LIBRARY_PATH can put another build of the library first.
        flags.extend([
            glue("-Wl,--enable-new-dtags,-rpath,", &lib),
            "-lshmem".into(),
            "-lm".into(),
        ]);
    }
    flags
}

/// Returns whether the compiler will link: it has something to work on and was not told to stop
/// before.
fn links(arguments: &[OsString]) -> bool {
    let mut input = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if NO_LINK.iter().any(|option| argument == option) {
            return false;
        }
        if TAKES_VALUE.iter().any(|option| argument == option) {
            rest.next();
        } else {
            input |= argument == "-" || !argument.as_bytes().starts_with(b"-");
        }
    }
    input
}

fn glue(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// Returns a word as a shell reads it back.
fn quote(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+/.,:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(OsString::from)
            .collect()
    }

    #[test]
    fn only_a_link_gets_the_library() {
        for yes in [
            "x.c",
            "-O2 x.c -o x",
            "x.o -lfoo",
            "-x c -",
            "-static x.c",
            "@file",
        ] {
            assert!(links(&words(yes)), "{yes}");
        }
        for no in [
            "",
            "-c x.c",
            "x.c -S",
            "-E x.c",
            "-MM x.c",
            "--version",
            "-v",
            "-dumpmachine",
            "-print-file-name=x",
            "-o x",
            "-r x.o",
        ] {
            assert!(!links(&words(no)), "{no}");
        }
    }

    #[test]
    fn the_order_serves_static_libraries() {
        let place = Installation::find().unwrap();
        let command = command(OsStr::new("ccache gcc"), &place, words("-static x.c"));
        let position = |word: &str| command.iter().position(|found| found == word).unwrap();
        assert_eq!(&command[..2], ["ccache", "gcc"]);
        assert!(
            position("x.c") < position("-lshmem") && position("-lshmem") < position("-lgcc_eh")
        );
        assert!(position("-lgcc_eh") < position("-lc"));
    }

    #[test]
    fn show_is_taken_out() {
        assert_eq!(
            take_show(words("-c --showme x.c")),
            (Some(Show::Command), words("-c x.c"))
        );
        assert_eq!(
            take_show(words("--showme:link")),
            (Some(Show::LinkFlags), vec![])
        );
        assert_eq!(take_show(words("-c x.c")), (None, words("-c x.c")));
    }

    #[test]
    fn a_shell_reads_back_what_is_shown() {
        assert_eq!(quote(OsStr::new("-I/a/b")), "-I/a/b");
        assert_eq!(quote(OsStr::new("/a b/it's")), r"'/a b/it'\''s'");
        assert_eq!(quote(OsStr::new("")), "''");
    }
}
