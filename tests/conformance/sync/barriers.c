// shmem_barrier_all completes puts and atomics everywhere, shmem_sync_all makes stores visible;
// nobody leaves either before all have come. A few thousand rounds each, mixed.
// run: np=1,2,3,7 launcher=oshrun
// run: np=3 launcher=hydra
#include "check.h"

#include <time.h>

enum { ROUNDS = 2000, MAX_PES = 8 };

static int put_by[MAX_PES];
static long added;
static volatile int stored;
static long entered;
static int me, npes;

// Makes one of the PEs late now and then, before barriers that follow no pattern.
static void late(void)
{
    static uint32_t barriers;
    const struct timespec moment = {0, 50000};
    uint32_t dice = ++barriers * UINT32_C(2654435761);

    if ((dice >> 8) % 16 == 0 && (dice >> 16) % (uint32_t)npes == (uint32_t)me)
        nanosleep(&moment, NULL);
}

static void barrier_round(int round)
{
    int right = (me + 1) % npes;

    late();
    for (int pe = 0; pe < npes; pe++)
        shmem_int_put_nbi(&put_by[me], &round, 1, pe);
    shmem_long_atomic_add(&added, round, right);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK(*(volatile int *)&put_by[pe] == round,
              "round %d: PE %d's put before shmem_barrier_all: expected %d, got %d", round, pe,
              round, put_by[pe]);
    long want = (long)round * (round + 1) / 2;
    CHECK(*(volatile long *)&added == want,
          "round %d: atomic_add before shmem_barrier_all: expected %ld, got %ld", round, want,
          added);
    shmem_barrier_all();
}

static void sync_round(int round)
{
    late();
    stored = round * 7 + me;
    shmem_sync_all();
    for (int pe = 0; pe < npes; pe++) {
        const int *theirs = (const int *)shmem_ptr((const void *)&stored, pe);
        int got = theirs != NULL ? *(volatile const int *)theirs
                                 : shmem_int_g((const int *)&stored, pe);
        CHECK(got == round * 7 + pe,
              "round %d: PE %d's store before shmem_sync_all: expected %d, got %d", round, pe,
              round * 7 + pe, got);
    }
    late();
    shmem_sync_all();
}

// Counts entries on PE 0: behind the barrier of round r there are at least r * npes of them.
static void count_round(int round, void (*barrier)(void))
{
    late();
    shmem_long_atomic_inc(&entered, 0);
    shmem_quiet();
    barrier();
    long seen = shmem_long_atomic_fetch(&entered, 0);
    CHECK(seen >= (long)round * npes && seen <= ((long)round + 1) * npes,
          "round %d: %ld entries of %d PEs", round, seen, npes);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    for (int round = 1; round <= ROUNDS; round++)
        barrier_round(round);
    for (int round = 1; round <= ROUNDS; round++)
        sync_round(round);
    for (int round = 1; round <= ROUNDS; round++)
        count_round(round, round % 3 ? shmem_barrier_all : shmem_sync_all);
    shmem_finalize();
    return 0;
}
