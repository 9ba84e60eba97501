// Several threads fork at the same time, while others come and go: each child has the memory as it was when its own
// thread forked, and no descriptor is left over. With the argument `direct` they call _Fork.
// run: np=1,2 cflags=-pthread
// run: np=2 link=static cflags=-pthread
// run: np=2 link=static-pie cflags=-pthread
// run: np=2 link=static cflags=-pthread args=direct
// run: np=2 launcher=hydra,openmpi cflags=-pthread
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 60, WORDS = 8192 };

static volatile long in_bss[THREADS][WORDS];
static volatile long *on_heap;
static pid_t (*divide)(void) = fork;
static volatile int forking = THREADS;

static int descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    CHECK(directory != NULL, "cannot open /proc/self/fd");
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static void *fork_often(void *number)
{
    long id = (long)(intptr_t)number;
    volatile long *first = &in_bss[id][WORDS - 1], *second = &on_heap[id * WORDS + 5];

    for (long i = 1; i <= FORKS; i++) {
        int status;
        *first = i;
        *second = -i;
        pid_t pid = divide();
        if (pid == 0)
            _exit(*first == i && *second == -i ? 0 : 1);
        *first = *second = 666;
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
        CHECK(status == 0, "thread %ld: child %ld ended with status 0x%x, which is %s", id, i,
              status, status == 0x100 ? "that it saw a later value" : "unexpected");
        CHECK(*first == 666 && *second == 666, "thread %ld lost a store", id);
    }
    __atomic_fetch_sub(&forking, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *use_the_c_library(void *size)
{
    free(malloc((size_t)(intptr_t)size));
    return size;
}

static void *come_and_go(void *number)
{
    for (intptr_t size = 100; forking > 0; size = size % 5000 + 100) {
        pthread_t thread;
        void *returned;

        CHECK_INT(pthread_create(&thread, NULL, use_the_c_library, (void *)size), 0, "another pthread_create");
        CHECK_INT(pthread_join(thread, &returned), 0, "another pthread_join");
        CHECK(returned == (void *)size, "a thread returned something else");
    }
    return number;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], others;
    int provided;

    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    if (argc > 1 && strcmp(argv[1], "direct") == 0)
        divide = _Fork;
    on_heap = (volatile long *)shmem_malloc(THREADS * WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    int before = descriptors();
    for (long id = 0; id < THREADS; id++)
        CHECK_INT(pthread_create(&threads[id], NULL, fork_often, (void *)(intptr_t)id), 0,
                  "pthread_create");
    CHECK_INT(pthread_create(&others, NULL, come_and_go, NULL), 0, "pthread_create");
    for (int id = 0; id < THREADS; id++)
        CHECK_INT(pthread_join(threads[id], NULL), 0, "pthread_join");
    CHECK_INT(pthread_join(others, NULL), 0, "pthread_join");
    CHECK_INT(descriptors(), before, "open descriptors after the forks");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
