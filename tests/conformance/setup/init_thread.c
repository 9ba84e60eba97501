// shmem_init_thread at each level: 0, a level at least as high, the same from query_thread; then
// threads as the level allows.
// run: np=1,2 cflags=-pthread args=0
// run: np=2 cflags=-pthread args=1
// run: np=2 cflags=-pthread args=2
// run: np=1,2 cflags=-pthread args=3
// run: np=2 cflags=-pthread launcher=hydra,openmpi args=3
#include "check.h"

#include <pthread.h>

static long counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// Adds one, one thread at a time: SERIALIZED. MULTIPLE: all at once.
static void *add_one(void *level)
{
    int serialized = *(int *)level == SHMEM_THREAD_SERIALIZED;

    for (int i = 0; i < 1000; i++) {
        if (serialized)
            pthread_mutex_lock(&mutex);
        shmem_long_atomic_inc(&counter, 0);
        if (serialized)
            pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *touch_nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    static const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED,
                                 SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE};
    int level = levels[argc > 1 ? atoi(argv[1]) : 0], provided = -1, queried = -1;
    pthread_t threads[3];

    CHECK_INT(shmem_init_thread(level, &provided), 0, "shmem_init_thread");
    CHECK(provided >= level && provided <= SHMEM_THREAD_MULTIPLE, "requested %d, provided %d",
          level, provided);
    shmem_query_thread(&queried);
    CHECK_INT(queried, provided, "shmem_query_thread");

    int npes = shmem_n_pes(), nthreads = level >= SHMEM_THREAD_SERIALIZED ? 3 : 0;
    for (int i = 0; i < nthreads; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, add_one, &level), 0, "pthread_create");
    if (level == SHMEM_THREAD_FUNNELED) {
        CHECK_INT(pthread_create(&threads[0], NULL, touch_nothing, NULL), 0, "pthread_create");
        pthread_join(threads[0], NULL);
    }
    add_one(&level);
    for (int i = 0; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    CHECK_INT(shmem_long_g(&counter, 0), 1000L * npes * (nthreads + 1), "increments");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
