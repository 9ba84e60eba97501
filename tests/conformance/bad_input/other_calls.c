// Wrong calls of the remaining routines: set-up, memory, ordering, collectives, waits and signals
// before initialization, after finalize and with arguments that cannot be.
// run: np=1 launcher=none timeout=40
#define _GNU_SOURCE
#include "cases.h"

static long target[8];
static uint64_t signal_word;
static int no_pes[] = {0, 1, -1};

#define CALL(NAME, ...)                                                                            \
    static void NAME(const void *data)                                                             \
    {                                                                                              \
        if (data != NULL) {                                                                        \
            shmem_init();                                                                          \
            shmem_finalize();                                                                      \
        }                                                                                          \
        __VA_ARGS__;                                                                               \
    }

// Calls that need the library: X(FUNCTION, ROUTINE, CALL)
#define NEED_LIBRARY(X)                                                                            \
    X(barrier_all, "shmem_barrier_all", shmem_barrier_all())                                       \
    X(sync_all, "shmem_sync_all", shmem_sync_all())                                                \
    X(allocate, "shmem_malloc", shmem_malloc(8))                                                   \
    X(callocate, "shmem_calloc", shmem_calloc(8, 8))                                               \
    X(align, "shmem_align", shmem_align(64, 8))                                                    \
    X(hinted, "shmem_malloc_with_hints", shmem_malloc_with_hints(8, 0))                            \
    X(reallocate, "shmem_realloc", shmem_realloc(target, 8))                                       \
    X(deallocate, "shmem_free", shmem_free(target))                                                \
    X(finalize, "shmem_finalize", shmem_finalize())

#define DEFINE(NAME, ROUTINE, ...) CALL(NAME, __VA_ARGS__)
NEED_LIBRARY(DEFINE)

CALL(bad_signal_address, {
    shmem_long_put_signal(target, target + 4, 1, (uint64_t *)stderr, 1, SHMEM_SIGNAL_SET, 0);
})
CALL(bad_signal_operator, {
    shmem_long_put_signal(target, target + 4, 1, &signal_word, 1, 77, 0);
})
CALL(bad_signal_pe, {
    shmem_long_put_signal(target, target + 4, 0, &signal_word, 1, SHMEM_SIGNAL_SET, 6);
})
CALL(bad_quiet_pe, { shmem_pe_quiet(no_pes, 2); })
CALL(bad_quiet_pe_negative, { shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, no_pes + 2, 1); })
CALL(bad_comparison, { shmem_long_wait_until(target, 99, 1); })
CALL(bad_test_comparison, { shmem_long_test(target, -1, 1); })
CALL(bad_signal_comparison, { shmem_signal_wait_until(&signal_word, 6, 1); })
CALL(invalid_context_put, { shmem_ctx_long_p(SHMEM_CTX_INVALID, target, 1, 0); })
CALL(invalid_context_get, { shmem_ctx_getmem(SHMEM_CTX_INVALID, target + 1, target, 8, 0); })
CALL(invalid_context_atomic, { shmem_ctx_long_atomic_inc(SHMEM_CTX_INVALID, target, 0); })
CALL(free_of_private, { shmem_free(malloc(8)); })
CALL(free_of_static, { shmem_free(target); })
CALL(free_inside, {
    char *block = (char *)shmem_malloc(1000);
    shmem_free(block + 64);
})
CALL(free_twice, {
    void *block = shmem_malloc(1000);
    shmem_free(block);
    shmem_free(block);
})
CALL(realloc_of_private, { target[0] = shmem_realloc(malloc(8), 100) != NULL; })

int main(void)
{
    static const struct bad_case cases[] = {
#define BEFORE(NAME, ROUTINE, ...) {ROUTINE, {"before shmem_init", NULL, NULL}, NAME, NULL, 1},
#define AFTER(NAME, ROUTINE, ...) {ROUTINE, {"after shmem_finalize", NULL, NULL}, NAME, target, 1},
        NEED_LIBRARY(BEFORE) NEED_LIBRARY(AFTER)
        {"shmem_long_put_signal", {"symmetric", NULL, NULL}, bad_signal_address, NULL, 0},
        {"shmem_long_put_signal", {"77", NULL, NULL}, bad_signal_operator, NULL, 0},
        {"shmem_long_put_signal", {"pe 6 is out of range", NULL, NULL}, bad_signal_pe, NULL, 0},
        {"shmem_pe_quiet", {"pe 1 is out of range (0 to 0)", NULL, NULL}, bad_quiet_pe, NULL, 0},
        {"shmem_ctx_pe_quiet", {"pe -1 is out of range", NULL, NULL}, bad_quiet_pe_negative, NULL, 0},
        {"shmem_long_wait_until", {"99", NULL, NULL}, bad_comparison, NULL, 0},
        {"shmem_long_test", {"-1", NULL, NULL}, bad_test_comparison, NULL, 0},
        {"shmem_signal_wait_until", {"6", NULL, NULL}, bad_signal_comparison, NULL, 0},
        {"shmem_ctx_long_p", {"context", "ctx is SHMEM_CTX_INVALID", NULL}, invalid_context_put, NULL, 0},
        {"shmem_ctx_getmem", {"context", "ctx is SHMEM_CTX_INVALID", NULL}, invalid_context_get, NULL, 0},
        {"shmem_ctx_long_atomic_inc", {"context", "ctx is SHMEM_CTX_INVALID", NULL}, invalid_context_atomic, NULL, 0},
        {"shmem_free", {"0x", NULL, NULL}, free_of_private, NULL, 0},
        {"shmem_free", {"0x", NULL, NULL}, free_of_static, NULL, 0},
        {"shmem_free", {"0x", NULL, NULL}, free_inside, NULL, 0},
        {"shmem_free", {"0x", NULL, NULL}, free_twice, NULL, 0},
        {"shmem_realloc", {"0x", NULL, NULL}, realloc_of_private, NULL, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_refused(&cases[i]);
    return failures != 0;
}
