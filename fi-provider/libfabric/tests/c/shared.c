// Two processes by libfabric: buffers of shared receive contexts for several messages, and looks at
// tagged messages that have come to any of their endpoints.
#include "pair.h"
#include <rdma/fi_tagged.h>

enum { SHARERS = 2, ROOM = 1 << 17, LEAST = 4096, MESSAGES = 40, MOST = 20000, LONG = 100000 };
static struct fid_ep *sharer[SHARERS], *srx;
static struct fid_cq *queue;
static fi_addr_t peers[SHARERS];
static char out[LONG], outs[MESSAGES][MOST], room[2][ROOM], whole[LONG];
static uint64_t is_taken[2][ROOM / 64];

static void open_all(void) {
    char own[SHARERS][64] = {{0}}, theirs[SHARERS][64];
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
    OK(fi_srx_context(domain, info->rx_attr, &srx, NULL));
    OK(fi_cq_open(domain, &attr, &queue, NULL));
    for (int i = 0; i < SHARERS; i++) {
        size_t len = sizeof own[i];
        OK(fi_endpoint(domain, info, sharer + i, NULL) || fi_ep_bind(sharer[i], &srx->fid, 0));
        OK(fi_ep_bind(sharer[i], &queue->fid, FI_RECV) || fi_ep_bind(sharer[i], &av->fid, 0));
        OK(fi_ep_bind(sharer[i], &tx->fid, FI_TRANSMIT) || fi_enable(sharer[i]));
        OK(fi_getname(&sharer[i]->fid, own[i], &len));
    }
    swap(own, theirs, sizeof own);
    for (int i = 0; i < SHARERS; i++)
        CHECK(fi_av_insert(av, theirs[i], 1, peers + i, 0, NULL) == 1);
    size_t least = 0, size = sizeof least;
    OK(fi_getopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, &size));
    CHECK(size == sizeof least && least > 0);
    least = LEAST;
    OK(fi_setopt(&srx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, size));
    CHECK(fi_setopt(&srx->fid, FI_OPT_ENDPOINT, -1, &least, size) == -FI_ENOPROTOOPT);
}

static void post(int which) {
    memset(is_taken[which], 0, sizeof is_taken[which]);
    struct iovec iov = {room[which], ROOM};
    struct fi_msg msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = room[which]};
    OK(fi_recvmsg(srx, &msg, FI_MULTI_RECV));
}

static size_t size_of(int message) {
    return message % 5 == 4 ? MOST : 8 + 8 * (message % 300);
}

// Sends messages from both endpoints to both, which come to two buffers, posted before them or
// behind them.
static void several(int is_early) {
    if (!is_early)
        post(0), post(1);
    meet();
    for (int i = 0; i < MESSAGES; i++) {
        memset(outs[i], i + 1, size_of(i));
        POST(fi_send(sharer[i / 2 % 2], outs[i], size_of(i), NULL, peers[i % 2], out));
    }
    if (is_early) {
        usleep(2000), fi_cq_read(queue, NULL, 0);
        meet();
        post(0), post(1);
    }
    int given = 0;
    for (int left = MESSAGES; left > 0 || !given;) {
        struct fi_cq_tagged_entry entry = next(queue);
        int which = entry.op_context == room[1];
        CHECK(!(given & 1 << which) && (which || entry.op_context == room[0]));
        if (entry.flags & FI_MULTI_RECV)
            given |= 1 << which;
        if (entry.flags == FI_MULTI_RECV) // The end of the buffer alone.
            continue;
        left--;
        char *bytes = entry.buf, *end = bytes + entry.len;
        int message = bytes[0] - 1;
        CHECK(bytes >= room[which] && end <= room[which] + ROOM);
        CHECK(entry.len == size_of(message) && end[-1] == bytes[0]);
        for (size_t i = 0; i < entry.len; i += 8) {
            size_t word = (bytes - room[which] + i) / 8;
            CHECK(!(is_taken[which][word / 8] & 1 << word % 8));
            is_taken[which][word / 8] |= 1 << word % 8;
        }
    }
    for (int i = 0; i < MESSAGES; i++)
        CHECK(next(tx).op_context == out);
    CHECK(given == 1); // The first is full.
    meet();
    struct fi_cq_err_entry failed;
    OK(fi_cancel(&srx->fid, room[1]));
    CHECK(fi_cq_readerr(queue, &failed, 0) == 1 && failed.err == FI_ECANCELED);
    CHECK(failed.op_context == room[1] && failed.flags & FI_MULTI_RECV);
    CHECK(fi_cancel(&srx->fid, room[1]) == -FI_ENOENT);
}

