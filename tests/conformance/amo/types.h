// Every atomic operation with every type that it has, with and without a context, fetching forms
// both blocking and nonblocking, between all pairs of PEs: the value fetched, the value left, and
// that the neighbours of the target do not change. The includer chooses language and names.
#include "check.h"

enum { MAX_PES = 8, STRIDE = 3 };

// Values travel as the low bytes of a 64-bit word, so that one test fits all types.
typedef uint64_t word;

typedef word (*fetch_fn)(const void *source, int pe);
typedef word (*fetching_fn)(void *dest, word value, int pe);
typedef word (*cswap_fn)(void *dest, word cond, word value, int pe);
typedef void (*update_fn)(void *dest, word value, int pe);

// WRAP_*(NAME, TYPE): fetching_* take and return words; the nbi forms are completed by quiet.
#define WORDS(NAME, TYPE)                                                                          \
    static TYPE in_##NAME(word w)                                                                  \
    {                                                                                              \
        TYPE value;                                                                                \
        memcpy(&value, &w, sizeof value);                                                          \
        return value;                                                                              \
    }                                                                                              \
    static word out_##NAME(TYPE value)                                                             \
    {                                                                                              \
        word w = 0;                                                                                \
        memcpy(&w, &value, sizeof value);                                                          \
        return w;                                                                                  \
    }

#define WRAP_FETCH(NAME, TYPE)                                                                     \
    static word fetch_##NAME(const void *s, int pe)                                                \
    {                                                                                              \
        return out_##NAME(PLAIN(NAME, atomic_fetch)((const TYPE *)s, pe));                         \
    }                                                                                              \
    static word ctx_fetch_##NAME(const void *s, int pe)                                            \
    {                                                                                              \
        return out_##NAME(WITH_CTX(NAME, atomic_fetch)(CTX, (const TYPE *)s, pe));                 \
    }                                                                                              \
    static word fetch_nbi_##NAME(const void *s, int pe)                                            \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        PLAIN(NAME, atomic_fetch_nbi)(&fetched, (const TYPE *)s, pe);                              \
        shmem_quiet();                                                                             \
        return out_##NAME(fetched);                                                                \
    }                                                                                              \
    static word ctx_fetch_nbi_##NAME(const void *s, int pe)                                        \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        WITH_CTX(NAME, atomic_fetch_nbi)(CTX, &fetched, (const TYPE *)s, pe);                      \
        shmem_ctx_quiet(CTX);                                                                      \
        return out_##NAME(fetched);                                                                \
    }

// A fetching operation with one operand: swap, fetch_add, fetch_and, fetch_or, fetch_xor.
#define WRAP_FETCHING(NAME, TYPE, OP)                                                              \
    static word OP##_##NAME(void *d, word w, int pe)                                               \
    {                                                                                              \
        return out_##NAME(PLAIN(NAME, atomic_##OP)((TYPE *)d, in_##NAME(w), pe));                  \
    }                                                                                              \
    static word ctx_##OP##_##NAME(void *d, word w, int pe)                                         \
    {                                                                                              \
        return out_##NAME(                                                                         \
            WITH_CTX(NAME, atomic_##OP)(CTX, (TYPE *)d, in_##NAME(w), pe));                        \
    }                                                                                              \
    static word OP##_nbi_##NAME(void *d, word w, int pe)                                           \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        PLAIN(NAME, atomic_##OP##_nbi)(&fetched, (TYPE *)d, in_##NAME(w), pe);                     \
        shmem_quiet();                                                                             \
        return out_##NAME(fetched);                                                                \
    }                                                                                              \
    static word ctx_##OP##_nbi_##NAME(void *d, word w, int pe)                                     \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        WITH_CTX(NAME, atomic_##OP##_nbi)                                                          \
        (CTX, &fetched, (TYPE *)d, in_##NAME(w), pe);                                              \
        shmem_ctx_quiet(CTX);                                                                      \
        return out_##NAME(fetched);                                                                \
    }

