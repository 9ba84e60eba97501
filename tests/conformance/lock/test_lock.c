// shmem_test_lock: 0 and the lock where it was clear, 1 at once where it was set, by set_lock or by
// test_lock, by this PE's neighbour or any other; a try that failed leaves nothing behind.
// run: np=1,2,3,4,7
#include "check.h"

static long lock, others[3];
static int me, npes;

// Lets `owner` hold the lock while all others try.
static void hold(int owner, int by_test)
{
    if (me == owner) {
        if (by_test)
            CHECK_INT(shmem_test_lock(&lock), 0, "shmem_test_lock of a clear lock");
        else
            shmem_set_lock(&lock);
    }
    shmem_barrier_all();
    if (me != owner)
        for (int i = 0; i < 20; i++)
            CHECK_INT(shmem_test_lock(&lock), 1, "shmem_test_lock of a lock that another PE holds");
    for (int i = 0; i < 3; i++)
        if (i % npes == me) {
            CHECK_INT(shmem_test_lock(&others[i]), 0, "shmem_test_lock of another lock");
            shmem_clear_lock(&others[i]);
        }
    shmem_barrier_all();
    if (me == owner)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int owner = 0; owner < npes; owner++) {
        hold(owner, 0);
        hold(owner, 1);
        // The PEs that failed before can have it now, one after the other, several times.
        for (int pe = 0; pe < npes; pe++) {
            for (int i = 0; i < 3 && me == pe; i++) {
                CHECK_INT(shmem_test_lock(&lock), 0, "shmem_test_lock after it was cleared");
                shmem_clear_lock(&lock);
                shmem_set_lock(&lock);
                shmem_clear_lock(&lock);
            }
            shmem_barrier_all();
        }
    }
    shmem_finalize();
    return 0;
}
