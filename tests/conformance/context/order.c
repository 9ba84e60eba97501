// fence and quiet of a context order and complete the operations on it: the data are there when a
// flag is that was put after them. Destroying a context completes it. shmem_quiet and
// shmem_barrier_all do not need to, so that nothing is asked of them here.
// run: np=1,2,3,7 nodes=1 args=400
// run: np=4 nodes=several args=40
#include "check.h"

enum { WORDS = 900, WAYS = 5 };

static long data[2][WORDS], flag, seen, word;
static int me, npes;

static long value(long round, int owner, int index)
{
    return (round * 16 + owner) * WORDS + index;
}

// Puts the data on a context and then tells the right neighbour, each time in another way.
static void send(long round, shmem_ctx_t ctx, shmem_ctx_t other)
{
    static long source[WORDS];
    int right = (me + 1) % npes;
    shmem_ctx_t made;

    for (int i = 0; i < WORDS; i++)
        source[i] = value(round, me, i);
    switch (round % WAYS) {
    case 0: // two operations on one context, in order
        if (round % 2)
            shmem_ctx_long_put(ctx, data[1], source, WORDS, right);
        else
            shmem_ctx_long_put_nbi(ctx, data[0], source, WORDS, right);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_p(ctx, &flag, round, right);
        break;
    case 1: // the flag on another context than the data
        shmem_ctx_long_put_nbi(ctx, data[round % 2], source, WORDS, right);
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_p(other, &flag, round, right);
        break;
    case 2: // the flag on the default context
        for (int i = 0; i < WORDS; i += WORDS / 3)
            shmem_ctx_long_put_nbi(ctx, &data[round % 2][i], &source[i], WORDS / 3, right);
        shmem_ctx_pe_quiet(ctx, &right, 1);
        shmem_long_atomic_set(&flag, round, right);
        break;
    case 3: // a context that is gone when the flag is put
        CHECK_INT(shmem_ctx_create(round % 2 ? SHMEM_CTX_PRIVATE : 0, &made), 0, "create");
        shmem_ctx_long_put_nbi(made, data[round % 2], source, WORDS, right);
        shmem_ctx_destroy(made);
        shmem_long_p(&flag, round, right);
        break;
    default: // data, signal
        shmem_ctx_long_put_signal_nbi(ctx, data[round % 2], source, WORDS, (uint64_t *)&flag,
                                      (uint64_t)round, SHMEM_SIGNAL_SET, right);
        shmem_ctx_quiet(ctx);
        break;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    shmem_ctx_t a, b;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int left = (me + npes - 1) % npes;
    CHECK_INT(shmem_ctx_create(0, &a), 0, "shmem_ctx_create");
    CHECK_INT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &b), 0, "shmem_ctx_create");
    for (long round = 1; round <= rounds; round++) {
        send(round, round % 2 ? a : b, round % 2 ? b : a);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        for (int i = 0; i < WORDS; i++)
            CHECK(data[round % 2][i] == value(round, left, i),
                  "round %ld, way %ld: data[%d] is %ld, not %ld", round, round % WAYS, i,
                  data[round % 2][i], value(round, left, i));
        // The left neighbour may send the round after the next.
        shmem_long_p(&seen, round, left);
        shmem_long_wait_until(&seen, SHMEM_CMP_GE, round);
        // Only now: nothing but the ways has brought the data. The source is used again.
        shmem_ctx_quiet(a);
        shmem_ctx_quiet(b);
    }
    // A barrier does not need to complete other contexts: quiet does.
    shmem_ctx_long_p(a, &word, 5 + me, (me + 1) % npes);
    shmem_ctx_quiet(a);
    shmem_barrier_all();
    CHECK_INT(word, 5 + left, "a put on a context that was quieted before the barrier");
    shmem_ctx_destroy(a);
    // Shareable contexts may be left to finalize.
    shmem_finalize();
    return 0;
}
