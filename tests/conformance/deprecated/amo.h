// The atomics by their old names: fetch, set and swap of 14 types, cswap, add, fadd, inc and finc
// of 12. The includer chooses the language and whether they are reached by their own or by their
// generic names.
#include "check.h"

enum { MAX_PES = 8 };

static int me, npes;

// One object for each PE that works on it, and one that all work on.
#define OWN(NAME, TYPE) static TYPE own_##NAME[MAX_PES];
#define SHARED(NAME, TYPE) static TYPE shared_##NAME;

AMO_EXTENDED_TYPES(OWN)
AMO_TYPES(SHARED)

#define TRY_EXTENDED(NAME, TYPE)                                                                   \
    static void try_extended_##NAME(int pe)                                                        \
    {                                                                                              \
        TYPE *object = &own_##NAME[me];                                                            \
        const TYPE *read_only = object;                                                            \
        PLAIN(NAME, set)(object, (TYPE)(100 + me), pe);                                            \
        shmem_quiet();                                                                             \
        CHECK_INT(PLAIN(NAME, fetch)(read_only, pe), 100 + me, #NAME " fetch after set");          \
        CHECK_INT(PLAIN(NAME, swap)(object, (TYPE)7, pe), 100 + me, #NAME " swap");                \
        CHECK_INT(PLAIN(NAME, fetch)(object, pe), 7, #NAME " fetch after swap");                   \
    }

#define TRY_STANDARD(NAME, TYPE)                                                                   \
    static void try_standard_##NAME(int pe)                                                        \
    {                                                                                              \
        TYPE *object = &own_##NAME[me];                                                            \
        CHECK_INT(PLAIN(NAME, cswap)(object, (TYPE)6, (TYPE)1, pe), 7, #NAME " cswap that fails"); \
        CHECK_INT(PLAIN(NAME, cswap)(object, (TYPE)7, (TYPE)50, pe), 7, #NAME " cswap");           \
        PLAIN(NAME, add)(object, (TYPE)20, pe);                                                    \
        shmem_quiet();                                                                             \
        CHECK_INT(PLAIN(NAME, fadd)(object, (TYPE)30, pe), 70, #NAME " fadd after add");           \
        PLAIN(NAME, inc)(object, pe);                                                              \
        shmem_quiet();                                                                             \
        CHECK_INT(PLAIN(NAME, finc)(object, pe), 101, #NAME " finc after inc");                    \
        CHECK_INT(PLAIN(NAME, fetch)(object, pe), 102, #NAME " fetch in the end");                 \
    }                                                                                              \
    /* All PEs at once on PE 0's object. */                                                        \
    static void try_shared_##NAME(void)                                                            \
    {                                                                                              \
        for (int i = 0; i < 5; i++) {                                                              \
            PLAIN(NAME, add)(&shared_##NAME, (TYPE)2, 0);                                          \
            PLAIN(NAME, fadd)(&shared_##NAME, (TYPE)3, 0);                                         \
            PLAIN(NAME, inc)(&shared_##NAME, 0);                                                   \
            PLAIN(NAME, finc)(&shared_##NAME, 0);                                                  \
        }                                                                                          \
    }

AMO_EXTENDED_TYPES(TRY_EXTENDED)
AMO_TYPES(TRY_STANDARD)

#define RUN_EXTENDED(NAME, TYPE) try_extended_##NAME(pe);
#define RUN_STANDARD(NAME, TYPE) try_standard_##NAME(pe);
#define RUN_SHARED(NAME, TYPE) try_shared_##NAME();
#define EXPECT_SHARED(NAME, TYPE)                                                                  \
    CHECK_INT(shared_##NAME, 35 * npes, #NAME " add, fadd, inc and finc of all PEs");

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    for (int pe = 0; pe < npes; pe++) {
        AMO_EXTENDED_TYPES(RUN_EXTENDED)
        AMO_TYPES(RUN_STANDARD)
    }
    AMO_TYPES(RUN_SHARED)
    shmem_barrier_all();
    if (me == 0) {
        AMO_TYPES(EXPECT_SHARED)
    }
    shmem_finalize();
    return 0;
}
