//! The staging directory `target/farreach`, which is an installation, and installing elsewhere.

use crate::error::{At, Result};
use crate::flags;
use crate::library::{self, Edition};
use crate::workspace::{
    LIBRARIES_PROFILE, TOOLS_PROFILE, Workspace, make_parent, not_started, run, write,
};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A part of the installation, which is built and staged by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The library of OpenSHMEM, its headers, the compilers' wrappers and the launcher.
    Programs,
    /// The edition of that library which checks the programs' calls.
    Checking,
    /// The device in software.
    Softhca,
    /// The provider of libfabric, active messages with GASNet-1, and the command `farreach`.
    Others,
}

/// A file that cargo builds for the installation.
struct Built {
    part: Part,
    package: &'static str,
    /// The file in the folder of the profile.
    name: &'static str,
    /// Its place in the installation.
    to: &'static str,
}

impl Built {
    const fn new(part: Part, package: &'static str, name: &'static str, to: &'static str) -> Self {
        Self {
            part,
            package,
            name,
            to,
        }
    }
}

/// The tools, of [`TOOLS_PROFILE`].
const TOOLS: [Built; 6] = [
    Built::new(Part::Programs, "shmem-launcher", "oshrun", "bin/oshrun"),
    Built::new(Part::Programs, "shmem-launcher", "oshcc", "bin/oshcc"),
    Built::new(Part::Programs, "shmem-launcher", "oshcxx", "bin/oshc++"),
    Built::new(Part::Softhca, "softhca", "softhca", "bin/softhca"),
    Built::new(
        Part::Softhca,
        "softhca-shim",
        "libsofthca_shim.so",
        "lib/libsofthca_shim.so",
    ),
    Built::new(Part::Others, "farreach-cli", "farreach", "bin/farreach"),
];

/// The shared libraries that cargo links, of [`LIBRARIES_PROFILE`]. The provider of libfabric is
/// installed by a name that libfabric takes for a provider's, active messages by the name that
/// programs are linked with.
const LIBRARIES: [Built; 2] = [
    Built::new(
        Part::Others,
        "farreach-libfabric",
        "libfarreach_fi.so",
        "lib/farreach/libfarreach-fi.so",
    ),
    Built::new(
        Part::Others,
        "gasnet-cabi",
        "libfarreach_am.so",
        "lib/libfarreach-am.so.0",
    ),
];

/// The name of the library of active messages to the loader. Where the number changes, programs are
/// built again.
const ACTIVE_MESSAGES: &str = "libfarreach-am.so.0";

/// The headers of active messages and of GASNet, which lie in [`flags::OF_MESSAGES`].
const HEADERS_OF_MESSAGES: [&str; 3] = ["farreach_am.h", "farreach_gasnet.h", "gasnet.h"];

/// Place of the staging directory in the target directory.
const STAGE: &str = "farreach";

impl Part {
    const ALL: [Self; 4] = [Self::Programs, Self::Checking, Self::Softhca, Self::Others];

    /// Returns the part as a message names it.
    fn name(self) -> &'static str {
        match self {
            Self::Programs => "libshmem and its tools",
            Self::Checking => "the checking library",
            Self::Softhca => "the device in software",
            Self::Others => "the provider of libfabric, active messages and farreach",
        }
    }

    /// Returns the file with the description of the files that the part was staged from.
    fn stamp(self, ws: &Workspace) -> PathBuf {
        ws.built("farreach.stamps").join(format!("{self:?}"))
    }
}

/// Builds the changed parts and returns the staging directory.
pub(crate) fn stage(ws: &Workspace) -> Result<PathBuf> {
    stage_parts(ws, &Part::ALL)
}

