// A job in which no PE is left that could end the wait of the others is ended with a message, and
// soon: a PE that still waits 2 s later dies by its alarm, which is another status. Handlers that
// cannot run in a wait ("handlers": of signals that are blocked, or that a fault alone raises)
// change nothing.
// run: np=2,4,16 expect-exit=1 expect-stderr=": shmem_long_wait_until waits for ever: PE 0 has exited or called shmem_finalize" args=wait
// run: np=2,4,16 expect-exit=1 expect-stderr=" waits for ever: PE 0 has exited or called shmem_finalize" args=barrier
// run: np=4,16 expect-exit=1 expect-stderr=" waits for ever: PE 0 has exited or called shmem_finalize" args=both
// run: np=2 expect-exit=1 expect-stderr="waits for ever: PE 0 has exited or called shmem_finalize" args=signal
// run: np=2 nodes=1 expect-exit=1 expect-stderr="waits for ever: PE 0 has exited or called shmem_finalize" args=handlers
// run: np=4 launcher=hydra expect-exit=nonzero expect-stderr="waits for ever: PE 0 has exited or called shmem_finalize" args=wait
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <signal.h>
#include <unistd.h>

static long flag;
static uint64_t word;

static void on_signal(int signal)
{
    (void)signal;
    flag = 1;
}

static void set_handlers(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t blocked;

    CHECK(sigaction(SIGFPE, &action, NULL) == 0, "sigaction of SIGFPE");
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction of SIGUSR1");
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0, "sigprocmask");
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "usage: wait|barrier|both|signal|handlers");
    const char *how = argv[1];

    if (strcmp(how, "handlers") == 0)
        set_handlers();

    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    // The implicit finalize, which the others never come to.
    if (me == 0)
        return 0;
    alarm(2);
    if (strcmp(how, "signal") == 0)
        shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 1);
    else if (strcmp(how, "barrier") == 0 || (strcmp(how, "both") == 0 && me > 1))
        shmem_barrier_all();
    else
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_finalize();
    return 0;
}
