/* gasnet_ratomic.c: remote atomics of the Farreach conduit by the engine.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define GASNETI_NEED_GASNET_RATOMIC_H 1
#include <gasnet_internal.h>
#include <gasnet_ratomic.h>
#include <gasnet_core_internal.h>
#include <gasnet_extended_internal.h>
#include <gasnet_event_internal.h>
#include <gasnet_ratomic_internal.h>

/* An operation, in the engine's terms. */
typedef struct {
  int operation;
  uint64_t operand, comparand;
} gasnete_update_t;

/* Takes an operation of GASNet's on integers. The operands are in the lower bytes: of a narrower
 * type, the engine looks at no others. */
GASNETI_INLINE(gasnete_update_of)
gasnete_update_t gasnete_update_of(const gasneti_op_idx_t op, uint64_t one, uint64_t two) {
  gasnete_update_t update = { FARREACH_AM_ADD, one, 0 };
  switch (op) {
    case gasneti_op_idx_SET:   update.operation = FARREACH_AM_SET; break;
    case gasneti_op_idx_GET:   update.operation = FARREACH_AM_GET; break;
    case gasneti_op_idx_SWAP:  update.operation = FARREACH_AM_SWAP; break;
    case gasneti_op_idx_FCAS: case gasneti_op_idx_CAS:
      update.operation = FARREACH_AM_COMPARE_SWAP;
      update.operand = two;
      update.comparand = one;
      break;
    case gasneti_op_idx_AND: case gasneti_op_idx_FAND: update.operation = FARREACH_AM_AND; break;
    case gasneti_op_idx_OR:  case gasneti_op_idx_FOR:  update.operation = FARREACH_AM_OR; break;
    case gasneti_op_idx_XOR: case gasneti_op_idx_FXOR: update.operation = FARREACH_AM_XOR; break;
    case gasneti_op_idx_ADD: case gasneti_op_idx_FADD: break;
    case gasneti_op_idx_SUB: case gasneti_op_idx_FSUB: update.operand = -one; break;
    case gasneti_op_idx_INC: case gasneti_op_idx_FINC: update.operand = 1; break;
    case gasneti_op_idx_DEC: case gasneti_op_idx_FDEC: update.operand = (uint64_t)-1; break;
    case gasneti_op_idx_MULT: case gasneti_op_idx_FMULT:
      update.operation = FARREACH_AM_MULTIPLY;
      break;
    case gasneti_op_idx_MIN: case gasneti_op_idx_FMIN: update.operation = FARREACH_AM_MIN; break;
    case gasneti_op_idx_MAX: case gasneti_op_idx_FMAX: update.operation = FARREACH_AM_MAX; break;
    default: gasneti_unreachable();
  }
  return update;
}

/* By whom operations of a domain are done; the last where its team is that of all processes, so that
 * ranks are the job's. */
typedef enum {
  GASNETE_BY_PROCESSORS,
  GASNETE_BY_DEVICES,
  GASNETE_BY_DEVICES_OF_ALL
} gasnete_by_t;

/* Returns whether an operation of the device has a function of its own. */
GASNETI_INLINE(gasnete_is_device_sum)
int gasnete_is_device_sum(gasnete_update_t update, int type) {
  return update.operation == FARREACH_AM_ADD && (type == FARREACH_AM_I64 || type == FARREACH_AM_U64);
}

/* Starts such an operation by that function. */
GASNETI_INLINE(gasnete_start_device_sum)
int gasnete_start_device_sum(const gasneti_op_idx_t op, gex_Rank_t jobrank, uint64_t to,
                             gasnete_update_t update, void *result, uint64_t *calls) {
  return gasneti_op_fetch((gex_OP_t)1 << op)
    ? farreach_am_device_fetch_add(gasnetc_am, result, jobrank, to, update.operand, calls)
    : farreach_am_device_add(gasnetc_am, jobrank, to, update.operand, calls);
}

/* Starts an operation. Returns FARREACH_AM_DONE, FARREACH_AM_OK, or, where flags have
 * GEX_FLAG_IMMEDIATE, FARREACH_AM_EAGAIN: it would wait, and is not started. */
