/* gasnet_core.h: the core interface of the Farreach conduit.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_CORE_H
#define _GASNET_CORE_H

#include <gasnet_core_help.h>

/* Begin and end. */
extern int gasnetc_Client_Init(gex_Client_t *_client_p, gex_EP_t *_ep_p, gex_TM_t *_tm_p,
                               const char *_clientName, int *_argc, char ***_argv,
                               gex_Flags_t _flags);

extern void gasnetc_exit(int _exitcode) GASNETI_NORETURN;
GASNETI_NORETURNP(gasnetc_exit)
#define gasnet_exit gasnetc_exit

#define GASNET_NULL_ARGV_OK 1

/* Handler-safe locks are GASNet's mutexes: handlers run in calls of the program's threads. Without
 * threads, and without checks and traces, they are nothing. */
typedef struct {
  gasneti_mutex_t lock;
#if GASNETI_STATS_OR_TRACE
  gasneti_tick_t acquiretime;
#endif
} gex_HSL_t;

#if GASNETI_STATS_OR_TRACE
  #define GEX_HSL_INITIALIZER { GASNETI_MUTEX_INITIALIZER, 0 }
#else
  #define GEX_HSL_INITIALIZER { GASNETI_MUTEX_INITIALIZER }
#endif

#if GASNETI_THREADS || GASNET_DEBUG || GASNETI_STATS_OR_TRACE
  extern void gasnetc_hsl_init(gex_HSL_t *_hsl);
  extern void gasnetc_hsl_destroy(gex_HSL_t *_hsl);
  extern void gasnetc_hsl_lock(gex_HSL_t *_hsl);
  extern void gasnetc_hsl_unlock(gex_HSL_t *_hsl);
  extern int gasnetc_hsl_trylock(gex_HSL_t *_hsl) GASNETI_WARN_UNUSED_RESULT;
  #define gex_HSL_Init    gasnetc_hsl_init
  #define gex_HSL_Destroy gasnetc_hsl_destroy
  #define gex_HSL_Lock    gasnetc_hsl_lock
  #define gex_HSL_Unlock  gasnetc_hsl_unlock
  #define gex_HSL_Trylock gasnetc_hsl_trylock
#else
  #define GASNETC_NULL_HSL 1
  #define gex_HSL_Init(hsl)
  #define gex_HSL_Destroy(hsl)
  #define gex_HSL_Lock(hsl)
  #define gex_HSL_Unlock(hsl)
  #define gex_HSL_Trylock(hsl) GASNET_OK
#endif

/* Sizes of messages. The engine tells that of a Medium when it is opened. */
extern size_t gasnetc_max_medium;

#define gex_AM_MaxArgs()          ((unsigned int)16)
#define gex_AM_LUBRequestMedium() ((size_t)gasnetc_max_medium)
#define gex_AM_LUBReplyMedium()   ((size_t)gasnetc_max_medium)
#define gex_AM_LUBRequestLong()   GASNETC_MAX_LONG
#define gex_AM_LUBReplyLong()     GASNETC_MAX_LONG

#define gasnetc_AM_MaxRequestMedium(tm,rank,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS5(tm,rank,lc_opt,flags,nargs), gex_AM_LUBRequestMedium())
#define gasnetc_AM_MaxReplyMedium(tm,rank,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS5(tm,rank,lc_opt,flags,nargs), gex_AM_LUBReplyMedium())
#define gasnetc_Token_MaxReplyMedium(token,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS4(token,lc_opt,flags,nargs), gex_AM_LUBReplyMedium())

/* A Long that is prepared without a buffer of the program's gets one of a Medium's size. */
#define _GASNETC_MAX_LONG(flags) \
  (((flags) & GEX_FLAG_AM_PREPARE_LEAST_ALLOC) ? GASNETC_REF_NPAM_MAX_ALLOC : GASNETC_MAX_LONG)
#define gasnetc_AM_MaxRequestLong(tm,rank,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS4(tm,rank,lc_opt,nargs), _GASNETC_MAX_LONG(flags))
#define gasnetc_AM_MaxReplyLong(tm,rank,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS4(tm,rank,lc_opt,nargs), _GASNETC_MAX_LONG(flags))
#define gasnetc_Token_MaxReplyLong(token,lc_opt,flags,nargs) \
  (GASNETI_UNUSED_ARGS3(token,lc_opt,nargs), _GASNETC_MAX_LONG(flags))

#define GASNET_BLOCKUNTIL(cond) gasneti_polluntil(cond)

#endif

#include <gasnet_ammacros.h>
