// The system passes on the low eight bits of an exit status: exit(256) is an end with status 0, which
// finalizes implicitly.
// run: np=1,2,3 args=256
// run: np=2 args=-1024
// run: np=2 launcher=hydra,openmpi args=256
// run: np=1 launcher=none args=256
// run: np=2 expect-exit=1 args=257
#include "check.h"

#include <time.h>

static int cell;

int main(int argc, char **argv)
{
    CHECK(argc == 2, "usage: STATUS");
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (me == npes - 1) {
        // The others wait in the implicit finalize.
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        for (int pe = 0; pe < npes; pe++) {
            shmem_int_p(&cell, 5 + pe, pe);
            shmem_quiet();
            CHECK_INT(shmem_int_g(&cell, pe), 5 + pe, "put to a PE that has called exit");
        }
    }
    exit(atoi(argv[1]));
}
