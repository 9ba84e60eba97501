// Two processes by libfabric: operations that start when a counter has reached a threshold.
#include "pair.h"
#include <malloc.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>

enum { LONG = 100000, MANY = 5000, FULL = 4096 };
static uint64_t memory[64], words[16], back[16];
static char big[LONG], room[LONG];
static struct fid_cntr *go, *done, *sent, *received, *written;
static struct fid_mr *mr;

// Waits until both processes come here; as the peer may need it, each makes progress meanwhile.
static void reach(void) {
    char byte = 0;
    CHECK(write(other, &byte, 1) == 1);
    while (recv(other, &byte, 1, MSG_DONTWAIT) != 1)
        fi_cntr_read(go);
}

static void wait_for(struct fid_cntr *cntr, uint64_t value) {
    OK(fi_cntr_wait(cntr, value, 10000));
    CHECK(fi_cntr_read(cntr) == value && fi_cntr_readerr(cntr) == 0);
}

static struct fi_triggered_context at(uint64_t threshold) {
    struct fi_triggered_context context = {.event_type = FI_TRIGGER_THRESHOLD};
    context.trigger.threshold.cntr = go;
    context.trigger.threshold.threshold = threshold;
    return context;
}

// Checks that operations with FI_TRIGGER report as others do, and start by their thresholds.
static void triggered(void) {
    struct fi_triggered_context first = at(1), second = at(2), third = at(3), never = at(99);
    struct fi_triggered_context fourth = at(4), fifth = at(5), wrong = at(1);
    struct iovec word = {words, 8}, place = {back, 8}, all = {big, LONG}, into = {room, LONG};
    struct fi_rma_iov there = {0, 8, 1};
    struct fi_msg_rma access = {&word, NULL, 1, peer, &there, 1, &second, 0};
    struct fi_msg_rma look = {&place, NULL, 1, peer, &there, 1, &third, 0};
    struct fi_ioc one = {words, 1};
    struct fi_rma_ioc element = {8, 1, 1};
    struct fi_msg_atomic add = {&one, NULL, 1, peer, &element, 1, FI_UINT64, FI_SUM, &first, 0};
    struct fi_msg_tagged to = {&all, NULL, 1, peer, 5, 0, &fourth, 0};
    struct fi_msg_tagged from = {&into, NULL, 1, FI_ADDR_UNSPEC, 5, 0, &fifth, 0};
    words[0] = 3;
    POST(fi_readmsg(ep, &look, FI_TRIGGER | FI_COMPLETION));
    POST(fi_writemsg(ep, &access, FI_TRIGGER | FI_COMPLETION));
    POST(fi_atomicmsg(ep, &add, FI_TRIGGER | FI_COMPLETION));
    POST(fi_tsendmsg(ep, &to, FI_TRIGGER | FI_COMPLETION));
    POST(fi_trecvmsg(ep, &from, FI_TRIGGER | FI_COMPLETION));
    access.context = &never;
    POST(fi_writemsg(ep, &access, FI_TRIGGER | FI_COMPLETION));
    access.context = NULL;
    CHECK(fi_writemsg(ep, &access, FI_TRIGGER) == -FI_EINVAL);
    access.context = &wrong, wrong.event_type = FI_TRIGGER_XPU;
    CHECK(fi_writemsg(ep, &access, FI_TRIGGER) == -FI_ENOSYS);
    for (int i = 0; i < 10; i++)
        CHECK(fi_cq_read(tx, NULL, 0) == -FI_EAGAIN);
    uint64_t before = fi_cntr_read(written);
    CHECK(memory[0] == 0 && memory[1] == 0);
    reach();
    // Words are read when operations start.
    words[0] = 7, memset(big, 'x', LONG);
    OK(fi_cntr_add(go, 1));
    CHECK(next(tx).op_context == &first);
    OK(fi_cntr_add(go, 2));
    for (int seen = 0; seen != 3;)
        seen |= next(tx).op_context == &second ? 1 : 2;
    CHECK(fi_cntr_read(written) == before + 3);
    OK(fi_cntr_set(go, 5));
    struct fi_cq_tagged_entry entry = next(rx);
    CHECK(entry.op_context == &fifth && entry.len == LONG && entry.tag == 5);
    CHECK(room[0] == 'x' && room[LONG - 1] == 'x');
    entry = next(tx);
    CHECK(entry.op_context == &fourth && entry.flags == (FI_TAGGED | FI_SEND));
    reach();
    CHECK(memory[0] == 7 && memory[1] == 7 && back[0] <= 7);
    CHECK(fi_cq_read(tx, &entry, 1) == -FI_EAGAIN);
    reach();
}

