/* gasnet_core_fwd.h: definitions of the conduit that GASNet-EX needs before all other headers.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_CORE_FWD_H
#define _GASNET_CORE_FWD_H

#define GASNET_CORE_VERSION      1.0
#define GASNET_CORE_VERSION_STR  _STRINGIFY(GASNET_CORE_VERSION)
#define GASNET_CORE_NAME         FARREACH
#define GASNET_CORE_NAME_STR     _STRINGIFY(GASNET_CORE_NAME)
#define GASNET_CONDUIT_NAME      GASNET_CORE_NAME
#define GASNET_CONDUIT_NAME_STR  _STRINGIFY(GASNET_CONDUIT_NAME)
#define GASNET_CONDUIT_FARREACH  1

#if defined(GASNET_SEGMENT_EVERYTHING)
  #error farreach-conduit supports the segment configurations fast and large.
#endif

/* PSHM maps the segments of neighbours; their messages take the engine. */
#if GASNETI_PSHM_ENABLED
  #define GASNET_PSHM 1
#endif

#define GASNET_ALIGNED_SEGMENTS 0

/* Facts that gex_Token_Info returns. */
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP      1
#define GASNET_SUPPORTS_TI_ENTRY   1
#define GASNET_SUPPORTS_TI_IS_REQ  1
#define GASNET_SUPPORTS_TI_IS_LONG 1

/* Negotiated payload is done in gasnet_core_am.c: by GASNet's buffers and the engine's copy, also
 * to neighbours, to which GASNet's own code sends by PSHM. */
#define GASNETC_BUILD_NP_REQ_MEDIUM 0
#define GASNETC_BUILD_NP_REP_MEDIUM 0
#define GASNETC_BUILD_NP_REQ_LONG   0
#define GASNETC_BUILD_NP_REP_LONG   0

/* Segments are made known to the engine when they are attached, bound and published. */
#define GASNETC_SEGMENT_ATTACH_HOOK          1
#define GASNETC_SEGMENT_DESTROY_HOOK         1
#define GASNETC_EP_BINDSEGMENT_HOOK          1
#define GASNETC_EP_PUBLISHBOUNDSEGMENT_HOOK  1

#define GASNETC_CONDUIT_STATS(CNT,VAL,TIME)

#endif
