// The old waits, and those for short through the C11 generic names.
// run: np=2,3 std=c11
#define GENERIC
#include "waits.h"
