// Contexts with every combination of options, of the world and of a team: each of them works as the
// default one does, many are alive at the same time, and they can be made again and again.
// run: np=1,2,3,7 nodes=1 args=300
// run: np=4 nodes=several args=12
#include "check.h"

enum { MAX_PES = 8, WORDS = 200, OPTION_SETS = 8, ALIVE = 24 };

static long cells[MAX_PES], block[MAX_PES][WORDS], from_nbi[MAX_PES][WORDS], sums[MAX_PES];
static uint64_t signals[MAX_PES];
static int me, npes;

static long options_of(int i)
{
    static const long OPTIONS[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    long options = 0;

    for (int bit = 0; bit < 3; bit++)
        if (i >> bit & 1)
            options |= OPTIONS[bit];
    return options;
}

// Starts some of every kind of operation on a context, to every PE; all PEs do the same at the same
// time.
static void use(shmem_ctx_t ctx, long round)
{
    static long source[MAX_PES][WORDS], back[WORDS], fetched;

    for (int pe = 0; pe < npes; pe++) {
        for (int i = 0; i < WORDS; i++)
            source[pe][i] = (round * 16 + me) * 16 + pe + 1000L * i;
        shmem_ctx_long_p(ctx, &cells[me], round + me, pe);
        shmem_ctx_long_put(ctx, block[me], source[pe], WORDS, pe);
        shmem_ctx_long_put_nbi(ctx, from_nbi[me], source[pe], WORDS, pe);
        shmem_ctx_long_atomic_add(ctx, &sums[me], 3, pe);
        shmem_ctx_signal_add(ctx, &signals[me], 2, pe);
    }
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_INT(shmem_ctx_long_g(ctx, &cells[me], pe), round + me, "p and g");
        shmem_ctx_long_get(ctx, back, block[me], WORDS, pe);
        CHECK(memcmp(back, source[pe], sizeof back) == 0, "round %ld: put and get", round);
        shmem_ctx_long_get_nbi(ctx, back, from_nbi[me], WORDS, pe);
        shmem_ctx_pe_quiet(ctx, &pe, 1);
        CHECK(memcmp(back, source[pe], sizeof back) == 0, "round %ld: put_nbi and get_nbi", round);
        CHECK_INT(shmem_ctx_long_atomic_fetch_add(ctx, &sums[me], 1, pe) % 4, 3, "fetch_add");
        shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &sums[me], pe);
        shmem_ctx_quiet(ctx);
        CHECK_INT(fetched % 4, 0, "atomic_fetch_nbi after quiet");
    }
}

static void expect_signals(long rounds)
{
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_INT(shmem_signal_fetch(&signals[pe]), 2 * rounds, "signals of one PE");
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    shmem_ctx_t contexts[ALIVE];
    shmem_team_t team, got;
    int rounds = argc > 1 ? atoi(argv[1]) : 50;
    long used = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0, "split");
    // One after the other.
    for (int i = 0; i < rounds; i++) {
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        int status = i % 3 == 2 ? shmem_team_create_ctx(team, options_of(i % OPTION_SETS), &ctx)
                                : shmem_ctx_create(options_of(i % OPTION_SETS), &ctx);
        CHECK_INT(status, 0, "the creation of a context");
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT, "context %d: its handle", i);
        CHECK_INT(shmem_ctx_get_team(ctx, &got), 0, "shmem_ctx_get_team");
        CHECK(got == (i % 3 == 2 ? team : SHMEM_TEAM_WORLD), "context %d: another team", i);
        use(ctx, used++);
        shmem_ctx_destroy(ctx);
    }
    // All at once, destroyed from the middle.
    for (int i = 0; i < ALIVE; i++) {
        CHECK_INT(shmem_ctx_create(options_of(i % OPTION_SETS), &contexts[i]), 0,
                  "one of many contexts");
        for (int other = 0; other < i; other++)
            CHECK(contexts[i] != contexts[other], "contexts %d and %d are the same", i, other);
    }
    for (int i = 0; i < ALIVE; i++)
        use(contexts[i], used++);
    use(SHMEM_CTX_DEFAULT, used++);
    for (int i = 0; i < ALIVE; i++)
        shmem_ctx_destroy(contexts[(i + ALIVE / 2) % ALIVE]);
    CHECK_INT(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &got), 0, "shmem_ctx_get_team");
    CHECK(got == SHMEM_TEAM_WORLD, "the team of the default context");
    expect_signals(used);
    shmem_team_destroy(team);
    shmem_finalize();
    return 0;
}