// Checks that an alias has flags of its own.
static void alias(void) {
    struct fid_ep *own;
    struct fi_triggered_context context = at(6), other = at(6);
    CHECK(fi_ep_alias(ep, &own, FI_TRANSMIT | FI_MULTI_RECV) == -FI_EBADFLAGS);
    CHECK(fi_ep_alias(ep, &own, 0) == -FI_EINVAL);
    OK(fi_ep_alias(ep, &own, FI_TRANSMIT | FI_TRIGGER));
    CHECK(fi_close(&ep->fid) == -FI_EBUSY);
    words[1] = 11;
    POST(fi_write(own, words + 1, 8, NULL, peer, 16, 1, &context));
    POST(fi_fetch_atomic(own, words + 1, 1, NULL, back + 1, NULL, peer, 24, 1, FI_UINT64, FI_SUM,
                         &other));
    POST(fi_inject(own, "at once", 8, peer));
    OK(fi_recv(own, room, 8, NULL, FI_ADDR_UNSPEC, room));
    CHECK(next(rx).op_context == room && !strcmp(room, "at once"));
    CHECK(memory[2] == 0 && memory[3] == 0);
    reach();
    OK(fi_cntr_add(go, 1));
    next(tx), next(tx);
    reach();
    CHECK(memory[2] == 11 && memory[3] == 11 && back[1] == 0);
    OK(fi_close(&own->fid));
}

static void queue(struct fi_deferred_work *work, enum fi_op_type type, void *record, uint64_t at) {
    *work = (struct fi_deferred_work){.threshold = at, .triggering_cntr = go, .op_type = type};
    work->completion_cntr = type < FI_OP_CNTR_SET ? done : NULL;
    work->op.msg = record;
    OK(fi_control(&domain->fid, FI_QUEUE_WORK, work));
}

// Checks that deferred work counts by its own counter alone, and makes no entries unless it is told
// to.
static void deferred(void) {
    static struct fi_deferred_work work[12];
    struct iovec word = {words, 8}, halves[] = {{back, 8}, {back + 1, 8}};
    struct iovec small = {room, 8}, all = {big, LONG - 8}, into = {room + 8, LONG - 8};
    struct fi_rma_iov there[] = {{32, 8, 1}, {40, 8, 1}};
    struct fi_op_rma write = {ep, {&word, NULL, 1, peer, there, 1, work, 0}, 0};
    struct fi_op_rma read = {ep, {halves, NULL, 2, peer, there, 2, work + 1, 0}, FI_COMPLETION};
    struct fi_op_msg send = {ep, {&word, NULL, 1, peer, work + 2, 0}, FI_DELIVERY_COMPLETE};
    struct fi_op_msg recv = {ep, {&small, NULL, 1, peer, work + 3, 0}, 0};
    struct fi_op_tagged tsend = {ep, {&all, NULL, 1, peer, 6, 0, work + 4, 0}, 0};
    struct fi_op_tagged trecv = {ep, {&into, NULL, 1, peer, 6, 0, work + 5, 0}, FI_COMPLETION};
    struct fi_ioc one = {words, 1}, with = {words + 2, 1}, found = {words + 3, 1};
    struct fi_rma_ioc element = {48, 1, 1};
    struct fi_msg_atomic sum = {&one, NULL, 1, peer, &element, 1, FI_UINT64, FI_SUM, work + 6, 0};
    struct fi_op_atomic base = {ep, sum, 0};
    sum.op = FI_CSWAP;
    struct fi_op_compare_atomic swap = {
        .ep = ep, .msg = sum, .fetch = {&found, NULL, 1}, .compare = {&with, NULL, 1}};
    struct fi_op_cntr more = {go, 2}, set = {go, 40};
    uint64_t counts[] = {fi_cntr_read(sent), fi_cntr_read(received), fi_cntr_read(written)};
    OK(fi_cntr_set(go, 0));
    queue(work, FI_OP_WRITE, &write, 1);
    queue(work + 1, FI_OP_READ, &read, 30);
    queue(work + 2, FI_OP_SEND, &send, 2);
    queue(work + 3, FI_OP_RECV, &recv, 1);
    queue(work + 4, FI_OP_TSEND, &tsend, 2);
    queue(work + 6, FI_OP_ATOMIC, &base, 1);
    queue(work + 7, FI_OP_CNTR_ADD, &more, 3);
    queue(work + 8, FI_OP_CNTR_SET, &set, 50);
    queue(work + 9, FI_OP_WRITE, &write, 60);
    queue(work + 10, FI_OP_RECV, &recv, 60);
    queue(work + 11, FI_OP_CNTR_ADD, &more, 60);
    OK(fi_control(&domain->fid, FI_CANCEL_WORK, work + 9));
    OK(fi_control(&domain->fid, FI_CANCEL_WORK, work + 10));
    CHECK(fi_control(&domain->fid, FI_CANCEL_WORK, work + 9) == -FI_ENOENT);
    CHECK(fi_control(&domain->fid, FI_QUEUE_WORK, NULL) == -FI_EINVAL);
    struct fi_deferred_work bad = {.triggering_cntr = go, .op_type = FI_OP_SEND};
    CHECK(fi_control(&domain->fid, FI_QUEUE_WORK, &bad) == -FI_EINVAL);
    bad.op_type = 77, bad.op.msg = &send;
    CHECK(fi_control(&domain->fid, FI_QUEUE_WORK, &bad) == -FI_ENOSYS);
    words[0] = 21;
    reach();
    OK(fi_cntr_add(go, 1));
    wait_for(done, 2); // The write and the atomic operation.
    reach();
    OK(fi_cntr_add(go, 1));
    queue(work + 5, FI_OP_TRECV, &trecv, 1); // At once.
    wait_for(done, 6);
    CHECK(words[0] == 21 && !memcmp(room, words, 8));
    struct fi_cq_tagged_entry entry = next(rx);
    CHECK(entry.op_context == work + 5 && entry.tag == 6 && entry.len == LONG - 8);
    reach();
    CHECK(memory[4] == 21 && memory[6] == 21);
    reach();
    OK(fi_cntr_adderr(go, 1)); // Failures count, too: 2 and 1.
    while (fi_cntr_read(go) != 4)
        ;
    OK(fi_cntr_seterr(go, 0) || fi_cntr_set(go, 30));
    CHECK(next(tx).op_context == work + 1 && fi_cntr_read(done) == 7);
    CHECK(back[0] == 21 && back[1] == 0);
    OK(fi_cntr_set(go, 50));
    while (fi_cntr_read(go) != 40)
        ;
    // A comparing swap: by the value that is there when it starts.
    words[2] = 21, words[0] = 99;
    queue(work, FI_OP_COMPARE_ATOMIC, &swap, 40);
    wait_for(done, 8);
    CHECK(words[3] == 21);
    OK(fi_control(&domain->fid, FI_FLUSH_WORK, NULL) || fi_cntr_set(go, 70));
    reach();
    CHECK(fi_cntr_read(go) == 70 && memory[6] == 99);
    CHECK(fi_cq_read(tx, &entry, 1) == -FI_EAGAIN && fi_cq_read(rx, &entry, 1) == -FI_EAGAIN);
    CHECK(counts[0] == fi_cntr_read(sent) && counts[1] == fi_cntr_read(received));
    CHECK(counts[2] == fi_cntr_read(written));
    reach();
    // A failure is counted as one.
    there[0].key = 77;
    queue(work, FI_OP_WRITE, &write, 1);
    while (fi_cntr_readerr(done) != 1)
        ;
    struct fi_cq_err_entry failed;
    CHECK(fi_cq_readerr(tx, &failed, 0) == 1 && failed.err == FI_ENOKEY);
}

