//! Links libshmem.a and libshmem.so from the static library that cargo builds.
//!
//! cargo's static library holds the whole Rust standard library, all symbols global. `ld -r` with the
//! C symbols as roots keeps the code that they need in one object file, in which everything else is
//! made local: that file is libshmem.a, so a Rust program can link it too. libshmem.so is linked
//! from the same object file with a version script. (A cdylib would export Rust's own names beside
//! these, and drop weak ones.)

use crate::error::{At, Result};
use crate::workspace::{
    LIBRARIES_PROFILE, TOOLS_PROFILE, Workspace, cc, make_parent, read, run, write,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checked-in list of exported names.
pub(crate) const SYMBOLS: &str = "shmem/cabi/symbols.txt";

/// The symbol that only libshmem.a offers: `_Fork` of static executables, with the options of
/// `-static` (crate `shmem-launcher`, `compiler`).
pub(crate) const ONLY_STATIC: &str = "__wrap__Fork";

/// The shared library's name to the loader. Where the number changes, programs are built again.
pub(crate) const SONAME: &str = "libshmem.so.0";

/// The editions of the library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edition {
    /// The one that programs are linked with.
    Ordinary,
    /// The one that checks the programs' calls (SHMEM_CHECK).
    Checking,
}

impl Edition {
    /// Returns the profile that the edition is built by. The checking one stands on the crates of
    /// the tools.
    fn profile(self) -> &'static str {
        match self {
            Self::Ordinary => LIBRARIES_PROFILE,
            Self::Checking => TOOLS_PROFILE,
        }
    }
}

/// Builds the static library with cargo, into [`archive`].
pub(crate) fn build(ws: &Workspace, edition: Edition) -> Result<()> {
    let options = match edition {
        Edition::Ordinary => &[][..],
        // The profile of the tools unwinds: here, too, a panic must not unwind into C.
        Edition::Checking => &["--features", "check", "--", "-C", "panic=abort"],
    };
    let mut cargo = ws.cargo("rustc");
    run(cargo
        .args(["--profile", edition.profile()])
        .args(["--package", "shmem-cabi", "--lib"])
        .args(["--crate-type", "staticlib"])
        .args(options))
}

/// Returns the place of the static library that cargo builds.
pub(crate) fn archive(ws: &Workspace, edition: Edition) -> PathBuf {
    ws.built(edition.profile()).join("libshmem_cabi.a")
}

/// Links both libraries of an edition into `dir`, which exists.
pub(crate) fn link(ws: &Workspace, edition: Edition, dir: &Path) -> Result<()> {
    let symbols = read(&ws.file(SYMBOLS))?;
    let object = dir.join("shmem.o");
    let names = dir.join("names");
    let roots = dir.join("roots.ld");
    let versions = dir.join("versions.ld");
    let lines = |before: &str, after: &str| -> String {
        symbols
            .lines()
            .map(|name| format!("{before}{name}{after}\n"))
            .collect()
    };
    write(&names, &format!("{symbols}{ONLY_STATIC}\n"))?;
    write(
        &roots,
        &format!("{}EXTERN({ONLY_STATIC})\n", lines("EXTERN(", ")")),
    )?;
    write(
        &versions,
        &format!("{{ global:\n{}local: *; }};\n", lines("", ";")),
    )?;

    run(cc()
        .args(["-r", "-nostdlib", "-Wl,--gc-sections", "-o"])
        .arg(&object)
        .arg(&roots)
        .arg(archive(ws, edition)))?;
    // Bitcode left over from the standard library would make the compilers' plugins of ar and ld
    // take the object for one that is still to be compiled.
    run(Command::new("objcopy")
        .args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"])
        .arg(option("--keep-global-symbols=", &names))
        .arg(&object))?;

    run(cc()
        .args([
            "-shared",
            "-Wl,--gc-sections",
            "-Wl,--no-undefined",
            "-Wl,-z,nodelete",
            "-Wl,--build-id",
        ])
        .arg(format!("-Wl,-soname,{SONAME}"))
        .arg(option("-Wl,--version-script=", &versions))
        .arg("-o")
        .arg(dir.join(SONAME))
        .arg(&object)
        .arg("-lgcc_s"))?;

    run(Command::new("objcopy").arg("--strip-debug").arg(&object))?;
    let static_library = dir.join("libshmem.a");
    run(Command::new("ar")
        .arg("rcsD")
        .arg(&static_library)
        .arg(&object))?;

    [object, names, roots, versions]
        .iter()
        .try_for_each(|path| fs::remove_file(path).at(path))
}

/// Moves the line information of the shared library at `path` into a file of its own, `lines`, which
/// goes without the code. So programs, debuggers and valgrind do not read it, and `farreach icount`
/// finds the layer of each instruction.
pub(crate) fn split(path: &Path, lines: &Path) -> Result<()> {
    make_parent(lines)?;
    run(Command::new("objcopy")
        .args(["--only-keep-debug", "--compress-debug-sections"])
        .args([path, lines]))?;
    run(Command::new("objcopy").arg("--strip-debug").arg(path))
}

/// Returns an option with a path glued to it.
fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}
