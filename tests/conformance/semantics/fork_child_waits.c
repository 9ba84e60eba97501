// A child that waits for a word of its parent gets it, and still sees the memory of the moment of the
// fork: fork returns in the parent while the child lives on, however the program is linked.
// run: np=1,2
// run: np=2 link=static,static-pie,no-pie
// run: np=2 launcher=hydra link=static
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static volatile long in_bss;
static volatile long in_data = 1;

static void fork_and_tell(long round)
{
    int to_child[2], status;
    char byte = 0;

    CHECK(pipe(to_child) == 0, "no pipe");
    in_bss = in_data = round;
    pid_t pid = fork();
    if (pid == 0) {
        close(to_child[1]);
        if (read(to_child[0], &byte, 1) != 1)
            _exit(2);
        _exit(in_bss == round && in_data == round ? 0 : 1);
    }
    CHECK(pid > 0, "fork failed");
    in_bss = in_data = -1;
    CHECK(write(to_child[1], "g", 1) == 1, "no pipe to the child");
    CHECK(waitpid(pid, &status, 0) == pid, "waitpid failed");
    CHECK(status == 0, "child %ld ended with status 0x%x", round, status);
    close(to_child[0]);
    close(to_child[1]);
}

int main(void)
{
    shmem_init();
    for (long round = 1; round <= 40; round++)
        fork_and_tell(round);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
