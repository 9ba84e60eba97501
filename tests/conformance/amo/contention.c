// All PEs hammer the same objects: no update may be lost, no fetched value may be seen twice.
// run: np=2,3,7 nodes=1 std=c99
// run: np=3 nodes=several std=c99 args=300
#include "check.h"

static int rounds = 20000;

// One of each for every kind of object; the PE that owns the object is `round % npes`.
struct target {
    int add32, fetch_add32, inc32, fetch_inc32, cswap32;
    unsigned int xor32, or32, and32;
    long add64, fetch_add64, inc64, fetch_inc64, cswap64;
    uint64_t xor64, or64, and64;
    unsigned long swap_token;
    double swap_double;
    float swap_float;
    uint64_t signals;
};

static struct target in_data = {.add32 = 1};
static struct target in_bss;
static struct target *on_heap;
static unsigned char *seen32, *seen64;
static long sum_of_tokens;
static double sum_of_doubles;
static int me, npes;

static void mark(unsigned char *seen, long value, const char *what)
{
    CHECK(value >= 0 && value < (long)rounds * npes, "%s fetched %ld, beyond all increments", what,
          value);
    shmem_uchar_p(&seen[value], 1, 0);
}

// Adds by compare and swap: retries until its own swap was the one that hit.
static void add_by_cswap(struct target *t, int pe)
{
    int seen = shmem_int_atomic_fetch(&t->cswap32, pe), old;
    while ((old = shmem_int_atomic_compare_swap(&t->cswap32, seen, seen + 1, pe)) != seen)
        seen = old;
    long wide = shmem_long_atomic_fetch(&t->cswap64, pe), old64;
    while ((old64 = shmem_long_atomic_compare_swap(&t->cswap64, wide, wide + 3, pe)) != wide)
        wide = old64;
}

static void hammer(struct target *t, int pe)
{
    unsigned long token = 0;
    double dtoken = 0;
    float ftoken = 0;

    for (int i = 0; i < rounds; i++) {
        unsigned int bit = 1u << (i % 32);
        uint64_t bit64 = UINT64_C(1) << (i % 64);
        shmem_int_atomic_add(&t->add32, i % 7, pe);
        shmem_long_atomic_add(&t->add64, i % 7, pe);
        shmem_int_atomic_inc(&t->inc32, pe);
        shmem_long_atomic_inc(&t->inc64, pe);
        mark(seen32, shmem_int_atomic_fetch_inc(&t->fetch_inc32, pe), "int fetch_inc");
        mark(seen64, shmem_long_atomic_fetch_add(&t->fetch_add64, 1, pe), "long fetch_add");
        shmem_long_atomic_fetch_inc(&t->fetch_inc64, pe);
        shmem_int_atomic_fetch_add(&t->fetch_add32, 5, pe);
        shmem_uint_atomic_xor(&t->xor32, bit, pe);
        shmem_uint64_atomic_fetch_xor(&t->xor64, bit64, pe);
        if (i % npes == me) {
            shmem_uint_atomic_or(&t->or32, bit, pe);
            shmem_uint64_atomic_fetch_or(&t->or64, bit64, pe);
            shmem_uint_atomic_and(&t->and32, ~bit, pe);
            shmem_uint64_atomic_fetch_and(&t->and64, ~bit64, pe);
        }
        add_by_cswap(t, pe);
        token = shmem_ulong_atomic_swap(&t->swap_token, token + 1, pe);
        dtoken = shmem_double_atomic_swap(&t->swap_double, dtoken + 1, pe);
        ftoken = shmem_float_atomic_swap(&t->swap_float, ftoken + 1, pe);
        shmem_signal_add(&t->signals, 2, pe);
    }
    shmem_long_atomic_add(&sum_of_tokens, (long)token + (long)ftoken, 0);
    // Doubles have no atomic add: each PE in its turn.
    for (int pe_in_turn = 0; pe_in_turn < npes; pe_in_turn++) {
        if (pe_in_turn == me)
            shmem_double_p(&sum_of_doubles, shmem_double_g(&sum_of_doubles, 0) + dtoken, 0);
        shmem_barrier_all();
    }
}

