// Calls the routines that begin operations.
#pragma once
#include "take.h"

// Divides `len` bytes into pieces, some of them empty.
static void divide(struct numbers *from, size_t len, int pieces, size_t *lens) {
    for (int i = 0; i < pieces; i++) {
        lens[i] = i + 1 == pieces ? len : draw(from, len + 1);
        len -= lens[i];
    }
}

static void lay_out(char *at, size_t len, int pieces, uint64_t salt, struct iovec *iov) {
    struct numbers from = {salt};
    size_t lens[4];
    divide(&from, len, pieces, lens);
    for (int i = 0; i < pieces; i++) {
        iov[i] = (struct iovec){at, lens[i]};
        at += lens[i];
    }
}

// Makes the memory of an operation: what it sends, and room for what it brings.
static void prepare(struct op *op) {
    size_t len = op->kind >= ATOMIC ? bytes_of(op) : op->len;
    if (op->kind == READ || op->kind == FETCH || op->kind == COMPARE) {
        op->result = malloc(len + 16);
        memset(op->result, 0xdd, len + 16);
    }
    if (op->kind == READ) {
        lay_out(op->result, len, op->pieces, op->key, op->iov);
        return;
    }
    op->buffer = malloc(op->kind == COMPARE ? 2 * len : len + 1);
    if (op->kind < ATOMIC) {
        fill(op->buffer, op->key, 0, len);
        lay_out(op->buffer, len, op->pieces, op->key, op->iov);
        return;
    }
    elements(op, WITH, op->buffer);
    if (op->kind == COMPARE)
        elements(op, WITH_WHICH, op->buffer + len);
    op->ioc = (struct fi_ioc){op->buffer, op->count};
}

static int region_of(const struct op *op) {
    return op->doomed ? ENDING : op->kind >= ATOMIC ? CELLS : op->kind == READ ? READS : op->lane;
}

static uint64_t place_of(const struct op *op, uint64_t *key) {
    int region = region_of(op);
    *key = shared->keys[op->process][region];
    return shared->bases[op->process][region] + (op->kind >= ATOMIC ? cell_of(op) : op->offset);
}

static ssize_t send_message(struct op *op, fi_addr_t to) {
    struct fid_ep *ep = ends[ep_of(op->lane)].ep;
    bool tagged = op->kind == TAGGED;
    uint64_t flags = op->flags | (op->has_data ? FI_REMOTE_CQ_DATA : 0);
    void *at = op->buffer;
    size_t many = (size_t)op->pieces;
    struct fi_msg plain = {op->iov, NULL, many, to, op, op->data};
    struct fi_msg_tagged record = {op->iov, NULL, many, to, op->tag, 0, op, op->data};
    switch (op->how) {
    case PLAIN:
        return tagged ? fi_tsend(ep, at, op->len, NULL, to, op->tag, op)
                      : fi_send(ep, at, op->len, NULL, to, op);
    case PIECES:
        return tagged ? fi_tsendv(ep, op->iov, NULL, many, to, op->tag, op)
                      : fi_sendv(ep, op->iov, NULL, many, to, op);
    case RECORD:
        if (op->deferred && tagged)
            op->record.tagged = (struct fi_op_tagged){ep, record, flags};
        else if (op->deferred)
            op->record.msg = (struct fi_op_msg){ep, plain, flags};
        if (op->deferred)
            return 0;
        return tagged ? fi_tsendmsg(ep, &record, flags) : fi_sendmsg(ep, &plain, flags);
    case DATA:
        return tagged ? fi_tsenddata(ep, at, op->len, NULL, op->data, to, op->tag, op)
                      : fi_senddata(ep, at, op->len, NULL, op->data, to, op);
    case INJECT:
        return tagged ? fi_tinject(ep, at, op->len, to, op->tag)
                      : fi_inject(ep, at, op->len, to);
    default:
        return tagged ? fi_tinjectdata(ep, at, op->len, op->data, to, op->tag)
                      : fi_injectdata(ep, at, op->len, op->data, to);
    }
}

