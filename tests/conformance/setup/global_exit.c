// shmem_global_exit from any PE ends all of them with its status, whatever they are doing, and
// their output is flushed. Standard error is made fully buffered to see that.
// run: np=3 expect-exit=42 expect-stderr="PE 0 was here" expect-stderr="PE 1 was here" expect-stderr="PE 2 was here" args=0 42 compute
// run: np=3 expect-exit=42 expect-stderr="PE 0 was here" expect-stderr="PE 1 was here" expect-stderr="PE 2 was here" args=2 42 compute
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=1 7 barrier
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=1 7 wait
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=0 7 signal
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=0 7 sleep
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=0 7 finalize
// run: np=3 expect-exit=7 expect-stderr="PE 0 was here" expect-stderr="PE 2 was here" args=0 7 malloc
// run: np=2 expect-exit=255 expect-stderr="PE 1 was here" args=1 255 barrier
// run: np=2,3 expect-exit=0 expect-stderr="PE 1 was here" args=1 0 compute
// run: np=2 expect-exit=1 expect-stderr="PE 1 was here" args=1 256 compute
// run: np=2 expect-exit=1 args=0 -512 barrier
// run: np=2 launcher=hydra,openmpi expect-exit=1 args=1 256 barrier
// run: np=1 launcher=none expect-exit=1 args=0 256 compute
// run: np=1 expect-exit=9 expect-stderr="PE 0 was here" args=0 9 compute
// run: np=1 launcher=none expect-exit=9 expect-stderr="PE 0 was here" args=0 9 compute
// run: np=3 expect-exit=7 args=all 7 compute
// run: np=3 launcher=hydra,openmpi expect-exit=7 args=0 7 barrier
#include "check.h"

#include <time.h>

static int never;
static uint64_t never_signal;
static int ready;
static char buffer[4096];

static void stay(const char *what)
{
    volatile unsigned long work = 0;

    if (strcmp(what, "barrier") == 0)
        shmem_barrier_all();
    else if (strcmp(what, "wait") == 0)
        shmem_int_wait_until(&never, SHMEM_CMP_EQ, 1);
    else if (strcmp(what, "signal") == 0)
        shmem_signal_wait_until(&never_signal, SHMEM_CMP_EQ, 1);
    else if (strcmp(what, "finalize") == 0)
        shmem_finalize();
    else if (strcmp(what, "malloc") == 0)
        shmem_malloc(100);
    else if (strcmp(what, "sleep") == 0)
        for (;;)
            nanosleep(&(struct timespec){100, 0}, NULL);
    for (;;)
        work++;
}

int main(int argc, char **argv)
{
    CHECK(argc == 4, "usage: WHO STATUS WHAT");
    int everybody = strcmp(argv[1], "all") == 0, who = atoi(argv[1]), status = atoi(argv[2]);

    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    fprintf(stderr, "PE %d was here\n", me);
    shmem_int_atomic_inc(&ready, everybody ? 0 : who);
    if (everybody || me == who) {
        if (!everybody) {
            // The others are at their work, or all but.
            shmem_int_wait_until(&ready, SHMEM_CMP_EQ, npes);
            nanosleep(&(struct timespec){0, 100000000}, NULL);
        }
        shmem_global_exit(status);
        return 1;
    }
    stay(argv[3]);
    return 2;
}
