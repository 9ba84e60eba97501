/*
 * The operations that programs do in line (SHMEM_DIRECT), whose instructions tests/icount counts; otherwise as cases.c and
 * far.c: on one node without a device, or to a PE of another node.
 *
 * Each round brings the operands anew from memory into registers, which the compiler takes for others each time: so nothing of
 * an operation is done once for all rounds, and the registers are the compiler's choice, as no call prescribes them. A loop
 * without the operation does the same.
 */

#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "loops.h"

#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef SHMEM_DIRECT
#error "compile this with -DSHMEM_DIRECT"
#endif

/* Rounds between two turns of the device: fewer than a send queue has entries. */
enum { TURN = 16 };

static int (*kick)(void);

/* callgrind does not count while this runs. */
static NOINLINE void icount_uncounted(void) {
    if (kick != NULL && kick() != 0) {
        abort();
    }
    __asm__ volatile("" : : : "memory");
}

/* The compiler does not know how many rounds a turn has, and so does not write them one behind the other. */
#define ROUNDS(uncounted, body) \
    long turn = TURN; \
    __asm__ volatile("" : "+r"(turn)); \
    for (long i = 0; i < rounds; i += TURN) { \
        for (long j = 0; j != turn; j++) { \
            body; \
        } \
        uncounted(); \
    }

#define FRESH(type) \
    type *target = (type *)o->target; \
    type value = (type)o->value; \
    int pe = o->pe; \
    __asm__ volatile("" : "+r"(target), "+r"(value), "+r"(pe))
#define END __asm__ volatile("" : : : "memory")

#define IN_LINE(name, type, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *given) { \
        const volatile struct operands *o = given; \
        ROUNDS(icount_uncounted, FRESH(type); (void)value; __VA_ARGS__; END) \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *given) { \
        const volatile struct operands *o = given; \
        ROUNDS(icount_uncounted_nothing, FRESH(type); END) \
    }

IN_LINE(int_p, int, shmem_int_p(target, value, pe))
IN_LINE(int_g, int, int result = shmem_int_g(target, pe); USE)
IN_LINE(long_p, long, shmem_long_p(target, value, pe))
IN_LINE(ctx_int_p, int, shmem_ctx_int_p(SHMEM_CTX_DEFAULT, target, value, pe))
IN_LINE(fetch_add, long, long result = shmem_long_atomic_fetch_add(target, value, pe); USE)
IN_LINE(atomic_add, long, shmem_long_atomic_add(target, value, pe))
IN_LINE(compare_swap, long, long result = shmem_long_atomic_compare_swap(target, value, value, pe); USE)
IN_LINE(fence, int, shmem_fence())
IN_LINE(ptr, int, void *result = shmem_ptr(target, pe); USE)

enum { NEAR = 1, FAR = 2, ANYWHERE = 4 };

static const struct {
    const char *routine;
    int where;
    loop *call, *bare;
} cases[] = {
    {"shmem_int_p", NEAR | FAR, call_int_p, bare_int_p},
    {"shmem_int_g", NEAR, call_int_g, bare_int_g},
    {"shmem_long_atomic_fetch_add", NEAR, call_fetch_add, bare_fetch_add},
    {"shmem_fence", ANYWHERE, call_fence, bare_fence},
    {"shmem_long_p", NEAR | FAR, call_long_p, bare_long_p},
    {"shmem_ctx_int_p", NEAR, call_ctx_int_p, bare_ctx_int_p},
    {"shmem_long_atomic_add", NEAR, call_atomic_add, bare_atomic_add},
    {"shmem_long_atomic_compare_swap", NEAR, call_compare_swap, bare_compare_swap},
    {"shmem_ptr", NEAR, call_ptr, bare_ptr},
};

static long static_target;

/* Runs the loops of one case; each begins with nothing outstanding. */
static void run(size_t which, const char *target, const struct operands *operands, long rounds) {
    const struct {
        const char *kind;
        loop *run;
        long rounds;
    } loops[] = {
        {"first", cases[which].call, TURN},
        {"call", cases[which].call, rounds},
        {"call", cases[which].call, 2 * rounds},
        {"bare", cases[which].bare, rounds},
        {"bare", cases[which].bare, 2 * rounds},
    };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        shmem_quiet();
        printf("loop\t%s, in line\t%s\t%s\t%ld\n", cases[which].routine, target, loops[i].kind, loops[i].rounds);
        icount_counted(loops[i].run, loops[i].rounds, operands);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        return 2;
    }
    long rounds = atol(argv[1]);
    shmem_init();
    long *target = shmem_calloc(1, sizeof *target);
    if (target == NULL || shmem_n_pes() != 2) {
        return 2;
    }
    int far = shmem_ptr(target, 1 - shmem_my_pe()) == NULL;
    if (far) {
        *(void **)&kick = dlsym(RTLD_DEFAULT, "farreach_softhca_kick");
        if (kick == NULL) {
            return 2;
        }
    }
    if (shmem_my_pe() == 0) {
        struct operands heap = {target, NULL, NULL, 0, 1, NULL, NULL};
        struct operands global = heap;
        global.target = &static_target;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (far && cases[i].where & FAR) {
                run(i, "far", &heap, rounds);
            } else if (!far && cases[i].where & ANYWHERE) {
                run(i, "-", &heap, rounds);
            } else if (!far) {
                run(i, "heap", &heap, rounds);
                run(i, "global", &global, rounds);
            }
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
