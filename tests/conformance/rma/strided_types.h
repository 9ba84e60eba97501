// The strided routines for all 24 types. The includer chooses the language and whether the routines
// are reached by their own or by their generic names.
#include "strided.h"

#define ARGUMENTS                                                                                  \
    void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe
#define DATA(TYPE) (TYPE *)d, (const TYPE *)s, dst, sst

#define WRAP(NAME, TYPE)                                                                           \
    MAKE_VALUE(NAME, TYPE)                                                                         \
    WRAP_ELEMENTS(NAME, TYPE, iput)                                                                \
    WRAP_ELEMENTS(NAME, TYPE, iget)                                                                \
    WRAP_BLOCKS(NAME, TYPE, ibput)                                                                 \
    WRAP_BLOCKS(NAME, TYPE, ibget)

#define WRAP_ELEMENTS(NAME, TYPE, STEM)                                                            \
    static void STEM##_##NAME(ARGUMENTS)                                                           \
    {                                                                                              \
        (void)bsize;                                                                               \
        PLAIN(NAME, STEM)(DATA(TYPE), nblocks, pe);                                                \
    }                                                                                              \
    static void ctx_##STEM##_##NAME(ARGUMENTS)                                                     \
    {                                                                                              \
        (void)bsize;                                                                               \
        WITH_CTX(NAME, STEM)(strided_ctx, DATA(TYPE), nblocks, pe);                                \
    }

#define WRAP_BLOCKS(NAME, TYPE, STEM)                                                              \
    static void STEM##_##NAME(ARGUMENTS)                                                           \
    {                                                                                              \
        PLAIN(NAME, STEM)(DATA(TYPE), bsize, nblocks, pe);                                         \
    }                                                                                              \
    static void ctx_##STEM##_##NAME(ARGUMENTS)                                                     \
    {                                                                                              \
        WITH_CTX(NAME, STEM)(strided_ctx, DATA(TYPE), bsize, nblocks, pe);                         \
    }

RMA_TYPES(WRAP)

#define ROW_KIND(NAME, TYPE) KIND(NAME, TYPE),
#define ROW_FORMS(NAME, TYPE)                                                                      \
    {{iput_##NAME, iget_##NAME, ibput_##NAME, ibget_##NAME},                                       \
     {ctx_iput_##NAME, ctx_iget_##NAME, ctx_ibput_##NAME, ctx_ibget_##NAME}},

static const struct kind KINDS[] = {RMA_TYPES(ROW_KIND)};
static const struct strided FORMS[][2] = {RMA_TYPES(ROW_FORMS)};

int main(void)
{
    return run_strided(COUNT_OF(KINDS), KINDS, FORMS);
}
