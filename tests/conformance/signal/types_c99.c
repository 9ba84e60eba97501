// put_signal and put_signal_nbi, each by its own name for each type and size.
// run: np=1,2,3,7 std=c99
// run: np=2,3 std=c99 cflags=-DOWN_CONTEXT=SHMEM_CTX_PRIVATE
// run: np=3 nodes=1 std=c99 cflags=-DOWN_CONTEXT=0
#include "types.h"
