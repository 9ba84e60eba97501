// All reductions and scans of teams through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "reduce_types.h"
