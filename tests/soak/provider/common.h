// Has what all parts of the provider's soak share: options, numbers, patterns, failures, meetings.
#pragma once
#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 4, THREADS = 3, LANES = PROCESSES * THREADS, OPERATIONS = 40, NAME = 64 };
// Bytes that one lane writes at a target, that all may read there, and of one atomic operation.
enum { AREA = 10 << 20, READABLE = 6 << 20, ELEMENTS = 256, CELL = ELEMENTS * 8, DOOMED = 1 << 16 };
// Regions of a process: one for each lane that writes, and these.
enum { READS = LANES, CELLS, ENDING, REGIONS };

static struct options {
    double seconds;
    uint64_t seed;
    int processes, threads, rounds, epochs, first, operations, limit;
} options = {.seconds = 10, .rounds = 15, .first = 0, .operations = 24, .limit = 100};

// The state that processes show each other, in memory that the parent has mapped.
static struct shared {
    atomic_int came, turn, failed, go_on;
    char names[PROCESSES][THREADS][NAME];
    _Atomic uint64_t bases[PROCESSES][REGIONS], keys[PROCESSES][REGIONS];
    _Atomic uint64_t done[8];
} *shared;
static char *mapped[PROCESSES];

static int me, epoch, turn;
static _Thread_local int thread;
// Says where each thread is: for the alarm.
static struct place {
    const char *volatile what;
    volatile int line;
    volatile long number;
} places[THREADS];

#define AT(words, value)                                                                           \
    (places[thread].what = (words), places[thread].line = __LINE__, places[thread].number = (value))

static void say_places(void) {
    for (int i = 0; i < options.threads; i++)
        dprintf(2, "  process %d, thread %d: %s %ld, line %d\n", me, i,
                places[i].what ? places[i].what : "start", places[i].number, places[i].line);
}

// Ends a process whose model is of no use any more, when the first failure has been told of.
__attribute__((noreturn)) static void give_up(void) {
    usleep(300000);
    _exit(1);
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail(int line, const char *words, ...) {
    va_list list;
    char text[600];
    va_start(list, words);
    vsnprintf(text, sizeof text, words, list);
    va_end(list);
    // Others may fail because of this one: the first is told of in full.
    if (!atomic_exchange(&shared->failed, 1))
        dprintf(2,
                "seed %llu --processes %d --threads %d, epoch %d, round %d: process %d, thread %d, "
                "line %d: %s\n",
                (unsigned long long)options.seed, options.processes, options.threads, epoch, turn,
                me, thread, line, text);
    else
        give_up();
    _exit(1);
}

#define CHECK(it, ...)                                                                             \
    do {                                                                                           \
        if (!(it))                                                                                 \
            fail(__LINE__, #it ": " __VA_ARGS__);                                                  \
    } while (0)
#define OK(call)                                                                                   \
    do {                                                                                           \
        long got_ = (call);                                                                        \
        if (got_)                                                                                  \
            fail(__LINE__, #call ": %ld (%s)", got_, fi_strerror((int)-got_));                     \
    } while (0)

struct numbers {
    uint64_t state;
};

static inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static inline uint64_t hash(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t x = mix(options.seed + 0x9e3779b97f4a7c15);
    x = mix(x + a + 0x9e3779b97f4a7c15);
    x = mix(x + b + 0x9e3779b97f4a7c15);
    return mix(x + c + 0x9e3779b97f4a7c15);
}

static inline uint64_t draw(struct numbers *from, uint64_t below) {
    from->state += 0x9e3779b97f4a7c15;
    return mix(from->state) % below;
}

// Returns whether one of `of` chances comes.
static inline bool chance(struct numbers *from, uint64_t of) { return draw(from, of) == 0; }

// The byte at each place of a pattern is of an 8-byte word that its key and the place give.
static inline uint64_t word(uint64_t key, uint64_t number) {
    return (key + number * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
}

static void fill(char *to, uint64_t key, uint64_t from, size_t len) {
    while (len > 0) {
        uint64_t value = word(key, from / 8);
        size_t skip = from % 8, many = 8 - skip < len ? 8 - skip : len;
        memcpy(to, (char *)&value + skip, many);
        to += many, from += many, len -= many;
    }
}

// Returns the first place that differs from the pattern, or `len`.
static size_t differs(const char *at, uint64_t key, uint64_t from, size_t len) {
    for (size_t done = 0; done < len;) {
        uint64_t value = word(key, (from + done) / 8);
        size_t skip = (from + done) % 8, many = 8 - skip < len - done ? 8 - skip : len - done;
        if (memcmp(at + done, (char *)&value + skip, many))
            for (size_t i = 0; i < many; i++)
                if (at[done + i] != ((char *)&value)[skip + i])
                    return done + i;
        done += many;
    }
    return len;
}

static void take(void);

// Waits until all lanes of all processes come here; each makes progress meanwhile if it may.
static void meet_and(const char *what, bool progresses) {
    AT(what, 0);
    int now = shared->turn, all = options.processes * options.threads;
    if (atomic_fetch_add(&shared->came, 1) + 1 == all) {
        shared->came = 0;
        atomic_fetch_add(&shared->turn, 1);
        return;
    }
    while (shared->turn == now) {
        if (shared->failed)
            give_up();
        if (progresses)
            take();
        else
            sched_yield();
    }
}

static void meet(const char *what) { meet_and(what, true); }
