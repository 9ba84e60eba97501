/*
 * Times of operations, as their program sees them: timed NAME COUNT prints one line of nanoseconds
 * for each time.
 */
#include "side.h"

static uint64_t now(void)
{
    struct timespec t;
    CHECK(!clock_gettime(CLOCK_MONOTONIC, &t));
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Polls until a completion of a receive is there, or of a request. */
static void await(struct side *s, int receive)
{
    struct ibv_wc wc;
    do {
        int got;
        while (!(got = ibv_poll_cq(s->cq, 1, &wc)))
            ;
        CHECK(got == 1 && wc.status == IBV_WC_SUCCESS);
    } while (receive != !!(wc.opcode & IBV_WC_RECV));
}

static void done(struct side *s)
{
    await(s, 0);
}

/* Address of the second side's memory: asking for it is a command, and takes time. */
static struct address to;

static void write_inline(struct side *s, uint64_t value)
{
    struct ibv_sge sge = { (uintptr_t)&value, sizeof value, 0 };
    struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &sge, .num_sge = 1 }, *bad;
    wr.wr.rdma.remote_addr = to.base;
    wr.wr.rdma.rkey = to.rkey;
    CHECK(!ibv_post_send(s->qp, &wr, &bad));
}

/* Prints the payload's time, and the completion's. */
static void put(struct side *a, struct side *b, uint64_t value)
{
    uint64_t begin = now(), seen;
    write_inline(a, value);
    while (*(volatile uint64_t *)b->memory != value)
        ;
    seen = now();
    done(a);
    printf("%llu %llu\n", (unsigned long long)(seen - begin), (unsigned long long)(now() - begin));
}

/* Prints the time of a write whose payload is not in line, of a read and of an atomic. */
static void others(struct side *a)
{
    enum ibv_wr_opcode all[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };
    for (int i = 0; i < 3; i++) {
        uint64_t begin = now();
        post(a, all[i], a->memory, 8, to.base, to.rkey, 1, 0);
        done(a);
        printf("%llu%c", (unsigned long long)(now() - begin), i < 2 ? ' ' : '\n');
    }
}

/* Prints the time of a message there and of one back. */
static void exchange(struct side *a, struct side *b)
{
    struct side *sides[] = { a, b };
    uint64_t begin = now();
    for (int i = 0; i < 2; i++) {
        struct side *other = sides[!i];
        struct ibv_sge sge = { (uintptr_t)other->memory, 64, other->mr->lkey }, data = { (uintptr_t)&i, sizeof i, 0 };
        struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad_receive;
        struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &data, .num_sge = 1 }, *bad;
        CHECK(!ibv_post_recv(other->qp, &receive, &bad_receive));
        CHECK(!ibv_post_send(sides[i]->qp, &send, &bad));
        await(other, 1);
    }
    printf("%llu\n", (unsigned long long)(now() - begin));
}

/* Prints the time of 16 writes that are posted at once. */
static void burst(struct side *a)
{
    uint64_t begin = now();
    for (int i = 0; i < 16; i++)
        write_inline(a, i);
    for (int i = 0; i < 16; i++)
        done(a);
    printf("%llu\n", (unsigned long long)(now() - begin));
}

int main(int argc, char **argv)
{
    struct side a, b;
    CHECK(argc == 3);
    pair(&a, &b);
    to = address_of(&b);
    for (int i = 1; i <= atoi(argv[2]); i++) {
        if (!strcmp(argv[1], "put"))
            put(&a, &b, i);
        else if (!strcmp(argv[1], "others"))
            others(&a);
        else if (!strcmp(argv[1], "exchange"))
            exchange(&a, &b);
        else
            burst(&a);
    }
    close_side(&a);
    close_side(&b);
    return 0;
}
