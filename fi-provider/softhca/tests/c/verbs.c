/* What libibverbs and libmlx5 do on the software device, one case per run: verbs NAME. Data is verified; the exit status is 0 when all is right. */
#include "side.h"

/* Two queue pairs of one process, connected. */
static void pair(struct side *a, struct side *b)
{
    *a = open_side(new_memory());
    *b = open_side(new_memory());
    a->qp = rc(a, a->pd);
    b->qp = rc(b, b->pd);
    connect_to(a->qp, address_of(b));
    connect_to(b->qp, address_of(a));
}

/* WRITE, READ, FETCH_ADD, CAS: after the kick the completion is there, without waiting. */
static void rdma(void)
{
    struct side a, b;
    struct ibv_wc wc;
    pair(&a, &b);
    struct address to = address_of(&b);
    uint64_t *result = (uint64_t *)(a.memory + 4096), *target = (uint64_t *)b.memory;
    /* Often enough that a kick which only wakes the device would be found out. */
    for (int i = 0; i < 2000; i++) {
        *(int *)a.memory = i;
        post(&a, IBV_WR_RDMA_WRITE, a.memory, 4, to.base + 16, to.rkey, 0, 0);
        CHECK(!kick() && *(volatile int *)(b.memory + 16) == i);
        CHECK(ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    }
    memset(a.memory, 'w', 3000);
    post(&a, IBV_WR_RDMA_WRITE, a.memory, 3000, to.base + 5, to.rkey, 0, 0);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && wc.wr_id == 7);
    CHECK(!memcmp(b.memory + 5, a.memory, 3000) && !b.memory[4] && !b.memory[3005]);
    post(&a, IBV_WR_RDMA_READ, a.memory + 8192, 3000, to.base + 5, to.rkey, 0, 0);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && wc.byte_len == 3000);
    CHECK(!memcmp(a.memory + 8192, a.memory, 3000) && !a.memory[8192 + 3000]);
    *target = 40;
    post(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, result, 8, to.base, to.rkey, 2, 0);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && *result == 40 && *target == 42);
    post(&a, IBV_WR_ATOMIC_CMP_AND_SWP, result, 8, to.base, to.rkey, 41, 99);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && *result == 42 && *target == 42);
    post(&a, IBV_WR_ATOMIC_CMP_AND_SWP, result, 8, to.base, to.rkey, 42, 99);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && *result == 42 && *target == 99);
    close_side(&a);
    close_side(&b);
}

/* A wrong key and a range that ends too late are remote access errors; the queue pair then flushes. */
static void rights(void)
{
    for (int late = 0; late < 2; late++) {
        struct side a, b;
        pair(&a, &b);
        struct address to = address_of(&b);
        post(&a, IBV_WR_RDMA_WRITE, a.memory, 64, late ? to.base + SIZE - 63 : to.base, late ? to.rkey : to.rkey ^ 1, 0, 0);
        post(&a, IBV_WR_RDMA_WRITE, a.memory, 64, to.base, to.rkey, 0, 0);
        CHECK(completion(a.cq).status == IBV_WC_REM_ACCESS_ERR);
        CHECK(completion(a.cq).status == IBV_WC_WR_FLUSH_ERR);
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        CHECK(!ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_ERR);
        close_side(&a);
        close_side(&b);
    }
}

/* A child that has connected, told over pipes, and the parent's side of it. */
static pid_t child_with_memory(struct side *a, char *shared, struct address *child_address)
{
    int up[2], down[2];
    struct address mine, theirs;
    CHECK(!pipe(up) && !pipe(down));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct side b = open_side(shared);
        b.qp = rc(&b, b.pd);
        mine = address_of(&b);
        CHECK(write(up[1], &mine, sizeof mine) == sizeof mine);
        CHECK(read(down[0], &theirs, sizeof theirs) == sizeof theirs);
        connect_to(b.qp, theirs);
        CHECK(write(up[1], "c", 1) == 1);
        for (;;)
            pause();
    }
    *a = open_side(new_memory());
    a->qp = rc(a, a->pd);
    CHECK(read(up[0], child_address, sizeof *child_address) == sizeof *child_address);
    mine = address_of(a);
    CHECK(write(down[1], &mine, sizeof mine) == sizeof mine);
    connect_to(a->qp, *child_address);
    char c;
    CHECK(read(up[0], &c, 1) == 1);
    return child;
}

