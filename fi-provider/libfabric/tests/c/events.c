// Two processes by libfabric: counters count the peer's accesses to a region, and to all of them.
#include "pair.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

enum { ROUNDS = 20 };
static uint64_t memory[2][64];
static struct fid_cntr *written, *was_read, *all;

// Accesses several ranges of a region, and none of its bytes: each access counts once, the first
// one to the region, too.
static void ranges(void) {
    uint64_t words[2];
    struct iovec here = {words, sizeof words}, nothing = {words, 0};
    struct fi_rma_iov there[] = {{400, 8, 1}, {480, 8, 1}}, empty[] = {{0, 0, 1}, {8, 0, 1}};
    struct fi_msg_rma access = {&here, NULL, 1, peer, there, 2, words, 0};
    POST(fi_readmsg(ep, &access, 0));
    CHECK(next(tx).op_context == words);
    access.msg_iov = &nothing, access.rma_iov = empty;
    POST(fi_readmsg(ep, &access, 0));
    CHECK(next(tx).op_context == words);
    POST(fi_inject_writedata(ep, words, 0, 5, peer, 0, 1));
    POST(fi_inject_write(ep, words, 0, peer, 0, 1));
}

int main(void) {
    begin(FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT, FI_WAIT_UNSPEC);
    CHECK(info->caps & FI_RMA_EVENT && info->rx_attr->caps & FI_RMA_EVENT);
    struct fid_mr *regions[2], *plain;
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(fi_cntr_open(domain, NULL, &written, NULL) || fi_cntr_open(domain, NULL, &was_read, NULL));
    OK(fi_cntr_open(domain, NULL, &all, NULL) || fi_ep_bind(ep, &all->fid, both));
    CHECK(fi_ep_bind(ep, &written->fid, FI_REMOTE_READ) == -FI_EINVAL);
    for (int i = 0; i < 2; i++)
        OK(fi_mr_reg(domain, memory[i], sizeof memory[i], both, 0, i, FI_RMA_EVENT, regions + i,
                     NULL));
    OK(fi_mr_bind(regions[0], &written->fid, FI_REMOTE_WRITE));
    OK(fi_mr_bind(regions[0], &was_read->fid, FI_REMOTE_READ));
    CHECK(fi_mr_bind(regions[0], &all->fid, FI_REMOTE_READ) == -FI_EINVAL);
    CHECK(fi_mr_bind(regions[0], &all->fid, FI_WRITE) == -FI_EBADFLAGS);
    CHECK(fi_mr_bind(regions[0], &all->fid, 0) == -FI_EINVAL);
    CHECK(fi_close(&written->fid) == -FI_EBUSY && fi_close(&all->fid) == -FI_EBUSY);
    join();
    uint64_t one = 1, back;
    if (leads)
        ranges();
    if (leads)
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t at = 8 * round;
            POST(fi_write(ep, &one, 8, NULL, peer, at, 0, &one));
            POST(fi_read(ep, &back, 8, NULL, peer, at, 0, &back));
            POST(fi_inject_write(ep, &one, 8, peer, at, 1));
            POST(fi_atomic(ep, &one, 1, NULL, peer, 0, 1, FI_UINT64, FI_SUM, &one));
            for (int entry = 0; entry < 3; entry++)
                next(tx);
        }
    else {
        OK(fi_cntr_wait(written, ROUNDS, 10000) || fi_cntr_wait(was_read, ROUNDS, 10000));
        // The counted bytes are there.
        CHECK(memory[0][ROUNDS - 1] == 1);
        OK(fi_cntr_wait(all, 4 * ROUNDS + 4, 10000));
        CHECK(next(rx).data == 5);
        CHECK(memory[1][ROUNDS - 1] == 1 && memory[1][0] == ROUNDS + 1);
        CHECK(fi_cntr_read(written) == ROUNDS && fi_cntr_read(was_read) == ROUNDS);
        OK(fi_cntr_set(written, 5));
        CHECK(fi_cntr_read(written) == 5 && fi_cntr_read(all) == 4 * ROUNDS + 4);
    }
    leave();
    for (int i = 0; i < 2; i++)
        OK(fi_close(&regions[i]->fid));
    OK(fi_close(&written->fid) || fi_close(&was_read->fid) || fi_close(&all->fid));
    // Without the capability no more than regions that are to be counted.
    struct fid_domain *usual;
    info->caps &= ~FI_RMA_EVENT;
    OK(fi_domain(fabric, info, &usual, NULL) || fi_cntr_open(usual, NULL, &all, NULL));
    OK(fi_mr_reg(usual, memory, 8, both, 0, 1, 0, &plain, NULL));
    OK(fi_mr_reg(usual, memory, 8, both, 0, 2, FI_RMA_EVENT, regions, NULL));
    CHECK(fi_mr_bind(plain, &all->fid, FI_REMOTE_READ) == -FI_EINVAL);
    OK(fi_mr_bind(regions[0], &all->fid, both) || fi_endpoint(usual, info, &ep, NULL));
    CHECK(fi_ep_bind(ep, &all->fid, FI_REMOTE_READ) == -FI_EINVAL);
    OK(fi_ep_bind(ep, &all->fid, FI_RECV | both));
    OK(fi_close(&regions[0]->fid) || fi_close(&plain->fid) || fi_close(&ep->fid));
    OK(fi_close(&all->fid) || fi_close(&usual->fid));
    return end();
}