GASNETI_INLINE(gasnete_start_update)
int gasnete_start_update(const gasnete_by_t by, const gasneti_op_idx_t op, gasneti_AD_t ad,
                         gex_Rank_t rank, void *to, int type, gasnete_update_t update,
                         void *result, gex_Flags_t flags, farreach_am_completion_t *done) {
  const gex_Rank_t jobrank =
    by == GASNETE_BY_DEVICES_OF_ALL
      ? rank
      : gasnete_ratomic_jobrank(gasnete_ratomic_i_tm(ad, flags), rank, flags);
  if (flags & GEX_FLAG_AD_REL) gasneti_sync_writes();
  const uint64_t there = (uint64_t)(uintptr_t)to;
  const int tries = (flags & GEX_FLAG_IMMEDIATE) != 0;
  uint64_t *const calls = FARREACH_AM_CALLS(done);
  int started;
#define START(function) \
  function(gasnetc_am, jobrank, there, update.operation, type, update.operand, update.comparand, \
           result, calls)
  if (by == GASNETE_BY_PROCESSORS) {
    started = tries ? START(farreach_am_try_atomic) : START(farreach_am_atomic);
  } else if_pf (tries) {
    started = START(farreach_am_try_device_atomic);
  } else if (gasnete_is_device_sum(update, type)) {
    started = gasnete_start_device_sum(op, jobrank, there, update, result, calls);
  } else {
    started = START(farreach_am_device_atomic);
  }
#undef START
  if_pt (started == FARREACH_AM_OK) return started;
  if (started == FARREACH_AM_EAGAIN) return started;
  GASNETC_CHECK(by == GASNETE_BY_PROCESSORS ? "farreach_am_atomic" : "farreach_am_device_atomic",
                started);
  if (started == FARREACH_AM_DONE && (flags & GEX_FLAG_AD_ACQ)) gasneti_sync_reads();
  return started;
}

GASNETI_INLINE(gasnete_update_nb)
gex_Event_t gasnete_update_nb(const gasnete_by_t by, const gasneti_op_idx_t op, int type,
                              gasneti_AD_t ad, gex_Rank_t rank, void *to, uint64_t one,
                              uint64_t two, void *result, gex_Flags_t flags GASNETI_THREAD_FARG) {
  gasnete_eop_t *eop = gasnete_eop_new(GASNETI_MYTHREAD);
  gasnete_update_t update = gasnete_update_of(op, one, two);
  int started = gasnete_start_update(by, op, ad, rank, to, type, update, result, flags, &eop->done);
  if (started == FARREACH_AM_OK) return (gex_Event_t)eop;
  GASNETE_EOP_MARKDONE(eop);
  gasnete_eop_free(eop GASNETI_THREAD_PASS);
  return started == FARREACH_AM_DONE ? GEX_EVENT_INVALID : GEX_EVENT_NO_OP;
}

/* Counts operations that set and get as puts and gets, and others by themselves. */
GASNETI_INLINE(gasnete_update_nbi_in_line)
int gasnete_update_nbi_in_line(const gasnete_by_t by, const gasneti_op_idx_t op, int type,
                               gasneti_AD_t ad, gex_Rank_t rank, void *to, uint64_t one,
                               uint64_t two, void *result, gex_Flags_t flags
                               GASNETI_THREAD_FARG) {
  gasnete_iop_t *iop = GASNETI_MYTHREAD->current_iop;
  gasnete_update_t update = gasnete_update_of(op, one, two);
  int started;
#define START(what) do {                                                                        \
    iop->initiated_##what##_cnt++;                                                              \
    started = gasnete_start_update(by, op, ad, rank, to, type, update, result, flags,           \
                                   &iop->what##_done);                                          \
    if (started != FARREACH_AM_OK) iop->initiated_##what##_cnt--;                               \
  } while (0)
  if (op == gasneti_op_idx_SET) START(put);
  else if (op == gasneti_op_idx_GET) START(get);
  else START(rmw);
#undef START
  return started == FARREACH_AM_EAGAIN;
}

/* Does so as a call: a function that seldom needs it keeps no registers for it. */
GASNETI_NEVER_INLINE(gasnete_update_nbi_by_call,
static int gasnete_update_nbi_by_call(gasnete_by_t by, gasneti_op_idx_t op, int type,
                                      gasneti_AD_t ad, gex_Rank_t rank, void *to, uint64_t one,
                                      uint64_t two, void *result, gex_Flags_t flags
                                      GASNETI_THREAD_FARG)) {
  return gasnete_update_nbi_in_line(by, op, type, ad, rank, to, one, two, result,
                                    flags GASNETI_THREAD_PASS);
}

/* The state of this thread; null where it has none yet. */
#if GASNETI_MAX_THREADS > 1
  #define GASNETE_STATE_NOW() ((gasneti_threaddata_t *)gasneti_threadkey_get(gasnete_threaddata))
