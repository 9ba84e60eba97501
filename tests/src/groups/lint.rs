//! Finds mistakes without running the programs.

use super::house_rules;
use crate::case::{Case, Invocation};
use crate::session::Session;

/// The crates that say that they need glibc, where they are compiled for musl.
const REFUSE_MUSL: [&str; 3] = [
    "fi-provider/shm/src/lib.rs",
    "fi-provider/softhca/shim/src/lib.rs",
    "shmem/src/lib.rs",
];

/// Compiles each as for musl, whose standard library need not be installed for that: without the
/// crates that it depends on, so that there are other errors as well.
const ON_MUSL: &str = r#"for file; do
        rustc --edition 2024 --crate-type lib --emit metadata -o "$TMPDIR/lib.rmeta" \
            -A explicit_builtin_cfgs_in_flags --cfg 'target_env="musl"' "$file" \
            2> "$TMPDIR/errors" || :
        grep -q '^error: .*glibc.*take a target that ends in -gnu' "$TMPDIR/errors" || {
            echo "$file is compiled for musl" >&2; exit 1; }
    done"#;

/// Returns one case for each tool.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let clippy = session.cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let checking = session.cargo(&[
        "clippy",
        "--package",
        "shmem",
        "--package",
        "shmem-cabi",
        "--features",
        "shmem-cabi/check",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let doc = session
        .cargo(&["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    // The longest first. Those behind the others would wait for the first one's build directory.
    let on_musl = Invocation::new("sh").args(["-euc", ON_MUSL, "sh"]);
    let mut cases = vec![
        Case::new("clippy", 300, clippy),
        // Without a build of each: the crates are those of the workspace.
        Case::new(
            "package",
            120,
            session.cargo(&["package", "--workspace", "--no-verify", "--allow-dirty"]),
        ),
        Case::new("musl is refused", 60, on_musl.args(REFUSE_MUSL)),
        Case::new(
            "fmt",
            60,
            session.cargo(&["fmt", "--all", "--check", "--", "--files-with-diff"]),
        ),
        Case::new("layers", 120, session.cargo(&["xtask", "layers"])),
    ];
    for own in house_rules::OWN {
        cases.push(own.case(&[])?);
    }
    cases.push(Case::new("clippy of the checking library", 300, checking));
    cases.push(Case::new("doc", 300, doc));
    Ok(cases)
}
