// Two processes by libfabric: sources of writes that are injected are written over when the call returns,
// whether they are registered or not; and the peer gets the former bytes.
#include "pair.h"
#include <rdma/fi_rma.h>

enum { MOST = 8192, SLOTS = 12, KEY = 7, OWN = 8 };
static char target[SLOTS][MOST], registered[MOST], plain[MOST];
static const size_t lengths[SLOTS] = {1, 8, 20, 64, 128, 200, 255, 256, 1000, 2048, 4096, 8192};

static void fill(char *bytes, size_t len, int seed) {
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(seed * 37 + i * 5 + i / 256);
}

// Ways in which a write is injected.
enum way { MESSAGE, MESSAGE_WITH_DATA, CALL, CALL_WITH_DATA, WAYS };

static uint64_t address_of(int slot) { return (uint64_t)slot * MOST; }

static void write_one(enum way way, char *source, size_t len, int slot) {
    struct iovec here = {source, len};
    struct fi_rma_iov there = {address_of(slot), len, KEY};
    struct fi_msg_rma message = {.msg_iov = &here, .iov_count = 1, .addr = peer, .rma_iov = &there,
                                 .rma_iov_count = 1, .context = source, .data = (uint64_t)slot};
    uint64_t flags = FI_INJECT | FI_COMPLETION | FI_DELIVERY_COMPLETE;
    switch (way) {
    case MESSAGE:
        POST(fi_writemsg(ep, &message, flags));
        break;
    case MESSAGE_WITH_DATA:
        POST(fi_writemsg(ep, &message, flags | FI_REMOTE_CQ_DATA));
        break;
    case CALL:
        POST(fi_inject_write(ep, source, len, peer, there.addr, KEY));
        break;
    default:
        POST(fi_inject_writedata(ep, source, len, (uint64_t)slot, peer, there.addr, KEY));
    }
    memset(source, 0xee, len);
}

// Writes to the other process by one of the ways, and waits for the writes that come from it.
static void round_of(enum way way, char *source, struct fid_cntr *wrote, uint64_t *writes) {
    memset(target, 0, sizeof target);
    meet();
    for (int slot = 0; slot < SLOTS; slot++) {
        fill(source, lengths[slot], slot + way);
        write_one(way, source, lengths[slot], slot);
        (*writes)++;
    }
    OK(fi_cntr_wait(wrote, *writes, 20000));
    for (int slot = 0; slot < SLOTS && way < CALL; slot++)
        CHECK(next(tx).op_context == source);
    for (int slot = 0; slot < SLOTS && (way == MESSAGE_WITH_DATA || way == CALL_WITH_DATA); slot++)
        CHECK(next(rx).flags & FI_REMOTE_CQ_DATA);
    meet();
    for (int slot = 0; slot < SLOTS; slot++) {
        static char wanted[MOST];
        fill(wanted, lengths[slot], slot + way);
        CHECK(memcmp(target[slot], wanted, lengths[slot]) == 0);
    }
    meet();
}

int main(void) {
    begin(FI_MSG | FI_RMA, FI_WAIT_UNSPEC);
    struct fid_cntr *wrote;
    OK(fi_cntr_open(domain, NULL, &wrote, NULL) || fi_ep_bind(ep, &wrote->fid, FI_WRITE));
    struct fid_mr *mr, *own;
    OK(fi_mr_reg(domain, target, sizeof target, FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL));
    OK(fi_mr_reg(domain, registered, MOST, FI_REMOTE_WRITE | FI_WRITE, 0, OWN, 0, &own, NULL));
    join();
    uint64_t writes = 0;
    for (enum way way = MESSAGE; way < WAYS; way++) {
        round_of(way, registered, wrote, &writes);
        round_of(way, plain, wrote, &writes);
    }
    leave();
    OK(fi_close(&own->fid) || fi_close(&mr->fid) || fi_close(&wrote->fid));
    return end();
}
