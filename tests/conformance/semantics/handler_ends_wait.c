// A PE waits while others have gone into finalize. A signal handler of it or of another PE, or
// another thread of it, writes the awaited object a second later. Nobody is told meanwhile that the
// PE waits for ever.
// run: np=2 refuse-stderr="waits for ever" args=own-handler
// run: np=3 nodes=1 refuse-stderr="waits for ever" args=handler-of-another
// run: np=2 nodes=1 refuse-stderr="waits for ever" args=handler-in-finalize
// run: np=2 nodes=1 cflags=-pthread refuse-stderr="waits for ever" args=thread
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static long flag;
// Place where the PE that is late writes 1: its own flag, or that of the last PE.
static volatile long *late;
static int last;

static void on_alarm(int signal)
{
    (void)signal;
    if (late != NULL)
        *late = 1;
    else {
        flag = 1;
        shmem_long_p(&flag, 1, last);
    }
}

static void set_alarm(void)
{
    struct sigaction action = {.sa_handler = on_alarm};

    CHECK(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
    alarm(1);
}

static void *write_later(void *argument)
{
    (void)argument;
    nanosleep(&(struct timespec){1, 0}, NULL);
    *late = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int has_thread = 0;

    CHECK(argc == 2, "usage: own-handler|handler-of-another|handler-in-finalize|thread");
    const char *how = argv[1];
    shmem_init();
    int me = shmem_my_pe();
    last = shmem_n_pes() - 1;
    shmem_barrier_all();
    if (strcmp(how, "handler-in-finalize") == 0 && me == 0) {
        late = shmem_ptr(&flag, last);
        CHECK(late != NULL, "shmem_ptr to PE %d", last);
        set_alarm();
    } else if (strcmp(how, "handler-of-another") == 0 && me == last - 1) {
        // Waits itself; its handler puts to both.
        set_alarm();
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    } else if (me == last) {
        late = &flag;
        if (strcmp(how, "own-handler") == 0)
            set_alarm();
        has_thread = strcmp(how, "thread") == 0;
        if (has_thread)
            CHECK_INT(pthread_create(&thread, NULL, write_later, NULL), 0, "pthread_create");
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        if (has_thread)
            pthread_join(thread, NULL);
    }
    shmem_finalize();
    return 0;
}
