// All reductions and scans of teams, each by its own name for each type.
// run: np=1,2,3,4,7 std=c99
// run: np=2,7 nodes=1 std=c99 env=FARREACH_COLLECTIVE_NODE_SIZE=1
// run: np=3,7 nodes=1 std=c99 env=FARREACH_COLLECTIVE_NODE_SIZE=2
#include "reduce_types.h"
