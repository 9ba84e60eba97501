// put_signal and put_signal_nbi through the C++ overloads.
// run: np=2,3 std=c++17
#define GENERIC
#include "types.h"
