// Writes of elements and atomic operations that no quiet comes behind (sections 9.5, 9.8 and 9.10): the next quiet
// delivers any number of them, whatever their target does, on each context for itself; fences between them order them;
// and a flag goes there and back without one.
// run: np=2,4 nodes=several timeout=60
#include "check.h"

#include <stdio.h>
#include <time.h>

enum { MANY = 20000, ROUNDS = 500, WORDS = 16 };

static long away, flag, data[WORDS], seen;
static long counters[2], words[2];

// Starts many operations, whose target sleeps meanwhile; every other one of the batches has one
// quiet.
static void many(int me, int target)
{
    shmem_ctx_t context;
    int is_own = shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) == 0;

    if (!is_own)
        context = SHMEM_CTX_DEFAULT;
    if (me == target) {
        shmem_long_p(&away, 1, 0);
        shmem_quiet();
        for (int turns = 0; turns < 30; turns++)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    if (me == 0) {
        shmem_long_wait_until(&away, SHMEM_CMP_EQ, 1);
        for (long i = 1; i <= MANY; i++) {
            shmem_long_p(&words[0], i, target);
            shmem_long_atomic_inc(&counters[0], target);
            shmem_ctx_long_p(context, &words[1], -i, target);
            shmem_ctx_long_atomic_add(context, &counters[1], 2, target);
        }
        shmem_quiet();
        CHECK_INT(shmem_long_g(&words[0], target), MANY, "the last of many elements");
        CHECK_INT(shmem_long_atomic_fetch(&counters[0], target), MANY, "the counter");
        shmem_ctx_quiet(context);
        CHECK_INT(shmem_long_g(&words[1], target), -MANY, "the last element of a context");
        CHECK_INT(shmem_long_atomic_fetch(&counters[1], target), 2 * MANY, "its counter");
    }
    if (is_own)
        shmem_ctx_destroy(context);
    shmem_barrier_all();
}

// Sends a flag there and back, without a quiet.
static void there_and_back(int me, int target)
{
    if (me != 0 && me != target)
        return;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            shmem_long_p(&flag, round, target);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        if (me == target)
            shmem_long_p(&flag, round, 0);
    }
}

// Writes elements, a fence, a write of several, a fence, a flag: a PE that sees the flag sees all
// before it, and the write is not undone by elements before the first fence.
static void in_order(int me, int target)
{
    if (me != 0 && me != target)
        return;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0) {
            long all[WORDS];

            for (int i = 0; i < WORDS; i++)
                shmem_long_p(&data[i], -round, target);
            shmem_fence();
            for (int i = 0; i < WORDS; i++)
                all[i] = round;
            shmem_long_put(data, all, WORDS, target);
            shmem_fence();
            shmem_long_p(&flag, ROUNDS + round, target);
            shmem_long_wait_until(&seen, SHMEM_CMP_EQ, round);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, ROUNDS + round);
            for (int i = 0; i < WORDS; i++)
                CHECK_INT(data[i], round, "an element behind the flag");
            shmem_long_p(&seen, round, 0);
        }
    }
}

// Lets every PE write an element of each other PE again and again; nobody waits but for the end.
static void all_to_all(int me)
{
    static long from[64], count;
    int npes = shmem_n_pes();

    for (long round = 1; round <= ROUNDS; round++)
        for (int pe = 0; pe < npes; pe++) {
            shmem_long_p(&from[me], round, pe);
            shmem_long_atomic_inc(&count, pe);
        }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_INT(from[pe], ROUNDS, "the last element of a PE");
    CHECK_INT(count, (long)ROUNDS * npes, "the own counter");
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), target = shmem_n_pes() - 1;

    shmem_barrier_all();
    many(me, target);
    there_and_back(me, target);
    in_order(me, target);
    all_to_all(me);
    shmem_finalize();
    return 0;
}
