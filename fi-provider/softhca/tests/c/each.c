/*
 * Every operation of connected queue pairs and of dynamic connections, with its data verified: each
 * rc|dc OPERATION. Operations that libmlx5 can post are posted through its extended verbs; masked
 * atomics and NOP are written by hand.
 */
#include "files.h"

enum { INLINE = 128, PIECES = 4, BATCH = 8 };

/* A requester `a` and a responder `b`. */
struct link {
    struct side a, b;
    int dc;
    struct ibv_srq *srq;
    struct ibv_ah *ah;
    struct ibv_qp_ex *qx;
    struct mlx5dv_qp_ex *mx;
    uint16_t index; /* blocks posted by hand */
};

static struct link open_link(int dc, char *(*memory)(void))
{
    struct link l = { .a = open_side(memory()), .b = open_side(memory()), .dc = dc };
    struct ibv_srq_init_attr shared = { .attr = { .max_wr = 16, .max_sge = 2 } };
    struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC, .dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI };
    struct ibv_qp_init_attr_ex init = {
        .qp_type = dc ? IBV_QPT_DRIVER : IBV_QPT_RC, .send_cq = l.a.cq, .recv_cq = l.a.cq, .pd = l.a.pd,
        .cap = { .max_send_wr = 16, .max_send_sge = PIECES, .max_inline_data = INLINE },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                          IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
    };
    if (dc) {
        struct ibv_ah_attr to = { .dlid = 1, .port_num = 1 };
        CHECK(l.srq = ibv_create_srq(l.b.pd, &shared));
        l.b.qp = target(&l.b, l.srq);
        CHECK(l.a.qp = mlx5dv_create_qp(l.a.context, &init, &dv));
        ready(l.a.qp);
        CHECK(l.ah = ibv_create_ah(l.a.pd, &to));
    } else {
        l.b.qp = rc(&l.b, l.b.pd);
        CHECK(l.a.qp = ibv_create_qp_ex(l.a.context, &init));
        connect_to(l.a.qp, address_of(&l.b));
        connect_to(l.b.qp, address_of(&l.a));
    }
    l.qx = ibv_qp_to_qp_ex(l.a.qp);
    l.mx = mlx5dv_qp_ex_from_ibv_qp_ex(l.qx);
    return l;
}

static void close_link(struct link *l)
{
    CHECK(!l->ah || !ibv_destroy_ah(l->ah));
    CHECK(!ibv_destroy_qp(l->b.qp));
    l->b.qp = NULL;
    CHECK(!l->srq || !ibv_destroy_srq(l->srq));
    close_side(&l->a);
    close_side(&l->b);
}

/* Starts a request; the operation is set up next, then comes `aim`, then the data. */
static struct ibv_qp_ex *start(struct link *l, uint64_t id, unsigned flags)
{
    ibv_wr_start(l->qx);
    l->qx->wr_id = id;
    l->qx->wr_flags = flags;
    return l->qx;
}

static void aim(struct link *l)
{
    if (l->dc)
        mlx5dv_wr_set_dc_addr(l->mx, l->ah, l->b.qp->qp_num, DC_KEY);
}

static void from(struct link *l, size_t at, uint32_t length)
{
    ibv_wr_set_sge(l->qx, l->a.mr->lkey, (uintptr_t)l->a.memory + at, length);
    CHECK(!ibv_wr_complete(l->qx));
}

static uint64_t far(struct link *l, size_t at)
{
    return (uintptr_t)l->b.memory + at;
}

static struct ibv_wc done(struct link *l, enum ibv_wc_opcode opcode)
{
    struct ibv_wc wc = completion(l->a.cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == opcode && wc.qp_num == l->a.qp->qp_num);
    return wc;
}

static struct ibv_wc received(struct link *l, enum ibv_wc_opcode opcode, uint64_t id, uint32_t length)
{
    struct ibv_wc wc = completion(l->b.cq);
    CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == opcode && wc.wr_id == id && wc.byte_len == length);
    return wc;
}

