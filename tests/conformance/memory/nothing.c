// Sizes of 0 and NULL pointers: NULL or nothing at all, and no barrier. One PE after the other
// makes the calls alone while the rest waits for its word.
// run: np=1,2,3 timeout=10
// run: np=3 timeout=10 env=SHMEM_CHECK=1 refuse-stderr="farreach"
#include "check.h"

enum { MAX_PES = 8 };

// One word for each PE: two PEs' puts to one word of a third may land in either order.
static int over[MAX_PES];

static void expect_null(void *got, const char *what)
{
    CHECK(got == NULL, "%s returned %p instead of NULL", what, got);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);

    for (int pe = 0; pe < npes; pe++) {
        if (pe == me) {
            for (int repeat = 0; repeat < 3 + me; repeat++) {
                expect_null(shmem_malloc(0), "shmem_malloc(0)");
                expect_null(shmem_calloc(0, 8), "shmem_calloc(0, 8)");
                expect_null(shmem_calloc(8, 0), "shmem_calloc(8, 0)");
                expect_null(shmem_calloc(0, 0), "shmem_calloc(0, 0)");
                expect_null(shmem_align(64, 0), "shmem_align(64, 0)");
                expect_null(shmem_malloc_with_hints(0, 0), "shmem_malloc_with_hints(0, 0)");
                expect_null(shmem_malloc_with_hints(0, SHMEM_MALLOC_SIGNAL_REMOTE),
                            "shmem_malloc_with_hints(0, SIGNAL)");
                expect_null(shmem_realloc(NULL, 0), "shmem_realloc(NULL, 0)");
                shmem_free(NULL);
            }
            for (int other = 0; other < npes; other++)
                shmem_int_p(&over[me], 1, other);
            shmem_quiet();
        } else {
            shmem_int_wait_until(&over[pe], SHMEM_CMP_EQ, 1);
        }
    }
    shmem_barrier_all();
    // And allocation still works, with the same results everywhere.
    int *block = (int *)shmem_malloc(sizeof *block);
    CHECK(block != NULL, "shmem_malloc returned NULL");
    shmem_int_p(block, me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_INT(*block, (me + npes - 1) % npes, "put to a block behind the calls for nothing");
    shmem_free(block);
    shmem_finalize();
    return 0;
}
