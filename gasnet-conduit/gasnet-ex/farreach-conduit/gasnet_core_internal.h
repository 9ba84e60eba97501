/* gasnet_core_internal.h: declarations that the files of the Farreach conduit share.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _GASNET_CORE_INTERNAL_H
#define _GASNET_CORE_INTERNAL_H

#include <gasnet_internal.h>

/* In PAR, threads call GASNet at the same time. In PARSYNC they do not, and GASNet itself starts
 * none: the engine is used without its lock there, as in SEQ. */
#if GASNET_PAR
  #define FARREACH_AM_THREADS 1
#endif
#include <farreach_am.h>

/* The handlers of the first endpoint, by index. */
extern gex_AM_Entry_t *gasnetc_handler;

#define GASNETC_CHECK(call, result) \
  do { int _r = (result); if_pf (_r < 0) gasnetc_failed(call, _r); } while (0)

/* The board of a process, in GASNet's own segment, to which others write that it is to exit. */
typedef struct {
  volatile uint32_t asked; /* 1 more than the code with which another process exits, or 0 */
  volatile uint32_t rounds[32]; /* of the barrier */
} gasnetc_board_t;
extern gasnetc_board_t *volatile gasnetc_board;

/* Exits as another process does, if one has told so: outside of handlers. */
extern void gasnetc_exit_follow(void);
#define GASNETC_EXIT_FOLLOW() do { if_pf (gasnetc_board->asked) gasnetc_exit_follow(); } while (0)

/* Handles the message of a process that exits: its board tells which code. */
extern void gasnetc_exit_asked(farreach_am_message_t *message);
#define GASNETC_EXIT_HANDLER 0 /* of the engine's: GASNet's begin with 1 */

/* Handles one message of the engine's (gasnet_core_am.c). */
extern void gasnetc_handle(farreach_am_message_t *message);

/* Shares regions of this process with others, in gasnet_core_segment.c. */
extern void gasnetc_auxseg_expose(gasnet_seginfo_t segment);

/* Barrier and exchange among all processes, at start. */
extern void gasnetc_bootstrap_barrier(void);
extern void gasnetc_bootstrap_exchange(void *src, size_t len, void *dest);

/* Has the process exit with others where it returns from main. */
extern void gasnetc_exit_init(void);

/* Has the launcher end the job soon, whatever keeps a process that fails from ending itself. */
extern void gasnetc_exit_failed(void);

/* Completion of the engine's operations sets bits of GASNet's events: local completion comes with
 * that of the operation. */
#define GASNETE_HAVE_LC 1

#define GASNETE_CONDUIT_EOP_FIELDS farreach_am_completion_t done;
extern void gasnete_eop_is_done(farreach_am_completion_t *done);
#define GASNETE_EOP_ALLOC_EXTRA(_eop) ((void)((_eop)->done.done = gasnete_eop_is_done))

/* The initial event of those operations that have none of their own is at a place that programs know, as
 * they look at its counts (gasnet_extended_fwd.h). */
#if GASNETC_INLINE_POLL
  extern void *gasnetc_first_counts(struct _gasneti_threaddata_t *thread);
  #define GASNETE_NEW_THREADDATA_IOP_INIT(thread) \
    ((thread)->gasnetc_threaddata = gasnetc_first_counts(thread))
#endif

#define GASNETE_CONDUIT_IOP_FIELDS \
  farreach_am_completion_t get_done, put_done, put_lc_done, rmw_done;
extern void gasnete_iop_get_is_done(farreach_am_completion_t *done);
extern void gasnete_iop_put_is_done(farreach_am_completion_t *done);
extern void gasnete_iop_put_lc_is_done(farreach_am_completion_t *done);
extern void gasnete_iop_rmw_is_done(farreach_am_completion_t *done);
#define GASNETE_IOP_ALLOC_EXTRA(_iop) do {                  \
    (_iop)->get_done.done = gasnete_iop_get_is_done;        \
    (_iop)->put_done.done = gasnete_iop_put_is_done;        \
    (_iop)->put_lc_done.done = gasnete_iop_put_lc_is_done;  \
    (_iop)->rmw_done.done = gasnete_iop_rmw_is_done;        \
  } while (0)

#endif
