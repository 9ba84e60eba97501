// The 14 wait and test routines, each by its own name for each type.
// run: np=1,2,3,7 std=c99
#define _POSIX_C_SOURCE 199309L
#include "types.h"
