// shmalloc, shmemalign, shrealloc and shfree work on the same heap as the new names.
// run: np=1,2,3,4,7 env=SHMEM_SYMMETRIC_SIZE=16M
#include "check.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    long left = (me + npes - 1) % npes;

    // More than half of the heap each time: only blocks that are given back can be had again.
    for (int round = 0; round < 20; round++) {
        long *block = (long *)shmalloc((size_t)8 << 20);
        long *aligned = (long *)shmemalign(1 << 16, (size_t)1 << 20);
        CHECK(block != NULL && aligned != NULL, "round %d: shmalloc or shmemalign: NULL", round);
        CHECK((uintptr_t)aligned % (1 << 16) == 0, "shmemalign gave %p", (void *)aligned);
        shmem_long_p(&block[1000], 10 * me + round, right);
        shmem_long_p(&aligned[131071], 20 * me + round, right);
        shmem_barrier_all();
        CHECK_INT(block[1000], 10 * left + round, "a long in a block of shmalloc");
        CHECK_INT(aligned[131071], 20 * left + round, "a long in a block of shmemalign");
        aligned = (long *)shrealloc(aligned, (size_t)2 << 20);
        CHECK(aligned != NULL, "shrealloc returned NULL");
        CHECK_INT(aligned[131071], 20 * left + round, "a long after shrealloc");
        shmem_long_p(&aligned[262143], me, right);
        shmem_barrier_all();
        CHECK_INT(aligned[262143], left, "the last long after shrealloc");
        if (round % 2) {
            shfree(block);
            shmem_free(aligned);
        } else {
            shmem_free(block);
            shfree(aligned);
        }
    }
    shmem_finalize();
    return 0;
}
