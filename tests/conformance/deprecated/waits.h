// wait for four types, wait_until and test for short and unsigned short, and the two without a type
// in their names, shmem_wait and shmem_wait_until. The includer chooses the language and names.
#include "check.h"

static int me, npes;

// A PE tells its right neighbour, which waits, by a put of the whole word.
#define WAIT_TYPES(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define TRY_WAIT(NAME, TYPE)                                                                       \
    static void try_wait_##NAME(int round)                                                         \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE before = (TYPE)(3 * round), next = (TYPE)(before + 3);                                \
        if (round % 2 == 0)                                                                        \
            shmem_##NAME##_p(&word, next, (me + 1) % npes);                                        \
        shmem_##NAME##_wait(&word, (TYPE)(before + 1)); /* never has this value */                 \
        if (round % 2 == 1)                                                                        \
            shmem_##NAME##_p(&word, next, (me + 1) % npes);                                        \
        shmem_##NAME##_wait(&word, before);                                                        \
        CHECK_INT(word, next, #NAME " wait");                                                      \
        shmem_barrier_all();                                                                       \
    }

WAIT_TYPES(TRY_WAIT)

struct comparison {
    int cmp, below, above; // the results of a test with 100 for the values 99 and 101
};
static const struct comparison COMPARISONS[] = {{SHMEM_CMP_EQ, 0, 0}, {SHMEM_CMP_NE, 1, 1},
                                                {SHMEM_CMP_GT, 0, 1}, {SHMEM_CMP_GE, 0, 1},
                                                {SHMEM_CMP_LT, 1, 0}, {SHMEM_CMP_LE, 1, 0}};

#define SMALL_TYPES(X) X(short, short) X(ushort, unsigned short)
#define TRY_SMALL(NAME, TYPE)                                                                      \
    static void try_small_##NAME(void)                                                             \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE great = (TYPE)40000; /* as a short it is below zero */                                \
        for (size_t i = 0; i < COUNT_OF(COMPARISONS); i++) {                                       \
            const struct comparison *c = &COMPARISONS[i];                                          \
            word = 99;                                                                             \
            CHECK_INT(PLAIN(NAME, test)(&word, c->cmp, (TYPE)100), c->below, #NAME " test below"); \
            word = 101;                                                                            \
            CHECK_INT(PLAIN(NAME, test)(&word, c->cmp, (TYPE)100), c->above, #NAME " test above"); \
            word = 100;                                                                            \
            CHECK_INT(PLAIN(NAME, test)(&word, c->cmp, (TYPE)100), i == 0 || i == 3 || i == 5,     \
                      #NAME " test equal");                                                        \
        }                                                                                          \
        word = 5;                                                                                  \
        shmem_barrier_all();                                                                       \
        shmem_##NAME##_p(&word, (TYPE)(great + me), (me + 1) % npes);                              \
        PLAIN(NAME, wait_until)(&word, SHMEM_CMP_NE, (TYPE)5);                                     \
        PLAIN(NAME, wait_until)(&word, SHMEM_CMP_EQ, (TYPE)(great + (me + npes - 1) % npes));      \
        CHECK_INT(PLAIN(NAME, test)(&word, SHMEM_CMP_LT, (TYPE)5), great < (TYPE)5,                \
                  #NAME " test of 40000");                                                         \
        shmem_barrier_all();                                                                       \
    }

SMALL_TYPES(TRY_SMALL)

static void try_without_type(void)
{
    static long word;

    shmem_long_p(&word, 6, (me + 1) % npes);
    shmem_wait(&word, 0);
    shmem_wait_until(&word, SHMEM_CMP_GT, 5);
    CHECK_INT(word, 6, "shmem_wait");
    shmem_barrier_all();
    shmem_long_p(&word, 9, (me + 1) % npes);
    shmem_wait_until(&word, SHMEM_CMP_EQ, 9);
    CHECK_INT(word, 9, "shmem_wait_until");
    shmem_barrier_all();
}

#define RUN_WAIT(NAME, TYPE) try_wait_##NAME(round);
#define RUN_SMALL(NAME, TYPE) try_small_##NAME();

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int round = 0; round < 10; round++) {
        WAIT_TYPES(RUN_WAIT)
    }
    SMALL_TYPES(RUN_SMALL)
    try_without_type();
    shmem_finalize();
    return 0;
}
