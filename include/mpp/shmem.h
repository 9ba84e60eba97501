/* mpp/shmem.h: where programs of old look for shmem.h. Deprecated since OpenSHMEM 1.1.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FARREACH_MPP_SHMEM_H
#define FARREACH_MPP_SHMEM_H

#include <shmem.h>

#endif /* FARREACH_MPP_SHMEM_H */
