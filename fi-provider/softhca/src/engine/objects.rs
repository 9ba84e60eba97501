//! Commands, which create, change and destroy objects.

use super::completion::CompletionQueue;
use super::memory::Memory;
use super::queue::{QueuePair, SharedQueue};
use super::transition::{next_state, take_over};
use super::types::{
    Access, AsyncKind, ContextId, CqInit, Error, MrKeys, Pid, QpAttr, QpCreated, QpInit, QpKind,
    QpModified, QpState, SrqInit, UarAccount, UarKind, UarRegime, UarReport, attr,
};
use super::uar::Uars;
use super::{Context, Domain, Engine, Result};

impl Engine {
    /// Opens a context for a process; several may be open in one process. The library manages its doorbell
    /// pages, unless [`Self::set_uar_regime`] says otherwise.
    pub fn open_context(&mut self, pid: Pid) -> ContextId {
        let id = ContextId(self.next_context);
        self.next_context += 1;
        let uars = Uars::default();
        self.contexts.insert(id, Context { pid, uars });
        id
    }

    /// Sets which component assigns the doorbell registers of a context, with the counts that its
    /// GET_CONTEXT asked for.
    ///
    /// # Errors
    /// Unknown context; no registers at all, more than 512, or none but those of low latency; a context
    /// that has pages or queue pairs already.
    pub fn set_uar_regime(&mut self, context: ContextId, regime: UarRegime) -> Result<()> {
        let used = self.qps.values().any(|qp| qp.context == context);
        let owner = self
            .contexts
            .get_mut(&context)
            .ok_or(Error::NotFound("context"))?;
        if used || owner.uars.has_pages() {
            return Err(Error::Busy("the context"));
        }
        owner.uars = Uars::new(regime)?;
        Ok(())
    }

    /// Destroys a context and everything in it, in use or not, as the kernel does for a process
    /// that ended. Peers get no answer.
    pub fn close_context(&mut self, context: ContextId) {
        self.check_closed(context);
        if self.contexts.remove(&context).is_none() {
            return;
        }
        self.qps.forget(context);
        self.srqs.forget(context);
        self.cqs.forget(context);
        self.regions.forget(context);
        self.domains.forget(context);
        self.async_events.retain(|event| event.context != context);
    }

    fn pid_of(&self, context: ContextId) -> Result<Pid> {
        let found = self.contexts.get(&context);
        found
            .map(|context| context.pid)
            .ok_or(Error::NotFound("context"))
    }

    /// Makes a protection domain and returns its number.
    ///
    /// # Errors
    /// Unknown context; all numbers in use.
    pub fn alloc_pd(&mut self, context: ContextId) -> Result<u32> {
        self.pid_of(context)?;
        self.domains.insert(Domain(context))
    }

    /// Drops a protection domain.
    ///
    /// # Errors
    /// Not there; regions, queue pairs or shared receive queues are left in it.
    pub fn dealloc_pd(&mut self, context: ContextId, pd: u32) -> Result<()> {
        self.domains.of(context, pd)?;
        let used = self.regions.uses_pd(pd)
            || self.qps.values().any(|qp| qp.init.pd == pd)
            || self.srqs.values().any(|srq| srq.init.pd == pd);
        if used {
            return Err(Error::Busy("the protection domain"));
        }
        self.domains.remove(pd);
        Ok(())
    }

    /// Registers `[start, start + len)` of the process, addressed as `hca_va` and on.
    ///
    /// # Errors
    /// Unknown domain; a range that wraps; rights for peers to change without the local right to; rights
    /// that are not modelled (memory windows, on-demand paging, zero-based addresses).
    pub fn reg_mr(
        &mut self,
        context: ContextId,
        pd: u32,
        start: u64,
        len: u64,
        hca_va: u64,
        access: Access,
    ) -> Result<MrKeys> {
        let pid = self.pid_of(context)?;
        self.domains.of(context, pd)?;
        self.regions
            .register((context, pid), pd, (start, len), hca_va, access)
    }

    /// Notes that the pages of a process from `start` to `end` are going to be others. Regions with
    /// any of them are not to be used any more, as a device that knows the old pages would not
    /// reach the memory that the process means.
    pub(crate) fn unmapped(&mut self, process: Pid, start: u64, end: u64) {
        self.regions.unmapped(process, start, end);
    }

    /// Returns the number of bytes of the pages of all regions of a process.
    pub(crate) fn pinned(&self, process: Pid) -> u64 {
        self.regions.pinned(process)
    }

    /// Drops a region: its keys are not valid any more.
    ///
    /// # Errors
    /// Not there.
    pub fn dereg_mr(&mut self, context: ContextId, handle: u32) -> Result<()> {
        self.regions.deregister(context, handle)
    }

