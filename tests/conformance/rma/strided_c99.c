// iput, iget, ibput and ibget, each by its own name for each type.
// run: np=1,2,3,4,7 std=c99
#include "strided_types.h"
