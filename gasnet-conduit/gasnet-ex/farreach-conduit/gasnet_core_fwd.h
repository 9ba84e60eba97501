/* gasnet_core_fwd.h: definitions of the conduit that GASNet-EX needs before all other headers.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_CORE_FWD_H
#define _GASNET_CORE_FWD_H

#define GASNET_CORE_VERSION      1.0
#define GASNET_CORE_VERSION_STR  _STRINGIFY(GASNET_CORE_VERSION)
#define GASNET_CORE_NAME         FARREACH
#define GASNET_CORE_NAME_STR     _STRINGIFY(GASNET_CORE_NAME)
#define GASNET_CONDUIT_NAME      GASNET_CORE_NAME
#define GASNET_CONDUIT_NAME_STR  _STRINGIFY(GASNET_CONDUIT_NAME)
#define GASNET_CONDUIT_FARREACH  1

#if defined(GASNET_SEGMENT_EVERYTHING)
  #error farreach-conduit supports the segment configurations fast and large.
#endif

/* PSHM maps the segments of neighbours; their messages take the engine. */
#if GASNETI_PSHM_ENABLED
  #define GASNET_PSHM 1
#endif

#define GASNET_ALIGNED_SEGMENTS 0

/* Facts that gex_Token_Info returns. */
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP      1
#define GASNET_SUPPORTS_TI_ENTRY   1
#define GASNET_SUPPORTS_TI_IS_REQ  1
#define GASNET_SUPPORTS_TI_IS_LONG 1

/* Negotiated payload is done in gasnet_core_am.c: by GASNet's buffers and the engine's copy, also
 * to neighbours, to which GASNet's own code sends by PSHM. */
#define GASNETC_BUILD_NP_REQ_MEDIUM 0
#define GASNETC_BUILD_NP_REP_MEDIUM 0
#define GASNETC_BUILD_NP_REQ_LONG   0
#define GASNETC_BUILD_NP_REP_LONG   0

/* Segments are made known to the engine when they are attached, bound and published. */
#define GASNETC_SEGMENT_ATTACH_HOOK          1
#define GASNETC_SEGMENT_DESTROY_HOOK         1
#define GASNETC_EP_BINDSEGMENT_HOOK          1
#define GASNETC_EP_PUBLISHBOUNDSEGMENT_HOOK  1

#define GASNETC_CONDUIT_STATS(CNT,VAL,TIME)

/* Polls are in line, but with GASNet's checks: they look whether there is something to do, and call the
 * library only then. GASNET_DEBUG is known here: programs are compiled as the library is. */
#if GASNET_DEBUG
  #define GASNETC_INLINE_POLL 0
#else
  #define GASNETC_INLINE_POLL 1
#endif

#if GASNETC_INLINE_POLL
/* All that a poll looks at: a word of this process's, and the bells of the engine's two rings, which
 * peers ring. Where all are 0 no message has come, no operation is to be gone on with, no progress
 * function is wanted, and no other process exits. */
typedef union {
  uint32_t word;
  struct {
    uint8_t wanted;   /* GASNETC_WANTED_... */
    uint8_t todo[3];  /* the engine's (farreach_am_show) */
  } bytes;
} gasnetc_look_t;
#define GASNETC_BELL_STEP 32 /* FARREACH_AM_BELL_STEP */

/* Wanted beside the engine's polls: GASNet's progress functions, and to exit. */
#define GASNETC_WANTED_gasneti_pf_coll    1
#define GASNETC_WANTED_gasneti_pf_vis     2
#define GASNETC_WANTED_gasneti_pf_barrier 4
#define GASNETC_WANTED_EXIT               8

/* Each look is a new one, as the compiler is told by a fence: a volatile access would take a register and
 * an instruction of its own. */
#define GASNETC_LOOK_ANEW() __extension__ ({ gasneti_compiler_fence(); })
#define GASNETC_IS_WANTED() (GASNETC_LOOK_ANEW(), gasnetc_look.bytes.wanted)
#define GASNETC_IS_DUE() \
  (GASNETC_LOOK_ANEW(), \
   gasnetc_look.word | gasnetc_bells[0] | gasnetc_bells[GASNETC_BELL_STEP])