/// Builds the changed ones of the parts that are wanted or have been staged before, and returns the
/// staging directory. Says nothing if all is well, except that a part is built for the first time.
fn stage_parts(ws: &Workspace, wanted: &[Part]) -> Result<PathBuf> {
    let stage = ws.built(STAGE);
    let lock_path = ws.built("farreach.lock");
    let lock = File::create(&lock_path).at(&lock_path)?;
    lock.lock().at(&lock_path)?;

    let is_staged = |part: Part| stage.exists() && part.stamp(ws).exists();
    let mut parts = Part::ALL.to_vec();
    parts.retain(|part| wanted.contains(part) || is_staged(*part));
    let first = parts.iter().filter(|part| !is_staged(**part));
    let first: Vec<_> = first.map(|part| part.name()).collect();
    if !first.is_empty() {
        eprintln!("building {} (once; takes some minutes)", first.join(", "));
    }

    build(ws, &parts)?;
    let files = tree_files(ws)?;
    for part in parts {
        let stamp = stamp(ws, part, &files)?;
        let is_same = |old: String| old == stamp;
        if is_staged(part) && fs::read_to_string(part.stamp(ws)).is_ok_and(is_same) {
            continue;
        }
        let work = ws.built("farreach.work");
        if work.exists() {
            fs::remove_dir_all(&work).at(&work)?;
        }
        fs::create_dir_all(&work).at(&work)?;
        place_part(ws, part, &files, &work)?;
        fs::remove_dir_all(&work).at(&work)?;
        write(&part.stamp(ws), &stamp)?;
    }
    Ok(stage)
}

/// Builds the parts with cargo: those of the two profiles side by side, as link-time optimisation
/// uses one core.
fn build(ws: &Workspace, parts: &[Part]) -> Result<()> {
    std::thread::scope(|scope| {
        let tools = scope.spawn(|| {
            build_files(ws, TOOLS_PROFILE, &TOOLS, parts)?;
            match parts.contains(&Part::Checking) {
                true => library::build(ws, Edition::Checking),
                false => Ok(()),
            }
        });
        let libraries = match parts.contains(&Part::Programs) {
            true => library::build(ws, Edition::Ordinary),
            false => Ok(()),
        };
        let libraries =
            libraries.and_then(|()| build_files(ws, LIBRARIES_PROFILE, &LIBRARIES, parts));
        tools
            .join()
            .expect("building does not panic")
            .and(libraries)
    })
}

/// Builds those of the files that belong to the parts. The libraries stand on dependencies that
/// libshmem mostly has, too.
fn build_files(ws: &Workspace, profile: &str, files: &[Built], parts: &[Part]) -> Result<()> {
    let files = files.iter().filter(|file| parts.contains(&file.part));
    let packages: Vec<_> = files.flat_map(|file| ["--package", file.package]).collect();
    match packages.is_empty() {
        true => Ok(()),
        false => run(ws
            .cargo("build")
            .args(["--profile", profile])
            .args(packages)),
    }
}

/// Puts a part into the staging directory; `work` is an empty directory.
fn place_part(ws: &Workspace, part: Part, files: &[(PathBuf, PathBuf)], work: &Path) -> Result<()> {
    let stage = ws.built(STAGE);
    let lines = |library: &str| stage.join("lib/farreach/lines").join(library);
    match part {
        Part::Programs => {
            library::link(ws, Edition::Ordinary, work)?;
            library::split(&work.join(library::SONAME), &lines(library::SONAME))?;
            for name in ["libshmem.a", library::SONAME] {
                place(&work.join(name), &stage.join("lib").join(name))?;
            }
            link(library::SONAME, &stage.join("lib/libshmem.so"))?;
            // The library alone, for oshrun to name in LD_LIBRARY_PATH.
            link(
                &format!("../{}", library::SONAME),
                &stage.join("lib/farreach").join(library::SONAME),
            )?;
        }
        Part::Checking => {
            library::link(ws, Edition::Checking, work)?;
            run(Command::new("objcopy")
                .arg("--strip-debug")
                .arg(work.join(library::SONAME)))?;
            let check = stage.join("lib/check");
            place(&work.join(library::SONAME), &check.join(library::SONAME))?;
            link(library::SONAME, &check.join("libshmem.so"))?;
        }
        Part::Softhca => {}
        Part::Others => {
            for library in LIBRARIES {
                let (copy, to) = (work.join(library.name), stage.join(library.to));
                fs::copy(ws.built(LIBRARIES_PROFILE).join(library.name), &copy).at(&copy)?;
                let name = to.file_name().unwrap_or_default().to_string_lossy();
                library::split(&copy, &lines(&name))?;
                place(&copy, &to)?;
            }
            link(ACTIVE_MESSAGES, &stage.join("lib/libfarreach-am.so"))?;
        }
    }
    for tool in TOOLS.iter().filter(|tool| tool.part == part) {
        place(
            &ws.built(TOOLS_PROFILE).join(tool.name),
            &stage.join(tool.to),
        )?;
    }
    let files = files.iter().filter(|(_, to)| part_of(to) == part);
    for (from, to) in files {
        place(from, &stage.join(to))?;
    }
    let flags = match part {
        Part::Programs => flags::of_programs(),
        Part::Others => flags::of_messages(),
        Part::Checking | Part::Softhca => Vec::new(),
    };
    for (to, text) in flags {
        write(&stage.join(to), &text)?;
    }
    Ok(())
}

