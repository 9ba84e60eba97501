// THREAD_MULTIPLE with contexts: every thread on a private one of its own, all on one that is
// shared, and by turns on one that is serialized; the operations that a thread quiets are complete,
// whatever the others have on their way.
// run: np=1,2,3 nodes=1 cflags=-pthread args=1500
// run: np=2 nodes=several cflags=-pthread args=40 timeout=60
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, WORDS = 100, MAX_PES = 8 };

static long blocks[MAX_PES][THREADS][WORDS], shared_sum, serial_sum, private_sum;
static shmem_ctx_t shared_ctx, serial_ctx;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int me, npes, rounds;

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument, right = (me + 1) % npes;
    long source[WORDS], back[WORDS], old;
    shmem_ctx_t ctx;

    CHECK_INT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0, "a thread's private context");
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < WORDS; i++)
            source[i] = ((round * THREADS + thread) * 8 + me) * WORDS + i;
        shmem_ctx_long_put_nbi(ctx, blocks[me][thread], source, WORDS, right);
        shmem_ctx_long_atomic_add(ctx, &private_sum, 1, right);
        shmem_ctx_long_atomic_inc(shared_ctx, &shared_sum, right);
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_get_nbi(ctx, back, blocks[me][thread], WORDS, right);
        shmem_ctx_quiet(ctx);
        CHECK(memcmp(back, source, sizeof back) == 0, "thread %d, round %ld: got back %ld, not %ld",
              thread, round, back[0], source[0]);
        shmem_ctx_long_atomic_fetch_add_nbi(shared_ctx, &old, &shared_sum, 1, right);
        shmem_ctx_quiet(shared_ctx);
        CHECK(old >= 0 && old < 2L * rounds * THREADS, "fetch_add_nbi fetched %ld", old);
        pthread_mutex_lock(&turn);
        shmem_ctx_long_atomic_add(serial_ctx, &serial_sum, 2, right);
        shmem_ctx_quiet(serial_ctx);
        pthread_mutex_unlock(&turn);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];

    rounds = argc > 1 ? atoi(argv[1]) : 200;
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_INT(shmem_ctx_create(0, &shared_ctx), 0, "a shared context");
    CHECK_INT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &serial_ctx), 0, "a serialized context");
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, (void *)i), 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_ctx_destroy(shared_ctx);
    shmem_ctx_destroy(serial_ctx);
    shmem_barrier_all();
    CHECK_INT(private_sum, (long)rounds * THREADS, "adds on private contexts");
    CHECK_INT(shared_sum, 2L * rounds * THREADS, "adds on a shared context");
    CHECK_INT(serial_sum, 2L * rounds * THREADS, "adds on a serialized context");
    shmem_finalize();
    return 0;
}
