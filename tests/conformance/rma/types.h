// p, g, put, get, put_nbi and get_nbi for all 24 types, with and without a context, between all
// pairs of PEs, on four kinds of symmetric objects. The includer chooses the language and whether
// the routines are reached by their own or by their generic names.
#include "check.h"

#include <float.h>

enum { MAX_PES = 8, ELEMENTS = 37, ELEMENT_MAX = 16, REGION = MAX_PES * ELEMENTS * ELEMENT_MAX };

// One set of routines of a type, on untyped pointers: the code below is the same for all types.
struct form {
    const char *name;
    void (*p)(void *dest, const void *value, int pe);
    void (*g)(void *value, const void *source, int pe);
    void (*put)(void *dest, const void *source, size_t nelems, int pe);
    void (*get)(void *dest, const void *source, size_t nelems, int pe);
    void (*put_nbi)(void *dest, const void *source, size_t nelems, int pe);
    void (*get_nbi)(void *dest, const void *source, size_t nelems, int pe);
};

struct type {
    const char *name;
    size_t size;        // bytes of an element
    size_t value_bytes; // of those, the bytes that carry its value (long double has padding)
    void (*make)(void *element, uint64_t seed);
    struct form forms[2];
};

// Returns a value that depends on every bit of the seed and uses every byte of the type.
static uint64_t mix(uint64_t seed)
{
    seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    seed ^= seed >> 29;
    seed *= UINT64_C(0xbf58476d1ce4e5b9);
    return seed ^ (seed >> 32);
}

#define WRAP(NAME, TYPE)                                                                           \
    static void make_##NAME(void *element, uint64_t seed)                                          \
    {                                                                                              \
        int is_float = (TYPE)0.5 != (TYPE)0;                                                       \
        TYPE value = is_float ? (TYPE)((TYPE)mix(seed) / (TYPE)3) : (TYPE)mix(seed);               \
        memcpy(element, &value, sizeof value);                                                     \
    }                                                                                              \
    static void p_##NAME(void *dest, const void *value, int pe)                                    \
    {                                                                                              \
        PLAIN(NAME, p)((TYPE *)dest, *(const TYPE *)value, pe);                                    \
    }                                                                                              \
    static void ctx_p_##NAME(void *dest, const void *value, int pe)                                \
    {                                                                                              \
        WITH_CTX(NAME, p)(CTX, (TYPE *)dest, *(const TYPE *)value, pe);                            \
    }                                                                                              \
    static void g_##NAME(void *value, const void *source, int pe)                                  \
    {                                                                                              \
        *(TYPE *)value = PLAIN(NAME, g)((const TYPE *)source, pe);                                 \
    }                                                                                              \
    static void ctx_g_##NAME(void *value, const void *source, int pe)                              \
    {                                                                                              \
        *(TYPE *)value = WITH_CTX(NAME, g)(CTX, (const TYPE *)source, pe);                         \
    }                                                                                              \
    WRAP_BLOCK(NAME, TYPE, put)                                                                    \
    WRAP_BLOCK(NAME, TYPE, get)                                                                    \
    WRAP_BLOCK(NAME, TYPE, put_nbi)                                                                \
    WRAP_BLOCK(NAME, TYPE, get_nbi)

#define WRAP_BLOCK(NAME, TYPE, STEM)                                                               \
    static void STEM##_##NAME(void *dest, const void *source, size_t nelems, int pe)               \
    {                                                                                              \
        PLAIN(NAME, STEM)((TYPE *)dest, (const TYPE *)source, nelems, pe);                         \
    }                                                                                              \
    static void ctx_##STEM##_##NAME(void *dest, const void *source, size_t nelems, int pe)         \
    {                                                                                              \
        WITH_CTX(NAME, STEM)(CTX, (TYPE *)dest, (const TYPE *)source, nelems, pe);                 \
    }

RMA_TYPES(WRAP)

#define VALUE_BYTES(TYPE)                                                                          \
    (sizeof(TYPE) == sizeof(long double) && LDBL_MANT_DIG == 64 ? 10 : sizeof(TYPE))

