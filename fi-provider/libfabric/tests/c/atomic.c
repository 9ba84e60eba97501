// Two processes by libfabric: atomic operations of each type, by calls of each kind, on memory of
// the peer; operations that are not offered, and arguments that are wrong, have their codes.
#include "pair.h"
#include <rdma/fi_atomic.h>

enum { ROUNDS = 200, MANY = 24 };
static struct {
    uint64_t sum, single[MANY], bits;
    double real;
    float complex[2];
    int8_t bytes[8];
} memory;
static uint64_t secret = 5;
static struct fid_cntr *wrote, *was_read;

#define AT(field) ((char *)&memory.field - (char *)&memory)

static int offered(enum fi_datatype type, enum fi_op op, uint64_t flags) {
    struct fi_atomic_attr attr = {0, 0};
    int got = fi_query_atomic(domain, type, op, &attr, flags);
    CHECK(got == -FI_EOPNOTSUPP || (got == 0 && attr.count >= MANY && attr.size > 0));
    return got == 0;
}

// Checks that each type is offered with each operation that it has, and that the calls' own
// questions say the same.
static void is_offered(void) {
    for (int type = 0; type < FI_DATATYPE_LAST; type++)
        for (int op = 0; op < FI_ATOMIC_OP_LAST; op++) {
            int compares = op >= FI_CSWAP, is_int = type < FI_FLOAT;
            int is_complex = type == FI_FLOAT_COMPLEX, is_known = type <= FI_FLOAT_COMPLEX;
            int is_bit = op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
            int is_order = op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op < FI_MSWAP);
            int has = is_known && (is_int || !is_bit) && !(is_complex && is_order);
            size_t count;
            CHECK(offered(type, op, 0) == (has && !compares && op != FI_ATOMIC_READ));
            CHECK(offered(type, op, FI_FETCH_ATOMIC) == (has && !compares));
            CHECK(offered(type, op, FI_COMPARE_ATOMIC) == (has && compares));
            CHECK((fi_atomicvalid(ep, type, op, &count) == 0) == offered(type, op, 0));
            CHECK((fi_fetch_atomicvalid(ep, type, op, &count) == 0) ==
                  offered(type, op, FI_FETCH_ATOMIC));
            CHECK((fi_compare_atomicvalid(ep, type, op, &count) == 0) ==
                  offered(type, op, FI_COMPARE_ATOMIC));
        }
    struct fi_atomic_attr attr;
    uint64_t both = FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC;
    CHECK(fi_query_atomic(domain, FI_INT8, FI_SUM, &attr, both) == -FI_EBADFLAGS);
    CHECK(fi_query_atomic(domain, FI_INT8, FI_SUM, NULL, 0) == -FI_EINVAL);
    CHECK(fi_query_atomic(domain, 99, FI_SUM, &attr, 0) == -FI_EOPNOTSUPP);
    CHECK(fi_query_atomic(domain, FI_INT8, 99, &attr, 0) == -FI_EOPNOTSUPP);
}

static void expect(uint64_t kind, void *context) {
    struct fi_cq_tagged_entry entry = next(tx);
    CHECK(entry.flags == (FI_ATOMIC | kind) && entry.op_context == context);
}

// Adds to the memory of one process, from both at once.
static void add_up(fi_addr_t to) {
    uint64_t one = 3, many[MANY], found[MANY];
    double real = 0.5;
    float i[2] = {0, 1};
    int8_t small[8] = {1, 2, 3, 4, -1, -2, -3, -4}, before[8];
    for (int at = 0; at < MANY; at++)
        many[at] = at;
    for (int round = 0; round < ROUNDS; round++) {
        POST(fi_atomic(ep, &one, 1, NULL, to, AT(sum), 1, FI_UINT64, FI_SUM, &one));
        POST(fi_inject_atomic(ep, &real, 1, to, AT(real), 1, FI_DOUBLE, FI_SUM));
        POST(fi_inject_atomic(ep, i, 1, to, AT(complex), 1, FI_FLOAT_COMPLEX, FI_PROD));
        expect(FI_WRITE, &one);
        POST(fi_fetch_atomic(ep, many, MANY, NULL, found, NULL, to, AT(single), 1, FI_UINT64,
                             FI_SUM, found));
        expect(FI_READ, found);
        for (int at = 1; at < MANY; at++)
            CHECK(found[at] % at == 0 && found[at] <= 2 * (uint64_t)ROUNDS * at);
        // Pieces that are cut here and there.
        struct fi_ioc from[2] = {{small, 3}, {small + 3, 5}};
        struct fi_ioc into[2] = {{before, 6}, {before + 6, 2}};
        POST(fi_fetch_atomicv(ep, from, NULL, 2, into, NULL, 2, to, AT(bytes), 1, FI_INT8, FI_SUM,
                              before));
        expect(FI_READ, before);
        uint64_t old, new = 1, comparand = 0;
        // A lock: the process that finds 0 has it.
        do {
            POST(fi_compare_atomic(ep, &new, 1, NULL, &comparand, NULL, &old, NULL, to, AT(bits), 1,
                                   FI_UINT64, FI_CSWAP, &old));
            expect(FI_READ, &old);
        } while (old != 0);
        old = 0;
        POST(fi_atomic(ep, &old, 1, NULL, to, AT(bits), 1, FI_UINT64, FI_ATOMIC_WRITE, &new));
        expect(FI_WRITE, &new);
    }
    uint64_t writes = 4 * ROUNDS, reads;
    OK(fi_cntr_wait(wrote, writes, 10000));
    reads = fi_cntr_read(was_read);
    CHECK(fi_cntr_read(wrote) == writes && reads >= 3 * ROUNDS);
}

