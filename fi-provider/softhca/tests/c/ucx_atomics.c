/*
 * UCX's atomics over the software device: ucx_atomics rc_mlx5|dc_mlx5. Every operation of 4 and 8 bytes is done through UCT, its result
 * checked, and the entry that UCX wrote is found in the ring and printed:
 *   NAME SIZE VALUE COMPARE NUMBER INDEX REMOTE RKEY HEX
 * UCX does not tell where its rings are; it asks libmlx5, and the function that it asks is replaced here to listen.
 */
#include "uct_side.h"

enum { MOST_RINGS = 64 };

/* A send queue that UCX asked about. */
struct ring {
    uint32_t qpn;
    uint8_t *entries;
    uint32_t count;
    const volatile uint32_t *record;
};

static struct ring rings[MOST_RINGS];
static int ring_count;

int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t kinds)
{
    static int (*original)(struct mlx5dv_obj *, uint64_t);
    if (!original) {
        void *library = dlopen("libmlx5.so.1", RTLD_NOW);
        CHECK(library);
        *(void **)&original = dlsym(library, "mlx5dv_init_obj");
        CHECK(original);
    }
    int failed = original(object, kinds);
    if (!failed && kinds & MLX5DV_OBJ_QP && object->qp.out->sq.wqe_cnt) {
        struct mlx5dv_qp *qp = object->qp.out;
        CHECK(ring_count < MOST_RINGS && qp->sq.stride == 64);
        rings[ring_count++] = (struct ring){ object->qp.in->qp_num, qp->sq.buf, qp->sq.wqe_cnt, qp->dbrec + MLX5_SND_DBR };
    }
    return failed;
}

/* Does nothing: UCX counts down and calls this at zero; the count alone is looked at. */
static void completed(uct_completion_t *completion)
{
    CHECK(completion->status == UCS_OK);
}

/* Does an operation, and waits until it is done. */
static void act(const char *name, int size, uct_atomic_op_t op, int fetches, uint64_t value, uint64_t compare, uint64_t *result)
{
    uct_completion_t completion = { .func = completed, .count = 1, .status = UCS_OK };
    uint64_t at = (uintptr_t)word;
    ucs_status_t status;
    if (!fetches)
        status = size == 8 ? uct_ep_atomic64_post(ep, op, value, at, rkey) : uct_ep_atomic32_post(ep, op, value, at, rkey);
    else if (op == UCT_ATOMIC_OP_CSWAP)
        status = size == 8 ? uct_ep_atomic_cswap64(ep, compare, value, at, rkey, result, &completion)
                           : uct_ep_atomic_cswap32(ep, compare, value, at, rkey, (uint32_t *)result, &completion);
    else
        status = size == 8 ? uct_ep_atomic64_fetch(ep, op, value, result, at, rkey, &completion)
                           : uct_ep_atomic32_fetch(ep, op, value, (uint32_t *)result, at, rkey, &completion);
    if (status != UCS_OK && status != UCS_INPROGRESS)
        fprintf(stderr, "%s of %d bytes: %s\n", name, size, ucs_status_string(status));
    CHECK(status == UCS_OK || status == UCS_INPROGRESS);
    while (uct_iface_flush(iface, 0, NULL) != UCS_OK)
        uct_worker_progress(worker);
    CHECK(!fetches || completion.count == 0);
}

/* Returns the value that an operation leaves behind. */
static uint64_t after(uct_atomic_op_t op, uint64_t old, uint64_t value, uint64_t compare)
{
    switch (op) {
    case UCT_ATOMIC_OP_ADD:
        return old + value;
    case UCT_ATOMIC_OP_AND:
        return old & value;
    case UCT_ATOMIC_OP_OR:
        return old | value;
    case UCT_ATOMIC_OP_XOR:
        return old ^ value;
    case UCT_ATOMIC_OP_SWAP:
        return value;
    default:
        return old == compare ? value : old;
    }
}

/* Checks an operation, and prints the entry that it was posted with. */
static void check(const char *name, int size, uct_atomic_op_t op, int fetches, int misses)
{
    const uint64_t untouched = 0x7777777777777777, mask = size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t old = 0xfedcba9876543210, value = 0x0123f00dffff5aa5 & mask, compare = misses ? 1 : old & mask, result = untouched;
    uint16_t before[MOST_RINGS];
    word[-1] = word[1] = untouched;
    word[0] = old;
    for (int n = 0; n < ring_count; n++)
        before[n] = be32toh(*rings[n].record);
    act(name, size, op, fetches, value, compare, &result);
    CHECK(word[0] == ((after(op, old & mask, value, compare) & mask) | (old & ~mask)));
    CHECK(word[-1] == untouched && word[1] == untouched);
    CHECK(result == (fetches ? (old & mask) | (untouched & ~mask) : untouched));
    int found = 0;
    for (int n = 0; n < ring_count; n++) {
        if ((uint16_t)be32toh(*rings[n].record) == before[n])
            continue;
        found++;
        uint8_t *entry = rings[n].entries + before[n] % rings[n].count * 64, *end = rings[n].entries + rings[n].count * 64;
        printf("%s %d %lu %lu %u %u %lu %u ", name, size, value, compare, rings[n].qpn, before[n], (uint64_t)(uintptr_t)word, (uint32_t)rkey);
        for (int left = (entry[7] & 0x3f) * 16; left; left--) {
            printf("%02x", *entry);
            entry = entry + 1 == end ? rings[n].entries : entry + 1;
        }
        printf("\n");
    }
    CHECK(found == 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *post, *fetch;
        uct_atomic_op_t op;
    } operations[] = {
        { "add", "fetch_add", UCT_ATOMIC_OP_ADD }, { "and", "fetch_and", UCT_ATOMIC_OP_AND },     { "or", "fetch_or", UCT_ATOMIC_OP_OR },
        { "xor", "fetch_xor", UCT_ATOMIC_OP_XOR }, { NULL, "swap", UCT_ATOMIC_OP_SWAP }, { NULL, "compare_swap", UCT_ATOMIC_OP_CSWAP },
    };
    CHECK(argc == 2);
    open_domain();
    open_interface(argv[1]);
    connect_endpoint(UCS_BIT(UCT_ATOMIC_OP_SWAP));
    register_memory();
    /* Entries of one and of two blocks: often enough that they lie across the ring's end, too. */
    for (int round = 0; round < 60; round++)
        for (int size = 4; size <= 8; size += 4)
            for (size_t n = 0; n < sizeof operations / sizeof *operations; n++) {
                if (operations[n].post)
                    check(operations[n].post, size, operations[n].op, 0, 0);
                check(operations[n].fetch, size, operations[n].op, 1, round % 2);
            }
    fflush(stdout);
    /* UCX's own memory is left to the kernel. */
    _exit(0);
}
