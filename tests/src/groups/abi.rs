//! The C interface: the generated files are current, and the library exports what they say; and the machine code of a
//! put has its stores in order.

use crate::case::Case;
use crate::session::Session;

/// One case for each check that xtask has.
pub(crate) fn cases(session: &Session) -> Result<Vec<Case>, String> {
    let checks: [(&str, &[&str]); 4] = [
        ("headers", &["xtask", "headers", "--check"]),
        ("symbols", &["xtask", "symbols", "--check"]),
        ("compile-check", &["xtask", "compile-check"]),
        ("barriers", &["xtask", "barriers"]),
    ];
    Ok(checks
        .map(|(name, args)| Case::new(name, 300, session.cargo(args)))
        .into())
}
