//! The lanes of an endpoint.

/// One of the endpoint's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// That of records.
    Messages,
    /// That of accesses to memory.
    Memory,
}
