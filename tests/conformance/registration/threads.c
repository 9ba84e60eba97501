// Eight threads put and get private memory that each maps for itself and unmaps again, so that one soon has the addresses that
// another had: on contexts of their own, under several policies of lanes, and on the default context.
// run: np=2 cflags=-pthread
// run: np=2 cflags=-pthread nodes=several env=FARREACH_LANES=mpi-everywhere env=FARREACH_REGISTRATION_CACHE=1g,3
// run: np=2 cflags=-pthread nodes=several env=FARREACH_LANES=mpi+threads
// run: np=2 cflags=-pthread nodes=several args=shared
#include "registration/buffers.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 24, BYTES = 300 << 10 };

static unsigned char target[THREADS][BYTES];
static int all_share;

static void check(const unsigned char *at, unsigned who, unsigned round, const char *what)
{
    for (size_t i = 0; i < BYTES; i++)
        if (at[i] != picture(i, who, round))
            FAIL("%s, thread %u, round %u: byte %zu is %d, expected %d", what, who, round, i, at[i],
                 picture(i, who, round));
}

static void *work(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;
    int pe = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    if (!all_share && shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
        FAIL("shmem_ctx_create");
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char *source = map(BYTES);
        for (size_t i = 0; i < BYTES; i++)
            source[i] = picture(i, me, round);
        if (round % 2)
            shmem_ctx_putmem_nbi(ctx, target[me], source, BYTES, pe);
        else
            shmem_ctx_putmem(ctx, target[me], source, BYTES, pe);
        shmem_ctx_quiet(ctx);
        munmap(source, BYTES);
        unsigned char *result = map(BYTES);
        memset(result, 0xee, BYTES);
        if (round % 2) {
            shmem_ctx_getmem_nbi(ctx, result, target[me], BYTES, pe);
            shmem_ctx_quiet(ctx);
        } else {
            shmem_ctx_getmem(ctx, result, target[me], BYTES, pe);
        }
        check(result, me, round, "what was put and got");
        munmap(result, BYTES);
    }
    if (!all_share)
        shmem_ctx_destroy(ctx);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int level;

    all_share = argc > 1 && strcmp(argv[1], "shared") == 0;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    CHECK_INT(level, SHMEM_THREAD_MULTIPLE, "the thread level");
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (unsigned i = 0; i < THREADS; i++)
        check(target[i], i, ROUNDS - 1, "what is there at the end");
    shmem_finalize();
    return 0;
}
