// Rounds of puts and gets of all kinds: each piece of a PE's area is the target of one put, or is read.
#ifndef FARREACH_SOAK_TRANSFERS_H
#define FARREACH_SOAK_TRANSFERS_H

#include "lane.h"

typedef struct {
    size_t size;
    void (*put)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*put_nbi)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*get)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*get_nbi)(shmem_ctx_t, void *, const void *, size_t, int);
    void (*iput)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*iget)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*ibput)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
    void (*ibget)(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t, int);
    // One element, by value.
    void (*p)(shmem_ctx_t, void *, const void *, int);
    void (*g)(shmem_ctx_t, void *, const void *, int);
} Mover;

// The routines of a type, by addresses without one.
#define MOVER(NAME, TYPE)                                                                          \
    static void NAME##_move_put(shmem_ctx_t c, void *d, const void *s, size_t n, int pe)           \
    {                                                                                              \
        shmem_ctx_##NAME##_put(c, d, s, n, pe);                                                    \
    }                                                                                              \
    static void NAME##_move_put_nbi(shmem_ctx_t c, void *d, const void *s, size_t n, int pe)       \
    {                                                                                              \
        shmem_ctx_##NAME##_put_nbi(c, d, s, n, pe);                                                \
    }                                                                                              \
    static void NAME##_move_get(shmem_ctx_t c, void *d, const void *s, size_t n, int pe)           \
    {                                                                                              \
        shmem_ctx_##NAME##_get(c, d, s, n, pe);                                                    \
    }                                                                                              \
    static void NAME##_move_get_nbi(shmem_ctx_t c, void *d, const void *s, size_t n, int pe)       \
    {                                                                                              \
        shmem_ctx_##NAME##_get_nbi(c, d, s, n, pe);                                                \
    }                                                                                              \
    static void NAME##_move_iput(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst,             \
                                 ptrdiff_t sst, size_t n, int pe)                                  \
    {                                                                                              \
        shmem_ctx_##NAME##_iput(c, d, s, dst, sst, n, pe);                                         \
    }                                                                                              \
    static void NAME##_move_iget(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst,             \
                                 ptrdiff_t sst, size_t n, int pe)                                  \
    {                                                                                              \
        shmem_ctx_##NAME##_iget(c, d, s, dst, sst, n, pe);                                         \
    }                                                                                              \
    static void NAME##_move_ibput(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst,            \
                                  ptrdiff_t sst, size_t b, size_t n, int pe)                       \
    {                                                                                              \
        shmem_ctx_##NAME##_ibput(c, d, s, dst, sst, b, n, pe);                                     \
    }                                                                                              \
    static void NAME##_move_ibget(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst,            \
                                  ptrdiff_t sst, size_t b, size_t n, int pe)                       \
    {                                                                                              \
        shmem_ctx_##NAME##_ibget(c, d, s, dst, sst, b, n, pe);                                     \
    }

#define MOVER_BY_VALUE(NAME, TYPE)                                                                 \
    MOVER(NAME, TYPE)                                                                              \
    static void NAME##_move_p(shmem_ctx_t c, void *d, const void *s, int pe)                       \
    {                                                                                              \
        shmem_ctx_##NAME##_p(c, d, *(const TYPE *)s, pe);                                          \
    }                                                                                              \
    static void NAME##_move_g(shmem_ctx_t c, void *d, const void *s, int pe)                       \
    {                                                                                              \
        *(TYPE *)d = shmem_ctx_##NAME##_g(c, s, pe);                                               \
    }

#define ROUTINES(NAME, TYPE)                                                                       \
    sizeof(TYPE), NAME##_move_put, NAME##_move_put_nbi, NAME##_move_get, NAME##_move_get_nbi,      \
        NAME##_move_iput, NAME##_move_iget, NAME##_move_ibput, NAME##_move_ibget

// Bits of floating-point numbers need not survive as values, and arrays of them must.
MOVER(float, float)
MOVER(double, double)
MOVER(longdouble, long double)
MOVER_BY_VALUE(char, char)
MOVER_BY_VALUE(short, short)
MOVER_BY_VALUE(int, int)
MOVER_BY_VALUE(long, long)
MOVER_BY_VALUE(uint8, uint8_t)
MOVER_BY_VALUE(uint64, uint64_t)
MOVER_BY_VALUE(ptrdiff, ptrdiff_t)

