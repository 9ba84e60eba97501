// signal_set, signal_add, signal_fetch and signal_wait_until: all comparisons, the value that
// satisfied the condition is returned, 64 bits unsigned, both forms, all kinds of objects.
// run: np=1,2,3,7 std=c99
#include "check.h"

enum { LAPS = 300 };

static uint64_t in_data = 7;
static uint64_t in_bss;
static int me, npes;

static void expect(uint64_t got, uint64_t want, const char *what)
{
    CHECK(got == want, "%s: expected 0x%llx, got 0x%llx", what, (unsigned long long)want,
          (unsigned long long)got);
}

// Checks immediate results on one's own signal word.
static void compare(uint64_t *sig)
{
    static const uint64_t values[] = {0, 1, UINT64_C(0x7fffffffffffffff),
                                      UINT64_C(0x8000000000000000), UINT64_C(0xffffffffffffffff)};

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        uint64_t v = values[i];
        shmem_signal_set(sig, v, me);
        shmem_quiet();
        expect(shmem_signal_fetch(sig), v, "signal_fetch");
        expect(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, v), v, "wait EQ");
        expect(shmem_signal_wait_until(sig, SHMEM_CMP_NE, v + 1), v, "wait NE");
        expect(shmem_signal_wait_until(sig, SHMEM_CMP_GE, v), v, "wait GE");
        expect(shmem_signal_wait_until(sig, SHMEM_CMP_LE, v), v, "wait LE");
        // Unsigned: the largest value is above zero, not below it.
        if (v > 0)
            expect(shmem_signal_wait_until(sig, SHMEM_CMP_GT, v - 1), v, "wait GT");
        if (v < UINT64_MAX)
            expect(shmem_signal_wait_until(sig, SHMEM_CMP_LT, v + 1), v, "wait LT");
        shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, sig, 3, me);
        shmem_quiet();
        expect(shmem_signal_fetch(sig), v + 3, "signal_add wraps");
        shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, sig, ~v, me);
        shmem_quiet();
        expect(shmem_signal_fetch(sig), ~v, "ctx_signal_set");
    }
}

// Sends a token round the ring by signal_set; everybody adds to a counter on PE 0 on the way.
static void ring(uint64_t *token, uint64_t *counter)
{
    int right = (me + 1) % npes;

    *token = 0;
    *counter = 0;
    shmem_barrier_all();
    for (uint64_t lap = 1; lap <= LAPS; lap++) {
        if (me != 0)
            expect(shmem_signal_wait_until(token, SHMEM_CMP_EQ, lap), lap, "token");
        shmem_signal_add(counter, lap, 0);
        shmem_quiet();
        shmem_signal_set(token, lap, right);
        if (me == 0)
            expect(shmem_signal_wait_until(token, SHMEM_CMP_GE, lap), lap, "token back at PE 0");
    }
    if (me == 0)
        expect(shmem_signal_fetch(counter), (uint64_t)npes * LAPS * (LAPS + 1) / 2, "counter");
    shmem_barrier_all();
}

int main(void)
{
    static uint64_t in_function;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    uint64_t *on_heap = (uint64_t *)shmem_calloc(1, sizeof *on_heap);
    CHECK(on_heap != NULL, "shmem_calloc returned NULL");
    compare(on_heap);
    compare(&in_data);
    compare(&in_bss);
    compare(&in_function);
    shmem_barrier_all();
    ring(on_heap, &in_data);
    ring(&in_bss, &in_function);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
