/* What libibverbs and libmlx5 do on the software device when it is asked to act, when processes stop, and with events: verbs NAME. */
#include "side.h"

#include <errno.h>

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

/* A device that refuses kicks does what is posted all the same. */
static void unasked(void)
{
    struct side a, b;
    struct ibv_wc wc;
    pair(&a, &b);
    struct address to = address_of(&b);
    CHECK(kick() == -1 && errno == EOPNOTSUPP);
    *(int *)a.memory = 42;
    post(&a, IBV_WR_RDMA_WRITE, a.memory, 4, to.base + 16, to.rkey, 0, 0);
    while (!ibv_poll_cq(a.cq, 1, &wc))
        ;
    CHECK(wc.status == IBV_WC_SUCCESS && *(int *)(b.memory + 16) == 42);
    close_side(&a);
    close_side(&b);
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

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "rdma", rdma }, { "stopped", stopped }, { "events", events }, { "unasked", unasked } };
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: verbs CASE\n");
    return 2;
}
