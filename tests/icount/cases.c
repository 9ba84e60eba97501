/*
 * The calls whose instructions tests/icount counts.
 *
 * Each routine has two loops of the same shape: call_NAME makes the call, bare_NAME only brings the arguments into
 * the registers of the call and keeps them live by an empty asm. PE 0 runs under callgrind, which counts while
 * icount_counted runs such a loop and writes the counts when the loop is over. For every loop that
 * is run, a line "loop ROUTINE TARGET KIND ROUNDS" goes to standard output, in the order in which
 * callgrind writes. PE 1 waits in a barrier. Addresses, values and the PE are known at run time
 * only.
 */

#include "loops.h"

#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAS_SIGNALS 1
#endif

enum { LARGEST = 4096 };

/* Stands for a call by way of a jump, as through the PLT, to five instructions that do nothing and
 * a return: 8. */
void known_8(void *target, int pe);
__asm__(".text\n"
        ".type known_8, @function\n"
        "known_8:\n"
        "    jmp *known_8_slot(%rip)\n"
        ".size known_8, . - known_8\n"
        ".type known_8_body, @function\n"
        "known_8_body:\n"
        "    nop; nop; nop; nop; nop\n"
        "    ret\n"
        ".size known_8_body, . - known_8_body\n"
        ".section .data.rel.local, \"aw\", @progbits\n"
        "known_8_slot: .quad known_8_body\n"
        ".text\n");

LOOPS(known_8, 2, NOTHING, NOTHING, known_8, v.target, v.pe)
LOOPS(int_p, 3, NOTHING, NOTHING, shmem_int_p, (int *)v.target, (int)v.value, v.pe)
LOOPS(int_g, 2, RESULT(int), USE, shmem_int_g, (const int *)v.target, v.pe)
LOOPS(putmem_8, 4, NOTHING, NOTHING, shmem_putmem, v.target, (const void *)v.local, (size_t)8, v.pe)
LOOPS(getmem_8, 4, NOTHING, NOTHING, shmem_getmem, v.local, (const void *)v.target, (size_t)8, v.pe)
LOOPS(fetch_add, 3, RESULT(long), USE, shmem_long_atomic_fetch_add, (long *)v.target, v.value, v.pe)
LOOPS(quiet, 0, NOTHING, NOTHING, shmem_quiet)
LOOPS(fence, 0, NOTHING, NOTHING, shmem_fence)
LOOPS(ptr, 2, RESULT(void *), USE, shmem_ptr, (const void *)v.target, v.pe)

LOOPS(long_p, 3, NOTHING, NOTHING, shmem_long_p, (long *)v.target, v.value, v.pe)
LOOPS(ctx_int_p, 4, NOTHING, NOTHING, shmem_ctx_int_p, SHMEM_CTX_DEFAULT, (int *)v.target, (int)v.value, v.pe)
LOOPS(private_int_p, 4, NOTHING, NOTHING, shmem_ctx_int_p, (shmem_ctx_t)v.context, (int *)v.target, (int)v.value, v.pe)
LOOPS(int_put, 4, NOTHING, NOTHING, shmem_int_put, (int *)v.target, (const int *)v.local, (size_t)1, v.pe)
LOOPS(putmem_64, 4, NOTHING, NOTHING, shmem_putmem, v.target, (const void *)v.local, (size_t)64, v.pe)
LOOPS(putmem_4k, 4, NOTHING, NOTHING, shmem_putmem, v.target, (const void *)v.local, (size_t)LARGEST, v.pe)
LOOPS(atomic_add, 3, NOTHING, NOTHING, shmem_long_atomic_add, (long *)v.target, v.value, v.pe)
LOOPS(compare_swap, 4, RESULT(long), USE, shmem_long_atomic_compare_swap, (long *)v.target, v.value, v.value, v.pe)
LOOPS(test, 3, RESULT(int), USE, shmem_int_test, (int *)v.local, SHMEM_CMP_EQ, (int)v.value)
LOOPS(my_pe, 0, RESULT(int), USE, shmem_my_pe)
#ifdef HAS_SIGNALS
LOOPS(signal_fetch, 1, RESULT(uint64_t), USE, shmem_signal_fetch, (const uint64_t *)v.signal)

