/*
 * Parts that the programs of this directory share: the device opened, queue pairs connected,
 * requests posted and their completions awaited.
 */
#ifndef SIDE_H
#define SIDE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: %s (errno %m)\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

enum { SIZE = 1 << 16, ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
static const uint64_t DC_KEY __attribute__((unused)) = 0x1234567890abcdef;

/* A process's side: everything that one queue pair needs. */
struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char *memory;
};

/* Address that the other side must know. */
struct address {
    uint32_t qpn, rkey;
    uint64_t base;
    uint16_t lid;
};

static inline int kick(void)
{
    static int (*hook)(void);
    if (!hook)
        *(void **)&hook = dlsym(RTLD_DEFAULT, "farreach_softhca_kick");
    CHECK(hook);
    return hook();
}

static inline struct side open_side(char *memory)
{
    struct side s = { .memory = memory };
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list && list[0]);
    CHECK(s.context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    CHECK(s.pd = ibv_alloc_pd(s.context));
    CHECK(s.cq = ibv_create_cq(s.context, 64, NULL, NULL, 0));
    CHECK(s.mr = ibv_reg_mr(s.pd, memory, SIZE, ALL));
    return s;
}

static inline void close_side(struct side *s)
{
    if (s->qp)
        CHECK(!ibv_destroy_qp(s->qp));
    CHECK(!ibv_destroy_cq(s->cq));
    CHECK(!ibv_dereg_mr(s->mr));
    CHECK(!ibv_dealloc_pd(s->pd));
    CHECK(!ibv_close_device(s->context));
}

static inline struct ibv_qp *rc(struct side *s, struct ibv_pd *pd)
{
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64 },
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    CHECK(qp);
    return qp;
}

static inline struct address address_of(struct side *s)
{
    struct ibv_port_attr port;
    CHECK(!ibv_query_port(s->context, 1, &port));
    return (struct address){ s->qp ? s->qp->qp_num : 0, s->mr->rkey, (uintptr_t)s->memory, port.lid };
}

static inline void connect_to(struct ibv_qp *qp, struct address peer)
{
    struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    a = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = peer.qpn, .max_dest_rd_atomic = 16, .min_rnr_timer = 12,
        .ah_attr = { .dlid = peer.lid, .port_num = 1 },
    };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16 };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Returns the next completion, waited for at most 20 s. */
static inline struct ibv_wc completion(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    time_t end = time(NULL) + 20;
    int got;
    while ((got = ibv_poll_cq(cq, 1, &wc)) == 0 && time(NULL) < end)
        usleep(20);
    CHECK(got == 1);
    return wc;
}

static inline void post(struct side *s, enum ibv_wr_opcode opcode, void *local, uint32_t length, uint64_t remote, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
    struct ibv_sge sge = { (uintptr_t)local, length, s->mr->lkey };
    struct ibv_send_wr wr = { .wr_id = 7, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1 }, *bad;
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = remote;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = compare_add;
        wr.wr.atomic.swap = swap;
    } else {
        wr.wr.rdma.remote_addr = remote;
        wr.wr.rdma.rkey = rkey;
    }
    CHECK(!ibv_post_send(s->qp, &wr, &bad));
}

static inline char *new_memory(void)
{
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Makes two connected queue pairs of one process. */
static inline void pair(struct side *a, struct side *b)
{
    *a = open_side(new_memory());
    *b = open_side(new_memory());
    a->qp = rc(a, a->pd);
    b->qp = rc(b, b->pd);
    connect_to(a->qp, address_of(b));
    connect_to(b->qp, address_of(a));
}

/* Makes an initiator ready to send; it goes to the target that each request names. */
static inline void ready(struct ibv_qp *dci)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK(!ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
    attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .ah_attr.port_num = 1 };
    CHECK(!ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU));
    attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16 };
    CHECK(!ibv_modify_qp(dci, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Makes a target that receives into the shared queue. */
static inline struct ibv_qp *target(struct side *s, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_DRIVER, .send_cq = s->cq, .recv_cq = s->cq, .srq = srq, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = s->pd };
    struct mlx5dv_qp_init_attr dv = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC, .dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = DC_KEY } };
    struct ibv_qp *dct = mlx5dv_create_qp(s->context, &init, &dv);
    CHECK(dct);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL };
    CHECK(!ibv_modify_qp(dct, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .min_rnr_timer = 12, .ah_attr = { .dlid = 1, .port_num = 1, .grh.hop_limit = 1 } };
    CHECK(!ibv_modify_qp(dct, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER));
    CHECK(dct->qp_num);
    return dct;
}

#endif
