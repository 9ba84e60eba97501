// After quiet (plain, ctx, pe_quiet) the puts before are visible to every PE: PE 0 puts to PE 1,
// quiets and tells PE 2, which reads PE 1's memory. Nonblocking gets and fetches have arrived.
// Quiet also completes plain stores to one's own symmetric memory.
// run: np=3,7 std=c99
#include "check.h"

enum { WORDS = 700, ROUNDS = 400 };

static long in_bss[WORDS];
static long own[4] = {1};
static long go, done;
static int me, npes;

static void finish(int round)
{
    const int all[] = {1, 2, 1, 0};

    switch (round % 5) {
    case 0:
        shmem_quiet();
        break;
    case 1:
        shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
        break;
    case 2:
        shmem_pe_quiet(all, 1);
        break;
    case 3:
        shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all, 4);
        break;
    default:
        // With no PEs it returns at once and completes nothing.
        shmem_pe_quiet(NULL, 0);
        shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, all, 0);
        shmem_ctx_quiet(SHMEM_CTX_INVALID);
        shmem_quiet();
    }
}

static void writer(long *data, int round)
{
    long source[WORDS];

    for (int i = 0; i < WORDS; i++)
        source[i] = (long)round * 1000 + i;
    if (round % 3 == 0)
        shmem_long_put(data, source, WORDS, 1);
    else if (round % 3 == 1)
        shmem_long_put_nbi(data, source, WORDS, 1);
    else
        for (int i = 0; i < WORDS; i++)
            shmem_long_atomic_set(&data[i], source[i], 1);
    finish(round);
    shmem_long_p(&go, round, 2);
    shmem_long_wait_until(&done, SHMEM_CMP_EQ, round);
}

static void reader(const long *data, int round)
{
    long copy[WORDS];

    memset(copy, 0, sizeof copy);
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, round);
    if (round % 2 == 0) {
        shmem_long_get(copy, data, WORDS, 1);
    } else {
        shmem_long_get_nbi(copy, data, WORDS, 1);
        shmem_pe_quiet(&(int){1}, 1);
    }
    for (int i = 0; i < WORDS; i++)
        CHECK(copy[i] == (long)round * 1000 + i,
              "round %d: word %d on PE 1 after PE 0's quiet: expected %ld, got %ld", round, i,
              (long)round * 1000 + i, copy[i]);
    shmem_long_p(&done, round, 0);
}

// Stores to one's own memory, a quiet, a flag: the neighbour that sees the flag gets the stores.
static void local_stores(void)
{
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;

    go = 0;
    shmem_barrier_all();
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < 4; i++)
            own[i] = round * 10 + i;
        shmem_quiet();
        shmem_long_p(&go, round, right);
        shmem_long_wait_until(&go, SHMEM_CMP_GE, round);
        for (int i = 0; i < 4; i++) {
            long got = shmem_long_g(&own[i], left);
            CHECK(got == round * 10 + i, "store of PE %d before its quiet: expected %d, got %ld",
                  left, round * 10 + i, got);
        }
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    long *on_heap = (long *)shmem_malloc(sizeof in_bss);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");
    for (int round = 1; round <= ROUNDS; round++) {
        long *data = round % 2 ? on_heap : in_bss;
        if (me == 0)
            writer(data, round);
        if (me == 2)
            reader(data, round);
    }
    shmem_barrier_all();
    local_stores();
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
