// PEs that wait for a lock get it in the order of coming. They come 20 ms apart while it is held;
// as the system may keep one of them waiting that long, most rounds have to be in order, not all.
// run: np=3,7 nodes=1
// run: np=4 nodes=several
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

enum { ROUNDS = 5, MAX_PES = 8 };

static long lock, go, places, came[MAX_PES];
static int me, npes;

static void pause_ms(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

// Returns the PE of a turn, in the order in which PEs are told to come; another order in each
// round.
static int in_turn(int round, int turn)
{
    return 1 + (round % 2 ? turn + round : npes * 2 - turn - round) % (npes - 1);
}

static int is_in_order(int round)
{
    for (int turn = 0; turn < npes - 1; turn++)
        if (shmem_long_g(&came[in_turn(round, turn)], 0) != turn)
            return 0;
    return 1;
}

int main(void)
{
    int in_order = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes >= 3 && npes <= MAX_PES, "run with 3 to %d PEs", (int)MAX_PES);
    for (int round = 0; round < ROUNDS; round++) {
        if (me == 0) {
            places = 0;
            shmem_set_lock(&lock);
            for (int turn = 0; turn < npes - 1; turn++) {
                shmem_long_atomic_set(&go, round + 1, in_turn(round, turn));
                shmem_quiet();
                pause_ms(20);
            }
            shmem_clear_lock(&lock);
        } else {
            shmem_long_wait_until(&go, SHMEM_CMP_EQ, round + 1);
            shmem_set_lock(&lock);
            long place = shmem_long_g(&places, 0);
            shmem_long_p(&came[me], place, 0);
            shmem_long_p(&places, place + 1, 0);
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
        if (me == 0)
            in_order += is_in_order(round);
        shmem_barrier_all();
    }
    CHECK(me != 0 || in_order > ROUNDS / 2, "%d of %d rounds were in order", in_order, (int)ROUNDS);
    shmem_finalize();
    return 0;
}
