// The atomics by their old names through the C11 generic names.
// run: np=2,3 std=c11
#define GENERIC
#include "amo.h"