/* Posts a receive of two pieces. */
static void receive(struct link *l, uint64_t id, size_t first, uint32_t first_length, size_t second, uint32_t second_length)
{
    struct ibv_sge pieces[2] = {
        { (uintptr_t)l->b.memory + first, first_length, l->b.mr->lkey }, { (uintptr_t)l->b.memory + second, second_length, l->b.mr->lkey },
    };
    struct ibv_recv_wr wr = { .wr_id = id, .sg_list = pieces, .num_sge = 2 }, *bad;
    CHECK(!(l->dc ? ibv_post_srq_recv(l->srq, &wr, &bad) : ibv_post_recv(l->b.qp, &wr, &bad)));
}

static uint64_t any(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void fill(char *memory, size_t length)
{
    for (size_t n = 0; n < length; n++)
        memory[n] = any();
}

/* Checks that nothing but [at, at + length) was written since `before` was copied. */
static void only(const char *memory, const char *before, size_t at, size_t length)
{
    CHECK(!memcmp(memory, before, at) && !memcmp(memory + at + length, before + at + length, SIZE - at - length));
}

static const uint32_t LENGTHS[] = { 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 20000 };
enum { LENGTH_COUNT = sizeof LENGTHS / sizeof *LENGTHS };
static char before[SIZE];

/*
 * Sends messages of all lengths into receives of two pieces, with and without immediate data; and
 * one that comes before its receive.
 */
static void messages(struct link *l, int immediate)
{
    for (int n = 0; n < LENGTH_COUNT; n++) {
        uint32_t length = LENGTHS[n], first = length < 100 ? length : 100, second = length - first;
        fill(l->a.memory, length);
        fill(l->b.memory, SIZE);
        memcpy(before, l->b.memory, SIZE);
        if (n % 2)
            receive(l, n, 1000, 100, 2001, 30000);
        struct ibv_qp_ex *qx = start(l, n, IBV_SEND_SIGNALED);
        if (immediate)
            ibv_wr_send_imm(qx, htobe32(0xabcd0000 + n));
        else
            ibv_wr_send(qx);
        aim(l);
        from(l, 0, length);
        if (!(n % 2)) {
            /* Nobody is ready to receive it yet. */
            CHECK(!kick());
            receive(l, n, 1000, 100, 2001, 30000);
        }
        CHECK(done(l, IBV_WC_SEND).wr_id == (uint64_t)n);
        struct ibv_wc wc = received(l, IBV_WC_RECV, n, length);
        CHECK(!(wc.wc_flags & IBV_WC_WITH_IMM) == !immediate && (!immediate || be32toh(wc.imm_data) == 0xabcd0000u + n));
        CHECK(!memcmp(l->b.memory + 1000, l->a.memory, first) && !memcmp(l->b.memory + 2001, l->a.memory + 100, second));
        memcpy(before + 2001, l->b.memory + 2001, second);
        only(l->b.memory, before, 1000, first);
    }
}

static void send_plain(struct link *l)
{
    messages(l, 0);
}

static void send_immediate(struct link *l)
{
    messages(l, 1);
}

/*
 * Does writes of all lengths to odd places. With immediate data a receive is used up, and the
 * memory that it names is not written.
 */
static void writes(struct link *l, int immediate)
{
    for (int n = 0; n < LENGTH_COUNT; n++) {
        uint32_t length = LENGTHS[n];
        fill(l->a.memory, SIZE);
        fill(l->b.memory, SIZE);
        memcpy(before, l->b.memory, SIZE);
        struct ibv_qp_ex *qx = start(l, n, IBV_SEND_SIGNALED);
        if (immediate) {
            receive(l, n, 40000, 1000, 50000, 1000);
            ibv_wr_rdma_write_imm(qx, l->b.mr->rkey, far(l, 333 + n), htobe32(n));
        } else {
            ibv_wr_rdma_write(qx, l->b.mr->rkey, far(l, 333 + n));
        }
        aim(l);
        from(l, 17, length);
        done(l, IBV_WC_RDMA_WRITE);
        if (immediate)
            CHECK(be32toh(received(l, IBV_WC_RECV_RDMA_WITH_IMM, n, length).imm_data) == (uint32_t)n);
        CHECK(!memcmp(l->b.memory + 333 + n, l->a.memory + 17, length));
        only(l->b.memory, before, 333 + n, length);
    }
}

static void write_plain(struct link *l)
{
    writes(l, 0);
}

static void write_immediate(struct link *l)
{
    writes(l, 1);
}

/* Does reads of all lengths into three pieces. */
static void reads(struct link *l)
{
    for (int n = 0; n < LENGTH_COUNT; n++) {
        uint32_t length = LENGTHS[n], first = length / 3, second = length / 2;
        char *a = l->a.memory;
        fill(a, SIZE);
        fill(l->b.memory, SIZE);
        memcpy(before, a, SIZE);
        struct ibv_sge pieces[3] = {
            { (uintptr_t)a + 5, first ? first : length, l->a.mr->lkey },
            { (uintptr_t)a + 20000, second, l->a.mr->lkey },
            { (uintptr_t)a + 40001, length - first - second, l->a.mr->lkey },
        };
        struct ibv_qp_ex *qx = start(l, n, IBV_SEND_SIGNALED);
        ibv_wr_rdma_read(qx, l->b.mr->rkey, far(l, 99));
        aim(l);
        /* A length of 0 in a piece means 2^31 bytes. */
        ibv_wr_set_sge_list(qx, first ? 3 : 1, pieces);
        CHECK(!ibv_wr_complete(qx));
        CHECK(done(l, IBV_WC_RDMA_READ).byte_len == length);
        memcpy(before + 5, l->b.memory + 99, pieces[0].length);
        if (first) {
            memcpy(before + 20000, l->b.memory + 99 + first, second);
            memcpy(before + 40001, l->b.memory + 99 + first + second, pieces[2].length);
        }
        CHECK(!memcmp(a, before, SIZE));
    }
}

/* Checks plain atomics against a model. */
static void atomics(struct link *l, int adds)
{
    uint64_t *result = (uint64_t *)l->a.memory + 7, *word = (uint64_t *)l->b.memory + 9;
    for (int n = 0; n < 300; n++) {
        uint64_t old = *word = any(), operand = any(), compare = n % 3 ? old : any();
        word[-1] = word[1] = result[-1] = result[1] = n;
        struct ibv_qp_ex *qx = start(l, n, IBV_SEND_SIGNALED);
        if (adds)
            ibv_wr_atomic_fetch_add(qx, l->b.mr->rkey, (uintptr_t)word, operand);
        else
            ibv_wr_atomic_cmp_swp(qx, l->b.mr->rkey, (uintptr_t)word, compare, operand);
        aim(l);
        from(l, 7 * 8, 8);
        done(l, adds ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
        CHECK(*result == old && *word == (adds ? old + operand : old == compare ? operand : old));
        CHECK(word[-1] == (uint64_t)n && word[1] == (uint64_t)n && result[-1] == (uint64_t)n && result[1] == (uint64_t)n);
    }
}

static void compare_swap(struct link *l)
{
    atomics(l, 0);
}

static void fetch_add(struct link *l)
{
    atomics(l, 1);
}

/* Posts an entry: control segment, address where there is one, and these segments. */
static void by_hand(struct link *l, int opcode, int modifier, int flags, const void *segments, size_t length)
{
    struct mlx5dv_qp dv = { 0 };
    struct mlx5dv_obj object = { .qp = { .in = l->a.qp, .out = &dv } };
    CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) && dv.sq.stride == 64);
    int addressed = l->dc && opcode != 0;
    uint32_t entry[64] = { htobe32(modifier << 24 | l->index << 8 | opcode), 0, htobe32(flags) };
    size_t at = 4;
    if (addressed) {
        uint64_t key = htobe64(DC_KEY);
        memcpy(entry + at, &key, 8);
        entry[at + 2] = htobe32(l->b.qp->qp_num);
        entry[at + 3] = htobe32(1);
        at += 4;
    }
    CHECK(at * 4 + length <= sizeof entry && length % 16 == 0);
    if (length)
        memcpy(entry + at, segments, length);
    int units = at / 4 + length / 16, blocks = (units + 3) / 4;
    entry[1] = htobe32(l->a.qp->qp_num << 8 | units);
    for (int n = 0; n < blocks; n++)
        memcpy((char *)dv.sq.buf + (l->index + n) % dv.sq.wqe_cnt * 64, entry + 16 * n, 64);
    l->index += blocks;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    dv.dbrec[MLX5_SND_DBR] = htobe32(l->index);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t first;
    memcpy(&first, entry, 8);
    *(volatile uint64_t *)dv.bf.reg = first;
}

