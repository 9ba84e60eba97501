/*
 * The calls of libfabric that tests/icount counts, on the provider: ofi TARGET THREADING ROUNDS. TARGET is shm or mlx5,
 * THREADING is domain, safe, or auto: safe with automatic progress, where the one call is counted that makes none. Each call has a loop, and one of the same shape without it, as in cases.c; counted are
 * the loads of its arguments and of the pointers to functions, too. Two domains of one process stand for two processes.
 */
#include "loops.h"
#include "check.h"
#include "farreach_direct.h"
#include "farreach_fi.h"
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>

/* Calls between two turns of the software device and of the far end; of atomic operations no more are under way over it. */
enum { TURN = 16, ATOMICS = 8 };
enum { FOREIGN_KEY = 11, ARENA_KEY = 12, BYTES = 4096, TAG = 7 };

struct side {
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_cntr *sent, *received;
    struct fid_ep *ep;
    fi_addr_t peer;
};

static struct side near, far;
static struct fi_info *info;
static struct fid_fabric *fabric;
static char foreign[BYTES] __attribute__((aligned(64)));
static uint64_t value = 5, buffer;
static int (*kick)(void);

static void open_side(struct side *side) {
    OK(fi_domain(fabric, info, &side->domain, NULL));
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    OK(fi_av_open(side->domain, &av, &side->av, NULL));
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 1 << 14};
    OK(fi_cq_open(side->domain, &cq, &side->cq, NULL));
    struct fi_cntr_attr cntr = {0};
    OK(fi_cntr_open(side->domain, &cntr, &side->sent, NULL));
    OK(fi_cntr_open(side->domain, &cntr, &side->received, NULL));
    OK(fi_endpoint(side->domain, info, &side->ep, NULL));
    OK(fi_ep_bind(side->ep, &side->av->fid, 0));
    OK(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV));
    OK(fi_ep_bind(side->ep, &side->sent->fid, FI_SEND | FI_WRITE));
    OK(fi_ep_bind(side->ep, &side->received->fid, FI_RECV));
    OK(fi_enable(side->ep));
}

static void insert(struct side *side, struct side *other) {
    char name[64];
    size_t len = sizeof name;
    OK(fi_getname(&other->ep->fid, name, &len));
    CHECK(fi_av_insert(side->av, name, 1, &side->peer, 0, NULL) == 1);
}

/* Lets both ends act so many times; takes all entries. */
static void act(int times) {
    struct fi_cq_tagged_entry entries[TURN];
    for (int i = 0; i < times; i++) {
        if (kick)
            kick();
        while (fi_cq_read(far.cq, entries, TURN) > 0)
            ;
        while (fi_cq_read(near.cq, entries, TURN) > 0)
            ;
    }
    __asm__ volatile("" : : : "memory");
}

/* Lets both ends act until all that was posted is done. */
static void turn(void) {
    act(4);
}

/* callgrind does not count while functions of such names run: none calls another. */
static NOINLINE void icount_uncounted_turn(void) {
    turn();
}

/* Does a turn where nothing, or one write, was posted. */
static NOINLINE void icount_uncounted_step(void) {
    act(1);
}

/* Lets the near end and the device act. */
static void turn_near(void) {
    fi_cntr_read(near.sent);
    if (kick)
        kick();
}

/* Takes so many messages, too. */
static NOINLINE void icount_uncounted_receive(int messages) {
    struct fi_cq_tagged_entry entry;
    for (int i = 0; i < messages; i++) {
        OK(fi_recv(far.ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, &buffer));
        while (fi_cq_read(far.cq, &entry, 1) != 1)
            turn_near();
    }
    turn();
}

static NOINLINE void icount_uncounted_write(void) {
    OK(fi_write(near.ep, &value, sizeof value, NULL, near.peer, 0, ARENA_KEY, &value));
    /* Nothing looks for its completion yet: the device may have acted before. */
    if (kick)
        kick();
}

static NOINLINE void icount_uncounted_send(void) {
    OK(fi_inject(near.ep, &value, sizeof value, near.peer));
    turn_near();
}

static NOINLINE void icount_uncounted_send_tagged(void) {
    OK(fi_tinject(near.ep, &value, sizeof value, near.peer, TAG));
    turn_near();
}

/* Receives a tagged message, too, which has to be sent first. */
static NOINLINE void icount_uncounted_tagged(void) {
    struct fi_cq_tagged_entry entry;
    OK(fi_tinject(near.ep, &value, sizeof value, near.peer, TAG));
    OK(fi_trecv(far.ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, TAG, 0, &buffer));
    while (fi_cq_read(far.cq, &entry, 1) != 1)
        turn_near();
    turn();
}

#define USED(result) __asm__ volatile("" : : "r"(result))
#define BARE() __asm__ volatile("" : : : CHANGES_0)

