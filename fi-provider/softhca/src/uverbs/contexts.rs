//! Contexts: GET_CONTEXT, asynchronous events, doorbell pages.

use super::abi::{
    CONTEXT_DEVX, ClockInfo, ContextRequest, ContextResponse, DRIVER_IN, DRIVER_OUT,
    LIB_CAP_DYN_UAR,
};
use super::{Call, Device, Errno};
use crate::engine::{ContextId, UarKind, UarRegime};
use bytemuck::Zeroable;

/// The page of the command file at which the pages of UAR objects start; the fixed ones of mlx5's `mmap` commands lie below.
pub(crate) const FIRST_UAR_PAGE: u64 = 0x8_0000;

/// The page of the command file that holds a [`ClockInfo`] (`MLX5_IB_MMAP_CLOCK_INFO`).
pub(crate) const CLOCK_PAGE: u64 = 7 << 8;

/// The version of such pages, as a bit (`MLX5_IB_CLOCK_INFO_V1`).
const CLOCK_VERSIONS: u8 = 1;

/// The size of a page of the command file, in bytes.
pub(super) const PAGE: u64 = 4096;

/// Attributes of GET_CONTEXT.
const NUM_COMP_VECTORS: u16 = 0;
const CORE_SUPPORT: u16 = 1;

/// Attribute of ASYNC_EVENT_ALLOC.
const ASYNC_DESCRIPTOR: u16 = 0;

/// Attributes of mlx5's UAR methods.
const UAR_HANDLE: u16 = 0x1000;
const UAR_TYPE: u16 = 0x1001;
const UAR_MMAP_OFFSET: u16 = 0x1002;
const UAR_MMAP_LENGTH: u16 = 0x1003;
const UAR_PAGE_ID: u16 = 0x1004;

/// Returns the contents of [`CLOCK_PAGE`] where the wall clock shows `wall` ns at time 0 of the
/// device, which counts ns, too.
pub(crate) fn clock_info(wall: u64) -> ClockInfo {
    ClockInfo {
        nsec: wall,
        mult: 1,
        mask: u64::MAX,
        overflow_period: u64::MAX,
        ..Zeroable::zeroed()
    }
}

impl Device {
    pub(super) fn get_context(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let request: ContextRequest = call.versioned(DRIVER_IN)?;
        if self.context(id)?.ready {
            return Err(Errno::INVALID);
        }
        if request.comp_mask != 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        let devx = request.flags & CONTEXT_DEVX != 0;
        if devx && !self.settings.devx {
            // A kernel answers so to a user without the right to it; the library goes on without.
            return Err(Errno::NOT_PERMITTED);
        }
        if request.flags & !CONTEXT_DEVX != 0 || request.max_cqe_version == 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        // A library that cannot manage them, or a kernel that does not let it.
        let legacy = self.settings.legacy_uars || request.lib_caps & LIB_CAP_DYN_UAR == 0;
        let mut tot_bfregs = 0;
        let mut num_dyn_bfregs = 1024;
        if legacy {
            // Whole pages, of two registers each.
            let total = request.total_bfregs.checked_next_multiple_of(2);
            tot_bfregs = total.ok_or(Errno::INVALID)?;
            let regime = UarRegime::Legacy {
                total: tot_bfregs,
                low_latency: request.low_latency_bfregs,
            };
            if let Some(pages) = self.pages_left(id)? {
                // The library maps pages of thread domains by itself, one more than it is told.
                let pages = pages.checked_sub(tot_bfregs / 2 + 1);
                let told = pages.ok_or(Errno::NO_MEMORY)?.saturating_mul(2);
                num_dyn_bfregs = told.min(num_dyn_bfregs);
            }
            self.engine.set_uar_regime(id, regime)?;
        }
        let response = ContextResponse {
            qp_tab_size: 1 << 18,
            bf_reg_size: 512,
            tot_bfregs,
            cache_line_size: 64,
            max_sq_desc_sz: 1024,
            max_rq_desc_sz: 512,
            max_send_wqebb: 32768,
            max_recv_wr: 32768,
            max_srq_recv_wr: 32767,
            num_ports: 1,
            response_length: size_of::<ContextResponse>() as u32,
            cqe_version: 1,
            // The driver's part of QUERY_DEVICE is answered.
            cmds_supp_uhw: 1,
            // No inline headers are asked for.
            eth_min_inline: 1,
            clock_info_versions: CLOCK_VERSIONS,
            log_uar_size: 12,
            num_uars_per_page: 1,
            num_dyn_bfregs,
            ..Zeroable::zeroed()
        };
        call.answer(DRIVER_OUT, &response)?;
        call.answer(NUM_COMP_VECTORS, &1_u32)?;
        // Optional access flags of memory regions are accepted.
        call.answer(CORE_SUPPORT, &1_u64)?;
        let context = self.context(id)?;
        (context.ready, context.devx) = (true, devx);
        Ok(())
    }

    pub(super) fn alloc_async(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        if self.context(id)?.asynchronous.is_some() {
            return Err(Errno::NOT_SUPPORTED);
        }
        let queue = call.host.create_queue(id)?;
        call.new_descriptor(ASYNC_DESCRIPTOR, queue)?;
        self.context(id)?.asynchronous = Some(queue);
        Ok(())
    }

    pub(super) fn alloc_uar(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let kind = match call.number(UAR_TYPE)? {
            0 => UarKind::BlueFlame,
            1 => UarKind::NonCached,
            _ => return Err(Errno::NOT_SUPPORTED),
        };
        if self.pages_left(id)? == Some(0) {
            return Err(Errno::NO_MEMORY);
        }
        let page = self.engine.uar_alloc(id, kind)?;
        let offset = (FIRST_UAR_PAGE + u64::from(page)) * PAGE;
        call.output(UAR_MMAP_OFFSET, &offset.to_ne_bytes())?;
        call.output(UAR_MMAP_LENGTH, &PAGE.to_ne_bytes())?;
        call.output(UAR_PAGE_ID, &page.to_ne_bytes())?;
        call.new_handle(UAR_HANDLE, page)
    }

    pub(super) fn destroy_uar(&mut self, id: ContextId, call: &mut Call<'_>) -> Result<(), Errno> {
        let page = call.handle(UAR_HANDLE)?;
        Ok(self.engine.uar_destroy(id, page)?)
    }

    /// Returns the number of doorbell pages that the process of a context may still get, if that is
    /// limited.
    fn pages_left(&mut self, id: ContextId) -> Result<Option<u32>, Errno> {
        let Some(limit) = self.settings.uar_pages else {
            return Ok(None);
        };
        let mut used = 0;
        for context in self.contexts_of(id)? {
            used += self.engine.uar_account(context)?.pages;
        }
        Ok(Some(limit.saturating_sub(used)))
    }

    /// Returns all contexts of the process that has this one.
    pub(super) fn contexts_of(&mut self, id: ContextId) -> Result<Vec<ContextId>, Errno> {
        let process = self.context(id)?.process;
        let all = self.contexts.iter();
        let own = all.filter(|(_, context)| context.process == process);
        Ok(own.map(|(id, _)| *id).collect())
    }
}
