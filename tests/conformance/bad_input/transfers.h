// Every transfer, atomic and signalling routine as a function of one shape, so that all of them can
// be given the same wrong arguments.
#ifndef FARREACH_TESTS_BAD_INPUT_TRANSFERS_H
#define FARREACH_TESTS_BAD_INPUT_TRANSFERS_H

#include "check.h"

struct transfer {
    const char *name;
    // Bytes of an element, or 0 where the routine has no number of elements.
    size_t element;
    void (*call)(void *symmetric, size_t nelems, int pe);
};

// Memory for the other arguments of the wrong calls.
static long double local_words[8];
static uint64_t local_signal;

#define CTX SHMEM_CTX_DEFAULT

#define T_RMA(NAME, TYPE)                                                                          \
    T_ONE(NAME##_p, (TYPE *)at, (TYPE)1, pe)                                                       \
    T_ONE(NAME##_g, (const TYPE *)at, pe)                                                          \
    T_ONE(NAME##_put, (TYPE *)at, (const TYPE *)local_words, n, pe)                                \
    T_ONE(NAME##_get, (TYPE *)local_words, (const TYPE *)at, n, pe)                                \
    T_ONE(NAME##_put_nbi, (TYPE *)at, (const TYPE *)local_words, n, pe)                            \
    T_ONE(NAME##_get_nbi, (TYPE *)local_words, (const TYPE *)at, n, pe)                            \
    T_ONE(NAME##_put_signal, (TYPE *)at, (const TYPE *)local_words, n, &local_signal, 1,           \
          SHMEM_SIGNAL_SET, pe)                                                                    \
    T_ONE(NAME##_put_signal_nbi, (TYPE *)at, (const TYPE *)local_words, n, &local_signal, 1,       \
          SHMEM_SIGNAL_ADD, pe)

#define T_SIZE(BITS, BYTES)                                                                        \
    T_ONE(put##BITS, at, local_words, n, pe)                                                       \
    T_ONE(get##BITS, local_words, at, n, pe)                                                       \
    T_ONE(put##BITS##_nbi, at, local_words, n, pe)                                                 \
    T_ONE(get##BITS##_nbi, local_words, at, n, pe)                                                 \
    T_ONE(put##BITS##_signal, at, local_words, n, &local_signal, 1, SHMEM_SIGNAL_SET, pe)          \
    T_ONE(put##BITS##_signal_nbi, at, local_words, n, &local_signal, 1, SHMEM_SIGNAL_ADD, pe)

#define T_EXTENDED(NAME, TYPE)                                                                     \
    T_ONE(NAME##_atomic_fetch, (const TYPE *)at, pe)                                               \
    T_ONE(NAME##_atomic_set, (TYPE *)at, (TYPE)1, pe)                                              \
    T_ONE(NAME##_atomic_swap, (TYPE *)at, (TYPE)1, pe)                                             \
    T_ONE(NAME##_atomic_fetch_nbi, (TYPE *)local_words, (const TYPE *)at, pe)                      \
    T_ONE(NAME##_atomic_swap_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)1, pe)

#define T_STANDARD(NAME, TYPE)                                                                     \
    T_ONE(NAME##_atomic_compare_swap, (TYPE *)at, (TYPE)0, (TYPE)1, pe)                            \
    T_ONE(NAME##_atomic_fetch_inc, (TYPE *)at, pe)                                                 \
    T_ONE(NAME##_atomic_inc, (TYPE *)at, pe)                                                       \
    T_ONE(NAME##_atomic_fetch_add, (TYPE *)at, (TYPE)1, pe)                                        \
    T_ONE(NAME##_atomic_add, (TYPE *)at, (TYPE)1, pe)                                              \
    T_ONE(NAME##_atomic_compare_swap_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)0, (TYPE)1, pe)   \
    T_ONE(NAME##_atomic_fetch_inc_nbi, (TYPE *)local_words, (TYPE *)at, pe)                        \
    T_ONE(NAME##_atomic_fetch_add_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)1, pe)

#define T_BITWISE(NAME, TYPE)                                                                      \
    T_ONE(NAME##_atomic_and, (TYPE *)at, (TYPE)1, pe)                                              \
    T_ONE(NAME##_atomic_or, (TYPE *)at, (TYPE)1, pe)                                               \
    T_ONE(NAME##_atomic_xor, (TYPE *)at, (TYPE)1, pe)                                              \
    T_ONE(NAME##_atomic_fetch_and, (TYPE *)at, (TYPE)1, pe)                                        \
    T_ONE(NAME##_atomic_fetch_or, (TYPE *)at, (TYPE)1, pe)                                         \
    T_ONE(NAME##_atomic_fetch_xor, (TYPE *)at, (TYPE)1, pe)                                        \
    T_ONE(NAME##_atomic_fetch_and_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)1, pe)               \
    T_ONE(NAME##_atomic_fetch_or_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)1, pe)                \
    T_ONE(NAME##_atomic_fetch_xor_nbi, (TYPE *)local_words, (TYPE *)at, (TYPE)1, pe)

#define T_SIGNAL                                                                                   \
    T_ONE(signal_set, (uint64_t *)at, 1, pe)                                                       \
    T_ONE(signal_add, (uint64_t *)at, 1, pe)

// All of them, written once: T_ONE makes a plain and a ctx function of each here...
#define T_ALL                                                                                      \
    RMA_TYPES(T_RMA)                                                                               \
    RMA_SIZES(T_SIZE)                                                                              \
    T_SIZE(mem, 1)                                                                                 \
    AMO_EXTENDED_TYPES(T_EXTENDED)                                                                 \
    AMO_TYPES(T_STANDARD)                                                                          \
    AMO_BITWISE_TYPES(T_BITWISE)                                                                   \
    T_SIGNAL

#define T_ONE(STEM, ...)                                                                           \
    static void call_##STEM(void *at, size_t n, int pe)                                            \
    {                                                                                              \
        (void)n;                                                                                   \
        (void)shmem_##STEM(__VA_ARGS__);                                                           \
    }                                                                                              \
    static void call_ctx_##STEM(void *at, size_t n, int pe)                                        \
    {                                                                                              \
        (void)n;                                                                                   \
        (void)shmem_ctx_##STEM(CTX, __VA_ARGS__);                                                  \
    }

T_ALL

// ... and two rows of the table here. The size of the elements is found from the name.
#undef T_ONE
#define T_ONE(STEM, ...)                                                                           \
    {"shmem_" #STEM, 0, call_##STEM}, {"shmem_ctx_" #STEM, 0, call_ctx_##STEM},

static struct transfer TRANSFERS[] = {T_ALL};

static int starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

// Fills in the bytes of an element for the routines that take a number of elements.
static inline void find_elements(void)
{
    static const struct {
        const char *name;
        size_t size;
    } names[] = {
#define ROW_TYPE(NAME, TYPE) {#NAME "_", sizeof(TYPE)},
#define ROW_SIZE(BITS, BYTES) {"put" #BITS, BYTES}, {"get" #BITS, BYTES},
        RMA_TYPES(ROW_TYPE) RMA_SIZES(ROW_SIZE) ROW_SIZE(mem, 1)};

    for (size_t t = 0; t < COUNT_OF(TRANSFERS); t++) {
        const char *name = TRANSFERS[t].name + strlen("shmem_");
        if (starts_with(name, "ctx_"))
            name += strlen("ctx_");
        if (strstr(name, "atomic") != NULL || starts_with(name, "signal_"))
            continue;
        for (size_t i = 0; i < COUNT_OF(names); i++)
            if (starts_with(name, names[i].name)) {
                const char *rest = name + strlen(names[i].name);
                if (strcmp(rest, "p") != 0 && strcmp(rest, "g") != 0)
                    TRANSFERS[t].element = names[i].size;
            }
    }
}

#endif
