// Two processes by libfabric: scalable endpoints, whose contexts are named, and shared contexts.
#include "pair.h"
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

enum { CONTEXTS = 3, BITS = 2, SHARERS = 3, LONG = 100000 };
static struct fid_ep *sep, *tx_context[CONTEXTS], *rx_context[CONTEXTS];
static struct fid_cq *tx_queue[CONTEXTS], *rx_queue[CONTEXTS];
static char big[LONG], room[LONG];
static uint64_t memory[8];

static struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC};

// Opens and binds the contexts of the scalable endpoint.
static void open_contexts(struct fid_av *vector) {
    char name[64];
    size_t len = sizeof name;
    info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = CONTEXTS;
    OK(fi_scalable_ep(domain, info, &sep, NULL));
    CHECK(fi_enable(sep) == -FI_ENOAV);
    OK(fi_scalable_ep_bind(sep, &vector->fid, 0) || fi_getname(&sep->fid, name, &len));
    CHECK(fi_tx_context(sep, CONTEXTS, NULL, tx_context, NULL) == -FI_EINVAL);
    CHECK(fi_rx_context(sep, -1, NULL, rx_context, NULL) == -FI_EINVAL);
    for (int i = 0; i < CONTEXTS; i++) {
        OK(fi_tx_context(sep, i, NULL, tx_context + i, NULL));
        OK(fi_rx_context(sep, i, NULL, rx_context + i, NULL));
        OK(fi_cq_open(domain, &attr, tx_queue + i, NULL));
        OK(fi_cq_open(domain, &attr, rx_queue + i, NULL));
        CHECK(fi_enable(rx_context[i]) == -FI_ENOCQ);
        OK(fi_ep_bind(tx_context[i], &tx_queue[i]->fid, FI_TRANSMIT));
        OK(fi_ep_bind(rx_context[i], &rx_queue[i]->fid, FI_RECV));
        OK(fi_enable(tx_context[i]) || fi_enable(rx_context[i]));
        CHECK(fi_recv(tx_context[i], room, 8, NULL, FI_ADDR_UNSPEC, NULL) == -FI_ENOSYS);
        CHECK(fi_send(rx_context[i], room, 8, NULL, 0, NULL) == -FI_ENOSYS);
        CHECK(fi_inject_write(rx_context[i], room, 8, 0, 0, 0) == -FI_ENOSYS);
    }
    CHECK(fi_rx_context(sep, 0, NULL, rx_context, NULL) == -FI_EBUSY);
    OK(fi_enable(sep));
    CHECK(fi_close(&sep->fid) == -FI_EBUSY && fi_close(&vector->fid) == -FI_EBUSY);
}

// Sends from each context of one side to each of the other, which know the sender as one peer.
static void scalable(void) {
    struct fid_av *vector;
    struct fi_av_attr av_attr = {.rx_ctx_bits = 33};
    CHECK(fi_av_open(domain, &av_attr, &vector, NULL) == -FI_EINVAL);
    av_attr.rx_ctx_bits = BITS;
    OK(fi_av_open(domain, &av_attr, &vector, NULL));
    open_contexts(vector);
    char own[64] = {0}, theirs[64];
    size_t len = sizeof own;
    OK(fi_getname(&sep->fid, own, &len));
    swap(own, theirs, sizeof own);
    fi_addr_t me, it, source;
    CHECK(fi_av_insert(vector, own, 1, &me, 0, NULL) == 1 && me == 0);
    CHECK(fi_av_insert(vector, theirs, 1, &it, 0, NULL) == 1 && it == 1);
    struct fid_mr *mr;
    OK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_WRITE, 0, 9, 0, &mr, NULL));
    struct fi_cq_tagged_entry entry;
    static uint64_t words[CONTEXTS][CONTEXTS];
    for (int to = 0; to < CONTEXTS; to++)
        for (int from = 0; from < CONTEXTS; from++) // Of this peer alone, and of anybody.
            OK(fi_trecv(rx_context[to], &words[to][from], 8, NULL, from == 1 ? it : FI_ADDR_UNSPEC,
                        from, 0, &words[to][from]));
    meet();
    for (int from = 0; from < CONTEXTS; from++) {
        for (uint64_t to = 0; to < CONTEXTS; to++) {
            uint64_t word = 10 * from + to;
            fi_addr_t address = fi_rx_addr(it, to, BITS);
            CHECK(to || address == it);
            POST(fi_tsend(tx_context[from], &word, 8, NULL, address, from, &words));
            CHECK(next(tx_queue[from]).op_context == &words);
        }
        // No such context.
        CHECK(fi_inject(tx_context[from], own, 8, fi_rx_addr(it, 3, BITS)) == -FI_ECONNRESET);
        CHECK(fi_inject(tx_context[from], own, 8, fi_rx_addr(2, 1, BITS)) == -FI_EINVAL);
        uint64_t word = 5 + from;
        POST(fi_inject_write(tx_context[from], &word, 8, fi_rx_addr(it, from, BITS), 8 * from, 9));
    }
    for (int to = 0; to < CONTEXTS; to++)
        for (int from = 0; from < CONTEXTS; from++) {
            while (fi_cq_sreadfrom(rx_queue[to], &entry, 1, &source, NULL, 100) != 1)
                ;
            CHECK(source == it && entry.op_context == &words[to][entry.tag]);
            CHECK(words[to][entry.tag] == 10 * entry.tag + to);
        }
    for (int i = 0; i < CONTEXTS; i++) {
        // Behind the writes of the same context.
        POST(fi_inject(tx_context[i], &i, sizeof i, fi_rx_addr(it, i, BITS)));
        OK(fi_recv(rx_context[i], room, 4, NULL, FI_ADDR_UNSPEC, room));
    }
    for (int i = 0; i < CONTEXTS; i++)
        CHECK(next(rx_queue[i]).op_context == room);
    meet();
    CHECK(getenv("FI_FARREACH_NEAR") || (memory[0] == 5 && memory[1] == 6 && memory[2] == 7));
    for (int i = 0; i < CONTEXTS; i++) {
        OK(fi_close(&rx_context[i]->fid) || fi_close(&tx_context[i]->fid));
        OK(fi_close(&rx_queue[i]->fid) || fi_close(&tx_queue[i]->fid));
    }
    OK(fi_close(&mr->fid) || fi_close(&sep->fid) || fi_close(&vector->fid));
    info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = 1;
}

