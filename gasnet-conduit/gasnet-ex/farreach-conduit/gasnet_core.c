/* gasnet_core.c: begin of the Farreach conduit, its bootstrap, polls and locks.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <gasnet_internal.h>
#include <gasnet_core_internal.h>
#include <gasnet_am.h>

#include <errno.h>

GASNETI_IDENT(gasnetc_IdentString_Version,
              "$GASNetCoreLibraryVersion: " GASNET_CORE_VERSION_STR " $");
GASNETI_IDENT(gasnetc_IdentString_Name, "$GASNetCoreLibraryName: " GASNET_CORE_NAME_STR " $");

gex_AM_Entry_t *gasnetc_handler;
farreach_am_t *gasnetc_am;
#if GASNETC_INLINE_POLL
static const uint64_t gasnetc_silent_bells[GASNETC_BELL_STEP + 1];
const uint64_t *gasnetc_bells = gasnetc_silent_bells;
gasnetc_look_t gasnetc_look;
int gasnetc_vis_count;
#endif
size_t gasnetc_max_medium = FARREACH_AM_LEAST_MEDIUM;

void gasnetc_failed(const char *call, int result) {
  gasnetc_exit_failed(); /* streams are flushed, which may take for ever */
  gasneti_fatalerror("%s: %s (%s)", call, farreach_am_strerror(result), farreach_am_explain());
}

/* Bootstrap: the launcher's key-value space, by the engine. */

void gasnetc_bootstrap_exchange(void *src, size_t len, void *dest) {
  GASNETC_CHECK("farreach_am_exchange", farreach_am_exchange(gasnetc_am, src, len, dest));
}

void gasnetc_bootstrap_barrier(void) {
  uint8_t here = 1;
  uint8_t *all = gasneti_malloc(gasneti_nodes);
  gasnetc_bootstrap_exchange(&here, 1, all);
  gasneti_free(all);
}

#if GASNET_PSHM
/* Gives the neighbours of root its bytes: each process takes those of its own root. */
static void gasnetc_bootstrap_nbrhd_broadcast(void *src, size_t len, void *dest, int root) {
  uint8_t *own = gasneti_calloc(1, len);
  uint8_t *all = gasneti_malloc(len * gasneti_nodes);
  if (root == gasneti_mynode) GASNETI_MEMCPY(own, src, len);
  gasnetc_bootstrap_exchange(own, len, all);
  GASNETI_MEMCPY(dest, all + len * root, len);
  gasneti_free(all);
  gasneti_free(own);
}
#endif

/* Processes that the engine calls near share the number of the lowest of them. */
static void gasnetc_find_nodes(void) {
  uint32_t lowest = 0;
  while (lowest < gasneti_mynode && !farreach_am_is_near(gasnetc_am, lowest)) ++lowest;
  gasneti_nodemapInit(gasnetc_bootstrap_exchange, &lowest, sizeof(lowest), 0);
}

/* Returns how many processes are on this machine: those of other nodes that are pretended, too. */
static gex_Rank_t gasnetc_on_machine(void) {
  const uint64_t own = gasneti_hosthash();
  uint64_t *all = gasneti_malloc(gasneti_nodes * sizeof(*all));
  gasnetc_bootstrap_exchange((void *)&own, sizeof(own), all);
  gex_Rank_t many = 0;
  for (gex_Rank_t rank = 0; rank < gasneti_nodes; ++rank) many += all[rank] == own;
  gasneti_free(all);
  return many;
}

/* Processes on this machine; 0 before it is known. */
static gex_Rank_t gasnetc_processes;

/* Has waits give the processor away, from then on, where the machine has fewer processors than
 * threads: the most that have used GASNet at a time in this process, times the processes there. A
 * program may set another mode behind that. */
void gasnetc_yield_if_crowded(void) {
  static int is_done;
  const int processors = gasnett_cpu_count();
#if GASNET_PAR
  const uint64_t threads = gasnete_maxthreadidx + 1;
#else
  const uint64_t threads = 1;
#endif
  if (processors <= 0 || threads * gasnetc_processes <= (uint64_t)processors) return;
  if (__atomic_exchange_n(&is_done, 1, __ATOMIC_RELAXED) == 0) gasnet_set_waitmode(GASNET_WAIT_BLOCK);
}

/* Returns the most bytes of segments that the processes of this node may have together, without
 * those of GASNet's own. */
