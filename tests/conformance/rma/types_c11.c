// p, g, put, get, put_nbi and get_nbi through the C11 generic names, with and without a context.
// run: np=2,3 std=c11
#define GENERIC
#include "types.h"
