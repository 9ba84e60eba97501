// Collective routines of active sets one after the other, with two pSync arrays by turns and no
// barrier between them, and values that change every time. Sets that have no PE in common use the
// same arrays at the same time, sets that have use others.
// run: np=1,2,3,7 nodes=1 args=1000
// run: np=3,7 nodes=1 args=300 multiple
// run: np=4 nodes=several args=40
// run: np=4 nodes=several args=20 multiple
#include "group.h"

enum { MAX_PES = 8, N = 300, ROUTINES = 4, LANES = 2 };

static long psync[LANES][2][SHMEM_SYNC_SIZE];
static long work[LANES][2][N / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
// Wide enough for collect of all PEs and for alltoall; a ring of two, as the pSync arrays.
static int64_t source[LANES][MAX_PES * N], dest[LANES][2][MAX_PES * N];
static int me, npes;

static int64_t value(long round, int owner, size_t index)
{
    return (round * 16 + owner) * 10007 + (int64_t)index;
}

static void expect(const struct group *g, const int64_t *got, size_t at, int64_t want,
                   const char *routine, long round)
{
    CHECK(got[at] == want, "%s over %s, round %ld: dest[%zu] is %lld, not %lld", routine, g->name,
          round, at, (long long)got[at], (long long)want);
}

#define SET g->start, g->log_stride, g->size

static void step(const struct group *g, int lane, long round, size_t n)
{
    int64_t *from = source[lane], *to = dest[lane][round % 2];
    long *sync = psync[lane][round % 2];
    size_t at = 0;

    for (size_t i = 0; i < n * (size_t)g->size; i++)
        from[i] = value(round, me, i);
    if (round % ROUTINES == 0) {
        shmem_long_sum_to_all((long *)to, (long *)from, (int)n, SET, work[lane][round % 2], sync);
        for (size_t i = 0; i < n; i++) {
            int64_t want = 0;
            for (int m = 0; m < g->size; m++)
                want += value(round, g->members[m], i);
            expect(g, to, i, want, "sum_to_all", round);
        }
    } else if (round % ROUTINES == 1) {
        shmem_fcollect64(to, from, n, SET, sync);
        for (int m = 0; m < g->size; m++)
            for (size_t i = 0; i < n; i++)
                expect(g, to, at++, value(round, g->members[m], i), "fcollect64", round);
    } else if (round % ROUTINES == 2) {
        // One element or more of each, so that nobody is done before all have come.
        shmem_collect64(to, from, 1 + n / 2 * (size_t)(g->me % 2), SET, sync);
        for (int m = 0; m < g->size; m++)
            for (size_t i = 0; i < 1 + n / 2 * (size_t)(m % 2); i++)
                expect(g, to, at++, value(round, g->members[m], i), "collect64", round);
    } else {
        shmem_alltoall64(to, from, n, SET, sync);
        for (int m = 0; m < g->size; m++)
            for (size_t i = 0; i < n; i++)
                expect(g, to, at++, value(round, g->members[m], (size_t)g->me * n + i),
                       "alltoall64", round);
    }
    memset(from, 0xee, n * (size_t)g->size * sizeof *from);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    struct group groups[GROUP_MAX];
    int level = argc > 2 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, provided;

    CHECK_INT(shmem_init_thread(level, &provided), 0, "shmem_init_thread");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            psync[lane][0][i] = psync[lane][1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int count = group_active_sets(groups);
    // The sets of all PEs or nearly all on the first lane, all else on the second.
    for (int g = 0; g < count && g < 2; g++) {
        for (long round = 0; round < rounds && groups[g].me >= 0; round++)
            step(&groups[g], 0, round, round % 5 == 0 ? N : 1 + (size_t)round % 3);
        shmem_barrier_all();
    }
    // Even and odd PEs at the same time, and between their steps all PEs.
    for (long round = 0; round < rounds; round++) {
        for (int g = 2; g < count && g < 4; g++)
            if (groups[g].me >= 0)
                step(&groups[g], 1, round, round % 7 == 0 ? N : 2);
        if (round % 3 == 0)
            step(&groups[0], 0, round / 3, 1 + (size_t)round % 5);
    }
    shmem_barrier_all();
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            CHECK(psync[lane][0][i] == SHMEM_SYNC_VALUE && psync[lane][1][i] == SHMEM_SYNC_VALUE,
                  "pSync was not restored");
    shmem_finalize();
    return 0;
}
