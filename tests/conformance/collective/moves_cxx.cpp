// broadcast, collect, fcollect, alltoall and alltoalls through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "moves_types.h"
