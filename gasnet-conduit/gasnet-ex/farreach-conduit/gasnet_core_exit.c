/* gasnet_core_exit.c: how processes of the Farreach conduit exit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A process that exits tells others by puts, which work in handlers too once these are left: a few
 * words of GASNet's own segment are the board of a process; a message without a handler of the
 * program's has polls look there. Others exit when they poll next. All
 * meet in a barrier and end with their codes, after the launcher has been told that they are done.
 * Where they do not meet in time, as one computes without polls, the launcher ends the job. */
#include <gasnet_internal.h>
#include <gasnet_core_internal.h>

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* Seconds: the most, the fewest, and for each process. GASNET_EXITTIMEOUT* change them. */
#define TIMEOUT_MOST   60.0
#define TIMEOUT_FEWEST 10.0
#define TIMEOUT_EACH    0.25
static double gasnetc_exit_timeout = TIMEOUT_MOST;

static gasnetc_board_t gasnetc_no_board;
gasnetc_board_t *volatile gasnetc_board = &gasnetc_no_board;
static gasnet_seginfo_t *gasnetc_boards; /* of all processes, by rank */

static volatile int gasnetc_exit_code = -1; /* before it is known */
static volatile uintptr_t gasnetc_exiting; /* the thread that exits, or 0 */

/* Takes the board's part of GASNet's own segment. */
extern gasneti_auxseg_request_t gasnetc_board_auxseg_alloc(gasnet_seginfo_t *info) {
  gasneti_auxseg_request_t want = { sizeof(gasnetc_board_t), sizeof(gasnetc_board_t) };
  if (info) {
    gasnetc_boards = gasneti_malloc(gasneti_nodes * sizeof(*info));
    gasneti_leak(gasnetc_boards);
    GASNETI_MEMCPY(gasnetc_boards, info, gasneti_nodes * sizeof(*info));
    gasnetc_board = info[gasneti_mynode].addr;
  }
  return want;
}

/* Words for boards of other nodes: those that were sent, and those that are there. */
static uint64_t gasnetc_words_sent;
static volatile uint64_t gasnetc_words_there;

/* Stores a word of another process's board. */
static int gasnetc_board_put(uint32_t distance, size_t offset, uint32_t word) {
  gex_Rank_t to = (gasneti_mynode + distance) % gasneti_nodes;
  void *place = (uint8_t *)gasnetc_boards[to].addr + offset;
#if GASNET_PSHM
  if (gasneti_pshm_jobrank_in_supernode(to)) {
    *(volatile uint32_t *)gasneti_pshm_jobrank_addr2local(to, place, 1) = word;
    return 1;
  }
#endif
  int result = farreach_am_put(gasnetc_am, to, (uint64_t)(uintptr_t)place, &word, sizeof(word),
                               FARREACH_AM_REUSE, (uint64_t *)&gasnetc_words_there);
  if (result == FARREACH_AM_OK) ++gasnetc_words_sent;
  return result >= 0;
}

/* Polls look at the board from here on. */
void gasnetc_exit_asked(farreach_am_message_t *message) {
#if GASNETC_INLINE_POLL
  GASNETC_WANT(GASNETC_WANTED_EXIT);
#endif
}

/* Has a process whose board was written look at it, by a message: where there is a device polls do so
 * anyway. Returns 0 where that is to be tried again: there is no room, or another thread uses the engine. */
static int gasnetc_exit_rouse(uint32_t distance) {
  gex_Rank_t to = (gasneti_mynode + distance) % gasneti_nodes;
  return !farreach_am_is_near(gasnetc_am, to) ||
         farreach_am_try_request_short(gasnetc_am, to, GASNETC_EXIT_HANDLER, NULL, 0)
           != FARREACH_AM_EAGAIN;
}

/* Returns a number that no other thread has: in handlers of signals, too. */
static uintptr_t gasnetc_this_thread(void) {
  return (uintptr_t)&errno;
}

/* Has the launcher end the job with the code of the exit, or with this one before that is known. */
static void gasnetc_exit_abort(int code, const char *message) GASNETI_NORETURN;
static void gasnetc_exit_abort(int code, const char *message) {
  const int known = gasnetc_exit_code;
  farreach_am_abort(gasnetc_am, known < 0 ? code & 0xff : known, message);
}

/* Ends an exit that takes too long, or fails. */
static void gasnetc_exit_signal(int sig) {
  gasneti_reghandler(sig, SIG_DFL);
  gasnetc_exit_abort(1, sig == SIGALRM ? NULL : "a signal during gasnet_exit");
}

/* Ends the job where this process has not ended after so many seconds: set before streams are
 * flushed, which waits for a thread that reads one of them. */
static void gasnetc_exit_within(unsigned int seconds) {
  gasneti_reghandler(SIGALRM, gasnetc_exit_signal);
  gasneti_unblocksig(SIGALRM);
  alarm(seconds);
}

extern void gasnetc_exit_failed(void) {
  gasnetc_exit_within((unsigned int)TIMEOUT_FEWEST);
}

/* Exits where the program returns from main, or calls exit; waits where another thread exits.
 * Returns where this thread does: a handler of a signal has interrupted it, and calls exit. */
static void gasnetc_exit_hook(int code) {
  if (gasnetc_exiting != gasnetc_this_thread()) gasnetc_exit(code);
}

void gasnetc_exit_init(void) {
  gasnetc_exit_timeout = gasneti_get_exittimeout(TIMEOUT_MOST, TIMEOUT_FEWEST, TIMEOUT_EACH, 1.0);
  gasneti_registerExitHandler(gasnetc_exit_hook);
}

