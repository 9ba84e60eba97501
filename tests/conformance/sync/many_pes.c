// Far more PEs than processors: a loop of barriers, and a token that goes round the ring by put and
// wait_until. Nobody may spin so hard that the others cannot run.
// run: np=16,64 timeout=40
// run: np=16 launcher=hydra,openmpi timeout=40
#include "check.h"

#include <time.h>

static long token;
static long sum;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int barriers = 6400 / npes, laps = 1600 / npes;
    double start = seconds();

    for (int i = 0; i < barriers; i++) {
        shmem_long_atomic_inc(&sum, i % npes);
        shmem_barrier_all();
    }
    long want = 0;
    for (int i = 0; i < barriers; i++)
        want += i % npes == me ? npes : 0;
    CHECK_INT(sum, want, "increments over all barriers");
    double between = seconds();
    for (int lap = 1; lap <= laps; lap++) {
        if (me != 0)
            shmem_long_wait_until(&token, SHMEM_CMP_EQ, lap);
        shmem_long_p(&token, lap, right);
        if (me == 0)
            shmem_long_wait_until(&token, SHMEM_CMP_EQ, lap);
    }
    shmem_barrier_all();
    if (me == 0)
        printf("%d PEs: %d barriers in %.3f s, %d laps in %.3f s\n", npes, barriers,
               between - start, laps, seconds() - between);
    shmem_finalize();
    return 0;
}
