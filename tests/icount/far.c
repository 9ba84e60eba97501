/*
 * The calls to a PE on another node whose instructions tests/icount counts, over a device in software or over libfabric; otherwise
 * as cases.c.
 *
 * The device's instructions are not counted: icount_uncounted lets it act. It acts often enough
 * that no call finds its queue full of entries that the device has not looked at, and before each
 * quiet: so no poll finds an empty completion queue, and the counts do not depend on the speed of
 * the device.
 */

#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "loops.h"

#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Rounds between two turns of the device: fewer than a send queue has entries. */
enum { TURN = 16 };

/* Sets of cases: of a device with each policy, of one with the defaults, of libfabric. */
enum { POSTS = 1, ALL = 2, LIBFABRIC = 4 };

static int (*kick)(void);
static shmem_ctx_t private;

/* Has libfabric deliver. */
static int deliver(void) {
    shmem_quiet();
    shmem_ctx_quiet(private);
    return 0;
}

/* callgrind does not count while this runs. */
static NOINLINE void icount_uncounted(void) {
    if (kick() != 0) {
        abort();
    }
    __asm__ volatile("" : : : "memory");
}

#define FAR_LOOPS(name, count, routine, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j < TURN; j++) { \
                routine(__VA_ARGS__); \
            } \
            icount_uncounted(); \
        } \
        (void)v; \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j < TURN; j++) { \
                BARE_##count(__VA_ARGS__); \
            } \
            icount_uncounted_nothing(); \
        } \
        (void)v; \
    }

FAR_LOOPS(int_p, 3, shmem_int_p, (int *)v.target, (int)v.value, v.pe)
FAR_LOOPS(ctx_int_p, 4, shmem_ctx_int_p, SHMEM_CTX_DEFAULT, (int *)v.target, (int)v.value, v.pe)
FAR_LOOPS(private_int_p, 4, shmem_ctx_int_p, (shmem_ctx_t)v.context, (int *)v.target, (int)v.value, v.pe)
FAR_LOOPS(putmem_8, 4, shmem_putmem, v.target, (const void *)v.local, (size_t)8, v.pe)
FAR_LOOPS(atomic_add, 3, shmem_long_atomic_add, (long *)v.target, v.value, v.pe)
FAR_LOOPS(atomic_set, 3, shmem_long_atomic_set, (long *)v.target, v.value, v.pe)
FAR_LOOPS(putmem_nbi_8, 4, shmem_putmem_nbi, v.target, (const void *)v.local, (size_t)8, v.pe)
FAR_LOOPS(putmem_nbi_4096, 4, shmem_putmem_nbi, v.target, (const void *)v.own, (size_t)4096, v.pe)
FAR_LOOPS(getmem_nbi_8, 4, shmem_getmem_nbi, v.own, (const void *)v.target, (size_t)8, v.pe)
FAR_LOOPS(long_g, 2, shmem_long_g, (const long *)v.target, v.pe)
FAR_LOOPS(getmem_8, 4, shmem_getmem, v.local, (const void *)v.target, (size_t)8, v.pe)
FAR_LOOPS(long_iget_13, 6, shmem_long_iget, v.own, (const long *)v.target, (ptrdiff_t)2, (ptrdiff_t)1, (size_t)13, v.pe)
FAR_LOOPS(fetch_add, 3, shmem_long_atomic_fetch_add, (long *)v.target, v.value, v.pe)
FAR_LOOPS(compare_swap, 4, shmem_long_atomic_compare_swap, (long *)v.target, v.value, v.value, v.pe)
FAR_LOOPS(long_p, 3, shmem_long_p, (long *)v.target, v.value, v.pe)
LOOPS(quiet, 0, NOTHING, NOTHING, shmem_quiet)
FAR_LOOPS(test, 3, (void)shmem_long_test, (long *)v.own, SHMEM_CMP_EQ, v.value + 1)

