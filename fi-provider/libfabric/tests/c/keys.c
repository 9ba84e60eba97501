// Two processes by libfabric, one of which writes words to two endpoints of the other in a row,
// without progress, and meets keys that it has not used before: all writes are counted, each once.
#include "pair.h"
#include <rdma/fi_rma.h>
#include <sched.h>

enum { WORDS = 4096, KEYS = 300, ROUNDS = 1500, MOST = 200 };
static uint64_t memory[WORDS], random_state = 1, writes;
static struct fid_cntr *written;
static struct fid_ep *other_ep;
static fi_addr_t second;

static int draw(int below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)below);
}

// Writes a word; returns whether there was room.
static int write_word(fi_addr_t to, int key) {
    uint64_t word = writes, at = sizeof word * (uint64_t)draw(WORDS);
    ssize_t got = fi_inject_write(ep, &word, sizeof word, to, at, (uint64_t)key);
    CHECK(got == 0 || got == -FI_EAGAIN);
    writes += got == 0;
    return got == 0;
}

// Waits without sleep: a thread that goes to sleep looks at everything before.
static void count_all(void) {
    alarm(20);
    while (fi_cntr_read(written) < writes)
        sched_yield();
    CHECK(fi_cntr_read(written) == writes);
}

// Writes in bursts, of which a new key may be the next write.
static void write_all(void) {
    fi_addr_t both[] = {peer, second};
    int known[] = {1, 1};
    for (int to = 0; to < 2; to++)
        while (!write_word(both[to], 0))
            fi_cq_read(tx, NULL, 0);
    count_all();
    for (int round = 0; round < ROUNDS; round++) {
        int to = draw(2);
        for (int many = 1 + draw(MOST); many > 0 && write_word(both[to], draw(known[to])); many--)
            ;
        to = draw(2);
        if (known[to] < KEYS && draw(3) == 0) {
            if (write_word(both[to], known[to]))
                known[to]++;
            else
                fi_cq_read(tx, NULL, 0);
        }
        if (draw(20) == 0)
            count_all();
    }
    count_all();
}

// Opens another endpoint, and gets to know the other process's.
static void open_second(void) {
    char own[64] = {0}, theirs[64];
    size_t len = sizeof own;
    if (leads) {
        swap(own, theirs, sizeof own);
        CHECK(fi_av_insert(av, theirs, 1, &second, 0, NULL) == 1);
        return;
    }
    OK(fi_endpoint(domain, info, &other_ep, NULL) || fi_ep_bind(other_ep, &av->fid, 0));
    OK(fi_ep_bind(other_ep, &tx->fid, FI_TRANSMIT) || fi_ep_bind(other_ep, &rx->fid, FI_RECV));
    OK(fi_enable(other_ep) || fi_getname(&other_ep->fid, own, &len));
    swap(own, theirs, sizeof own);
}

int main(void) {
    begin(FI_MSG | FI_RMA, FI_WAIT_NONE);
    struct fid_mr *regions[KEYS];
    OK(fi_cntr_open(domain, NULL, &written, NULL));
    OK(fi_ep_bind(ep, &written->fid, FI_WRITE));
    join();
    open_second();
    for (int i = 0; i < KEYS; i++)
        OK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_WRITE, 0, i, 0, &regions[i], NULL));
    meet();
    if (leads)
        write_all();
    meet();
    if (!leads)
        OK(fi_close(&other_ep->fid));
    leave();
    for (int i = 0; i < KEYS; i++)
        OK(fi_close(&regions[i]->fid));
    OK(fi_close(&written->fid));
    return end();
}
