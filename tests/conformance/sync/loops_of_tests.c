// A PE that tests in a loop leaves its processor to the PE that it waits for, where there are fewer
// processors than PEs: a token goes around many times in less than one time slice for each PE.
// run: np=16
// run: np=16 args=all
#include "check.h"

enum { ROUNDS = 300 };

static long token;

// Tests whether the token has come in this round, as one element or as all of one.
static int has_come(int round, int by_all)
{
    return by_all ? shmem_long_test_all(&token, 1, NULL, SHMEM_CMP_GE, round)
                  : shmem_long_test(&token, SHMEM_CMP_GE, round);
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    int by_all = argc > 1;

    (void)argv;
    for (int round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            shmem_long_p(&token, round, next);
        while (!has_come(round, by_all))
            ;
        if (me != 0)
            shmem_long_p(&token, round, next);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
