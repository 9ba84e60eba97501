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

/* Requests are in line up to the call of the engine, but with GASNet's checks and traces. */
#define GASNETC_INLINE_AM (GASNETC_INLINE_POLL && !GASNETI_STATS_OR_TRACE)

/* The engine, and its functions of farreach_am.h for this mode of threads: called without a stub of the
 * linker's where the compiler can. */
#ifdef __has_attribute
  #if __has_attribute(__noplt__)
    #define _GASNETC_AT_ONCE __attribute__((__noplt__))
  #endif
#endif
#ifndef _GASNETC_AT_ONCE
  #define _GASNETC_AT_ONCE
#endif
struct farreach_am;
extern struct farreach_am *gasnetc_am;
#if GASNET_PAR
  #define _GASNETC_ENGINE(name) farreach_am_##name##_threads
#else
  #define _GASNETC_ENGINE(name) farreach_am_##name
#endif
extern int _GASNETC_ENGINE(request_short)(struct farreach_am *_am, uint32_t _rank, uint8_t _handler,
                                          const uint32_t *_args, uint32_t _nargs)
  _GASNETC_AT_ONCE;
extern int _GASNETC_ENGINE(request_medium)(struct farreach_am *_am, uint32_t _rank, uint8_t _handler,
                                           const void *_payload, size_t _bytes,
                                           const uint32_t *_args, uint32_t _nargs)
  _GASNETC_AT_ONCE;

/* Ends the process with words for a result of the engine's. */
GASNETI_COLD
extern void gasnetc_failed(const char *_call, int _result) GASNETI_NORETURN;
GASNETI_NORETURNP(gasnetc_failed)

#endif

#include <gasnet_ammacros.h>

#ifndef _GASNETC_AM_ARGS
#define _GASNETC_AM_ARGS

/* Messages with their arguments in an array. GASNet's macros name functions of variable arguments,
 * which cost more: the macros of those names, below, call these. */
extern int gasnetc_AMRequestShort(gex_TM_t _tm, gex_Rank_t _rank, gex_AM_Index_t _handler,
                                  gex_Flags_t _flags GASNETI_THREAD_FARG,
                                  const gex_AM_Arg_t *_args, unsigned int _numargs);
extern int gasnetc_AMRequestMedium(gex_TM_t _tm, gex_Rank_t _rank, gex_AM_Index_t _handler,
                                   void *_source_addr, size_t _nbytes, gex_Event_t *_lc_opt,
                                   gex_Flags_t _flags GASNETI_THREAD_FARG,
                                   const gex_AM_Arg_t *_args, unsigned int _numargs);
extern int gasnetc_AMRequestLong(gex_TM_t _tm, gex_Rank_t _rank, gex_AM_Index_t _handler,
                                 void *_source_addr, size_t _nbytes, void *_dest_addr,
                                 gex_Event_t *_lc_opt, gex_Flags_t _flags GASNETI_THREAD_FARG,
                                 const gex_AM_Arg_t *_args, unsigned int _numargs);
extern int gasnetc_AMReplyShort(gex_Token_t _token, gex_AM_Index_t _handler, gex_Flags_t _flags,
                                const gex_AM_Arg_t *_args, unsigned int _numargs);
extern int gasnetc_AMReplyMedium(gex_Token_t _token, gex_AM_Index_t _handler, void *_source_addr,
                                 size_t _nbytes, gex_Event_t *_lc_opt, gex_Flags_t _flags,
                                 const gex_AM_Arg_t *_args, unsigned int _numargs);
extern int gasnetc_AMReplyLong(gex_Token_t _token, gex_AM_Index_t _handler, void *_source_addr,
                               size_t _nbytes, void *_dest_addr, gex_Event_t *_lc_opt,
                               gex_Flags_t _flags, const gex_AM_Arg_t *_args,
                               unsigned int _numargs);

#if GASNETC_INLINE_AM
/* No array is made where there are no arguments. */
#define _GASNETC_GIVEN(args, numargs) ((numargs) ? (const uint32_t *)(args) : (const uint32_t *)0)

/* Short and Medium requests that have nothing else to do, and wait for room, go to the engine at once.
 * GASNet asks for a poll with each: the engine looks for messages when it has sent. */
GASNETI_INLINE(gasnetc_send_short)
int gasnetc_send_short(gex_TM_t _tm, gex_Rank_t _rank, gex_AM_Index_t _handler,
                       gex_Flags_t _flags GASNETI_THREAD_FARG, const gex_AM_Arg_t *_args,
                       unsigned int _numargs) {
  if_pf ((_flags & GEX_FLAG_IMMEDIATE) || GASNETC_IS_WANTED()) {
    return gasnetc_AMRequestShort(_tm, _rank, _handler, _flags GASNETI_THREAD_PASS, _args, _numargs);
  }
  int _result = _GASNETC_ENGINE(request_short)(gasnetc_am, gasneti_e_tm_rank_to_jobrank(_tm, _rank),
                                               _handler, _GASNETC_GIVEN(_args, _numargs), _numargs);
  if_pf (_result < 0) gasnetc_failed("a request", _result);
  return GASNET_OK;
}

