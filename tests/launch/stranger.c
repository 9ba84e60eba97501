// PE 1 has ended and another process has its number when PE 0 calls shmem_global_exit: that process
// is not signalled. The job runs in a PID namespace of its own, where a process may choose the
// number of its child.
#define _GNU_SOURCE
#include <shmem.h>

#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number;
static pid_t pe_0;

static void on_terminate(int signal, siginfo_t *info, void *context)
{
    static const char said[] = "a stranger got a PE's signal\n";

    (void)signal, (void)context;
    // oshrun ends everything that descends from it, when the PE has told it to.
    if (info->si_pid == pe_0 && write(STDERR_FILENO, said, sizeof said - 1) < 0)
        _exit(1);
}

// Makes a child with the number `pid`, by the system call alone: it shares the PE's memory.
static pid_t child(pid_t pid)
{
    struct clone_args args;

    memset(&args, 0, sizeof args);
    args.exit_signal = SIGCHLD;
    args.set_tid = (uintptr_t)&pid;
    args.set_tid_size = 1;
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

int main(void)
{
    struct sigaction action;

    shmem_init();
    if (shmem_my_pe() == 1)
        shmem_int_p(&number, getpid(), 0);
    shmem_finalize();
    if (getenv("PMI_RANK")[0] == '1')
        return 0;
    while (kill(number, 0) == 0)
        usleep(1000);
    pe_0 = getpid();
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_terminate;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTERM, &action, NULL);
    switch (child(number)) {
    case -1:
        perror("clone3");
        return 2;
    case 0:
        for (;;)
            pause();
    default:
        puts("a stranger is there");
        fflush(stdout);
        shmem_global_exit(7);
    }
}
