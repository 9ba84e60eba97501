/*
 * Instructions of verbs for an RDMA write of 8 bytes that the entry holds, over the software
 * device: beside_verbs ROUNDS. Counted as cases.c and far.c count ours, in the same units: a loop
 * of ibv_post_send by a connected queue pair, and the same loop without the call. The request is
 * made beforehand. The queue pair has a thread domain, so that libmlx5 takes no lock, and every
 * 128th request asks for a completion, as ours do; the wait for these is not counted, which favours
 * it.
 */
#include "loops.h"
#include "side.h"

/* Requests between two turns of the device; one of them has a completion. */
enum { TURN = 128 };

static struct side own;
static struct ibv_send_wr quiet, signalled, *bad;
static uint64_t value;

/* callgrind does not count while this runs. All that was posted has arrived. */
static NOINLINE void icount_uncounted(int posted) {
    if (posted) {
        CHECK(!kick());
        CHECK(completion(own.cq).status == IBV_WC_SUCCESS);
        CHECK(*(volatile uint64_t *)own.memory == value);
    }
    value++;
    __asm__ volatile("" : : : "memory");
}

static NOINLINE void call_post_send(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i += TURN) {
        for (long j = 1; j < TURN; j++) {
            ibv_post_send(v.target, v.local, &bad);
        }
        ibv_post_send(v.target, v.context, &bad);
        icount_uncounted(1);
    }
}

static NOINLINE void bare_post_send(long rounds, const struct operands *o) {
    struct operands v = *o;
    for (long i = 0; i < rounds; i += TURN) {
        for (long j = 1; j < TURN; j++) {
            BARE_3(v.target, v.local, &bad);
        }
        BARE_3(v.target, v.context, &bad);
        icount_uncounted(0);
    }
}

/* Makes a connected queue pair with a thread domain, which leads to itself. */
static struct ibv_qp *connected(void) {
    struct ibv_td_init_attr none = {0};
    struct ibv_td *domain = ibv_alloc_td(own.context, &none);
    CHECK(domain);
    struct ibv_parent_domain_init_attr parent = {.pd = own.pd, .td = domain};
    struct ibv_pd *pd = ibv_alloc_parent_domain(own.context, &parent);
    CHECK(pd);
    struct ibv_qp_init_attr init = {
        .send_cq = own.cq, .recv_cq = own.cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4 * TURN, .max_send_sge = 1, .max_inline_data = 8},
    };
    CHECK(own.qp = ibv_create_qp(pd, &init));
    connect_to(own.qp, address_of(&own));
    return own.qp;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    own = open_side(new_memory());
    struct ibv_qp *qp = connected();
    struct ibv_sge element = {(uintptr_t)&value, sizeof value, 0};
    quiet = (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_INLINE, .sg_list = &element, .num_sge = 1,
                                 .wr.rdma = {(uintptr_t)own.memory, own.mr->rkey}};
    signalled = quiet;
    signalled.send_flags |= IBV_SEND_SIGNALED;
    struct operands operands = {.target = qp, .local = &quiet, .context = &signalled};
    count_loops("ibv_post_send 8 B", "RC", call_post_send, bare_post_send, TURN, atol(argv[1]), &operands);
    return 0;
}
