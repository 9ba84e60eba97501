// The names of old: start_pes, which needs no finalize and may be called again, and the allocation routines.
// run: np=1,2,3 std=c99

#include <mpp/shmem.h>

#include "check.h"

int main(void)
{
    start_pes(0);
    start_pes(7);
    int initialized = 0;
    shmem_query_initialized(&initialized);
    CHECK(initialized != 0, "start_pes did not initialize");
    CHECK_INT(_my_pe(), shmem_my_pe(), "_my_pe");
    CHECK_INT(_num_pes(), shmem_n_pes(), "_num_pes");

    const int me = _my_pe(), npes = _num_pes();
    long *block = shmalloc(sizeof(long));
    CHECK(block != NULL, "shmalloc gave NULL");
    *block = -1;
    shmem_barrier_all();
    shmem_long_p(block, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(*block, (me + npes - 1) % npes, "the neighbour's number");
    block = shrealloc(block, 1000 * sizeof(long));
    CHECK(block != NULL, "shrealloc gave NULL");
    CHECK_INT(*block, (me + npes - 1) % npes, "the neighbour's number after shrealloc");
    shfree(block);
    char *aligned = shmemalign(4096, 10);
    CHECK(aligned != NULL && (uintptr_t)aligned % 4096 == 0, "shmemalign gave %p", (void *)aligned);
    shfree(aligned);

    shmem_pcontrol(0);
    shmem_pcontrol(2, "words", 1.5, &me);
    return 0;
}
