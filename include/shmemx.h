/* Extensions beyond OpenSHMEM 1.6: none so far. The standard asks for this file nevertheless
 * (section 5, Language Bindings and Conformance). */
#ifndef FARREACH_SHMEMX_H
#define FARREACH_SHMEMX_H

#include <shmem.h>

#endif
