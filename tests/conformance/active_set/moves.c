// broadcast, collect, fcollect, alltoall and alltoalls of 32 and 64 bits over active sets; pSync is
// back to its first values afterwards, and the same pSync serves all after a barrier.
// run: np=1,2,3,4,7 std=c99
#include "../collective/moves.h"

// One for each kind of routine, of the size that it asks for.
static long bcast_sync[SHMEM_BCAST_SYNC_SIZE], collect_sync[SHMEM_COLLECT_SYNC_SIZE];
static long alltoall_sync[SHMEM_ALLTOALL_SYNC_SIZE], alltoalls_sync[SHMEM_ALLTOALLS_SYNC_SIZE];

static void expect_sync(const long *psync, size_t size, const char *routine)
{
    for (size_t i = 0; i < size; i++)
        CHECK(psync[i] == SHMEM_SYNC_VALUE, "pSync[%zu] is %ld after %s", i, psync[i], routine);
}

#define SET g->start, g->log_stride, g->size

#define WRAP_MOVE(BITS, STEM, SYNC)                                                                \
    static int STEM##_##BITS(const struct group *g, void *dest, const void *source, size_t n)      \
    {                                                                                              \
        shmem_##STEM##BITS(dest, source, n, SET, SYNC);                                            \
        expect_sync(SYNC, COUNT_OF(SYNC), #STEM);                                                  \
        return 0;                                                                                  \
    }

#define WRAP(BITS, BYTES)                                                                          \
    static void make_##BITS(void *element, uint64_t seed)                                          \
    {                                                                                              \
        make_bytes(element, seed, BYTES);                                                          \
    }                                                                                              \
    static int broadcast_##BITS(const struct group *g, void *dest, const void *source, size_t n,   \
                                int root)                                                          \
    {                                                                                              \
        shmem_broadcast##BITS(dest, source, n, root, SET, bcast_sync);                             \
        expect_sync(bcast_sync, COUNT_OF(bcast_sync), "broadcast");                                \
        return 0;                                                                                  \
    }                                                                                              \
    WRAP_MOVE(BITS, collect, collect_sync)                                                         \
    WRAP_MOVE(BITS, fcollect, collect_sync)                                                        \
    WRAP_MOVE(BITS, alltoall, alltoall_sync)                                                       \
    static int alltoalls_##BITS(const struct group *g, void *dest, const void *source,             \
                                ptrdiff_t dst, ptrdiff_t sst, size_t n)                            \
    {                                                                                              \
        shmem_alltoalls##BITS(dest, source, dst, sst, n, SET, alltoalls_sync);                     \
        expect_sync(alltoalls_sync, COUNT_OF(alltoalls_sync), "alltoalls");                        \
        return 0;                                                                                  \
    }

WRAP(32, 4)
WRAP(64, 8)

#define ROW(BITS, BYTES)                                                                           \
    {{#BITS " bits", BYTES, BYTES, make_##BITS}, broadcast_##BITS, collect_##BITS,                 \
     fcollect_##BITS, alltoall_##BITS, alltoalls_##BITS, 1},

static const struct mover MOVERS[] = {ROW(32, 4) ROW(64, 8)};

static void fill(long *psync, size_t size)
{
    for (size_t i = 0; i < size; i++)
        psync[i] = SHMEM_SYNC_VALUE;
}

int main(void)
{
    struct group groups[GROUP_MAX];

    shmem_init();
    fill(bcast_sync, COUNT_OF(bcast_sync));
    fill(collect_sync, COUNT_OF(collect_sync));
    fill(alltoall_sync, COUNT_OF(alltoall_sync));
    fill(alltoalls_sync, COUNT_OF(alltoalls_sync));
    shmem_barrier_all();
    // Often, so that every PE is a root.
    for (int i = 0; i < 4; i++)
        run_moves(MOVERS, COUNT_OF(MOVERS), groups, group_active_sets(groups));
    shmem_finalize();
    return 0;
}
