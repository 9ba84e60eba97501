/*
 * Times this library against the machine's own speed with memory that two processes share, in one
 * run and with interleaved rounds. The bare memory is a memfd that PE 0 makes and PE 1 opens by
 * /proc; the library has no part in it.
 */

#define _GNU_SOURCE
#include "perf.h"
#include <fcntl.h>
#include <immintrin.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 41, SMALL = 20000, LARGE = 10, TURNS = 2000, MIB = 1 << 20, FLAGS = 4096 };

/* The bare memory: a page of flags, a part that PE 0 has touched first, and one that PE 1 has. */
struct flag {
    _Alignas(128) _Atomic uint64_t value;
};
static struct flag *flags;
static char *mine, *theirs;

typedef void copy(char *dest, const char *source, size_t bytes);

static void by_memcpy(char *dest, const char *source, size_t bytes) { memcpy(dest, source, bytes); }

static void by_movsb(char *dest, const char *source, size_t bytes) {
    __asm__ volatile("rep movsb" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
}

static void by_movsq(char *dest, const char *source, size_t bytes) {
    bytes /= 8;
    __asm__ volatile("rep movsq" : "+D"(dest), "+S"(source), "+c"(bytes) : : "memory");
}

#define VECTORS(name, isa, vector, load, store, after) \
    __attribute__((target(isa))) static void name(char *dest, const char *source, size_t bytes) { \
        for (size_t at = 0; at < bytes; at += 4 * sizeof(vector)) { \
            const vector *from = (const void *)(source + at); \
            vector *to = (void *)(dest + at); \
            vector a = load(from), b = load(from + 1), c = load(from + 2), d = load(from + 3); \
            store(to, a); \
            store(to + 1, b); \
            store(to + 2, c); \
            store(to + 3, d); \
        } \
        after; \
    }
VECTORS(by_sse2, "sse2", __m128i, _mm_load_si128, _mm_store_si128, (void)0)
VECTORS(by_sse2_around_caches, "sse2", __m128i, _mm_load_si128, _mm_stream_si128, _mm_sfence())
VECTORS(by_avx, "avx", __m256i, _mm256_load_si256, _mm256_store_si256, (void)0)
VECTORS(by_avx_around_caches, "avx", __m256i, _mm256_load_si256, _mm256_stream_si256, _mm_sfence())
VECTORS(by_avx512, "avx512f", __m512i, _mm512_load_si512, _mm512_store_si512, (void)0)
VECTORS(by_avx512_around_caches, "avx512f", __m512i, _mm512_load_si512, _mm512_stream_si512, _mm_sfence())

static struct {
    const char *name;
    copy *copy;
    int is_there;
    double times[ROUNDS];
} kernels[] = {
    {"memcpy", by_memcpy, 1, {0}},
    {"rep movsb", by_movsb, 1, {0}},
    {"rep movsq", by_movsq, 1, {0}},
    {"SSE2", by_sse2, 1, {0}},
    {"SSE2, non-temporal", by_sse2_around_caches, 1, {0}},
    {"AVX", by_avx, 0, {0}},
    {"AVX, non-temporal", by_avx_around_caches, 0, {0}},
    {"AVX-512", by_avx512, 0, {0}},
    {"AVX-512, non-temporal", by_avx512_around_caches, 0, {0}},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void find_vectors(void) {
    __builtin_cpu_init();
    for (int i = 0; i < KERNELS; i++) {
        if (strncmp(kernels[i].name, "AVX-512", 7) == 0) {
            kernels[i].is_there = __builtin_cpu_supports("avx512f") != 0;
        } else if (strncmp(kernels[i].name, "AVX", 3) == 0) {
            kernels[i].is_there = __builtin_cpu_supports("avx") != 0;
        }
    }
}

static void stop(const char *what) {
    perror(what);
    shmem_global_exit(2);
}

/* Maps the bare memory into both PEs. */
static void share(int me) {
    size_t bytes = FLAGS + 2 * (size_t)MIB;
    int *where = shmem_malloc(2 * sizeof *where);
    if (me == 0) {
        int fd = memfd_create("bare", 0);
        if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
            stop("memfd");
        }
        int here[2] = {(int)getpid(), fd};
        where[0] = here[0], where[1] = here[1];
        shmem_int_put(where, here, 2, 1);
    }
    shmem_barrier_all();
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where[0], where[1]);
    int fd = open(path, O_RDWR);
    char *memory = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        stop(path);
    }
    flags = (struct flag *)memory;
    mine = memory + FLAGS + (size_t)me * MIB;
    theirs = memory + FLAGS + (size_t)!me * MIB;
    memset(mine, me + 1, MIB);
    shmem_barrier_all();
}

