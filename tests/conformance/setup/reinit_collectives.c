// Collectives in one session after another. In a broadcast between nodes, some PEs meet more often
// than others: the counts of a session must not make PEs of the next one take different turns.
// run: np=2,3,7 args=4
// run: np=5 nodes=1 args=4 env=FARREACH_COLLECTIVE_NODE_SIZE=2
#include "check.h"

enum { LARGE = 200 };

static long source[LARGE], dest[LARGE];

static void fill(long value)
{
    for (int i = 0; i < LARGE; i++)
        source[i] = value + i;
}

// Runs more large collectives from PE 0 than small ones, whose data goes through slots by turns.
static void session(long number, int npes)
{
    int me = shmem_my_pe();

    for (long round = 1; round <= 30; round++) {
        fill(number * 1000 + round);
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, LARGE, 0);
        for (int i = 0; i < LARGE; i++)
            CHECK_INT(dest[i], number * 1000 + round + i, "broadcast of PE 0");
        shmem_barrier_all();
    }
    for (long round = 1; round <= 20; round++) {
        long sum = 0;
        fill(number * 1000 + round * 10 + me);
        for (int pe = 0; pe < npes; pe++)
            sum += number * 1000 + round * 10 + pe;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
        CHECK_INT(dest[0], sum, "sum of all PEs");
        shmem_team_sync(SHMEM_TEAM_SHARED);
    }
}

int main(int argc, char **argv)
{
    long sessions = argc > 1 ? atol(argv[1]) : 1;

    for (long number = 1; number <= sessions; number++) {
        shmem_init();
        session(number, shmem_n_pes());
        shmem_finalize();
    }
    return 0;
}