// Checks that a receive that cannot be cancelled, as its message waits for room for the entry, is
// counted by its own counter.
static void cancelled_late(void) {
    struct fi_deferred_work work;
    struct iovec word = {back, 8};
    struct fi_op_tagged recv = {ep, {&word, NULL, 1, peer, 8, 0, &work, 0}, FI_COMPLETION};
    uint64_t others = fi_cntr_read(received), own = fi_cntr_read(done);
    POST(fi_tinject(ep, words, 8, peer, 8));
    for (int i = 0; i < FULL; i++)
        OK(fi_recv(ep, room, 8, NULL, FI_ADDR_UNSPEC, room));
    reach();
    for (int i = 0; i < FULL; i++)
        POST(fi_inject(ep, words, 8, peer));
    OK(fi_cntr_wait(received, others + FULL, 20000));
    queue(&work, FI_OP_TRECV, &recv, fi_cntr_read(go));
    CHECK(fi_cancel(&ep->fid, &work) == -FI_ENOENT);
    for (int i = 0; i < FULL; i++)
        CHECK(next(rx).op_context == room);
    CHECK(next(rx).op_context == &work);
    CHECK(fi_cntr_read(done) == own + 1 && fi_cntr_read(received) == others + FULL);
    OK(fi_cntr_set(done, own));
    reach();
}

// Checks that receives that report to a counter alone need nobody who reads their queue, which has
// less room.
static void silent(void) {
    static struct fi_deferred_work work[MANY];
    static uint64_t found[MANY];
    uint64_t before = fi_cntr_read(done), now = fi_cntr_read(go);
    for (int i = 0; i < MANY; i++) {
        struct iovec word = {found + i, 8};
        struct fi_op_msg recv = {ep, {&word, NULL, 1, peer, work + i, 0}, 0};
        queue(work + i, FI_OP_RECV, &recv, now);
    }
    reach();
    for (uint64_t i = 0; i < MANY; i++)
        POST(fi_inject(ep, &i, 8, peer));
    OK(fi_cntr_wait(done, before + MANY, 20000));
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(found[i] == i);
    CHECK(fi_cq_read(rx, NULL, 0) == -FI_EAGAIN);
    reach();
}

