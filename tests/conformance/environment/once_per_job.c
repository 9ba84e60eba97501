// In a job of several PEs, the texts that SHMEM_VERSION and SHMEM_INFO ask for are there, and
// programs run on.
// run: np=3 env=SHMEM_VERSION=1 env=SHMEM_INFO=1 env=SHMEM_DEBUG=1
#include "check.h"

static int value;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_int_p(&value, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(value, (me + npes - 1) % npes + 1, "p");
    shmem_finalize();
    return 0;
}
