// Two processes by libfabric: atomic operations on one word of 4 and of 8 bytes, with and without a
// result, in memory of the fabric's arena and in other memory; over a device, too. Many additions in a
// row; a region whose words are aligned where their addresses are not; and a peer that is gone.
#include "../../../../include/farreach_fi.h"
#include "pair.h"
#include <rdma/fi_atomic.h>

enum { ROUNDS = 20, MANY = 1000, BYTES = 64, OTHER = 1, ARENA = 2, ODD = 3 };
static char memory[BYTES] __attribute__((aligned(8)));
static struct fid_cntr *wrote, *was_read;
static uint64_t writes, reads;

// The word behind which nothing is written over.
static const uint64_t begin_with = 0x0123456789abcdef, operand = 0xf0e1d2c3b4a59687;

static uint64_t cut(uint64_t word, size_t bytes) { return bytes == 4 ? (uint32_t)word : word; }

// Returns the word that the operation leaves.
static uint64_t after(enum fi_op op, uint64_t old, uint64_t by) {
    switch (op) {
    case FI_SUM: return old + by;
    case FI_BOR: return old | by;
    case FI_BAND: return old & by;
    case FI_BXOR: return old ^ by;
    default: return by;
    }
}

static void expect(uint64_t kind, void *context) {
    struct fi_cq_tagged_entry entry = next(tx);
    CHECK(entry.flags == (FI_ATOMIC | kind) && entry.op_context == context);
}

static void get(enum fi_datatype type, uint64_t key, uint64_t wanted, size_t bytes) {
    uint64_t found = ~wanted;
    POST(fi_fetch_atomic(ep, NULL, 1, NULL, &found, NULL, peer, 8, key, type, FI_ATOMIC_READ,
                         &found));
    expect(FI_READ, &found);
    reads++;
    CHECK(cut(found, bytes) == cut(wanted, bytes));
}

static void set(enum fi_datatype type, uint64_t key, uint64_t word) {
    POST(fi_atomic(ep, &word, 1, NULL, peer, 8, key, type, FI_ATOMIC_WRITE, &word));
    expect(FI_WRITE, &word);
    writes++;
}

static void each(enum fi_datatype type, uint64_t key) {
    enum fi_op all[] = {FI_SUM, FI_BOR, FI_BAND, FI_BXOR, FI_ATOMIC_WRITE};
    size_t bytes = type == FI_UINT32 || type == FI_INT32 ? 4 : 8;
    struct fi_atomic_attr attr;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (fi_query_atomic(domain, type, all[i], &attr, FI_FETCH_ATOMIC))
            continue;
        uint64_t old = begin_with, found = 0, now = after(all[i], old, operand);
        set(type, key, old);
        POST(fi_fetch_atomic(ep, &operand, 1, NULL, &found, NULL, peer, 8, key, type, all[i],
                             &found));
        expect(FI_READ, &found);
        reads++;
        CHECK(cut(found, bytes) == cut(old, bytes));
        get(type, key, now, bytes);
        POST(fi_inject_atomic(ep, &operand, 1, peer, 8, key, type, all[i]));
        writes++;
        // Accesses have no order: the counter tells that it is done.
        OK(fi_cntr_wait(wrote, writes, 10000));
        get(type, key, after(all[i], now, operand), bytes);
    }
    uint64_t old = begin_with, found = 0;
    set(type, key, old);
    for (int swaps = 0; swaps < 2; swaps++) {
        uint64_t comparand = swaps ? old : ~old;
        POST(fi_compare_atomic(ep, &operand, 1, NULL, &comparand, NULL, &found, NULL, peer, 8, key,
                               type, FI_CSWAP, &found));
        expect(FI_READ, &found);
        reads++;
        CHECK(cut(found, bytes) == cut(old, bytes));
        get(type, key, swaps ? operand : old, bytes);
    }
    CHECK(fi_inject_atomic(ep, NULL, 1, peer, 8, key, type, FI_SUM) == -FI_EINVAL);
    CHECK(fi_inject_atomic(ep, &operand, 1, peer, 9, key, type, FI_SUM) == -FI_EINVAL);
    CHECK(fi_inject_atomic(ep, &operand, 1, peer, BYTES, key, type, FI_SUM) == -FI_EFAULT);
}

