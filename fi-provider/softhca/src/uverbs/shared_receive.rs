//! Shared receive queues.

use super::abi::{
    CreateSrq, CreateXsrq, DRIVER_IN, DRIVER_OUT, DriverCreateSrq, HandleWithResponse, ModifySrq,
    invoke_write,
};
use super::{Call, Device, Errno, Events, SharedReceive};
use crate::engine::{ContextId, SrqInit};

/// The largest shared receive queue, in entries, and the most segments of an entry.
const MOST_ENTRIES: u32 = 1 << 15;
const MOST_SEGMENTS: u32 = 31;

/// The bit of the limit in a modification's mask; the other one resizes, which is refused.
const MASK_LIMIT: u32 = 2;

impl Device {
    pub(super) fn create_srq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: CreateSrq = call.structure(invoke_write::CORE_IN)?;
        self.make_srq(id, call, &request)
    }

    pub(super) fn create_xsrq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: CreateXsrq = call.structure(invoke_write::CORE_IN)?;
        if request.kind != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        let plain = CreateSrq {
            response: 0,
            user_handle: request.user_handle,
            pd: request.pd,
            max_wr: request.max_wr,
            max_sge: request.max_sge,
            limit: request.limit,
        };
        self.make_srq(id, call, &plain)
    }

    fn make_srq(
        &mut self,
        id: ContextId,
        call: &mut Call<'_>,
        request: &CreateSrq,
    ) -> Result<(), Errno> {
        let driver: DriverCreateSrq = call.versioned(DRIVER_IN)?;
        if driver.flags != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        if request.max_wr >= MOST_ENTRIES || request.max_sge > MOST_SEGMENTS {
            return Err(Errno::INVALID);
        }
        // An entry is a link of 16 bytes and the segments, at least 32 bytes.
        let stride = (16 + 16 * request.max_sge).max(32).next_power_of_two();
        let init = SrqInit {
            pd: request.pd,
            buf_addr: driver.buf_addr,
            db_addr: driver.db_addr,
            wqe_count: (request.max_wr + 1).next_power_of_two(),
            wqe_shift: stride.trailing_zeros(),
            user_handle: request.user_handle,
        };
        let srqn = self.engine.create_srq(id, &init)?;
        let max_wr = init.wqe_count - 1;
        let kept = SharedReceive {
            max_wr,
            max_sge: request.max_sge,
            limit: 0,
            events: Events {
                element: request.user_handle,
                ..Events::default()
            },
        };
        self.context(id)?.shared_receive.insert(srqn, kept);
        call.answer(
            invoke_write::CORE_OUT,
            &[srqn, max_wr, request.max_sge, srqn],
        )?;
        call.answer(DRIVER_OUT, &[srqn, 0])
    }

    pub(super) fn modify_srq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: ModifySrq = call.structure(invoke_write::CORE_IN)?;
        if request.mask & !MASK_LIMIT != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        if request.mask & MASK_LIMIT != 0 {
            self.engine.arm_srq(id, request.handle, request.limit)?;
            if let Some(kept) = self.context(id)?.shared_receive.get_mut(&request.handle) {
                kept.limit = request.limit;
            }
        }
        Ok(())
    }

    pub(super) fn query_srq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: HandleWithResponse = call.structure(invoke_write::CORE_IN)?;
        let shared = &self.context(id)?.shared_receive;
        let kept = shared.get(&request.handle).ok_or(Errno::INVALID)?;
        let answer = [kept.max_wr, kept.max_sge, kept.limit, 0];
        call.answer(invoke_write::CORE_OUT, &answer)
    }

    pub(super) fn destroy_srq(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: HandleWithResponse = call.structure(invoke_write::CORE_IN)?;
        self.engine.destroy_srq(id, request.handle)?;
        let context = self.context(id)?;
        let kept = context.shared_receive.remove(&request.handle);
        let (_, asynchronous) = context.reported(call.host, &kept.unwrap_or_default().events);
        call.answer(invoke_write::CORE_OUT, &asynchronous)
    }
}