#define WRAP_FETCH_INC(NAME, TYPE)                                                                 \
    static word fetch_inc_##NAME(void *d, word w, int pe)                                          \
    {                                                                                              \
        (void)w;                                                                                   \
        return out_##NAME(PLAIN(NAME, atomic_fetch_inc)((TYPE *)d, pe));                           \
    }                                                                                              \
    static word ctx_fetch_inc_##NAME(void *d, word w, int pe)                                      \
    {                                                                                              \
        (void)w;                                                                                   \
        return out_##NAME(WITH_CTX(NAME, atomic_fetch_inc)(CTX, (TYPE *)d, pe));                   \
    }                                                                                              \
    static word fetch_inc_nbi_##NAME(void *d, word w, int pe)                                      \
    {                                                                                              \
        TYPE fetched = in_##NAME(w);                                                               \
        PLAIN(NAME, atomic_fetch_inc_nbi)(&fetched, (TYPE *)d, pe);                                \
        shmem_quiet();                                                                             \
        return out_##NAME(fetched);                                                                \
    }                                                                                              \
    static word ctx_fetch_inc_nbi_##NAME(void *d, word w, int pe)                                  \
    {                                                                                              \
        TYPE fetched = in_##NAME(w);                                                               \
        WITH_CTX(NAME, atomic_fetch_inc_nbi)(CTX, &fetched, (TYPE *)d, pe);                        \
        shmem_ctx_quiet(CTX);                                                                      \
        return out_##NAME(fetched);                                                                \
    }                                                                                              \
    static void inc_##NAME(void *d, word w, int pe)                                                \
    {                                                                                              \
        (void)w;                                                                                   \
        PLAIN(NAME, atomic_inc)((TYPE *)d, pe);                                                    \
    }                                                                                              \
    static void ctx_inc_##NAME(void *d, word w, int pe)                                            \
    {                                                                                              \
        (void)w;                                                                                   \
        WITH_CTX(NAME, atomic_inc)(CTX, (TYPE *)d, pe);                                            \
    }

