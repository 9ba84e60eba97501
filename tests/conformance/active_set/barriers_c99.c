// shmem_barrier and shmem_sync over active sets, by their own names.
// run: np=1,2,3,7 nodes=1 std=c99 args=200
// run: np=3,7 nodes=1 std=c99 args=100 multiple
// run: np=4 nodes=several std=c99 args=20
#include "barriers.h"
