//! The staging directory `target/farreach`, which is an installation, and installing elsewhere.

use crate::error::{At, Result};
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

/// The packages of the tools.
const PACKAGES: [&str; 4] = ["shmem-launcher", "farreach-cli", "softhca", "softhca-shim"];

/// The shared libraries that cargo links: the package of each, the library that cargo builds of it,
/// and where it is installed. The provider of libfabric by a name that libfabric takes for a
/// provider's, active messages by the name that programs are linked with.
const LIBRARIES: [(&str, &str, &str); 2] = [
    (
        "farreach-libfabric",
        "libfarreach_fi.so",
        "lib/farreach/libfarreach-fi.so",
    ),
    (
        "gasnet-cabi",
        "libfarreach_am.so",
        "lib/libfarreach-am.so.0",
    ),
];

/// The tools that cargo builds, and where each is installed.
const TOOLS: [(&str, &str); 6] = [
    ("oshrun", "bin/oshrun"),
    ("oshcc", "bin/oshcc"),
    ("oshcxx", "bin/oshc++"),
    ("farreach", "bin/farreach"),
    ("softhca", "bin/softhca"),
    ("libsofthca_shim.so", "lib/libsofthca_shim.so"),
];

/// Place of the staging directory in the target directory.
const STAGE: &str = "farreach";

/// Builds the changed parts and returns the staging directory. Says nothing if all is well, except
/// that it is at work when it is so for the first time.
pub(crate) fn stage(ws: &Workspace) -> Result<PathBuf> {
    let stage = ws.built(STAGE);
    if !stage.exists() {
        eprintln!("building libshmem and its tools (once; takes some minutes)");
    }
    fs::create_dir_all(&stage).at(&stage)?;
    let lock_path = ws.built("farreach.lock");
    let lock = File::create(&lock_path).at(&lock_path)?;
    lock.lock().at(&lock_path)?;

    // Side by side: link-time optimisation uses one core.
    let (tools, archive) = std::thread::scope(|scope| {
        let tools = scope.spawn(|| {
            build_tools(ws)?;
            library::build(ws, Edition::Checking)
        });
        let archive = library::build(ws, Edition::Ordinary)
            .and_then(|archive| build_libraries(ws).map(|()| archive));
        (tools.join().expect("building does not panic"), archive)
    });
    let (checking, archive) = (tools?, archive?);
    let files = tree_files(ws)?;
    let stamp_path = ws.built("farreach.stamp");
    let stamp = stamp(ws, [&archive, &checking], &files)?;
    if fs::read_to_string(&stamp_path).is_ok_and(|old| old == stamp) {
        return Ok(stage);
    }

    let work = ws.built("farreach.work");
    if work.exists() {
        fs::remove_dir_all(&work).at(&work)?;
    }
    fs::create_dir_all(&work).at(&work)?;
    library::link(ws, &archive, &work)?;
    let lines = |library: &str| stage.join("lib/farreach/lines").join(library);
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
    library::link(ws, &checking, &work)?;
    run(Command::new("objcopy")
        .arg("--strip-debug")
        .arg(work.join(library::SONAME)))?;
    let check = stage.join("lib/check");
    place(&work.join(library::SONAME), &check.join(library::SONAME))?;
    link(library::SONAME, &check.join("libshmem.so"))?;
    for (built, to) in TOOLS {
        place(&ws.built(TOOLS_PROFILE).join(built), &stage.join(to))?;
    }
    for (_, built, to) in LIBRARIES {
        let (copy, to) = (work.join(built), stage.join(to));
        fs::copy(ws.built(LIBRARIES_PROFILE).join(built), &copy).at(&copy)?;
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        library::split(&copy, &lines(&name))?;
        place(&copy, &to)?;
    }
    link(ACTIVE_MESSAGES, &stage.join("lib/libfarreach-am.so"))?;
    for (from, to) in &files {
        place(from, &stage.join(to))?;
    }
    write_flags(&stage)?;
    fs::remove_dir_all(&work).at(&work)?;
    write(&stamp_path, &stamp)?;
    Ok(stage)
}

/// Builds the shared libraries that cargo links, by dependencies that libshmem mostly has, too.
fn build_libraries(ws: &Workspace) -> Result<()> {
    let packages = LIBRARIES.iter().flat_map(|(name, ..)| ["--package", name]);
    run(ws
        .cargo("build")
        .args(["--profile", LIBRARIES_PROFILE])
        .args(packages))
}

fn build_tools(ws: &Workspace) -> Result<()> {
    let packages = PACKAGES.iter().flat_map(|name| ["--package", name]);
    run(ws
        .cargo("build")
        .args(["--profile", TOOLS_PROFILE, "--bins", "--lib"])
        .args(packages))
}

/// The name of the library of active messages to the loader. Where the number changes, programs are
/// built again.
const ACTIVE_MESSAGES: &str = "libfarreach-am.so.0";

/// The folder of the headers of active messages and of GASNet, which lie beside no others: a program of
/// theirs may have a shmem.h of its own, or another gasnet.h.
const OF_MESSAGES: &str = "include/farreach-am";
const HEADERS_OF_MESSAGES: [&str; 3] = ["farreach_am.h", "farreach_gasnet.h", "gasnet.h"];

/// A library by pkg-config: the paths are taken from where this file lies.
const PKG_CONFIG: &str = "\
prefix=${pcfiledir}/../..
includedir=${prefix}/@INCLUDE@
libdir=${prefix}/lib

