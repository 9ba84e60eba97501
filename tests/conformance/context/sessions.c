// Sessions are hints: with any options, started twice, stopped twice or left to the end of the
// context, transfers, order and completion are as without one.
// run: np=1,2,3,4,7
#include "check.h"

enum { WORDS = 64 };

static long table[WORDS], flag, data[300];
static int me, npes;

// Runs the example of the specification, smaller: updates of random places that cancel each other.
static void update(shmem_ctx_t ctx, unsigned long seed)
{
    for (int twice = 0; twice < 2; twice++)
        for (unsigned long i = 0; i < 40; i++) {
            unsigned long x = (i + seed + (unsigned long)me) * 2654435761u;
            shmem_ctx_ulong_atomic_xor(ctx, (unsigned long *)&table[x % WORDS], x,
                                       (int)(x / WORDS % (unsigned long)npes));
        }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        CHECK_INT(table[i], 0, "a word that was changed to and fro");
    shmem_barrier_all();
}

// Checks order and completion inside of a session.
static void order(shmem_ctx_t ctx, long round)
{
    static long source[300], fetched;
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;

    for (int i = 0; i < 300; i++)
        source[i] = round * 1000 + me * 300 + i;
    shmem_ctx_long_put_nbi(ctx, data, source, 300, right);
    if (round % 2) {
        shmem_ctx_fence(ctx);
        shmem_ctx_long_p(ctx, &flag, round, right);
    } else {
        shmem_ctx_quiet(ctx);
        shmem_long_atomic_set(&flag, round, right);
    }
    // Blocking and fetching operations do not wait for the end of the session.
    CHECK_INT(shmem_ctx_long_atomic_fetch(ctx, &table[0], right), 0, "atomic_fetch");
    shmem_ctx_quiet(ctx);
    shmem_quiet();
    shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &flag, right);
    shmem_ctx_quiet(ctx);
    CHECK_INT(fetched, round, "atomic_fetch_nbi after quiet");
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    for (int i = 0; i < 300; i++)
        CHECK_INT(data[i], round * 1000 + left * 300 + i, "data before a flag");
    shmem_barrier_all();
}

int main(void)
{
    shmem_ctx_session_config_t config = {40};
    shmem_ctx_t contexts[3] = {SHMEM_CTX_DEFAULT};

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_INT(shmem_ctx_create(0, &contexts[1]), 0, "shmem_ctx_create");
    CHECK_INT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[2]), 0, "shmem_ctx_create");
    for (int c = 0; c < 3; c++) {
        shmem_ctx_t ctx = contexts[c];
        shmem_ctx_session_start(ctx, 0, NULL, 0);
        update(ctx, 1);
        order(ctx, 10 * c + 1);
        // Once more, with more.
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config,
                                SHMEM_CTX_SESSION_TOTAL_OPS);
        update(ctx, 2);
        config.total_ops = 1;
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config,
                                SHMEM_CTX_SESSION_TOTAL_OPS);
        update(ctx, 3);
        order(ctx, 10 * c + 2);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_session_stop(ctx);
        order(ctx, 10 * c + 3);
        config.total_ops = SIZE_MAX;
        shmem_ctx_session_start(ctx, -1, &config, 0);
        order(ctx, 10 * c + 4);
        // An operation at the end of a session is not lost.
        shmem_ctx_long_p(ctx, &flag, 77 + c, (me + 1) % npes);
        if (c == 0)
            shmem_ctx_session_stop(ctx);
        else
            shmem_ctx_destroy(ctx);
        shmem_barrier_all();
        CHECK_INT(flag, 77 + c, "p at the end of a session");
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