static uint64_t gasnetc_shared_limit(void) {
  uint64_t limit = gasneti_sharedLimit();
  uint64_t taken = gasneti_myhost.node_count * gasneti_auxseg_preinit();
  if (limit <= taken) {
    gasneti_fatalerror("%"PRIu64" bytes of shared memory are too few for the %"PRIu64" bytes that "
                       "GASNet needs itself on this node", limit, taken);
  }
  return limit - taken;
}

static int gasnetc_init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
                        const char *name, int *argc, char ***argv, gex_Flags_t flags) {
  gasneti_check_config_preinit();
  gasneti_init_done = 1;

  farreach_am_config_t config = { .version = FARREACH_AM_VERSION };
  int result = farreach_am_open(&config, &gasnetc_am);
  if (result != FARREACH_AM_OK) {
    gasneti_console_message("ERROR", "farreach_am_open: %s (%s)", farreach_am_strerror(result),
                            farreach_am_explain());
    GASNETI_RETURN_ERRR(NOT_INIT, "the job's processes cannot be connected");
  }
  gasneti_mynode = farreach_am_rank(gasnetc_am);
  gasneti_nodes = farreach_am_ranks(gasnetc_am);
  gasnetc_max_medium = MIN(farreach_am_most_medium(gasnetc_am), GASNETC_MAX_MEDIUM_NBRHD_DFLT);

  gasneti_freezeForDebugger();
  GASNETI_TICKS_INIT();
  gasneti_trace_init(argc, argv);
  gasneti_spawn_verbose = gasneti_getenv_yesno_withdefault("GASNET_SPAWN_VERBOSE", 0);
  if (gasneti_spawn_verbose) {
    gasneti_console_message("gasnetc_init", "process %i of %i", gasneti_mynode, gasneti_nodes);
  }

  gasnetc_find_nodes();
  gasnetc_processes = gasnetc_on_machine();
  gasnetc_yield_if_crowded();
  gasnetc_exit_init();
#if GASNET_PSHM
  gasneti_pshm_init(gasnetc_bootstrap_nbrhd_broadcast, 0);
#endif

  /* The first client, endpoint and team. */
  gasneti_Client_t client = gasneti_alloc_client(name, flags);
  *client_p = gasneti_export_client(client);
  if (gex_EP_Create(ep_p, *client_p, GEX_EP_CAPABILITY_ALL, flags) != GASNET_OK) {
    GASNETI_RETURN_ERRR(RESOURCE, "no first endpoint");
  }
  gasneti_EP_t ep = gasneti_import_ep(*ep_p);
  gasnetc_handler = ep->_amtbl;
  gasneti_TM_t tm = gasneti_alloc_tm(ep, gasneti_mynode, gasneti_nodes, flags);
  *tm_p = gasneti_export_tm(tm);

  for (int index = 1; index < FARREACH_AM_HANDLERS; ++index) {
    GASNETC_CHECK("farreach_am_register",
                  farreach_am_register(gasnetc_am, index, gasnetc_handle, NULL));
  }
  GASNETC_CHECK("farreach_am_register", farreach_am_register(gasnetc_am, GASNETC_EXIT_HANDLER,
                                                            gasnetc_exit_asked, NULL));
#if GASNETC_INLINE_POLL
  gasneti_static_assert(sizeof(gasnetc_look.bytes.todo) == FARREACH_AM_SHOWN_BYTES);
  gasneti_static_assert(GASNETC_BELL_STEP == FARREACH_AM_BELL_STEP);
  GASNETC_CHECK("farreach_am_show",
                farreach_am_show(gasnetc_am, gasnetc_look.bytes.todo, &gasnetc_bells));
#endif
  gasneti_attach_done = 1;
  gasnetc_bootstrap_barrier(); /* messages may come from here */

  /* Segments: how large they may be, and GASNet's own. */
  uintptr_t limit = (uintptr_t)-1;
#if HAVE_MMAP
  limit = gasneti_segmentLimit(limit, gasnetc_shared_limit(), NULL, NULL);
#endif
  gasnetc_auxseg_expose(gasneti_auxsegAttach((uintptr_t)-1, gasnetc_bootstrap_exchange));
  gasneti_segmentInit(limit, gasnetc_bootstrap_exchange, flags);
  return GASNET_OK;
}

extern int gasnetc_attach_primary(gex_Flags_t flags) {
  gasneti_registerSignalHandlers(gasneti_defaultSignalHandler);
  gasneti_attach_done = 1;
  gasnetc_bootstrap_barrier();
  gasnete_init();
  gasneti_nodemapFini();
  gasnetc_bootstrap_barrier();
  return GASNET_OK;
}

