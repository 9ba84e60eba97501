// Generic calls as programs write them, in C11.
// run: np=1,2,3 std=c11
#include "generic_uses.h"