static const Mover movers[] = {
    {ROUTINES(float, float), NULL, NULL},
    {ROUTINES(double, double), NULL, NULL},
    {ROUTINES(longdouble, long double), NULL, NULL},
    {ROUTINES(char, char), char_move_p, char_move_g},
    {ROUTINES(short, short), short_move_p, short_move_g},
    {ROUTINES(int, int), int_move_p, int_move_g},
    {ROUTINES(long, long), long_move_p, long_move_g},
    {ROUTINES(uint8, uint8_t), uint8_move_p, uint8_move_g},
    {ROUTINES(uint64, uint64_t), uint64_move_p, uint64_move_g},
    {ROUTINES(ptrdiff, ptrdiff_t), ptrdiff_move_p, ptrdiff_move_g},
};

#define MOVERS (int)(sizeof movers / sizeof movers[0])

// One operation, drawn alike by all PEs.
typedef struct {
    const Mover *mover;
    int from;
    int to;
    int context;
    int kind;
    bool is_get;
    // Place in the area, in bytes; elements or blocks, and elements of a block; strides at both
    // sides, in elements.
    size_t at;
    size_t count;
    size_t block;
    size_t near_stride;
    size_t far_stride;
    uint64_t key;
} Move;

// The bytes that a get brought, and those that it must have brought.
typedef struct {
    const unsigned char *got;
    unsigned char *wanted;
    size_t size;
    const Move *move;
} Fetched;

enum { WHOLE, WHOLE_NBI, STRIDED, BLOCKS, ONE, KINDS };

static size_t far_extent(const Move *move)
{
    return ((move->count - 1) * move->far_stride + move->block) * move->mover->size;
}

static size_t near_extent(const Move *move)
{
    return ((move->count - 1) * move->near_stride + move->block) * move->mover->size;
}

// Draws an operation, and takes its pieces; false where others have them.
static bool draw_move(Lane *lane, Random *random, unsigned char taken[MOST_PES][PIECES], Move *move)
{
    size_t room, first, last, piece;
    int pieces = below(random, 12) == 0 ? 1 + below(random, 16) : 1;
    bool is_free = true;

    move->mover = &movers[below(random, MOVERS)];
    move->from = below(random, lane->pes);
    move->to = below(random, lane->pes);
    move->context = context_for(lane, random, move->from, move->to);
    move->is_get = below(random, 2) == 0;
    move->kind = below(random, KINDS);
    move->key = draw(random);
    first = (size_t)below(random, PIECES - pieces + 1);
    room = (size_t)pieces * PIECE / move->mover->size;
    move->at = first * PIECE + (size_t)below(random, 8) * move->mover->size;
    room -= 8;
    move->block = 1;
    move->near_stride = 1 + (size_t)below(random, 3);
    move->far_stride = 1 + (size_t)below(random, 3);
    if (move->kind == ONE && move->mover->p == NULL)
        move->kind = WHOLE;
    if (move->kind == BLOCKS) {
        move->block = 1 + (size_t)below(random, 4);
        move->near_stride += move->block - 1;
        move->far_stride += move->block - 1;
    } else if (move->kind != STRIDED) {
        move->near_stride = move->far_stride = 1;
    }
    move->count = 1 + (size_t)(draw(random) % (room / move->far_stride - move->block));
    if (below(random, 3) == 0)
        move->count = 1 + move->count % 9;
    if (move->kind == ONE)
        move->count = 1;
    last = (move->at + far_extent(move) - 1) / PIECE;
    for (piece = first; piece <= last; piece++)
        if (taken[move->to][piece] > (move->is_get ? 1 : 0))
            is_free = false;
    for (piece = first; is_free && piece <= last; piece++)
        taken[move->to][piece] = move->is_get ? 1 : 2;
    return is_free;
}

// Copies the elements of an operation between its two sides.
static void copy_elements(const Move *move, unsigned char *to, size_t to_stride,
                          const unsigned char *from, size_t from_stride)
{
    size_t size = move->mover->size, i;

    for (i = 0; i < move->count; i++)
        memcpy(to + i * to_stride * size, from + i * from_stride * size, move->block * size);
}

