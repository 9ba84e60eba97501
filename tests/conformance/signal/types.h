// put_signal and put_signal_nbi for all types and sizes, with and without a context, both signal
// operators, data and signal on different kinds of symmetric objects. The includer chooses language
// and names.
#include "check.h"

enum { MOST_BYTES = 4096 * 16, GUARD = 16 };

typedef void (*put_signal_fn)(void *dest, const void *source, size_t nelems, uint64_t *sig,
                              uint64_t signal, int op, int pe);

struct routine {
    const char *name;
    size_t size;
    int nonblocking;
    put_signal_fn call;
};

#define WRAP_ONE(NAME, TYPE, STEM)                                                                 \
    static void STEM##_##NAME(void *d, const void *s, size_t n, uint64_t *sig, uint64_t signal,    \
                              int op, int pe)                                                      \
    {                                                                                              \
        PLAIN(NAME, STEM)((TYPE *)d, (const TYPE *)s, n, sig, signal, op, pe);                     \
    }                                                                                              \
    static void ctx_##STEM##_##NAME(void *d, const void *s, size_t n, uint64_t *sig,               \
                                    uint64_t signal, int op, int pe)                               \
    {                                                                                              \
        WITH_CTX(NAME, STEM)                                                                       \
        (CTX, (TYPE *)d, (const TYPE *)s, n, sig, signal, op, pe);                                 \
    }

#define WRAP(NAME, TYPE) WRAP_ONE(NAME, TYPE, put_signal) WRAP_ONE(NAME, TYPE, put_signal_nbi)

#define WRAP_SIZE(BITS, BYTES)                                                                     \
    static void ctx_put##BITS##_signal(void *d, const void *s, size_t n, uint64_t *sig,            \
                                       uint64_t signal, int op, int pe)                            \
    {                                                                                              \
        shmem_ctx_put##BITS##_signal(CTX, d, s, n, sig, signal, op, pe);                           \
    }                                                                                              \
    static void ctx_put##BITS##_signal_nbi(void *d, const void *s, size_t n, uint64_t *sig,        \
                                           uint64_t signal, int op, int pe)                        \
    {                                                                                              \
        shmem_ctx_put##BITS##_signal_nbi(CTX, d, s, n, sig, signal, op, pe);                       \
    }

RMA_TYPES(WRAP)
RMA_SIZES(WRAP_SIZE)
WRAP_SIZE(mem, 1)

#define ROW(NAME, TYPE)                                                                            \
    {#NAME " put_signal", sizeof(TYPE), 0, put_signal_##NAME},                                     \
    {#NAME " put_signal with ctx", sizeof(TYPE), 0, ctx_put_signal_##NAME},                        \
    {#NAME " put_signal_nbi", sizeof(TYPE), 1, put_signal_nbi_##NAME},                             \
    {#NAME " put_signal_nbi with ctx", sizeof(TYPE), 1, ctx_put_signal_nbi_##NAME},

#define ROW_SIZE(BITS, BYTES)                                                                      \
    {"put" #BITS "_signal", BYTES, 0, shmem_put##BITS##_signal},                                   \
    {"ctx_put" #BITS "_signal", BYTES, 0, ctx_put##BITS##_signal},                                 \
    {"put" #BITS "_signal_nbi", BYTES, 1, shmem_put##BITS##_signal_nbi},                           \
    {"ctx_put" #BITS "_signal_nbi", BYTES, 1, ctx_put##BITS##_signal_nbi},

static const struct routine ROUTINES[] = {RMA_TYPES(ROW) RMA_SIZES(ROW_SIZE) ROW_SIZE(mem, 1)};

static const size_t COUNTS[] = {0, 1, 2, 33, 4096};

// Aligned for every type.
static long double in_bss[(MOST_BYTES + 2 * GUARD) / sizeof(long double)];
static uint64_t signal_in_data = 99;
static uint64_t signal_in_bss;
static int me, npes;

static unsigned char byte_of(int pe, int round, size_t i)
{
    return (unsigned char)((size_t)(pe * 17 + round * 29) + i * 3 + (i >> 8));
}

// Puts to the right neighbour, waits for the left one's put, and looks at every byte.
static void exchange(const struct routine *r, unsigned char *object, uint64_t *sig, size_t nelems,
                     int op, int round)
{
    static uint64_t source_words[MOST_BYTES / 8];
    unsigned char *source = (unsigned char *)source_words, *data = object + GUARD;
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    size_t length = nelems * r->size;
    uint64_t start = 1000 + (uint64_t)round, signal = (uint64_t)round << 40 | 5, want, got;

    memset(object, 0x3c, GUARD + length + GUARD);
    for (size_t i = 0; i < length; i++)
        source[i] = byte_of(me, round, i);
    *sig = start;
    shmem_barrier_all();
    r->call(nelems == 0 ? NULL : data, nelems == 0 ? NULL : source, nelems, sig, signal, op, right);
    if (!r->nonblocking)
        memset(source, 0xff, length);
    want = op == SHMEM_SIGNAL_SET ? signal : start + signal;
    got = shmem_signal_wait_until(sig, SHMEM_CMP_NE, start);
    CHECK(got == want, "%s of %zu elements, %s: expected signal 0x%llx, got 0x%llx", r->name,
          nelems, op == SHMEM_SIGNAL_SET ? "SET" : "ADD", (unsigned long long)want,
          (unsigned long long)got);
    CHECK(shmem_signal_fetch(sig) == want, "%s: signal_fetch after the wait: expected 0x%llx",
          r->name, (unsigned long long)want);
    for (size_t i = 0; i < length; i++)
        CHECK(data[i] == byte_of(left, round, i),
              "%s of %zu elements by PE %d: byte %zu after its signal: expected 0x%02x, got 0x%02x",
              r->name, nelems, left, i, byte_of(left, round, i), data[i]);
    for (size_t i = 0; i < GUARD; i++)
        CHECK(object[i] == 0x3c && data[length + i] == 0x3c,
              "%s of %zu elements: changed what lies beside the data", r->name, nelems);
    shmem_quiet();
    CTX_COMPLETE();
    shmem_barrier_all();
}

int main(void)
{
    static uint64_t signal_in_function;
    int round = 0;

    shmem_init();
    CTX_BEGIN();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    unsigned char *on_heap = (unsigned char *)shmem_malloc(sizeof in_bss);
    uint64_t *signal_on_heap = (uint64_t *)shmem_malloc(sizeof *signal_on_heap);
    CHECK(on_heap != NULL && signal_on_heap != NULL, "shmem_malloc returned NULL");
    uint64_t *const signals[] = {signal_on_heap, &signal_in_data, &signal_in_bss,
                                 &signal_in_function};

    for (size_t r = 0; r < COUNT_OF(ROUTINES); r++)
        for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
            unsigned char *object = (r + c) % 2 == 0 ? on_heap : (unsigned char *)in_bss;
            uint64_t *sig = signals[(r / 2 + c) % COUNT_OF(signals)];
            exchange(&ROUTINES[r], object, sig, COUNTS[c], SHMEM_SIGNAL_SET, ++round);
            exchange(&ROUTINES[r], object, sig, COUNTS[c], SHMEM_SIGNAL_ADD, ++round);
        }
    shmem_free(signal_on_heap);
    shmem_free(on_heap);
    CTX_END();
    shmem_finalize();
    return 0;
}
