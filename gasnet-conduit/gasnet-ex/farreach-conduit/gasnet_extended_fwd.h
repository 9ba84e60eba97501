/* gasnet_extended_fwd.h: definitions of the extended interface that GASNet-EX needs first.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_EXTENDED_FWD_H
#define _GASNET_EXTENDED_FWD_H

#define GASNET_EXTENDED_VERSION      GASNET_CORE_VERSION
#define GASNET_EXTENDED_VERSION_STR  _STRINGIFY(GASNET_EXTENDED_VERSION)
#define GASNET_EXTENDED_NAME         FARREACH
#define GASNET_EXTENDED_NAME_STR     _STRINGIFY(GASNET_EXTENDED_NAME)

#define GASNETI_EOP_IS_HANDLE 1

#define GASNETE_CONDUIT_STATS(CNT,VAL,TIME) \
  GASNETI_VIS_STATS(CNT,VAL,TIME)           \
  GASNETI_COLL_STATS(CNT,VAL,TIME)          \
  GASNETI_RATOMIC_STATS(CNT,VAL,TIME)       \
  CNT(C, DYNAMIC_THREADLOOKUP, cnt)

/* The parts of GASNet's own segment that its barrier takes, and the conduit for exits. */
#define GASNETE_AUXSEG_DECLS                                                                  \
  extern gasneti_auxseg_request_t gasnete_barr_auxseg_alloc(gasnet_seginfo_t *auxseg_info); \
  extern gasneti_auxseg_request_t gasnetc_board_auxseg_alloc(gasnet_seginfo_t *auxseg_info);
#define GASNETE_AUXSEG_FNS() gasnete_barr_auxseg_alloc, gasnetc_board_auxseg_alloc,

/* Gets and puts are the engine's. */
#define GASNETE_USING_REF_EXTENDED_GET 0
#define GASNETE_USING_REF_EXTENDED_PUT 0

#endif
