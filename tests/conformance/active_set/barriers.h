// shmem_barrier and shmem_sync over active sets, back to back with the same pSync: nobody leaves
// before all of the set have come; a barrier completes the puts of its members; stores are visible
// after both; no PE outside of the set is waited for.
#include "group.h"

enum { BLOCK = 600 };

static long came[GROUP_MAX][GROUP_MAX_PES], stored[GROUP_MAX];
static long blocks[2][GROUP_MAX_PES][BLOCK];
static long barrier_sync[GROUP_MAX][SHMEM_BARRIER_SYNC_SIZE];
static long sync_sync[GROUP_MAX][SHMEM_SYNC_SIZE];
static int me, npes;

static long content(long round, int from, int to, int index)
{
    return ((round * 16 + from) * 16 + to) * BLOCK + index;
}

// Starts nonblocking puts to every member, which nothing but the barrier completes.
static void put_blocks(const struct group *g, long round, long (*source)[BLOCK])
{
    for (int m = 0; m < g->size; m++) {
        int pe = g->members[m];
        for (int i = 0; i < BLOCK; i++)
            source[pe][i] = content(round, me, pe, i);
        shmem_long_put_nbi(blocks[round % 2][me], source[pe], BLOCK, pe);
    }
}

static void try_barriers(const struct group *g, long *psync, int lane, long from, int rounds)
{
    static long source[2][GROUP_MAX_PES][BLOCK];

    for (long round = from; round < from + rounds; round++) {
        put_blocks(g, round, source[round % 2]);
        for (int m = 0; m < g->size; m++)
            shmem_long_p(&came[lane][me], round, g->members[m]);
        shmem_barrier(g->start, g->log_stride, g->size, psync);
        for (int m = 0; m < g->size; m++) {
            int pe = g->members[m];
            long there = ((volatile long *)came[lane])[pe];
            CHECK(there >= round, "barrier over %s, round %ld: PE %d has not come (%ld)", g->name,
                  round, pe, there);
            for (int i = 0; i < BLOCK; i += 7)
                CHECK_INT(blocks[round % 2][pe][i], content(round, pe, me, i),
                          "an element put before shmem_barrier");
        }
    }
    // All have looked, before the blocks serve the next set.
    shmem_barrier(g->start, g->log_stride, g->size, psync);
}

static void try_syncs(const struct group *g, long *psync, int lane, int rounds)
{
    for (long round = 1; round <= rounds; round++) {
        ((volatile long *)stored)[lane] = round * 8 + me;
        shmem_sync(g->start, g->log_stride, g->size, psync);
        for (int m = 0; m < g->size; m++) {
            long seen = shmem_long_g(&stored[lane], g->members[m]);
            CHECK(seen == round * 8 + g->members[m],
                  "sync over %s, round %ld: the store of PE %d: %ld", g->name, round,
                  g->members[m], seen);
        }
        shmem_sync(g->start, g->log_stride, g->size, psync);
    }
}

static void expect_restored(const long *psync, size_t size, const char *routine)
{
    for (size_t i = 0; i < size; i++)
        CHECK(psync[i] == SHMEM_SYNC_VALUE, "pSync[%zu] is %ld after %s", i, psync[i], routine);
}

int main(int argc, char **argv)
{
    struct group groups[GROUP_MAX];
    int level = argc > 2 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, provided;
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    CHECK_INT(shmem_init_thread(level, &provided), 0, "shmem_init_thread");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int g = 0; g < GROUP_MAX; g++) {
        for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++)
            barrier_sync[g][i] = SHMEM_SYNC_VALUE;
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            sync_sync[g][i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    int count = group_active_sets(groups);
    for (int g = 0; g < count; g++) {
        if (groups[g].me < 0)
            continue;
        try_barriers(&groups[g], barrier_sync[g], g, 1 + g * rounds, rounds);
        try_syncs(&groups[g], sync_sync[g], g, rounds);
    }
    shmem_barrier_all();
    for (int g = 0; g < count; g++) {
        expect_restored(barrier_sync[g], SHMEM_BARRIER_SYNC_SIZE, "barriers");
        expect_restored(sync_sync[g], SHMEM_SYNC_SIZE, "syncs");
    }
    shmem_finalize();
    return 0;
}
