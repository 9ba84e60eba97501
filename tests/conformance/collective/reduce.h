// All reductions and scans, over several groups of PEs, with dest apart from source and in place.
// Integers are of full width and wrap; floating-point and complex values are small whole numbers,
// so that every order of the operations gives the same. The includer has the lists of types and
// defines CALL_REDUCE, which runs a reduction and gives its status, and SCAN_CASES.
#include "group.h"
#include "values.h"

enum op { AND, OR, XOR, MAX, MIN, SUM, PROD, INSCAN, EXSCAN, OPS };
static const char *const OP_NAMES[OPS] = {"and", "or",   "xor",    "max",   "min",
                                          "sum", "prod", "inscan", "exscan"};

enum { REDUCE_ELEMENTS = 23, GUARDS = 2, REDUCE_WORDS = (REDUCE_ELEMENTS + GUARDS) * 2 };

struct reducer {
    const char *name;
    size_t size;
    void (*set)(void *element, uint64_t seed, enum op op);
    // acc = acc OP the value of the seed
    void (*combine)(void *acc, uint64_t seed, enum op op);
    int (*equal)(const void *got, const void *want);
    enum op first; // the type has this operation and all that follow
    int (*run)(enum op op, const struct group *g, void *dest, const void *source, size_t n);
};

// The value of a seed, by the kind of arithmetic.
#define INTEGER_VALUE(TYPE) (TYPE) integer_value(seed, op)
#define REAL_VALUE(TYPE) (TYPE)((int)(mix(seed) % 17) - 8)
#define COMPLEX_VALUE(TYPE) complex_value((int)(mix(seed) % 7) - 3, (int)(mix(~seed) % 7) - 3)

static inline uint64_t integer_value(uint64_t seed, enum op op)
{
    uint64_t value = mix(seed);

    if (op == AND)
        return value | mix(~seed) | mix(seed ^ 0xabc);
    if (op == OR)
        return value & mix(~seed) & mix(seed ^ 0xabc);
    return op == PROD ? value | 1 : value;
}

static inline complex_double complex_value(double re, double im)
{
    double parts[2] = {re, im};
    complex_double value;

    memcpy(&value, parts, sizeof value);
    return value;
}

#define INTEGER_COMBINE(TYPE)                                                                      \
    uint64_t wide = (uint64_t)a, other = (uint64_t)b;                                              \
    a = op == AND   ? (TYPE)(wide & other)                                                         \
        : op == OR  ? (TYPE)(wide | other)                                                         \
        : op == XOR ? (TYPE)(wide ^ other)                                                         \
        : op == MAX ? (a < b ? b : a)                                                              \
        : op == MIN ? (b < a ? b : a)                                                              \
        : op == PROD ? (TYPE)(wide * other)                                                        \
                     : (TYPE)(wide + other);

#define REAL_COMBINE(TYPE)                                                                         \
    a = op == MAX    ? (a < b ? b : a)                                                             \
        : op == MIN  ? (b < a ? b : a)                                                             \
        : op == PROD ? (TYPE)(a * b)                                                               \
                     : (TYPE)(a + b);

#define COMPLEX_COMBINE(TYPE) a = op == PROD ? (TYPE)(a * b) : (TYPE)(a + b);

#define BASICS(NAME, TYPE, KIND)                                                                   \
    static void set_##NAME(void *element, uint64_t seed, enum op op)                               \
    {                                                                                              \
        TYPE value = (TYPE)KIND##_VALUE(TYPE);                                                     \
        (void)op;                                                                                  \
        memcpy(element, &value, sizeof value);                                                     \
    }                                                                                              \
    static void combine_##NAME(void *acc, uint64_t seed, enum op op)                               \
    {                                                                                              \
        TYPE a, b;                                                                                 \
        memcpy(&a, acc, sizeof a);                                                                 \
        set_##NAME(&b, seed, op);                                                                  \
        KIND##_COMBINE(TYPE) memcpy(acc, &a, sizeof a);                                            \
    }                                                                                              \
    static int equal_##NAME(const void *got, const void *want)                                     \
    {                                                                                              \
        return *(const TYPE *)got == *(const TYPE *)want;                                          \
    }

#define CASE(NAME, TYPE, OP, STEM)                                                                 \
    case OP:                                                                                       \
        return CALL_REDUCE(NAME, TYPE, STEM);

