//! Jobs that start, end and die in every way.
use crate::case::Case;
use crate::own::Own;
use crate::session::Session;
/// x
pub(crate) const OWN: &[Own] = &[];
/// x
pub(crate) fn cases(_session: &Session) -> Result<Vec<Case>, String> {
    Ok(Vec::new())
}
