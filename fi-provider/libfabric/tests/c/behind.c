// Two processes by libfabric, one of which closes a region before a write of the other on it.
// Injected writes to another region that are behind that one come with their bytes, though the
// writer goes on with writes to itself meanwhile.
#include "pair.h"
#include <rdma/fi_rma.h>

enum { CLOSED = 7, OPEN = 8, OWN = 9, ROUNDS = 20, WRITES = 4, LEN = 4000, OTHERS = 50 };

int main(void) {
    static unsigned char memory[ROUNDS * WRITES][LEN], own[LEN], bytes[LEN];
    uint64_t word = 1, closed = 0;
    struct fid_mr *of_closed, *of_open, *of_own;
    begin(FI_MSG | FI_RMA, FI_WAIT_UNSPEC);
    join();
    alarm(100);
    uint64_t access = FI_REMOTE_WRITE;
    OK(fi_mr_reg(domain, memory, sizeof memory, access, 0, OPEN, 0, &of_open, NULL));
    OK(fi_mr_reg(domain, own, sizeof own, access, 0, OWN, 0, &of_own, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        OK(fi_mr_reg(domain, &closed, sizeof closed, access, 0, CLOSED, 0, &of_closed, NULL));
        meet();
        if (leads) {
            POST(fi_write(ep, &word, sizeof word, NULL, peer, 0, CLOSED, &word));
            CHECK(next(tx).op_context == &word);
        }
        meet();
        if (!leads)
            OK(fi_close(&of_closed->fid));
        meet();
        if (leads) {
            // Shared memory refuses it at once.
            int posted = fi_write(ep, &word, sizeof word, NULL, peer, 0, CLOSED, &word) == 0;
            for (int i = round * WRITES; i < (round + 1) * WRITES; i++) {
                memset(bytes, 1 + i, LEN);
                POST(fi_inject_write(ep, bytes, LEN, peer, (uint64_t)i * LEN, OPEN));
            }
            memset(bytes, 0xff, LEN);
            for (int i = 0; i < OTHERS; i++)
                POST(fi_inject_write(ep, bytes, LEN, self, 0, OWN));
            if (posted) {
                struct fi_cq_err_entry error = {0};
                CHECK(fi_cq_sread(tx, &error, 1, NULL, 20000) == -FI_EAVAIL);
                CHECK(fi_cq_readerr(tx, &error, 0) == 1);
                CHECK(error.err == FI_ENOKEY && error.op_context == &word);
            }
            OK(fi_close(&of_closed->fid));
        }
        // Both make progress until the writes have come.
        unsigned char last = (unsigned char)((round + 1) * WRITES);
        volatile unsigned char *end = memory[last - 1] + LEN - 1;
        struct fi_cq_tagged_entry entry;
        for (char there = 0, theirs = 0; !there || !theirs;) {
            there = leads || *end != 0;
            fi_cq_read(tx, &entry, 0);
            swap(&there, &theirs, 1);
        }
    }
    for (int i = 0; i < ROUNDS * WRITES && !leads; i++)
        for (int at = 0; at < LEN; at++)
            CHECK(memory[i][at] == 1 + i);
    OK(fi_close(&of_open->fid) || fi_close(&of_own->fid));
    leave();
    return end();
}
