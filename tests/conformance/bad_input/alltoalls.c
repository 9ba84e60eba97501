// Strided exchanges whose blocks are too long, or run out of symmetric memory: told before anybody
// waits, for the routines of teams and of active sets, with routine, argument, value and PE.
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_long_alltoalls: dst 1152921504606846975 is not a stride for nelems 1 of 2 PEs: the length is over PTRDIFF_MAX bytes" args=dst
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_long_alltoalls: sst 2305843009213693952 is not a stride for nelems 2 of 2 PEs" args=wraps-to-0
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_alltoallsmem: sst 9223372036854775807 is not a stride for nelems 3 of 2 PEs" args=mem
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_alltoalls64: dst 2305843009213693952 is not a stride for nelems 2 of 1 PEs" args=set
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_alltoalls32: sst 4611686018427387904 is not a stride for nelems 2 of 2 PEs" args=set-of-all
// run: np=2 expect-exit=1 expect-stderr="PE 1: shmem_int_alltoalls: 13194139533316 bytes at dest 0x" expect-stderr="for PE 1 run over the end of symmetric memory" args=past-dest
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_int_alltoalls: 13194139533316 bytes at source 0x" expect-stderr="for PE 1 run over the end of symmetric memory" args=past-source
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_int_alltoalls: dest 0x" expect-stderr="for PE 1 is not symmetric" args=stack
// run: np=2 nodes=1 expect-exit=1 expect-stderr="PE 1: shmem_int_alltoalls: dst -1 is not at least 1" args=negative
// run: np=2 args=nothing
#include "check.h"

static long to[64], from[64], psync[SHMEM_ALLTOALLS_SYNC_SIZE];

int main(int argc, char **argv)
{
    const ptrdiff_t longs = (ptrdiff_t)1 << 61, ints = (ptrdiff_t)1 << 62;
    const ptrdiff_t past = (ptrdiff_t)1 << 40;
    int *ints_to = (int *)to, *ints_from = (int *)from, on_stack[8] = {0};

    CHECK(argc == 2, "usage: HOW");
    const char *how = argv[1];
    shmem_init();
    if (strcmp(how, "nothing") == 0) {
        shmem_int_alltoalls(SHMEM_TEAM_WORLD, on_stack, NULL, PTRDIFF_MAX, -1, 0);
        shmem_finalize();
        return 0;
    }
    if (shmem_my_pe() == 1) {
        if (strcmp(how, "dst") == 0)
            shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, PTRDIFF_MAX / 8, 1, 1);
        else if (strcmp(how, "wraps-to-0") == 0)
            shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 1, longs, 2);
        else if (strcmp(how, "mem") == 0)
            shmem_alltoallsmem(SHMEM_TEAM_WORLD, to, from, 1, PTRDIFF_MAX, 3);
        else if (strcmp(how, "set") == 0)
            shmem_alltoalls64(to, from, longs, 1, 2, 1, 0, 1, psync);
        else if (strcmp(how, "set-of-all") == 0)
            shmem_alltoalls32(to, from, 1, ints, 2, 0, 0, 2, psync);
        else if (strcmp(how, "past-dest") == 0)
            shmem_int_alltoalls(SHMEM_TEAM_WORLD, ints_to, ints_from, past, 1, 2);
        else if (strcmp(how, "past-source") == 0)
            shmem_int_alltoalls(SHMEM_TEAM_WORLD, ints_to, ints_from, 1, past, 2);
        else if (strcmp(how, "stack") == 0)
            shmem_int_alltoalls(SHMEM_TEAM_WORLD, on_stack, ints_from, 1, 1, 2);
        else if (strcmp(how, "negative") == 0)
            shmem_int_alltoalls(SHMEM_TEAM_WORLD, ints_to, ints_from, -1, 1, 2);
        // The runner expects a status of 1: this one must not pass for the library's.
        fprintf(stderr, "FAILED: the call returned\n");
        shmem_global_exit(0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
