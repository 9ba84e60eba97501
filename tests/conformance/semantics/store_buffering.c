// The litmus test of quiet: PE 0 puts x, quiets, gets y; PE 1 puts y, quiets, gets x. Both may not
// read the old values, in a million rounds over several placements and kinds of operations.
// run: np=2 nodes=1 timeout=60 args=pinned
// run: np=2 nodes=1 timeout=60 args=free
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

enum { ROUNDS = 1000000, BATCH = 1000 };

static long x_in_bss[16], y_in_bss[16];
static long start_flag;
static long results[BATCH];
static long theirs[BATCH];
static int me;

// Lets both PEs begin a round together: through plain shared memory, so that they meet closely.
static void meet(volatile long *peers_flag, long round)
{
    long spins = 0;

    __atomic_store_n(peers_flag, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&start_flag, __ATOMIC_ACQUIRE) < round)
        if (++spins > 2000)
            sched_yield();
}

// Writes 1 to `mine` on PE `to`, quiets, reads `other` on PE `from`.
static long one_round(int kind, long *mine, int to, long *other, int from)
{
    long one = 1, got = -1;
    const int targets[] = {to};

    switch (kind) {
    case 0:
        shmem_long_p(mine, 1, to);
        shmem_quiet();
        return shmem_long_g(other, from);
    case 1:
        shmem_putmem(mine, &one, sizeof one, to);
        shmem_quiet();
        shmem_getmem(&got, other, sizeof got, from);
        return got;
    case 2:
        shmem_long_put_nbi(mine, &one, 1, to);
        shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
        shmem_long_get_nbi(&got, other, 1, from);
        shmem_quiet();
        return got;
    case 3:
        shmem_long_put(mine, &one, 1, to);
        shmem_pe_quiet(targets, 1);
        return shmem_long_g(other, from);
    default:
        shmem_long_atomic_set(mine, 1, to);
        shmem_quiet();
        return shmem_long_atomic_fetch(other, from);
    }
}

static void pin(void)
{
    cpu_set_t allowed, one;
    int skip = me;

    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity failed");
    CPU_ZERO(&one);
    skip %= CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && skip-- == 0)
            CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity failed");
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    CHECK_INT(shmem_n_pes(), 2, "PEs");
    if (argc > 1 && strcmp(argv[1], "pinned") == 0)
        pin();
    long *on_heap = (long *)shmem_align(64, 32 * sizeof(long));
    volatile long *peers_flag = (volatile long *)shmem_ptr(&start_flag, 1 - me);
    CHECK(on_heap != NULL && peers_flag != NULL, "no symmetric memory");

    long round = 0;
    for (int batch = 0; batch < ROUNDS / BATCH; batch++) {
        long *x = batch % 2 ? x_in_bss : on_heap, *y = batch % 2 ? y_in_bss : on_heap + 16;
        // Places of x and y: with their readers, with their writers, both on one PE.
        int x_on = batch / 2 % 4 & 1, y_on = batch / 4 % 2 ? x_on : 1 - x_on, kind = batch / 8 % 5;
        long *mine = me == 0 ? x : y, *other = me == 0 ? y : x;
        int to = me == 0 ? x_on : y_on, from = me == 0 ? y_on : x_on;

        for (int i = 0; i < BATCH; i++) {
            meet(peers_flag, ++round);
            results[i] = one_round(kind, mine, to, other, from);
            meet(peers_flag, ++round);
            *x = *y = 0;
        }
        shmem_barrier_all();
        shmem_long_get(theirs, results, BATCH, 1 - me);
        for (int i = 0; i < BATCH; i++)
            CHECK(results[i] == 1 || theirs[i] == 1,
                  "batch %d, round %d, kind %d, x on PE %d, y on PE %d: both PEs read the old "
                  "value (%ld, %ld)",
                  batch, i, kind, x_on, y_on, results[i], theirs[i]);
        shmem_barrier_all();
    }
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
