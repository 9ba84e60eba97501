// The atomics by their old names through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "amo.h"
