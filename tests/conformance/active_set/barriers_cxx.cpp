// shmem_barrier and shmem_sync over active sets; in C++ shmem_sync is overloaded.
// run: np=3 std=c++17 args=20
#include "barriers.h"
