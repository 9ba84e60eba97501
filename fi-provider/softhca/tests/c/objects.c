/* The objects of verbs and their rules, one case per run: objects NAME. Where one is used or refused, data show it. */
#include "side.h"
#include <errno.h>

/* Two connected queue pairs of two contexts, with names for the parts that are used most. */
struct two {
    struct side a, b;
    struct address to;
};

static struct two two(void)
{
    struct two t;
    pair(&t.a, &t.b);
    t.to = address_of(&t.b);
    return t;
}

static void close_two(struct two *t)
{
    close_side(&t->a);
    close_side(&t->b);
}

static enum ibv_wc_status outcome(struct side *s)
{
    return completion(s->cq).status;
}

/* Posts a request for local memory under any key. */
static enum ibv_wc_status with_key(struct side *s, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint64_t local, uint32_t length, uint32_t lkey,
                                   uint64_t remote, uint32_t rkey)
{
    struct ibv_sge sge = { local, length, lkey };
    struct ibv_send_wr wr = { .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1 }, *bad;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = remote;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
    }
    CHECK(!ibv_post_send(qp, &wr, &bad));
    return outcome(s);
}

/*
 * Checks that contexts know nothing of each other's keys, and one goes on when another is closed.
 */
static void contexts(void)
{
    struct two t = two();
    strcpy(t.a.memory, "first");
    CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory, 6, t.a.mr->lkey, t.to.base, t.to.rkey) == IBV_WC_SUCCESS);
    CHECK(!strcmp(t.b.memory, "first"));
    CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.b.memory, 6, t.b.mr->lkey, t.to.base, t.to.rkey) == IBV_WC_LOC_PROT_ERR);
    close_two(&t);
    /* Checks the same with a third one that comes and goes. */
    t = two();
    struct side third = open_side(new_memory());
    close_side(&third);
    strcpy(t.a.memory, "second");
    CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory, 7, t.a.mr->lkey, t.to.base, t.to.rkey) == IBV_WC_SUCCESS);
    CHECK(!strcmp(t.b.memory, "second"));
    /* Nobody answers any more. */
    close_side(&t.b);
    CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory, 7, t.a.mr->lkey, t.to.base, t.to.rkey) == IBV_WC_RETRY_EXC_ERR);
    close_side(&t.a);
}

/*
 * Checks that memory of one protection domain is not for the queue pairs of another, and that a
 * domain in use stays.
 */
static void domains(void)
{
    for (int remote = 0; remote < 2; remote++) {
        struct two t = two();
        struct side *s = remote ? &t.b : &t.a;
        struct ibv_pd *other = ibv_alloc_pd(s->context);
        CHECK(other);
        struct ibv_mr *mr = ibv_reg_mr(other, s->memory, SIZE, ALL);
        CHECK(mr);
        memset(t.b.memory, 'b', 8);
        enum ibv_wc_status status = with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory, 8, remote ? t.a.mr->lkey : mr->lkey,
                                             t.to.base, remote ? mr->rkey : t.to.rkey);
        CHECK(status == (remote ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR) && !memcmp(t.b.memory, "bbbbbbbb", 8));
        CHECK(ibv_dealloc_pd(other) == EBUSY && ibv_dealloc_pd(s->pd) == EBUSY);
        /* A queue pair of the other domain may use it. */
        struct ibv_qp *qp = rc(s, other);
        struct address own = address_of(s);
        own.qpn = qp->qp_num;
        connect_to(qp, own);
        strcpy(s->memory, "its own");
        CHECK(with_key(s, qp, IBV_WR_RDMA_WRITE, (uintptr_t)s->memory, 8, mr->lkey, own.base + 100, mr->rkey) == IBV_WC_SUCCESS);
        CHECK(!strcmp(s->memory + 100, "its own"));
        CHECK(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(other));
        close_two(&t);
    }
}