// Checks that receives that were not posted yet are cancelled, and that nothing stays of those that
// are flushed.
static void taken_back(void) {
    struct iovec word = {back, 8};
    struct fi_deferred_work work;
    struct fi_triggered_context context = at(1000);
    struct fi_msg plain = {&word, NULL, 1, FI_ADDR_UNSPEC, &context, 0};
    struct fi_msg_tagged tagged = {&word, NULL, 1, FI_ADDR_UNSPEC, 7, 0, &context, 0};
    struct fi_op_msg recv = {ep, plain, 0};
    struct fi_cq_err_entry entry;
    for (int i = 0; i < 2; i++) {
        OK(i ? fi_trecvmsg(ep, &tagged, FI_TRIGGER) : fi_recvmsg(ep, &plain, FI_TRIGGER));
        OK(fi_cancel(&ep->fid, &context));
        CHECK(fi_cancel(&ep->fid, &context) == -FI_ENOENT);
        CHECK(fi_cq_readerr(rx, &entry, 0) == 1 && entry.err == FI_ECANCELED);
        CHECK(entry.op_context == &context && entry.flags == (FI_RECV | (i ? FI_TAGGED : FI_MSG)));
    }
    size_t before = 0;
    for (int i = 0; i < 20000; i++) {
        queue(&work, FI_OP_RECV, &recv, 1000);
        OK(fi_control(&domain->fid, FI_FLUSH_WORK, i % 2 ? &work : NULL));
        before = i == 1000 ? mallinfo2().uordblks + mallinfo2().hblkhd : before;
    }
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < before + 100000);
    CHECK(fi_control(&domain->fid, FI_CANCEL_WORK, &work) == -FI_ENOENT);
}

// Checks that receives fail that cannot be posted when their time has come, as there is no memory to
// which a message for their pieces can come.
static void without_memory(void) {
    struct iovec halves[2] = {{room, (size_t)1 << 46}, {big, (size_t)1 << 46}};
    uint64_t now = fi_cntr_read(go), others = fi_cntr_readerr(received), own = fi_cntr_readerr(done);
    struct fi_triggered_context context = at(now + 1);
    struct fi_deferred_work work;
    struct fi_msg plain = {halves, NULL, 2, FI_ADDR_UNSPEC, &context, 0};
    struct fi_msg_tagged tagged = {halves, NULL, 2, FI_ADDR_UNSPEC, 7, 0, &context, 0};
    struct fi_op_msg recv = {ep, {halves, NULL, 2, FI_ADDR_UNSPEC, &work, 0}, 0};
    OK(fi_recvmsg(ep, &plain, FI_TRIGGER));
    OK(fi_trecvmsg(ep, &tagged, FI_TRIGGER));
    queue(&work, FI_OP_RECV, &recv, now + 1);
    CHECK(fi_cq_read(rx, NULL, 0) == -FI_EAGAIN);
    OK(fi_cntr_add(go, 1));
    for (int i = 0; i < 3; i++) {
        struct fi_cq_err_entry entry = {0};
        CHECK(fi_cq_read(rx, NULL, 0) == -FI_EAVAIL && fi_cq_readerr(rx, &entry, 0) == 1);
        CHECK(entry.err == FI_ENOMEM && entry.flags == (FI_RECV | (i == 1 ? FI_TAGGED : FI_MSG)));
        CHECK(entry.op_context == (i < 2 ? (void *)&context : (void *)&work));
    }
    CHECK(fi_cq_read(rx, NULL, 0) == -FI_EAGAIN);
    CHECK(fi_cntr_readerr(received) == others + 2 && fi_cntr_readerr(done) == own + 1);
}

int main(void) {
    begin(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER, FI_WAIT_UNSPEC);
    CHECK(info->caps & FI_TRIGGER);
    struct fid_cntr **all[] = {&go, &done, &sent, &received, &written};
    for (int i = 0; i < 5; i++)
        OK(fi_cntr_open(domain, NULL, all[i], NULL));
    OK(fi_ep_bind(ep, &sent->fid, FI_SEND) || fi_ep_bind(ep, &received->fid, FI_RECV));
    OK(fi_ep_bind(ep, &written->fid, FI_READ | FI_WRITE));
    OK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
                 NULL));
    join();
    triggered();
    alias();
    cancelled_late();
    deferred();
    silent();
    taken_back();
    without_memory();
    leave();
    for (int i = 0; i < 5; i++)
        OK(fi_close(&(*all[i])->fid));
    OK(fi_close(&mr->fid));
    return end();
}
