// Several threads fork at the same time: each child has the memory as it was when its own thread
// forked, and no descriptor is left over.
// run: np=1,2 cflags=-pthread
// run: np=2 link=static cflags=-pthread
// run: np=2 launcher=hydra cflags=-pthread
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 60, WORDS = 8192 };

static volatile long in_bss[THREADS][WORDS];
static volatile long *on_heap;

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
        pid_t pid = fork();
        if (pid == 0)
            _exit(*first == i && *second == -i ? 0 : 1);
        *first = *second = 666;
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
        CHECK(status == 0, "thread %ld: child %ld ended with status 0x%x, which is %s", id, i,
              status, status == 0x100 ? "that it saw a later value" : "unexpected");
        CHECK(*first == 666 && *second == 666, "thread %ld lost a store", id);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;

    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    on_heap = (volatile long *)shmem_malloc(THREADS * WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    int before = descriptors();
    for (long id = 0; id < THREADS; id++)
        CHECK_INT(pthread_create(&threads[id], NULL, fork_often, (void *)(intptr_t)id), 0,
                  "pthread_create");
    for (int id = 0; id < THREADS; id++)
        CHECK_INT(pthread_join(threads[id], NULL), 0, "pthread_join");
    CHECK_INT(descriptors(), before, "open descriptors after the forks");
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