static const struct {
    enum ibv_wr_opcode opcode;
    int right;
} REMOTE[] = {
    { IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE }, { IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ }, { IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
};

/*
 * Does a remote operation on the 8 bytes of value 7 that `rkey` names at the base; from the value
 * 5. Checks that it is done, or nothing is.
 */
static enum ibv_wc_status operation(struct two *t, int n, uint64_t at, uint32_t rkey)
{
    uint64_t *local = (uint64_t *)t->a.memory, *word = (uint64_t *)(uintptr_t)at;
    *local = 5;
    *word = 7;
    enum ibv_wc_status status = with_key(&t->a, t->a.qp, REMOTE[n].opcode, (uintptr_t)local, 8, t->a.mr->lkey, at, rkey);
    int good = status == IBV_WC_SUCCESS;
    CHECK(*word == (good && n == 0 ? 5u : good && n == 2 ? 8u : 7u));
    CHECK(*local == (good && n != 0 ? 7u : 5u));
    return status;
}

/* Tries every set of rights of a region, and of a queue pair, with every operation. */
static void rights(void)
{
    static const int sets[] = { 0, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC, ALL };
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++)
        for (int n = 0; n < 3; n++) {
            int allowed = (sets[set] & REMOTE[n].right) != 0;
            struct two t = two();
            struct ibv_mr *mr = ibv_reg_mr(t.b.pd, t.b.memory + 512, 512, IBV_ACCESS_LOCAL_WRITE | sets[set]);
            CHECK(mr && operation(&t, n, t.to.base + 512, mr->rkey) == (allowed ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR));
            CHECK(!ibv_dereg_mr(mr));
            close_two(&t);
            /* The region allows everything, the queue pair the rights of the set. */
            t = two();
            struct ibv_qp_attr attr = { .qp_access_flags = sets[set] & ~IBV_ACCESS_LOCAL_WRITE };
            CHECK(!ibv_modify_qp(t.b.qp, &attr, IBV_QP_ACCESS_FLAGS));
            CHECK(operation(&t, n, t.to.base, t.to.rkey) == (allowed ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR));
            close_two(&t);
        }
    /*
     * The local right to write is needed for the target of a read or a receive, and not for the
     * source of a write or a send.
     */
    for (int received = 0; received < 2; received++) {
        struct two t = two();
        struct ibv_mr *from = ibv_reg_mr(t.a.pd, t.a.memory, SIZE, 0), *into = ibv_reg_mr(t.b.pd, t.b.memory, SIZE, 0);
        CHECK(from && into);
        strcpy(t.a.memory, "given");
        memset(t.b.memory, 0, 64);
        if (received) {
            struct ibv_sge sge = { (uintptr_t)t.b.memory, 64, into->lkey };
            struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
            CHECK(!ibv_post_recv(t.b.qp, &wr, &bad));
            CHECK(with_key(&t.a, t.a.qp, IBV_WR_SEND, (uintptr_t)t.a.memory, 6, from->lkey, 0, 0) == IBV_WC_REM_OP_ERR);
            CHECK(outcome(&t.b) == IBV_WC_LOC_PROT_ERR && !*t.b.memory);
        } else {
            CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory, 6, from->lkey, t.to.base, t.to.rkey) == IBV_WC_SUCCESS);
            CHECK(!strcmp(t.b.memory, "given"));
            CHECK(with_key(&t.a, t.a.qp, IBV_WR_RDMA_READ, (uintptr_t)t.a.memory + 64, 6, from->lkey, t.to.base, t.to.rkey) == IBV_WC_LOC_PROT_ERR);
            CHECK(!t.a.memory[64]);
        }
        CHECK(!ibv_dereg_mr(from) && !ibv_dereg_mr(into));
        /* The owner must be allowed to change memory that others may change. */
        CHECK(!ibv_reg_mr(t.a.pd, t.a.memory, SIZE, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
        close_two(&t);
    }
}

/*
 * Checks that a region is reached from its first byte to its last, from both sides, and not after
 * it is gone.
 */