static struct fid_ep *sharer[SHARERS], *srx;
static struct fid_stx *stx;
static fi_addr_t peers[SHARERS];

static void open_sharers(void) {
    struct fid_av *wrong;
    char own[SHARERS][64] = {{0}}, theirs[SHARERS][64];
    OK(fi_stx_context(domain, info->tx_attr, &stx, NULL));
    OK(fi_srx_context(domain, info->rx_attr, &srx, NULL));
    for (int i = 0; i < SHARERS; i++) {
        size_t len = sizeof own[i];
        OK(fi_endpoint(domain, info, sharer + i, NULL));
        OK(fi_ep_bind(sharer[i], &stx->fid, 0) || fi_ep_bind(sharer[i], &srx->fid, 0));
        CHECK(fi_ep_bind(sharer[i], &srx->fid, 0) == -FI_EINVAL);
        // The last two have one queue.
        OK(fi_cq_open(domain, &attr, rx_queue + i, NULL));
        OK(fi_ep_bind(sharer[i], &rx_queue[i ? 1 : 0]->fid, FI_RECV));
        OK(fi_ep_bind(sharer[i], &tx->fid, FI_TRANSMIT) || fi_ep_bind(sharer[i], &av->fid, 0));
        OK(fi_enable(sharer[i]) || fi_getname(&sharer[i]->fid, own[i], &len));
        CHECK(fi_recv(sharer[i], room, 8, NULL, FI_ADDR_UNSPEC, room) == -FI_EOPNOTSUPP);
        CHECK(fi_trecv(sharer[i], room, 8, NULL, FI_ADDR_UNSPEC, 0, 0, room) == -FI_EOPNOTSUPP);
    }
    CHECK(fi_send(srx, room, 8, NULL, 0, NULL) == -FI_ENOSYS);
    CHECK(fi_close(&srx->fid) == -FI_EBUSY && fi_close(&stx->fid) == -FI_EBUSY);
    // All have one address vector.
    struct fid_ep *odd;
    OK(fi_av_open(domain, NULL, &wrong, NULL) || fi_endpoint(domain, info, &odd, NULL));
    OK(fi_ep_bind(odd, &srx->fid, 0) || fi_ep_bind(odd, &wrong->fid, 0));
    OK(fi_ep_bind(odd, &tx->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_enable(odd) == -FI_EINVAL);
    OK(fi_close(&odd->fid) || fi_close(&wrong->fid));
    swap(own, theirs, sizeof own);
    for (int i = 0; i < SHARERS; i++)
        CHECK(fi_av_insert(av, theirs[i], 1, peers + i, 0, NULL) == 1);
}

// Sends one message to each endpoint, with receives before them or behind them.
static void round_of(int early, int tagged, uint64_t size) {
    static char buffers[SHARERS][LONG];
    int order[SHARERS] = {2, 0, 1}, seen = 0;
    for (int step = 0; step < 2; step++) {
        if (step == early)
            for (int i = 0; i < SHARERS; i++)
                OK(tagged ? fi_trecv(srx, buffers[i], size, NULL, FI_ADDR_UNSPEC, 7, 0, buffers[i])
                          : fi_recv(srx, buffers[i], size, NULL, FI_ADDR_UNSPEC, buffers[i]));
        meet();
        if (step != early)
            for (int i = 0; i < SHARERS; i++) {
                int to = order[i];
                memset(big, 'a' + to, size);
                if (tagged)
                    POST(fi_tsend(sharer[i], big, size, NULL, peers[to], 7, big));
                else
                    POST(fi_send(sharer[i], big, size, NULL, peers[to], big));
                if (size < LONG)
                    CHECK(next(tx).op_context == big);
                else if (early) // Each before the next, as the buffer is one.
                    break;
                else
                    CHECK(next(tx).op_context == big);
            }
        if (step == 0 && early) // They come before their receives.
            usleep(2000), fi_cq_read(rx_queue[0], NULL, 0), meet();
    }
    int messages = size == LONG && early ? 1 : SHARERS;
    for (int left = messages; left; left--) {
        struct fi_cq_tagged_entry entry;
        fi_addr_t from;
        int queue = 0;
        while (fi_cq_readfrom(rx_queue[queue], &entry, 1, &from) != 1)
            queue = !queue;
        char *text = entry.op_context;
        int at = text[0] - 'a';
        CHECK(entry.len == size && text[size - 1] == text[0] && queue == (at ? 1 : 0));
        CHECK(from == peers[at == 2 ? 0 : at + 1] && (!tagged || entry.tag == 7));
        seen |= 1 << at;
    }
    CHECK(seen == (messages == 1 ? 1 << 2 : 7));
    if (messages == 1) {
        CHECK(next(tx).op_context == big);
        for (int i = 1; i < SHARERS; i++) {
            OK(fi_cancel(&srx->fid, buffers[i]));
            struct fi_cq_err_entry failed;
            CHECK(fi_cq_readerr(rx_queue[1], &failed, 0) == 1 && failed.err == FI_ECANCELED);
            CHECK(failed.op_context == buffers[i]);
        }
        CHECK(fi_cancel(&srx->fid, buffers[0]) == -FI_ENOENT);
    }
    meet();
}

static void shared(void) {
    open_sharers();
    uint64_t sizes[] = {8, 3000, LONG};
    for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i < 3; i++)
            round_of(kind & 1, kind & 2, sizes[i]);
    // Pieces; and receives of one peer, which others do not get.
    char front[4], back[8];
    struct iovec pieces[] = {{front, 4}, {back, 4}};
    if (info->rx_attr->caps & FI_DIRECTED_RECV)
        OK(fi_recv(srx, room, 8, NULL, peers[2], room));
    OK(fi_recvv(srx, pieces, NULL, 2, FI_ADDR_UNSPEC, front));
    meet();
    POST(fi_inject(sharer[1], "abcdefgh", 8, peers[0]));
    CHECK(next(rx_queue[0]).op_context == front && !memcmp(front, "abcd", 4));
    CHECK(!memcmp(back, "efgh", 4));
    meet();
    POST(fi_inject(sharer[2], "ABCDEFGH", 8, peers[1]));
    CHECK(next(rx_queue[1]).op_context == room && !memcmp(room, "ABCDEFGH", 8));
    meet();
    // The early messages of an endpoint that is closed are nobody's.
    POST(fi_inject(sharer[0], "to none", 8, peers[2]));
    POST(fi_inject(sharer[0], "to one", 8, peers[0]));
    meet();
    usleep(2000), fi_cq_read(rx_queue[0], NULL, 0);
    meet();
    OK(fi_close(&sharer[2]->fid) || fi_recv(srx, room, 8, NULL, FI_ADDR_UNSPEC, room));
    CHECK(next(rx_queue[0]).op_context == room && !strcmp(room, "to one"));
    OK(fi_recv(srx, room, 8, NULL, FI_ADDR_UNSPEC, room));
    meet();
    for (int i = 0; i < SHARERS; i++) {
        if (i < 2)
            OK(fi_close(&sharer[i]->fid));
        CHECK(i < 1 || i > 1 || fi_close(&rx_queue[0]->fid) == 0);
    }
    OK(fi_close(&rx_queue[1]->fid) || fi_close(&rx_queue[2]->fid));
    OK(fi_close(&srx->fid) || fi_close(&stx->fid));
}

int main(void) {
    begin(FI_MSG | FI_TAGGED | FI_RMA | FI_SOURCE | FI_DIRECTED_RECV | FI_NAMED_RX_CTX,
          FI_WAIT_UNSPEC);
    CHECK(info->caps & FI_NAMED_RX_CTX && info->domain_attr->max_ep_rx_ctx >= CONTEXTS);
    CHECK(info->domain_attr->max_ep_stx_ctx >= SHARERS);
    join();
    scalable();
    shared();
    leave();
    return end();
}
