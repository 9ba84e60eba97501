// A process that forks before shmem_init, or after the last finalize, is a process like any other:
// the child ends by itself, the job is the parent's. With the argument `child` it is the child that
// initialises.
// run: np=2 link=pie,static
// run: np=1 launcher=none link=pie,static args=child
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int value = 3;

static void fork_and_wait(int want)
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0, "fork failed");
    if (pid == 0) {
        int initialized = -1;
        shmem_query_initialized(&initialized);
        if (value != want || initialized != 0)
            _exit(1);
        value = 100;
        exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid failed");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status 0x%x",
          status);
    CHECK_INT(value, want, "a global after the child has changed its own");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        int status;
        pid_t pid = fork();

        if (pid != 0) {
            CHECK(pid > 0 && waitpid(pid, &status, 0) == pid, "fork or waitpid failed");
            CHECK(status == 0, "the child ended with status 0x%x", status);
            return 0;
        }
    } else {
        fork_and_wait(3);
    }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_int_p(&value, 10 + me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(value, 10 + (me + npes - 1) % npes, "put to a global");
    shmem_finalize();
    fork_and_wait(10 + (me + npes - 1) % npes);
    return 0;
}