// A nonfetching operation with one operand: set, add, and, or, xor.
#define WRAP_UPDATE(NAME, TYPE, OP)                                                                \
    static void OP##_##NAME(void *d, word w, int pe)                                               \
    {                                                                                              \
        PLAIN(NAME, atomic_##OP)((TYPE *)d, in_##NAME(w), pe);                                     \
    }                                                                                              \
    static void ctx_##OP##_##NAME(void *d, word w, int pe)                                         \
    {                                                                                              \
        WITH_CTX(NAME, atomic_##OP)(CTX, (TYPE *)d, in_##NAME(w), pe);                             \
    }

#define WRAP_CSWAP(NAME, TYPE)                                                                     \
    static word cswap_##NAME(void *d, word c, word w, int pe)                                      \
    {                                                                                              \
        return out_##NAME(                                                                         \
            PLAIN(NAME, atomic_compare_swap)((TYPE *)d, in_##NAME(c), in_##NAME(w), pe));          \
    }                                                                                              \
    static word ctx_cswap_##NAME(void *d, word c, word w, int pe)                                  \
    {                                                                                              \
        return out_##NAME(WITH_CTX(NAME, atomic_compare_swap)(CTX, (TYPE *)d,                      \
                                                              in_##NAME(c), in_##NAME(w), pe));    \
    }                                                                                              \
    static word cswap_nbi_##NAME(void *d, word c, word w, int pe)                                  \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        PLAIN(NAME, atomic_compare_swap_nbi)                                                       \
        (&fetched, (TYPE *)d, in_##NAME(c), in_##NAME(w), pe);                                     \
        shmem_quiet();                                                                             \
        return out_##NAME(fetched);                                                                \
    }                                                                                              \
    static word ctx_cswap_nbi_##NAME(void *d, word c, word w, int pe)                              \
    {                                                                                              \
        TYPE fetched = in_##NAME(0);                                                               \
        WITH_CTX(NAME, atomic_compare_swap_nbi)                                                    \
        (CTX, &fetched, (TYPE *)d, in_##NAME(c), in_##NAME(w), pe);                                \
        shmem_ctx_quiet(CTX);                                                                      \
        return out_##NAME(fetched);                                                                \
    }

#define WRAP_EXTENDED(NAME, TYPE)                                                                  \
    WORDS(NAME, TYPE)                                                                              \
    WRAP_FETCH(NAME, TYPE)                                                                         \
    WRAP_UPDATE(NAME, TYPE, set)                                                                   \
    WRAP_FETCHING(NAME, TYPE, swap)

#define WRAP_STANDARD(NAME, TYPE)                                                                  \
    WRAP_CSWAP(NAME, TYPE)                                                                         \
    WRAP_FETCH_INC(NAME, TYPE)                                                                     \
    WRAP_FETCHING(NAME, TYPE, fetch_add)                                                           \
    WRAP_UPDATE(NAME, TYPE, add)

#define WRAP_BITWISE(NAME, TYPE)                                                                   \
    WRAP_FETCHING(NAME, TYPE, fetch_and)                                                           \
    WRAP_FETCHING(NAME, TYPE, fetch_or)                                                            \
    WRAP_FETCHING(NAME, TYPE, fetch_xor)                                                           \
    WRAP_UPDATE(NAME, TYPE, and)                                                                   \
    WRAP_UPDATE(NAME, TYPE, or)                                                                    \
    WRAP_UPDATE(NAME, TYPE, xor)

enum effect { SET, INC, ADD, AND, OR, XOR };

static word apply(enum effect effect, word old, word value)
{
    switch (effect) {
    case SET:
        return value;
    case INC:
        return old + 1;
    case ADD:
        return old + value;
    case AND:
        return old & value;
    case OR:
        return old | value;
    case XOR:
        return old ^ value;
    }
    return 0;
}

struct fetch {
    const char *name;
    size_t size;
    fetch_fn call;
};

struct fetching {
    const char *name;
    size_t size;
    enum effect effect;
    fetching_fn call;
};

struct update {
    const char *name;
    size_t size;
    enum effect effect;
    update_fn call;
};

struct cswap {
    const char *name;
    size_t size;
    cswap_fn call;
};

static int me, npes;
static long in_data[MAX_PES * STRIDE] = {1};
static long in_bss[MAX_PES * STRIDE];

static const word VALUES[] = {0,
                              1,
                              UINT64_C(0xffffffffffffffff),
                              UINT64_C(0x7fffffff7fffffff),
                              UINT64_C(0x8000000080000000),
                              UINT64_C(0x0123456789abcdef),
                              UINT64_C(0xfedcba9876543210)};

static word low(size_t size, word value)
{
    return size == 8 ? value : value & UINT64_C(0xffffffff);
}

// Returns the slot of a PE in an object, with a neighbour of the same size on both sides.
static unsigned char *slot(void *object, size_t size, int writer)
{
    return (unsigned char *)object + (size_t)(writer * STRIDE + 1) * size;
}

// Sets the slots of all PEs in one's own object, and their neighbours to 0xa5.
static void prepare(void *object, size_t size, word value)
{
    shmem_barrier_all();
    memset(object, 0xa5, (size_t)(MAX_PES * STRIDE) * size);
    for (int pe = 0; pe < npes; pe++)
        memcpy(slot(object, size, pe), &value, size);
    shmem_barrier_all();
}

// Checks after a barrier that all slots of one's own object hold `want`, and that their neighbours
// are unchanged.
static void expect_all(void *object, size_t size, word want, const char *name)
{
    shmem_barrier_all();
    for (int writer = 0; writer < npes; writer++) {
        unsigned char *at = slot(object, size, writer);
        word got = 0;
        memcpy(&got, at, size);
        CHECK(got == low(size, want),
              "%s by PE %d: left 0x%llx in its target, expected 0x%llx", name, writer,
              (unsigned long long)got, (unsigned long long)low(size, want));
        for (size_t i = 0; i < size; i++)
            CHECK(at[i - size] == 0xa5 && at[i + size] == 0xa5,
                  "%s by PE %d: changed what lies beside its target", name, writer);
    }
}

static void expect_fetched(const char *name, size_t size, int pe, word got, word want)
{
    CHECK(low(size, got) == low(size, want), "%s on PE %d: expected to fetch 0x%llx, got 0x%llx",
          name, pe, (unsigned long long)low(size, want), (unsigned long long)low(size, got));
}

static void try_fetch(const struct fetch *op, void *object, word old)
{
    prepare(object, op->size, old);
    for (int pe = 0; pe < npes; pe++)
        expect_fetched(op->name, op->size, pe, op->call(slot(object, op->size, me), pe), old);
    expect_all(object, op->size, old, op->name);
}

static void try_fetching(const struct fetching *op, void *object, word old, word value)
{
    prepare(object, op->size, old);
    for (int pe = 0; pe < npes; pe++)
        expect_fetched(op->name, op->size, pe, op->call(slot(object, op->size, me), value, pe),
                       old);
    expect_all(object, op->size, apply(op->effect, old, value), op->name);
}

static void try_update(const struct update *op, void *object, word old, word value)
{
    prepare(object, op->size, old);
    for (int pe = 0; pe < npes; pe++)
        op->call(slot(object, op->size, me), value, pe);
    CTX_COMPLETE();
    expect_all(object, op->size, apply(op->effect, old, value), op->name);
}

// Tries one compare-and-swap that must hit and one that must miss by a single bit.
static void try_cswap(const struct cswap *op, void *object, word old, word value)
{
    prepare(object, op->size, old);
    for (int pe = 0; pe < npes; pe++) {
        unsigned char *at = slot(object, op->size, me);
        word miss = old ^ (UINT64_C(1) << (op->size * 8 - 1));
        expect_fetched(op->name, op->size, pe, op->call(at, miss, ~value, pe), old);
        expect_fetched(op->name, op->size, pe, op->call(at, old, value, pe), old);
    }
    expect_all(object, op->size, value, op->name);
}

AMO_EXTENDED_TYPES(WRAP_EXTENDED)
AMO_TYPES(WRAP_STANDARD)
AMO_BITWISE_TYPES(WRAP_BITWISE)

#define ROW_FETCH(NAME, TYPE)                                                                      \
    {#NAME " atomic_fetch", sizeof(TYPE), fetch_##NAME},                                           \
    {#NAME " atomic_fetch with ctx", sizeof(TYPE), ctx_fetch_##NAME},                              \
    {#NAME " atomic_fetch_nbi", sizeof(TYPE), fetch_nbi_##NAME},                                   \
    {#NAME " atomic_fetch_nbi with ctx", sizeof(TYPE), ctx_fetch_nbi_##NAME},

#define ROWS_FETCHING(NAME, TYPE, OP, EFFECT)                                                      \
    {#NAME " atomic_" #OP, sizeof(TYPE), EFFECT, OP##_##NAME},                                     \
    {#NAME " atomic_" #OP " with ctx", sizeof(TYPE), EFFECT, ctx_##OP##_##NAME},                   \
    {#NAME " atomic_" #OP "_nbi", sizeof(TYPE), EFFECT, OP##_nbi_##NAME},                          \
    {#NAME " atomic_" #OP "_nbi with ctx", sizeof(TYPE), EFFECT, ctx_##OP##_nbi_##NAME},

#define ROWS_UPDATE(NAME, TYPE, OP, EFFECT)                                                        \
    {#NAME " atomic_" #OP, sizeof(TYPE), EFFECT, OP##_##NAME},                                     \
    {#NAME " atomic_" #OP " with ctx", sizeof(TYPE), EFFECT, ctx_##OP##_##NAME},

#define ROW_SWAP(NAME, TYPE) ROWS_FETCHING(NAME, TYPE, swap, SET)
#define ROW_SET(NAME, TYPE) ROWS_UPDATE(NAME, TYPE, set, SET)

#define ROW_FETCHING(NAME, TYPE)                                                                   \
    ROWS_FETCHING(NAME, TYPE, fetch_inc, INC)                                                      \
    ROWS_FETCHING(NAME, TYPE, fetch_add, ADD)

#define ROW_UPDATE(NAME, TYPE)                                                                     \
    ROWS_UPDATE(NAME, TYPE, inc, INC)                                                              \
    ROWS_UPDATE(NAME, TYPE, add, ADD)

#define ROW_CSWAP(NAME, TYPE)                                                                      \
    {#NAME " atomic_compare_swap", sizeof(TYPE), cswap_##NAME},                                    \
    {#NAME " atomic_compare_swap with ctx", sizeof(TYPE), ctx_cswap_##NAME},                       \
    {#NAME " atomic_compare_swap_nbi", sizeof(TYPE), cswap_nbi_##NAME},                            \
    {#NAME " atomic_compare_swap_nbi with ctx", sizeof(TYPE), ctx_cswap_nbi_##NAME},

#define ROW_BIT_FETCHING(NAME, TYPE)                                                               \
    ROWS_FETCHING(NAME, TYPE, fetch_and, AND)                                                      \
    ROWS_FETCHING(NAME, TYPE, fetch_or, OR)                                                        \
    ROWS_FETCHING(NAME, TYPE, fetch_xor, XOR)

#define ROW_BIT_UPDATE(NAME, TYPE)                                                                 \
    ROWS_UPDATE(NAME, TYPE, and, AND)                                                              \
    ROWS_UPDATE(NAME, TYPE, or, OR)                                                                \
    ROWS_UPDATE(NAME, TYPE, xor, XOR)

static const struct fetch FETCHES[] = {AMO_EXTENDED_TYPES(ROW_FETCH)};
static const struct cswap CSWAPS[] = {AMO_TYPES(ROW_CSWAP)};
static const struct fetching FETCHINGS[] = {AMO_EXTENDED_TYPES(ROW_SWAP) AMO_TYPES(ROW_FETCHING)
                                                AMO_BITWISE_TYPES(ROW_BIT_FETCHING)};
static const struct update UPDATES[] = {AMO_EXTENDED_TYPES(ROW_SET) AMO_TYPES(ROW_UPDATE)
                                            AMO_BITWISE_TYPES(ROW_BIT_UPDATE)};

// Runs all operations; the pairs of old value and operand go round from one operation to the next
// so that each operation meets several of them on each kind of object.
static void try_all(void *object, size_t rounds)
{
    size_t pair = 0;

    for (size_t round = 0; round < rounds; round++) {
        word old = VALUES[round % COUNT_OF(VALUES)];
        for (size_t i = 0; i < COUNT_OF(FETCHES); i++)
            try_fetch(&FETCHES[i], object, old);
        for (size_t i = 0; i < COUNT_OF(FETCHINGS); i++)
            try_fetching(&FETCHINGS[i], object, old, VALUES[++pair % COUNT_OF(VALUES)]);
        for (size_t i = 0; i < COUNT_OF(UPDATES); i++)
            try_update(&UPDATES[i], object, old, VALUES[++pair % COUNT_OF(VALUES)]);
        for (size_t i = 0; i < COUNT_OF(CSWAPS); i++)
            try_cswap(&CSWAPS[i], object, old, VALUES[++pair % COUNT_OF(VALUES)]);
    }
}

int main(void)
{
    static long in_function[MAX_PES * STRIDE];

    shmem_init();
    CTX_BEGIN();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    void *on_heap = shmem_malloc(sizeof in_bss);
    CHECK(on_heap != NULL, "shmem_malloc returned NULL");

    try_all(on_heap, npes <= 3 ? COUNT_OF(VALUES) : 2);
    try_all(in_data, 2);
    try_all(in_bss, 2);
    try_all(in_function, 1);
    shmem_free(on_heap);
    CTX_END();
    shmem_finalize();
    return 0;
}
