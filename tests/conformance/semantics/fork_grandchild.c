// A child of fork that forks again: the grandchild has the child's data, also the child's stores to
// places where its parent never stored, and its own stores reach neither.
// run: np=1,2
// run: np=2 link=static,no-pie
// run: np=2 launcher=hydra,openmpi
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 16 << 20, MIDDLE = LENGTH / 2, GENERATIONS = 4 };

static char in_bss[LENGTH];
static char in_data[4096] = "data";

static int wait_for(pid_t pid)
{
    int status;

    if (pid <= 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return 99;
    return WEXITSTATUS(status);
}

// Stores g at place g, as generation g, and forks the next one; returns 0, or the place of a wrong
// value.
static int generation(int g, volatile char *on_heap)
{
    volatile char *bss = in_bss, *data = in_data;

    for (int i = 1; i < g; i++)
        if (bss[MIDDLE + i * 8192] != i || on_heap[MIDDLE + i * 8192] != i || data[100 + i] != i)
            return g * 10;
    bss[MIDDLE + g * 8192] = on_heap[MIDDLE + g * 8192] = data[100 + g] = (char)g;
    if (g < GENERATIONS) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(generation(g + 1, on_heap));
        int result = wait_for(pid);
        if (result != 0)
            return result;
        // The next generation's stores stay its own.
        if (bss[MIDDLE + (g + 1) * 8192] != 0 || on_heap[MIDDLE + (g + 1) * 8192] != 0
            || data[100 + g + 1] != 0)
            return g * 10 + 1;
    }
    return 0;
}

int main(void)
{
    shmem_init();
    char *on_heap = (char *)shmem_calloc(1, LENGTH);
    CHECK(on_heap != NULL, "shmem_calloc returned NULL");
    CHECK_INT(generation(1, on_heap), 0,
              "ten times the generation (and 1 for stores of the next) that saw a wrong value");
    shmem_barrier_all();
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