Name: @NAME@
Description: @DESCRIPTION@
Version: @VERSION@
Cflags: -I${includedir}@CFLAGS@
Libs: -L${libdir} -Wl,-rpath,${libdir} @LIBS@
";

/// The line that only static programs of OpenSHMEM need.
const PKG_CONFIG_STATIC: &str =
    "Libs.private: -Wl,--undefined=_Fork,--wrap=_Fork -lgcc -lgcc_eh -lc\n";

/// The modes of GASNet-1, and the flag that compiler and linker need for threads.
const MODES: [(&str, &str); 3] = [("seq", ""), ("parsync", " -pthread"), ("par", " -pthread")];

/// The folder of the files for make below [`OF_MESSAGES`], as GASNet's installations have it.
const CONDUIT: &str = "farreach-conduit";

/// A mode of GASNet-1 for GNU make, by the variables of GASNet's README: the paths are taken from
/// where this file lies.
const MAKE: &str = "\
# GASNet-1 by Farreach, GASNET_@MODE@: for programs whose makefile includes this.
FARREACH_GASNET := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../../..)
GASNET_CC ?= cc
GASNET_CXX ?= c++
GASNET_LD ?= $(GASNET_CC)
GASNET_DEFINES = -D_GNU_SOURCE=1 -DGASNET_@MODE@=1
GASNET_INCLUDES = -I$(FARREACH_GASNET)/@INCLUDE@
GASNET_OPT_CFLAGS = -O2
GASNET_MISC_CFLAGS =@THREADS@
GASNET_CPPFLAGS = $(GASNET_DEFINES) $(GASNET_INCLUDES)
GASNET_CFLAGS = $(GASNET_OPT_CFLAGS) $(GASNET_MISC_CFLAGS)
GASNET_CXXCPPFLAGS = $(GASNET_CPPFLAGS)
GASNET_CXXFLAGS = $(GASNET_CFLAGS)
GASNET_LDFLAGS =@THREADS@ -L$(FARREACH_GASNET)/lib -Wl,-rpath,$(FARREACH_GASNET)/lib
GASNET_LIBS = -lfarreach-am
";

/// Returns the files for make: name and text of each.
fn make_files() -> impl Iterator<Item = (String, String)> {
    MODES.iter().map(|(mode, threads)| {
        let text = MAKE.replace("@MODE@", &mode.to_uppercase());
        let text = text.replace("@INCLUDE@", OF_MESSAGES);
        (
            format!("farreach-{mode}.mak"),
            text.replace("@THREADS@", threads),
        )
    })
}

/// Writes the files that tell of the flags of programs.
fn write_flags(stage: &Path) -> Result<()> {
    for (name, text) in pkg_config() {
        write(&stage.join("lib/pkgconfig").join(name), &text)?;
    }
    for (name, text) in make_files() {
        write(&stage.join(OF_MESSAGES).join(CONDUIT).join(name), &text)?;
    }
    Ok(())
}

/// Returns the files for pkg-config: name and text of each.
fn pkg_config() -> Vec<(String, String)> {
    let text = |name: &str, description: &str, cflags: &str, libs: &str| {
        let include = if name == "shmem" {
            "include"
        } else {
            OF_MESSAGES
        };
        PKG_CONFIG
            .replace("@INCLUDE@", include)
            .replace("@NAME@", name)
            .replace("@DESCRIPTION@", description)
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@CFLAGS@", cflags)
            .replace("@LIBS@", libs)
    };
    let shmem = text("shmem", "OpenSHMEM 1.6 by Farreach", "", "-lshmem");
    let am = text(
        "farreach-am",
        "active messages by Farreach",
        "",
        "-lfarreach-am",
    );
    let mut files = vec![
        ("shmem.pc".to_owned(), shmem + PKG_CONFIG_STATIC),
        ("farreach-am.pc".to_owned(), am),
    ];
    for (mode, threads) in MODES {
        let name = format!("farreach-gasnet-{mode}");
        let upper = mode.to_uppercase();
        let description = format!("GASNet-1 by Farreach, GASNET_{upper}");
        let cflags = format!(" -DGASNET_{upper}=1{threads}");
        let libs = format!("-lfarreach-am{threads}");
        files.push((
            format!("{name}.pc"),
            text(&name, &description, &cflags, &libs),
        ));
    }
    files
}

/// Installs into `prefix`.
pub(crate) fn install(ws: &Workspace, prefix: &Path) -> Result<()> {
    let stage = stage(ws)?;
    copy_tree(&stage, prefix)
}

/// Runs the staged oshrun in place of this program.
pub(crate) fn oshrun(ws: &Workspace, arguments: Vec<OsString>) -> Result<()> {
    let mut command = Command::new(stage(ws)?.join("bin/oshrun"));
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
                true => OF_MESSAGES,
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

/// Describes the files that the staging directory is made from, in a text that differs when any of
/// them does.
fn stamp(ws: &Workspace, archives: [&Path; 2], files: &[(PathBuf, PathBuf)]) -> Result<String> {
    let own = std::env::current_exe().at(Path::new("/proc/self/exe"))?;
    let tools = TOOLS
        .iter()
        .map(|(built, _)| ws.built(TOOLS_PROFILE).join(built));
    let inputs = archives.map(Path::to_owned).into_iter();
    let inputs = inputs
        .chain([own, ws.file(library::SYMBOLS)])
        .chain(LIBRARIES.map(|(_, built, _)| ws.built(LIBRARIES_PROFILE).join(built)))
        .chain(tools)
        .chain(files.iter().map(|(from, _)| from.clone()));
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