/* A stopped process receives; one that was killed makes its peer's requests fail. */
static void stopped(void)
{
    struct side a;
    struct address to;
    char *shared = new_memory();
    int status;
    pid_t child = child_with_memory(&a, shared, &to);
    CHECK(!kill(child, SIGSTOP) && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    strcpy(a.memory, "while you sleep");
    post(&a, IBV_WR_RDMA_WRITE, a.memory, 16, to.base + 100, to.rkey, 0, 0);
    CHECK(completion(a.cq).status == IBV_WC_SUCCESS);
    CHECK(!strcmp(shared + 100, "while you sleep"));
    CHECK(!kill(child, SIGKILL) && waitpid(child, &status, 0) == child);
    post(&a, IBV_WR_RDMA_WRITE, a.memory, 16, to.base + 100, to.rkey, 0, 0);
    CHECK(completion(a.cq).status == IBV_WC_RETRY_EXC_ERR);
    close_side(&a);
}

/* SEND with immediate to a receive with two segments; the completion channel tells of it. */
static void events(void)
{
    struct side a, b;
    pair(&a, &b);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(b.context);
    CHECK(channel);
    struct ibv_cq *cq = ibv_create_cq(b.context, 16, NULL, channel, 0), *told;
    CHECK(cq);
    struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 2 } };
    CHECK(!ibv_destroy_qp(a.qp) && !ibv_destroy_qp(b.qp));
    CHECK(b.qp = ibv_create_qp(b.pd, &init));
    a.qp = rc(&a, a.pd);
    connect_to(a.qp, address_of(&b));
    connect_to(b.qp, address_of(&a));
    struct ibv_sge to[2] = { { (uintptr_t)b.memory, 10, b.mr->lkey }, { (uintptr_t)b.memory + 100, 50, b.mr->lkey } };
    struct ibv_recv_wr receive = { .wr_id = 9, .sg_list = to, .num_sge = 2 }, *bad_receive;
    void *cookie;
    for (int round = 0; round < 3; round++) {
        CHECK(!ibv_req_notify_cq(cq, 0));
        CHECK(!ibv_post_recv(b.qp, &receive, &bad_receive));
        memcpy(a.memory, "0123456789abcdefgh", 18);
        struct ibv_sge from = { (uintptr_t)a.memory, 18, a.mr->lkey };
        struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x01020304, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &from, .num_sge = 1 }, *bad;
        CHECK(!ibv_post_send(a.qp, &wr, &bad));
        CHECK(completion(a.cq).status == IBV_WC_SUCCESS);
        CHECK(!ibv_get_cq_event(channel, &told, &cookie) && told == cq);
        struct ibv_wc wc = completion(cq);
        CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == 9 && wc.byte_len == 18 && wc.imm_data == 0x01020304 && wc.wc_flags & IBV_WC_WITH_IMM);
        CHECK(!memcmp(b.memory, "0123456789", 10) && !memcmp(b.memory + 100, "abcdefgh", 8));
        if (round < 2)
            ibv_ack_cq_events(cq, 1);
        memset(b.memory, 0, 200);
    }
    /* One event is not acknowledged yet, and another one not even read: destroying must wait for the first alone. */
    CHECK(!ibv_req_notify_cq(cq, 0) && !ibv_post_recv(b.qp, &receive, &bad_receive));
    post(&a, IBV_WR_RDMA_WRITE_WITH_IMM, a.memory, 8, address_of(&b).base, b.mr->rkey, 0, 0);
    CHECK(completion(cq).opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(!ibv_destroy_qp(b.qp));
    b.qp = NULL;
    ibv_ack_cq_events(cq, 1);
    CHECK(!ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(channel));
    close_side(&a);
    close_side(&b);
}

/* A DC initiator writes, reads and adds to a target that does nothing. */
static void dc(void)
{
    struct side a = open_side(new_memory()), b = open_side(new_memory());
    struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct ibv_srq *srq = ibv_create_srq(b.pd, &srq_init);
    CHECK(srq);
    b.qp = target(&b, srq);
    struct ibv_qp_init_attr_ex init = {
        .qp_type = IBV_QPT_DRIVER, .send_cq = a.cq, .recv_cq = a.cq, .pd = a.pd, .cap = { .max_send_wr = 16, .max_send_sge = 1 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
    };
    struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC, .dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI };
    CHECK(a.qp = mlx5dv_create_qp(a.context, &init, &dv));
    ready(a.qp);

    struct ibv_ah_attr to = { .dlid = 1, .port_num = 1 };
    struct ibv_ah *ah = ibv_create_ah(a.pd, &to);
    CHECK(ah);
    struct ibv_qp_ex *qx = ibv_qp_to_qp_ex(a.qp);
    struct mlx5dv_qp_ex *mx = mlx5dv_qp_ex_from_ibv_qp_ex(qx);
    uint64_t *result = (uint64_t *)(a.memory + 4096), *target = (uint64_t *)(b.memory + 512);
    memcpy(a.memory, "by dynamic connection", 22);
    *target = 1000;
    ibv_wr_start(qx);
    qx->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qx, b.mr->rkey, (uintptr_t)b.memory);
    mlx5dv_wr_set_dc_addr(mx, ah, b.qp->qp_num, DC_KEY);
    ibv_wr_set_sge(qx, a.mr->lkey, (uintptr_t)a.memory, 22);
    ibv_wr_rdma_read(qx, b.mr->rkey, (uintptr_t)b.memory);
    mlx5dv_wr_set_dc_addr(mx, ah, b.qp->qp_num, DC_KEY);
    ibv_wr_set_sge(qx, a.mr->lkey, (uintptr_t)a.memory + 2048, 22);
    ibv_wr_atomic_fetch_add(qx, b.mr->rkey, (uintptr_t)target, 7);
    mlx5dv_wr_set_dc_addr(mx, ah, b.qp->qp_num, DC_KEY);
    ibv_wr_set_sge(qx, a.mr->lkey, (uintptr_t)result, 8);
    CHECK(!ibv_wr_complete(qx));
    for (int i = 0; i < 3; i++)
        CHECK(completion(a.cq).status == IBV_WC_SUCCESS);
    CHECK(!strcmp(b.memory, "by dynamic connection") && !strcmp(a.memory + 2048, b.memory));
    CHECK(*result == 1000 && *target == 1007);
    /* With a wrong key, nothing is written. */
    strcpy(a.memory, "not allowed");
    ibv_wr_start(qx);
    ibv_wr_rdma_write(qx, b.mr->rkey, (uintptr_t)b.memory);
    mlx5dv_wr_set_dc_addr(mx, ah, b.qp->qp_num, DC_KEY + 1);
    ibv_wr_set_sge(qx, a.mr->lkey, (uintptr_t)a.memory, 12);
    CHECK(!ibv_wr_complete(qx));
    CHECK(completion(a.cq).status != IBV_WC_SUCCESS && !strcmp(b.memory, "by dynamic connection"));
    CHECK(!ibv_destroy_ah(ah) && !ibv_destroy_qp(b.qp) && !ibv_destroy_srq(srq));
    b.qp = NULL;
    close_side(&a);
    close_side(&b);
}

