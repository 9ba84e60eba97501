// p, g, put, get, put_nbi and get_nbi, each by its own name for each type.
// run: np=1,2,3,7 std=c99
#include "types.h"
