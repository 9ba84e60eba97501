// Rounds of collectives over the lane's teams and over active sets: every member computes the data
// that it must get.
#ifndef FARREACH_SOAK_COLLECTIVES_H
#define FARREACH_SOAK_COLLECTIVES_H

#include "lane.h"

#include <complex.h>

// Returns the number of elements of a collective: few most times, and at times as many as `most`.
static size_t some_elements(Random *random, size_t most)
{
    size_t few = most < 70 ? most : 70;
    size_t bound = below(random, 4) == 0 ? most : few;

    return (size_t)(draw(random) % (bound + 1));
}

static void check_bytes(const Lane *lane, const char *what, const void *got, const void *wanted, size_t size)
{
    const unsigned char *g = got, *w = wanted;
    size_t i = 0;

    if (memcmp(got, wanted, size) == 0)
        return;
    while (g[i] == w[i])
        i++;
    wrong(lane, "byte %zu of %zu of %s is %#x and should be %#x", i, size, what, g[i], w[i]);
}

// Waits until all are ready. A collective may write to a member as soon as others have called it:
// nobody may be at work on the memory then.
static void all_are_ready(const Lane *lane, const Team *team)
{
    if (shmem_team_sync(team->handle) != 0)
        wrong(lane, "team_sync failed");
}

typedef struct {
    size_t size;
    int (*broadcast)(shmem_team_t, void *, const void *, size_t, int);
    int (*collect)(shmem_team_t, void *, const void *, size_t);
    int (*fcollect)(shmem_team_t, void *, const void *, size_t);
    int (*alltoall)(shmem_team_t, void *, const void *, size_t);
    int (*alltoalls)(shmem_team_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t);
} Spreader;

#define SPREADER(NAME)                                                                             \
    static int NAME##_broadcast(shmem_team_t t, void *d, const void *s, size_t n, int root)        \
    {                                                                                              \
        return shmem_##NAME##_broadcast(t, d, s, n, root);                                         \
    }                                                                                              \
    static int NAME##_collect(shmem_team_t t, void *d, const void *s, size_t n)                    \
    {                                                                                              \
        return shmem_##NAME##_collect(t, d, s, n);                                                 \
    }                                                                                              \
    static int NAME##_fcollect(shmem_team_t t, void *d, const void *s, size_t n)                   \
    {                                                                                              \
        return shmem_##NAME##_fcollect(t, d, s, n);                                                \
    }                                                                                              \
    static int NAME##_alltoall(shmem_team_t t, void *d, const void *s, size_t n)                   \
    {                                                                                              \
        return shmem_##NAME##_alltoall(t, d, s, n);                                                \
    }                                                                                              \
    static int NAME##_alltoalls(shmem_team_t t, void *d, const void *s, ptrdiff_t dst,             \
                                ptrdiff_t sst, size_t n)                                           \
    {                                                                                              \
        return shmem_##NAME##_alltoalls(t, d, s, dst, sst, n);                                     \
    }

SPREADER(char)
SPREADER(short)
SPREADER(int)
SPREADER(long)
SPREADER(double)
SPREADER(longdouble)

