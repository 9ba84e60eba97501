// Posts buffers, and looks for messages that have come.
#pragma once
#include "issue.h"

static struct receive *new_receive(enum taking taking) {
    CHECK(posted[thread] < RECEIVES, "too many buffers");
    struct receive *receive = &receives[plan->round % 2][thread][posted[thread]];
    *receive = (struct receive){.taking = taking, .lane = lane_of(me, thread), .source = -1};
    receive->number = posted[thread]++, receive->pieces = 1;
    return receive;
}

static void give_room(struct receive *receive, size_t room) {
    receive->room = room;
    receive->buffer = malloc(room + 16);
    memset(receive->buffer, 0xdd, room + 16);
    // A cut message is expected in one piece.
    bool whole = receive->taking == MULTI || (receive->wanted && receive->wanted->mode == CUT);
    receive->pieces = whole ? 1 : 1 + (int)draw(&whims, 4);
    lay_out(receive->buffer, room, receive->pieces, whims.state, receive->iov);
}

static fi_addr_t source_of(const struct receive *receive) {
    int lane = receive->source;
    return lane < 0 ? FI_ADDR_UNSPEC : addresses[process_of(lane)][ep_of(lane)];
}

// Queues a receive, of which the completion counter tells.
static void defer_receive(struct receive *receive, const struct fi_msg *untagged,
                          const struct fi_msg_tagged *tagged) {
    struct fid_ep *ep = ends[ep_of(receive->lane)].ep;
    uint64_t flags = receive->quiet ? 0 : FI_COMPLETION;
    receive->work = (struct fi_deferred_work){.threshold = receive->start.threshold,
                                              .triggering_cntr = receive->start.cntr,
                                              .completion_cntr = did[thread],
                                              .op_type = tagged ? FI_OP_TRECV : FI_OP_RECV};
    if (tagged)
        receive->record.tagged = (struct fi_op_tagged){ep, *tagged, flags};
    else
        receive->record.msg = (struct fi_op_msg){ep, *untagged, flags};
    receive->work.op.msg = (void *)&receive->record;
    pthread_mutex_lock(&model);
    had_done[thread] += receive->quiet;
    pthread_mutex_unlock(&model);
    queue_work(&receive->work, receive->start.releases);
}

// Draws whether a buffer is posted when a counter has a count, or as deferred work.
static void draw_start(struct receive *receive) {
    if (!set.triggers || all_released || !chance(&whims, 3))
        return;
    receive->waits = true, receive->deferred = chance(&whims, 2);
    int releases = 1 + (int)draw(&whims, STEPS);
    receive->start = start_after(releases, &receive->context.triggered);
    bool sure = receive->wanted && receive->wanted->mode != CUT;
    if (receive->deferred)
        receive->quiet = sure && chance(&whims, 2);
}

// Posts a buffer by one of the routines.
static void post(struct receive *receive, uint64_t flags) {
    struct fid_ep *ep = ends[ep_of(receive->lane)].ep;
    fi_addr_t from = source_of(receive);
    size_t many = (size_t)receive->pieces;
    bool plain = receive->taking == ANY || receive->taking == MULTI;
    bool record = flags || set.selective_rx || receive->waits || chance(&whims, 3);
    uint64_t all = flags | (set.selective_rx && !receive->quiet ? FI_COMPLETION : 0);
    all |= receive->waits ? FI_TRIGGER : 0;
    struct fi_msg untagged = {receive->iov, NULL, many, from, receive, 0};
    struct fi_msg_tagged tagged = {receive->iov, NULL,    many, from, receive->tag, receive->ignore,
                                   receive,      0};
    ssize_t got;
    AT("posts buffer", receive->number);
    if (receive->deferred) {
        defer_receive(receive, &untagged, plain ? NULL : &tagged);
        return;
    }
    do {
        if (record)
            got = plain ? fi_recvmsg(ep, &untagged, all) : fi_trecvmsg(ep, &tagged, all);
        else if (many > 1)
            got = plain ? fi_recvv(ep, receive->iov, NULL, many, from, receive)
                        : fi_trecvv(ep, receive->iov, NULL, many, from, receive->tag,
                                    receive->ignore, receive);
        else
            got = plain ? fi_recv(ep, receive->buffer, receive->room, NULL, from, receive)
                        : fi_trecv(ep, receive->buffer, receive->room, NULL, from, receive->tag,
                                   receive->ignore, receive);
        if (got == -FI_EAGAIN)
            take();
    } while (got == -FI_EAGAIN);
    CHECK(got == 0, "%zd (%s), taking %d", got, fi_strerror((int)-got), receive->taking);
}

static size_t longest_of(uint64_t group) {
    size_t most = 0;
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->kind == TAGGED && op->process == me && op->tag >> 20 == group && op->len > most)
            most = op->len;
    }
    return most;
}

// Posts the buffer of a tagged message.
static void post_tagged(struct op *op) {
    struct receive *receive = new_receive(ONE);
    receive->tag = op->tag;
    size_t room = op->room;
    if (op->mode == MASKED) {
        receive->ignore = 0xfffff;
        receive->tag ^= draw(&whims, 0x100000);
        room = longest_of(op->tag >> 20);
    } else {
        receive->wanted = op;
        receive->source = op->mode == DIRECTED ? op->lane : -1;
        receive->quiet = op->mode == EXACT && set.selective_rx && set.counters && op->key & 2;
    }
    draw_start(receive);
    give_room(receive, room);
    post(receive, 0);
}

