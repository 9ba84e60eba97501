//! The lanes of an endpoint.

/// One of the endpoint's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The lane of records.
    Messages,
    /// The lane of accesses to memory.
    Memory,
}