#define PUT_SIGNAL(name, operation) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j < TURN; j++) { \
                shmem_putmem_signal(v.target, v.local, 8, v.signal, (uint64_t)v.value, operation, v.pe); \
                AS_MUCH_AS_A_BARE_CALL; \
            } \
            icount_uncounted(); \
        } \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        struct operands v = *o; \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j < TURN; j++) { \
                nothing(v.target, v.local, 8, v.signal, (uint64_t)v.value, operation, v.pe); \
            } \
            icount_uncounted_nothing(); \
        } \
    }

PUT_SIGNAL(put_signal_set, SHMEM_SIGNAL_SET)
PUT_SIGNAL(put_signal_add, SHMEM_SIGNAL_ADD)

static NOINLINE void call_p_quiet(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i++) {
        shmem_int_p((int *)v.target, (int)v.value, v.pe);
        icount_uncounted();
        shmem_quiet();
    }
}
static NOINLINE void bare_p_quiet(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i++) {
        BARE_3((int *)v.target, (int)v.value, v.pe);
        icount_uncounted_nothing();
        BARE_0();
    }
}

/* Counts quiet's instructions for one completion that is there: 17 of them against one. Each of
 * these lists of two entries asks for one. */
static NOINLINE void icount_uncounted_lists(int count, const struct operands *o) {
    for (int i = 0; i < count; i++) {
        shmem_long_iput(o->target, o->own, 2, 1, 2, o->pe);
    }
    if (kick() != 0) {
        abort();
    }
}
static NOINLINE void call_completion(long rounds, const struct operands *o) {
    for (long i = 0; i < rounds; i += TURN) {
        icount_uncounted_lists(TURN + 1, o);
        shmem_quiet();
    }
}
static NOINLINE void bare_completion(long rounds, const struct operands *o) {
    for (long i = 0; i < rounds; i += TURN) {
        icount_uncounted_lists(1, o);
        shmem_quiet();
    }
}

/* After so many looks, each 20 us behind another, nothing is heard any more. */
enum { MOST_LOOKS = 1000 };

/* Returns whether a connection of this process has bytes that nobody has read. */
static int has_heard(void) {
    for (int fd = 3; fd < 256; fd++) {
        int domain, bytes = 0;
        socklen_t size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && (domain == AF_INET || domain == AF_INET6) &&
            ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0) {
            return 1;
        }
    }
    return 0;
}

/* Prepares a quiet over libfabric behind a put whose completion another context has taken
 * already. */
static NOINLINE void icount_uncounted_taken(const struct operands *o, int is_bare) {
    shmem_putmem_nbi(o->target, o->own, 8, o->pe);
    shmem_ctx_long_atomic_fetch((shmem_ctx_t)o->context, o->target, o->pe);
    if (is_bare) {
        shmem_quiet();
    }
    __asm__ volatile("" : : : "memory");
}
/* Prepares a quiet over libfabric behind a put whose completion its look takes. The library's own
   thread may have taken it: then the put is repeated. */
static NOINLINE void icount_uncounted_answered(const struct operands *o, int is_bare) {
    shmem_putmem_nbi(o->target, o->own, 8, o->pe);
    for (int looks = 1; !has_heard(); looks++) {
        usleep(20);
        if (looks % MOST_LOOKS == 0) {
            shmem_quiet();
            shmem_putmem_nbi(o->target, o->own, 8, o->pe);
        }
    }
    if (is_bare) {
        shmem_quiet();
    }
    __asm__ volatile("" : : : "memory");
}
#define QUIET_LOOPS(name, before) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        for (long i = 0; i < rounds; i++) { \
            before(o, 0); \
            shmem_quiet(); \
        } \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        for (long i = 0; i < rounds; i++) { \
            before(o, 1); \
            BARE_0(); \
        } \
    }

QUIET_LOOPS(quiet_taken, icount_uncounted_taken)
QUIET_LOOPS(quiet_one, icount_uncounted_answered)

