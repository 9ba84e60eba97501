// The checking library: PEs that are in different collectives, or in one with different arguments, end the job with the
// routines and the PEs.
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="shmem_calloc: the collectives do not match: PE 0 calls shmem_calloc(count 2, size 8), PE 1 calls shmem_malloc(size 16)" args=routines
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_malloc(size 8), PE 1 calls shmem_malloc(size 16)" args=size
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_barrier_all(), PE 1 calls shmem_free(ptr at 0x40 of the heap)" args=free
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_free(ptr at 0x0 of the heap), PE 1 calls shmem_free(ptr at 0x40 of the heap)" args=pointer
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_barrier_all(), PE 1 calls shmem_int_broadcast(dest at " expect-stderr="nelems 4, PE_root 0)" args=barrier
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="nelems 4, PE_root 0), PE 1 calls shmem_int_broadcast(dest at " expect-stderr="nelems 4, PE_root 1)" args=root
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="nelems 4), PE 1 calls shmem_int_fcollect(dest at " expect-stderr="nelems 3)" args=nelems
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_int_sum_reduce(dest at " expect-stderr="PE 1 calls shmem_float_sum_reduce(dest at " args=type
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_int_sum_reduce(dest at " expect-stderr="PE 1 calls shmem_int_max_reduce(dest at " args=operation
// run: np=4 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_team_sync() on the team of PEs 0, 2, PE 2 calls shmem_int_collect(dest at " expect-stderr="on the team of PEs 0, 2" args=team
// run: np=3 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0: shmem_barrier_all: the collectives do not match, and each waits for the next: PE 0 is in shmem_barrier_all(), PE 2 is in shmem_team_sync() on the team of PEs 0, 2" args=other-team
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 is in shmem_barrier(PE_start 0, logPE_stride 0, PE_size 2, pSync at " expect-stderr="PE 1 is in shmem_barrier_all()" args=active
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 0 calls shmem_team_split_strided(start 0, stride 1, size 2), PE 1 calls shmem_team_split_strided(start 0, stride 1, size 1)" args=split
// run: np=3 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="the collectives do not match: PE " expect-stderr="PE 1 calls shmem_malloc(size 16)" args=routines
// run: np=2 nodes=1 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_barrier_all waits for ever: PE 0 has exited or called shmem_finalize" args=finalize
#include "check.h"

#include <stdbool.h>

static int dest[16], source[16];
static long sync_array[SHMEM_SYNC_SIZE];

static bool is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

static void of_all(const char *what, bool other, void *first, void *second)
{
    if (is(what, "routines"))
        (void)(other ? shmem_malloc(16) : shmem_calloc(2, 8));
    else if (is(what, "size"))
        (void)shmem_malloc(other ? 16 : 8);
    else if (is(what, "free") && other)
        shmem_free(second);
    else if (is(what, "pointer"))
        shmem_free(other ? second : first);
    else if (is(what, "barrier") && other)
        shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0);
    else if (is(what, "free") || is(what, "barrier"))
        shmem_barrier_all();
    else if (is(what, "root"))
        shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, other);
    else if (is(what, "nelems"))
        shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, source, other ? 3 : 4);
    else if (is(what, "type") && other)
        shmem_float_sum_reduce(SHMEM_TEAM_WORLD, (float *)(void *)dest, (float *)(void *)source, 4);
    else if (is(what, "operation") && other)
        shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    else if (is(what, "type") || is(what, "operation"))
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    else if (is(what, "finalize") && other)
        shmem_barrier_all();
}

static void of_groups(const char *what, int me)
{
    int half = (shmem_n_pes() + 1) / 2;
    shmem_team_t team;

    if (is(what, "finalize"))
        return;
    if (is(what, "split")) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me == 1 ? 1 : 2, NULL, 0, &team);
        return;
    }
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, half, NULL, 0, &team);
    if (is(what, "team") && me == 2)
        shmem_int_collect(team, dest, source, 4);
    else if (is(what, "team") && me == 0)
        shmem_team_sync(team);
    else if (is(what, "other-team") && me == 2)
        shmem_team_sync(team);
    else if (is(what, "active") && me == 0)
        shmem_barrier(0, 0, 2, sync_array);
    else if (is(what, "other-team") || is(what, "active"))
        shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *first, *second;

    shmem_init();
    first = shmem_malloc(64);
    second = shmem_malloc(64);
    CHECK(first != NULL && second != NULL, "no memory");
    of_all(what, shmem_my_pe() == 1, first, second);
    of_groups(what, shmem_my_pe());
    shmem_finalize();
    return 0;
}