/* Tells other processes, and waits until all exit. Returns 0 where they do not in time.
 *
 * A process that ends takes those words with it that its device has not sent: so it waits for its own, too.
 * A failure by then is that of a process that has ended, which wants no words. */
static int gasnetc_exit_together(void) {
  const gasneti_tick_t from = gasneti_ticks_now();
  const uint64_t most = gasnetc_exit_timeout * 1e9;
  gasnetc_board_t *const own = gasnetc_board;
  if (gasneti_nodes == 1) return 1;
  if (!gasnetc_boards) return 0;
  uint32_t unaware = 0; /* the distances, powers of two, of processes to rouse */
  for (uint32_t distance = 1; distance < gasneti_nodes; distance *= 2) {
    if (!gasnetc_board_put(distance, offsetof(gasnetc_board_t, asked), gasnetc_exit_code + 1)) {
      return 0;
    }
    unaware |= distance;
  }
  /* In each round, the processes that are known to exit become twice as many. */
  int round = 0;
  for (uint32_t distance = 1; distance < gasneti_nodes; distance *= 2, ++round) {
    size_t offset = offsetof(gasnetc_board_t, rounds) + round * sizeof(own->rounds[0]);
    if (!gasnetc_board_put(distance, offset, 1)) return 0;
    while (!own->rounds[round]) {
      if (gasneti_ticks_to_ns(gasneti_ticks_now() - from) > most) return 0;
      for (uint32_t left = unaware; left; left &= left - 1) {
        if (gasnetc_exit_rouse(left & -left)) unaware &= ~(left & -left);
      }
      if (farreach_am_poll(gasnetc_am) < 0) return 0;
      if (gasneti_wait_mode != GASNET_WAIT_SPIN) gasneti_sched_yield();
    }
  }
  while (gasnetc_words_there < gasnetc_words_sent) {
    if (gasneti_ticks_to_ns(gasneti_ticks_now() - from) > most) return 0;
    if (farreach_am_poll(gasnetc_am) < 0) break;
    if (gasneti_wait_mode != GASNET_WAIT_SPIN) gasneti_sched_yield();
  }
  return 1;
}

/* Follows another process's exit: a handler of the program's for SIGQUIT is told first. */
extern void gasnetc_exit_follow(void) {
  int code = (int)gasnetc_board->asked - 1;
  static volatile int followed;
  if (gasnetc_exiting || followed) return;
  followed = 1;
  gasneti_sighandlerfn_t handler = gasneti_reghandler(SIGQUIT, SIG_IGN);
  if (handler != (gasneti_sighandlerfn_t)SIG_DFL && handler != (gasneti_sighandlerfn_t)SIG_IGN &&
      handler != (gasneti_sighandlerfn_t)SIG_ERR && handler != gasneti_defaultSignalHandler) {
    gasneti_reghandler(SIGQUIT, handler);
    gasneti_raise(SIGQUIT); /* may exit itself */
  }
  gasnetc_exit(code);
}

static void gasnetc_ignore(void) { }

/* Returns in the first thread alone, and once. Others wait for the end of the process. Where a
 * handler of a signal has interrupted the exit, the job ends at once: this thread may stand in the
 * engine. */
static void gasnetc_exit_once(int exitcode) {
  const uintptr_t own = gasnetc_this_thread();
  uintptr_t first = 0;
  const int is_first = __atomic_compare_exchange_n(&gasnetc_exiting, &first, own, 0,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (is_first) return;
  if (first == own) gasnetc_exit_abort(exitcode, NULL);
  for (;;) pause();
}

/* Has signals that come during the exit end it. */
static void gasnetc_exit_guard(void) {
  static const int signals[] = { SIGABRT, SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTERM };
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i) {
    gasneti_reghandler(signals[i], gasnetc_exit_signal);
    gasneti_unblocksig(signals[i]);
  }
}

extern void gasnetc_exit(int exitcode) {
  const unsigned int limit = 2 + (unsigned int)gasnetc_exit_timeout;
  gasneti_reghandler(SIGQUIT, SIG_IGN);
  /* Leaves a handler before it may wait for the thread that exits, which needs the engine. */
  if (gasnetc_am) farreach_am_leave_handler(gasnetc_am);
  gasnetc_exit_once(exitcode);
  /* The code of the first, where that is another process. */
  if (gasnetc_board->asked > 1) exitcode = (int)gasnetc_board->asked - 1;
  gasnetc_exit_code = exitcode & 0xff;
  gasnetc_exit_guard();
  gasnetc_exit_within(limit);

  if (gasneti_spawn_verbose) gasneti_console_message("EXIT STATE", "gasnet_exit(%i)", exitcode);
  else GASNETI_TRACE_PRINTF(C, ("gasnet_exit(%i)\n", exitcode));
  gasneti_flush_streams();
  alarm(limit); /* anew: disks may have taken long */

  int together = 0;
  if (gasnetc_am) {
    /* Handlers of the program's do not run any more, one of which may have called this. */
    for (int i = 1; gasnetc_handler && i < GASNETC_MAX_NUMHANDLERS; ++i) {
      gasnetc_handler[i].gex_fnptr = (gex_AM_Fn_t)gasnetc_ignore;
    }
    together = gasnetc_exit_together();
  }

  gasneti_trace_finish();
  gasneti_flush_streams();
  gasneti_sched_yield();
  if (!together) farreach_am_abort(gasnetc_am, gasnetc_exit_code, NULL);
  /* The engine stays: other threads may use it, and this one may stand in one of its calls, where a
   * handler of a message or a signal exits. */
  farreach_am_depart(gasnetc_am);
  alarm(0);
  gasneti_killmyprocess(exitcode);
  gasneti_fatalerror("the process cannot be ended");
}
