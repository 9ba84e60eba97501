// Every atomic operation through the C++ overloads, with and without a context.
// run: np=2,3 std=c++17
// run: np=2 nodes=1 std=c++17 cflags=-DSHMEM_DIRECT
#define GENERIC
#include "types.h"