static void check_sums(void) {
    uint64_t sum, single[MANY];
    float complex[2];
    double real;
    int8_t bytes[8];
    struct {
        void *to;
        size_t at, count;
        enum fi_datatype type;
    } all[] = {{&sum, AT(sum), 1, FI_UINT64},       {single, AT(single), MANY, FI_INT64},
               {&real, AT(real), 1, FI_DOUBLE},     {complex, AT(complex), 1, FI_FLOAT_COMPLEX},
               {bytes, AT(bytes), 8, FI_UINT8}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        POST(fi_fetch_atomic(ep, NULL, all[i].count, NULL, all[i].to, NULL, peer, all[i].at, 1,
                             all[i].type, FI_ATOMIC_READ, all + i));
        expect(FI_READ, all + i);
    }
    CHECK(sum == 6 * ROUNDS && real == ROUNDS && complex[0] == 1 && complex[1] == 0);
    for (int at = 0; at < MANY; at++)
        CHECK(single[at] == 2 * (uint64_t)ROUNDS * at);
    for (int at = 0; at < 8; at++)
        CHECK(bytes[at] == (int8_t)(2 * ROUNDS * (at < 4 ? at + 1 : 3 - at)));
}

// Does operations by records, of pieces in two regions.
static void by_records(void) {
    uint64_t from[3] = {0xff00ff, 7, 8}, masks[3] = {0xffff, 0, ~0}, found[3];
    struct fi_ioc operands = {from, 3}, comparands = {masks, 3};
    struct fi_ioc results[2] = {{found, 1}, {found + 1, 2}};
    struct fi_rma_ioc there[2] = {{AT(single), 2, 1}, {AT(bits), 1, 2}};
    struct fi_msg_atomic message = {.msg_iov = &operands,
                                    .iov_count = 1,
                                    .addr = peer,
                                    .rma_iov = there,
                                    .rma_iov_count = 2,
                                    .datatype = FI_UINT64,
                                    .op = FI_MSWAP,
                                    .context = found};
    uint64_t flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
    POST(fi_compare_atomicmsg(ep, &message, &comparands, NULL, 1, results, NULL, 2, flags));
    expect(FI_READ, found);
    message.op = FI_MAX;
    POST(fi_fetch_atomicmsg(ep, &message, results, NULL, 2, FI_INJECT | FI_COMPLETION));
    expect(FI_READ, found);
    CHECK(found[0] == 0x00ff && found[1] == 2 * ROUNDS && found[2] == 8);
    POST(fi_atomicmsg(ep, &message, FI_COMPLETION));
    expect(FI_WRITE, found);
    CHECK(fi_atomicmsg(ep, &message, FI_MULTI_RECV) == -FI_EBADFLAGS);
    there[1].count = 2;
    CHECK(fi_atomicmsg(ep, &message, 0) == -FI_EINVAL);
    there[1].count = (size_t)-1;
    CHECK(fi_atomicmsg(ep, &message, 0) == -FI_EMSGSIZE);
    message.rma_iov_count = 0;
    CHECK(fi_atomicmsg(ep, &message, 0) == -FI_EINVAL);
}

static int try(enum fi_datatype type, enum fi_op op, size_t count, uint64_t at, uint64_t key) {
    static uint64_t operands[1000];
    return fi_atomic(ep, operands, count, NULL, peer, at, key, type, op, NULL);
}

