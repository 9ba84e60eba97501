// Faults that have nothing to do with symmetric memory are the program's own: they go to the handler
// that it had before shmem_init, or kill it, and the launcher reports that.
// run: np=1,2 expect-exit=139 refuse-stderr="symmetric" args=literal
// run: np=2 link=static,no-pie expect-exit=139 refuse-stderr="symmetric" args=literal
// run: np=2 expect-exit=139 refuse-stderr="symmetric" args=null
// run: np=1,2 expect-exit=139 refuse-stderr="symmetric" args=raise
// run: np=2 expect-exit=135 refuse-stderr="symmetric" args=raise-bus
// run: np=2 launcher=hydra expect-exit=nonzero refuse-stderr="symmetric" args=literal
// run: np=1,2 refuse-stderr="symmetric" args=literal handler
// run: np=2 link=static,no-pie refuse-stderr="symmetric" args=literal handler
// run: np=2 refuse-stderr="symmetric" args=null handler
// run: np=1,2 refuse-stderr="symmetric" args=raise handler
// run: np=2 refuse-stderr="symmetric" args=raise-bus handler
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

static sigjmp_buf back;
static volatile sig_atomic_t handled;

static void on_fault(int signal)
{
    handled = signal;
    siglongjmp(back, 1);
}

static void fault(const char *how)
{
    volatile char *volatile literal = (volatile char *)(uintptr_t)"a literal";
    volatile char *volatile null = NULL;

    if (strcmp(how, "literal") == 0)
        *literal = 'x';
    else if (strcmp(how, "null") == 0)
        *null = 'x';
    else if (strcmp(how, "raise-bus") == 0)
        raise(SIGBUS);
    else
        raise(SIGSEGV);
    FAIL("%s: the program has survived", how);
}

int main(int argc, char **argv)
{
    static int cell;
    int with_handler = argc > 2 && strcmp(argv[2], "handler") == 0;

    CHECK(argc > 1, "usage: HOW [handler]");
    // No core files in the project.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (with_handler) {
        struct sigaction action = {.sa_handler = on_fault};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
    }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    if (me == npes - 1 && sigsetjmp(back, 1) == 0)
        fault(argv[1]);
    if (with_handler && me == npes - 1)
        CHECK_INT(handled, strcmp(argv[1], "raise-bus") == 0 ? SIGBUS : SIGSEGV, "handled signal");
    // The library works on after a fault that the program has handled.
    shmem_barrier_all();
    shmem_int_p(&cell, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(cell, (me + npes - 1) % npes + 1, "p after the fault");
    shmem_finalize();
    return 0;
}
