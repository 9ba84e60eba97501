// broadcastmem, collectmem, fcollectmem, alltoallmem and alltoallsmem: the elements are bytes.
// run: np=1,2,3,4,7 std=c99
// run: np=7 nodes=1 std=c99 env=FARREACH_COLLECTIVE_NODE_SIZE=3
#include "moves.h"

static void make_byte(void *element, uint64_t seed)
{
    make_bytes(element, seed, 1);
}

static int broadcast(const struct group *g, void *dest, const void *source, size_t n, int root)
{
    return shmem_broadcastmem(g->team, dest, source, n, root);
}

static int collect(const struct group *g, void *dest, const void *source, size_t n)
{
    return shmem_collectmem(g->team, dest, source, n);
}

static int fcollect(const struct group *g, void *dest, const void *source, size_t n)
{
    return shmem_fcollectmem(g->team, dest, source, n);
}

static int alltoall(const struct group *g, void *dest, const void *source, size_t n)
{
    return shmem_alltoallmem(g->team, dest, source, n);
}

static int alltoalls(const struct group *g, void *dest, const void *source, ptrdiff_t dst,
                     ptrdiff_t sst, size_t n)
{
    return shmem_alltoallsmem(g->team, dest, source, dst, sst, n);
}

static const struct mover MOVERS[] = {
    {{"mem", 1, 1, make_byte}, broadcast, collect, fcollect, alltoall, alltoalls, 0},
};

int main(void)
{
    struct group groups[GROUP_MAX];
    int count;

    shmem_init();
    count = group_teams(groups);
    // Often, so that every PE is a root.
    for (int i = 0; i < 5; i++)
        run_moves(MOVERS, COUNT_OF(MOVERS), groups, count);
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
