// Eight threads, each on a private context of its own, and then all of them on two shared ones and
// the default one: none loses or repeats an operation that another has on its way, a thread's fence
// and quiet order its puts, and a number that is fetched is fetched once. Contexts are made and
// destroyed by the threads, so that lanes come and go.
// run: np=2 nodes=1 cflags=-pthread args=400
// run: np=3 nodes=several cflags=-pthread args=9
// run: np=3 nodes=several cflags=-pthread device=--strict args=3
#include "check.h"

#include <pthread.h>

enum { THREADS = 8, WORDS = 700, ALONE = 60, LIVES = 4, MAX_PES = 8 };

static struct inbox {
    long words[WORDS], alone, flag, seen;
} inbox[THREADS];
static long counter;
static int me, npes, rounds;
static shmem_ctx_t shared[2];
static long told[THREADS * LIVES * 4096];

static long value(long round, int thread, int pe, int index)
{
    return ((round * THREADS + thread) * MAX_PES + pe) * WORDS + index;
}

// Waits until the left neighbour's thread of this number has come to a round, and looks at its
// data.
static void look(long round, int thread)
{
    int left = (me + npes - 1) % npes;
    struct inbox *box = &inbox[thread];

    shmem_long_wait_until(&box->flag, SHMEM_CMP_GE, 2 * round - 1);
    for (int i = 0; i < WORDS; i++)
        CHECK(box->words[i] == value(round, thread, left, i),
              "thread %d, round %ld: word %d is %ld, and not %ld", thread, round, i, box->words[i],
              value(round, thread, left, i));
    shmem_long_wait_until(&box->flag, SHMEM_CMP_GE, 2 * round);
    CHECK_INT(box->alone, value(round, thread, left, 0), "an element before its flag");
}

static void work(shmem_ctx_t ctx, int thread, long round)
{
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    struct inbox *box = &inbox[thread];
    long source[WORDS], back[WORDS];

    for (int i = 0; i < WORDS; i++)
        source[i] = value(round, thread, me, i);
    shmem_long_wait_until(&box->seen, SHMEM_CMP_GE, round - 1);
    // A longer range, pieces of it, or some elements alone: then the flag.
    if (round % 3 == 0)
        shmem_ctx_long_put_nbi(ctx, box->words, source, WORDS, right);
    else if (round % 3 == 1)
        for (int i = 0; i < WORDS; i += WORDS / 10)
            shmem_ctx_putmem(ctx, &box->words[i], &source[i], WORDS / 10 * sizeof(long), right);
    else {
        for (int i = 0; i < ALONE; i++)
            shmem_ctx_long_p(ctx, &box->words[i], source[i], right);
        shmem_ctx_long_put(ctx, &box->words[ALONE], &source[ALONE], WORDS - ALONE, right);
    }
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &box->flag, 2 * round - 1, right);
    shmem_ctx_long_p(ctx, &box->alone, source[0], right);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_atomic_inc(ctx, &box->flag, right);
    told[thread * LIVES * rounds + round - 1] = shmem_ctx_long_atomic_fetch_add(ctx, &counter, 1, right);
    shmem_ctx_long_get(ctx, back, box->words, WORDS, right);
    CHECK(memcmp(back, source, sizeof back) == 0, "thread %d, round %ld: got back %ld, not %ld", thread,
          round, back[0], source[0]);
    look(round, thread);
    shmem_ctx_long_p(ctx, &box->seen, round, left);
}

static void *run(void *argument)
{
    int thread = (int)(intptr_t)argument;
    shmem_ctx_t ctx;

    for (int life = 0; life < LIVES; life++) {
        int is_shared = life % 2;
        if (is_shared)
            ctx = thread % 3 == 2 ? SHMEM_CTX_DEFAULT : shared[thread % 3];
        else
            CHECK_INT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0, "a thread's private context");
        for (int round = 1; round <= rounds; round++)
            work(ctx, thread, (long)life * rounds + round);
        if (!is_shared)
            shmem_ctx_destroy(ctx);
    }
    return NULL;
}

static int by_value(const void *one, const void *other)
{
    long a = *(const long *)one, b = *(const long *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    int provided, numbers;
    pthread_t threads[THREADS];

    rounds = argc > 1 ? atoi(argv[1]) : 9;
    CHECK(rounds > 0 && rounds <= 4096, "rounds");
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "for up to %d PEs", MAX_PES);
    for (int i = 0; i < 2; i++)
        CHECK_INT(shmem_ctx_create(0, &shared[i]), 0, "a shared context");
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run, (void *)i), 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    numbers = THREADS * LIVES * rounds;
    qsort(told, numbers, sizeof *told, by_value);
    for (int i = 0; i < numbers; i++)
        CHECK_INT(told[i], i, "the numbers that the threads have fetched, in order");
    shmem_barrier_all();
    CHECK_INT(counter, numbers, "additions of the left neighbour's threads");
    shmem_finalize();
    return 0;
}
