// Two processes by libfabric, one of which accesses regions of the other, which closes them, and opens
// others under their keys: longer ones, or with other rights. The accesses go to these.
#include "pair.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

enum { LEN = 4096, SHORT = 64, KEYS = 3 };
static const uint64_t BOTH = FI_REMOTE_READ | FI_REMOTE_WRITE;
static uint64_t memory[KEYS][LEN / 8], here[LEN / 8];
static struct fid_mr *regions[KEYS];

// Waits until both processes come here, and makes progress.
static void come(void) {
    char byte = 0;
    CHECK(write(other, &byte, 1) == 1);
    ssize_t got;
    while ((got = recv(other, &byte, 1, MSG_DONTWAIT)) == -1)
        fi_cq_read(rx, NULL, 0);
    CHECK(got == 1);
}

// Closes the regions that are open, and opens all with this length and these rights.
static void open_all(size_t len, uint64_t rights) {
    for (int i = 0; i < KEYS && !leads; i++) {
        if (regions[i])
            OK(fi_close(&regions[i]->fid));
        OK(fi_mr_reg(domain, memory[i], len, rights, 0, (uint64_t)i, 0, &regions[i], NULL));
    }
    come();
}

// Has the process that leads do this, and then the other one look.
#define LEAD(...)                                                                                  \
    do {                                                                                           \
        if (leads) {                                                                               \
            __VA_ARGS__;                                                                           \
            CHECK(next(tx).op_context == &self);                                                   \
        }                                                                                          \
        come();                                                                                    \
    } while (0)

static void write_at(uint64_t at, uint64_t len, uint64_t key) {
    POST(fi_write(ep, here, len, NULL, peer, at, key, &self));
}

static void read_at(uint64_t at, uint64_t len, uint64_t key) {
    POST(fi_read(ep, here, len, NULL, peer, at, key, &self));
}

static void add_at(uint64_t at, uint64_t key) {
    POST(fi_atomic(ep, here, 1, NULL, peer, at, key, FI_UINT64, FI_SUM, &self));
}

// Writes a word to each region by one access, at this distance.
static void write_all(uint64_t at) {
    struct iovec piece = {here, 8 * KEYS};
    struct fi_rma_iov there[KEYS] = {{at, 8, 0}, {at, 8, 1}, {at, 8, 2}};
    struct fi_msg_rma message = {&piece, NULL, 1, peer, there, KEYS, &self, 0};
    POST(fi_writemsg(ep, &message, FI_COMPLETION));
}

// Adds to a word of each region in one operation, at this distance.
static void add_all(uint64_t at) {
    struct fi_ioc piece = {here, KEYS};
    struct fi_rma_ioc there[KEYS] = {{at, 1, 0}, {at, 1, 1}, {at, 1, 2}};
    struct fi_msg_atomic message = {&piece, NULL,      1,      peer,  there,
                                    KEYS,   FI_UINT64, FI_SUM, &self, 0};
    POST(fi_atomicmsg(ep, &message, FI_COMPLETION));
}

// Looks up all regions while they are short.
static void begin_short(void) {
    open_all(SHORT, BOTH);
    for (uint64_t key = 0; key < KEYS; key++)
        LEAD(write_at(0, 8, key));
}

int main(void) {
    begin(FI_MSG | FI_RMA | FI_ATOMIC, FI_WAIT_UNSPEC);
    join();
    for (int i = 0; i < LEN / 8; i++)
        here[i] = (uint64_t)i + 1;
    begin_short();
    if (leads)
        CHECK(fi_write(ep, here, 8, NULL, peer, LEN / 2, 0, &self) == -FI_EFAULT);
    come();
    open_all(LEN, BOTH);
    LEAD(write_at(LEN / 2, LEN / 2, 0));
    CHECK(leads || (memory[0][LEN / 16] == 1 && memory[0][LEN / 8 - 1] == LEN / 16));
    LEAD(read_at(0, LEN, 1));
    LEAD(here[0] = 5, add_at(LEN - 8, 2));
    CHECK(leads || memory[2][LEN / 8 - 1] == 5);
    begin_short();
    open_all(LEN, BOTH);
    LEAD(here[0] = 7, here[1] = 8, here[2] = 9, write_all(LEN - 16));
    for (uint64_t i = 0; i < KEYS; i++)
        CHECK(leads || memory[i][LEN / 8 - 2] == 7 + i);
    begin_short();
    open_all(LEN, BOTH);
    LEAD(add_all(LEN - 16));
    for (uint64_t i = 0; i < KEYS; i++)
        CHECK(leads || memory[i][LEN / 8 - 2] == 2 * (7 + i));
    open_all(LEN, FI_REMOTE_READ);
    for (uint64_t key = 0; key < KEYS; key++)
        LEAD(read_at(0, 8, key));
    if (leads)
        CHECK(fi_write(ep, here, 8, NULL, peer, 0, 0, &self) == -FI_EACCES);
    come();
    open_all(LEN, BOTH);
    LEAD(here[0] = 11, write_at(8, 8, 0));
    CHECK(leads || memory[0][1] == 11);
    leave();
    for (int i = 0; i < KEYS && !leads; i++)
        OK(fi_close(&regions[i]->fid));
    return end();
}
