//! The C interface: the generated files are current, and the library exports their names.
//! `tests/abi/README.md` says more.

use crate::case::{Case, Invocation};
use crate::session::Session;

/// Returns one case for each check that xtask has, and the profiling library.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let checks: [(&str, &[&str]); 3] = [
        ("headers", &["xtask", "headers", "--check"]),
        ("symbols", &["xtask", "symbols", "--check"]),
        ("compile-check", &["xtask", "compile-check"]),
    ];
    let mut cases = checks
        .map(|(name, args)| Case::new(name, 300, session.cargo(args)))
        .to_vec();
    let profiling = Invocation::new(session.place.root.join("tests/abi/profiling"));
    let mut profiling = Case::new("profiling", 120, profiling.arg(session.place.staged("")));
    profiling.leaves_nothing = true;
    cases.push(profiling);
    Ok(cases)
}
