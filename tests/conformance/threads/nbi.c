// THREAD_MULTIPLE on the default context: the fetches and puts of threads without blocking are
// complete after their own quiet, and after a later quiet of another thread of the same PE; several
// threads are in quiet at the same time.
// run: np=1,2,3,7 nodes=1 cflags=-pthread args=1000
// run: np=2,4 nodes=several cflags=-pthread args=40 timeout=60
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, WORDS = 80, MAX_PES = 8 };

static long sums[THREADS], bits[THREADS], slots[MAX_PES][THREADS][WORDS], done[THREADS];
static pthread_barrier_t meeting;
static int me, npes, rounds;

// Fetches values. Nobody else of all threads and PEs fetches the same one, and they ascend.
static void fetch(int thread, long round, int target)
{
    static long last[THREADS] = {-1, -1, -1};
    long old = -7, mask = -7, cell = -7;

    shmem_long_atomic_fetch_inc_nbi(&old, &sums[thread], target);
    shmem_uint64_atomic_fetch_xor_nbi((uint64_t *)&mask, (uint64_t *)&bits[thread], 1, target);
    shmem_long_atomic_swap_nbi(&cell, &slots[me][thread][0], round, target);
    shmem_quiet();
    CHECK(old > last[thread] && old < (long)rounds, "thread %d, round %ld: fetched %ld after %ld",
          thread, round, old, last[thread]);
    CHECK_INT(mask, round % 2, "atomic_fetch_xor_nbi after quiet");
    CHECK_INT(cell, round == 0 ? 0 : round - 1, "atomic_swap_nbi after quiet");
    last[thread] = old;
}

// Puts of all threads, then one thread's quiet, then the flags that it puts for all.
static void put_for_others(int thread, long round, int target)
{
    static long source[THREADS][WORDS];
    int left = (me + npes - 1) % npes;

    for (int i = 1; i < WORDS; i++)
        source[thread][i] = (round * THREADS + thread) * WORDS + i + me;
    shmem_long_put_nbi(&slots[me][thread][1], &source[thread][1], WORDS - 1, target);
    pthread_barrier_wait(&meeting);
    if (thread == round % THREADS) {
        shmem_quiet();
        for (int t = 0; t < THREADS; t++)
            shmem_long_p(&done[t], round + 1, target);
    }
    shmem_long_wait_until(&done[thread], SHMEM_CMP_EQ, round + 1);
    for (int i = 1; i < WORDS; i++)
        CHECK(slots[left][thread][i] == (round * THREADS + thread) * WORDS + i + left,
              "thread %d, round %ld: word %d was put before another thread's quiet: %ld", thread,
              round, i, slots[left][thread][i]);
    // All PEs have looked.
    pthread_barrier_wait(&meeting);
    if (thread == 1)
        shmem_barrier_all();
    pthread_barrier_wait(&meeting);
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument, target = (me + 1) % npes;

    for (long round = 0; round < rounds; round++)
        fetch(thread, round, target);
    for (long round = 0; round < rounds / 4; round++)
        put_for_others(thread, round, target);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];

    rounds = argc > 1 ? atoi(argv[1]) : 100;
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)i), 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int thread = 0; thread < THREADS; thread++)
        CHECK_INT(sums[thread], rounds, "increments of the left neighbour");
    pthread_barrier_destroy(&meeting);
    shmem_finalize();
    return 0;
}
