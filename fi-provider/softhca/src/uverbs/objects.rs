//! Protection domains, memory regions, completion channels and completion queues.

use super::abi::{
    CQ_UAR_PAGE_INDEX, CreateCq, CreateCqExtended, DRIVER_IN, DRIVER_OUT, DriverCreateCq, Handle,
    HandleWithResponse, RegMr, invoke_write,
};
use super::{Call, Device, Errno, Events};
use crate::engine::{Access, ContextId, CqInit, whole_pages};

/// Rights that are modelled, and bits that a device may ignore.
const ACCESS: u32 = 0xf;
const ACCESS_OPTIONAL: u32 = 0x3ff0_0000;

/// The flag of an extended CREATE_CQ that says that no overrun is looked for (`IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN`).
const CQ_IGNORE_OVERRUN: u32 = 1 << 1;

/// The largest completion queue, in entries.
const MOST_CQES: u32 = 1 << 22;

impl Device {
    pub(super) fn alloc_pd(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let pd = self.engine.alloc_pd(id)?;
        call.answer(invoke_write::CORE_OUT, &pd)?;
        call.answer(DRIVER_OUT, &pd)
    }

    pub(super) fn dealloc_pd(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: Handle = call.structure(invoke_write::CORE_IN)?;
        Ok(self.engine.dealloc_pd(id, request.handle)?)
    }

    pub(super) fn reg_mr(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: RegMr = call.structure(invoke_write::CORE_IN)?;
        if request.access & !(ACCESS | ACCESS_OPTIONAL) != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        let process = self.context(id)?.process;
        let limit = self
            .settings
            .max_pinned
            .or_else(|| call.host.may_lock(process));
        if let Some(limit) = limit {
            let more = whole_pages(request.start, request.length);
            if self.engine.pinned(process).saturating_add(more) > limit {
                return Err(Errno::NO_MEMORY);
            }
        }
        let access = Access(request.access & ACCESS);
        let keys = self.engine.reg_mr(
            id,
            request.pd,
            request.start,
            request.length,
            request.hca_va,
            access,
        )?;
        let range = (request.start, request.length);
        call.host.register(id, process, keys.handle, range);
        call.answer(invoke_write::CORE_OUT, &[keys.handle, keys.lkey, keys.rkey])
    }

    pub(super) fn dereg_mr(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: Handle = call.structure(invoke_write::CORE_IN)?;
        self.engine.dereg_mr(id, request.handle)?;
        call.host.deregister(request.handle);
        Ok(())
    }

    pub(super) fn create_channel(
        &mut self,
        id: ContextId,
        call: &mut Call<'_>,
    ) -> Result<(), Errno> {
        if call.room(invoke_write::CORE_OUT) < 4 {
            return Err(Errno::NO_SPACE);
        }
        let queue = call.host.create_queue(id)?;
        call.new_descriptor_in_output(invoke_write::CORE_OUT, queue)
    }

    pub(super) fn create_cq(
        &mut self,
        id: ContextId,
        call: &mut Call<'_>,
        extended: bool,
    ) -> Result<(), Errno> {
        let mut ignore_overrun = false;
        let request = if extended {
            let request: CreateCqExtended = call.structure(invoke_write::CORE_IN)?;
            if request.comp_mask != 0 || request.flags & !CQ_IGNORE_OVERRUN != 0 {
                return Err(Errno::NOT_SUPPORTED);
            }
            ignore_overrun = request.flags & CQ_IGNORE_OVERRUN != 0;
            CreateCq {
                response: 0,
                user_handle: request.user_handle,
                cqe: request.cqe,
                comp_vector: request.comp_vector,
                comp_channel: request.comp_channel,
                reserved: 0,
            }
        } else {
            call.structure(invoke_write::CORE_IN)?
        };
        let driver: DriverCreateCq = call.versioned(DRIVER_IN)?;
        if request.cqe == 0 || request.cqe >= MOST_CQES || request.comp_vector != 0 {
            return Err(Errno::INVALID);
        }
        if driver.compression != 0 || driver.flags & !CQ_UAR_PAGE_INDEX != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        let channel = match request.comp_channel {
            fd if fd < 0 => None,
            fd => Some(
                call.host
                    .find_queue(call.process, fd)
                    .ok_or(Errno::INVALID)?,
            ),
        };
        let cqe_count = (request.cqe + 1).next_power_of_two();
        let init = CqInit {
            buf_addr: driver.buf_addr,
            db_addr: driver.db_addr,
            cqe_count,
            cqe_size: driver.cqe_size,
            ignore_overrun,
            channel,
            user_handle: request.user_handle,
        };
        let cqn = self.engine.create_cq(call.host, id, &init)?;
        let events = Events {
            element: request.user_handle,
            channel,
            ..Events::default()
        };
        self.context(id)?.completion_queues.insert(cqn, events);
        // The extended form ends in a mask and its length.
        call.answer(invoke_write::CORE_OUT, &[cqn, cqe_count - 1, 0, 16])?;
        call.answer(DRIVER_OUT, &[cqn, 0])
    }

    pub(super) fn destroy_cq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: HandleWithResponse = call.structure(invoke_write::CORE_IN)?;
        self.engine.destroy_cq(id, request.handle)?;
        let context = self.context(id)?;
        let events = context.completion_queues.remove(&request.handle);
        let (completions, asynchronous) = context.reported(call.host, &events.unwrap_or_default());
        call.answer(invoke_write::CORE_OUT, &[completions, asynchronous])
    }
}