static uint64_t model_swap(uint64_t old, uint64_t swap, uint64_t compare, uint64_t swap_mask, uint64_t compare_mask)
{
    return (old ^ compare) & compare_mask ? old : (old & ~swap_mask) | (swap & swap_mask);
}

/* Adds bit by bit: a carry does not leave a field. */
static uint64_t model_add(uint64_t old, uint64_t add, uint64_t boundary)
{
    uint64_t sum = 0, carry = 0;
    for (int bit = 0; bit < 64; bit++) {
        uint64_t total = (old >> bit & 1) + (add >> bit & 1) + carry;
        sum |= (total & 1) << bit;
        carry = boundary >> bit & 1 ? 0 : total >> 1;
    }
    return sum;
}

/* Appends a number as the device reads it; those of 4 bytes one after the other. */
static void put(uint8_t **at, uint64_t value, int size)
{
    uint64_t eight = htobe64(value);
    uint32_t four = htobe32(value);
    memcpy(*at, size == 8 ? (void *)&eight : (void *)&four, size);
    *at += size;
}

static uint64_t get(const char *at, int size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static void masked(struct link *l, int size, int adds)
{
    const uint64_t all = size == 8 ? UINT64_MAX : UINT32_MAX;
    char *result = l->a.memory + 64, *word = l->b.memory + 128 + (size == 4 ? 4 : 0);
    for (int n = 0; n < 500; n++) {
        uint64_t old = any() & all, operand = any() & all, mask = any() & any() & all, compare_mask = any() & any() & all;
        /* Often equal under the mask, and not elsewhere. */
        uint64_t compare = (n % 3 ? old ^ (any() & ~compare_mask) : any()) & all;
        uint8_t segments[64] = { 0 }, *at = segments;
        fill(l->a.memory, 256);
        fill(l->b.memory, 256);
        memcpy(word, &old, size);
        char near[256], there[256];
        memcpy(near, l->a.memory, 256);
        memcpy(there, l->b.memory, 256);
        put(&at, (uintptr_t)word, 8);
        put(&at, l->b.mr->rkey, 4);
        at += 4;
        put(&at, operand, size);
        put(&at, adds ? mask : compare, size);
        if (!adds) {
            put(&at, mask, size);
            put(&at, compare_mask, size);
        } else if (size == 4) {
            at += 8;
        }
        put(&at, size, 4);
        put(&at, l->a.mr->lkey, 4);
        put(&at, (uintptr_t)result, 8);
        by_hand(l, adds ? 0x15 : 0x14, size == 8 ? 9 : 8, MLX5_WQE_CTRL_CQ_UPDATE, segments, at - segments);
        CHECK(completion(l->a.cq).status == IBV_WC_SUCCESS);
        uint64_t new = adds ? model_add(old, operand, mask | (all ^ all >> 1)) : model_swap(old, operand, compare, mask, compare_mask);
        uint64_t told = size == 8 ? old : be32toh(old);
        memcpy(there + (word - l->b.memory), &new, size);
        memcpy(near + 64, &told, size);
        CHECK(get(word, size) == (new & all) && get(result, size) == told);
        CHECK(!memcmp(l->a.memory, near, 256) && !memcmp(l->b.memory, there, 256));
    }
}

static void masked_swap_4(struct link *l)
{
    masked(l, 4, 0);
}

static void masked_swap_8(struct link *l)
{
    masked(l, 8, 0);
}

static void masked_add_4(struct link *l)
{
    masked(l, 4, 1);
}

static void masked_add_8(struct link *l)
{
    masked(l, 8, 1);
}

/*
 * Checks that NOPs are done in order: a write before a NOP has arrived when the NOP completes, and
 * only an entry that asks for a completion has one.
 */
static void nop(struct link *l)
{
    fill(l->b.memory, SIZE);
    for (uint32_t n = 0; n < 100; n++) {
        uint32_t segments[8] = { 0, 0, htobe32(l->b.mr->rkey), 0, htobe32(0x80000004), n };
        uint64_t to = htobe64(far(l, 100));
        memcpy(segments, &to, 8);
        memcpy(before, l->b.memory, SIZE);
        by_hand(l, 0x08, 0, 0, segments, sizeof segments);
        by_hand(l, 0x00, 0, 0, NULL, 0);
        by_hand(l, 0x00, 0, MLX5_WQE_CTRL_CQ_UPDATE, NULL, 0);
        CHECK(completion(l->a.cq).status == IBV_WC_SUCCESS);
        CHECK(get(l->b.memory + 100, 4) == n);
        only(l->b.memory, before, 100, 4);
        struct ibv_wc wc;
        CHECK(!kick() && ibv_poll_cq(l->a.cq, 1, &wc) == 0 && ibv_poll_cq(l->b.cq, 1, &wc) == 0);
    }
}

/* Sends data in the entry itself, of every length, out of memory that is not registered. */
static void inlined(struct link *l)
{
    static char own[INLINE];
    for (uint32_t length = 1; length <= INLINE; length++) {
        fill(own, INLINE);
        fill(l->b.memory, SIZE);
        memcpy(before, l->b.memory, SIZE);
        struct ibv_qp_ex *qx = start(l, length, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        ibv_wr_rdma_write(qx, l->b.mr->rkey, far(l, length));
        aim(l);
        ibv_wr_set_inline_data(qx, own, length);
        CHECK(!ibv_wr_complete(qx));
        memcpy(before + length, own, length);
        /* The entry has a copy. */
        memset(own, 0, INLINE);
        done(l, IBV_WC_RDMA_WRITE);
        CHECK(!memcmp(l->b.memory, before, SIZE));
    }
}

/* Writes and sends one to four pieces. */
static void gather(struct link *l)
{
    for (int n = 0; n < 40; n++) {
        struct ibv_sge pieces[PIECES];
        uint32_t count = n % PIECES + 1, length = 0;
        fill(l->a.memory, SIZE);
        fill(l->b.memory, SIZE);
        memcpy(before, l->b.memory, SIZE);
        for (uint32_t piece = 0; piece < count; piece++) {
            pieces[piece] = (struct ibv_sge){ (uintptr_t)l->a.memory + any() % 60000, any() % 3000 + 1, l->a.mr->lkey };
            memcpy(before + 500 + length, (char *)(uintptr_t)pieces[piece].addr, pieces[piece].length);
            length += pieces[piece].length;
        }
        int sends = n % 2;
        if (sends)
            receive(l, n, 500, length, 50000, 1);
        struct ibv_qp_ex *qx = start(l, n, IBV_SEND_SIGNALED);
        if (sends)
            ibv_wr_send(qx);
        else
            ibv_wr_rdma_write(qx, l->b.mr->rkey, far(l, 500));
        aim(l);
        ibv_wr_set_sge_list(qx, count, pieces);
        CHECK(!ibv_wr_complete(qx));
        done(l, sends ? IBV_WC_SEND : IBV_WC_RDMA_WRITE);
        if (sends)
            received(l, IBV_WC_RECV, n, length);
        CHECK(!memcmp(l->b.memory, before, SIZE));
    }
}

static void write_word(struct link *l, uint64_t id, unsigned flags, size_t at, uint64_t value)
{
    struct ibv_qp_ex *qx = start(l, id, flags | IBV_SEND_INLINE);
    ibv_wr_rdma_write(qx, l->b.mr->rkey, far(l, at));
    aim(l);
    ibv_wr_set_inline_data(qx, &value, sizeof value);
    CHECK(!ibv_wr_complete(qx));
}

/*
 * Checks that there is one completion where the last of eight requests asks for it, and that it
 * tells of the earlier ones, too.
 */
static void unsignalled(struct link *l)
{
    for (uint64_t round = 1; round <= 100; round++) {
        struct ibv_wc wc;
        for (int n = 0; n < BATCH - 1; n++)
            write_word(l, 1000, 0, n * 8, round * BATCH + n);
        CHECK(!kick() && ibv_poll_cq(l->a.cq, 1, &wc) == 0);
        for (int n = 0; n < BATCH - 1; n++)
            CHECK(((uint64_t *)l->b.memory)[n] == round * BATCH + n);
        write_word(l, round, IBV_SEND_SIGNALED, 0, round);
        CHECK(done(l, IBV_WC_RDMA_WRITE).wr_id == round && *(uint64_t *)l->b.memory == round);
        CHECK(!kick() && ibv_poll_cq(l->a.cq, 1, &wc) == 0);
    }
}

/* Does a fenced write of the values that the read and the atomic before it bring. */
static void fence(struct link *l)
{
    uint64_t *a = (uint64_t *)l->a.memory, *b = (uint64_t *)l->b.memory;
    for (int n = 0; n < 200; n++) {
        a[0] = a[1] = 0;
        b[0] = any(), b[1] = any(), b[2] = b[3] = 0;
        uint64_t read = b[0], old = b[1];
        ibv_wr_start(l->qx);
        l->qx->wr_flags = 0;
        ibv_wr_rdma_read(l->qx, l->b.mr->rkey, far(l, 0));
        aim(l);
        ibv_wr_set_sge(l->qx, l->a.mr->lkey, (uintptr_t)a, 8);
        ibv_wr_atomic_fetch_add(l->qx, l->b.mr->rkey, far(l, 8), 1);
        aim(l);
        ibv_wr_set_sge(l->qx, l->a.mr->lkey, (uintptr_t)(a + 1), 8);
        l->qx->wr_flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
        ibv_wr_rdma_write(l->qx, l->b.mr->rkey, far(l, 16));
        aim(l);
        ibv_wr_set_sge(l->qx, l->a.mr->lkey, (uintptr_t)a, 16);
        CHECK(!ibv_wr_complete(l->qx));
        done(l, IBV_WC_RDMA_WRITE);
        CHECK(b[2] == read && b[3] == old && b[1] == old + 1 && b[0] == read);
    }
}

/*
 * Posts entries of one to four blocks until the index of 16 bits has started again: rings of a few
 * hundred blocks wrap all the time.
 */
static void wrap(struct link *l)
{
    struct mlx5dv_qp dv = { 0 };
    struct mlx5dv_obj object = { .qp = { .in = l->a.qp, .out = &dv } };
    CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP));
    uint64_t *counter = (uint64_t *)l->b.memory + 4000, added = 0;
    int wraps = 0, last = 0;
    static char own[INLINE];
    for (uint64_t batch = 0; wraps < 1 || last < 100; batch++) {
        for (int n = 0; n < BATCH - 1; n++) {
            uint32_t length = 8 + any() % (INLINE - 8);
            fill(own, length);
            memcpy(before + n * INLINE, own, length);
            struct ibv_qp_ex *qx = start(l, 0, IBV_SEND_INLINE);
            ibv_wr_rdma_write(qx, l->b.mr->rkey, far(l, n * INLINE));
            aim(l);
            ibv_wr_set_inline_data(qx, own, length);
            CHECK(!ibv_wr_complete(qx));
        }
        struct ibv_qp_ex *qx = start(l, batch, IBV_SEND_SIGNALED);
        ibv_wr_atomic_fetch_add(qx, l->b.mr->rkey, (uintptr_t)counter, batch);
        aim(l);
        from(l, 0, 8);
        CHECK(!kick());
        CHECK(done(l, IBV_WC_FETCH_ADD).wr_id == batch);
        CHECK(*(uint64_t *)l->a.memory == added && *counter == (added += batch));
        CHECK(!memcmp(l->b.memory, before, (BATCH - 1) * INLINE));
        int index = be32toh(dv.dbrec[MLX5_SND_DBR]) & 0xffff;
        wraps += index < last;
        last = index;
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct link *);
    } operations[] = {
        { "send", send_plain }, { "send_immediate", send_immediate }, { "write", write_plain }, { "write_immediate", write_immediate },
        { "read", reads }, { "compare_swap", compare_swap }, { "fetch_add", fetch_add }, { "masked_swap_4", masked_swap_4 },
        { "masked_swap_8", masked_swap_8 }, { "masked_add_4", masked_add_4 }, { "masked_add_8", masked_add_8 }, { "nop", nop },
        { "inline", inlined }, { "gather", gather }, { "unsignalled", unsignalled }, { "fence", fence }, { "wrap", wrap },
    };
    for (size_t n = 0; argc == 3 && n < sizeof operations / sizeof *operations; n++)
        if (!strcmp(argv[2], operations[n].name)) {
            char *(*memories[])(void) = { new_memory, mapped_memory };
            for (int m = 0; m < 2; m++) {
                struct link l = open_link(!strcmp(argv[1], "dc"), memories[m]);
                memset(before, 0, sizeof before);
                operations[n].run(&l);
                close_link(&l);
            }
            return 0;
        }
    fprintf(stderr, "usage: each rc|dc OPERATION\n");
    return 2;
}