#define SPREADS(NAME, TYPE)                                                                        \
    {sizeof(TYPE),    NAME##_broadcast, NAME##_collect, NAME##_fcollect,                           \
     NAME##_alltoall, NAME##_alltoalls}

static const Spreader spreaders[] = {
    SPREADS(char, char),     SPREADS(short, short),
    SPREADS(int, int),       SPREADS(long, long),
    SPREADS(double, double), SPREADS(longdouble, long double),
    {1, shmem_broadcastmem, shmem_collectmem, shmem_fcollectmem, shmem_alltoallmem, shmem_alltoallsmem},
};

#define SPREADERS (int)(sizeof spreaders / sizeof spreaders[0])

// Fills in the bytes that a member of a group brings: `key` and its number stand for them.
static void fill_member(void *to, size_t size, uint64_t key, int member)
{
    fill(to, size, key + (uint64_t)member * 0x10001);
}

// Puts the wanted result of broadcast, collect and alltoall into `wanted`; returns its bytes. `own`
// is this member's source.
static size_t want_broadcast(unsigned char *wanted, size_t bytes, uint64_t key, int root)
{
    fill_member(wanted, bytes, key, root);
    return bytes;
}

static size_t want_all(unsigned char *wanted, const size_t *bytes, int size, uint64_t key)
{
    size_t total = 0;
    int i;

    for (i = 0; i < size; i++) {
        fill_member(wanted + total, bytes[i], key, i);
        total += bytes[i];
    }
    return total;
}

// Blocks of `bytes` bytes, of elements `dst` and `sst` apart: block `me` of everybody.
static void want_exchange(unsigned char *wanted, unsigned char *from, size_t element, size_t count, int size, int me,
                          size_t dst, size_t sst, uint64_t key)
{
    size_t j;
    int i;

    for (i = 0; i < size; i++) {
        fill_member(from, element * count * (size_t)size * sst, key, i);
        for (j = 0; j < count; j++)
            memcpy(wanted + ((size_t)i * count + j) * dst * element,
                   from + ((size_t)me * count + j) * sst * element, element);
    }
}

static void spread(Lane *lane, const Team *team, Random *random)
{
    const Spreader *spreader = &spreaders[below(random, SPREADERS)];
    unsigned char *dest = lane->shared->dest, *source = lane->shared->source;
    unsigned char *wanted = malloc(AREA), *from = malloc(AREA);
    size_t size = (size_t)team->size, element = spreader->size;
    size_t count = some_elements(random, AREA / element / size / 3), bytes[MOST_PES];
    size_t dst = 1 + (size_t)below(random, 3), sst = 1 + (size_t)below(random, 3);
    int kind = below(random, 5), root = below(random, team->size), result, i;
    uint64_t key = draw(random);

    fill_member(source, AREA, key, team->me);
    fill(dest, AREA, ~key);
    fill(wanted, AREA, ~key);
    all_are_ready(lane, team);
    switch (kind) {
    case 0:
        want_broadcast(wanted, element * count, key, root);
        result = spreader->broadcast(team->handle, dest, source, count, root);
        break;
    case 1:
    case 2:
        for (i = 0; i < team->size; i++)
            bytes[i] = element * (kind == 1 ? mixed(key, (uint64_t)i) % (count + 1) : count);
        want_all(wanted, bytes, team->size, key);
        if (kind == 1)
            result = spreader->collect(team->handle, dest, source, bytes[team->me] / element);
        else
            result = spreader->fcollect(team->handle, dest, source, count);
        break;
    case 3:
        want_exchange(wanted, from, element, count, team->size, team->me, 1, 1, key);
        result = spreader->alltoall(team->handle, dest, source, count);
        break;
    default:
        want_exchange(wanted, from, element, count, team->size, team->me, dst, sst, key);
        result = spreader->alltoalls(team->handle, dest, source, (ptrdiff_t)dst, (ptrdiff_t)sst, count);
    }
    if (result != 0)
        wrong(lane, "a collective of kind %d returned %d", kind, result);
    check_bytes(lane, kind == 0 ? "broadcast" : kind == 1 ? "collect" : kind == 2 ? "fcollect" : kind == 3 ? "alltoall" : "alltoalls",
                dest, wanted, AREA);
    free(wanted);
    free(from);
}

enum { SUM, PROD, INSCAN, EXSCAN, MAX, MIN, BIT_AND, BIT_OR, BIT_XOR };

// Returns the value of member `member` for element `i`: sums and products stay exact in every type.
static uint64_t brought(uint64_t key, int member, size_t i, int op)
{
    uint64_t value = mixed(key + (uint64_t)member * 0x10001, i);

    return op == PROD ? 1 + value % 2 : op < MAX ? value % 8 : value >> 1;
}

#define ORDER_OPS(NAME)                                                                            \
    case MAX:                                                                                      \
        return shmem_##NAME##_max_reduce(team, dest, source, count);                               \
    case MIN:                                                                                      \
        return shmem_##NAME##_min_reduce(team, dest, source, count);
#define BIT_OPS(NAME)                                                                              \
    ORDER_OPS(NAME)                                                                                \
    case BIT_AND:                                                                                  \
        return shmem_##NAME##_and_reduce(team, dest, source, count);                               \
    case BIT_OR:                                                                                   \
        return shmem_##NAME##_or_reduce(team, dest, source, count);                                \
    case BIT_XOR:                                                                                  \
        return shmem_##NAME##_xor_reduce(team, dest, source, count);
#define ORDER_WANTS                                                                                \
    case MAX:                                                                                      \
        all = all > one ? all : one;                                                               \
        break;                                                                                     \
    case MIN:                                                                                      \
        all = all < one ? all : one;                                                               \
        break;
#define BIT_WANTS                                                                                  \
    ORDER_WANTS                                                                                    \
    case BIT_AND:                                                                                  \
        all &= one;                                                                                \
        break;                                                                                     \
    case BIT_OR:                                                                                   \
        all |= one;                                                                                \
        break;                                                                                     \
    case BIT_XOR:                                                                                  \
        all ^= one;                                                                                \
        break;
#define NO_OPS(NAME)

#define REDUCER(NAME, TYPE, OPS, WANTS)                                                            \
    static int NAME##_reduce(shmem_team_t team, TYPE *dest, TYPE *source, size_t count, int op)    \
    {                                                                                              \
        switch (op) {                                                                              \
            OPS(NAME)                                                                              \
        case SUM:                                                                                  \
            return shmem_##NAME##_sum_reduce(team, dest, source, count);                           \
        case PROD:                                                                                 \
            return shmem_##NAME##_prod_reduce(team, dest, source, count);                          \
        case INSCAN:                                                                               \
            return shmem_##NAME##_sum_inscan(team, dest, source, count);                           \
        default:                                                                                   \
            return shmem_##NAME##_sum_exscan(team, dest, source, count);                           \
        }                                                                                          \
    }                                                                                              \
    static TYPE NAME##_want(uint64_t key, const Team *team, size_t i, int op)                      \
    {                                                                                              \
        int last = op == INSCAN ? team->me : op == EXSCAN ? team->me - 1 : team->size - 1, j;      \
        TYPE all = last < 0 ? 0 : (TYPE)brought(key, 0, i, op);                                    \
                                                                                                   \
        for (j = 1; j <= last; j++) {                                                              \
            TYPE one = (TYPE)brought(key, j, i, op);                                               \
                                                                                                   \
            switch (op) {                                                                          \
                WANTS                                                                              \
            case PROD:                                                                             \
                all = (TYPE)(all * one);                                                           \
                break;                                                                             \
            default:                                                                               \
                all = (TYPE)(all + one);                                                           \
            }                                                                                      \
        }                                                                                          \
        return all;                                                                                \
    }                                                                                              \
    static void NAME##_round(Lane *lane, const Team *team, Random *random, int ops)                \
    {                                                                                              \
        TYPE *source = (TYPE *)(void *)lane->shared->source;                                       \
        TYPE *dest = (TYPE *)(void *)lane->shared->dest;                                           \
        size_t count = some_elements(random, AREA / sizeof(TYPE) - 1), i;                          \
        int op = below(random, ops);                                                               \
        uint64_t key = draw(random);                                                               \
                                                                                                   \
        if (below(random, 3) == 0)                                                                 \
            dest = source;                                                                         \
        for (i = 0; i < count; i++)                                                                \
            source[i] = (TYPE)brought(key, team->me, i, op);                                       \
        dest[count] = 77;                                                                          \
        all_are_ready(lane, team);                                                                 \
        if (NAME##_reduce(team->handle, dest, source, count, op) != 0)                             \
            wrong(lane, "a reduction (%d) of " #NAME " failed", op);                               \
        for (i = 0; i < count; i++)                                                                \
            if (dest[i] != NAME##_want(key, team, i, op))                                          \
                wrong(lane, "element %zu of %zu of reduction %d of " #NAME " is not right", i,     \
                      count, op);                                                                  \
        if (dest[count] != 77)                                                                     \
            wrong(lane, "reduction %d of " #NAME " wrote behind %zu elements", op, count);         \
    }

REDUCER(short, short, ORDER_OPS, ORDER_WANTS)
REDUCER(int, int, ORDER_OPS, ORDER_WANTS)
REDUCER(long, long, ORDER_OPS, ORDER_WANTS)
REDUCER(ushort, unsigned short, BIT_OPS, BIT_WANTS)
REDUCER(int32, int32_t, BIT_OPS, BIT_WANTS)
REDUCER(uint64, uint64_t, BIT_OPS, BIT_WANTS)
REDUCER(uint8, uint8_t, BIT_OPS, BIT_WANTS)
REDUCER(float, float, ORDER_OPS, ORDER_WANTS)
REDUCER(double, double, ORDER_OPS, ORDER_WANTS)
REDUCER(longdouble, long double, ORDER_OPS, ORDER_WANTS)
REDUCER(complexf, float _Complex, NO_OPS, )
REDUCER(complexd, double _Complex, NO_OPS, )

static const struct {
    void (*round)(Lane *, const Team *, Random *, int ops);
    int ops;
} reducers[] = {
    {short_round, BIT_AND},   {int_round, BIT_AND},        {long_round, BIT_AND},
    {ushort_round, BIT_XOR + 1}, {int32_round, BIT_XOR + 1}, {uint64_round, BIT_XOR + 1},
    {uint8_round, BIT_XOR + 1},  {float_round, BIT_AND},     {double_round, BIT_AND},
    {longdouble_round, BIT_AND}, {complexf_round, MAX},      {complexd_round, MAX},
};

#define REDUCERS (int)(sizeof reducers / sizeof reducers[0])

// Takes all teams in the same order on all their members, one collective each.
static void collective_round(Lane *lane, Random *random)
{
    uint64_t seed = draw(random);
    int times = 1 + below(random, 3), turn, i, type;

    for (turn = 0; turn < times; turn++)
        for (i = 0; i < lane->team_count; i++) {
            const Team *team = &lane->teams[i];
            Random own = derived(seed, (uint64_t)(turn * TEAMS + i));

            if (team->me < 0)
                continue;
            if (below(&own, 2) == 0) {
                spread(lane, team, &own);
            } else {
                type = below(&own, REDUCERS);
                reducers[type].round(lane, team, &own, reducers[type].ops);
            }
        }
    finish_round(lane);
}

// Makes an active set, and runs one collective of it.
static void active_round(Lane *lane, Random *random)
{
    int start = below(random, lane->pes), log_stride = below(random, 3), kind = below(random, 6), me, size, root, i;
    size_t count, bytes[MOST_PES];
    uint64_t key;
    unsigned char *dest = lane->shared->dest, *source = lane->shared->source, *wanted, *from;
    long *sync = lane->shared->sync[0], *barrier = lane->shared->sync[1];

    size = 1 + below(random, 1 + ((lane->pes - 1 - start) >> log_stride));
    root = below(random, size);
    count = some_elements(random, AREA / 8 / (size_t)size);
    key = draw(random);
    me = lane->me - start;
    if (me >= 0 && me % (1 << log_stride) == 0 && me >> log_stride < size) {
        me >>= log_stride;
        wanted = malloc(AREA);
        from = malloc(AREA);
        fill_member(source, AREA, key, me);
        fill(dest, AREA, ~key);
        fill(wanted, AREA, ~key);
        shmem_barrier(start, log_stride, size, barrier);
        switch (kind) {
        case 0:
            // The root's own copy stays as it is.
            if (me != root)
                want_broadcast(wanted, 8 * count, key, root);
            shmem_broadcast64(dest, source, count, root, start, log_stride, size, sync);
            break;
        case 1:
            for (i = 0; i < size; i++)
                bytes[i] = 4 * (mixed(key, (uint64_t)i) % (count + 1));
            want_all(wanted, bytes, size, key);
            shmem_collect32(dest, source, bytes[me] / 4, start, log_stride, size, sync);
            break;
        case 2:
            for (i = 0; i < size; i++)
                bytes[i] = 8 * count;
            want_all(wanted, bytes, size, key);
            shmem_fcollect64(dest, source, count, start, log_stride, size, sync);
            break;
        case 3:
            want_exchange(wanted, from, 4, count, size, me, 1, 1, key);
            shmem_alltoall32(dest, source, count, start, log_stride, size, sync);
            break;
        case 4:
            want_exchange(wanted, from, 8, count / 2, size, me, 2, 1, key);
            shmem_alltoalls64(dest, source, 2, 1, count / 2, start, log_stride, size, sync);
            break;
        default:
            for (i = 0; i < (int)count; i++) {
                long sum = 0;
                int j;

                for (j = 0; j < size; j++)
                    sum += (long)brought(key, j, (size_t)i, SUM);
                ((long *)(void *)wanted)[i] = sum;
                ((long *)(void *)source)[i] = (long)brought(key, me, (size_t)i, SUM);
            }
            shmem_long_sum_to_all((long *)(void *)dest, (long *)(void *)source, (int)count, start, log_stride, size,
                                  (long *)(void *)lane->shared->work, sync);
        }
        check_bytes(lane, "a collective of an active set", dest, wanted, AREA);
        for (i = 0; i < SHMEM_SYNC_SIZE; i++)
            if (sync[i] != SHMEM_SYNC_VALUE)
                wrong(lane, "word %d of pSync is %ld after collective %d", i, sync[i], kind);
        free(wanted);
        free(from);
    }
    finish_round(lane);
}

#endif
