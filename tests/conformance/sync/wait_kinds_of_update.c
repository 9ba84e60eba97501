// A wait ends by an update of any kind: put, p, an atomic, put_signal, a store through shmem_ptr, a
// thread of the same PE; and the data written before the flag is there when it returns.
// run: np=2,3 nodes=1 cflags=-pthread
#include "check.h"

#include <pthread.h>
#include <time.h>

enum { ROUNDS = 2000, WORDS = 64, KINDS = 8 };

static long flag;
static uint64_t sig;
static long data[WORDS];
static long in_thread;

static void update(long *remote_flag, int kind, long round, int pe)
{
    switch (kind) {
    case 0:
        shmem_long_p(&flag, round, pe);
        break;
    case 1:
        shmem_long_put(&flag, &round, 1, pe);
        break;
    case 2:
        shmem_putmem(&flag, &round, sizeof round, pe);
        break;
    case 3:
        shmem_long_atomic_set(&flag, round, pe);
        break;
    case 4:
        shmem_long_atomic_inc(&flag, pe);
        break;
    case 5:
        shmem_long_atomic_fetch_add(&flag, 1, pe);
        break;
    case 6:
        shmem_long_put_nbi(&flag, &round, 1, pe);
        shmem_quiet();
        break;
    default:
        __atomic_store_n(remote_flag, round, __ATOMIC_RELEASE);
    }
}

static void *set_later(void *unused)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    shmem_long_atomic_set(&in_thread, 1, shmem_my_pe());
    return unused;
}

int main(void)
{
    int provided;

    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int left = (me + npes - 1) % npes;
    long *remote_flag = (long *)shmem_ptr(&flag, right);
    CHECK(remote_flag != NULL, "shmem_ptr of a global on PE %d is NULL", right);

    for (long round = 1; round <= ROUNDS; round++) {
        long source[WORDS];
        for (int i = 0; i < WORDS; i++)
            source[i] = round * 100 + i + me;
        shmem_long_put(data, source, WORDS, right);
        shmem_fence();
        update(remote_flag, (int)(round % KINDS), round, right);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        for (int i = 0; i < WORDS; i++)
            CHECK(data[i] == round * 100 + i + left,
                  "update of kind %ld: the wait returned, word %d is %ld instead of %ld",
                  round % KINDS, i, data[i], round * 100 + i + left);
        // The same word seen by test, as unsigned, and by a signal.
        CHECK_INT(shmem_long_test(&flag, SHMEM_CMP_EQ, round), 1, "shmem_long_test");
        shmem_uint64_put_signal(&sig + 0, NULL, 0, &sig, (uint64_t)round, SHMEM_SIGNAL_SET, right);
        shmem_uint64_wait_until(&sig, SHMEM_CMP_EQ, (uint64_t)round);
        shmem_barrier_all();
    }

    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, set_later, NULL), 0, "pthread_create");
    shmem_long_wait_until(&in_thread, SHMEM_CMP_EQ, 1);
    pthread_join(thread, NULL);
    shmem_finalize();
    return 0;
}