static const struct {
    const char *routine;
    loop *call, *bare;
    int sets;
} cases[] = {
    {"shmem_int_p", call_int_p, bare_int_p, POSTS | ALL | LIBFABRIC},
    {"shmem_long_p", call_long_p, bare_long_p, POSTS | ALL | LIBFABRIC},
    {"shmem_long_atomic_add", call_atomic_add, bare_atomic_add, ALL | LIBFABRIC},
    {"shmem_int_p and shmem_quiet", call_p_quiet, bare_p_quiet, ALL},
    {"shmem_quiet", call_quiet, bare_quiet, ALL | LIBFABRIC},
    {"shmem_quiet, its completion taken before", call_quiet_taken, bare_quiet_taken, LIBFABRIC},
    {"shmem_long_test, not so, with a look that finds nothing", call_test, bare_test, LIBFABRIC},
    {"shmem_quiet, a look that takes one completion", call_quiet_one, bare_quiet_one, LIBFABRIC},
    {"one completion in shmem_quiet", call_completion, bare_completion, ALL},
    {"shmem_ctx_int_p", call_ctx_int_p, bare_ctx_int_p, ALL},
    {"shmem_ctx_int_p, private", call_private_int_p, bare_private_int_p, POSTS | ALL | LIBFABRIC},
    {"shmem_putmem 8 B", call_putmem_8, bare_putmem_8, POSTS | ALL | LIBFABRIC},
    {"shmem_putmem_signal 8 B, set", call_put_signal_set, bare_put_signal_set, ALL | LIBFABRIC},
    {"shmem_putmem_signal 8 B, add", call_put_signal_add, bare_put_signal_add, ALL},
    {"shmem_putmem_nbi 8 B", call_putmem_nbi_8, bare_putmem_nbi_8, LIBFABRIC},
    {"shmem_putmem_nbi 4 KiB", call_putmem_nbi_4096, bare_putmem_nbi_4096, ALL | LIBFABRIC},
    {"shmem_getmem_nbi 8 B", call_getmem_nbi_8, bare_getmem_nbi_8, ALL | LIBFABRIC},
    {"shmem_long_atomic_set", call_atomic_set, bare_atomic_set, ALL},
    {"shmem_long_g", call_long_g, bare_long_g, ALL},
    {"shmem_getmem 8 B", call_getmem_8, bare_getmem_8, ALL},
    {"shmem_long_iget 13 elements", call_long_iget_13, bare_long_iget_13, ALL},
    {"shmem_long_atomic_fetch_add", call_fetch_add, bare_fetch_add, ALL},
    {"shmem_long_atomic_compare_swap", call_compare_swap, bare_compare_swap, ALL},
};

/* Runs the loops of one case; each begins with nothing outstanding. */
static void run(size_t which, const struct operands *operands, long rounds) {
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
        shmem_ctx_quiet((shmem_ctx_t)operands->context);
        printf("loop\t%s\tfar\t%s\t%ld\n", cases[which].routine, loops[i].kind, loops[i].rounds);
        icount_counted(loops[i].run, loops[i].rounds, operands);
    }
}

/* far LEVEL CASES ROUNDS: LEVEL is single or multiple, CASES posts, all or libfabric. */
int main(int argc, char **argv) {
    if (argc != 4) {
        return 2;
    }
    long rounds = atol(argv[3]);
    int over_libfabric = strcmp(argv[2], "libfabric") == 0, provided;
    int set = over_libfabric ? LIBFABRIC : strcmp(argv[2], "all") == 0 ? ALL : POSTS;
    int level = strcmp(argv[1], "multiple") == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE;
    if (shmem_init_thread(level, &provided) != 0 || provided != level) {
        return 2;
    }
    *(void **)&kick = over_libfabric ? (void *)deliver : dlsym(RTLD_DEFAULT, "farreach_softhca_kick");
    long *target = shmem_calloc(1, 4096), *own = shmem_calloc(1, 4096);
    long local = 0;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &private) != 0 || target == NULL || own == NULL || kick == NULL || shmem_n_pes() != 2 || shmem_ptr(target, 1 - shmem_my_pe()) != NULL) {
        return 2;
    }
    if (shmem_my_pe() == 0) {
        struct operands operands = {target, &local, (uint64_t *)(target + 1), 0, 1, (void *)private, own};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (cases[i].sets & set) {
                run(i, &operands, rounds);
            }
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