    /// Creates a completion queue and returns its number, which is its handle, too. Marks the arm word of
    /// its doorbell record, so that the first arming can be told from none.
    ///
    /// # Errors
    /// Counts or sizes that are not powers of two or too large; memory that cannot be written.
    pub fn create_cq(
        &mut self,
        memory: &mut dyn Memory,
        context: ContextId,
        init: &CqInit,
    ) -> Result<u32> {
        let pid = self.pid_of(context)?;
        let cq = CompletionQueue::create(memory, context, pid, *init)?;
        self.cqs.insert(cq)
    }

    /// Drops a completion queue.
    ///
    /// # Errors
    /// Not there; queue pairs use it.
    pub fn destroy_cq(&mut self, context: ContextId, cqn: u32) -> Result<()> {
        self.cqs.of(context, cqn)?;
        let uses = |qp: &QueuePair| qp.init.recv_cq == cqn || qp.init.send_cq == cqn;
        if self.qps.values().any(uses) {
            return Err(Error::Busy("the completion queue"));
        }
        self.cqs.remove(cqn);
        Ok(())
    }

    /// Creates a shared receive queue and returns its number, which is its handle, too.
    ///
    /// # Errors
    /// Unknown domain; counts or sizes that are not powers of two or too large.
    pub fn create_srq(&mut self, context: ContextId, init: &SrqInit) -> Result<u32> {
        let pid = self.pid_of(context)?;
        self.domains.of(context, init.pd)?;
        self.srqs.insert(SharedQueue::new(context, pid, *init)?)
    }

    /// Tells once, by [`AsyncKind::SrqLimit`], when fewer than `limit` entries are posted; 0 takes it back.
    ///
    /// # Errors
    /// Not there; a limit above the number of entries.
    pub fn arm_srq(&mut self, context: ContextId, srqn: u32, limit: u32) -> Result<()> {
        let srq = self.srqs.of_mut(context, srqn)?;
        if limit > srq.init.wqe_count {
            return Err(Error::Invalid("the limit is above the number of entries"));
        }
        srq.limit = limit;
        Ok(())
    }

    /// Drops a shared receive queue.
    ///
    /// # Errors
    /// Not there; queue pairs use it.
    pub fn destroy_srq(&mut self, context: ContextId, srqn: u32) -> Result<()> {
        self.srqs.of(context, srqn)?;
        if self.qps.values().any(|qp| qp.init.srq == Some(srqn)) {
            return Err(Error::Busy("the shared receive queue"));
        }
        self.srqs.remove(srqn);
        Ok(())
    }

    /// Creates a queue pair, in state reset.
    ///
    /// # Errors
    /// Unknown objects; sizes that are not powers of two or too large; attributes that do not go
    /// with the kind.
    pub fn create_qp(&mut self, context: ContextId, init: &QpInit) -> Result<QpCreated> {
        let pid = self.pid_of(context)?;
        let mut init = *init;
        self.domains.of(context, init.pd)?;
        self.cqs.of(context, init.recv_cq)?;
        match init.kind {
            QpKind::Dct => {
                init.send_cq = init.recv_cq;
                init.sq_wqe_count = 0;
            }
            QpKind::Rc | QpKind::Uc | QpKind::Ud | QpKind::Dci => {
                self.cqs.of(context, init.send_cq)?;
            }
        }
        if let Some(srqn) = init.srq {
            self.srqs.of(context, srqn)?;
        }
        QueuePair::check(&init)?;
        let owner = self
            .contexts
            .get_mut(&context)
            .ok_or(Error::NotFound("context"))?;
        let place = owner.uars.place(init.uar)?;
        let handle = match self.qps.insert(QueuePair::new(context, pid, init, place)) {
            Ok(handle) => handle,
            Err(error) => {
                owner.uars.release(place);
                return Err(error);
            }
        };
        Ok(QpCreated {
            handle,
            qpn: if init.kind == QpKind::Dct { 0 } else { handle },
            bfreg_index: place.bfreg_index(),
        })
    }

