// putN, getN and their nonblocking forms for 8, 16, 32, 64 and 128 bits and mem, plain and ctx.
// run: np=1,2,3,7 std=c99
#include "check.h"

enum { MAX_PES = 8, ELEMENTS = 41, REGION = ELEMENTS * 16 };

struct routines {
    const char *name;
    size_t size;
    void (*put)(void *dest, const void *source, size_t nelems, int pe);
    void (*get)(void *dest, const void *source, size_t nelems, int pe);
};

#define CTX_FORMS(SUFFIX)                                                                          \
    static void ctx_put##SUFFIX(void *dest, const void *source, size_t nelems, int pe)             \
    {                                                                                              \
        shmem_ctx_put##SUFFIX(SHMEM_CTX_DEFAULT, dest, source, nelems, pe);                        \
    }                                                                                              \
    static void ctx_get##SUFFIX(void *dest, const void *source, size_t nelems, int pe)             \
    {                                                                                              \
        shmem_ctx_get##SUFFIX(SHMEM_CTX_DEFAULT, dest, source, nelems, pe);                        \
    }

#define ROWS(SUFFIX, BYTES)                                                                        \
    {"shmem_put" #SUFFIX ", shmem_get" #SUFFIX, BYTES, shmem_put##SUFFIX, shmem_get##SUFFIX},      \
    {"shmem_ctx_put" #SUFFIX ", shmem_ctx_get" #SUFFIX, BYTES, ctx_put##SUFFIX, ctx_get##SUFFIX},

#define BOTH_CTX_FORMS(BITS, BYTES) CTX_FORMS(BITS) CTX_FORMS(BITS##_nbi)
#define BOTH_ROWS(BITS, BYTES) ROWS(BITS, BYTES) ROWS(BITS##_nbi, BYTES)

RMA_SIZES(BOTH_CTX_FORMS)
BOTH_CTX_FORMS(mem, 1)

static const struct routines ROUTINES[] = {RMA_SIZES(BOTH_ROWS) BOTH_ROWS(mem, 1)};

static uint64_t in_data[(MAX_PES + 1) * REGION / 8] = {1};
static uint64_t in_bss[(MAX_PES + 1) * REGION / 8];
static int me, npes;

static unsigned char byte_of(int round, int writer, int owner, size_t index)
{
    return (unsigned char)((size_t)(round * 31 + writer * 7 + owner * 3) + index * 5);
}

static void expect(const struct routines *r, const unsigned char *got, int round, int writer,
                   int owner, size_t length, const char *reader)
{
    for (size_t i = 0; i < length; i++)
        CHECK(got[i] == byte_of(round, writer, owner, i),
              "%s: byte %zu of what PE %d put on PE %d, seen by %s: expected 0x%02x, got 0x%02x",
              r->name, i, writer, owner, reader, byte_of(round, writer, owner, i), got[i]);
}

static void try_routines(const struct routines *r, unsigned char *object, int round)
{
    static uint64_t sources[MAX_PES][REGION / 8];
    uint64_t copy[REGION / 8];
    size_t length = ELEMENTS * r->size;

    memset(object, 0xee, (MAX_PES + 1) * REGION);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        for (size_t i = 0; i < length; i++)
            ((unsigned char *)sources[pe])[i] = byte_of(round, me, pe, i);
        r->put(object + me * REGION, sources[pe], ELEMENTS, pe);
    }
    shmem_barrier_all();
    for (int writer = 0; writer < npes; writer++) {
        expect(r, object + writer * REGION, round, writer, me, length, "its owner");
        for (size_t i = length; i < REGION; i++)
            CHECK(object[writer * REGION + (int)i] == 0xee, "%s: wrote past %d elements", r->name,
                  (int)ELEMENTS);
    }
    for (int pe = 0; pe < npes; pe++)
        for (int writer = 0; writer < npes; writer++) {
            memset(copy, 0xdd, sizeof copy);
            r->get(copy, object + writer * REGION, ELEMENTS, pe);
            shmem_quiet();
            expect(r, (unsigned char *)copy, round, writer, pe, length, "get");
            for (size_t i = length; i < REGION; i++)
                CHECK(((unsigned char *)copy)[i] == 0xdd, "%s: got more than %d elements", r->name,
                      (int)ELEMENTS);
        }
    shmem_barrier_all();
}

int main(void)
{
    static uint64_t in_function[(MAX_PES + 1) * REGION / 8];
    int round = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);

    unsigned char *on_heap = (unsigned char *)shmem_malloc(sizeof in_bss);
    CHECK(on_heap != NULL, "shmem_malloc(%zu) returned NULL", sizeof in_bss);
    for (size_t r = 0; r < COUNT_OF(ROUTINES); r++) {
        try_routines(&ROUTINES[r], on_heap, ++round);
        try_routines(&ROUTINES[r], (unsigned char *)in_data, ++round);
        try_routines(&ROUTINES[r], (unsigned char *)in_bss, ++round);
        try_routines(&ROUTINES[r], (unsigned char *)in_function, ++round);
    }
    shmem_free(on_heap);
    shmem_finalize();
    return 0;
}
