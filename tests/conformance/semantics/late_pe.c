// A PE may take its time: however long all others wait for it, in finalize, a barrier or a wait, they
// are not told that nobody comes. A word may also go round among PEs that mostly sleep.
// run: np=2,4,16 refuse-stderr="waits for ever" args=finalize
// run: np=2,4,16 refuse-stderr="waits for ever" args=barrier
// run: np=2,4,16 refuse-stderr="waits for ever" args=wait
// run: np=4,16 refuse-stderr="waits for ever" args=ring
// run: np=4 launcher=hydra,openmpi refuse-stderr="waits for ever" args=wait
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

static long flag;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

// Is outside of the library for 2 s, for most of them without a processor.
static void be_late(void)
{
    struct timespec time = {1, 800000000};

    compute(0.1);
    nanosleep(&time, NULL);
    compute(0.1);
}

// Waits for PE 0, which is late by 2 s; with "wait" the last PE is in finalize all that time, and
// the others wait for the flag that PE 0 puts in the end.
static void wait_for_pe_0(const char *how)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int waits = strcmp(how, "wait") == 0;

    if (me == 0) {
        be_late();
        for (int pe = 1; waits && pe < npes; pe++)
            shmem_long_p(&flag, 1, pe);
    } else if (waits && (me < npes - 1 || npes == 2)) {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
    if (strcmp(how, "barrier") == 0)
        shmem_barrier_all();
}

// Sends a word round among all PEs but the last one, which is in finalize. Each PE keeps it for
// some milliseconds, so that the others sleep and look around at all times of its way.
static void ring(void)
{
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    double end = now() + 2;

    if (me == last)
        return;
    for (long round = 1;; round++) {
        if (me != 0 || round > 1)
            shmem_long_wait_until(&flag, SHMEM_CMP_NE, me == 0 ? round - 2 : round - 1);
        long stop = flag < 0 || (me == 0 && now() > end);
        compute(0.001 * (double)((round * 7 + me * 5) % 40));
        if (me < last - 1 || flag >= 0)
            shmem_long_p(&flag, stop ? -1 : round, (me + 1) % last);
        if (stop)
            return;
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "usage: finalize|barrier|wait|ring");
    shmem_init();
    if (strcmp(argv[1], "ring") == 0)
        ring();
    else
        wait_for_pe_0(argv[1]);
    shmem_finalize();
    return 0;
}