static void bounds(void)
{
    enum { START = 1024, LENGTH = 256 };
    static const struct {
        int at, good;
    } places[] = { { START, 1 }, { START + LENGTH - 8, 1 }, { START - 8, 0 }, { START + LENGTH, 0 }, { START + LENGTH - 7, 0 }, { START - 1, 0 } };
    for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
        int at = places[place].at, good = places[place].good;
        for (int n = 0; n < 3; n++) {
            struct two t = two();
            struct ibv_mr *mr = ibv_reg_mr(t.b.pd, t.b.memory + START, LENGTH, ALL);
            CHECK(mr);
            /* Atomics have an alignment to keep, besides. */
            if (n != 2 || at % 8 == 0)
                CHECK(operation(&t, n, t.to.base + at, mr->rkey) == (good ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR));
            CHECK(!ibv_dereg_mr(mr));
            close_two(&t);
        }
        struct two t = two();
        struct ibv_mr *mr = ibv_reg_mr(t.a.pd, t.a.memory + START, LENGTH, ALL);
        CHECK(mr);
        memcpy(t.a.memory + at, "eight...", 8);
        enum ibv_wc_status status = with_key(&t.a, t.a.qp, IBV_WR_RDMA_WRITE, (uintptr_t)t.a.memory + at, 8, mr->lkey, t.to.base, t.to.rkey);
        CHECK(status == (good ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR) && !memcmp(t.b.memory, good ? "eight..." : "\0\0\0\0\0\0\0\0", 8));
        CHECK(!ibv_dereg_mr(mr));
        close_two(&t);
    }
    struct two t = two();
    uint32_t old = t.to.rkey;
    CHECK(!ibv_dereg_mr(t.b.mr));
    CHECK(t.b.mr = ibv_reg_mr(t.b.pd, t.b.memory, SIZE, ALL));
    CHECK(t.b.mr->rkey != old && operation(&t, 0, t.to.base, t.b.mr->rkey) == IBV_WC_SUCCESS);
    CHECK(operation(&t, 0, t.to.base, old) == IBV_WC_REM_ACCESS_ERR);
    close_two(&t);
    /* Of a key every bit counts, of the index and of the variant. */
    for (int bit = 0; bit < 32; bit++) {
        t = two();
        CHECK(operation(&t, bit % 3, t.to.base, t.to.rkey ^ 1u << bit) == IBV_WC_REM_ACCESS_ERR);
        close_two(&t);
    }
}

static void write_to_self(struct side *s, struct ibv_qp *qp, uint64_t id, uint64_t value, size_t at)
{
    struct ibv_sge sge = { (uintptr_t)&value, sizeof value, 0 };
    struct ibv_send_wr wr = {
        .wr_id = id, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &sge, .num_sge = 1,
        .wr.rdma = { (uintptr_t)s->memory + at, s->mr->rkey },
    }, *bad;
    CHECK(!ibv_post_send(qp, &wr, &bad));
}

/* Makes a queue pair that is connected to itself, completing into these queues. */
static struct ibv_qp *to_self(struct side *s, struct ibv_cq *sends, struct ibv_cq *receives)
{
    struct ibv_qp_init_attr init = {
        .send_cq = sends, .recv_cq = receives, .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 8 },
    };
    struct ibv_qp *qp = ibv_create_qp(s->pd, &init);
    CHECK(qp);
    struct address own = address_of(s);
    own.qpn = qp->qp_num;
    connect_to(qp, own);
    return qp;
}

/*
 * Checks completions of two queue pairs in one queue, of one in two queues, each in order; a queue
 * round and round; and one that overflows.
 */
static void queues(void)
{
    struct side s = open_side(new_memory());
    struct ibv_cq *sends = ibv_create_cq(s.context, 7, NULL, NULL, 0), *receives = ibv_create_cq(s.context, 1000, NULL, NULL, 0);
    CHECK(sends && receives && sends->cqe >= 7 && receives->cqe >= 1000);
    struct ibv_qp *one = to_self(&s, sends, receives), *two = to_self(&s, sends, receives);
    uint64_t seen[2] = { 0 };
    for (uint64_t round = 0; round < 200; round++) {
        struct ibv_wc wc[8];
        for (int n = 0; n < 3; n++) {
            write_to_self(&s, one, round * 3 + n, round, 0);
            write_to_self(&s, two, round * 3 + n, round, 8);
        }
        CHECK(!kick() && ibv_poll_cq(sends, 8, wc) == 6);
        CHECK(ibv_poll_cq(receives, 8, wc + 7) == 0);
        for (int n = 0; n < 6; n++)
            CHECK(wc[n].status == IBV_WC_SUCCESS && wc[n].wr_id == seen[wc[n].qp_num == two->qp_num]++);
        CHECK(seen[0] == seen[1] && ((uint64_t *)s.memory)[0] == round && ((uint64_t *)s.memory)[1] == round);
        struct ibv_sge sge = { (uintptr_t)s.memory + 64, 8, s.mr->lkey };
        struct ibv_recv_wr receive = { .wr_id = round, .sg_list = &sge, .num_sge = 1 }, *bad_receive;
        struct ibv_sge from = { (uintptr_t)s.memory, 8, s.mr->lkey };
        struct ibv_send_wr send = { .wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .sg_list = &from, .num_sge = 1 }, *bad;
        CHECK(!ibv_post_recv(one, &receive, &bad_receive) && !ibv_post_send(one, &send, &bad));
        CHECK(completion(sends).opcode == IBV_WC_SEND);
        struct ibv_wc got = completion(receives);
        CHECK(got.opcode == IBV_WC_RECV && got.wr_id == round && ((uint64_t *)s.memory)[8] == round);
    }
    CHECK(ibv_destroy_cq(sends) == EBUSY);
    /* More than it holds: the queue fails, and an event says which. */
    for (int n = 0; n < 2 * 8; n++)
        write_to_self(&s, n % 2 ? one : two, n, n, 0);
    struct ibv_async_event event;
    CHECK(!ibv_get_async_event(s.context, &event) && event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == sends);
    ibv_ack_async_event(&event);
    CHECK(!ibv_destroy_qp(one) && !ibv_destroy_qp(two) && !ibv_destroy_cq(sends) && !ibv_destroy_cq(receives));
    close_side(&s);
}

