/* gasnet_extended.c: the extended interface of the Farreach conduit: gets and puts by the engine,
 * GASNet's reference code for the rest.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <gasnet_coll_internal.h>
#include <gasnet_internal.h>
#include <gasnet_extended_internal.h>
#include <gasnet_core_internal.h>

#if GASNETC_INLINE_POLL
/* Where gasnet_extended_fwd.h looks for the counts. */
#define COUNT_IS_AT(field, at) \
  gasneti_static_assert(offsetof(gasnete_iop_t, field##_cnt) == (at) && \
                        sizeof(((gasnete_iop_t *)0)->field##_cnt) == sizeof(uint32_t))

#if GASNET_SEQ
uint8_t gasnetc_first_iop[sizeof(gasnete_iop_t)] __attribute__((__aligned__(GASNETI_CACHE_LINE_BYTES)));
#endif

/* Makes the initial event of a thread, and returns where its counts are. */
extern void *gasnetc_first_counts(gasneti_threaddata_t *thread) {
  COUNT_IS_AT(initiated_alc, GASNETC_COUNTS_STARTED + 4 * GASNETC_ALC);
  COUNT_IS_AT(initiated_rmw, GASNETC_COUNTS_STARTED + 4 * GASNETC_RMW);
  COUNT_IS_AT(initiated_get, GASNETC_COUNTS_STARTED + 4 * GASNETC_GET);
  COUNT_IS_AT(initiated_put, GASNETC_COUNTS_STARTED + 4 * GASNETC_PUT);
  COUNT_IS_AT(completed_alc, GASNETC_COUNTS_DONE + 4 * GASNETC_ALC);
  COUNT_IS_AT(completed_rmw, GASNETC_COUNTS_DONE + 4 * GASNETC_RMW);
  COUNT_IS_AT(completed_get, GASNETC_COUNTS_DONE + 4 * GASNETC_GET);
  COUNT_IS_AT(completed_put, GASNETC_COUNTS_DONE + 4 * GASNETC_PUT);
  gasnete_iop_t *iop = gasnete_iop_new(thread);
#if GASNET_SEQ
  memcpy(gasnetc_first_iop, iop, sizeof(*iop));
  gasneti_leak(iop);
  iop = (gasnete_iop_t *)gasnetc_first_iop;
#endif
  thread->current_iop = iop;
  return iop;
}
#endif

#include "gasnet_extended_common.c"

extern void gasnete_init(void) {
  gasneti_check_config_postattach();
  gasnete_check_config_amref();
#if GASNETI_MAX_THREADS > 1
  gasneti_threaddata_t *thread = _gasneti_mythread_slow();
#else
  gasneti_threaddata_t *thread = gasnete_new_threaddata();
#endif
  { /* the first events, before they are needed */
    GASNET_POST_THREADINFO(thread);
    gasnete_eop_t *eop = gasnete_eop_new(thread);
    GASNETE_EOP_MARKDONE(eop);
    gasnete_eop_free(eop GASNETI_THREAD_PASS);
  }
  gasnete_barrier_init();
  gasnete_coll_init_subsystem();
  gasnete_vis_init();
}

#include "gasnet_extended_amref.c"

/* Ends of operations: the engine calls them in polls. */

#define HOLDER(type, field, done) ((type *)((uintptr_t)(done) - offsetof(type, field)))

extern void gasnete_eop_is_done(farreach_am_completion_t *done) {
  gasnete_eop_t *eop = HOLDER(gasnete_eop_t, done, done);
  gasneti_sync_writes(); /* the bytes of a get, before another thread sees the event */
  if (!GASNETE_EOP_LC_DONE(eop)) GASNETE_EOP_LC_FINISH(eop);
  GASNETE_EOP_MARKDONE(eop);
}

extern void gasnete_iop_get_is_done(farreach_am_completion_t *done) {
  gasnete_iop_t *iop = HOLDER(gasnete_iop_t, get_done, done);
  GASNETE_IOP_CNT_FINISH(iop, get, 1, GASNETI_ATOMIC_REL);
}

extern void gasnete_iop_put_is_done(farreach_am_completion_t *done) {
  gasnete_iop_t *iop = HOLDER(gasnete_iop_t, put_done, done);
  GASNETE_IOP_CNT_FINISH(iop, put, 1, 0);
}

extern void gasnete_iop_put_lc_is_done(farreach_am_completion_t *done) {
  gasnete_iop_t *iop = HOLDER(gasnete_iop_t, put_lc_done, done);
  GASNETE_IOP_LC_FINISH(iop);
  GASNETE_IOP_CNT_FINISH(iop, put, 1, 0);
}

extern void gasnete_iop_rmw_is_done(farreach_am_completion_t *done) {
  gasnete_iop_t *iop = HOLDER(gasnete_iop_t, rmw_done, done);
  GASNETE_IOP_CNT_FINISH(iop, rmw, 1, GASNETI_ATOMIC_REL);
}

/* Puts whose source the program wants back early, of at most so many bytes, are copied by the
 * engine. Larger ones give their source back when they are done. */
#define COPIED_MOST 4096

/* These return FARREACH_AM_DONE, FARREACH_AM_OK, or, where flags have GEX_FLAG_IMMEDIATE,
 * FARREACH_AM_EAGAIN: the operation would wait, and is not started. */

GASNETI_INLINE(gasnete_start_get)
int gasnete_start_get(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t bytes,
                      gex_Flags_t flags, farreach_am_completion_t *done) {
  const gex_Rank_t jobrank = gasneti_e_tm_rank_to_jobrank(tm, rank);
  const uint64_t from = (uint64_t)(uintptr_t)src;
  int result = flags & GEX_FLAG_IMMEDIATE
    ? farreach_am_try_get(gasnetc_am, jobrank, dest, from, bytes, FARREACH_AM_CALLS(done))
    : farreach_am_get(gasnetc_am, jobrank, dest, from, bytes, FARREACH_AM_CALLS(done));
  if (result != FARREACH_AM_EAGAIN) GASNETC_CHECK("farreach_am_get", result);
  return result;
}

GASNETI_INLINE(gasnete_start_put)
int gasnete_start_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t bytes,
                      int reuse, gex_Flags_t flags, farreach_am_completion_t *done) {
  const gex_Rank_t jobrank = gasneti_e_tm_rank_to_jobrank(tm, rank);
  const uint64_t to = (uint64_t)(uintptr_t)dest;
  const uint32_t how = reuse ? FARREACH_AM_REUSE : 0;
  int result = flags & GEX_FLAG_IMMEDIATE
    ? farreach_am_try_put(gasnetc_am, jobrank, to, src, bytes, how, FARREACH_AM_CALLS(done))
    : farreach_am_put(gasnetc_am, jobrank, to, src, bytes, how, FARREACH_AM_CALLS(done));
  if (result != FARREACH_AM_EAGAIN) GASNETC_CHECK("farreach_am_put", result);
  return result;
}

/* With an event of their own. */

/* Returns the event of an operation by what its start has returned. */
GASNETI_INLINE(gasnete_eop_started)
gex_Event_t gasnete_eop_started(gasnete_eop_t *eop, int result GASNETI_THREAD_FARG) {
  if (result == FARREACH_AM_OK) return (gex_Event_t)eop;
  GASNETE_EOP_MARKDONE(eop);
  gasnete_eop_free(eop GASNETI_THREAD_PASS);
  return result == FARREACH_AM_DONE ? GEX_EVENT_INVALID : GEX_EVENT_NO_OP;
}

extern gex_Event_t gasnete_get_nb(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                  size_t nbytes, gex_Flags_t flags GASNETI_THREAD_FARG) {
  gasnete_eop_t *eop = gasnete_eop_new(GASNETI_MYTHREAD);
  int result = gasnete_start_get(tm, dest, rank, src, nbytes, flags, &eop->done);
  return gasnete_eop_started(eop, result GASNETI_THREAD_PASS);
}

extern gex_Event_t gasnete_put_nb(gex_TM_t tm, gex_Rank_t rank, void *dest, void *src,
                                  size_t nbytes, gex_Event_t *lc_opt,
                                  gex_Flags_t flags GASNETI_THREAD_FARG) {
  gasnete_eop_t *eop = gasnete_eop_new(GASNETI_MYTHREAD);
  const int later = gasneti_leaf_is_pointer(lc_opt) && nbytes > COPIED_MOST;
  const int reuse = !later && lc_opt != GEX_EVENT_DEFER;
  if (later) GASNETE_EOP_LC_START(eop);
  int result = gasnete_start_put(tm, rank, dest, src, nbytes, reuse, flags, &eop->done);
  if (later && result == FARREACH_AM_OK) {
    *lc_opt = gasneti_op_event(eop, gasnete_eop_event_alc);
  } else {
    if (later) GASNETE_EOP_LC_FINISH(eop);
    gasneti_leaf_finish(lc_opt);
  }
  return gasnete_eop_started(eop, result GASNETI_THREAD_PASS);
}

/* Without one. They return not 0 where nothing is started. */

extern int gasnete_get_nbi(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                           gex_Flags_t flags GASNETI_THREAD_FARG) {
  gasnete_iop_t *iop = GASNETI_MYTHREAD->current_iop;
  iop->initiated_get_cnt++;
  int result = gasnete_start_get(tm, dest, rank, src, nbytes, flags, &iop->get_done);
  if (result != FARREACH_AM_OK) iop->initiated_get_cnt--;
  return result == FARREACH_AM_EAGAIN;
}

/* A put of any number of bytes. */
GASNETI_NEVER_INLINE(gasnete_put_nbi_any,
static int gasnete_put_nbi_any(gex_TM_t tm, gex_Rank_t rank, void *dest, void *src, size_t nbytes,
                               gex_Event_t *lc_opt, gex_Flags_t flags GASNETI_THREAD_FARG)) {
  gasnete_iop_t *iop = GASNETI_MYTHREAD->current_iop;
  const int later = lc_opt == GEX_EVENT_GROUP && nbytes > COPIED_MOST;
  const int reuse = !later && lc_opt != GEX_EVENT_DEFER;
  farreach_am_completion_t *done = later ? &iop->put_lc_done : &iop->put_done;
  iop->initiated_put_cnt++;
  if (later) GASNETE_IOP_LC_START(iop);
  int result = gasnete_start_put(tm, rank, dest, src, nbytes, reuse, flags, done);
  if (result != FARREACH_AM_OK) {
    if (later) iop->initiated_alc_cnt--;
    iop->initiated_put_cnt--;
  }
  return result == FARREACH_AM_EAGAIN;
}

/* 8 bytes go by value, and are not looked at again whatever the program allows. */
extern int gasnete_put_nbi(gex_TM_t tm, gex_Rank_t rank, void *dest, void *src, size_t nbytes,
                           gex_Event_t *lc_opt, gex_Flags_t flags GASNETI_THREAD_FARG) {
  if (nbytes != sizeof(uint64_t) || (flags & GEX_FLAG_IMMEDIATE)) {
    return gasnete_put_nbi_any(tm, rank, dest, src, nbytes, lc_opt, flags GASNETI_THREAD_PASS);
  }
  gasnete_iop_t *iop = GASNETI_MYTHREAD->current_iop;
  uint64_t word;
  memcpy(&word, src, sizeof(word));
  iop->initiated_put_cnt++;
  int result = farreach_am_put_word(gasnetc_am, gasneti_e_tm_rank_to_jobrank(tm, rank),
                                    (uint64_t)(uintptr_t)dest, word,
                                    FARREACH_AM_CALLS(&iop->put_done));
  if_pt (result == FARREACH_AM_OK) return result;
  iop->initiated_put_cnt--;
  if (result != FARREACH_AM_EAGAIN) GASNETC_CHECK("farreach_am_put_word", result);
  return result == FARREACH_AM_EAGAIN;
}

/* Barriers, vector access, collective operations and remote atomics. */

#define GASNETI_GASNET_EXTENDED_REFBARRIER_C 1
#include "gasnet_extended_refbarrier.c"
#undef GASNETI_GASNET_EXTENDED_REFBARRIER_C

#include "gasnet_refvis.h"
#include "gasnet_refcoll.h"
#include "gasnet_refratomic.h"

/* The extended interface's table of handlers. */
static gex_AM_Entry_t const gasnete_handlers[] = {
#ifdef GASNETE_REFBARRIER_HANDLERS
  GASNETE_REFBARRIER_HANDLERS(),
#endif
#ifdef GASNETE_REFVIS_HANDLERS
  GASNETE_REFVIS_HANDLERS()
#endif
#ifdef GASNETE_REFCOLL_HANDLERS
  GASNETE_REFCOLL_HANDLERS()
#endif
#ifdef GASNETE_AMREF_HANDLERS
  GASNETE_AMREF_HANDLERS()
#endif
#ifdef GASNETE_AMRATOMIC_HANDLERS
  GASNETE_AMRATOMIC_HANDLERS()
#endif
  GASNETI_HANDLER_EOT
};

extern gex_AM_Entry_t const *gasnete_get_handlertable(void) {
  return gasnete_handlers;
}
