// THREAD_MULTIPLE: four threads of each PE put, get, add and quiet on the default context at once;
// nothing is lost; a thread blocked in a wait does not keep the others of its PE from working.
// Its arguments are the numbers of rounds and of adds to one word.
// run: np=1,2,3 nodes=1 cflags=-pthread
// run: np=2 nodes=several cflags=-pthread timeout=60 args=1500 20000
// run: np=2 cflags=-pthread launcher=hydra
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, WORDS = 24 };

static long slots[64][THREADS][WORDS];
static long counters[THREADS + 1];
static uint64_t signal_word;
static long contended_add;
static unsigned int contended_inc;
static long released[THREADS];
static pthread_barrier_t all_threads;
static long rounds = 4000, contended = 50000;
static int me, npes;

static void hammer(int thread)
{
    int right = (me + 1) % npes;
    long source[WORDS], back[WORDS];

    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < WORDS; i++)
            source[i] = ((round * 4 + thread) * 8 + me) * 64 + i;
        shmem_long_put(slots[me][thread], source, WORDS, right);
        shmem_long_atomic_inc(&counters[thread], right);
        shmem_long_atomic_fetch_add(&counters[THREADS], 2, right);
        shmem_signal_add(&signal_word, 1, right);
        shmem_quiet();
        shmem_long_get(back, slots[me][thread], WORDS, right);
        CHECK(memcmp(back, source, sizeof back) == 0,
              "thread %d, round %ld: got back %ld..., put %ld...", thread, round, back[0],
              source[0]);
        shmem_long_p(&slots[me][thread][0], round, right);
        shmem_fence();
        CHECK(shmem_long_g(&slots[me][thread][1], right) == source[1], "thread %d: g", thread);
    }
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument;

    // All at once on the same words, so that an update that is not atomic is lost.
    pthread_barrier_wait(&all_threads);
    for (long i = 0; i < contended; i++) {
        shmem_long_atomic_add(&contended_add, 3, (me + 1) % npes);
        shmem_uint_atomic_inc(&contended_inc, (me + 1) % npes);
    }
    pthread_barrier_wait(&all_threads);
    hammer(thread);
    pthread_barrier_wait(&all_threads);
    // Threads 1 to 3 block; thread 0 sets them free one after the other, through the library.
    if (thread == 0)
        for (int other = 1; other < THREADS; other++) {
            shmem_long_atomic_set(&released[other], other, me);
            shmem_long_wait_until(&released[0], SHMEM_CMP_EQ, other);
        }
    else {
        shmem_long_wait_until(&released[thread], SHMEM_CMP_EQ, thread);
        shmem_long_atomic_inc(&released[0], me);
    }
    pthread_barrier_wait(&all_threads);
    // Collectives from another thread than the first, one at a time.
    if (thread == 2)
        shmem_barrier_all();
    pthread_barrier_wait(&all_threads);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];

    if (argc == 3) {
        rounds = atol(argv[1]);
        contended = atol(argv[2]);
    }
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    pthread_barrier_init(&all_threads, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)i), 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(counters[i], rounds, "atomic_inc by a thread of the left neighbour");
    CHECK_INT(contended_add, 3 * THREADS * contended, "atomic_add by four threads on one word");
    CHECK_INT(contended_inc, THREADS * contended, "atomic_inc by four threads on one word");
    CHECK_INT(counters[THREADS], 2 * THREADS * rounds, "fetch_add by four threads");
    CHECK_INT(shmem_signal_fetch(&signal_word), THREADS * rounds, "signal_add");
    pthread_barrier_destroy(&all_threads);
    shmem_finalize();
    return 0;
}
