// Two processes by libfabric, each with one queue for all its completions, whose room is kept for
// messages under way: messages of the peer are taken all the same, as answers lie behind them.
#include "pair.h"
#include <rdma/fi_rma.h>
#include <sched.h>

enum { ENTRIES = 2, MANY = 8, KEY = 7 };
static uint64_t memory, messages[MANY], came[MANY];
static struct fid_cq *both;
static int sent, received, told;

static void take(void) {
    struct fi_cq_tagged_entry entry;
    ssize_t many = fi_cq_read(both, &entry, 1);
    CHECK(many == 1 || many == -FI_EAGAIN);
    if (many != 1) {
        sched_yield();
        return;
    }
    if (entry.flags & FI_SEND)
        CHECK(entry.op_context == &messages[sent++]);
    else if (entry.flags & FI_REMOTE_WRITE)
        CHECK(entry.data == (uint64_t)told++);
    else {
        CHECK(entry.op_context == &came[received] && came[received] == (uint64_t)received);
        received++;
    }
}

int main(void) {
    begin(FI_MSG | FI_RMA, FI_WAIT_UNSPEC);
    OK(fi_close(&ep->fid) || fi_endpoint(domain, info, &ep, NULL));
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .size = ENTRIES};
    struct fid_mr *mr;
    OK(fi_cq_open(domain, &attr, &both, NULL) || fi_ep_bind(ep, &av->fid, 0));
    OK(fi_ep_bind(ep, &both->fid, FI_TRANSMIT | FI_RECV));
    OK(fi_mr_reg(domain, &memory, sizeof memory, FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL));
    join();
    for (int i = 0; i < MANY; i++)
        OK(fi_recv(ep, &came[i], sizeof came[i], NULL, FI_ADDR_UNSPEC, &came[i]));
    meet();
    alarm(30);
    // Ends where the room is used up: the peer answers nothing meanwhile.
    for (int i = 0, has_room = 1; i < MANY; i++) {
        messages[i] = (uint64_t)i;
        struct iovec here = {&messages[i], sizeof messages[i]};
        struct fi_msg message = {
            .msg_iov = &here, .iov_count = 1, .addr = peer, .context = &messages[i]};
        uint64_t word = 1;
        ssize_t got;
        while ((got = fi_inject_writedata(ep, &word, sizeof word, i, peer, 0, KEY)) == -FI_EAGAIN)
            take();
        OK(got);
        while ((got = fi_sendmsg(ep, &message, FI_DELIVERY_COMPLETE)) == -FI_EAGAIN) {
            if (has_room)
                meet();
            has_room = 0;
            take();
        }
        OK(got);
        CHECK(has_room == (i < ENTRIES));
    }
    while (sent < MANY || received < MANY || told < MANY)
        take();
    // The peer may wait for an answer.
    char byte = 0;
    CHECK(write(other, &byte, 1) == 1);
    while (recv(other, &byte, 1, MSG_DONTWAIT) != 1)
        take();
    CHECK(sent == MANY && received == MANY && told == MANY && memory == 1);
    leave();
    OK(fi_close(&mr->fid) || fi_close(&both->fid));
    return end();
}
