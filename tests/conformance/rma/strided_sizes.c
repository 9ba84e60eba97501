// iputN, igetN, ibputN and ibgetN for 8, 16, 32, 64 and 128 bits, plain and ctx.
// run: np=1,2,3,4,7 std=c99
#include "strided.h"

#define ARGUMENTS                                                                                  \
    void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe

#define WRAP_ELEMENTS(STEM)                                                                        \
    static void STEM(ARGUMENTS)                                                                    \
    {                                                                                              \
        (void)bsize;                                                                               \
        shmem_##STEM(d, s, dst, sst, nblocks, pe);                                                 \
    }                                                                                              \
    static void ctx_##STEM(ARGUMENTS)                                                              \
    {                                                                                              \
        (void)bsize;                                                                               \
        shmem_ctx_##STEM(strided_ctx, d, s, dst, sst, nblocks, pe);                                \
    }

#define WRAP_BLOCKS(STEM)                                                                          \
    static void ctx_##STEM(ARGUMENTS)                                                              \
    {                                                                                              \
        shmem_ctx_##STEM(strided_ctx, d, s, dst, sst, bsize, nblocks, pe);                         \
    }

#define WRAP(BITS, BYTES)                                                                          \
    static void make_##BITS(void *element, uint64_t seed)                                          \
    {                                                                                              \
        make_bytes(element, seed, BYTES);                                                          \
    }                                                                                              \
    WRAP_ELEMENTS(iput##BITS)                                                                      \
    WRAP_ELEMENTS(iget##BITS)                                                                      \
    WRAP_BLOCKS(ibput##BITS)                                                                       \
    WRAP_BLOCKS(ibget##BITS)

RMA_SIZES(WRAP)

#define ROW_KIND(BITS, BYTES) {#BITS " bits", BYTES, BYTES, make_##BITS},
#define ROW_FORMS(BITS, BYTES)                                                                     \
    {{iput##BITS, iget##BITS, shmem_ibput##BITS, shmem_ibget##BITS},                               \
     {ctx_iput##BITS, ctx_iget##BITS, ctx_ibput##BITS, ctx_ibget##BITS}},

static const struct kind KINDS[] = {RMA_SIZES(ROW_KIND)};
static const struct strided FORMS[][2] = {RMA_SIZES(ROW_FORMS)};

int main(void)
{
    return run_strided(COUNT_OF(KINDS), KINDS, FORMS);
}
