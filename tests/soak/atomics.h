// Rounds of atomic operations: in a round a cell of a PE has one type, and either one way of being
// changed by everybody, whose order does not matter, or one PE that does any operations on it.
#ifndef FARREACH_SOAK_ATOMICS_H
#define FARREACH_SOAK_ATOMICS_H

#include "lane.h"

enum { ADD, INC, AND, OR, XOR, SWAP, SET, COMPARE_SWAP, FETCH, ATOMICS };

typedef struct {
    size_t size;
    // Number `how` of the operations above; the old value where it is fetched, else 0.
    uint64_t (*blocking)(shmem_ctx_t, int how, bool fetches, void *, uint64_t value, uint64_t cond, int pe);
    // Number `how` of the operations above, nonblocking: the old value is in `fetch` after a quiet.
    void (*nonblocking)(shmem_ctx_t, int how, void *fetch, void *, uint64_t value, uint64_t cond, int pe);
    bool has_bits;
} Atomic;

#define BITS_BLOCKING(NAME, TYPE)                                                                  \
    case AND:                                                                                      \
        if (fetches)                                                                               \
            return (uint64_t)shmem_ctx_##NAME##_atomic_fetch_and(c, cell, v, pe);                  \
        shmem_ctx_##NAME##_atomic_and(c, cell, v, pe);                                             \
        return 0;                                                                                  \
    case OR:                                                                                       \
        if (fetches)                                                                               \
            return (uint64_t)shmem_ctx_##NAME##_atomic_fetch_or(c, cell, v, pe);                   \
        shmem_ctx_##NAME##_atomic_or(c, cell, v, pe);                                              \
        return 0;                                                                                  \
    case XOR:                                                                                      \
        if (fetches)                                                                               \
            return (uint64_t)shmem_ctx_##NAME##_atomic_fetch_xor(c, cell, v, pe);                  \
        shmem_ctx_##NAME##_atomic_xor(c, cell, v, pe);                                             \
        return 0;

#define BITS_NONBLOCKING(NAME, TYPE)                                                               \
    case AND:                                                                                      \
        shmem_ctx_##NAME##_atomic_fetch_and_nbi(c, fetch, cell, v, pe);                            \
        return;                                                                                    \
    case OR:                                                                                       \
        shmem_ctx_##NAME##_atomic_fetch_or_nbi(c, fetch, cell, v, pe);                             \
        return;                                                                                    \
    case XOR:                                                                                      \
        shmem_ctx_##NAME##_atomic_fetch_xor_nbi(c, fetch, cell, v, pe);                            \
        return;

#define NO_BITS(NAME, TYPE)