static void expect_totals(struct target *t)
{
    long total = (long)rounds * npes, sum = 0;
    unsigned int parity32 = 0;
    uint64_t parity64 = 0;

    for (int i = 0; i < rounds; i++) {
        sum += i % 7;
        parity32 ^= 1u << (i % 32);
        parity64 ^= UINT64_C(1) << (i % 64);
    }
    CHECK_INT(t->add32, sum * npes, "int add");
    CHECK_INT(t->add64, sum * npes, "long add");
    CHECK_INT(t->inc32, total, "int inc");
    CHECK_INT(t->inc64, total, "long inc");
    CHECK_INT(t->fetch_inc32, total, "int fetch_inc");
    CHECK_INT(t->fetch_inc64, total, "long fetch_inc");
    CHECK_INT(t->fetch_add32, 5 * total, "int fetch_add");
    CHECK_INT(t->fetch_add64, total, "long fetch_add");
    CHECK_INT(t->cswap32, total, "int compare_swap");
    CHECK_INT(t->cswap64, 3 * total, "long compare_swap");
    CHECK_INT(t->xor32, npes % 2 ? parity32 : 0, "uint xor");
    CHECK_INT(t->xor64, npes % 2 ? parity64 : 0, "uint64 fetch_xor");
    CHECK_INT(t->or32, 0xffffffffu, "uint or");
    CHECK_INT(t->or64, UINT64_C(0xffffffffffffffff), "uint64 fetch_or");
    CHECK_INT(t->and32, 0, "uint and");
    CHECK_INT(t->and64, 0, "uint64 fetch_and");
    CHECK_INT(t->signals, 2 * total, "signal_add");
    for (long i = 0; i < total; i++)
        CHECK(seen32[i] == 1 && seen64[i] == 1, "no PE fetched %ld (int %d, long %d)", i, seen32[i],
              seen64[i]);
}

// Runs the rounds. Each swap hands on its token plus one: the tokens in the object and in all hands
// are the number of swaps.
static void run(struct target *t, int pe, const char *where)
{
    memset(t, 0, sizeof *t);
    t->and32 = 0xffffffffu;
    t->and64 = UINT64_C(0xffffffffffffffff);
    memset(seen32, 0, (size_t)rounds * (size_t)npes);
    memset(seen64, 0, (size_t)rounds * (size_t)npes);
    sum_of_tokens = 0;
    sum_of_doubles = 0;
    shmem_barrier_all();
    hammer(t, pe);
    shmem_barrier_all();
    if (me == 0) {
        struct target result;
        long swaps = (long)rounds * npes;
        shmem_getmem(&result, t, sizeof result, pe);
        expect_totals(&result);
        CHECK(sum_of_tokens + (long)result.swap_token + (long)result.swap_float == 2 * swaps,
              "%s: swap of ulong and float: expected %ld tokens, got %ld", where, 2 * swaps,
              sum_of_tokens + (long)result.swap_token + (long)result.swap_float);
        CHECK(sum_of_doubles + result.swap_double == (double)swaps,
              "%s: swap of double: expected %ld tokens, got %g", where, swaps,
              sum_of_doubles + result.swap_double);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    on_heap = (struct target *)shmem_malloc(sizeof *on_heap);
    seen32 = (unsigned char *)shmem_malloc((size_t)rounds * (size_t)npes);
    seen64 = (unsigned char *)shmem_malloc((size_t)rounds * (size_t)npes);
    CHECK(on_heap != NULL && seen32 != NULL && seen64 != NULL, "shmem_malloc returned NULL");
    run(on_heap, 0, "heap");
    run(&in_data, npes - 1, ".data");
    run(&in_bss, 0, ".bss");
    shmem_free(seen64);
    shmem_free(seen32);
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