#else
  #define GASNETE_STATE_NOW() GASNETI_MYTHREAD
#endif

/* Does sums on 8 bytes by devices in few instructions, where no flag asks for more. */
GASNETI_INLINE(gasnete_update_nbi)
int gasnete_update_nbi(const gasnete_by_t by, const gasneti_op_idx_t op, int type,
                       gasneti_AD_t ad, gex_Rank_t rank, void *to, uint64_t one, uint64_t two,
                       void *result, gex_Flags_t flags GASNETI_THREAD_FARG) {
  const gex_Flags_t more = GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ;
  const gasnete_update_t update = gasnete_update_of(op, one, two);
  if (by != GASNETE_BY_DEVICES_OF_ALL || !gasnete_is_device_sum(update, type)) {
    return gasnete_update_nbi_in_line(by, op, type, ad, rank, to, one, two, result,
                                      flags GASNETI_THREAD_PASS);
  }
  gasneti_threaddata_t *const state = GASNETE_STATE_NOW();
  if_pf (!state || (flags & more)) {
    return gasnete_update_nbi_by_call(by, op, type, ad, rank, to, one, two, result,
                                      flags GASNETI_THREAD_PASS);
  }
  gasnete_iop_t *const iop = state->current_iop;
  iop->initiated_rmw_cnt++;
  const int started = gasnete_start_device_sum(op, rank, (uint64_t)(uintptr_t)to, update, result,
                                               FARREACH_AM_CALLS(&iop->rmw_done));
  if_pt (started == FARREACH_AM_OK) return started;
  iop->initiated_rmw_cnt--;
  if (started != FARREACH_AM_EAGAIN) {
    GASNETC_CHECK(gasneti_op_fetch((gex_OP_t)1 << op) ? "farreach_am_device_fetch_add"
                                                      : "farreach_am_device_add", started);
  }
  return started == FARREACH_AM_EAGAIN;
}

/* One function for each operation on each type, with an event and without: of those that return
 * the value before (F) or do not (N), with so many operands. */
#define OPERANDS_N0 0, 0, NULL
#define OPERANDS_N1 (uint64_t)_operand1, 0, NULL
#define OPERANDS_N2 (uint64_t)_operand1, (uint64_t)_operand2, NULL
#define OPERANDS_F0 0, 0, _result_p
#define OPERANDS_F1 (uint64_t)_operand1, 0, _result_p
#define OPERANDS_F2 (uint64_t)_operand1, (uint64_t)_operand2, _result_p

#define ONE(by, which, dt, type, op, form)                                                         \
  static gex_Event_t gasnete_##which##dt##_NB_##op(GASNETE_RATOMIC_ARGS_##form(dt##_type)) {       \
    return gasnete_update_nb(by, gasneti_op_idx_##op, type, _real_ad, _tgt_rank, _tgt_addr,        \
                             OPERANDS_##form, _flags GASNETI_THREAD_PASS);                         \
  }                                                                                                \
  static int gasnete_##which##dt##_NBI_##op(GASNETE_RATOMIC_ARGS_##form(dt##_type)) {              \
    return gasnete_update_nbi(by, gasneti_op_idx_##op, type, _real_ad, _tgt_rank, _tgt_addr,       \
                              OPERANDS_##form, _flags GASNETI_THREAD_PASS);                        \
  }