/* Progress functions by these bits, in the place of GASNet's variables. One that is counted has a count
 * beside its bit. A thread that has taken the bit away looks at the count again, behind that: where
 * another one has counted meanwhile, it sets the bit for it. */
#if GASNET_PAR
  #define GASNETC_WANT(bit)   ((void)__atomic_fetch_or(&gasnetc_look.bytes.wanted, (bit), __ATOMIC_SEQ_CST))
  #define GASNETC_UNWANT(bit) \
    ((void)__atomic_fetch_and(&gasnetc_look.bytes.wanted, (uint8_t)~(bit), __ATOMIC_SEQ_CST))
  #define GASNETC_VIS_COUNT(by) __atomic_add_fetch(&gasnetc_vis_count, (by), __ATOMIC_SEQ_CST)
#else
  #define GASNETC_WANT(bit)     ((void)(gasnetc_look.bytes.wanted |= (bit)))
  #define GASNETC_UNWANT(bit)   ((void)(gasnetc_look.bytes.wanted &= (uint8_t)~(bit)))
  #define GASNETC_VIS_COUNT(by) (gasnetc_vis_count += (by))
#endif
#define _GASNETC_ENABLE_BOOLEAN(name)  GASNETC_WANT(GASNETC_WANTED_##name)
#define _GASNETC_DISABLE_BOOLEAN(name) GASNETC_UNWANT(GASNETC_WANTED_##name)
#define _GASNETC_ENABLE_COUNTED(name)  \
  ((void)GASNETC_VIS_COUNT(1), GASNETC_WANT(GASNETC_WANTED_##name))
#define _GASNETC_DISABLE_COUNTED(name) do {                              \
    if (GASNETC_VIS_COUNT(-1) == 0) {                                    \
      GASNETC_UNWANT(GASNETC_WANTED_##name);                             \
      if (GASNETC_VIS_COUNT(0) != 0) GASNETC_WANT(GASNETC_WANTED_##name); \
    }                                                                    \
  } while (0)
#define GASNETI_PROGRESSFNS_ENABLE(name, flavor)  _GASNETC_ENABLE_##flavor(name)
#define GASNETI_PROGRESSFNS_DISABLE(name, flavor) _GASNETC_DISABLE_##flavor(name)
#define _GASNETC_RUN_IF_WANTED(name, flavor, function) \
  ((GASNETC_IS_WANTED() & GASNETC_WANTED_##name) ? function() : (void)0),
#define GASNETI_PROGRESSFNS_RUN() (GASNETI_PROGRESSFNS_LIST(_GASNETC_RUN_IF_WANTED) (void)0)

/* GASNet's poll, with its progress functions. */
#define GASNETI_GASNETI_AMPOLL                                        \
  extern gasnetc_look_t gasnetc_look;                                 \
  extern const uint64_t *gasnetc_bells;                               \
  extern int gasnetc_vis_count;                                       \
  extern int gasnetc_AMPoll(GASNETI_THREAD_FARG_ALONE);               \
  extern int gasnetc_attend(GASNETI_THREAD_FARG_ALONE);               \
  GASNETI_INLINE(_gasneti_AMPoll)                                     \
  int _gasneti_AMPoll(GASNETI_THREAD_FARG_ALONE) {                    \
    if_pf (GASNETC_IS_DUE()) return gasnetc_attend(GASNETI_THREAD_PASS_ALONE); \
    return GASNET_OK;                                                 \
  }
#define gasneti_AMPoll() _gasneti_AMPoll(GASNETI_THREAD_GET_ALONE)
#define GASNETI_THROTTLE_POLLERS 0
#define gasneti_AMPoll_spinpollers_check() ((void)0)
#define gasneti_suspend_spinpollers()      ((void)0)
#define gasneti_resume_spinpollers()       ((void)0)
#endif

/* A thread that uses GASNet for the first time. */
extern void gasnetc_yield_if_crowded(void);
#if GASNET_PAR
  #define GASNETC_NEW_THREADDATA_CALLBACK(thread) gasnetc_yield_if_crowded()
#endif

#endif
