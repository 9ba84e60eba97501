// Two processes by libfabric, one of which closes a region while several writes of the other are on
// their way to it: each of them ends with an error.
#include "pair.h"
#include <rdma/fi_rma.h>

enum { KEY = 7, WRITES = 8 };

int main(void) {
    uint64_t word = 1, memory = 0;
    begin(FI_MSG | FI_RMA, FI_WAIT_UNSPEC);
    join();
    struct fid_mr *mr;
    OK(fi_mr_reg(domain, &memory, sizeof memory, FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL));
    meet();
    if (leads) {
        POST(fi_write(ep, &word, sizeof word, NULL, peer, 0, KEY, &word));
        CHECK(next(tx).op_context == &word);
    }
    meet();
    if (!leads)
        OK(fi_close(&mr->fid));
    meet();
    // Shared memory refuses them at once.
    int posted = 0;
    for (int i = 0; i < WRITES && leads; i++)
        posted += fi_write(ep, &word, sizeof word, NULL, peer, 0, KEY, &mr) == 0;
    alarm(30);
    for (; posted > 0; posted--) {
        struct fi_cq_err_entry error = {0};
        CHECK(fi_cq_sread(tx, &error, 1, NULL, 20000) == -FI_EAVAIL);
        CHECK(fi_cq_readerr(tx, &error, 0) == 1);
        CHECK(error.err == FI_ENOKEY && error.op_context == &mr);
    }
    if (leads)
        OK(fi_close(&mr->fid));
    leave();
    return end();
}