static int try_fetch(enum fi_op op, uint64_t key) {
    static uint64_t operand, found;
    return fi_fetch_atomic(ep, &operand, 1, NULL, &found, NULL, peer, 0, key, FI_UINT64, op, NULL);
}

static void refuses(void) {
    CHECK(try(FI_UINT64, FI_SUM, 0, 0, 1) == -FI_EINVAL);
    CHECK(try(FI_UINT64, FI_SUM, 1000, 0, 1) == -FI_EMSGSIZE);
    CHECK(try(FI_UINT64, FI_CSWAP, 1, 0, 1) == -FI_EOPNOTSUPP);
    CHECK(try(FI_UINT64, FI_ATOMIC_READ, 1, 0, 1) == -FI_EOPNOTSUPP);
    CHECK(try(FI_FLOAT, FI_BOR, 1, 0, 1) == -FI_EOPNOTSUPP);
    CHECK(try(FI_LONG_DOUBLE, FI_SUM, 1, 0, 1) == -FI_EOPNOTSUPP);
    CHECK(try(FI_UINT64, FI_SUM, 1, 4, 1) == -FI_EINVAL);
    CHECK(try(FI_UINT64, FI_SUM, 1, sizeof memory, 1) == -FI_EFAULT);
    CHECK(try(FI_UINT64, FI_SUM, 2, sizeof memory - 8, 1) == -FI_EFAULT);
    CHECK(try(FI_UINT64, FI_SUM, 1, 0, 9) == -FI_ENOKEY);
    CHECK(fi_atomic(ep, NULL, 1, NULL, peer, 0, 1, FI_INT8, FI_SUM, NULL) == -FI_EINVAL);
    CHECK(fi_atomic(ep, NULL, 1, NULL, 99, 0, 1, FI_INT8, FI_SUM, NULL) == -FI_EINVAL);
    // Rights: to read alone, to write alone.
    CHECK(try(FI_UINT64, FI_SUM, 1, 0, 3) == -FI_EACCES && try_fetch(FI_SUM, 3) == -FI_EACCES);
    CHECK(try_fetch(FI_SUM, 4) == -FI_EACCES && try_fetch(FI_ATOMIC_READ, 4) == -FI_EACCES);
    POST(try_fetch(FI_ATOMIC_READ, 3));
    expect(FI_READ, NULL);
    POST(try(FI_UINT64, FI_SUM, 1, 0, 4));
    expect(FI_WRITE, NULL);
}

int main(void) {
    begin(FI_MSG | FI_ATOMIC, FI_WAIT_UNSPEC);
    CHECK(info->caps & FI_ATOMIC && info->caps & FI_REMOTE_WRITE);
    OK(fi_cntr_open(domain, NULL, &wrote, NULL) || fi_cntr_open(domain, NULL, &was_read, NULL));
    OK(fi_ep_bind(ep, &wrote->fid, FI_WRITE) || fi_ep_bind(ep, &was_read->fid, FI_READ));
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    uint64_t rights[] = {both, both, FI_REMOTE_READ, FI_REMOTE_WRITE};
    struct fid_mr *regions[4];
    memory.complex[0] = 1;
    for (int i = 0; i < 4; i++)
        OK(fi_mr_reg(domain, i < 2 ? (void *)&memory : &secret, i < 2 ? sizeof memory : 8,
                     rights[i], 0, i + 1, 0, regions + i, NULL));
    CHECK(fi_atomic(ep, &both, 1, NULL, 0, 0, 1, FI_UINT64, FI_SUM, NULL) == -FI_EOPBADSTATE);
    join();
    is_offered();
    add_up(leads ? self : peer);
    // Makes progress for the other process while waiting for it.
    char mark;
    if (leads) {
        OK(fi_recv(ep, &mark, 1, NULL, FI_ADDR_UNSPEC, &mark));
        CHECK(next(rx).op_context == &mark);
        meet();
        OK(fi_recv(ep, &mark, 1, NULL, FI_ADDR_UNSPEC, &mark));
        CHECK(next(rx).op_context == &mark);
    } else {
        POST(fi_inject(ep, &mark, 1, peer));
        meet();
        check_sums();
        by_records();
        refuses();
        POST(fi_inject(ep, &mark, 1, peer));
    }
    if (leads) {
        CHECK(memory.single[0] == 0xff00ff && memory.single[1] == 2 * ROUNDS && memory.bits == 8);
        CHECK(secret == 5);
    }
    leave();
    for (int i = 0; i < 4; i++)
        OK(fi_close(&regions[i]->fid));
    OK(fi_close(&wrote->fid) || fi_close(&was_read->fid));
    return end();
}
