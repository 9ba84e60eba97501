// The old waits, and those for short through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "waits.h"
