// All reductions and scans of teams through the C11 generic names.
// run: np=2,3 std=c11
#define GENERIC
#include "reduce_types.h"
