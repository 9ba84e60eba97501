// iput, iget, ibput and ibget through the C11 generic names, with and without a context.
// run: np=2,3 std=c11
#define GENERIC
#include "strided_types.h"
