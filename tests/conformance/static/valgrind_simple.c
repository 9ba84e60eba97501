// Under valgrind: puts, gets, atomics and barriers on the heap, without an error.
// run: np=2 valgrind
#include "check.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int left = (me + npes - 1) % npes;
    long *block = (long *)shmem_calloc(1000, sizeof *block);
    CHECK(block != NULL, "shmem_calloc returned NULL");
    shmem_barrier_all();
    shmem_long_p(&block[0], 5 + me, right);
    shmem_long_atomic_add(&block[1], 3, right);
    shmem_long_put(&block[10], (const long[]){me, me + 1, me + 2}, 3, right);
    shmem_barrier_all();
    CHECK_INT(block[0], 5 + left, "p");
    CHECK_INT(block[1], 3, "atomic_add");
    CHECK_INT(block[12], left + 2, "put");
    CHECK_INT(shmem_long_g(&block[11], right), me + 1, "g");
    long copy[3];
    shmem_long_get(copy, &block[10], 3, right);
    CHECK_INT(copy[0] + copy[1] + copy[2], 3 * me + 3, "get");
    shmem_barrier_all();
    shmem_free(block);
    shmem_finalize();
    return 0;
}