/* Times a put of 8 bytes and its quiet against a store and `lock or`. */
static void small_put(char *remote, char *local) {
    static double ours[ROUNDS], bare[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < SMALL; i++) {
            shmem_putmem(remote, local, 8, 1);
            shmem_quiet();
        }
        ours[round] = (now() - start) / SMALL;
        start = now();
        for (int i = 0; i < SMALL; i++) {
            *(volatile uint64_t *)theirs = *(volatile uint64_t *)mine;
            __asm__ volatile("lock; orl $0, -64(%%rsp)" : : : "memory", "cc");
        }
        bare[round] = (now() - start) / SMALL;
    }
    row("put 8 B + quiet", median(ours, ROUNDS));
    row("bare store + lock or", median(bare, ROUNDS));
}

/* Times a put or get of 1 MiB against the best copy between the two halves of the bare memory. */
static void large_copy(int is_put, char *remote, char *local) {
    static double ours[ROUNDS];
    char *to = is_put ? theirs : mine, *from = is_put ? mine : theirs;
    for (int round = 0; round < ROUNDS; round++) {
        for (int which = -1; which < KERNELS; which++) {
            if (which >= 0 && !kernels[which].is_there) {
                continue;
            }
            double start = 0;
            for (int i = -1; i < LARGE; i++) {
                if (i == 0) {
                    start = now();
                }
                if (which >= 0) {
                    kernels[which].copy(to, from, MIB);
                } else if (is_put) {
                    shmem_putmem(remote, local, MIB, 1);
                } else {
                    shmem_getmem(local, remote, MIB, 1);
                }
            }
            (which < 0 ? ours : kernels[which].times)[round] = (now() - start) / LARGE;
        }
    }
    const char *what = is_put ? "put" : "get";
    char name[96];
    int best = 0;
    double times[KERNELS];
    for (int which = 0; which < KERNELS; which++) {
        if (kernels[which].is_there) {
            times[which] = median(kernels[which].times, ROUNDS);
            best = times[which] < times[best] ? which : best;
            snprintf(name, sizeof name, "copy for %s: %s", what, kernels[which].name);
            row(name, times[which]);
        }
    }
    snprintf(name, sizeof name, "%s 1 MiB", what);
    row(name, median(ours, ROUNDS));
    snprintf(name, sizeof name, "best copy for %s", what);
    row(name, times[best]);
}

/* Goes there and back by two flags, and both at the same time. */
static void bare_turns(int me, uint64_t *turn, int at_once) {
    for (int i = 0; i < TURNS; i++) {
        ++*turn;
        if (me == 0 || at_once) {
            atomic_store_explicit(&flags[me].value, *turn, memory_order_release);
        }
        while (atomic_load_explicit(&flags[!me].value, memory_order_acquire) < *turn) {
        }
        if (me == 1 && !at_once) {
            atomic_store_explicit(&flags[me].value, *turn, memory_order_release);
        }
    }
}

static void barriers(int me) {
    static double ours[ROUNDS], pingpong[ROUNDS], exchange[ROUNDS];
    uint64_t turn = 0;
    for (int round = 0; round < ROUNDS; round++) {
        shmem_barrier_all();
        double start = now();
        for (int i = 0; i < TURNS; i++) {
            shmem_barrier_all();
        }
        ours[round] = (now() - start) / TURNS;
        start = now();
        bare_turns(me, &turn, 0);
        pingpong[round] = (now() - start) / TURNS;
        start = now();
        bare_turns(me, &turn, 1);
        exchange[round] = (now() - start) / TURNS;
    }
    if (me == 0) {
        row("barrier_all", median(ours, ROUNDS));
        row("bare ping-pong", median(pingpong, ROUNDS));
        row("bare exchange", median(exchange, ROUNDS));
    }
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    if (shmem_n_pes() != 2) {
        fprintf(stderr, "bare: needs 2 PEs\n");
        shmem_global_exit(2);
    }
    pin(me);
    char *remote = shmem_align(4096, MIB), *local = shmem_align(4096, MIB);
    if (remote == NULL || local == NULL) {
        stop("symmetric memory");
    }
    memset(remote, 1, MIB);
    memset(local, 2, MIB);
    share(me);
    find_vectors();
    if (me == 0) {
        small_put(remote, local);
        large_copy(1, remote, local);
        large_copy(0, remote, local);
    }
    shmem_barrier_all();
    barriers(me);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
