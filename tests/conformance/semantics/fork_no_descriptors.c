// A process that has no descriptor left still forks: each child has the memory as it was then.
// run: np=1,2 link=pie,static
// run: np=2 launcher=hydra,openmpi
#include "check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 100000, FORKS = 5 };

static volatile long in_bss[WORDS];

static void fork_once(volatile long *on_heap, long round)
{
    int status;

    for (long i = 0; i < WORDS; i++) {
        in_bss[i] = round + i;
        on_heap[i] = round - i;
    }
    pid_t pid = fork();
    if (pid == 0) {
        // The parent writes meanwhile.
        usleep(2000);
        for (long i = 0; i < WORDS; i++) {
            if (in_bss[i] != round + i || on_heap[i] != round - i)
                _exit(1);
            in_bss[i] = on_heap[i] = 666;
        }
        _exit(0);
    }
    for (long i = 0; i < WORDS; i++)
        in_bss[i] = on_heap[i] = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
    CHECK(status == 0, "the child ended with status 0x%x", status);
    for (long i = 0; i < WORDS; i++) {
        CHECK_INT(in_bss[i], -1, ".bss after the child has changed its own");
        CHECK_INT(on_heap[i], -1, "heap after the child has changed its own");
    }
}

int main(void)
{
    shmem_init();
    long *on_heap = (long *)shmem_malloc(WORDS * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    int last = -1;
    for (int fd = 0; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        last = fd;
    CHECK(last >= 0, "cannot open /dev/null");
    for (long round = 1; round <= FORKS; round++)
        fork_once(on_heap, round);
    for (int fd = last; fd > last - 4; fd--)
        close(fd);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