    /// Changes state and attributes; `mask` says which ([`attr`]). To reset clears all indices and
    /// attributes; to error flushes at the next step.
    ///
    /// # Errors
    /// A transition or a mask that the InfiniBand specification (11.2.5.2) does not allow; values out of range.
    pub fn modify_qp(
        &mut self,
        context: ContextId,
        handle: u32,
        attr: &QpAttr,
        mask: u32,
    ) -> Result<QpModified> {
        let qp = self.qps.of_mut(context, handle)?;
        let before = qp.state();
        let next = next_state(qp.init.kind, before, attr, mask)?;
        let (kind, element) = (qp.init.kind, qp.init.user_handle);
        match next {
            QpState::Reset => qp.reset(),
            QpState::Error => self.fail(handle, None),
            _ => {
                take_over(&mut qp.attr, attr, mask);
                qp.attr.state = next;
            }
        }
        if next == QpState::SendDrained && before != next && mask & attr::EN_SQD_ASYNC_NOTIFY != 0 {
            let underway = self.qps.get_mut(handle).map(|qp| &mut qp.underway);
            match underway.filter(|underway| !underway.is_empty()) {
                Some(underway) => underway.tells_drained = true,
                None => self.raise(context, AsyncKind::SendQueueDrained, element),
            }
        }
        let shows = kind == QpKind::Dct && next == QpState::ReadyToReceive;
        Ok(QpModified {
            dctn: if shows { handle } else { 0 },
        })
    }

    /// Returns attributes and state.
    ///
    /// # Errors
    /// Not there.
    pub fn query_qp(&self, context: ContextId, handle: u32) -> Result<QpAttr> {
        let mut attr = self.qps.of(context, handle)?.attr;
        attr.cur_state = attr.state;
        Ok(attr)
    }

    /// Returns the kind of a queue pair.
    ///
    /// # Errors
    /// Not there.
    pub fn qp_kind(&self, context: ContextId, handle: u32) -> Result<QpKind> {
        Ok(self.qps.of(context, handle)?.init.kind)
    }

    /// Drops a queue pair; nothing of it completes any more.
    ///
    /// # Errors
    /// Not there.
    pub fn destroy_qp(&mut self, context: ContextId, handle: u32) -> Result<()> {
        let place = self.qps.of(context, handle)?.place;
        self.qps.remove(handle);
        if let Some(owner) = self.contexts.get_mut(&context) {
            owner.uars.release(place);
        }
        Ok(())
    }

    /// Allocates a new doorbell page, and returns its number (`page_id`).
    ///
    /// # Errors
    /// Unknown context; all pages in use.
    pub fn uar_alloc(&mut self, context: ContextId, kind: UarKind) -> Result<u32> {
        let owner = self
            .contexts
            .get_mut(&context)
            .ok_or(Error::NotFound("context"))?;
        owner.uars.alloc(kind)
    }

    /// Drops a doorbell page.
    ///
    /// # Errors
    /// Not there; queue pairs ring on it.
    pub fn uar_destroy(&mut self, context: ContextId, page: u32) -> Result<()> {
        let owner = self
            .contexts
            .get_mut(&context)
            .ok_or(Error::NotFound("context"))?;
        let rings = |qp: &QueuePair| qp.context == context && qp.place.page() == Some(page);
        if self.qps.values().any(rings) {
            return Err(Error::Busy("the doorbell page"));
        }
        owner.uars.destroy(page)
    }

    /// Returns the number of static doorbell pages of the context: they have the first numbers.
    ///
    /// # Errors
    /// Unknown context.
    pub fn static_pages(&self, context: ContextId) -> Result<u32> {
        let owner = self.contexts.get(&context);
        owner
            .map(|owner| owner.uars.static_pages())
            .ok_or(Error::NotFound("context"))
    }

    /// Counts the doorbell pages and registers that the context uses.
    ///
    /// # Errors
    /// Unknown context.
    pub fn uar_account(&self, context: ContextId) -> Result<UarAccount> {
        let owner = self
            .contexts
            .get(&context)
            .ok_or(Error::NotFound("context"))?;
        let own = self.qps.values().filter(|qp| qp.context == context);
        Ok(owner.uars.account(own.map(|qp| qp.place)))
    }

    /// Returns the contexts, in the order in which they were opened.
    pub fn contexts(&self) -> impl Iterator<Item = ContextId> {
        self.contexts.keys().copied()
    }

    /// Returns the account of [`Self::uar_account`], register by register.
    ///
    /// # Errors
    /// Unknown context.
    pub fn uar_report(&self, context: ContextId) -> Result<UarReport> {
        let account = self.uar_account(context)?;
        let owner = self
            .contexts
            .get(&context)
            .ok_or(Error::NotFound("context"))?;
        let numbers = self.qps.numbers().into_iter();
        let own = numbers.filter_map(|number| {
            let qp = self.qps.get(number)?;
            (qp.context == context).then_some((number, qp.place))
        });
        let (registers, unseen) = owner.uars.registers(own);
        Ok(UarReport {
            pid: owner.pid,
            regime: owner.uars.regime(),
            account,
            registers,
            unseen,
        })
    }
}