// Checks that a message that fits no more ends a buffer, and that one that fills a buffer alone
// ends it at once.
static void ends(void) {
    post(0);
    OK(fi_recv(srx, whole, LONG, NULL, FI_ADDR_UNSPEC, whole));
    struct iovec two[] = {{room[1], 8}, {room[1] + 8, 8}};
    struct fi_msg msg = {.msg_iov = two, .iov_count = 2, .addr = FI_ADDR_UNSPEC};
    CHECK(fi_recvmsg(srx, &msg, FI_MULTI_RECV) == -FI_EINVAL);
    meet();
    for (int i = 0; i < 2; i++) {
        POST(fi_send(sharer[i], out, LONG, NULL, peers[i], out));
        next(tx);
    }
    int is_given = 0, has_come = 0;
    while (!is_given || has_come < 2) {
        struct fi_cq_tagged_entry entry = next(queue);
        is_given += (entry.flags & FI_MULTI_RECV) != 0;
        if (entry.flags & FI_RECV) {
            CHECK(entry.op_context == whole || !(entry.flags & FI_MULTI_RECV));
            CHECK(entry.len == LONG && ++has_come <= 2);
        } else
            CHECK(entry.op_context == room[0] && entry.buf > (void *)room[0]);
    }
    CHECK(is_given == 1);
    meet();
}

static ssize_t look(uint64_t tag, uint64_t flags, void *context) {
    struct iovec iov = {whole, LONG};
    struct fi_msg_tagged msg = {.msg_iov = &iov,
                                .iov_count = flags & FI_PEEK || flags & FI_DISCARD ? 0 : 1,
                                .addr = FI_ADDR_UNSPEC,
                                .tag = tag,
                                .context = context};
    return fi_trecvmsg(srx, &msg, flags);
}

static size_t found(uint64_t tag, uint64_t flags, void *context) {
    struct fi_cq_tagged_entry entry;
    OK(look(tag, flags, context));
    ssize_t got = fi_cq_read(queue, &entry, 1);
    if (got == 1) {
        CHECK(entry.op_context == context && entry.tag == tag);
        return entry.len;
    }
    struct fi_cq_err_entry failed;
    CHECK(got == -FI_EAVAIL && fi_cq_readerr(queue, &failed, 0) == 1);
    CHECK(failed.err == FI_ENOMSG && failed.op_context == context);
    return 0;
}

static void looks(void) {
    static char claims[2];
    CHECK(found(1, FI_PEEK, claims) == 0 && look(1, FI_CLAIM, claims) == -FI_EINVAL);
    CHECK(look(1, FI_CLAIM | FI_DISCARD, claims) == -FI_EINVAL);
    CHECK(look(1, FI_PEEK | FI_CLAIM, NULL) == -FI_EINVAL);
    meet();
    uint64_t sizes[] = {8, LONG, 16, LONG, 24};
    struct iovec iov = {out, 0};
    struct fi_msg_tagged msg = {.msg_iov = &iov, .iov_count = 1, .context = out};
    for (int i = 0; i < 5; i++) {
        memset(out, 'a', sizeof out);
        iov.iov_len = sizes[i], msg.tag = i, msg.addr = peers[i % 2];
        uint64_t level = sizes[i] == LONG ? FI_DELIVERY_COMPLETE : FI_MATCH_COMPLETE;
        POST(fi_tsendmsg(sharer[i % 2], &msg, level | FI_COMPLETION));
    }
    for (uint64_t i = 0; i < 5; i++)
        while (found(i, FI_PEEK, claims) != sizes[i])
            ;
    CHECK(fi_cq_read(tx, NULL, 0) == -FI_EAGAIN);
    meet();
    // Two are claimed: nobody else finds them.
    CHECK(found(0, FI_PEEK | FI_CLAIM, claims) == 8);
    CHECK(found(1, FI_PEEK | FI_CLAIM, claims + 1) == LONG);
    CHECK(found(0, FI_PEEK, claims) == 0 && found(1, FI_PEEK | FI_DISCARD, claims) == 0);
    memset(whole, 0, sizeof whole);
    OK(look(1, FI_CLAIM, claims + 1));
    struct fi_cq_tagged_entry entry = next(queue);
    CHECK(entry.op_context == claims + 1 && entry.len == LONG);
    CHECK(whole[0] == 'a' && whole[LONG - 1] == 'a');
    CHECK(found(0, FI_CLAIM | FI_DISCARD, claims) == 8);
    CHECK(look(0, FI_CLAIM, claims) == -FI_EINVAL);
    // Two are dropped, and the last one is received.
    CHECK(found(2, FI_PEEK | FI_DISCARD, claims) == 16 && found(2, FI_PEEK, claims) == 0);
    CHECK(found(3, FI_PEEK | FI_DISCARD, claims) == LONG);
    OK(fi_trecv(srx, whole, LONG, NULL, FI_ADDR_UNSPEC, 4, 0, whole));
    entry = next(queue);
    CHECK(entry.op_context == whole && entry.len == 24);
    for (int i = 0; i < 5; i++)
        CHECK(next(tx).op_context == out);
    meet();
}

int main(void) {
    begin(FI_MSG | FI_TAGGED | FI_MULTI_RECV, FI_WAIT_UNSPEC);
    join();
    open_all();
    for (int round = 0; round < 3; round++)
        several(0), several(1);
    ends();
    looks();
    // Buffers that are posted go with the context.
    post(0);
    leave();
    for (int i = 0; i < SHARERS; i++)
        OK(fi_close(&sharer[i]->fid));
    OK(fi_close(&queue->fid) || fi_close(&srx->fid));
    return end();
}