/// Installs into `prefix`.
pub(crate) fn install(ws: &Workspace, prefix: &Path) -> Result<()> {
    let stage = stage(ws)?;
    copy_tree(&stage, prefix)
}

/// Runs the staged oshrun in place of this program. Builds the parts alone that the job needs.
pub(crate) fn oshrun(ws: &Workspace, arguments: Vec<OsString>) -> Result<()> {
    let stage = stage_parts(ws, &needed(&arguments, |name| std::env::var_os(name)))?;
    let mut command = Command::new(stage.join("bin/oshrun"));
    command.args(arguments);
    if let Some(path) = std::env::var_os("LD_LIBRARY_PATH") {
        // `cargo run` put its own directories in front; programs shall not see them.
        let keep = std::env::split_paths(&path).filter(|dir| !is_cargos(ws, dir));
        match std::env::join_paths(keep) {
            Ok(kept) if !kept.is_empty() => command.env("LD_LIBRARY_PATH", kept),
            _ => command.env_remove("LD_LIBRARY_PATH"),
        };
    }
    let error = command.exec();
    Err(not_started(&command, error))
}

/// Returns the parts that a job with these arguments of oshrun needs, by the names in them and in
/// the
/// environment. A part too many costs the time to build it once.
fn needed(arguments: &[OsString], variable: impl Fn(&str) -> Option<OsString>) -> Vec<Part> {
    let stands_in = |text: &OsString, name: &str| text.to_string_lossy().contains(name);
    let is_argument = |name: &str| arguments.iter().any(|text| stands_in(text, name));
    let fabric = variable("FARREACH_FABRIC").unwrap_or_default();
    let checks = |name: &&str| is_argument(name) || variable(name).is_some();
    let mut parts = vec![Part::Programs];
    if is_argument("softhca") || stands_in(&fabric, "softhca") {
        parts.push(Part::Softhca);
    }
    if ["SHMEM_CHECK", "SMA_CHECK"].iter().any(checks) {
        parts.push(Part::Checking);
    }
    parts
}

/// Returns whether `cargo run` adds this directory to `LD_LIBRARY_PATH`: those that it builds into,
/// and the one of Rust's own libraries.
fn is_cargos(ws: &Workspace, dir: &Path) -> bool {
    dir.starts_with(ws.built(TOOLS_PROFILE)) || dir.join("rustlib").is_dir()
}