extern int gasnetc_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
                               const char *name, int *argc, char ***argv, gex_Flags_t flags) {
  gasneti_assert(client_p && ep_p && tm_p && name);
  if (gasneti_init_done) gasneti_fatalerror("farreach-conduit has one client in a process");
  int result = gasnetc_init(client_p, ep_p, tm_p, name, argc, argv, flags);
  if (result != GASNET_OK) GASNETI_RETURN(result);
  GASNETI_TRACE_PRINTF(O, ("gex_Client_Init: name='%s' argc_p=%p argv_p=%p flags=%d",
                           name, (void *)argc, (void *)argv, flags));
  if (flags & GASNETI_FLAG_INIT_LEGACY) {
    gasneti_attach_done = 0; /* until gasnet_attach */
  } else {
    if (gasnetc_attach_primary(flags) != GASNET_OK) {
      GASNETI_RETURN_ERRR(RESOURCE, "no primary attach");
    }
    gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
  }
  return GASNET_OK;
}

/* Polls. Another process's exit is followed here, outside of handlers. */
extern int gasnetc_AMPoll(GASNETI_THREAD_FARG_ALONE) {
  GASNETI_CHECKATTACH();
  GASNETC_CHECK("farreach_am_poll", farreach_am_poll(gasnetc_am));
  GASNETC_EXIT_FOLLOW();
  return GASNET_OK;
}

#if GASNETC_INLINE_POLL
/* Polls where there may be something to do. */
extern int gasnetc_attend(GASNETI_THREAD_FARG_ALONE) {
  int result = gasnetc_AMPoll(GASNETI_THREAD_PASS_ALONE);
  GASNETI_PROGRESSFNS_RUN();
  return result;
}
#endif

/* Handler-safe locks. */
#if !GASNETC_NULL_HSL
extern void gasnetc_hsl_init(gex_HSL_t *hsl) {
  GASNETI_CHECKATTACH();
  gasneti_mutex_init(&hsl->lock);
}

extern void gasnetc_hsl_destroy(gex_HSL_t *hsl) {
  GASNETI_CHECKATTACH();
  gasneti_mutex_destroy(&hsl->lock);
}

extern void gasnetc_hsl_lock(gex_HSL_t *hsl) {
  GASNETI_CHECKATTACH();
#if GASNETI_STATS_OR_TRACE
  gasneti_tick_t from = GASNETI_TICKS_NOW_IFENABLED(L);
#endif
  /* Sections are short: spins first, where each thread has a processor. */
  while (gasneti_mutex_trylock(&hsl->lock) == EBUSY) {
    if (gasneti_wait_mode != GASNET_WAIT_SPIN) {
      gasneti_mutex_lock(&hsl->lock);
      break;
    }
    gasneti_spinloop_hint();
  }
#if GASNETI_STATS_OR_TRACE
  hsl->acquiretime = GASNETI_TICKS_NOW_IFENABLED(L);
  GASNETI_TRACE_EVENT_TIME(L, HSL_LOCK, hsl->acquiretime - from);
#endif
}

extern void gasnetc_hsl_unlock(gex_HSL_t *hsl) {
  GASNETI_CHECKATTACH();
  GASNETI_TRACE_EVENT_TIME(L, HSL_UNLOCK, GASNETI_TICKS_NOW_IFENABLED(L) - hsl->acquiretime);
  gasneti_mutex_unlock(&hsl->lock);
}

extern int gasnetc_hsl_trylock(gex_HSL_t *hsl) {
  GASNETI_CHECKATTACH();
  int taken = gasneti_mutex_trylock(&hsl->lock) == 0;
  GASNETI_TRACE_EVENT_VAL(L, HSL_TRYLOCK, taken);
#if GASNETI_STATS_OR_TRACE
  if (taken) hsl->acquiretime = GASNETI_TICKS_NOW_IFENABLED(L);
#endif
  return taken ? GASNET_OK : GASNET_ERR_NOT_READY;
}
#endif

/* The core's table of handlers. */
static gex_AM_Entry_t const gasnetc_handlers[] = {
  GASNETC_COMMON_HANDLERS(),
  GASNETI_HANDLER_EOT
};

gex_AM_Entry_t const *gasnetc_get_handlertable(void) {
  return gasnetc_handlers;
}