static void cancel(struct receive *receive) {
    pthread_mutex_lock(&model);
    receive->cancelled = true;
    pthread_mutex_unlock(&model);
    int got = (int)fi_cancel(&ends[ep_of(receive->lane)].ep->fid, receive);
    CHECK(got == 0, "fi_cancel: %d, taking %d", got, receive->taking);
}

static void post_never(void) {
    struct receive *receive = new_receive(NEVER);
    receive->tag = 7ull << 60;
    draw_start(receive);
    give_room(receive, 100);
    post(receive, 0);
    bool has_started = released[thread] >= receive->start.releases;
    if (receive->deferred && !has_started && chance(&whims, 2)) {
        OK(fi_control(&domain->fid, FI_CANCEL_WORK, &receive->work));
        receive->ended = true;
    } else if (chance(&whims, 2))
        cancel(receive);
}

// Keeps buffers posted for messages without a tag: one at least takes those of any source.
static void keep_posted(void) {
    int e = set.one_ep ? 0 : thread, any = 0, many = 0;
    if (!plan->messages[me][e])
        return;
    pthread_mutex_lock(&model);
    for (int i = 0; i < posted[thread]; i++) {
        struct receive *receive = &receives[plan->round % 2][thread][i];
        bool waits = (receive->taking == ANY || receive->taking == MULTI) && !receive->ended &&
                     !receive->waits;
        many += waits, any += waits && receive->source < 0;
    }
    pthread_mutex_unlock(&model);
    bool multi = plan->multi[me][e];
    if (many >= (multi ? 2 : 6) || posted[thread] > RECEIVES - 200)
        return;
    struct receive *receive = new_receive(multi ? MULTI : ANY);
    size_t longest = plan->longest[me][e];
    if (any > 0 && chance(&whims, 2))
        receive->source = (int)draw(&whims, options.processes * options.threads);
    if (any > 0 && !multi)
        draw_start(receive);
    give_room(receive, multi ? longest * (1 + draw(&whims, 6)) + draw(&whims, 100) + 1 : longest);
    post(receive, multi ? FI_MULTI_RECV : 0);
}

// Asks for a tagged message, and waits for the answer. Returns the look, or NULL if there is none.
static struct receive *look(uint64_t tag, uint64_t ignore, uint64_t flags, struct receive *again) {
    struct receive *receive = again ? again : new_receive(PEEK);
    struct fid_ep *ep = ends[ep_of(receive->lane)].ep;
    receive->tag = tag, receive->ignore = ignore;
    struct fi_msg_tagged record = {NULL, NULL, 0, FI_ADDR_UNSPEC, tag, ignore, receive, 0};
    ssize_t got;
    AT("looks for a message", (long)(tag & 0xfffff));
    while ((got = fi_trecvmsg(ep, &record, flags | FI_COMPLETION)) == -FI_EAGAIN)
        take();
    CHECK(got == 0, "%zd (%s)", got, fi_strerror((int)-got));
    AT("waits for the answer to a look", (long)(tag & 0xfffff));
    while (!*(volatile bool *)&receive->ended)
        take();
    pthread_mutex_lock(&model);
    bool missing = receive->missing;
    pthread_mutex_unlock(&model);
    // Its place may be used again.
    if (missing && receive->number == posted[thread] - 1)
        posted[thread]--;
    return missing ? NULL : receive;
}

static void has_dropped(struct op *op) {
    pthread_mutex_lock(&model);
    EXPECT(!op->came, op, "dropped again");
    op->came = 1;
    ends[op->ep].arrived++;
    pthread_mutex_unlock(&model);
}

// Takes a message that this thread has claimed, or drops it.
static void take_claimed(struct receive *receive) {
    struct op *op = receive->got;
    EXPECT(op->mode == CLAIMED && !op->came, op, "claimed");
    receive->ended = receive->found = false;
    if (op->key & 4) {
        look(op->tag, 0, FI_CLAIM | FI_DISCARD, receive);
        has_dropped(op);
        return;
    }
    pthread_mutex_lock(&model);
    receive->taking = CLAIM, receive->got = NULL;
    pthread_mutex_unlock(&model);
    give_room(receive, op->len);
    post(receive, FI_CLAIM);
}

// Looks for messages that nobody has posted buffers for.
static void seek(void) {
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        bool here = op->kind == TAGGED && op->process == me && ep_of(lane_of(me, thread)) == op->ep;
        if (!here || *(volatile int *)&op->came || posted[thread] > RECEIVES - 100)
            continue;
        if (op->mode == DISCARDED && op->taker == thread && chance(&whims, 4)) {
            uint64_t both = chance(&whims, 2) ? FI_PEEK : FI_PEEK | FI_DISCARD;
            struct receive *receive = look(op->tag, 0, both, NULL);
            if (receive && both != FI_PEEK)
                has_dropped(op);
        } else if (op->mode == CLAIMED && chance(&whims, 6)) {
            struct receive *receive = look(op->tag, 0xfffff, FI_PEEK | FI_CLAIM, NULL);
            if (receive)
                take_claimed(receive);
        }
    }
}
