// Transfers of no elements do nothing, whatever the pointers: NULL included.
// run: np=1,2 std=c99
#include "check.h"

static int before[3] = {17, 18, 19};

#define NOTHING(NAME, TYPE)                                                                        \
    shmem_##NAME##_put((TYPE *)NULL, (const TYPE *)NULL, 0, pe);                                   \
    shmem_##NAME##_get((TYPE *)NULL, (const TYPE *)NULL, 0, pe);                                   \
    shmem_##NAME##_put_nbi((TYPE *)NULL, (const TYPE *)NULL, 0, pe);                               \
    shmem_##NAME##_get_nbi((TYPE *)NULL, (const TYPE *)NULL, 0, pe);                               \
    shmem_ctx_##NAME##_put(SHMEM_CTX_DEFAULT, (TYPE *)NULL, (const TYPE *)NULL, 0, pe);            \
    shmem_ctx_##NAME##_get(SHMEM_CTX_DEFAULT, (TYPE *)NULL, (const TYPE *)NULL, 0, pe);            \
    shmem_ctx_##NAME##_put_nbi(SHMEM_CTX_DEFAULT, (TYPE *)NULL, (const TYPE *)NULL, 0, pe);        \
    shmem_ctx_##NAME##_get_nbi(SHMEM_CTX_DEFAULT, (TYPE *)NULL, (const TYPE *)NULL, 0, pe);

#define NOTHING_OF_SIZE(BITS, BYTES)                                                               \
    shmem_put##BITS(NULL, NULL, 0, pe);                                                            \
    shmem_get##BITS(NULL, NULL, 0, pe);                                                            \
    shmem_put##BITS##_nbi(NULL, NULL, 0, pe);                                                      \
    shmem_get##BITS##_nbi(NULL, NULL, 0, pe);                                                      \
    shmem_ctx_put##BITS(SHMEM_CTX_DEFAULT, NULL, NULL, 0, pe);                                     \
    shmem_ctx_get##BITS(SHMEM_CTX_DEFAULT, NULL, NULL, 0, pe);                                     \
    shmem_ctx_put##BITS##_nbi(SHMEM_CTX_DEFAULT, NULL, NULL, 0, pe);                               \
    shmem_ctx_get##BITS##_nbi(SHMEM_CTX_DEFAULT, NULL, NULL, 0, pe);

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int private_int = 5;

    for (int pe = 0; pe < npes; pe++) {
        RMA_TYPES(NOTHING)
        RMA_SIZES(NOTHING_OF_SIZE)
        NOTHING_OF_SIZE(mem, 1)
        // Valid, private and one-past-the-end pointers.
        shmem_int_put(&before[1], &private_int, 0, pe);
        shmem_int_get(&private_int, &before[1], 0, pe);
        shmem_int_put(&private_int, &before[0], 0, pe);
        shmem_int_put(before + 3, &private_int, 0, pe);
    }
    shmem_barrier_all();
    CHECK_INT(before[0], 17, "element 0 after transfers of nothing");
    CHECK_INT(before[1], 18, "element 1 after transfers of nothing");
    CHECK_INT(before[2], 19, "element 2 after transfers of nothing");
    CHECK_INT(private_int, 5, "private int after transfers of nothing");
    CHECK(me >= 0, "PE number %d", me);
    shmem_finalize();
    return 0;
}