/* Returns the wall clock's time in ns. */
static uint64_t wall(void)
{
    struct timespec now;
    CHECK(!clock_gettime(CLOCK_REALTIME, &now));
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/*
 * Checks the times that completions have: by the device's clock, which counts ns as the wall clock
 * does, and by that clock, roughly: other processes may take the processor meanwhile.
 */
static void times(void)
{
    enum { ROUNDS = 10 };
    static const uint64_t roughly = 10000000000;
    struct side s = open_side(new_memory());
    struct ibv_device_attr_ex attr;
    CHECK(!ibv_query_device_ex(s.context, NULL, &attr));
    CHECK(attr.hca_core_clock == 1000000 && attr.completion_timestamp_mask == UINT64_MAX);
    struct ibv_cq_init_attr_ex init = { .cqe = 16 };
    init.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    init.wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    struct ibv_cq_ex *cq = ibv_create_cq_ex(s.context, &init);
    CHECK(cq);
    struct ibv_qp *qp = to_self(&s, ibv_cq_ex_to_cq(cq), ibv_cq_ex_to_cq(cq));
    struct ibv_poll_cq_attr poll = { 0 };
    uint64_t before = 0, start = wall(), difference = 0;
    for (int n = 0; n < ROUNDS; n++) {
        usleep(1000);
        write_to_self(&s, qp, n, n, 0);
        CHECK(!kick() && !ibv_start_poll(cq, &poll));
        CHECK(cq->status == IBV_WC_SUCCESS && cq->wr_id == (uint64_t)n);
        uint64_t now = ibv_wc_read_completion_ts(cq);
        uint64_t shown = ibv_wc_read_completion_wallclock_ns(cq);
        ibv_end_poll(cq);
        CHECK(now > before && (n == 0 || shown - now == difference));
        CHECK(shown + roughly > start && shown < wall() + roughly);
        before = now;
        difference = shown - now;
    }
    CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
    close_side(&s);
}

/* Makes a queue pair that takes receives. */
static struct ibv_qp *receiving(struct side *s, enum ibv_qp_type type)
{
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq, .recv_cq = s->cq, .qp_type = type,
        .cap = { .max_send_wr = 3, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 3 },
    };
    struct ibv_qp *qp = ibv_create_qp(s->pd, &init);
    CHECK(qp);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    int right = type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
    CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | right));
    return qp;
}

/* Checks that a queue pair takes as many receives, and buffers in each, as it tells. */
static void room(void)
{
    static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
    struct side s = open_side(new_memory());
    for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
        struct ibv_qp *qp = receiving(&s, types[n]), *other = receiving(&s, types[n]);
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        CHECK(!ibv_query_qp(qp, &attr, IBV_QP_CAP, &init));
        CHECK(attr.cap.max_recv_wr >= 5 && attr.cap.max_recv_sge >= 3);
        struct ibv_sge sge[64] = { { 0 } };
        struct ibv_recv_wr receive = { .sg_list = sge, .num_sge = attr.cap.max_recv_sge }, *bad;
        for (uint32_t posted = 0; posted < attr.cap.max_recv_wr; posted++)
            CHECK(!ibv_post_recv(qp, &receive, &bad));
        CHECK(ibv_post_recv(qp, &receive, &bad) == ENOMEM);
        receive.num_sge++;
        CHECK(ibv_post_recv(other, &receive, &bad) == EINVAL);
        CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(other));
    }
    close_side(&s);
}

/*
 * Checks that queue pairs and completion queues of thread domains do their work, side by side, and
 * that domains in use stay.
 */