static ssize_t access_memory(struct op *op, fi_addr_t to) {
    struct fid_ep *ep = ends[ep_of(op->lane)].ep;
    bool writes = op->kind == WRITE;
    uint64_t flags = op->flags | (op->has_data ? FI_REMOTE_CQ_DATA : 0), key;
    uint64_t there = place_of(op, &key);
    size_t many = (size_t)op->pieces, ranges = 1 + op->key / 2 % 4, lens[4];
    struct numbers from = {op->key + 1};
    divide(&from, op->len, (int)ranges, lens);
    for (uint64_t i = 0, at = there; i < ranges; at += lens[i++])
        op->there[i] = (struct fi_rma_iov){at, lens[i], key};
    struct fi_msg_rma record = {op->iov, NULL, many, to, op->there, ranges, op, op->data};
    switch (op->how) {
    case PLAIN:
        return writes ? fi_write(ep, op->buffer, op->len, NULL, to, there, key, op)
                      : fi_read(ep, op->result, op->len, NULL, to, there, key, op);
    case PIECES:
        return writes ? fi_writev(ep, op->iov, NULL, many, to, there, key, op)
                      : fi_readv(ep, op->iov, NULL, many, to, there, key, op);
    case RECORD:
        if (op->deferred)
            op->record.rma = (struct fi_op_rma){ep, record, flags};
        if (op->deferred)
            return 0;
        return writes ? fi_writemsg(ep, &record, flags) : fi_readmsg(ep, &record, flags);
    case DATA:
        return fi_writedata(ep, op->buffer, op->len, NULL, op->data, to, there, key, op);
    case INJECT:
        return fi_inject_write(ep, op->buffer, op->len, to, there, key);
    default:
        return fi_inject_writedata(ep, op->buffer, op->len, op->data, to, there, key);
    }
}

static ssize_t update(struct op *op, fi_addr_t to) {
    struct fid_ep *ep = ends[ep_of(op->lane)].ep;
    uint64_t key, there = place_of(op, &key);
    op->place = (struct fi_rma_ioc){there, op->count, key};
    struct fi_ioc result = op->found = (struct fi_ioc){op->result, op->count};
    struct fi_ioc compare = op->comparands =
        (struct fi_ioc){op->kind == COMPARE ? op->buffer + bytes_of(op) : NULL, op->count};
    struct fi_msg_atomic record = {&op->ioc, NULL, 1,  to,      &op->place,
                                   1,        op->type, op->op, op, 0};
    if (op->deferred) {
        if (op->kind == ATOMIC)
            op->record.atomic = (struct fi_op_atomic){ep, record, op->flags};
        else if (op->kind == FETCH)
            op->record.fetch = (struct fi_op_fetch_atomic){
                ep, record, {&op->found, NULL, 1}, op->flags};
        else
            op->record.compare = (struct fi_op_compare_atomic){
                ep, record, {&op->found, NULL, 1}, {&op->comparands, NULL, 1}, op->flags};
        return 0;
    }
    if (op->how == INJECT)
        return fi_inject_atomic(ep, op->buffer, op->count, to, there, key, op->type, op->op);
    if (op->how == RECORD)
        return op->kind == ATOMIC ? fi_atomicmsg(ep, &record, op->flags)
               : op->kind == FETCH
                   ? fi_fetch_atomicmsg(ep, &record, &result, NULL, 1, op->flags)
                   : fi_compare_atomicmsg(ep, &record, &compare, NULL, 1, &result, NULL, 1,
                                          op->flags);
    if (op->kind == ATOMIC)
        return fi_atomic(ep, op->buffer, op->count, NULL, to, there, key, op->type, op->op, op);
    if (op->kind == FETCH)
        return fi_fetch_atomic(ep, op->buffer, op->count, NULL, op->result, NULL, to, there, key,
                               op->type, op->op, op);
    return fi_compare_atomic(ep, op->buffer, op->count, NULL, compare.addr, NULL, op->result, NULL,
                             to, there, key, op->type, op->op, op);
}

static ssize_t begin(struct op *op) {
    fi_addr_t to = addresses[op->process][op->ep];
    return is_message(op) ? send_message(op, to)
           : op->kind <= READ ? access_memory(op, to)
                              : update(op, to);
}

// Queues work that starts after so many releases; now and then it is taken back first, and queued
// again.
static void queue_work(struct fi_deferred_work *work, uint64_t releases) {
    OK(fi_control(&domain->fid, FI_QUEUE_WORK, work));
    if (releases <= released[thread] || !chance(&whims, 4))
        return;
    OK(fi_control(&domain->fid, FI_CANCEL_WORK, work));
    CHECK(fi_control(&domain->fid, FI_CANCEL_WORK, work) == -FI_ENOENT, "taken back again");
    if (chance(&whims, 2)) {
        struct fid_cntr *cntr = work->triggering_cntr;
        work->triggering_cntr = never[thread];
        OK(fi_control(&domain->fid, FI_QUEUE_WORK, work));
        OK(fi_control(&domain->fid, FI_FLUSH_WORK, work));
        CHECK(fi_control(&domain->fid, FI_CANCEL_WORK, work) == -FI_ENOENT, "after a flush");
        work->triggering_cntr = cntr;
    }
    OK(fi_control(&domain->fid, FI_QUEUE_WORK, work));
}

