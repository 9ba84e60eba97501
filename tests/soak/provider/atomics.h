// Has what atomic operations do, by fi_atomic(3): on each cell one operation of a round, and on a
// contested one of each process the sums of all.
#pragma once
#include "objects.h"

#define COMMON                                                                                     \
    case FI_MIN:                                                                                   \
        return with < old ? with : old;                                                            \
    case FI_MAX:                                                                                   \
        return with > old ? with : old;                                                            \
    case FI_ATOMIC_READ:                                                                           \
        return old;                                                                                \
    case FI_ATOMIC_WRITE:                                                                          \
        return with;                                                                               \
    case FI_CSWAP:                                                                                 \
        return compare == old ? with : old;                                                        \
    case FI_CSWAP_NE:                                                                              \
        return compare != old ? with : old;                                                        \
    case FI_CSWAP_LE:                                                                              \
        return compare <= old ? with : old;                                                        \
    case FI_CSWAP_LT:                                                                              \
        return compare < old ? with : old;                                                         \
    case FI_CSWAP_GE:                                                                              \
        return compare >= old ? with : old;                                                        \
    case FI_CSWAP_GT:                                                                              \
        return compare > old ? with : old;

#define WHOLE(NAME, T)                                                                             \
    static T NAME(enum fi_op op, T old, T with, T compare) {                                       \
        switch (op) {                                                                              \
            COMMON                                                                                 \
        case FI_SUM:                                                                               \
            return (T)((uint64_t)old + (uint64_t)with);                                            \
        case FI_PROD:                                                                              \
            return (T)((uint64_t)old * (uint64_t)with);                                            \
        case FI_LOR:                                                                               \
            return old || with;                                                                    \
        case FI_LAND:                                                                              \
            return old && with;                                                                    \
        case FI_LXOR:                                                                              \
            return !old != !with;                                                                  \
        case FI_BOR:                                                                               \
            return old | with;                                                                     \
        case FI_BAND:                                                                              \
            return old & with;                                                                     \
        case FI_BXOR:                                                                              \
            return old ^ with;                                                                     \
        case FI_MSWAP:                                                                             \
            return (T)((with & compare) | (old & ~compare));                                       \
        default:                                                                                   \
            fail(__LINE__, "operation %d", (int)op);                                               \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_at(enum fi_op op, char *cell, uint64_t with, uint64_t compare) {            \
        T old;                                                                                     \
        memcpy(&old, cell, sizeof old);                                                            \
        old = NAME(op, old, (T)with, (T)compare);                                                  \
        memcpy(cell, &old, sizeof old);                                                            \
    }

#define BROKEN(NAME, T)                                                                            \
    static T NAME(enum fi_op op, T old, T with, T compare) {                                       \
        switch (op) {                                                                              \
            COMMON                                                                                 \
        case FI_SUM:                                                                               \
            return old + with;                                                                     \
        case FI_PROD:                                                                              \
            return old * with;                                                                     \
        case FI_LOR:                                                                               \
            return old || with;                                                                    \
        case FI_LAND:                                                                              \
            return old && with;                                                                    \
        case FI_LXOR:                                                                              \
            return !old != !with;                                                                  \
        default:                                                                                   \
            fail(__LINE__, "operation %d", (int)op);                                               \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_at(enum fi_op op, char *cell, uint64_t with, uint64_t compare) {            \
        T old, operand, other;                                                                     \
        memcpy(&old, cell, sizeof old);                                                            \
        memcpy(&operand, &with, sizeof old);                                                       \
        memcpy(&other, &compare, sizeof old);                                                      \
        old = NAME(op, old, operand, other);                                                       \
        memcpy(cell, &old, sizeof old);                                                            \
    }

WHOLE(of_int8, int8_t)
WHOLE(of_uint8, uint8_t)
WHOLE(of_int16, int16_t)
WHOLE(of_uint16, uint16_t)
WHOLE(of_int32, int32_t)
WHOLE(of_uint32, uint32_t)
WHOLE(of_int64, int64_t)
WHOLE(of_uint64, uint64_t)
BROKEN(of_float, float)
BROKEN(of_double, double)

static const struct {
    size_t len;
    void (*apply)(enum fi_op, char *, uint64_t, uint64_t);
} types[] = {
    [FI_INT8] = {1, of_int8_at},     [FI_UINT8] = {1, of_uint8_at},
    [FI_INT16] = {2, of_int16_at},   [FI_UINT16] = {2, of_uint16_at},
    [FI_INT32] = {4, of_int32_at},   [FI_UINT32] = {4, of_uint32_at},
    [FI_INT64] = {8, of_int64_at},   [FI_UINT64] = {8, of_uint64_at},
    [FI_FLOAT] = {4, of_float_at},   [FI_DOUBLE] = {8, of_double_at},
};

enum part { OLD = 1, WITH, WITH_WHICH };

// Returns the bits of one element of an operation: what is there, or one of its operands.
static uint64_t element(const struct op *op, enum part part, size_t i) {
    uint64_t drawn = hash(op->key, part, i), bits = drawn;
    if (part == WITH_WHICH && op->op != FI_MSWAP && drawn % 2)
        return element(op, OLD, i);
    if (op->type == FI_FLOAT) {
        float value = (float)((int)(drawn % 2001) - 1000) / 4;
        bits = 0;
        memcpy(&bits, &value, sizeof value);
    } else if (op->type == FI_DOUBLE) {
        double value = (double)((int)(drawn % 2001) - 1000) / 4;
        memcpy(&bits, &value, sizeof value);
    }
    return bits;
}

static void elements(const struct op *op, enum part part, char *to) {
    size_t len = types[op->type].len;
    for (size_t i = 0; i < op->count; i++) {
        uint64_t bits = element(op, part, i);
        memcpy(to + i * len, &bits, len);
    }
}

// Writes the value that a cell holds after its operation.
static void outcome(const struct op *op, char *to) {
    elements(op, OLD, to);
    for (size_t i = 0; i < op->count; i++)
        types[op->type].apply(op->op, to + i * types[op->type].len, element(op, WITH, i),
                              element(op, WITH_WHICH, i));
}

static size_t bytes_of(const struct op *op) { return op->count * types[op->type].len; }

// Returns where the cell of an operation lies in the region of cells.
static uint64_t cell_of(const struct op *op) {
    if (op->contested)
        return cells_len() - 64;
    return ((uint64_t)op->lane * OPERATIONS + (uint64_t)op->slot) * CELL;
}

// Puts into the cells of this process what operations of the round expect there.
static void prepare_cells(struct plan *plan) {
    char *cells = regions[CELLS].at;
    memset(cells + cells_len() - 64, 0, 64);
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->kind < ATOMIC || op->process != me || op->contested)
            continue;
        memset(cells + cell_of(op), 0xee, CELL);
        elements(op, OLD, cells + cell_of(op));
    }
}

// Returns the first byte of a cell that differs from what its operation leaves, or CELL.
static size_t cell_differs(const struct op *op) {
    char *at = regions[CELLS].at + cell_of(op), wanted[CELL];
    size_t same = 0;
    memset(wanted, 0xee, sizeof wanted);
    outcome(op, wanted);
    while (same < CELL && wanted[same] == at[same])
        same++;
    return same;
}

// Compares the cells with the model. Operations without a promise of that may be on their way.
static void check_cells(struct plan *plan) {
    uint64_t sum = 0;
    bool all_sure = true;
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->kind < ATOMIC || op->process != me)
            continue;
        bool sure = is_sure(op) || op->kind != ATOMIC;
        if (op->contested) {
            sum += element(op, WITH, 0), all_sure &= sure;
            continue;
        }
        size_t at;
        AT("waits for the cell of operation", op->id);
        while ((at = cell_differs(op)) < CELL && !sure)
            take();
        if (at < CELL)
            fail(__LINE__,
                 "operation %d of lane %d (kind %d, type %d, op %d, %zu elements, flags %llx): "
                 "byte %zu of its cell",
                 op->id, op->lane, op->kind, op->type, op->op, op->count, (long long)op->flags, at);
    }
    AT("waits for the contested cell", 0);
    _Atomic uint64_t *found = (void *)(regions[CELLS].at + cells_len() - 64);
    while (*found != sum && !all_sure)
        take();
    CHECK(*found == sum, "%llx for %llx", (long long)*found, (long long)sum);
}