#define BITWISE_CASES(NAME, TYPE)                                                                  \
    CASE(NAME, TYPE, AND, and) CASE(NAME, TYPE, OR, or) CASE(NAME, TYPE, XOR, xor)
#define ORDER_CASES(NAME, TYPE) CASE(NAME, TYPE, MAX, max) CASE(NAME, TYPE, MIN, min)
#define SUM_CASES(NAME, TYPE)                                                                      \
    CASE(NAME, TYPE, SUM, sum)                                                                     \
    CASE(NAME, TYPE, PROD, prod)                                                                   \
    SCAN_CASES(NAME, TYPE)

// FIRST is the first operation of CASES.
#define RUN(NAME, FIRST, CASES)                                                                    \
    enum { first_##NAME = FIRST };                                                                 \
    static int run_##NAME(enum op op, const struct group *g, void *dest, const void *source,       \
                          size_t n)                                                                \
    {                                                                                              \
        switch (op) {                                                                              \
            CASES                                                                                  \
        default:                                                                                   \
            return -1;                                                                             \
        }                                                                                          \
    }

#define REDUCER(NAME, TYPE)                                                                        \
    {#NAME, sizeof(TYPE), set_##NAME, combine_##NAME, equal_##NAME, (enum op)first_##NAME,         \
     run_##NAME},

static uint64_t reduce_source[REDUCE_WORDS] = {1}, reduce_dest[REDUCE_WORDS];
static uint64_t reduce_round;

static uint64_t reduce_seed(const struct group *g, int member, size_t index)
{
    return (reduce_round * 64 + (uint64_t)g->members[member]) * 1024 + index;
}

// Returns the result on this PE for one element.
static void expected(const struct reducer *r, const struct group *g, enum op op, size_t index,
                     void *result)
{
    int members = op == INSCAN ? g->me + 1 : op == EXSCAN ? g->me : g->size;

    memset(result, 0, r->size);
    for (int member = 0; member < members; member++)
        if (member == 0)
            r->set(result, reduce_seed(g, 0, index), op);
        else
            r->combine(result, reduce_seed(g, member, index), op);
}

static void try_reduction(const struct reducer *r, const struct group *g, enum op op, size_t n,
                          int in_place)
{
    unsigned char *source = (unsigned char *)reduce_source;
    unsigned char *dest = in_place ? source : (unsigned char *)reduce_dest;
    uint64_t want[2];

    reduce_round++;
    memset(reduce_dest, UNTOUCHED, sizeof reduce_dest);
    memset(reduce_source, UNTOUCHED, sizeof reduce_source);
    for (size_t i = 0; i < n && g->me >= 0; i++)
        r->set(source + i * r->size, reduce_seed(g, g->me, i), op);
    shmem_barrier_all();
    if (g->me < 0)
        return;
    int status = r->run(op, g, dest, source, n);
    if (!in_place)
        memset(reduce_source, 0xee, sizeof reduce_source);
    CHECK(status == 0, "%s_%s over %s: status %d", r->name, OP_NAMES[op], g->name, status);
    for (size_t i = 0; i < n; i++) {
        expected(r, g, op, i, want);
        CHECK(r->equal(dest + i * r->size, want),
              "%s_%s over %s, member %d of %d, %s: element %zu of %zu is wrong", r->name,
              OP_NAMES[op], g->name, g->me, g->size, in_place ? "in place" : "two arrays", i, n);
    }
    for (size_t i = n * r->size; i < sizeof reduce_dest; i++)
        CHECK(dest[i] == UNTOUCHED, "%s_%s over %s: wrote behind %zu elements", r->name,
              OP_NAMES[op], g->name, n);
}

// Runs reductions; `end` is the operation behind the last one.
static void run_reductions(const struct reducer *reducers, size_t count, enum op end,
                           const struct group *groups, int group_count)
{
    static const size_t LENGTHS[] = {1, REDUCE_ELEMENTS, 2, 0, 5, 8, 13};
    size_t turn = 0;

    for (size_t k = 0; k < count; k++)
        for (int op = reducers[k].first; op < (int)end; op++)
            for (int g = 0; g < group_count; g++)
                for (int in_place = 0; in_place < 2; in_place++)
                    try_reduction(&reducers[k], &groups[g], (enum op)op,
                                  LENGTHS[turn++ % COUNT_OF(LENGTHS)], in_place);
    shmem_barrier_all();
}
