// The holder of a lock may wait inside for data that other PEs send, while these queue for the lock
// or have sent it before they did: a PE that waits for a lock does not keep its own operations from
// arriving.
// run: np=2,3,7 nodes=1 args=100
// run: np=2,4 nodes=several args=10
// run: np=4 nodes=several transport=rc device=--delay-seed=3 args=10
#include "check.h"

static long lock, came, passed, word;
static int me, npes;

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 50;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (long round = 1; round <= rounds; round++) {
        int holder = (int)(round % npes);
        if (me == holder) {
            shmem_set_lock(&lock);
            // Only now may the others come.
            for (int pe = 0; pe < npes; pe++)
                if (pe != me)
                    shmem_long_atomic_set(&word, round, pe);
            shmem_long_wait_until(&came, SHMEM_CMP_EQ, npes - 1);
            CHECK_INT(shmem_long_atomic_fetch(&passed, me), 0, "PEs that had the lock before me");
            came = 0;
            shmem_clear_lock(&lock);
        } else {
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, round);
            shmem_long_atomic_inc(&came, holder);
            shmem_set_lock(&lock);
            shmem_long_atomic_inc(&passed, holder);
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
        if (me == holder) {
            CHECK_INT(passed, npes - 1, "PEs that had the lock after the holder");
            passed = 0;
        }
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