// Does more additions than queues take without a look, to the word at an address; they are counted
// each.
static void add_many(uint64_t key, uint64_t at, uint64_t first) {
    for (uint64_t i = 0; i < MANY; i++)
        POST(fi_inject_atomic(ep, &i, 1, peer, at, key, i % 2 ? FI_INT64 : FI_UINT64, FI_SUM));
    writes += MANY;
    OK(fi_cntr_wait(wrote, writes, 20000));
    uint64_t found = 0;
    POST(fi_fetch_atomic(ep, NULL, 1, NULL, &found, NULL, peer, at, key, FI_UINT64, FI_ATOMIC_READ,
                         &found));
    expect(FI_READ, &found);
    reads++;
    CHECK(found == first + (uint64_t)MANY * (MANY - 1) / 2);
}

// Adds to a peer that has closed its endpoint, until additions are refused: none waits for ever.
static void add_until_refused(uint64_t key) {
    ssize_t got;
    do {
        got = fi_inject_atomic(ep, &operand, 1, peer, 8, key, FI_UINT64, FI_SUM);
        fi_cq_read(tx, NULL, 0);
    } while (got == 0 || got == -FI_EAGAIN);
    CHECK(got < 0);
}

int main(void) {
    begin(FI_MSG | FI_ATOMIC, FI_WAIT_UNSPEC);
    OK(fi_cntr_open(domain, NULL, &wrote, NULL) || fi_cntr_open(domain, NULL, &was_read, NULL));
    OK(fi_ep_bind(ep, &wrote->fid, FI_WRITE) || fi_ep_bind(ep, &was_read->fid, FI_READ));
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    struct fid_mr *mr, *odd, *arena;
    struct farreach_ops_memory *ops;
    void *words;
    OK(fi_mr_reg(domain, memory, BYTES, both, 0, OTHER, 0, &mr, NULL));
    OK(fi_mr_reg(domain, memory + 4, BYTES - 4, both, 0, ODD, 0, &odd, NULL));
    OK(fi_open_ops(&domain->fid, FARREACH_OPS_MEMORY, 0, (void **)&ops, NULL));
    OK(ops->allocate(domain, BYTES, both, ARENA, 0, &words, &arena, NULL));
    join();
    // Either makes progress for the other one as it waits.
    enum fi_datatype types[] = {FI_UINT32, FI_UINT64, FI_INT32, FI_INT64};
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 4; i++) {
            each(types[i], OTHER);
            each(types[i], ARENA);
        }
    }
    for (uint64_t key = OTHER; key <= ARENA; key++) {
        set(FI_UINT64, key, begin_with);
        add_many(key, 8, begin_with);
    }
    uint64_t now = begin_with + (uint64_t)MANY * (MANY - 1) / 2;
    CHECK(fi_inject_atomic(ep, &operand, 1, peer, 8, ODD, FI_UINT64, FI_SUM) == -FI_EINVAL);
    add_many(ODD, 4, now);
    CHECK(fi_inject_atomic(ep, &operand, 1, peer, 8, ODD, FI_UINT64, FI_SUM) == -FI_EINVAL);
    CHECK(fi_cntr_read(wrote) == writes && fi_cntr_read(was_read) == reads);
    char mark = 0, come;
    OK(fi_recv(ep, &come, 1, NULL, FI_ADDR_UNSPEC, &come));
    POST(fi_inject(ep, &mark, 1, peer));
    CHECK(next(rx).op_context == &come);
    for (int i = 0; i < BYTES; i++)
        CHECK((i / 8 == 1) || (memory[i] == 0 && ((char *)words)[i] == 0));
    meet();
    if (leads) {
        meet();
        for (uint64_t key = OTHER; key <= ARENA; key++)
            add_until_refused(key);
        OK(fi_close(&ep->fid));
    } else {
        OK(fi_close(&ep->fid));
        meet();
    }
    OK(fi_close(&mr->fid) || fi_close(&odd->fid) || fi_close(&arena->fid));
    OK(fi_close(&wrote->fid) || fi_close(&was_read->fid));
    return end();
}
