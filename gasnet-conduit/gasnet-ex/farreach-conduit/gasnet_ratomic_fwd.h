/* gasnet_ratomic_fwd.h: how the Farreach conduit does remote atomics.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An atomic domain whose team is one neighbourhood uses the processor. Others use the engine for
 * all ranks, where devices do all operations of the domain on its type: else GASNet's reference
 * implementation, by active messages. */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_RATOMIC_FWD_H
#define _GASNET_RATOMIC_FWD_H

#define GASNETI_RATOMIC_STATS(CNT,VAL,TIME)

/* Whether the processor may do an operation on this type in each domain: not on those types that
 * the engine does. */
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_I32 0
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_U32 0
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_I64 0
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_U64 0
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_FLT 1
#define GASNETE_RATOMIC_ALWAYS_TOOLS_SAFE_gex_dt_DBL 1

/* Where the team of a domain is that of all processes and these are one neighbourhood, _tools_safe has a
 * bit of the conduit's, too, and the processor's operation is in line without a look for the rank: but
 * with GASNet's checks and traces, and where the operation is not known at the place of the call. */
#define GASNETC_AD_IS_NEAR 2
#if GASNET_PSHM && !GASNET_DEBUG && !GASNETI_STATS_OR_TRACE
  #define GASNETC_AD_OP(nb, dt, value_t, return_t, done, ad, result_p, rank, addr, opcode, op1, op2, flags) \
    __extension__ ({                                                                            \
      const gex_AD_t _gasnetc_ad = (ad);                                                        \
      value_t *const _gasnetc_result = (result_p);                                              \
      const gex_Rank_t _gasnetc_rank = (rank);                                                  \
      void *const _gasnetc_addr = (addr);                                                       \
      const value_t _gasnetc_op1 = (op1), _gasnetc_op2 = (op2);                                 \
      const gex_Flags_t _gasnetc_flags = (flags);                                               \
      return_t _gasnetc_return = done;                                                          \
      if_pt (gasneti_constant_p(opcode)                                                         \
          && (gasneti_import_ad(_gasnetc_ad)->_tools_safe & GASNETC_AD_IS_NEAR)) {              \
        const value_t _gasnetc_before = gasnete_ratomicfn_gex_dt_##dt(                          \
          (value_t *)gasneti_pshm_jobrank_addr2local(_gasnetc_rank, _gasnetc_addr, 0),          \
          _gasnetc_op1, _gasnetc_op2, (opcode),                                                 \
          (int)(_gasnetc_flags & (GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL)));                         \
        if (gasneti_op_fetch(opcode)) *_gasnetc_result = _gasnetc_before;                       \
      } else {                                                                                  \
        _gasnetc_return = GASNETE_RATOMIC_FN(gex_dt_##dt##_##nb, _gasnetc_ad, _gasnetc_result,  \
                                             _gasnetc_rank, _gasnetc_addr, (opcode),            \
                                             _gasnetc_op1, _gasnetc_op2, _gasnetc_flags);       \
      }                                                                                         \
      _gasnetc_return;                                                                          \
    })
  #define GASNETC_AD_NB(dt, value_t, ...) \
    GASNETC_AD_OP(NB, dt, value_t, gex_Event_t, GEX_EVENT_INVALID, __VA_ARGS__)
  #define GASNETC_AD_NBI(dt, value_t, ...) GASNETC_AD_OP(NBI, dt, value_t, int, 0, __VA_ARGS__)

  #define gex_AD_OpNB_I32(...)  GASNETC_AD_NB(I32, int32_t, __VA_ARGS__)
  #define gex_AD_OpNBI_I32(...) GASNETC_AD_NBI(I32, int32_t, __VA_ARGS__)
  #define gex_AD_OpNB_U32(...)  GASNETC_AD_NB(U32, uint32_t, __VA_ARGS__)
  #define gex_AD_OpNBI_U32(...) GASNETC_AD_NBI(U32, uint32_t, __VA_ARGS__)
  #define gex_AD_OpNB_I64(...)  GASNETC_AD_NB(I64, int64_t, __VA_ARGS__)
  #define gex_AD_OpNBI_I64(...) GASNETC_AD_NBI(I64, int64_t, __VA_ARGS__)
  #define gex_AD_OpNB_U64(...)  GASNETC_AD_NB(U64, uint64_t, __VA_ARGS__)
  #define gex_AD_OpNBI_U64(...) GASNETC_AD_NBI(U64, uint64_t, __VA_ARGS__)
  #define gex_AD_OpNB_FLT(...)  GASNETC_AD_NB(FLT, float, __VA_ARGS__)
  #define gex_AD_OpNBI_FLT(...) GASNETC_AD_NBI(FLT, float, __VA_ARGS__)
  #define gex_AD_OpNB_DBL(...)  GASNETC_AD_NB(DBL, double, __VA_ARGS__)
  #define gex_AD_OpNBI_DBL(...) GASNETC_AD_NBI(DBL, double, __VA_ARGS__)
#endif

#define GASNETC_AD_EXTRA_DECLS extern void gasnete_farreach_ad_init(gasneti_AD_t);
#define GASNETC_AD_INIT_HOOK(ad) gasnete_farreach_ad_init(ad)

#endif
