// Every atomic operation, each by its own name for each type.
// run: np=1,2,3,7 std=c99
#include "types.h"
