// iput, iget, ibput and ibget through the C++ overloads, with and without a context.
// run: np=2,3 std=c++17
#define GENERIC
#include "strided_types.h"
