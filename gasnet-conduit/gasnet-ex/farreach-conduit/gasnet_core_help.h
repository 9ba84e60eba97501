/* gasnet_core_help.h: helpers of the Farreach conduit's core that public headers see.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef _IN_GASNETEX_H
  #error This file is included by gasnetex.h, not by programs.
#endif

#ifndef _GASNET_CORE_HELP_H
#define _GASNET_CORE_HELP_H

#include <gasnet_help.h>

/* The most bytes of a Long. */
#define GASNETC_MAX_LONG ((size_t)0x7fffffff)

#endif
