// Parts that all of the soak uses: the generator that all PEs draw from alike, a lane's teams and
// contexts, and the message where the model and the memory differ.
#ifndef FARREACH_SOAK_LANE_H
#define FARREACH_SOAK_LANE_H

#include <shmem.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PES 64
#define LANES 4
#define TEAMS 5
#define CONTEXTS 5

// The memory of a lane on every PE: a piece of it is written by one operation of a round, or read by any number.
#define PIECE 2048
#define PIECES 48
#define AREA (PIECE * PIECES)
#define CELLS 24
#define LOCKS 2

// splitmix64: a good enough generator whose state is one number.
typedef struct {
    uint64_t state;
} Random;

static inline uint64_t draw(Random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Returns a number from 0 to `count` - 1.
static inline int below(Random *random, int count)
{
    return (int)(draw(random) % (uint64_t)count);
}

// Returns a generator for the purpose `number`, apart from all others.
static inline Random derived(uint64_t seed, uint64_t number)
{
    Random random = {seed ^ number * 0xd1342543de82ef95u};

    draw(&random);
    random.state ^= draw(&random);
    return random;
}

// Returns a number that many PEs compute: the value of element `i` of the data that `key` stands
// for.
static inline uint64_t mixed(uint64_t key, uint64_t i)
{
    Random random = {key + i * 0x9e3779b97f4a7c15u};

    return draw(&random);
}

// The symmetric memory of a lane.
typedef struct {
    unsigned char area[AREA];
    unsigned char source[AREA];
    unsigned char dest[AREA];
    uint64_t cells[CELLS];
    uint64_t signals[MOST_PES];
    long locks[LOCKS];
    uint64_t guarded[LOCKS][4];
    long sync[2][SHMEM_SYNC_SIZE];
    long double work[AREA / sizeof(long double) / 2 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
} Shared;

typedef struct {
    shmem_team_t handle;
    // The PEs of the job that are in it, in the team's order, and the own place or -1.
    int members[MOST_PES];
    int size;
    int me;
} Team;

typedef struct {
    shmem_ctx_t handle;
    // The place in `teams` of the team whose numbers it takes, -1 for those of the job.
    int team;
    bool is_used;
} Context;

// One thread of every PE: its actions concern its counterparts and nobody else.
typedef struct {
    uint64_t seed;
    int number;
    int epoch;
    int round;
    int operations;
    int rounds;
    int me;
    int pes;
    bool is_only;
    Shared *shared;
    Team teams[TEAMS];
    int team_count;
    Context contexts[CONTEXTS];
    int context_count;
    // Values that the areas and cells of all PEs must hold.
    unsigned char *areas[MOST_PES];
    uint64_t cells[MOST_PES][CELLS];
    uint64_t signals[MOST_PES];
    // Local memory that operations of a round use until its end.
    unsigned char *local;
    size_t local_used;
} Lane;

#define LOCAL (4u << 20)

static uint64_t soak_seed;

static inline void wrong(const Lane *lane, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "soak: PE %d: seed %llu, epoch %d, lane %d, round %d: %s\n", shmem_my_pe(),
            (unsigned long long)soak_seed, lane->epoch, lane->number, lane->round, text);
    fflush(stderr);
    shmem_global_exit(1);
}

// Returns local memory for `size` bytes until the end of the round; NULL when there is none left.
static inline void *local(Lane *lane, size_t size)
{
    size_t at = (lane->local_used + 15) & ~(size_t)15;

    if (at + size > LOCAL)
        return NULL;
    lane->local_used = at + size;
    return lane->local + at;
}

static inline void fill(void *to, size_t size, uint64_t key)
{
    unsigned char *bytes = to;
    size_t i, rest;

    for (i = 0; i < size; i += 8) {
        uint64_t word = mixed(key, i / 8);

        rest = size - i < 8 ? size - i : 8;
        memcpy(bytes + i, &word, rest);
    }
}

// Returns the number of the job's PE `pe` on a context, -1 where it is not in its team.
static inline int on_context(const Lane *lane, const Context *context, int pe)
{
    const Team *team;
    int i;

    if (context->team < 0)
        return pe;
    team = &lane->teams[context->team];
    for (i = 0; i < team->size; i++)
        if (team->members[i] == pe)
            return i;
    return -1;
}

// Returns a context that PE `from` can reach PE `to` by; all PEs draw the same one.
static inline int context_for(Lane *lane, Random *random, int from, int to)
{
    int drawn = below(random, lane->context_count);
    const Context *context = &lane->contexts[drawn];

    if (on_context(lane, context, from) < 0 || on_context(lane, context, to) < 0)
        return 0;
    return drawn;
}

// Completes the operations of the lane, and waits for its counterparts.
static inline void finish_round(Lane *lane)
{
    Random random = derived(lane->seed, (uint64_t)lane->round * 4 + 3);
    int way = below(&random, 3);
    int i;

    for (i = 0; i < lane->context_count; i++)
        if (lane->contexts[i].is_used)
            shmem_ctx_quiet(lane->contexts[i].handle);
    if (lane->is_only && way == 0)
        shmem_barrier_all();
    else if (lane->is_only && way == 1)
        shmem_sync_all();
    else
        shmem_team_sync(lane->teams[0].handle);
    lane->local_used = 0;
}

#endif
