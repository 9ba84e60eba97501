// The knowledge of PEs that have finalized does not outlive the session: after another
// initialization a PE may be late again, in a barrier and with a word that others wait for, and
// they are not told that nobody comes.
// run: np=2,4 refuse-stderr="waits for ever"
// run: np=4 launcher=hydra,openmpi refuse-stderr="waits for ever"
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

static long flag;

static void be_late(void)
{
    struct timespec time = {0, 700000000};

    nanosleep(&time, NULL);
}

int main(void)
{
    for (long session = 1; session <= 3; session++) {
        shmem_init();
        int me = shmem_my_pe(), npes = shmem_n_pes();
        if (me == 0)
            be_late();
        shmem_barrier_all();
        if (me == 0) {
            be_late();
            for (int pe = 1; pe < npes; pe++)
                shmem_long_p(&flag, session, pe);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, session);
        }
        shmem_finalize();
    }
    return 0;
}
