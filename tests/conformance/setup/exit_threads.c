// After the end of main, which finalizes implicitly, exit handlers and threads that still run may
// look at the symmetric memory of their PE, and store to it.
// run: np=1,2,3 cflags=-pthread
// run: np=2 link=static cflags=-pthread
// run: np=2 launcher=hydra,openmpi cflags=-pthread
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 4096 };

static long in_bss[WORDS];
static long *on_heap;
// Rounds that the thread has done, in memory that is not symmetric.
static volatile long *rounds;

static void *use_memory(void *unused)
{
    for (;;) {
        long round = *rounds + 1;
        for (int i = 8; i < WORDS; i++) {
            ((volatile long *)on_heap)[i] = round;
            ((volatile long *)in_bss)[i] = -round;
        }
        *rounds = round;
    }
    return unused;
}

static void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s\n", what);
    _exit(1);
}

// Looks at the rounds; registered before shmem_init, so that it runs after the implicit finalize.
static void look(void)
{
    long before = *rounds;

    if (on_heap[3] != 33 || in_bss[3] != 44)
        fail("an exit handler finds other values than those stored");
    for (int waits = 0; *rounds < before + 5; waits++) {
        if (waits == 1000)
            fail("the thread has stopped");
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
}

int main(void)
{
    pthread_t thread;
    int provided;

    CHECK_INT(atexit(look), 0, "atexit");
    rounds = (volatile long *)calloc(1, sizeof *rounds);
    CHECK(rounds != NULL, "no memory");
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    on_heap = (long *)shmem_malloc(WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    on_heap[3] = 33;
    in_bss[3] = 44;
    CHECK_INT(pthread_create(&thread, NULL, use_memory, NULL), 0, "pthread_create");
    return 0;
}
