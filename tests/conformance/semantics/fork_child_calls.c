// A child of fork is no PE: a call of the library in it ends the child, with a message and a nonzero
// status, and nothing else. The job goes on.
// run: np=1,2,3 expect-stderr="shmem_barrier_all was called in a process that a PE forked" expect-stderr="shmem_int_p was called in a process that a PE forked" expect-stderr="shmem_init: a process forked by a PE is not a PE"
// run: np=2 launcher=hydra,openmpi expect-stderr="shmem_barrier_all was called in a process that a PE forked"
// run: np=2 link=static expect-stderr="shmem_barrier_all was called in a process that a PE forked"
// run: np=1 launcher=none expect-stderr="shmem_barrier_all was called in a process that a PE forked"
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int cell;
static long flag;

#define CALLS(X)                                                                                   \
    X(barrier, shmem_barrier_all())                                                                \
    X(put, shmem_int_p(&cell, 666, 0))                                                             \
    X(atomic, shmem_int_atomic_add(&cell, 666, 0))                                                 \
    X(wait, shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1))                                         \
    X(allocation, shmem_malloc(100))                                                               \
    X(initialization, shmem_init())                                                                \
    X(finalization, shmem_finalize())                                                              \
    X(global_exit, shmem_global_exit(9))

#define DEFINE(NAME, ...)                                                                          \
    static void call_##NAME(void)                                                                  \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
CALLS(DEFINE)

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
#define ENTRY(NAME, ...) {#NAME, call_##NAME},
    CALLS(ENTRY)
};

// Returns the status of a child that makes the call.
static int in_child(void (*call)(void))
{
    int status;

    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        // One that waits for ever is ended, and reported.
        alarm(5);
        call();
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
    return status;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == npes - 1)
        for (size_t i = 0; i < COUNT_OF(calls); i++) {
            int status = in_child(calls[i].call);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 0, "%s: the child's status is 0x%x",
                  calls[i].name, status);
            if (calls[i].call == call_global_exit)
                CHECK_INT(WEXITSTATUS(status), 9, "status of a child that calls shmem_global_exit");
        }
    shmem_barrier_all();
    CHECK_INT(cell, 0, "what the children were to change");
    // The job is as it was.
    shmem_barrier_all();
    shmem_int_p(&cell, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(cell, (me + npes - 1) % npes + 1, "p after the children have ended");
    shmem_finalize();
    return 0;
}
