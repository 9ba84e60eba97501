// Draws what all lanes do in a round: each process draws it for all.
#pragma once
#include "common.h"

enum kind { MESSAGE, TAGGED, WRITE, READ, ATOMIC, FETCH, COMPARE, KINDS };
enum how { PLAIN, PIECES, RECORD, DATA, INJECT, INJECT_DATA };
// How the target takes a tagged message.
enum mode { EXACT, DIRECTED, MASKED, CLAIMED, DISCARDED, CUT };
enum memory { OF_HEAP, OF_MAPPING, OF_ARENA };

// An epoch's settings.
static struct settings {
    bool one_ep, basic, automatic, one_cq, selective_tx, selective_rx, counters, events, triggers;
    int memory, format;
    size_t cq_size;
    enum fi_wait_obj wait;
} set;

// Counter whose threshold starts an operation, and the releases that it takes to have that count.
struct start {
    struct fid_cntr *cntr;
    uint64_t threshold, releases;
};

struct op {
    struct fi_triggered_context context; // First: operations are known by it.
    struct fi_deferred_work work;
    union {
        struct fi_op_msg msg;
        struct fi_op_rma rma;
        struct fi_op_tagged tagged;
        struct fi_op_atomic atomic;
        struct fi_op_fetch_atomic fetch;
        struct fi_op_compare_atomic compare;
    } record;
    struct iovec iov[4];
    struct fi_rma_iov there[4];
    struct fi_ioc ioc, found, comparands;
    struct fi_rma_ioc place;
    enum kind kind;
    enum how how;
    enum mode mode;
    int id, lane, process, ep, taker, pieces, threshold, slot;
    bool has_data, doomed, deferred, told_of, contested;
    size_t len, room;
    uint64_t key, tag, data, flags, offset;
    enum fi_datatype type;
    enum fi_op op;
    size_t count;
    // How it goes.
    char *buffer, *result;
    const char *landed;
    struct start start;
    bool refused;
    int told, failed, came;
};

struct plan {
    int round, many;
    struct op ops[LANES * OPERATIONS];
    // How far each lane writes at each process.
    size_t ends[LANES][PROCESSES];
    // Messages without a tag for each endpoint, their longest, and whether buffers take several.
    int messages[PROCESSES][THREADS];
    size_t longest[PROCESSES][THREADS];
    bool multi[PROCESSES][THREADS];
    bool doomed;
};

// Tells which datatypes and operations there are, by number of elements: by the endpoint.
static uint8_t valid[3][FI_FLOAT_COMPLEX][FI_MSWAP + 1];

static inline int lane_of(int process, int number) { return process * options.threads + number; }
static inline int process_of(int lane) { return lane / options.threads; }
static inline int ep_of(int lane) { return set.one_ep ? 0 : lane % options.threads; }
static inline int eps(void) { return set.one_ep ? 1 : options.threads; }

static void draw_settings(void) {
    struct numbers from = {hash(1, epoch, 0)};
    set = (struct settings){
        .one_ep = chance(&from, 2),
        .basic = chance(&from, 2),
        .automatic = chance(&from, 4),
        .one_cq = chance(&from, 3),
        .selective_tx = chance(&from, 2),
        .selective_rx = chance(&from, 3),
        .counters = !chance(&from, 3),
        .events = chance(&from, 4),
        .triggers = chance(&from, 2),
    };
    set.memory = (int)draw(&from, 3);
    set.cq_size = (size_t[]){0, 0, 64, 8, 3}[draw(&from, 5)];
    set.wait = (enum fi_wait_obj[]){FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD,
                                    FI_WAIT_YIELD}[draw(&from, 4)];
    set.format = (int)draw(&from, 6);
}

static size_t draw_len(struct numbers *from, size_t most) {
    size_t len = 0;
    uint64_t kind = draw(from, 16);
    if (kind >= 1)
        len = 1 + draw(from, 64);
    if (kind >= 6)
        len = 1 + draw(from, 4096);
    if (kind >= 10)
        len = 1 + draw(from, 32 << 10);
    if (kind >= 13)
        len = 1 + draw(from, 300 << 10);
    if (kind == 15)
        len = 1 + draw(from, chance(from, 4) ? 4 << 20 : 600 << 10);
    // Lengths at which something may begin.
    if (chance(from, 8))
        len = ((size_t[]){8, 16, 64, 4096, 8192, 16384, 65536, 262144})[draw(from, 8)] +
              draw(from, 3) - 1;
    return len < most ? len : most;
}