/* Loops of `...`, with a turn of both ends behind each `of`. */
#define IN_TURNS(name, of, turn, bare_turn, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct side n = near, f = far; \
        for (long i = 0; i < rounds; i += of) { \
            for (long j = 0; j < of; j++) { \
                __VA_ARGS__; \
            } \
            turn; \
        } \
        USED(n.ep); \
        USED(f.ep); \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct side n = near, f = far; \
        for (long i = 0; i < rounds; i += of) { \
            for (long j = 0; j < of; j++) { \
                BARE(); \
            } \
            bare_turn; \
        } \
        USED(n.ep); \
        USED(f.ep); \
    }

/* Loops of `...` between things that are not counted. */
#define BEHIND(name, before, turn, bare_turn, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct side n = near, f = far; \
        for (long i = 0; i < rounds; i++) { \
            before; \
            __VA_ARGS__; \
            turn; \
        } \
        USED(n.ep); \
        USED(f.ep); \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct side n = near, f = far; \
        for (long i = 0; i < rounds; i++) { \
            before; \
            BARE(); \
            bare_turn; \
        } \
        USED(n.ep); \
        USED(f.ep); \
    }

/* The call has to return 0. */
#define MUST(call) \
    if (__builtin_expect((call) != 0, 0)) \
    __builtin_trap()

/* Accesses to both kinds of memory. */
#define ACCESS(name, of, routine, ...) \
    IN_TURNS(name##_arena, of, icount_uncounted_turn(), icount_uncounted_nothing(), \
             enum { KEY = ARENA_KEY }; MUST(routine(__VA_ARGS__))) \
    IN_TURNS(name##_other, of, icount_uncounted_turn(), icount_uncounted_nothing(), \
             enum { KEY = FOREIGN_KEY }; MUST(routine(__VA_ARGS__)))

ACCESS(inject_write, TURN, fi_inject_write, n.ep, &value, sizeof value, n.peer, 0, KEY)
ACCESS(write, TURN, fi_write, n.ep, &value, sizeof value, NULL, n.peer, 0, KEY, &value)
ACCESS(inject_atomic, ATOMICS, fi_inject_atomic, n.ep, &value, 1, n.peer, 0, KEY, FI_UINT64, FI_SUM)
static uint64_t found;
ACCESS(fetch_atomic, ATOMICS, fi_fetch_atomic, n.ep, &value, 1, NULL, &found, NULL, n.peer, 0, KEY, FI_UINT64, FI_SUM, &found)
IN_TURNS(inject, TURN, icount_uncounted_receive(TURN), icount_uncounted_receive(0),
         MUST(fi_inject(n.ep, &value, sizeof value, n.peer)))
BEHIND(cntr_read, icount_uncounted_step(), icount_uncounted_nothing(), icount_uncounted_nothing(),
       USED(fi_cntr_read(n.sent)))
BEHIND(cq_read_empty, icount_uncounted_step(), icount_uncounted_nothing(), icount_uncounted_nothing(),
       struct fi_cq_tagged_entry e;
       MUST(fi_cq_read(n.cq, &e, 1) + FI_EAGAIN))
BEHIND(cq_read_one, icount_uncounted_write(), icount_uncounted_step(), icount_uncounted_step(),
       struct fi_cq_tagged_entry e;
       MUST(fi_cq_read(n.cq, &e, 1) - 1); USED(e.op_context))
BEHIND(receive, icount_uncounted_send(), icount_uncounted_turn(), icount_uncounted_receive(1),
       struct fi_cq_tagged_entry e;
       MUST(fi_recv(f.ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, &buffer));
       MUST(fi_cq_read(f.cq, &e, 1) - 1); USED(e.op_context))
/* The message comes between the two calls. */
BEHIND(receive_tagged, icount_uncounted_nothing(), icount_uncounted_turn(), icount_uncounted_tagged(),
       struct fi_cq_tagged_entry e;
       MUST(fi_trecv(f.ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, TAG, 0, &buffer));
       icount_uncounted_send_tagged(); MUST(fi_cq_read(f.cq, &e, 1) - 1); USED(e.op_context))

/* Operations in line. Each round brings the operands anew into registers, which the compiler takes for others each
 * time; and so does the loop without the operation. */
static struct farreach_direct_ep direct;
static struct farreach_direct_cntr direct_sent;
static volatile struct {
    uint64_t *bytes, addr, key;
    fi_addr_t peer;
} given;
#define FRESH \
    uint64_t *bytes = given.bytes, addr = given.addr, key = given.key; \
    fi_addr_t peer = given.peer; \
    __asm__ volatile("" : "+r"(bytes), "+r"(addr), "+r"(key), "+r"(peer))
