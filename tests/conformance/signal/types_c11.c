// put_signal and put_signal_nbi through the C11 generic names.
// run: np=2,3 std=c11
#define GENERIC
#include "types.h"
