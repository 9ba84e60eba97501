// Collective routines one after the other without a barrier between them, with values that change
// every time: a routine that lets a PE go too early, or reads too late, is seen. Sources are
// overwritten as soon as a routine has returned; a dest is used again only after it was certain
// that all PEs have looked at theirs.
// run: np=1,2,3,7 nodes=1 args=1000
// run: np=4 nodes=several args=40
// run: np=3,7 nodes=1 args=400 env=FARREACH_COLLECTIVE_NODE_SIZE=1
// run: np=7 nodes=1 args=200 env=FARREACH_COLLECTIVE_NODE_SIZE=3
#include "check.h"

enum { MAX_PES = 8, LARGE = 1500, SMALL = 3, KINDS = 7, RING = 14 };

// Round r uses the r-th element of the ring, and there is a sync after each turn of the ring.
static long dest[RING][MAX_PES * LARGE];
static long source[MAX_PES * LARGE];
static int me, npes;

static long value(long round, int owner, size_t index)
{
    return (round * 16 + owner) * 10007 + (long)index;
}

static void expect(const long *got, long want, const char *routine, long round, size_t index)
{
    CHECK(got[index] == want, "%s, round %ld: dest[%zu] is %ld, not %ld", routine, round, index,
          got[index], want);
}

// Holds a PE up for a moment, another one each time.
static void dawdle(long round)
{
    if ((round * 5 + round / 7) % (npes + 2) == me)
        for (volatile int i = 0; i < 3000; i++)
            ;
}

static void try_move(long round, int kind, size_t n)
{
    long *to = dest[round % RING];
    int root = (int)(round % npes);
    size_t mine = (size_t)((round + me) % 3) * n / 2, at = 0;

    if (kind == 0) {
        shmem_long_broadcast(SHMEM_TEAM_WORLD, to, source, n, root);
        for (size_t i = 0; i < n; i++)
            expect(to, value(round, root, i), "broadcast", round, i);
    } else if (kind == 1) {
        shmem_long_fcollect(SHMEM_TEAM_WORLD, to, source, n);
        for (int pe = 0; pe < npes; pe++)
            for (size_t i = 0; i < n; i++)
                expect(to, value(round, pe, i), "fcollect", round, (size_t)pe * n + i);
    } else if (kind == 2) {
        shmem_long_collect(SHMEM_TEAM_WORLD, to, source, mine);
        for (int pe = 0; pe < npes; pe++)
            for (size_t i = 0; i < (size_t)((round + pe) % 3) * n / 2; i++)
                expect(to, value(round, pe, i), "collect", round, at++);
    } else {
        shmem_long_alltoall(SHMEM_TEAM_WORLD, to, source, n);
        for (int pe = 0; pe < npes; pe++)
            for (size_t i = 0; i < n; i++)
                expect(to, value(round, pe, (size_t)me * n + i), "alltoall", round,
                       (size_t)pe * n + i);
    }
}

static void try_sum(long round, int kind, size_t n)
{
    long *to = dest[round % RING];
    const char *routine = kind == 4 ? "sum_reduce" : kind == 5 ? "sum_inscan" : "sum_exscan";
    int members = kind == 4 ? npes : kind == 5 ? me + 1 : me;

    if (kind == 4)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, source, n);
    else if (kind == 5)
        shmem_long_sum_inscan(SHMEM_TEAM_WORLD, to, source, n);
    else
        shmem_long_sum_exscan(SHMEM_TEAM_WORLD, to, source, n);
    for (size_t i = 0; i < n; i++) {
        long want = 0;
        for (int pe = 0; pe < members; pe++)
            want += value(round, pe, i);
        expect(to, want, routine, round, i);
    }
}

// Runs the rounds; with `kind` < 0, all routines by turns.
static void run(long rounds, int kind, size_t small, size_t large)
{
    for (long round = 0; round < rounds; round++) {
        int k = kind < 0 ? (int)((round * 3 + round / KINDS) % KINDS) : kind;
        size_t n = round % 3 == 0 ? large : small;
        for (size_t i = 0; i < (k == 3 ? (size_t)npes : 1) * n; i++)
            source[i] = value(round, me, i);
        dawdle(round);
        if (k < 4)
            try_move(round, k, n);
        else
            try_sum(round, k, n);
        memset(source, 0xee, (size_t)npes * n * sizeof *source);
        if (round % RING == RING - 1)
            shmem_team_sync(SHMEM_TEAM_WORLD);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    for (int kind = 0; kind < KINDS; kind++) {
        run(rounds, kind, 1, SMALL);
        run(rounds / 20, kind, SMALL, LARGE);
    }
    run(rounds, -1, 1, 2);
    run(rounds / 5, -1, SMALL, LARGE);
    shmem_finalize();
    return 0;
}
