// Every routine has a second name, with a p before it, that does the same; a program that defines
// the first name itself may call the second, and the library's other routines do not notice.
// run: np=1,2,3,4,7
// run: np=2 link=static
// run: np=2 link=static-pie,no-pie,now
#include "check.h"

#include <pshmem.h>

static int puts_seen, barriers_seen, levels_seen;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

void shmem_pcontrol(int level, ...)
{
    levels_seen += level;
}

static int me, npes, right, left;

// Some routines of every family, for all types.
#define TRY_RMA(NAME, TYPE)                                                                        \
    static void try_rma_##NAME(void)                                                               \
    {                                                                                              \
        static TYPE word, block[4], from[4];                                                       \
        TYPE back[4];                                                                              \
        from[0] = from[1] = from[2] = from[3] = (TYPE)(me + 3);                                    \
        pshmem_##NAME##_p(&word, (TYPE)(me + 1), right);                                           \
        pshmem_##NAME##_put(block, from, 2, right);                                                \
        pshmem_ctx_##NAME##_put_nbi(SHMEM_CTX_DEFAULT, block + 2, from, 2, right);                 \
        pshmem_barrier_all();                                                                      \
        CHECK_INT(word, left + 1, "pshmem_" #NAME "_p");                                           \
        CHECK_INT(block[1], left + 3, "pshmem_" #NAME "_put");                                     \
        CHECK_INT(block[3], left + 3, "pshmem_ctx_" #NAME "_put_nbi");                             \
        CHECK_INT(pshmem_ctx_##NAME##_g(SHMEM_CTX_DEFAULT, &word, right), me + 1,                  \
                  "pshmem_ctx_" #NAME "_g");                                                       \
        pshmem_##NAME##_get(back, block, 4, right);                                                \
        CHECK_INT(back[3], me + 3, "pshmem_" #NAME "_get");                                        \
        pshmem_barrier_all();                                                                      \
    }

#define TRY_AMO(NAME, TYPE)                                                                        \
    static void try_amo_##NAME(void)                                                               \
    {                                                                                              \
        static TYPE word;                                                                          \
        TYPE fetched = 0;                                                                          \
        pshmem_##NAME##_atomic_add(&word, (TYPE)5, right);                                         \
        pshmem_quiet();                                                                            \
        CHECK_INT(pshmem_##NAME##_atomic_fetch_inc(&word, right), 5,                               \
                  "pshmem_" #NAME "_atomic_fetch_inc");                                            \
        pshmem_##NAME##_atomic_fetch_nbi(&fetched, &word, right);                                  \
        pshmem_quiet();                                                                            \
        CHECK_INT(fetched, 6, "pshmem_" #NAME "_atomic_fetch_nbi");                                \
        pshmem_barrier_all();                                                                      \
        pshmem_##NAME##_wait_until(&word, SHMEM_CMP_GE, (TYPE)6);                                  \
        CHECK_INT(pshmem_##NAME##_test(&word, SHMEM_CMP_NE, (TYPE)6), 0, "pshmem_" #NAME "_test"); \
    }

RMA_TYPES(TRY_RMA)
AMO_TYPES(TRY_AMO)

#define RUN_RMA(NAME, TYPE) try_rma_##NAME();
#define RUN_AMO(NAME, TYPE) try_amo_##NAME();

int main(void)
{
    static long data[4];
    static const long from[4] = {1, 2, 3, 4};
    int major, minor;

    pshmem_init();
    me = pshmem_my_pe();
    npes = pshmem_n_pes();
    right = (me + 1) % npes;
    left = (me + npes - 1) % npes;
    CHECK_INT(me, shmem_my_pe(), "pshmem_my_pe");
    CHECK_INT(npes, shmem_n_pes(), "pshmem_n_pes");
    pshmem_info_get_version(&major, &minor);
    CHECK_INT(major * 100 + minor, 106, "pshmem_info_get_version");
    RMA_TYPES(RUN_RMA)
    AMO_TYPES(RUN_AMO)
    CHECK_INT(puts_seen + barriers_seen, 0, "calls by the first names so far");

    long *heap = (long *)pshmem_malloc(4 * sizeof *heap);
    CHECK(heap != NULL, "pshmem_malloc returned NULL");
    shmem_long_put(data, from, 4, right);
    shmem_long_put(heap, from, 3, right);
    shmem_long_put_nbi(heap + 3, from + 3, 1, right);
    shmem_barrier_all();
    CHECK_INT(data[3] * 10 + heap[2] + heap[3], 47, "data put through this program's own routine");
    CHECK_INT(puts_seen, 2, "calls of shmem_long_put");
    CHECK_INT(barriers_seen, 1, "calls of shmem_barrier_all");
    shmem_pcontrol(3, "more", 1.5);
    CHECK_INT(levels_seen, 3, "levels that shmem_pcontrol was told");
    pshmem_pcontrol(4);
    CHECK_INT(levels_seen, 3, "levels after pshmem_pcontrol");
    // A barrier of the library's own.
    pshmem_free(heap);
    pshmem_finalize();
    CHECK_INT(barriers_seen, 1, "barriers that the library has inside");
    return 0;
}