#define ATOMIC(NAME, TYPE, BLOCKING, NONBLOCKING)                                                  \
    static uint64_t NAME##_blocking(shmem_ctx_t c, int how, bool fetches, void *at,                \
                                    uint64_t value, uint64_t cond, int pe)                         \
    {                                                                                              \
        TYPE *cell = at;                                                                           \
        TYPE v = (TYPE)value;                                                                      \
                                                                                                   \
        switch (how) {                                                                             \
            BLOCKING(NAME, TYPE)                                                                   \
        case ADD:                                                                                  \
            if (fetches)                                                                           \
                return (uint64_t)shmem_ctx_##NAME##_atomic_fetch_add(c, cell, v, pe);              \
            shmem_ctx_##NAME##_atomic_add(c, cell, v, pe);                                         \
            return 0;                                                                              \
        case INC:                                                                                  \
            if (fetches)                                                                           \
                return (uint64_t)shmem_ctx_##NAME##_atomic_fetch_inc(c, cell, pe);                 \
            shmem_ctx_##NAME##_atomic_inc(c, cell, pe);                                            \
            return 0;                                                                              \
        case SWAP:                                                                                 \
            return (uint64_t)shmem_ctx_##NAME##_atomic_swap(c, cell, v, pe);                       \
        case COMPARE_SWAP:                                                                         \
            return (uint64_t)shmem_ctx_##NAME##_atomic_compare_swap(c, cell, (TYPE)cond, v, pe);   \
        case SET:                                                                                  \
            shmem_ctx_##NAME##_atomic_set(c, cell, v, pe);                                         \
            shmem_ctx_quiet(c);                                                                    \
            return 0;                                                                              \
        default:                                                                                   \
            return (uint64_t)shmem_ctx_##NAME##_atomic_fetch(c, cell, pe);                         \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_nonblocking(shmem_ctx_t c, int how, void *to, void *at, uint64_t value,     \
                                   uint64_t cond, int pe)                                          \
    {                                                                                              \
        TYPE *cell = at, *fetch = to;                                                              \
        TYPE v = (TYPE)value;                                                                      \
                                                                                                   \
        switch (how) {                                                                             \
            NONBLOCKING(NAME, TYPE)                                                                \
        case ADD:                                                                                  \
            shmem_ctx_##NAME##_atomic_fetch_add_nbi(c, fetch, cell, v, pe);                        \
            return;                                                                                \
        case INC:                                                                                  \
            shmem_ctx_##NAME##_atomic_fetch_inc_nbi(c, fetch, cell, pe);                           \
            return;                                                                                \
        case SWAP:                                                                                 \
            shmem_ctx_##NAME##_atomic_swap_nbi(c, fetch, cell, v, pe);                             \
            return;                                                                                \
        case COMPARE_SWAP:                                                                         \
            shmem_ctx_##NAME##_atomic_compare_swap_nbi(c, fetch, cell, (TYPE)cond, v, pe);         \
            return;                                                                                \
        default:                                                                                   \
            shmem_ctx_##NAME##_atomic_fetch_nbi(c, fetch, cell, pe);                               \
        }                                                                                          \
    }

ATOMIC(int, int, NO_BITS, NO_BITS)
ATOMIC(long, long, NO_BITS, NO_BITS)
ATOMIC(longlong, long long, NO_BITS, NO_BITS)
ATOMIC(size, size_t, NO_BITS, NO_BITS)
ATOMIC(ptrdiff, ptrdiff_t, NO_BITS, NO_BITS)
ATOMIC(uint, unsigned int, BITS_BLOCKING, BITS_NONBLOCKING)
ATOMIC(ulong, unsigned long, BITS_BLOCKING, BITS_NONBLOCKING)
ATOMIC(int32, int32_t, BITS_BLOCKING, BITS_NONBLOCKING)
ATOMIC(int64, int64_t, BITS_BLOCKING, BITS_NONBLOCKING)
ATOMIC(uint32, uint32_t, BITS_BLOCKING, BITS_NONBLOCKING)
ATOMIC(uint64, uint64_t, BITS_BLOCKING, BITS_NONBLOCKING)

#define OF(NAME, TYPE, HAS_BITS) {sizeof(TYPE), NAME##_blocking, NAME##_nonblocking, HAS_BITS}

static const Atomic atomics[] = {
    OF(int, int, false),      OF(long, long, false),          OF(longlong, long long, false),
    OF(size, size_t, false),  OF(ptrdiff, ptrdiff_t, false),  OF(uint, unsigned int, true),
    OF(int32, int32_t, true), OF(ulong, unsigned long, true), OF(int64, int64_t, true),
    OF(uint32, uint32_t, true), OF(uint64, uint64_t, true),
};

#define ATOMIC_TYPES (int)(sizeof atomics / sizeof atomics[0])

// The use of a cell in a round.
typedef struct {
    const Atomic *atomic;
    // One way for all, or the PE that may do anything.
    int how;
    int owner;
    uint64_t before;
    // All operands together: their sum, or their bits.
    uint64_t sum;
    uint64_t ones;
    uint64_t zeros;
} Cell;

typedef struct {
    const uint64_t *got;
    const Cell *cell;
    uint64_t own;
    // The old value, where only one PE changes the cell.
    uint64_t wanted;
} Old;

static uint64_t cut(const Atomic *atomic, uint64_t value)
{
    return atomic->size == 4 ? (uint32_t)value : value;
}

static uint64_t applied(int how, uint64_t old, uint64_t value, uint64_t cond)
{
    switch (how) {
    case ADD:
        return old + value;
    case INC:
        return old + 1;
    case AND:
        return old & value;
    case OR:
        return old | value;
    case XOR:
        return old ^ value;
    case COMPARE_SWAP:
        return old == cond ? value : old;
    case FETCH:
        return old;
    default:
        return value;
    }
}

static void draw_cells(Lane *lane, Random *random, Cell cells[MOST_PES][CELLS])
{
    int pe, i;

    for (pe = 0; pe < lane->pes; pe++)
        for (i = 0; i < CELLS; i++) {
            Cell *cell = &cells[pe][i];

            cell->atomic = &atomics[below(random, ATOMIC_TYPES)];
            cell->owner = below(random, 3) == 0 ? below(random, lane->pes) : -1;
            cell->how = below(random, cell->atomic->has_bits ? SWAP : AND);
            cell->before = cut(cell->atomic, lane->cells[pe][i]);
            cell->sum = cell->ones = 0;
            cell->zeros = UINT64_MAX;
        }
}

// Returns whether an old value can have been there at some time of the round, with all operations
// but the own in any order.
static bool is_possible(const Old *old)
{
    const Cell *cell = old->cell;
    const Atomic *atomic = cell->atomic;
    uint64_t got = cut(atomic, *old->got);

    if (cell->owner >= 0)
        return got == cut(atomic, old->wanted);
    switch (cell->how) {
    case ADD:
    case INC:
        return cut(atomic, got - cell->before) <= cell->sum - old->own;
    case OR:
        return (got & cell->before) == cell->before && (got & ~(cell->before | cell->ones)) == 0;
    case AND:
        return (got & ~cell->before) == 0 && (cell->before & cell->zeros & ~got) == 0;
    default:
        return ((got ^ cell->before) & ~cell->ones) == 0;
    }
}

// Does one operation: on the model, and on the PE that it comes from also in memory.
static void one_atomic(Lane *lane, Random *random, Cell cells[MOST_PES][CELLS], Old *old)
{
    int from = below(random, lane->pes), to = below(random, lane->pes), i = below(random, CELLS);
    Cell *cell = &cells[to][i];
    int how = cell->owner < 0 ? cell->how : below(random, ATOMICS);
    uint64_t value = draw(random), cond = draw(random), before = lane->cells[to][i];
    bool fetches = below(random, 2) == 0, waits = below(random, 2) == 0;
    Context *context;
    uint64_t *got;
    int number;

    if (cell->owner >= 0) {
        from = cell->owner;
        fetches = waits = true;
        if (how >= AND && how <= XOR && !cell->atomic->has_bits)
            how = ADD;
        if (how == COMPARE_SWAP && cond % 2 == 0)
            cond = before;
    }
    number = context_for(lane, random, from, to);
    if (how == INC)
        value = 1;
    else if (how == ADD)
        value %= 1000;
    value = cut(cell->atomic, value);
    cond = cut(cell->atomic, cond);
    before = cut(cell->atomic, before);
    lane->cells[to][i] = cut(cell->atomic, applied(how, before, value, cond)) |
                         (cell->atomic->size == 4 ? lane->cells[to][i] >> 32 << 32 : 0);
    cell->sum += value;
    cell->ones |= value;
    cell->zeros &= value;
    old->got = NULL;
    if (from != lane->me)
        return;
    context = &lane->contexts[number];
    context->is_used = true;
    if (!waits && (got = local(lane, 2 * sizeof *got)) != NULL) {
        *got = 0;
        cell->atomic->nonblocking(context->handle, how, got, &lane->shared->cells[i], value, cond,
                                  on_context(lane, context, to));
    } else if ((got = local(lane, sizeof *got)) != NULL) {
        *got = cell->atomic->blocking(context->handle, how, fetches, &lane->shared->cells[i], value,
                                      cond, on_context(lane, context, to));
        if (!fetches || how == SET)
            return;
    } else {
        wrong(lane, "no local memory left");
    }
    *old = (Old){got, cell, value, before};
}

static void atomic_round(Lane *lane, Random *random)
{
    Cell(*cells)[CELLS] = calloc(MOST_PES, sizeof *cells);
    Old *olds = calloc((size_t)lane->operations, sizeof *olds);
    int i;

    draw_cells(lane, random, cells);
    for (i = 0; i < lane->operations; i++)
        one_atomic(lane, random, cells, &olds[i]);
    finish_round(lane);
    for (i = 0; i < lane->operations; i++)
        if (olds[i].got != NULL && !is_possible(&olds[i]))
            wrong(lane, "an atomic of %zu bytes fetched %#llx (owner %d, how %d, before the round %#llx, wanted %#llx)",
                  olds[i].cell->atomic->size, (unsigned long long)*olds[i].got, olds[i].cell->owner,
                  olds[i].cell->how, (unsigned long long)olds[i].cell->before,
                  (unsigned long long)olds[i].wanted);
    for (i = 0; i < CELLS; i++)
        if (lane->shared->cells[i] != lane->cells[lane->me][i])
            wrong(lane, "cell %d is %#llx and should be %#llx", i,
                  (unsigned long long)lane->shared->cells[i],
                  (unsigned long long)lane->cells[lane->me][i]);
    free(cells);
    free(olds);
}

#endif