static void do_put(Lane *lane, const Move *move, int pe, shmem_ctx_t ctx, const void *source)
{
    const Mover *mover = move->mover;
    void *dest = lane->shared->area + move->at;
    ptrdiff_t dst = (ptrdiff_t)move->far_stride, sst = (ptrdiff_t)move->near_stride;

    switch (move->kind) {
    case WHOLE:
        mover->put(ctx, dest, source, move->count, pe);
        break;
    case WHOLE_NBI:
        mover->put_nbi(ctx, dest, source, move->count, pe);
        break;
    case STRIDED:
        mover->iput(ctx, dest, source, dst, sst, move->count, pe);
        break;
    case BLOCKS:
        mover->ibput(ctx, dest, source, dst, sst, move->block, move->count, pe);
        break;
    default:
        mover->p(ctx, dest, source, pe);
    }
}

static void do_get(Lane *lane, const Move *move, int pe, shmem_ctx_t ctx, void *dest)
{
    const Mover *mover = move->mover;
    const void *source = lane->shared->area + move->at;
    ptrdiff_t dst = (ptrdiff_t)move->near_stride, sst = (ptrdiff_t)move->far_stride;

    switch (move->kind) {
    case WHOLE:
        mover->get(ctx, dest, source, move->count, pe);
        break;
    case WHOLE_NBI:
        mover->get_nbi(ctx, dest, source, move->count, pe);
        break;
    case STRIDED:
        mover->iget(ctx, dest, source, dst, sst, move->count, pe);
        break;
    case BLOCKS:
        mover->ibget(ctx, dest, source, dst, sst, move->block, move->count, pe);
        break;
    default:
        mover->g(ctx, dest, source, pe);
    }
}

// Does the operation on all PEs: its effect on the model, and the operation itself on the PE that
// it comes from.
static void make_move(Lane *lane, const Move *move, Fetched *fetched)
{
    Context *context = &lane->contexts[move->context];
    unsigned char *model = lane->areas[move->to] + move->at;
    size_t size = near_extent(move);
    unsigned char *near, *wanted;
    int pe = on_context(lane, context, move->to);

    fetched->got = NULL;
    if (!move->is_get && (near = local(lane, size)) != NULL) {
        fill(near, size, move->key);
        copy_elements(move, model, move->far_stride, near, move->near_stride);
        if (move->from == lane->me) {
            context->is_used = true;
            do_put(lane, move, pe, context->handle, near);
        }
    } else if (move->is_get && move->from == lane->me && (near = local(lane, 2 * size)) != NULL) {
        wanted = near + size;
        fill(near, size, move->key);
        memcpy(wanted, near, size);
        copy_elements(move, wanted, move->near_stride, model, move->far_stride);
        context->is_used = true;
        do_get(lane, move, pe, context->handle, near);
        *fetched = (Fetched){near, wanted, size, move};
    }
}

static void compare_area(const Lane *lane)
{
    const unsigned char *got = lane->shared->area, *wanted = lane->areas[lane->me];
    size_t i = 0;

    if (memcmp(got, wanted, AREA) == 0)
        return;
    while (got[i] == wanted[i])
        i++;
    wrong(lane, "byte %zu of the area is %#x and should be %#x", i, got[i], wanted[i]);
}

static void transfer_round(Lane *lane, Random *random)
{
    unsigned char taken[MOST_PES][PIECES] = {{0}};
    Move *moves = calloc((size_t)lane->operations, sizeof *moves);
    Fetched *fetched = calloc((size_t)lane->operations, sizeof *fetched);
    int count = 0, i;

    for (i = 0; i < lane->operations; i++)
        if (draw_move(lane, random, taken, &moves[count]))
            count++;
    // All PEs use up the same local memory, whatever they do themselves: the model must not depend
    // on the PE that runs out.
    for (i = 0; i < count; i++) {
        size_t used = lane->local_used;

        make_move(lane, &moves[i], &fetched[i]);
        lane->local_used = used + (2 * near_extent(&moves[i]) + 32);
        if (lane->local_used > LOCAL)
            lane->local_used = LOCAL;
    }
    finish_round(lane);
    for (i = 0; i < count; i++)
        if (fetched[i].got != NULL && memcmp(fetched[i].got, fetched[i].wanted, fetched[i].size) != 0)
            wrong(lane, "a get of kind %d, %zu blocks of %zu elements of %zu bytes from PE %d at %zu, brought something else",
                  moves[i].kind, moves[i].count, moves[i].block, moves[i].mover->size, moves[i].to, moves[i].at);
    compare_area(lane);
    free(moves);
    free(fetched);
}

#endif