static NOINLINE void call_put_signal(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i++) {
        shmem_putmem_signal(v.target, v.local, 8, v.signal, (uint64_t)v.value, SHMEM_SIGNAL_SET, v.pe);
        AS_MUCH_AS_A_BARE_CALL;
    }
}
static NOINLINE void bare_put_signal(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i++) {
        nothing(v.target, v.local, 8, v.signal, (uint64_t)v.value, SHMEM_SIGNAL_SET, v.pe);
    }
}
#endif

enum { ANYWHERE = 0, BOTH = 1 };

static const struct {
    const char *routine;
    int targets;
    loop *call, *bare;
} cases[] = {
    {"known_8", ANYWHERE, call_known_8, bare_known_8},
    {"shmem_int_p", BOTH, call_int_p, bare_int_p},
    {"shmem_int_g", BOTH, call_int_g, bare_int_g},
    {"shmem_putmem 8 B", BOTH, call_putmem_8, bare_putmem_8},
    {"shmem_getmem 8 B", BOTH, call_getmem_8, bare_getmem_8},
    {"shmem_long_atomic_fetch_add", BOTH, call_fetch_add, bare_fetch_add},
    {"shmem_quiet", ANYWHERE, call_quiet, bare_quiet},
    {"shmem_fence", ANYWHERE, call_fence, bare_fence},
    {"shmem_ptr", BOTH, call_ptr, bare_ptr},
    {"shmem_long_p", BOTH, call_long_p, bare_long_p},
    {"shmem_ctx_int_p", BOTH, call_ctx_int_p, bare_ctx_int_p},
    {"shmem_ctx_int_p, private", BOTH, call_private_int_p, bare_private_int_p},
    {"shmem_int_put 1 element", BOTH, call_int_put, bare_int_put},
    {"shmem_putmem 64 B", BOTH, call_putmem_64, bare_putmem_64},
    {"shmem_putmem 4 KiB", BOTH, call_putmem_4k, bare_putmem_4k},
    {"shmem_long_atomic_add", BOTH, call_atomic_add, bare_atomic_add},
    {"shmem_long_atomic_compare_swap", BOTH, call_compare_swap, bare_compare_swap},
    {"shmem_int_test", ANYWHERE, call_test, bare_test},
    {"shmem_my_pe", ANYWHERE, call_my_pe, bare_my_pe},
#ifdef HAS_SIGNALS
    {"shmem_signal_fetch", ANYWHERE, call_signal_fetch, bare_signal_fetch},
    {"shmem_putmem_signal 8 B", BOTH, call_put_signal, bare_put_signal},
#endif
};

static char static_target[LARGEST] __attribute__((aligned(64)));

/* Runs the loops of one case and target. The effects of a first call shall have happened. */
static void run(size_t which, const char *target, const struct operands *operands, long rounds) {
    count_loops(cases[which].routine, target, cases[which].call, cases[which].bare, 1, rounds, operands);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    long rounds = atol(argv[1]);
    shmem_init();
    char *heap_target = shmem_align(64, LARGEST);
    uint64_t *signal = shmem_calloc(1, sizeof *signal);
    char *local = aligned_alloc(64, LARGEST);
    shmem_ctx_t context;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0 || heap_target == NULL || signal == NULL || local == NULL || shmem_n_pes() != 2) {
        return 2;
    }
    memset(local, 0, LARGEST);
    if (shmem_my_pe() == 0) {
        struct operands heap = {heap_target, local, signal, 0, 1, (void *)context};
        struct operands global = heap;
        global.target = static_target;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (cases[i].targets == ANYWHERE) {
                run(i, "-", &heap, rounds);
            } else {
                run(i, "heap", &heap, rounds);
                run(i, "global", &global, rounds);
            }
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