#define BOTH(by, which, dt, type, op, operands) \
  ONE(by, which, dt, type, op, N##operands)     \
  ONE(by, which, dt, type, F##op, F##operands)

#define TABLE(by, which, dt, type)                                                               \
  ONE(by, which, dt, type, SET, N1) ONE(by, which, dt, type, GET, F0)                            \
  ONE(by, which, dt, type, SWAP, F1)                                                             \
  ONE(by, which, dt, type, CAS, N2) ONE(by, which, dt, type, FCAS, F2)                           \
  BOTH(by, which, dt, type, AND, 1) BOTH(by, which, dt, type, OR, 1)                             \
  BOTH(by, which, dt, type, XOR, 1) BOTH(by, which, dt, type, ADD, 1)                            \
  BOTH(by, which, dt, type, SUB, 1) BOTH(by, which, dt, type, MULT, 1)                           \
  BOTH(by, which, dt, type, MIN, 1) BOTH(by, which, dt, type, MAX, 1)                            \
  BOTH(by, which, dt, type, INC, 0) BOTH(by, which, dt, type, DEC, 0)                            \
  static gasnete_ratomic##dt##_fn_tbl_t gasnete_##which##dt##_table =                            \
    GASNETE_RATOMIC_FN_TBL_INIT(gasnete_##which##dt, dt);
#define TABLES(dt, type)                                     \
  TABLE(GASNETE_BY_PROCESSORS, of_processors, dt, type)      \
  TABLE(GASNETE_BY_DEVICES, of_devices, dt, type)            \
  TABLE(GASNETE_BY_DEVICES_OF_ALL, of_all_devices, dt, type)

TABLES(_gex_dt_I32, FARREACH_AM_I32)
TABLES(_gex_dt_U32, FARREACH_AM_U32)
TABLES(_gex_dt_I64, FARREACH_AM_I64)
TABLES(_gex_dt_U64, FARREACH_AM_U64)

/* Returns whether the devices of all processes do the operations of a domain: the same at each. Each
 * operation is one of these, or made of it. */
static int gasnete_devices_do(gasneti_AD_t ad, int type) {
  static const struct { gex_OP_t ops; int operation; } of[] = {
    { GEX_OP_SET, FARREACH_AM_SET },
    { GEX_OP_GET, FARREACH_AM_GET },
    { GEX_OP_SWAP, FARREACH_AM_SWAP },
    { GEX_OP_CAS | GEX_OP_FCAS, FARREACH_AM_COMPARE_SWAP },
    { GEX_OP_AND | GEX_OP_FAND, FARREACH_AM_AND },
    { GEX_OP_OR | GEX_OP_FOR, FARREACH_AM_OR },
    { GEX_OP_XOR | GEX_OP_FXOR, FARREACH_AM_XOR },
    { GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SUB | GEX_OP_FSUB | GEX_OP_INC | GEX_OP_FINC | GEX_OP_DEC |
      GEX_OP_FDEC, FARREACH_AM_ADD },
  };
  for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); ++i) {
    if ((ad->_ops & of[i].ops) && !farreach_am_device_does(gasnetc_am, of[i].operation, type)) {
      return 0;
    }
  }
  return 1;
}

/* Operations that devices do not do. */
#define OF_PROCESSORS \
  (GEX_OP_MULT | GEX_OP_FMULT | GEX_OP_MIN | GEX_OP_FMIN | GEX_OP_MAX | GEX_OP_FMAX)

/* Returns whether all ranks of a team are neighbours: the same at each of its processes. */
static int gasnete_is_one_nbrhd(gasneti_TM_t tm) {
  for (gex_Rank_t rank = 0; rank < gasneti_i_tm_size(tm); ++rank) {
    if (!GASNETI_NBRHD_JOBRANK_IS_LOCAL(gasneti_i_tm_rank_to_jobrank(tm, rank))) return 0;
  }
  return 1;
}

extern void gasnete_farreach_ad_init(gasneti_AD_t ad) {
  void *tables[3] = { NULL, NULL, NULL };
  int type = 0;
#define CASE(dt)                                                                      \
  case GEX_DT_##dt:                                                                   \
    type = FARREACH_AM_##dt;                                                          \
    tables[GASNETE_BY_PROCESSORS] = &gasnete_of_processors_gex_dt_##dt##_table;       \
    tables[GASNETE_BY_DEVICES] = &gasnete_of_devices_gex_dt_##dt##_table;             \
    tables[GASNETE_BY_DEVICES_OF_ALL] = &gasnete_of_all_devices_gex_dt_##dt##_table;  \
    break;
  switch (ad->_dt) {
    CASE(I32) CASE(U32) CASE(I64) CASE(U64)
    default: break;
  }
#undef CASE
  if (!tables[0] || (ad->_ops & OF_PROCESSORS) || gasnete_is_one_nbrhd(ad->_tm)) {
    gasnete_amratomic_init_hook(ad);
    if (gasneti_is_tm0(ad->_tm) && gasnete_is_one_nbrhd(ad->_tm) && ad->_tools_safe) {
      ad->_tools_safe |= GASNETC_AD_IS_NEAR;
    }
    return;
  }
  gasnete_by_t by = GASNETE_BY_PROCESSORS;
  if (gasnete_devices_do(ad, type)) {
    by = gasneti_is_tm0(ad->_tm) ? GASNETE_BY_DEVICES_OF_ALL : GASNETE_BY_DEVICES;
  }
  ad->_fn_tbl = (gasnete_ratomic_fn_tbl_t)tables[by];
  ad->_tools_safe = 0;
  ad->_is_ref = 0;
}
