// Reductions and scans of memory that is not symmetric: told before anybody waits, however short,
// with routine, argument, address and PE. No elements and the same array twice are right.
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_int_sum_reduce: dest 0x" expect-stderr="for PE 1 is not symmetric" args=dest
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_int_max_reduce: source 0x" expect-stderr="for PE 1 is not symmetric" args=source
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_long_sum_inscan: dest 0x" expect-stderr="for PE 1 is not symmetric" args=scan
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_long_sum_to_all: dest 0x" expect-stderr="for PE 1 is not symmetric" args=all
// run: np=3 expect-exit=1 expect-stderr="PE 1: shmem_long_sum_to_all: dest 0x" expect-stderr="for PE 1 is not symmetric" args=set
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_long_sum_reduce: dest 0x" expect-stderr="for PE 1 is not symmetric" args=alone
// run: np=2 args=right
#include "check.h"

static int words[8];
static long longs[8], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE], psync[SHMEM_REDUCE_SYNC_SIZE];

static void right(void)
{
    int on_stack[4] = {7, 7, 7, 7};

    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, on_stack, NULL, 0);
    shmem_int_sum_exscan(SHMEM_TEAM_WORLD, on_stack, on_stack + 1, 0);
    CHECK(on_stack[0] == 7, "%d was written", on_stack[0]);
    words[0] = shmem_my_pe() + 1;
    shmem_barrier_all();
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1);
    CHECK(words[0] == 3, "%d is not 3", words[0]);
}

int main(int argc, char **argv)
{
    int int_on_stack[4] = {0};
    long long_on_stack[4] = {0};
    shmem_team_t alone;

    CHECK(argc == 2, "usage: HOW");
    const char *how = argv[1];
    shmem_init();
    int me = shmem_my_pe();
    int *ints_of_one = me == 1 ? int_on_stack : words + 4;
    long *longs_of_one = me == 1 ? long_on_stack : longs + 4;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 1, NULL, 0, &alone);

    if (strcmp(how, "right") == 0)
        right();
    else if (strcmp(how, "dest") == 0)
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, ints_of_one, words, 1);
    else if (strcmp(how, "source") == 0)
        shmem_int_max_reduce(SHMEM_TEAM_WORLD, words, ints_of_one, 1);
    else if (strcmp(how, "scan") == 0)
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, longs_of_one, longs, 1);
    else if (strcmp(how, "all") == 0)
        shmem_long_sum_to_all(longs_of_one, longs, 1, 0, 0, 2, work, psync);
    else if (strcmp(how, "set") == 0 && me > 0)
        shmem_long_sum_to_all(longs_of_one, longs, 1, 1, 0, 2, work, psync);
    else if (strcmp(how, "alone") == 0 && me == 1)
        shmem_long_sum_reduce(alone, longs_of_one, longs, 1);
    shmem_finalize();
    return 0;
}
