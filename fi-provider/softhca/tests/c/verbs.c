/*
 * Tests of libibverbs and libmlx5 on the software device when it is asked to act, when processes
 * stop, and with events: verbs NAME.
 */
#include "side.h"

#include <errno.h>

/*
 * Checks WRITE, READ, FETCH_ADD and CAS: after the kick the completion is there, without waiting.
 */
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

/* Checks that a device that refuses kicks executes posted entries all the same. */
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

/* Returns the nanoseconds of a clock that only runs on. */
static long now(void)
{
    struct timespec time;
    CHECK(!clock_gettime(CLOCK_MONOTONIC, &time));
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/*
 * Checks that a device that waits for kicks leaves an entry alone for a while, executes it when it
 * is kicked, and some time without a kick, too.
 */
static void kicked(void)
{
    enum { ROUNDS = 20 };
    struct side a, b;
    struct ibv_wc wc;
    int early = 0;
    pair(&a, &b);
    struct address to = address_of(&b);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(!kick());
        post(&a, IBV_WR_RDMA_WRITE, a.memory, 4, to.base + 16, to.rkey, 0, 0);
        for (long start = now(); now() < start + 3000000;)
            if (ibv_poll_cq(a.cq, 1, &wc)) {
                early++;
                goto seen;
            }
        CHECK(!kick());
        CHECK(ibv_poll_cq(a.cq, 1, &wc) == 1);
    seen:
        CHECK(wc.status == IBV_WC_SUCCESS);
    }
    /* A look that nobody has asked for may have come in between. */
    CHECK(early < ROUNDS / 2);
    post(&a, IBV_WR_RDMA_WRITE, a.memory, 4, to.base + 16, to.rkey, 0, 0);
    while (!ibv_poll_cq(a.cq, 1, &wc))
        ;
    CHECK(wc.status == IBV_WC_SUCCESS);
    close_side(&a);
    close_side(&b);
}

/*
 * Forks a child that connects, by addresses that go over pipes, and makes the parent's side of it.
 */
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

/*
 * Checks that a stopped process receives, and that one that was killed makes its peer's requests
 * fail.
 */
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
    /* The device hears of the end by itself, and may write until then: for 10 s at most. */
    enum ibv_wc_status ended = IBV_WC_SUCCESS;
    for (int i = 0; i < 10000 && ended == IBV_WC_SUCCESS; i++) {
        usleep(i ? 1000 : 0);
        post(&a, IBV_WR_RDMA_WRITE, a.memory, 16, to.base + 100, to.rkey, 0, 0);
        ended = completion(a.cq).status;
    }
    CHECK(ended == IBV_WC_RETRY_EXC_ERR);
    close_side(&a);
}

/*
 * Checks a SEND with immediate to a receive with two segments; the completion channel tells of it.
 */
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

enum { KEY = 0x11223344, ROUTE = 40 };

/* Makes a queue pair for datagrams, which are shown KEY. */
static struct ibv_qp *ud(struct side *s)
{
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_UD,
        .cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
    };
    struct ibv_qp *qp = ibv_create_qp(s->pd, &init);
    CHECK(qp);
    struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = KEY };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    a.qp_state = IBV_QPS_RTR;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
    a.qp_state = IBV_QPS_RTS;
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
    return qp;
}

static void receive_at(struct side *s, char *place, uint32_t length)
{
    struct ibv_sge to = { (uintptr_t)place, length, s->mr->lkey };
    struct ibv_recv_wr receive = { .wr_id = 9, .sg_list = &to, .num_sge = 1 }, *bad;
    CHECK(!ibv_post_recv(s->qp, &receive, &bad));
}

