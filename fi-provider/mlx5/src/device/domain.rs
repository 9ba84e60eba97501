//! Thread domains.

use super::context::Protection;
use crate::error::Error;
use crate::verbs::core::{Pd, Td};
use crate::verbs::inline;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// A doorbell register of one's own, shared by the queue pairs that are made in it; one thread at a time posts to them.
#[derive(Clone, Debug)]
pub struct ThreadDomain(Arc<Domain>);

struct Domain {
    protection: Arc<Protection>,
    /// The thread domain, and the parent domain that joins it with the device's protection domain.
    own: Option<(NonNull<Td>, NonNull<Pd>)>,
}

// SAFETY: libibverbs lets any thread use a domain.
unsafe impl Send for Domain {}
// SAFETY: libibverbs lets several threads do so at a time.
unsafe impl Sync for Domain {}

impl ThreadDomain {
    pub(super) fn new(protection: &Arc<Protection>) -> Result<Self, Error> {
        let context = &protection.context;
        // SAFETY: the context is open.
        let td = unsafe { inline::alloc_td(context.raw()) };
        let td = NonNull::new(td).ok_or_else(|| Error::last("ibv_alloc_td"))?;
        // SAFETY: all are of the context, which is open.
        let parent = unsafe {
            inline::alloc_parent_domain(context.raw(), protection.raw().as_ptr(), td.as_ptr())
        };
        let Some(parent) = NonNull::new(parent) else {
            let error = Error::last("ibv_alloc_parent_domain");
            // SAFETY: nothing uses it.
            context.close(|_| unsafe { inline::dealloc_td(context.raw(), td.as_ptr()) });
            return Err(error);
        };
        context.book.add_domain();
        Ok(Self(Arc::new(Domain {
            protection: Arc::clone(protection),
            own: Some((td, parent)),
        })))
    }

    /// Makes one without a thread domain: the device's protection domain alone.
    pub(super) fn plain(protection: &Arc<Protection>) -> Self {
        Self(Arc::new(Domain {
            protection: Arc::clone(protection),
            own: None,
        }))
    }

    /// Returns whether it has a register of its own; otherwise other queue pairs of the device ring
    /// the same ones.
    #[must_use]
    pub fn exclusive(&self) -> bool {
        self.0.own.is_some()
    }

    /// Returns the protection domain for the objects that are made in it.
    pub(super) fn pd(&self) -> *mut Pd {
        self.parent()
            .unwrap_or_else(|| self.0.protection.raw())
            .as_ptr()
    }

    /// Returns the parent domain, if it is one.
    pub(super) fn parent(&self) -> Option<NonNull<Pd>> {
        self.0.own.map(|(_, parent)| parent)
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let context = &self.protection.context;
        if let Some((td, parent)) = self.own {
            context.book.remove_domain();
            // SAFETY: each object that was made in it holds a share of this, hence is gone.
            context.close(|library| unsafe { (library.dealloc_pd)(parent.as_ptr()) });
            // SAFETY: the context is open, and the parent domain, which alone used `td`, is gone.
            context.close(|_| unsafe { inline::dealloc_td(context.raw(), td.as_ptr()) });
        }
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exclusive = self.own.is_some();
        f.debug_struct("Domain")
            .field("exclusive", &exclusive)
            .finish()
    }
}
