// Where the symmetric memory may not be locked for the device, one line says so and names the
// remedy, and the job ends.
// run: np=2 nodes=several device="--max-pinned 1000000" expect-exit=1 expect-stderr="shmem_init: the job has PEs on 2 nodes, which takes a device: ibv_reg_mr: this process may not lock 5" expect-stderr="ulimit -l unlimited" expect-stderr="a software one (softhca), which goes by that limit, or by its option --max-pinned" expect-stderr-lines=1
#include "check.h"

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
