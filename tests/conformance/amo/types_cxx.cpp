// Every atomic operation through the C++ overloads, with and without a context.
// run: np=2,3 std=c++17
#define GENERIC
#include "types.h"
