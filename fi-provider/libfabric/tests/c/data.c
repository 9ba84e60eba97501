// Two processes by libfabric: writes with data of memory that cannot be registered on the way, as
// it is shared with other processes or not to be written, are of any length; the data comes behind
// the bytes.
#include "pair.h"
#include <rdma/fi_rma.h>
#include <sys/mman.h>

enum { MANY = 1 << 20, KEY = 7 };
static char target[MANY];

static void write_from(const char *source, size_t len, uint64_t data) {
    memset(target, 0, len);
    meet();
    POST(fi_writedata(ep, source, len, NULL, data, peer, 0, KEY, &target));
    CHECK(next(tx).op_context == &target);
    struct fi_cq_tagged_entry entry = next(rx);
    CHECK(entry.flags & FI_REMOTE_WRITE && entry.data == data && entry.len == len);
    CHECK(memcmp(target, source, len) == 0);
    // The peer may wait for an answer.
    char byte = 0;
    CHECK(write(other, &byte, 1) == 1);
    while (recv(other, &byte, 1, MSG_DONTWAIT) != 1)
        fi_cq_read(rx, NULL, 0);
}

int main(void) {
    int kind = MAP_SHARED | MAP_ANONYMOUS;
    char *shared = mmap(NULL, MANY, PROT_READ | PROT_WRITE, kind, -1, 0);
    CHECK(shared != MAP_FAILED);
    for (int i = 0; i < MANY; i++)
        shared[i] = (char)(i * 7 + i / 256);
    begin(FI_MSG | FI_RMA, FI_WAIT_UNSPEC);
    join();
    struct fid_mr *mr;
    OK(fi_mr_reg(domain, target, sizeof target, FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL));
    uint64_t data = 1;
    for (size_t len = 64; len <= MANY; len *= 4)
        write_from(shared, len, data++);
    OK(mprotect(shared, MANY, PROT_READ));
    write_from(shared, MANY, data);
    leave();
    OK(fi_close(&mr->fid));
    return end();
}