/// Returns the files of the tree that are installed as they are: their place in the tree, and that
/// in the installation.
fn tree_files(ws: &Workspace) -> Result<Vec<(PathBuf, PathBuf)>> {
    let mut files = Vec::new();
    for (dir, to, wanted) in [
        ("include", "include", &[""][..]),
        ("include/mpp", "include/mpp", &[""]),
        (
            ".",
            "share/doc/farreach",
            &["README", "LICENSE", "CHANGELOG"],
        ),
    ] {
        let dir = ws.file(dir);
        for entry in fs::read_dir(&dir).at(&dir)? {
            let entry = entry.at(&dir)?;
            let name = entry.file_name();
            let is_wanted = wanted
                .iter()
                .any(|start| name.to_string_lossy().starts_with(start));
            let to = match HEADERS_OF_MESSAGES.iter().any(|&header| name == header) {
                true => flags::OF_MESSAGES,
                false => to,
            };
            if is_wanted && entry.path().is_file() {
                files.push((entry.path(), Path::new(to).join(name)));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the part that a file of the tree belongs to, by its place in the installation.
fn part_of(to: &Path) -> Part {
    match to.starts_with(flags::OF_MESSAGES) {
        true => Part::Others,
        false => Part::Programs,
    }
}

/// Describes the files that a part is made from, in a text that differs when any of them does.
fn stamp(ws: &Workspace, part: Part, files: &[(PathBuf, PathBuf)]) -> Result<String> {
    let mut inputs = vec![std::env::current_exe().at(Path::new("/proc/self/exe"))?];
    let edition = match part {
        Part::Programs => Some(Edition::Ordinary),
        Part::Checking => Some(Edition::Checking),
        Part::Softhca | Part::Others => None,
    };
    if let Some(edition) = edition {
        inputs.extend([library::archive(ws, edition), ws.file(library::SYMBOLS)]);
    }
    for (profile, built) in [(TOOLS_PROFILE, &TOOLS[..]), (LIBRARIES_PROFILE, &LIBRARIES)] {
        let built = built.iter().filter(|built| built.part == part);
        inputs.extend(built.map(|built| ws.built(profile).join(built.name)));
    }
    let files = files.iter().filter(|(_, to)| part_of(to) == part);
    inputs.extend(files.map(|(from, _)| from.clone()));
    let mut stamp = String::new();
    for path in inputs {
        let meta = fs::metadata(&path).at(&path)?;
        let _ = writeln!(
            stamp,
            "{} {} {}.{:09}",
            path.display(),
            meta.len(),
            meta.mtime(),
            meta.mtime_nsec()
        );
    }
    Ok(stamp)
}

/// Copies a file to its place in one step, so that a program that runs from there is not disturbed.
fn place(from: &Path, to: &Path) -> Result<()> {
    let beside = beside(to);
    make_parent(to)?;
    fs::copy(from, &beside).at(from)?;
    fs::rename(&beside, to).at(to)
}

/// Makes a symbolic link in one step.
fn link(target: &str, to: &Path) -> Result<()> {
    let beside = beside(to);
    make_parent(to)?;
    if beside.symlink_metadata().is_ok() {
        fs::remove_file(&beside).at(&beside)?;
    }
    symlink(target, &beside).at(&beside)?;
    fs::rename(&beside, to).at(to)
}

/// Returns a name for the file that is on its way to `to`.
fn beside(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}

/// Copies a directory with its contents.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).at(from)? {
        let entry = entry.at(from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().at(&source)?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_symlink() {
            let leads_to = fs::read_link(&source).at(&source)?;
            link(&leads_to.to_string_lossy(), &target)?;
        } else {
            place(&source, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts beside the programs' own that a job needs.
    fn further(arguments: &[&str], variable: Option<&str>) -> Vec<Part> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let mut parts = needed(&arguments, |name| {
            (variable == Some(name)).then(|| "softhca".into())
        });
        assert_eq!(parts.remove(0), Part::Programs);
        parts
    }

    #[test]
    fn a_job_needs_the_parts_that_its_line_and_environment_name() {
        assert_eq!(further(&["-n", "4", "hello.c"], None), []);
        for fabric in [&["--fabric", "softhca"][..], &["--fabric=softhca"]] {
            assert_eq!(further(fabric, None), [Part::Softhca]);
        }
        assert_eq!(further(&[], Some("FARREACH_FABRIC")), [Part::Softhca]);
        assert_eq!(further(&[], Some("SHMEM_CHECK")), [Part::Checking]);
        let both = ["-x", "SMA_CHECK=1", "--fabric", "softhca"];
        assert_eq!(further(&both, None), [Part::Softhca, Part::Checking]);
    }
}
