// put_signal and put_signal_nbi, each by its own name for each type and size.
// run: np=1,2,3,7 std=c99
#include "types.h"
