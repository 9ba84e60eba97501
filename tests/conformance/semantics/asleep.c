// Operations make progress whatever their target does (section 4.1): they are delivered while it sleeps,
// computes, or has its thread stopped by a debugger. A process that is stopped whole may hold them up,
// but loses nothing.
// run: np=3 nodes=several transport=libfabric args=sleeps
// run: np=3 nodes=several args=computes
// run: np=3 nodes=several transport=libfabric args=traced
// run: np=3 nodes=several transport=libfabric args=stopped
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Time that the target is away, and time within which operations on it are delivered: in seconds.
enum { AWAY = 1 };
static const double SOON = 0.5;

static long ready, counter;
static char bytes[1 << 20], sent[1 << 20];

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void pause_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

// Starts a child that holds this process's only thread of the program, or the whole process, for a
// while.
static pid_t hold(int whole)
{
    pid_t parent = getpid(), child = fork();

    if (child != 0)
        return child;
    pause_for(0.1);
    if (whole) {
        kill(parent, SIGSTOP);
        pause_for(AWAY);
        kill(parent, SIGCONT);
        _exit(0);
    }
    if (ptrace(PTRACE_SEIZE, parent, NULL, NULL) != 0)
        _exit(errno == EPERM ? 2 : 1);
    if (ptrace(PTRACE_INTERRUPT, parent, NULL, NULL) != 0 || waitpid(parent, NULL, __WALL) != parent)
        _exit(1);
    pause_for(AWAY);
    _exit(ptrace(PTRACE_DETACH, parent, NULL, NULL) != 0);
}

// Keeps the last PE away until PE 0 has done its operations, or has had the time for them.
static void be_away(const char *how)
{
    pid_t child = -1;
    int status = 0;

    if (strcmp(how, "traced") == 0 || strcmp(how, "stopped") == 0)
        child = hold(strcmp(how, "stopped") == 0);
    shmem_long_p(&ready, 1, 0);
    shmem_quiet();
    double end = now() + AWAY + 0.5;
    if (strcmp(how, "computes") == 0)
        while (now() < end)
            ;
    else
        while (now() < end)
            pause_for(end - now() > 0 ? end - now() : 0);
    if (child > 0) {
        CHECK(waitpid(child, &status, 0) == child, "waitpid: %s", strerror(errno));
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1, "the tracer failed: %#x", status);
        if (WEXITSTATUS(status) == 2)
            printf("no permission to trace: the target slept instead\n");
    }
}

static void act(const char *how, int target)
{
    int stopped = strcmp(how, "stopped") == 0;
    long found;

    shmem_long_wait_until(&ready, SHMEM_CMP_EQ, 1);
    pause_for(0.2);
    memset(sent, 7, sizeof sent);
    double start = now();
    shmem_long_atomic_inc(&counter, target);
    shmem_putmem(bytes, sent, sizeof sent, target);
    shmem_quiet();
    found = shmem_long_atomic_fetch(&counter, target);
    double took = now() - start;
    CHECK_INT(found, 1, "the counter of a PE that is away");
    CHECK(stopped || took < SOON, "%s: an operation was delivered after %.2f s", how, took);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "sleeps";
    int last;

    shmem_init();
    last = shmem_n_pes() - 1;
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        act(how, last);
    else if (shmem_my_pe() == last)
        be_away(how);
    shmem_barrier_all();
    if (shmem_my_pe() == last) {
        CHECK_INT(counter, 1, "the own counter");
        for (size_t i = 0; i < sizeof bytes; i++)
            CHECK_INT(bytes[i], 7, "a byte");
    }
    shmem_finalize();
    return 0;
}