static void defer(struct op *op) {
    static const enum fi_op_type types[KINDS] = {FI_OP_SEND,        FI_OP_TSEND,
                                                 FI_OP_WRITE,       FI_OP_READ,
                                                 FI_OP_ATOMIC,      FI_OP_FETCH_ATOMIC,
                                                 FI_OP_COMPARE_ATOMIC};
    op->work = (struct fi_deferred_work){.threshold = op->start.threshold,
                                         .triggering_cntr = op->start.cntr,
                                         .completion_cntr = did[thread],
                                         .op_type = types[op->kind]};
    op->work.op.msg = (void *)&op->record;
    pthread_mutex_lock(&model);
    had_done[thread]++;
    pthread_mutex_unlock(&model);
    queue_work(&op->work, op->start.releases);
}

enum { STEPS = 3 };
// What makes the second counter of each thread follow the first, in rounds by turns.
static struct step {
    struct fi_deferred_work work;
    struct fi_op_cntr record;
} follow[2][THREADS][STEPS];
static _Thread_local uint64_t releases_before;
static _Thread_local bool all_released;

// Has the second counter count the releases of this round, of which there are as many at least.
static void follow_releases(void) {
    all_released = false, releases_before = released[thread];
    for (int i = 0; i < STEPS && set.triggers; i++) {
        struct step *step = &follow[plan->round % 2][thread][i];
        bool sets = chance(&whims, 2);
        step->record = (struct fi_op_cntr){steps[thread], sets ? stepped[thread] + i + 1 : 1};
        step->work = (struct fi_deferred_work){.threshold = released[thread] + i + 1,
                                               .triggering_cntr = go[thread],
                                               .op_type = sets ? FI_OP_CNTR_SET : FI_OP_CNTR_ADD};
        step->work.op.cntr = &step->record;
        queue_work(&step->work, step->work.threshold);
    }
    stepped[thread] += set.triggers ? STEPS : 0;
}

// Chooses the counter that starts an operation, after so many releases, up to STEPS.
static struct start start_after(int releases, struct fi_triggered_context *context) {
    struct start start = {go[thread], released[thread] + (uint64_t)releases, 0};
    start.releases = start.threshold;
    if (chance(&whims, 3)) {
        start.cntr = steps[thread], start.releases = releases_before + (uint64_t)releases;
        start.threshold = stepped[thread] - STEPS + (uint64_t)releases;
    }
    context->event_type = FI_TRIGGER_THRESHOLD;
    context->trigger.threshold.cntr = start.cntr;
    context->trigger.threshold.threshold = start.threshold;
    return start;
}

// Lets the operations of the thread that wait for its counter start.
static void release(int steps) {
    for (int i = 0; i < steps; i++) {
        for (uint64_t turns = draw(&whims, 6); turns > 0; turns--)
            take();
        pthread_mutex_lock(&model);
        released[thread]++;
        pthread_mutex_unlock(&model);
        OK(chance(&whims, 3) ? fi_cntr_set(go[thread], released[thread])
                             : fi_cntr_add(go[thread], 1));
    }
}

static void keep_posted(void);
static void seek(void);

// Makes progress where there is no room: what has taken it may wait for messages to be received
// here.
static void make_room(void) {
    take();
    keep_posted();
    seek();
    // Others' messages, too, may wait for buffers that are posted then.
    if (set.triggers && chance(&whims, 20))
        release(1);
}

// Begins an operation of the thread, as soon as there is room.
static void issue(struct op *op) {
    AT("begins operation", op->id);
    prepare(op);
    if (op->threshold)
        op->start = start_after(op->threshold, &op->context);
    bool injected = op->how == INJECT || op->how == INJECT_DATA;
    if (injected && op->kind == TAGGED && op->mode == CUT) {
        pthread_mutex_lock(&model);
        ends[ep_of(op->lane)].cuts++;
        pthread_mutex_unlock(&model);
    }
    ssize_t got;
    while ((got = begin(op)) == -FI_EAGAIN)
        make_room();
    if (got && op->doomed && got == -FI_ENOKEY) {
        EXPECT(!op->told, op, "refused, and told of");
        op->refused = true;
        return;
    }
    EXPECT(got == 0, op, "%zd (%s)", got, fi_strerror((int)-got));
    if (op->deferred) {
        defer(op);
        return;
    }
    pthread_mutex_lock(&model);
    ends[ep_of(op->lane)].started[counted(op)]++;
    pthread_mutex_unlock(&model);
    if ((injected || op->flags & FI_INJECT) && op->buffer)
        memset(op->buffer, 0x55, op->kind < ATOMIC ? op->len : bytes_of(op));
}
