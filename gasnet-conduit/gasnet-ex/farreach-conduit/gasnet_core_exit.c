/* gasnet_core_exit.c: how processes of the Farreach conduit exit.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A process that exits tells others, which exit too when they poll. All meet in a barrier and end
 * with their codes, after the launcher has been told that they are done. Where they do not meet in
 * time, as one computes without polls, the launcher is asked to end the job. */
#include <gasnet_internal.h>
#include <gasnet_core_internal.h>

#include <signal.h>
#include <unistd.h>

/* The engine's handler of these messages. GASNet has no handler of index 0. */
#define EXIT_HANDLER 0

/* Seconds: the most, the fewest, and for each process. GASNET_EXITTIMEOUT* change them. */
#define TIMEOUT_MOST   60.0
#define TIMEOUT_FEWEST 10.0
#define TIMEOUT_EACH    0.25
static double gasnetc_exit_timeout = TIMEOUT_MOST;

volatile int gasnetc_exit_asked;

static volatile int gasnetc_exit_code;
static volatile int gasnetc_exiting;
static uint32_t gasnetc_exit_rounds; /* bits: a message of the barrier has come from this distance */

/* Is told by another process that it exits: the arguments are its code, and its distance where it
 * takes part in the barrier, or 0. Exits later, outside of the handler. */
static void gasnetc_handle_exit(farreach_am_message_t *message) {
  gasnetc_exit_rounds |= message->args[1];
  if (!gasnetc_exiting) gasnetc_exit_asked = (int)(message->args[0] & 0xff) + 1;
}

/* Forgets messages that come during the exit. */
static void gasnetc_handle_nothing(farreach_am_message_t *message) { }

static void gasnetc_exit_now(int code, const char *why) {
  farreach_am_abort(gasnetc_am, code, why);
}

/* Ends an exit that takes too long, or fails. */
static void gasnetc_exit_signal(int sig) {
  gasneti_reghandler(sig, SIG_DFL);
  gasnetc_exit_now(gasnetc_exit_code, sig == SIGALRM ? NULL : "a signal during gasnet_exit");
}

/* Exits through GASNet's hook where the program returns from main. */
static void gasnetc_exit_hook(int code) {
  if (!gasnetc_exiting) gasnetc_exit(code);
}

void gasnetc_exit_init(void) {
  gasnetc_exit_timeout = gasneti_get_exittimeout(TIMEOUT_MOST, TIMEOUT_FEWEST, TIMEOUT_EACH, 1.0);
  GASNETC_CHECK("farreach_am_register",
                farreach_am_register(gasnetc_am, EXIT_HANDLER, gasnetc_handle_exit, NULL));
  gasneti_registerExitHandler(gasnetc_exit_hook);
}

static int gasnetc_exit_tell(uint32_t distance, uint32_t round) {
  uint32_t args[2] = { (uint32_t)gasnetc_exit_code, round };
  uint32_t to = (gasneti_mynode + distance) % gasneti_nodes;
  return farreach_am_request_short(gasnetc_am, to, EXIT_HANDLER, args, 2) == FARREACH_AM_OK;
}

/* Tells other processes, and waits until all exit. Returns 0 where they do not in time. */
static int gasnetc_exit_together(void) {
  const gasneti_tick_t from = gasneti_ticks_now();
  const uint64_t most = gasnetc_exit_timeout * 1e9;
  for (uint32_t distance = 1; distance < gasneti_nodes; distance *= 2) {
    if (!gasnetc_exit_tell(distance, 0)) return 0;
  }
  /* In each round, the processes that are known to exit become twice as many. */
  for (uint32_t distance = 1; distance < gasneti_nodes; distance *= 2) {
    if (!gasnetc_exit_tell(distance, distance)) return 0;
    while (!(gasnetc_exit_rounds & distance)) {
      if (gasneti_ticks_to_ns(gasneti_ticks_now() - from) > most) return 0;
      if (farreach_am_poll(gasnetc_am) < 0) return 0;
      if (gasneti_wait_mode != GASNET_WAIT_SPIN) gasneti_sched_yield();
    }
  }
  return 1;
}

/* Follows another process's exit: a handler of the program's for SIGQUIT is told. */
static void gasnetc_exit_raise(void) {
  gasneti_sighandlerfn_t handler = gasneti_reghandler(SIGQUIT, SIG_IGN);
  if (handler == (gasneti_sighandlerfn_t)SIG_DFL || handler == (gasneti_sighandlerfn_t)SIG_IGN ||
      handler == (gasneti_sighandlerfn_t)SIG_ERR || handler == gasneti_defaultSignalHandler) {
    return;
  }
  gasneti_reghandler(SIGQUIT, handler);
  gasneti_raise(SIGQUIT);
}

extern void gasnetc_exit(int exitcode) {
  static gasneti_mutex_t once = GASNETI_MUTEX_INITIALIZER;
  if (gasnetc_exit_asked) {
    gasnetc_exit_asked = 0;
    gasnetc_exit_raise(); /* may get here again, and does not return then */
  }
  gasneti_reghandler(SIGQUIT, SIG_IGN);
  gasneti_mutex_lock(&once); /* for good: other threads go no further */
  gasnetc_exit_code = exitcode & 0xff;
  gasnetc_exiting = 1;

  if (gasneti_spawn_verbose) gasneti_console_message("EXIT STATE", "gasnet_exit(%i)", exitcode);
  else GASNETI_TRACE_PRINTF(C, ("gasnet_exit(%i)\n", exitcode));
  gasneti_flush_streams();

  static const int signals[] = { SIGALRM, SIGABRT, SIGILL, SIGSEGV, SIGFPE, SIGBUS, SIGTERM };
  for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i) {
    gasneti_reghandler(signals[i], gasnetc_exit_signal);
    gasneti_unblocksig(signals[i]);
  }
  alarm(2 + (unsigned int)gasnetc_exit_timeout);

  int together = 0;
  if (gasnetc_am) {
    farreach_am_leave_handler(gasnetc_am);
    for (int index = 1; index < FARREACH_AM_HANDLERS; ++index) {
      (void)farreach_am_register(gasnetc_am, index, gasnetc_handle_nothing, NULL);
    }
    together = gasnetc_exit_together();
  }

  gasneti_trace_finish();
  gasneti_flush_streams();
  gasneti_sched_yield();
  if (!together) gasnetc_exit_now(gasnetc_exit_code, NULL);
  farreach_am_close(gasnetc_am);
  alarm(0);
  gasneti_killmyprocess(exitcode);
  gasneti_fatalerror("the process cannot be ended");
}
