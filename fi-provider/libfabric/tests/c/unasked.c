// Two processes by libfabric, one of which closes a region before operations of the other on it
// that ask for no completion: each of them ends with an error that has its context, counted or not.
#include "pair.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

enum { KEY = 7, KINDS = 4 };

// Opens the endpoint anew: an entry is for operations alone that ask for one.
static void open_selective(struct fid_cntr *counter) {
    OK(fi_close(&ep->fid) || fi_endpoint(domain, info, &ep, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &rx->fid, FI_RECV));
    OK(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION));
    if (counter != NULL)
        OK(fi_ep_bind(ep, &counter->fid, FI_WRITE | FI_READ));
    join();
}

// Starts an operation of each kind; returns whether the call has taken it.
static int start(int kind, uint64_t *word, uint64_t *result) {
    ssize_t got;
    do {
        switch (kind) {
        case 0:
            got = fi_write(ep, word, sizeof *word, NULL, peer, 0, KEY, word);
            break;
        case 1:
            got = fi_read(ep, word, sizeof *word, NULL, peer, 0, KEY, word);
            break;
        case 2:
            got = fi_atomic(ep, word, 1, NULL, peer, 0, KEY, FI_UINT64, FI_SUM, word);
            break;
        default:
            got = fi_fetch_atomic(ep, word, 1, NULL, result, NULL, peer, 0, KEY, FI_UINT64, FI_SUM,
                                  word);
        }
    } while (got == -FI_EAGAIN && fi_cq_read(tx, NULL, 0) <= 0);
    return got == 0;
}

// Takes the error of one operation on `words`, and notes which.
static void take_error(uint64_t *words, int *told) {
    struct fi_cq_err_entry error = {0};
    CHECK(fi_cq_sread(tx, &error, 1, NULL, 20000) == -FI_EAVAIL);
    CHECK(fi_cq_readerr(tx, &error, 0) == 1 && error.err == FI_ENOKEY);
    uint64_t *word = error.op_context;
    CHECK(word >= words && word < words + KINDS);
    told[word - words]++;
}

int main(void) {
    uint64_t words[KINDS] = {0}, result, memory = 0;
    struct fid_cntr *counter;
    begin(FI_MSG | FI_RMA | FI_ATOMIC, FI_WAIT_UNSPEC);
    OK(fi_cntr_open(domain, NULL, &counter, NULL));
    alarm(60);
    for (int counts = 0; counts < 2; counts++) {
        open_selective(counts ? counter : NULL);
        struct fid_mr *mr;
        uint64_t access = FI_REMOTE_WRITE | FI_REMOTE_READ;
        OK(fi_mr_reg(domain, &memory, sizeof memory, access, 0, KEY, 0, &mr, NULL));
        meet();
        // The key is known, so that operations go to memory which is there no more. The peer makes
        // progress meanwhile, until it is told to go on.
        if (leads) {
            struct iovec piece = {words, sizeof *words};
            struct fi_rma_iov there = {0, sizeof *words, KEY};
            struct fi_msg_rma first = {&piece, NULL, 1, peer, &there, 1, NULL, 0};
            POST(fi_writemsg(ep, &first, FI_COMPLETION));
            next(tx);
            POST(fi_inject(ep, NULL, 0, peer));
        } else {
            OK(fi_recv(ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL));
            next(rx);
        }
        meet();
        if (!leads)
            OK(fi_close(&mr->fid));
        meet();
        // Shared memory refuses them at once.
        int posted[KINDS] = {0}, told[KINDS] = {0};
        for (int kind = 0; kind < KINDS && leads; kind++)
            posted[kind] = start(kind, &words[kind], &result);
        for (int kind = 0; kind < KINDS; kind++)
            if (posted[kind])
                take_error(words, told);
        CHECK(memcmp(posted, told, sizeof told) == 0);
        if (leads && counts) {
            int failed = posted[0] + posted[1] + posted[2] + posted[3];
            CHECK(fi_cntr_read(counter) == 1 && (int)fi_cntr_readerr(counter) == failed);
        }
        if (leads)
            OK(fi_close(&mr->fid));
        meet();
    }
    leave();
    OK(fi_close(&counter->fid));
    return end();
}
