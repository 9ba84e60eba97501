// The 14 wait and test routines through the C11 generic names.
// run: np=2,3 std=c11
#define _POSIX_C_SOURCE 199309L
#define GENERIC
#include "types.h"
