// shmem_barrier and shmem_sync over active sets; in C11 shmem_sync is a name for two routines.
// run: np=3 std=c11 args=20
#include "barriers.h"
