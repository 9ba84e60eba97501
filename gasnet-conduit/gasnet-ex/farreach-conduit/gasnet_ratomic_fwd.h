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

#define GASNETC_AD_EXTRA_DECLS extern void gasnete_farreach_ad_init(gasneti_AD_t);
#define GASNETC_AD_INIT_HOOK(ad) gasnete_farreach_ad_init(ad)

#endif