#define ROW(NAME, TYPE)                                                                            \
    {#NAME,                                                                                        \
     sizeof(TYPE),                                                                                 \
     VALUE_BYTES(TYPE),                                                                            \
     make_##NAME,                                                                                  \
     {{"without ctx", p_##NAME, g_##NAME, put_##NAME, get_##NAME, put_nbi_##NAME, get_nbi_##NAME}, \
      {"with ctx", ctx_p_##NAME, ctx_g_##NAME, ctx_put_##NAME, ctx_get_##NAME,                     \
       ctx_put_nbi_##NAME, ctx_get_nbi_##NAME}}},

static const struct type TYPES[] = {RMA_TYPES(ROW)};

static int me, npes;

// Three regions of one object, written by p, put and put_nbi.
enum { BY_P, BY_PUT, BY_PUT_NBI, REGIONS };
static const char *const WRITERS[REGIONS] = {"p", "put", "put_nbi"};

// The global objects are aligned for every type.
static long double in_data[REGIONS * REGION / sizeof(long double)] = {1};
static long double in_bss[REGIONS * REGION / sizeof(long double)];

static uint64_t seed_of(int writer, int owner, int region, int round, int index)
{
    return ((((uint64_t)round * 64 + (uint64_t)writer) * 64 + (uint64_t)owner) * 4
            + (uint64_t)region) * 64 + (uint64_t)index;
}

// Expects the element that `writer` wrote into its part of a region on `owner`.
static void expect_element(const struct type *t, const void *got, int writer, int owner, int region,
                           int round, int index, const char *reader, const char *where)
{
    unsigned char want[ELEMENT_MAX];
    const unsigned char *seen = (const unsigned char *)got;

    t->make(want, seed_of(writer, owner, region, round, index));
    for (size_t byte = 0; byte < t->value_bytes; byte++)
        CHECK(seen[byte] == want[byte],
              "%s, %s object, element %d that PE %d wrote on PE %d by %s, read by %s: byte %zu: "
              "expected 0x%02x, got 0x%02x",
              t->name, where, index, writer, owner, WRITERS[region], reader, byte, want[byte],
              seen[byte]);
}

static unsigned char *part(const struct type *t, void *object, int region, int writer, int index)
{
    return (unsigned char *)object + (size_t)region * REGION
           + (size_t)(writer * ELEMENTS + index) * t->size;
}

// Lets every PE write its part of each region on every PE, itself included.
static void write_all(const struct type *t, const struct form *f, void *object, int round)
{
    // The source of a nonblocking put must stay as it is until quiet: one for each target.
    static long double sources[MAX_PES][REGIONS][ELEMENTS];

    for (int pe = 0; pe < npes; pe++)
        for (int region = 0; region < REGIONS; region++)
            for (int i = 0; i < ELEMENTS; i++)
                t->make((unsigned char *)sources[pe][region] + (size_t)i * t->size,
                        seed_of(me, pe, region, round, i));
    for (int pe = 0; pe < npes; pe++) {
        for (int i = 0; i < ELEMENTS; i++)
            f->p(part(t, object, BY_P, me, i),
                 (unsigned char *)sources[pe][BY_P] + (size_t)i * t->size, pe);
        f->put(part(t, object, BY_PUT, me, 0), sources[pe][BY_PUT], ELEMENTS - 1, pe);
        f->put(part(t, object, BY_PUT, me, ELEMENTS - 1),
               (unsigned char *)sources[pe][BY_PUT] + (size_t)(ELEMENTS - 1) * t->size, 1, pe);
        f->put_nbi(part(t, object, BY_PUT_NBI, me, 0), sources[pe][BY_PUT_NBI], ELEMENTS, pe);
    }
    CTX_COMPLETE();
    shmem_barrier_all();
}

// Lets every PE look at its own object and read all the others' by g, get and get_nbi.
static void read_all(const struct type *t, const struct form *f, void *object, int round,
                     const char *where)
{
    static long double copies[REGIONS * REGION / sizeof(long double)];
    long double one, many[ELEMENTS];

    for (int region = 0; region < REGIONS; region++)
        for (int writer = 0; writer < npes; writer++)
            for (int i = 0; i < ELEMENTS; i++)
                expect_element(t, part(t, object, region, writer, i), writer, me, region, round, i,
                               "its owner", where);
    for (int pe = 0; pe < npes; pe++) {
        memset(copies, 0x5a, sizeof copies);
        for (int region = 0; region < REGIONS; region++)
            for (int writer = 0; writer < npes; writer++)
                f->get_nbi(part(t, copies, region, writer, 0), part(t, object, region, writer, 0),
                           ELEMENTS, pe);
        for (int writer = 0; writer < npes; writer++) {
            for (int i = 0; i < ELEMENTS; i++) {
                f->g(&one, part(t, object, BY_P, writer, i), pe);
                expect_element(t, &one, writer, pe, BY_P, round, i, "g", where);
            }
            f->get(many, part(t, object, BY_PUT, writer, 0), ELEMENTS, pe);
            for (int i = 0; i < ELEMENTS; i++)
                expect_element(t, (unsigned char *)many + (size_t)i * t->size, writer, pe, BY_PUT,
                               round, i, "get", where);
        }
        shmem_quiet();
        CTX_COMPLETE();
        for (int region = 0; region < REGIONS; region++)
            for (int writer = 0; writer < npes; writer++)
                for (int i = 0; i < ELEMENTS; i++)
                    expect_element(t, part(t, copies, region, writer, i), writer, pe, region, round,
                                   i, "get_nbi", where);
    }
    shmem_barrier_all();
}

int main(void)
{
    static long double in_function[REGIONS * REGION / sizeof(long double)];
    int round = 0;

    shmem_init();
    CTX_BEGIN();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);

    void *on_heap = shmem_malloc(REGIONS * REGION);
    CHECK(on_heap != NULL, "shmem_malloc(%d) returned NULL", (int)(REGIONS * REGION));
    void *const objects[] = {on_heap, in_data, in_bss, in_function};
    const char *const names[] = {"heap", ".data", ".bss", "function-static"};

    for (size_t t = 0; t < COUNT_OF(TYPES); t++)
        for (size_t o = 0; o < COUNT_OF(objects); o++) {
            const struct form *f = &TYPES[t].forms[(t + o) % 2];
            const struct form *other = &TYPES[t].forms[(t + o + 1) % 2];
            write_all(&TYPES[t], f, objects[o], ++round);
            read_all(&TYPES[t], f, objects[o], round, names[o]);
            write_all(&TYPES[t], other, objects[o], ++round);
            read_all(&TYPES[t], other, objects[o], round, names[o]);
        }
    shmem_free(on_heap);
    CTX_END();
    shmem_finalize();
    return 0;
}