static uint64_t draw_level(struct numbers *from) {
    uint64_t levels[] = {0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE};
    return levels[draw(from, 4)];
}

// Of messages.
static uint64_t draw_match(struct numbers *from) {
    return chance(from, 5) ? FI_MATCH_COMPLETE : draw_level(from);
}

static void draw_message(struct plan *plan, struct op *op, struct numbers *from) {
    bool multi = plan->multi[op->process][op->ep];
    op->len = draw_len(from, op->kind == MESSAGE ? (multi ? 40000 : 600 << 10) : 4 << 20);
    op->how = (enum how)draw(from, 6);
    if (op->how == INJECT || op->how == INJECT_DATA)
        op->len %= 8193;
    op->has_data = op->how == DATA || op->how == INJECT_DATA;
    op->has_data |= op->how == RECORD && chance(from, 2);
    // Several threads' short messages without data could not be told apart.
    if (op->kind == MESSAGE && op->len < 8 && set.one_ep && !op->has_data)
        op->len += 8;
    if (op->how == RECORD) {
        op->flags = draw_match(from);
        if (op->len <= 8192 && chance(from, 4))
            op->flags |= FI_INJECT;
    }
    op->data = ((plan->round + 1ull) << 32 | (uint64_t)epoch << 52) + (uint64_t)op->id;
    op->mode = op->kind == TAGGED ? (enum mode)draw(from, 6) : EXACT;
    if (op->mode == CUT && (op->len < 16 || chance(from, 2)))
        op->mode = EXACT;
    op->room = op->mode == CUT ? draw(from, op->len) : op->len;
    int lane = lane_of(op->process, op->taker);
    uint64_t group = op->mode == MASKED    ? 1 + (uint64_t)lane
                     : op->mode == CLAIMED ? 101 + (uint64_t)op->ep
                                           : 0;
    op->tag = (uint64_t)op->kind << 60 | (uint64_t)(plan->round & 0xfff) << 40 | group << 20 |
              (uint64_t)op->id;
    if (op->kind == MESSAGE) {
        plan->messages[op->process][op->ep]++;
        if (op->len > plan->longest[op->process][op->ep])
            plan->longest[op->process][op->ep] = op->len;
    }
}

static void draw_access(struct plan *plan, struct op *op, struct numbers *from) {
    op->how = (enum how)draw(from, op->kind == WRITE ? 6 : 3);
    size_t end = plan->ends[op->lane][op->process];
    size_t left = op->kind == READ ? AREA : AREA - 64 - end, most = left < 4 << 20 ? left : 4 << 20;
    op->len = draw_len(from, most);
    if (op->how == INJECT || op->how == INJECT_DATA)
        op->len %= 8193;
    op->has_data = op->how == DATA || op->how == INJECT_DATA ||
                   (op->how == RECORD && op->kind == WRITE && chance(from, 2));
    op->data = (1ull << 60 | (plan->round + 1ull) << 32 | (uint64_t)epoch << 52) + (uint64_t)op->id;
    if (op->how == RECORD)
        op->flags = draw_level(from);
    if (op->how == RECORD && op->kind == WRITE && op->len <= 8192 && chance(from, 4))
        op->flags |= FI_INJECT;
    if (op->kind == READ) {
        op->flags &= ~(uint64_t)(FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE);
        op->offset = draw(from, READABLE - op->len);
    } else {
        op->offset = end + 1 + draw(from, 64);
        plan->ends[op->lane][op->process] = op->offset + op->len;
    }
    op->doomed = plan->doomed && chance(from, 3);
    if (op->doomed) {
        op->has_data = false, op->len %= DOOMED / 2, op->offset = draw(from, DOOMED / 2);
        op->how = op->how % 3;
    }
}

static bool can(struct op *op) {
    int form = op->kind - ATOMIC;
    return valid[form][op->type][op->op];
}

static bool draw_atomic(struct op *op, struct numbers *from) {
    enum fi_op first = op->kind == COMPARE ? FI_CSWAP : FI_MIN;
    enum fi_op last = op->kind == COMPARE ? FI_MSWAP : FI_ATOMIC_WRITE;
    for (int tries = 0; tries < 200; tries++) {
        op->type = (enum fi_datatype)draw(from, FI_FLOAT_COMPLEX);
        op->op = first + (enum fi_op)draw(from, last - first + 1);
        if (!can(op))
            continue;
        op->count = chance(from, 3) ? 1 + draw(from, ELEMENTS) : chance(from, 3) ? 3 : 1;
        op->contested = op->op == FI_SUM && op->type == FI_UINT64 && !chance(from, 4);
        if (op->contested)
            op->count = 1;
        op->how = (enum how)draw(from, 3);
        op->how = op->how == PIECES ? PLAIN : op->how;
        if (op->kind == ATOMIC && op->count <= 32 && chance(from, 4))
            op->how = INJECT;
        if (op->how == RECORD && chance(from, 2))
            op->flags = op->kind == ATOMIC ? draw_level(from) : FI_DELIVERY_COMPLETE;
        return true;
    }
    return false;
}