static uint16_t capability(struct ibv_context *context, int at)
{
    static uint8_t out[16 + 4096];
    uint8_t in[16] = { 1, 0, 0, 0, 0, 0, 0, 6 }; /* QUERY_HCA_CAP, atomics */
    CHECK(!mlx5dv_devx_general_cmd(context, in, sizeof in, out, sizeof out) && out[0] == 0);
    return out[16 + at] << 8 | out[16 + at + 1];
}

/* Posts a masked atomic by hand, as a program with its own data path does: an entry of so many 16-byte units, then record and register. */
static void post_by_hand(struct side *s, const uint32_t *operands, int operand_bytes, int opcode, int modifier, uint64_t remote, uint32_t rkey, void *result, int size)
{
    static uint16_t index;
    struct mlx5dv_qp dv = { 0 };
    struct mlx5dv_obj obj = { .qp = { .in = s->qp, .out = &dv } };
    CHECK(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP) && dv.sq.stride == 64);
    int units = 2 + operand_bytes / 16 + 1;
    uint32_t entry[32] = { htobe32(modifier << 24 | index << 8 | opcode), htobe32(s->qp->qp_num << 8 | units), htobe32(8) };
    uint64_t at = htobe64(remote), local = htobe64((uintptr_t)result);
    memcpy(entry + 4, &at, 8);
    entry[6] = htobe32(rkey);
    memcpy(entry + 8, operands, operand_bytes);
    uint32_t *data = entry + 8 + operand_bytes / 4;
    data[0] = htobe32(size);
    data[1] = htobe32(s->mr->lkey);
    memcpy(data + 2, &local, 8);
    int blocks = (units + 3) / 4;
    for (int i = 0; i < blocks; i++)
        memcpy((char *)dv.sq.buf + 64 * ((index + i) % dv.sq.wqe_cnt), entry + 16 * i, 64);
    index += blocks;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    dv.dbrec[MLX5_SND_DBR] = htobe32(index);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t first;
    memcpy(&first, entry, 8);
    *(volatile uint64_t *)dv.bf.reg = first;
}

/* DEVX tells of masked atomics, and they work: OR of 64 bits by compare-and-swap, an addition of 32 bits in two fields. */
static void masked(void)
{
    struct side a, b;
    struct ibv_wc wc;
    pair(&a, &b);
    CHECK(capability(a.context, 0x12) == 15 && capability(a.context, 0x16) == 12 && capability(a.context, 0x1a) == 12);
    struct address to = address_of(&b);
    uint64_t *result = (uint64_t *)(a.memory + 4096), *target = (uint64_t *)b.memory, or = 0x00ff00000000ff00;
    uint32_t *result4 = (uint32_t *)result, *target4 = (uint32_t *)b.memory + 8;
    *target = 0x1234567890abcdef;
    uint64_t swap[4] = { htobe64(or), 0, htobe64(or), 0 }; /* swap, compare, mask of the swap, mask of the compare */
    post_by_hand(&a, (uint32_t *)swap, 32, 0x14, 8 | 1, to.base, to.rkey, result, 8);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    CHECK(*result == 0x1234567890abcdef && *target == (0x1234567890abcdef | or));
    *target4 = 0x0001ffff;
    uint32_t add[4] = { htobe32(0x00010001), htobe32(0x00008000) }; /* a carry out of bit 15 is lost */
    post_by_hand(&a, add, 16, 0x15, 8 | 0, to.base + 32, to.rkey, result, 4);
    CHECK(!kick() && ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
    CHECK(be32toh(*result4) == 0x0001ffff && *target4 == 0x00020000);
    CHECK(target4[1] == 0);
    close_side(&a);
    close_side(&b);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "rdma", rdma }, { "rights", rights }, { "stopped", stopped }, { "events", events }, { "dc", dc }, { "masked", masked } };
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: verbs CASE\n");
    return 2;
}
