// A fault in symmetric memory is told, and ends the job, whatever locks its PE holds: that of
// malloc, which the faulting thread has, or that of a stream, which another thread keeps. SIGTERM
// ends a PE in the same way. Text printed before comes out where no lock is in the way.
// run: np=2 nodes=1 cflags=-pthread expect-exit=1 expect-stderr="farreach: PE 1: shmem_long_p: " expect-stderr="is not symmetric" expect-stdout="printed before" args=malloc
// run: np=2 nodes=1 launcher=hydra,openmpi cflags=-pthread expect-exit=nonzero expect-stderr="farreach: PE 1: shmem_long_p: " args=malloc
// run: np=1 launcher=none cflags=-pthread expect-exit=1 expect-stderr="farreach: PE 0: shmem_long_p: " args=malloc
// run: np=2 nodes=1 cflags=-pthread expect-exit=1 expect-stderr="farreach: PE 1: shmem_long_p: " args=stdio
// run: np=1 nodes=1 cflags=-pthread expect-exit=143 expect-stdout="printed before" args=terminate malloc
// run: np=1 nodes=1 cflags=-pthread expect-exit=143 args=terminate stdio
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

// The allocator's lock, which nobody gets twice.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int fails_in_malloc;
static volatile int is_locked;
static void fail(void);

void *malloc(size_t size)
{
    pthread_mutex_lock(&lock);
    if (fails_in_malloc)
        fail();
    void *block = __libc_malloc(size);
    pthread_mutex_unlock(&lock);
    return block;
}

void *calloc(size_t count, size_t size)
{
    pthread_mutex_lock(&lock);
    void *block = __libc_calloc(count, size);
    pthread_mutex_unlock(&lock);
    return block;
}

void *realloc(void *block, size_t size)
{
    pthread_mutex_lock(&lock);
    block = __libc_realloc(block, size);
    pthread_mutex_unlock(&lock);
    return block;
}

void free(void *block)
{
    pthread_mutex_lock(&lock);
    __libc_free(block);
    pthread_mutex_unlock(&lock);
}

static const long CONSTANT[512] = {1, 2, 3};
static int terminates;

static void fail(void)
{
    if (terminates)
        kill(getpid(), SIGTERM);
    else
        shmem_long_p((long *)(uintptr_t)&CONSTANT[1], 5, 0);
    // SIGTERM may come to the other thread.
    for (;;)
        pause();
}

static void *keep_stdout(void *argument)
{
    (void)argument;
    flockfile(stdout);
    is_locked = 1;
    for (;;)
        pause();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    CHECK(argc >= 2, "usage: [terminate] malloc|stdio");
    terminates = strcmp(argv[1], "terminate") == 0;
    // No core files in the project.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    shmem_init();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        printf("printed before\n");
        if (strcmp(argv[argc - 1], "stdio") == 0) {
            CHECK_INT(pthread_create(&thread, NULL, keep_stdout, NULL), 0, "pthread_create");
            while (!is_locked)
                usleep(100);
            fail();
        }
        fails_in_malloc = 1;
        FAIL("survived, with a block at %p", malloc(1));
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