#define IN_LINE(name, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct farreach_direct_ep *d = &direct; \
        struct farreach_direct_cntr *sent = &direct_sent; \
        long of = TURN; \
        __asm__ volatile("" : "+r"(d), "+r"(sent), "+r"(of)); \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j != of; j++) { \
                FRESH; \
                __VA_ARGS__; \
            } \
            icount_uncounted_turn(); \
        } \
        USED(d); \
        USED(sent); \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        (void)o; \
        struct farreach_direct_ep *d = &direct; \
        struct farreach_direct_cntr *sent = &direct_sent; \
        long of = TURN; \
        __asm__ volatile("" : "+r"(d), "+r"(sent), "+r"(of)); \
        for (long i = 0; i < rounds; i += TURN) { \
            for (long j = 0; j != of; j++) { \
                FRESH; \
            } \
            icount_uncounted_nothing(); \
        } \
        USED(d); \
        USED(sent); \
    }
IN_LINE(direct_inject_write, (void)farreach_inject_write(d, bytes, 8, peer, addr, key))
IN_LINE(direct_inject_add, (void)farreach_inject_add(d, addr, peer, 0, key))
IN_LINE(direct_cntr_read, USED(farreach_cntr_read(sent)))

struct row {
    const char *name;
    loop *call, *bare;
};
#define ROW(name, function) {name, call_##function, bare_##function}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    int is_far = strcmp(argv[1], "mlx5") == 0, is_alone = strcmp(argv[2], "domain") == 0;
    struct fi_info *hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("farreach");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->domain_attr->threading = is_alone ? FI_THREAD_DOMAIN : FI_THREAD_SAFE;
    int is_automatic = strcmp(argv[2], "auto") == 0;
    hints->domain_attr->data_progress = is_automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    OK(fi_fabric(info->fabric_attr, &fabric, NULL));
    open_side(&near);
    open_side(&far);
    insert(&near, &far);
    insert(&far, &near);
    if (is_far)
        CHECK(kick = (int (*)(void))dlsym(RTLD_DEFAULT, "farreach_softhca_kick"));
    struct fid_mr *mr, *arena;
    void *memory;
    struct farreach_ops_memory *ops;
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(fi_mr_reg(far.domain, foreign, BYTES, both, 0, FOREIGN_KEY, 0, &mr, NULL));
    OK(fi_open_ops(&far.domain->fid, FARREACH_OPS_MEMORY, 0, (void **)&ops, NULL));
    OK(ops->allocate(far.domain, BYTES, both, ARENA_KEY, 0, &memory, &arena, NULL));
    /* The first access to a key learns where the region is. */
    for (uint64_t key = FOREIGN_KEY; key <= ARENA_KEY; key++) {
        while (fi_inject_atomic(near.ep, &value, 1, near.peer, 0, key, FI_UINT64, FI_SUM))
            turn();
    }
    icount_uncounted_send();
    icount_uncounted_receive(1);
    static const struct row rows[] = {
        ROW("fi_inject_write 8 B, arena", inject_write_arena),
        ROW("fi_inject_write 8 B, other memory", inject_write_other),
        ROW("fi_write 8 B, arena", write_arena),
        ROW("fi_write 8 B, other memory", write_other),
        ROW("fi_inject_atomic 8 B, arena", inject_atomic_arena),
        ROW("fi_inject_atomic 8 B, other memory", inject_atomic_other),
        ROW("fi_fetch_atomic 8 B, arena", fetch_atomic_arena),
        ROW("fi_fetch_atomic 8 B, other memory", fetch_atomic_other),
        ROW("fi_inject 8 B", inject),
        ROW("fi_recv 8 B, and its fi_cq_read", receive),
        ROW("fi_trecv 8 B, and its fi_cq_read", receive_tagged),
        ROW("fi_cntr_read", cntr_read),
        ROW("fi_cq_read, empty", cq_read_empty),
        ROW("fi_cq_read, one entry", cq_read_one),
    };
    char target[32];
    snprintf(target, sizeof target, "%s, %s", argv[1], is_automatic ? "safe" : argv[2]);
    struct operands none = {0};
    if (is_automatic) {
        count_loops("fi_cntr_read, automatic progress", target, call_cntr_read, bare_cntr_read, TURN, atol(argv[3]), &none);
        return 0;
    }
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        count_loops(rows[i].name, target, rows[i].call, rows[i].bare, TURN, atol(argv[3]), &none);
    if (is_alone) {
        static const struct row in_line[] = {
            ROW("fi_inject_write 8 B, arena, in line", direct_inject_write),
            ROW("fi_inject_atomic 8 B, arena, in line", direct_inject_add),
            ROW("fi_cntr_read, in line", direct_cntr_read),
        };
        OK(farreach_direct_ep_open(&direct, near.ep) || farreach_direct_cntr_open(&direct_sent, near.sent));
        given.bytes = &value, given.key = ARENA_KEY, given.peer = near.peer;
        for (unsigned i = 0; i < sizeof in_line / sizeof *in_line; i++)
            count_loops(in_line[i].name, target, in_line[i].call, in_line[i].bare, TURN, atol(argv[3]), &none);
    }
    return 0;
}
