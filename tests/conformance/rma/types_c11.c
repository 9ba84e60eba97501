// p, g, put, get, put_nbi and get_nbi through the C11 generic names, with and without a context.
// run: np=2,3 std=c11
// run: np=2 nodes=1 std=c11 cflags=-DSHMEM_DIRECT
#define GENERIC
#include "types.h"
