// A PE that computes and makes no calls is served all the same: others put to it, get from it,
// update it atomically and hand a token round among themselves meanwhile.
// run: np=3
#include "check.h"

#include <time.h>

enum { ROUNDS = 300 };

static volatile long busy_word = 41;
static long counter, token;
static volatile long finished;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(npes >= 3, "run with 3 PEs");
    double start = seconds();

    if (me == 2) {
        // Watches its own memory by plain loads, at most fifteen seconds.
        while (finished != 2)
            CHECK(seconds() - start < 15, "no word from the others: %ld", finished);
        CHECK_INT(counter, 2 * ROUNDS, "atomics while this PE computed");
        CHECK_INT(busy_word, 41 + ROUNDS, "puts while this PE computed");
    } else {
        int other = 1 - me;
        for (long i = 1; i <= ROUNDS; i++) {
            if (me == 1)
                shmem_long_wait_until(&token, SHMEM_CMP_EQ, i);
            long seen = shmem_long_g((long *)&busy_word, 2);
            CHECK(me == 0 ? seen == 40 + i : seen == 41 + i, "round %ld: got %ld", i, seen);
            if (me == 0) {
                shmem_long_p((long *)&busy_word, 41 + i, 2);
                shmem_quiet();
            }
            shmem_long_atomic_fetch_inc(&counter, 2);
            shmem_long_p(&token, i, other);
            if (me == 0)
                shmem_long_wait_until(&token, SHMEM_CMP_EQ, i);
        }
        shmem_quiet();
        shmem_long_atomic_inc((long *)&finished, 2);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
