// Contexts of teams: PEs are counted as in the team, by the routines that take a context and a PE,
// in teams that are a part of the world, and reversed.
// run: np=1,2,3,4,7
#include "group.h"

enum { WORDS = 6 };

static long block[3][GROUP_MAX_PES][WORDS], words[8][GROUP_MAX_PES];
static uint64_t signals[4][GROUP_MAX_PES], bits[2][GROUP_MAX_PES];
static double real[GROUP_MAX_PES];
static int me;

static void put_all(const struct group *g, shmem_ctx_t ctx)
{
    static long source[GROUP_MAX_PES][3][WORDS];

    for (int pe = 0; pe < g->size; pe++) {
        long (*s)[WORDS] = source[pe];
        for (int i = 0; i < 3 * WORDS; i++)
            s[i / WORDS][i % WORDS] = 100 * me + 10 * g->members[pe] + i;
        shmem_ctx_long_p(ctx, &words[0][me], s[0][0], pe);
        shmem_ctx_long_put(ctx, block[0][me], s[0], WORDS, pe);
        shmem_ctx_put64_nbi(ctx, block[1][me], s[1], WORDS, pe);
        shmem_ctx_long_iput(ctx, block[2][me], s[2], 1, 1, 3, pe);
        shmem_ctx_ibput64(ctx, &block[2][me][3], &s[2][3], 3, 3, 3, 1, pe);
        shmem_ctx_putmem(ctx, &words[1][me], &s[0][1], sizeof(long), pe);
        shmem_ctx_long_put_signal(ctx, &words[2][me], &s[0][2], 1, &signals[0][me], 7,
                                  SHMEM_SIGNAL_SET, pe);
        shmem_ctx_put64_signal_nbi(ctx, &words[3][me], &s[0][3], 1, &signals[1][me], 8,
                                   SHMEM_SIGNAL_ADD, pe);
        shmem_ctx_signal_set(ctx, &signals[2][me], 9, pe);
        shmem_ctx_signal_add(ctx, &signals[3][me], 10, pe);
        shmem_ctx_double_atomic_set(ctx, &real[me], 1.5 + pe, pe);
        shmem_ctx_long_atomic_inc(ctx, &words[4][me], pe);
        shmem_ctx_long_atomic_add(ctx, &words[4][me], 20 + pe, pe);
        shmem_ctx_uint64_atomic_or(ctx, &bits[0][me], 0xff0f, pe);
        shmem_ctx_uint64_atomic_and(ctx, &bits[0][me], 0xf0f0, pe);
        shmem_ctx_uint64_atomic_xor(ctx, &bits[1][me], (uint64_t)pe + 1, pe);
    }
    shmem_ctx_pe_quiet(ctx, &g->me, 1);
    shmem_ctx_quiet(ctx);
}

static void expect_puts(const struct group *g)
{
    for (int m = 0; m < g->size; m++) {
        int from = g->members[m];
        long base = 100 * from + 10 * me;
        CHECK_INT(words[0][from], base, "p");
        for (int i = 0; i < 3 * WORDS; i++)
            CHECK(block[i / WORDS][from][i % WORDS] == base + i,
                  "put, put64_nbi, iput and ibput64: word %d of PE %d is %ld", i, from,
                  block[i / WORDS][from][i % WORDS]);
        CHECK_INT(words[1][from], base + 1, "putmem");
        CHECK_INT(words[2][from], base + 2, "put_signal");
        CHECK_INT(words[3][from], base + 3, "put64_signal_nbi");
        for (int s = 0; s < 4; s++)
            CHECK_INT(signals[s][from], 7 + s, "a signal");
        CHECK(real[from] == 1.5 + g->me, "atomic_set of a double");
        CHECK_INT(words[4][from], 21 + g->me, "atomic_inc and atomic_add");
        CHECK_INT(bits[0][from], 0xf000, "atomic_or and atomic_and");
        CHECK_INT(bits[1][from], g->me + 1, "atomic_xor");
    }
}

static void get_all(const struct group *g, shmem_ctx_t ctx)
{
    for (int pe = 0; pe < g->size; pe++) {
        long base = 100 * me + 10 * g->members[pe], back[4][3], fetched = 0;
        uint64_t old;
        CHECK_INT(shmem_ctx_long_g(ctx, &words[0][me], pe), base, "g");
        shmem_ctx_long_get(ctx, back[0], &block[0][me][1], 3, pe);
        shmem_ctx_get64_nbi(ctx, back[1], &block[1][me][1], 3, pe);
        shmem_ctx_long_iget(ctx, back[2], block[2][me], 1, 2, 3, pe);
        shmem_ctx_ibget64(ctx, back[3], block[2][me], 1, 2, 1, 3, pe);
        shmem_ctx_quiet(ctx);
        for (int i = 0; i < 3; i++) {
            CHECK_INT(back[0][i], base + 1 + i, "get");
            CHECK_INT(back[1][i], base + WORDS + 1 + i, "get64_nbi");
            CHECK_INT(back[2][i], base + 2 * WORDS + 2 * i, "iget");
            CHECK_INT(back[3][i], base + 2 * WORDS + 2 * i, "ibget64");
        }
        long *sum = &words[4][me];
        CHECK(shmem_ctx_double_atomic_fetch(ctx, &real[me], pe) == 1.5 + pe, "atomic_fetch");
        CHECK_INT(shmem_ctx_long_atomic_fetch_inc(ctx, sum, pe), 21 + pe, "fetch_inc");
        CHECK_INT(shmem_ctx_long_atomic_fetch_add(ctx, sum, 8, pe), 22 + pe, "fetch_add");
        CHECK_INT(shmem_ctx_long_atomic_compare_swap(ctx, sum, 30 + pe, 5, pe), 30 + pe, "cswap");
        CHECK_INT(shmem_ctx_long_atomic_swap(ctx, sum, 6, pe), 5, "swap");
        shmem_ctx_long_atomic_fetch_add_nbi(ctx, &fetched, sum, 4, pe);
        shmem_ctx_quiet(ctx);
        CHECK_INT(fetched, 6, "fetch_add_nbi");
        old = shmem_ctx_uint64_atomic_fetch_xor(ctx, &bits[1][me], 1, pe);
        CHECK_INT(old, pe + 1, "fetch_xor");
    }
}

static void try_group(const struct group *g, long options)
{
    shmem_ctx_t ctx;
    shmem_team_t got;

    memset(words, 0, sizeof words);
    memset(signals, 0, sizeof signals);
    memset(bits, 0, sizeof bits);
    shmem_barrier_all();
    if (g->me >= 0) {
        CHECK_INT(shmem_team_create_ctx(g->team, options, &ctx), 0, "shmem_team_create_ctx");
        CHECK_INT(shmem_ctx_get_team(ctx, &got), 0, "shmem_ctx_get_team");
        CHECK(got == g->team, "the context of %s has another team", g->name);
        put_all(g, ctx);
    }
    shmem_barrier_all();
    if (g->me >= 0) {
        expect_puts(g);
        CHECK_INT(shmem_team_sync(g->team), 0, "shmem_team_sync");
        get_all(g, ctx);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
}

int main(void)
{
    struct group groups[GROUP_MAX];

    shmem_init();
    me = shmem_my_pe();
    int count = group_teams(groups);
    for (int g = 0; g < count; g++) {
        try_group(&groups[g], 0);
        try_group(&groups[g], SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE);
    }
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
