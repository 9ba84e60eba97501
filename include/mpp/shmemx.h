/* mpp/shmemx.h: where programs of old look for shmemx.h.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FARREACH_MPP_SHMEMX_H
#define FARREACH_MPP_SHMEMX_H

#include <shmemx.h>

#endif /* FARREACH_MPP_SHMEMX_H */
