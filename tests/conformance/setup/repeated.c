// Initialized three times, finalized three times: the first two finalizes release nothing and are
// barriers that complete communication; the last one ends the library.
// run: np=1,2,3,7 launcher=oshrun,hydra,openmpi
#include "check.h"

#include <time.h>

static int arrived[64];
static int value;

static int initialized(void)
{
    int answer = -1;
    shmem_query_initialized(&answer);
    return answer != 0;
}

// Lets everybody mark its arrival everywhere; the PE `late` comes late. Behind a finalize that is a
// barrier all the marks are there.
static void finalize_as_barrier(int round, int late)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    const struct timespec delay = {0, 100000000};

    if (me == late)
        nanosleep(&delay, NULL);
    for (int pe = 0; pe < npes; pe++)
        shmem_int_p(&arrived[me], round, pe);
    shmem_finalize();
    for (int pe = 0; pe < npes; pe++)
        CHECK(*(volatile int *)&arrived[pe] >= round,
              "finalize %d returned before PE %d had come to it", round, pe);
}

int main(void)
{
    int provided;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int *on_heap = (int *)shmem_malloc(sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    *on_heap = 100 + me;
    shmem_init();
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(shmem_my_pe(), me, "shmem_my_pe after a second init");
    CHECK_INT(shmem_n_pes(), npes, "shmem_n_pes after a second init");
    shmem_barrier_all();

    finalize_as_barrier(1, npes - 1);
    CHECK(initialized(), "uninitialized after finalize 1 of 3");
    finalize_as_barrier(2, 0);
    CHECK(initialized(), "uninitialized after finalize 2 of 3");

    // Heap and static data are still there, and so is the library.
    CHECK_INT(shmem_int_g(on_heap, (me + 1) % npes), 100 + (me + 1) % npes,
              "heap after two of three finalizes");
    shmem_int_p(&value, 7 + me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(value, 7 + (me + npes - 1) % npes, "static data after two of three finalizes");
    shmem_free(on_heap);
    finalize_as_barrier(3, npes / 2);
    CHECK(!initialized(), "initialized after finalize 3 of 3");
    CHECK_INT(value, 7 + (me + npes - 1) % npes, "static data after the last finalize");
    return 0;
}
