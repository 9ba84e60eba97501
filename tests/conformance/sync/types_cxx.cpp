// The 14 wait and test routines through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "types.h"
