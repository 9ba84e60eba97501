/* gasnet_extended_fwd.h: definitions of the extended interface that GASNet-EX needs first.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_EXTENDED_FWD_H
#define _GASNET_EXTENDED_FWD_H

#define GASNET_EXTENDED_VERSION      GASNET_CORE_VERSION
#define GASNET_EXTENDED_VERSION_STR  _STRINGIFY(GASNET_EXTENDED_VERSION)
#define GASNET_EXTENDED_NAME         FARREACH
#define GASNET_EXTENDED_NAME_STR     _STRINGIFY(GASNET_EXTENDED_NAME)

#define GASNETI_EOP_IS_HANDLE 1

#define GASNETE_CONDUIT_STATS(CNT,VAL,TIME) \
  GASNETI_VIS_STATS(CNT,VAL,TIME)           \
  GASNETI_COLL_STATS(CNT,VAL,TIME)          \
  GASNETI_RATOMIC_STATS(CNT,VAL,TIME)       \
  CNT(C, DYNAMIC_THREADLOOKUP, cnt)

/* The parts of GASNet's own segment that its barrier takes, and the conduit for exits. */
#define GASNETE_AUXSEG_DECLS                                                                  \
  extern gasneti_auxseg_request_t gasnete_barr_auxseg_alloc(gasnet_seginfo_t *auxseg_info); \
  extern gasneti_auxseg_request_t gasnetc_board_auxseg_alloc(gasnet_seginfo_t *auxseg_info);
#define GASNETE_AUXSEG_FNS() gasnete_barr_auxseg_alloc, gasnetc_board_auxseg_alloc,

/* Gets and puts are the engine's. */
#define GASNETE_USING_REF_EXTENDED_GET 0
#define GASNETE_USING_REF_EXTENDED_PUT 0

/* A wait for operations without events of their own compares the counts of those that were started and
 * those that are done, in line, where the program says at the place of the call for which it waits.
 * Local completion counts where puts are not waited for: that of a put comes no later than its end.
 * The counts lie as gasnet_event_internal.h has them (checked in gasnet_extended.c), in SEQ at a place
 * that the linker knows, else where the thread says. */
#if GASNETC_INLINE_POLL
  typedef uint32_t __attribute__((__may_alias__)) gasnetc_count_t;
  #define GASNETC_COUNTS_STARTED 8
  #define GASNETC_COUNTS_DONE \
    (GASNETC_COUNTS_STARTED + 4 * 4 + sizeof(void *) + GASNETI_CACHE_PAD(4 * 4 + sizeof(void *)))
  #if GASNET_SEQ
    extern uint8_t gasnetc_first_iop[];
    #define _GASNETC_COUNTS gasnetc_first_iop
  #else
    #define _GASNETC_COUNTS (*(const uint8_t *const *)GASNETI_MYTHREAD_GET_OR_LOOKUP)
  #endif
  #define _GASNETC_COUNT(counts, at, which) (*(const gasnetc_count_t *)((counts) + (at) + 4 * (which)))
  #define _GASNETC_DONE(counts, which)                      \
    (_GASNETC_COUNT(counts, GASNETC_COUNTS_STARTED, which) == \
     _GASNETC_COUNT(counts, GASNETC_COUNTS_DONE, which))
  #define GASNETC_ALC 0
  #define GASNETC_RMW 1
  #define GASNETC_GET 2
  #define GASNETC_PUT 3
  #if PLATFORM_ARCH_X86_64 /* whose loads keep their order */
    #define _GASNETC_READ_FENCE() gasneti_compiler_fence()
  #else
    #define _GASNETC_READ_FENCE() gasneti_local_rmb()
  #endif
  #define gasnete_wait_syncnbi_mask(mask, flagsTI) do {                                           \
      const uint8_t *const _gasnetc_counts = _GASNETC_COUNTS;                                     \
      gasneti_compiler_fence(); /* the counts as they are now */                                  \
      if_pt (gasneti_constant_p(mask)                                                             \
          && (!((mask) & GASNETI_EC_PUT) || _GASNETC_DONE(_gasnetc_counts, GASNETC_PUT))          \
          && (!((mask) & GASNETI_EC_GET) || _GASNETC_DONE(_gasnetc_counts, GASNETC_GET))          \
          && (!((mask) & GASNETI_EC_RMW) || _GASNETC_DONE(_gasnetc_counts, GASNETC_RMW))          \
          && (!((mask) & GASNETI_EC_ALC) || ((mask) & GASNETI_EC_PUT)                             \
              || _GASNETC_DONE(_gasnetc_counts, GASNETC_ALC))) {                                  \
        _GASNETC_READ_FENCE();                                                                    \
      } else {                                                                                    \
        gasneti_pollwhile(gasnete_test_syncnbi_mask(mask, flagsTI) == GASNET_ERR_NOT_READY);      \
      }                                                                                           \
    } while (0)
#endif

#endif
