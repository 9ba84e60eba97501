// broadcast, collect, fcollect, alltoall and alltoalls through the C11 generic names.
// run: np=2,3 std=c11
#define GENERIC
#include "moves_types.h"
