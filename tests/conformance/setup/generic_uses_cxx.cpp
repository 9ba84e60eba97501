// Generic calls as programs write them, in C++.
// run: np=1,2,3 std=c++17
#include "generic_uses.h"
