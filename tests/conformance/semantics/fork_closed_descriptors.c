// A program that closes all descriptors that it did not open (but for the launcher's), as daemons do,
// still has fork: the child has its data, and files that get the closed numbers stay as they are.
// A new initialization is not possible then, and says so. (The child's copy is of all pages.)
// run: np=1,2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=8m
// run: np=2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=8m link=static
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=8m launcher=hydra
// run: np=1 env=SHMEM_SYMMETRIC_SIZE=8m launcher=none
// run: np=2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=8m args=reuse
// run: np=2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=8m expect-exit=1 expect-stderr="shmem_init: " expect-stderr="has closed the descriptor" args=again
// run: np=2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=8m expect-exit=1 expect-stderr="shmem_init: " expect-stderr="has closed the descriptor" args=reuse again
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_LENGTH = 1 << 30, MOST = 64 };

static volatile long in_bss[100000];
static volatile long in_data = 1;

static void close_all(void)
{
    const char *launcher = getenv("PMI_FD");
    int keep = launcher != NULL ? atoi(launcher) : -1;

    for (int fd = 3; fd < MOST; fd++)
        if (fd != keep)
            close(fd);
}

// Opens files that get the numbers that were closed; returns one of them.
static int open_own(void)
{
    int own = memfd_create("own", 0);

    CHECK(own > 2 && ftruncate(own, FILE_LENGTH) == 0, "cannot make a file");
    for (int i = 0; i < 8; i++)
        CHECK(dup(own) >= 0, "dup failed");
    return own;
}

static void fork_once(volatile long *on_heap)
{
    int status;

    in_bss[99999] = 43;
    in_data = 44;
    on_heap[50000] = 45;
    pid_t pid = fork();
    if (pid == 0) {
        if (in_bss[99999] != 43 || in_data != 44 || on_heap[50000] != 45)
            _exit(1);
        in_bss[99999] = in_data = on_heap[50000] = 666;
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
    CHECK(status == 0, "the child ended with status 0x%x", status);
    CHECK_INT(in_bss[99999], 43, ".bss after the child has changed its own");
    CHECK_INT(in_data, 44, ".data after the child has changed its own");
    CHECK_INT(on_heap[50000], 45, "heap after the child has changed its own");
}

int main(int argc, char **argv)
{
    int reuse = argc > 1 && strcmp(argv[1], "reuse") == 0;
    int again = argc > 1 && strcmp(argv[argc - 1], "again") == 0;

    shmem_init();
    long *on_heap = (long *)shmem_malloc(100000 * sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    shmem_barrier_all();
    close_all();
    int own = reuse ? open_own() : -1;
    fork_once(on_heap);
    shmem_barrier_all();
    shmem_long_p(on_heap, 7, shmem_n_pes() - 1);
    shmem_barrier_all();
    shmem_finalize();
    if (own >= 0)
        CHECK(lseek(own, 0, SEEK_DATA) == -1, "something was written to the program's own file");
    if (again)
        shmem_init();
    return 0;
}
