// By libfabric: completions that nobody asks for (FI_SELECTIVE_COMPLETION) leave the queue its room.
#include "pair.h"

enum { ROOM = 8, MANY = 10 * ROOM };

int main(void) {
    char into[8];
    struct fid_cntr *came;
    struct fi_cntr_attr cntr_attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr attr = {.size = ROOM, .format = FI_CQ_FORMAT_CONTEXT};
    struct fi_cq_entry entry;
    begin(FI_MSG, FI_WAIT_UNSPEC);
    OK(fi_close(&ep->fid) || fi_close(&rx->fid) || fi_endpoint(domain, info, &ep, NULL));
    OK(fi_cq_open(domain, &attr, &rx, NULL) || fi_cntr_open(domain, &cntr_attr, &came, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    OK(fi_ep_bind(ep, &rx->fid, FI_RECV | FI_SELECTIVE_COMPLETION));
    OK(fi_ep_bind(ep, &came->fid, FI_RECV));
    join();

    // Every tenth receive reports: 8 of them, for which there is room.
    struct iovec piece = {into, sizeof into};
    for (uintptr_t i = 0; i < MANY; i++) {
        struct fi_msg message = {&piece, NULL, 1, FI_ADDR_UNSPEC, (void *)i, 0};
        OK(fi_recvmsg(ep, &message, i % 10 ? 0 : FI_COMPLETION));
    }
    meet();
    for (int i = 0; i < MANY; i++)
        POST(fi_inject(ep, into, sizeof into, peer));
    OK(fi_cntr_wait(came, MANY, 10000));
    for (uintptr_t i = 0; i < MANY; i += 10)
        CHECK(fi_cq_read(rx, &entry, 1) == 1 && entry.op_context == (void *)i);
    CHECK(fi_cq_read(rx, &entry, 1) == -FI_EAGAIN);
    leave();
    OK(fi_close(&came->fid));
    return end();
}