static void thread_domains(void)
{
    enum { COUNT = 5 };
    struct side s = open_side(new_memory());
    struct ibv_td *tds[COUNT];
    struct ibv_pd *parents[COUNT];
    struct ibv_cq *cqs[COUNT];
    struct ibv_qp *qps[COUNT];
    for (int n = 0; n < COUNT; n++) {
        struct ibv_td_init_attr none = { 0 };
        CHECK(tds[n] = ibv_alloc_td(s.context, &none));
        /* The last one is a parent domain without a thread domain. */
        struct ibv_parent_domain_init_attr parent = { .pd = s.pd, .td = n == COUNT - 1 ? NULL : tds[n] };
        CHECK(parents[n] = ibv_alloc_parent_domain(s.context, &parent));
        struct ibv_cq_init_attr_ex init = {
            .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parents[n], .wc_flags = IBV_WC_STANDARD_FLAGS,
        };
        struct ibv_cq_ex *cq = ibv_create_cq_ex(s.context, &init);
        CHECK(cq);
        cqs[n] = ibv_cq_ex_to_cq(cq);
        struct side in = s;
        in.pd = parents[n];
        qps[n] = to_self(&in, cqs[n], cqs[n]);
    }
    for (uint64_t round = 1; round <= 100; round++) {
        for (int n = 0; n < COUNT; n++)
            write_to_self(&s, qps[n], round, round * 10 + n, n * 8);
        for (int n = 0; n < COUNT; n++) {
            struct ibv_wc wc = completion(cqs[n]);
            CHECK(wc.status == IBV_WC_SUCCESS && wc.wr_id == round && wc.qp_num == qps[n]->qp_num);
            CHECK(((uint64_t *)s.memory)[n] == round * 10 + n);
        }
    }
    /* Memory of a parent domain is memory of the domain beneath. */
    struct ibv_mr *mr = ibv_reg_mr(parents[0], s.memory + 4096, 4096, ALL);
    CHECK(mr);
    strcpy(s.memory + 5000, "parent");
    struct side first = s;
    first.cq = cqs[0];
    CHECK(with_key(&first, qps[0], IBV_WR_RDMA_WRITE, (uintptr_t)s.memory + 5000, 7, mr->lkey, (uintptr_t)s.memory + 6000, mr->rkey) == IBV_WC_SUCCESS);
    CHECK(!strcmp(s.memory + 6000, "parent") && !ibv_dereg_mr(mr));
    CHECK(ibv_dealloc_td(tds[0]) == EBUSY && ibv_dealloc_pd(s.pd) == EBUSY && ibv_dealloc_pd(parents[0]) == EBUSY);
    for (int n = 0; n < COUNT; n++)
        CHECK(!ibv_destroy_qp(qps[n]) && !ibv_destroy_cq(cqs[n]) && !ibv_dealloc_pd(parents[n]) && !ibv_dealloc_td(tds[n]));
    close_side(&s);
}

/*
 * Prints the capabilities that DEVX tells: general bits of DC and atomics; operations, sizes of
 * queue pairs and of DC, the byte order of 8 bytes.
 */
static void capabilities(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list && list[0]);
    struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
    struct ibv_context *context = mlx5dv_open_device(list[0], &attr);
    if (!context) {
        printf("no DEVX: %s\n", strerror(errno));
        CHECK(context = ibv_open_device(list[0]));
    } else {
        static uint8_t out[2][16 + 4096];
        for (int n = 0; n < 2; n++) {
            uint8_t in[16] = { 1, 0, 0, 0, 0, 0, 0, n ? 7 : 1 }; /* QUERY_HCA_CAP, current */
            CHECK(!mlx5dv_devx_general_cmd(context, in, sizeof in, out[n], sizeof out[n]) && !out[n][0]);
        }
        uint8_t *general = out[0] + 16, *atomic = out[1] + 16;
        printf("dc %d atomic %d\n", general[0x43] >> 5 & 1, general[0x43] >> 1 & 1);
        printf("operations %d sizes %d %d order %d\n", atomic[0x13], atomic[0x17], atomic[0x1b], atomic[8] >> 6);
        uint8_t in[16] = { 0x05 }, answer[16]; /* CREATE_QP */
        CHECK(!mlx5dv_devx_obj_create(context, in, sizeof in, answer, sizeof answer));
    }
    CHECK(!ibv_close_device(context));
    ibv_free_device_list(list);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        { "contexts", contexts }, { "domains", domains }, { "rights", rights }, { "bounds", bounds }, { "queues", queues },
        { "times", times }, { "room", room },
        { "thread_domains", thread_domains }, { "capabilities", capabilities },
    };
    for (size_t n = 0; argc == 2 && n < sizeof cases / sizeof *cases; n++)
        if (!strcmp(argv[1], cases[n].name)) {
            cases[n].run();
            return 0;
        }
    fprintf(stderr, "usage: objects CASE\n");
    return 2;
}
