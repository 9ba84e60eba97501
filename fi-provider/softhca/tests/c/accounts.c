/*
 * Registers that queue pairs ring: accounts SOFTHCA PLAIN DOMAINS makes PLAIN queue pairs, then
 * DOMAINS ones with a thread domain each. Every one writes to itself once, so that the device sees
 * where it rings. Prints for each of the two groups:
 *   group NAME
 *   pair NUMBER ADDRESS                    the register as the library has it, one line a queue pair
 *   (the output of `SOFTHCA account`)
 */
#include "side.h"

/* Returns the register of a queue pair; its two halves count as one. */
static uintptr_t register_of(struct ibv_qp *qp)
{
    struct mlx5dv_qp dv = { 0 };
    struct mlx5dv_obj object = { .qp = { .in = qp, .out = &dv } };
    CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP));
    return (uintptr_t)dv.bf.reg & ~(uintptr_t)0x1ff;
}

/* Writes the number of a queue pair to a word of its own, inline. */
static void ring(struct side *s, struct ibv_qp *qp, int word)
{
    uint64_t number = qp->qp_num;
    struct ibv_sge sge = { (uintptr_t)&number, sizeof number, 0 };
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &sge, .num_sge = 1,
        .wr.rdma = { (uintptr_t)((uint64_t *)s->memory + word), s->mr->rkey },
    }, *bad;
    CHECK(!ibv_post_send(qp, &wr, &bad));
}

/*
 * Checks that the queue pairs that rang last have written, and lets the device see where they rang.
 */
static void rung(struct side *s, struct ibv_qp **pairs, int first, int end)
{
    for (int n = first; n < end; n++)
        CHECK(completion(s->cq).status == IBV_WC_SUCCESS);
    for (int n = first; n < end; n++)
        CHECK(((uint64_t *)s->memory)[n] == pairs[n]->qp_num);
    CHECK(!kick());
}

static void group(struct side *s, const char *softhca, const char *name, int count, int with_domains)
{
    struct ibv_qp **pairs = calloc(count, sizeof *pairs);
    struct ibv_pd **parents = calloc(count, sizeof *parents);
    struct ibv_td **domains = calloc(count, sizeof *domains);
    CHECK(pairs && parents && domains);
    printf("group %s\n", name);
    int seen = 0;
    for (int n = 0; n < count; n++) {
        struct ibv_pd *pd = s->pd;
        if (with_domains) {
            struct ibv_td_init_attr none = { 0 };
            CHECK(domains[n] = ibv_alloc_td(s->context, &none));
            struct ibv_parent_domain_init_attr parent = { .pd = s->pd, .td = domains[n] };
            CHECK(pd = parents[n] = ibv_alloc_parent_domain(s->context, &parent));
        }
        pairs[n] = rc(s, pd);
        struct address own = address_of(s);
        own.qpn = pairs[n]->qp_num;
        connect_to(pairs[n], own);
        ring(s, pairs[n], n);
        /* A queue pair that rings on a register of its own is seen later, too. */
        if (!with_domains || n % 32 == 31 || n == count - 1) {
            rung(s, pairs, seen, n + 1);
            seen = n + 1;
        }
        printf("pair %u %lu\n", own.qpn, (unsigned long)register_of(pairs[n]));
    }
    fflush(stdout);
    char command[4096];
    CHECK(snprintf(command, sizeof command, "exec '%s' account", softhca) < (int)sizeof command);
    CHECK(!system(command));
    for (int n = 0; n < count; n++) {
        CHECK(!ibv_destroy_qp(pairs[n]));
        CHECK(!with_domains || (!ibv_dealloc_pd(parents[n]) && !ibv_dealloc_td(domains[n])));
    }
    memset(s->memory, 0, SIZE);
    free(pairs);
    free(parents);
    free(domains);
}

int main(int argc, char **argv)
{
    CHECK(argc == 4 && atoi(argv[2]) <= SIZE / 8 && atoi(argv[3]) <= SIZE / 8);
    struct side s = open_side(new_memory());
    group(&s, argv[1], "plain", atoi(argv[2]), 0);
    group(&s, argv[1], "domains", atoi(argv[3]), 1);
    close_side(&s);
    return 0;
}