// Draws when an operation starts, and how it is told of.
static void draw_ending(struct op *op, struct numbers *from) {
    bool injected = op->how == INJECT || op->how == INJECT_DATA;
    // Messages that could be any of several come in their order.
    bool is_known = op->kind != MESSAGE || op->len > 7 || op->has_data;
    bool may_wait = set.triggers && op->how == RECORD && is_known && !op->doomed;
    if (may_wait && chance(from, 3)) {
        op->threshold = 1 + (int)draw(from, 3);
        op->flags &= ~(uint64_t)FI_INJECT;
        op->deferred = op->mode != CUT && chance(from, 2);
        if (!op->deferred)
            op->flags |= FI_TRIGGER;
    }
    bool plain = op->how != RECORD || (op->flags & FI_COMPLETION);
    op->told_of = !injected && (!set.selective_tx || !plain);
    if (op->how == RECORD && (op->deferred || set.selective_tx)) {
        // Without a completion the end of a read is known by the counter alone.
        bool known = (op->kind <= TAGGED || op->kind == WRITE || op->kind == ATOMIC) &&
                     !op->threshold;
        known |= op->deferred;
        op->told_of = op->doomed || !(known || set.counters) || chance(from, 2);
        op->flags |= op->told_of ? FI_COMPLETION : 0;
    } else if (set.selective_tx && !injected) {
        bool known = op->kind != READ && op->kind != FETCH && op->kind != COMPARE && !op->doomed;
        if (!known && (!set.counters || op->doomed)) {
            op->how = RECORD, op->flags = FI_COMPLETION, op->told_of = true;
        } else
            op->told_of = false;
    }
    op->pieces = op->how == PIECES || op->how == RECORD ? 1 + (int)draw(from, 4) : 1;
}

// Returns whether the access is done when its initiator has ended the round.
static bool is_sure(const struct op *op) {
    bool known = op->told_of || op->deferred || set.counters;
    return set.events || (op->flags & FI_DELIVERY_COMPLETE && known);
}

static void draw_lane(struct plan *plan, int lane) {
    struct numbers from = {hash(2 + epoch, plan->round, lane)};
    int many = 1 + (int)draw(&from, options.operations);
    for (int i = 0, slot = 0; i < many; i++) {
        struct op *op = &plan->ops[plan->many];
        *op = (struct op){.id = plan->many, .lane = lane};
        op->kind = (enum kind[]){MESSAGE, MESSAGE, TAGGED, TAGGED, TAGGED, WRITE,
                                 WRITE, READ, ATOMIC, FETCH, COMPARE}[draw(&from, 11)];
        op->process = (int)draw(&from, options.processes);
        op->ep = (int)draw(&from, eps());
        op->taker = set.one_ep ? (int)draw(&from, options.threads) : op->ep;
        op->key = hash(1ull << 32 | epoch, plan->round, op->id) | 1;
        if (op->kind == MESSAGE || op->kind == TAGGED)
            draw_message(plan, op, &from);
        else if (op->kind == WRITE || op->kind == READ)
            draw_access(plan, op, &from);
        else if (!draw_atomic(op, &from))
            continue;
        else
            op->slot = slot++;
        draw_ending(op, &from);
        plan->many++;
    }
}

static void draw_plan(struct plan *plan, int round) {
    struct numbers from = {hash(2 + epoch, round, 1000)};
    plan->round = round, plan->many = 0;
    plan->doomed = !set.events && chance(&from, 4);
    memset(plan->messages, 0, sizeof plan->messages);
    memset(plan->longest, 0, sizeof plan->longest);
    for (int p = 0; p < options.processes; p++)
        for (int e = 0; e < THREADS; e++)
            plan->multi[p][e] = chance(&from, 3);
    for (int lane = 0; lane < LANES; lane++)
        for (int p = 0; p < PROCESSES; p++)
            plan->ends[lane][p] = 0;
    for (int lane = 0; lane < options.processes * options.threads; lane++)
        draw_lane(plan, lane);
}
