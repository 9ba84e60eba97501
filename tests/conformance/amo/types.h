// Every atomic operation with every type that it has, with and without a context, fetching forms
// both blocking and nonblocking, between all pairs of PEs: the value fetched, the value left, and
// that the neighbours of the target do not change. The includer chooses language and names.
#include "check.h"

// Operations are tried so many at once, each on a part of an object of its own: barriers between
// them all would take most of the time.
enum { MAX_PES = 8, STRIDE = 3, AT_ONCE = 64 };

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

enum effect { KEEP, SET, INC, ADD, AND, OR, XOR };

static word apply(enum effect effect, word old, word value)
{
    switch (effect) {
    case KEEP:
        return old;
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

// An operation: one of the functions, the others are NULL.
struct op {
    const char *name;
    size_t size;
    enum effect effect;
    fetch_fn fetch;
    fetching_fn fetching;
    update_fn update;
    cswap_fn cswap;
};

static int me, npes;
static long in_data[AT_ONCE * MAX_PES * STRIDE] = {1};
static long in_bss[AT_ONCE * MAX_PES * STRIDE];

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

// Returns the part of an object that the operation tried as number `number` works on.
static unsigned char *part(void *object, size_t number)
{
    return (unsigned char *)object + number * MAX_PES * STRIDE * sizeof(long);
}

// Returns the slot of a PE in a part, with a neighbour of the same size on both sides.
static unsigned char *slot(unsigned char *in, size_t size, int writer)
{
    return in + (size_t)(writer * STRIDE + 1) * size;
}

// Sets the slots of all PEs in a part of one's own object, and their neighbours to 0xa5.
static void prepare(const struct op *op, unsigned char *in, word value)
{
    memset(in, 0xa5, (size_t)(MAX_PES * STRIDE) * op->size);
    for (int pe = 0; pe < npes; pe++)
        memcpy(slot(in, op->size, pe), &value, op->size);
}

// Checks that all slots in a part of one's own object hold `want`, and that their neighbours are
// unchanged.
static void expect_all(const struct op *op, unsigned char *in, word want)
{
    size_t size = op->size;

    for (int writer = 0; writer < npes; writer++) {
        unsigned char *at = slot(in, size, writer);
        word got = 0;
        memcpy(&got, at, size);
        CHECK(low(size, got) == low(size, want),
              "%s by PE %d: left 0x%llx in its target, expected 0x%llx", op->name, writer,
              (unsigned long long)got, (unsigned long long)low(size, want));
        for (size_t i = 0; i < size; i++)
            CHECK(at[i - size] == 0xa5 && at[i + size] == 0xa5,
                  "%s by PE %d: changed what lies beside its target", op->name, writer);
    }
}

static void expect_fetched(const struct op *op, int pe, word got, word want)
{
    CHECK(low(op->size, got) == low(op->size, want),
          "%s on PE %d: expected to fetch 0x%llx, got 0x%llx", op->name, pe,
          (unsigned long long)low(op->size, want), (unsigned long long)low(op->size, got));
}

// Does an operation on each PE, and checks what it fetches: of a compare-and-swap one that must
// miss by a single bit, and one that must hit.
static void apply_to_all(const struct op *op, unsigned char *in, word old, word value)
{
    unsigned char *at = slot(in, op->size, me);

    for (int pe = 0; pe < npes; pe++) {
        if (op->fetch) {
            expect_fetched(op, pe, op->fetch(at, pe), old);
        } else if (op->fetching) {
            expect_fetched(op, pe, op->fetching(at, value, pe), old);
        } else if (op->update) {
            op->update(at, value, pe);
        } else {
            word miss = old ^ (UINT64_C(1) << (op->size * 8 - 1));
            expect_fetched(op, pe, op->cswap(at, miss, ~value, pe), old);
            expect_fetched(op, pe, op->cswap(at, old, value, pe), old);
        }
    }
}

AMO_EXTENDED_TYPES(WRAP_EXTENDED)
AMO_TYPES(WRAP_STANDARD)
AMO_BITWISE_TYPES(WRAP_BITWISE)

#define ROW_OF_FETCH(NAME, TYPE, WHAT, CALL)                                                       \
    {#NAME " atomic_" WHAT, sizeof(TYPE), KEEP, CALL##_##NAME, NULL, NULL, NULL},

#define ROW_FETCH(NAME, TYPE)                                                                      \
    ROW_OF_FETCH(NAME, TYPE, "fetch", fetch)                                                       \
    ROW_OF_FETCH(NAME, TYPE, "fetch with ctx", ctx_fetch)                                          \
    ROW_OF_FETCH(NAME, TYPE, "fetch_nbi", fetch_nbi)                                               \
    ROW_OF_FETCH(NAME, TYPE, "fetch_nbi with ctx", ctx_fetch_nbi)

#define ROW_OF_FETCHING(NAME, TYPE, WHAT, EFFECT, CALL)                                            \
    {#NAME " atomic_" WHAT, sizeof(TYPE), EFFECT, NULL, CALL##_##NAME, NULL, NULL},

#define ROWS_FETCHING(NAME, TYPE, OP, EFFECT)                                                      \
    ROW_OF_FETCHING(NAME, TYPE, #OP, EFFECT, OP)                                                   \
    ROW_OF_FETCHING(NAME, TYPE, #OP " with ctx", EFFECT, ctx_##OP)                                 \
    ROW_OF_FETCHING(NAME, TYPE, #OP "_nbi", EFFECT, OP##_nbi)                                      \
    ROW_OF_FETCHING(NAME, TYPE, #OP "_nbi with ctx", EFFECT, ctx_##OP##_nbi)

#define ROW_OF_UPDATE(NAME, TYPE, WHAT, EFFECT, CALL)                                              \
    {#NAME " atomic_" WHAT, sizeof(TYPE), EFFECT, NULL, NULL, CALL##_##NAME, NULL},

#define ROWS_UPDATE(NAME, TYPE, OP, EFFECT)                                                        \
    ROW_OF_UPDATE(NAME, TYPE, #OP, EFFECT, OP)                                                     \
    ROW_OF_UPDATE(NAME, TYPE, #OP " with ctx", EFFECT, ctx_##OP)

#define ROW_OF_CSWAP(NAME, TYPE, WHAT, CALL)                                                       \
    {#NAME " atomic_" WHAT, sizeof(TYPE), SET, NULL, NULL, NULL, CALL##_##NAME},

#define ROW_CSWAP(NAME, TYPE)                                                                      \
    ROW_OF_CSWAP(NAME, TYPE, "compare_swap", cswap)                                                \
    ROW_OF_CSWAP(NAME, TYPE, "compare_swap with ctx", ctx_cswap)                                   \
    ROW_OF_CSWAP(NAME, TYPE, "compare_swap_nbi", cswap_nbi)                                        \
    ROW_OF_CSWAP(NAME, TYPE, "compare_swap_nbi with ctx", ctx_cswap_nbi)

#define ROW_SWAP(NAME, TYPE) ROWS_FETCHING(NAME, TYPE, swap, SET)
#define ROW_SET(NAME, TYPE) ROWS_UPDATE(NAME, TYPE, set, SET)

#define ROW_FETCHING(NAME, TYPE)                                                                   \
    ROWS_FETCHING(NAME, TYPE, fetch_inc, INC)                                                      \
    ROWS_FETCHING(NAME, TYPE, fetch_add, ADD)

#define ROW_UPDATE(NAME, TYPE)                                                                     \
    ROWS_UPDATE(NAME, TYPE, inc, INC)                                                              \
    ROWS_UPDATE(NAME, TYPE, add, ADD)

#define ROW_BIT_FETCHING(NAME, TYPE)                                                               \
    ROWS_FETCHING(NAME, TYPE, fetch_and, AND)                                                      \
    ROWS_FETCHING(NAME, TYPE, fetch_or, OR)                                                        \
    ROWS_FETCHING(NAME, TYPE, fetch_xor, XOR)

#define ROW_BIT_UPDATE(NAME, TYPE)                                                                 \
    ROWS_UPDATE(NAME, TYPE, and, AND)                                                              \
    ROWS_UPDATE(NAME, TYPE, or, OR)                                                                \
    ROWS_UPDATE(NAME, TYPE, xor, XOR)

static const struct op OPS[] = {
    AMO_EXTENDED_TYPES(ROW_FETCH) AMO_EXTENDED_TYPES(ROW_SWAP) AMO_TYPES(ROW_FETCHING)
        AMO_BITWISE_TYPES(ROW_BIT_FETCHING) AMO_EXTENDED_TYPES(ROW_SET) AMO_TYPES(ROW_UPDATE)
            AMO_BITWISE_TYPES(ROW_BIT_UPDATE) AMO_TYPES(ROW_CSWAP)};

// Tries operations from number `first` on, on objects that hold `old`. The operand goes round from
// one operation to the next, so that each meets several values on each kind of object.
static void try_some(size_t first, size_t count, void *object, word old, const word *operands)
{
    for (size_t i = 0; i < count; i++)
        prepare(&OPS[first + i], part(object, i), old);
    shmem_barrier_all();
    for (size_t i = 0; i < count; i++)
        apply_to_all(&OPS[first + i], part(object, i), old, operands[i]);
    CTX_COMPLETE();
    shmem_barrier_all();
    for (size_t i = 0; i < count; i++) {
        const struct op *op = &OPS[first + i];
        expect_all(op, part(object, i), apply(op->effect, old, operands[i]));
    }
}

static void try_all(void *object, size_t rounds)
{
    size_t pair = 0;

    for (size_t round = 0; round < rounds; round++)
        for (size_t first = 0; first < COUNT_OF(OPS); first += AT_ONCE) {
            word operands[AT_ONCE];
            size_t count = COUNT_OF(OPS) - first;
            if (count > AT_ONCE)
                count = AT_ONCE;
            for (size_t i = 0; i < count; i++)
                operands[i] = VALUES[++pair % COUNT_OF(VALUES)];
            try_some(first, count, object, VALUES[round % COUNT_OF(VALUES)], operands);
        }
}

int main(void)
{
    static long in_function[AT_ONCE * MAX_PES * STRIDE];

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