/* Sends a datagram of `length` bytes at the begin of the side's memory; returns its status. */
static enum ibv_wc_status datagram(struct side *s, struct ibv_ah *ah, uint32_t qpn, uint32_t key, uint32_t length, int flags)
{
    struct ibv_sge from = { (uintptr_t)s->memory, length, s->mr->lkey };
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 5, .send_flags = IBV_SEND_SIGNALED | flags, .sg_list = &from, .num_sge = 1,
        .wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = key },
    }, *bad;
    CHECK(!ibv_post_send(s->qp, &wr, &bad));
    CHECK(!kick());
    return completion(s->cq).status;
}

/* Checks that datagrams arrive behind the room for a route, or are lost without an error. */
static void datagrams(void)
{
    struct side a = open_side(new_memory()), b = open_side(new_memory());
    struct ibv_wc wc;
    a.qp = ud(&a);
    b.qp = ud(&b);
    struct ibv_ah_attr attr = { .dlid = address_of(&b).lid, .port_num = 1 }, nowhere = { .dlid = 77, .port_num = 1 };
    struct ibv_ah *ah = ibv_create_ah(a.pd, &attr), *astray = ibv_create_ah(a.pd, &nowhere);
    CHECK(ah && astray);
    uint32_t to = b.qp->qp_num;

    strcpy(a.memory, "by datagram");
    for (int flags = 0; flags <= IBV_SEND_INLINE; flags += IBV_SEND_INLINE) {
        memset(b.memory, 'x', 200);
        receive_at(&b, b.memory, 100);
        CHECK(datagram(&a, ah, to, KEY, 12, flags) == IBV_WC_SUCCESS);
        wc = completion(b.cq);
        CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.wr_id == 9);
        CHECK(wc.byte_len == ROUTE + 12 && wc.src_qp == a.qp->qp_num && !(wc.wc_flags & IBV_WC_GRH));
        CHECK(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 5);
        CHECK(!strcmp(b.memory + ROUTE, "by datagram") && b.memory[ROUTE + 12] == 'x');
    }
    /* The key of the highest bit stands for the sender's own. */
    receive_at(&b, b.memory, 100);
    CHECK(datagram(&a, ah, to, 1u << 31, 12, 0) == IBV_WC_SUCCESS && completion(b.cq).status == IBV_WC_SUCCESS);

    receive_at(&b, b.memory, 100);
    CHECK(datagram(&a, ah, to, KEY + 1, 12, 0) == IBV_WC_SUCCESS);
    CHECK(datagram(&a, astray, to, KEY, 12, 0) == IBV_WC_SUCCESS);
    CHECK(datagram(&a, ah, to + 1000, KEY, 12, 0) == IBV_WC_SUCCESS);
    CHECK(ibv_poll_cq(b.cq, 1, &wc) == 0);
    CHECK(datagram(&a, ah, to, KEY, 12, 0) == IBV_WC_SUCCESS && completion(b.cq).status == IBV_WC_SUCCESS);
    /* Nothing is posted any more. */
    CHECK(datagram(&a, ah, to, KEY, 12, 0) == IBV_WC_SUCCESS && ibv_poll_cq(b.cq, 1, &wc) == 0);
    /* One packet at most, and whole. */
    receive_at(&b, b.memory, ROUTE + 4096);
    CHECK(datagram(&a, ah, to, KEY, 4096, 0) == IBV_WC_SUCCESS && completion(b.cq).byte_len == ROUTE + 4096);
    receive_at(&b, b.memory, ROUTE + 11);
    CHECK(datagram(&a, ah, to, KEY, 12, 0) == IBV_WC_SUCCESS && completion(b.cq).status == IBV_WC_LOC_LEN_ERR);
    CHECK(datagram(&a, ah, to, KEY, 4097, 0) == IBV_WC_LOC_LEN_ERR);
    CHECK(!ibv_destroy_ah(ah) && !ibv_destroy_ah(astray));
    close_side(&a);
    close_side(&b);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "rdma", rdma }, { "stopped", stopped }, { "events", events },
                  { "unasked", unasked }, { "kicked", kicked }, { "datagrams", datagrams } };
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: verbs CASE\n");
    return 2;
}