GASNETI_INLINE(gasnetc_send_medium)
int gasnetc_send_medium(gex_TM_t _tm, gex_Rank_t _rank, gex_AM_Index_t _handler, void *_source_addr,
                        size_t _nbytes, gex_Event_t *_lc_opt, gex_Flags_t _flags GASNETI_THREAD_FARG,
                        const gex_AM_Arg_t *_args, unsigned int _numargs) {
  if_pf ((_flags & GEX_FLAG_IMMEDIATE) || GASNETC_IS_WANTED()) {
    return gasnetc_AMRequestMedium(_tm, _rank, _handler, _source_addr, _nbytes, _lc_opt,
                                   _flags GASNETI_THREAD_PASS, _args, _numargs);
  }
  gasneti_leaf_finish(_lc_opt);
  int _result = _GASNETC_ENGINE(request_medium)(gasnetc_am, gasneti_e_tm_rank_to_jobrank(_tm, _rank),
                                                _handler, _source_addr, _nbytes,
                                                _GASNETC_GIVEN(_args, _numargs), _numargs);
  if_pf (_result < 0) gasnetc_failed("a request", _result);
  return GASNET_OK;
}
#else
  #define gasnetc_send_short  gasnetc_AMRequestShort
  #define gasnetc_send_medium gasnetc_AMRequestMedium
#endif

/* The arguments behind the flags: the thread, if that is passed, the number of arguments, and
 * these: number and arguments are in one array. */
#if GASNETI_THREADINFO_OPT
  #define _GASNETC_THREAD(_thread, ...) , _thread
  #define _GASNETC_ARGS(_thread, ...)   __VA_ARGS__
#else
  #define _GASNETC_THREAD(...)
  #define _GASNETC_ARGS(...)            __VA_ARGS__
#endif
#define _GASNETC_LIST(...) const gex_AM_Arg_t _gasnetc_args[] = { __VA_ARGS__ }
#define _GASNETC_LISTED    _gasnetc_args + 1, (unsigned int)_gasnetc_args[0]

#define gasnetc_AMRequestShortM(_tm, _rank, _handler, _flags, ...)                              \
  __extension__ ({                                                                              \
    _GASNETC_LIST(_GASNETC_ARGS(__VA_ARGS__));                                                  \
    gasnetc_send_short(_tm, _rank, _handler, _flags _GASNETC_THREAD(__VA_ARGS__),               \
                       _GASNETC_LISTED);                                                        \
  })
#define gasnetc_AMRequestMediumM(_tm, _rank, _handler, _source, _nbytes, _lc_opt, _flags, ...)  \
  __extension__ ({                                                                              \
    _GASNETC_LIST(_GASNETC_ARGS(__VA_ARGS__));                                                  \
    gasnetc_send_medium(_tm, _rank, _handler, _source, _nbytes, _lc_opt,                        \
                        _flags _GASNETC_THREAD(__VA_ARGS__), _GASNETC_LISTED);                  \
  })
#define gasnetc_AMRequestLongM(_tm, _rank, _handler, _source, _nbytes, _to, _lc_opt, _flags, ...) \
  __extension__ ({                                                                                \
    _GASNETC_LIST(_GASNETC_ARGS(__VA_ARGS__));                                                    \
    gasnetc_AMRequestLong(_tm, _rank, _handler, _source, _nbytes, _to, _lc_opt,                   \
                          _flags _GASNETC_THREAD(__VA_ARGS__), _GASNETC_LISTED);                  \
  })
#define gasnetc_AMReplyShortM(_token, _handler, _flags, ...)                                    \
  __extension__ ({                                                                              \
    _GASNETC_LIST(__VA_ARGS__);                                                                 \
    gasnetc_AMReplyShort(_token, _handler, _flags, _GASNETC_LISTED);                            \
  })
#define gasnetc_AMReplyMediumM(_token, _handler, _source, _nbytes, _lc_opt, _flags, ...)         \
  __extension__ ({                                                                               \
    _GASNETC_LIST(__VA_ARGS__);                                                                  \
    gasnetc_AMReplyMedium(_token, _handler, _source, _nbytes, _lc_opt, _flags, _GASNETC_LISTED); \
  })
#define gasnetc_AMReplyLongM(_token, _handler, _source, _nbytes, _to, _lc_opt, _flags, ...)         \
  __extension__ ({                                                                                  \
    _GASNETC_LIST(__VA_ARGS__);                                                                     \
    gasnetc_AMReplyLong(_token, _handler, _source, _nbytes, _to, _lc_opt, _flags, _GASNETC_LISTED); \
  })
#endif
