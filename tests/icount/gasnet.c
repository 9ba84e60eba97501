/*
 * The calls of gasnet.h that tests/icount counts: gasnet TARGET ROUNDS, two processes. TARGET is shm
 * or mlx5. Node 0 calls; the operands are fresh in each round, as in direct.c.
 *
 * Node 1 stands still while node 0 is counted, so that no count depends on how fast it takes messages:
 * it polls in turns that node 0 asks for, and tells when it has handled all messages.
 */

#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "loops.h"

#include <dlfcn.h>
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GASNET_PAR
#define MODE ", PAR"
#else
#define MODE ", SEQ"
#endif

/* Calls between two turns of the other node and of the device; the payload of a medium message; and
 * polls that bring all to rest. */
enum { TURN = 16, PAYLOAD = 64, REST = 4 };
enum { HANDLER = 200 };

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == GASNET_OK)

/* Words in each segment. */
struct board {
    volatile uint64_t turn;  /* node 1: the number of the turn that is asked for, and 0 for the end */
    volatile uint64_t sent;  /* node 1: messages sent to it, by then */
    volatile uint64_t told;  /* node 0: the last turn that is over */
    uint64_t cell;
};
static const uint64_t none_yet = UINT64_MAX;

static struct board *own, *theirs;
static uint64_t turns, sent, handled;
static char payload[PAYLOAD];
static int (*kick)(void);

static void handle(gasnet_token_t token) {
    (void)token;
    handled++;
}

static void handle_medium(gasnet_token_t token, void *bytes, size_t many) {
    (void)token;
    (void)bytes;
    handled += many == PAYLOAD;
}

static void act(void) {
    if (kick != NULL)
        CHECK(kick() == 0);
    OK(gasnet_AMPoll());
}

/* Has the other node take `requests` more messages, and waits for the ends of all operations. */
static void turn(long requests) {
    sent += (uint64_t)requests;
    turns++;
    gasnet_put_val(1, (void *)&theirs->sent, sent, sizeof sent);
    gasnet_put_val(1, (void *)&theirs->turn, turns, sizeof turns);
    while (own->told != turns || gasnet_try_syncnbi_all() != GASNET_OK)
        act();
    for (int i = 0; i < REST; i++)
        act();
    __asm__ volatile("" : : : "memory");
}

/* callgrind does not count while functions of such names run: none calls another. */
static NOINLINE void icount_uncounted_turn(long requests) {
    turn(requests);
}

/* Does the part of node 1. */
static void serve(void) {
    for (uint64_t seen = none_yet, next; (next = own->turn) != 0;) {
        if (next == seen)
            continue;
        seen = next;
        while (handled != own->sent)
            OK(gasnet_AMPoll());
        for (int i = 0; i < REST; i++)
            OK(gasnet_AMPoll());
        gasnet_put_val(0, (void *)&theirs->told, seen, sizeof seen);
    }
}

/* The compiler does not know how many rounds a turn has. */
#define ROUNDS(requests, body) \
    long many = TURN; \
    __asm__ volatile("" : "+r"(many)); \
    for (long i = 0; i < rounds; i += TURN) { \
        for (long j = 0; j != many; j++) { \
            body; \
        } \
        icount_uncounted_turn(requests); \
    }

#define FRESH \
    gasnet_node_t node = (gasnet_node_t)o->pe; \
    void *there = o->target, *here = o->local; \
    __asm__ volatile("" : "+r"(node), "+r"(there), "+r"(here)); \
    (void)node, (void)there, (void)here
#define END __asm__ volatile("" : : : "memory")

#define IN_TURNS(name, requests, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *given) { \
        const volatile struct operands *o = given; \
        ROUNDS(requests, FRESH; __VA_ARGS__; END) \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *given) { \
        const volatile struct operands *o = given; \
        ROUNDS(0, FRESH; END) \
    }

#define SENDS(call) \
    if (__builtin_expect((call) != GASNET_OK, 0)) \
        __builtin_trap()

IN_TURNS(put_nbi, 0, gasnet_put_nbi(node, there, here, 8))
IN_TURNS(get_nbi, 0, gasnet_get_nbi(here, node, there, 8))
IN_TURNS(wait_puts, 0, gasnet_wait_syncnbi_puts())
IN_TURNS(short_0, TURN, SENDS(gasnet_AMRequestShort0(node, HANDLER)))
IN_TURNS(medium_0, TURN, SENDS(gasnet_AMRequestMedium0(node, HANDLER + 1, here, PAYLOAD)))
IN_TURNS(poll, 0, SENDS(gasnet_AMPoll()))

static const struct row {
    const char *name;
    loop *call, *bare;
} rows[] = {
#define ROW(name, function) {name, call_##function, bare_##function}
    ROW("gasnet_put_nbi 8 B", put_nbi),
    ROW("gasnet_get_nbi 8 B", get_nbi),
    ROW("gasnet_wait_syncnbi_puts, complete", wait_puts),
    ROW("gasnet_AMRequestShort0", short_0),
    ROW("gasnet_AMRequestMedium0 64 B", medium_0),
    ROW("gasnet_AMPoll, idle", poll),
};

int main(int argc, char **argv) {
    CHECK(argc == 3);
    gasnet_handlerentry_t handlers[] = {
        {HANDLER, (void (*)())handle},
        {HANDLER + 1, (void (*)())handle_medium},
    };
    OK(gasnet_init(&argc, &argv));
    CHECK(gasnet_nodes() == 2);
    OK(gasnet_attach(handlers, 2, GASNET_PAGESIZE, 0));
    gasnet_seginfo_t segments[2];
    OK(gasnet_getSegmentInfo(segments, 2));
    own = segments[gasnet_mynode()].addr;
    theirs = segments[1 - gasnet_mynode()].addr;
    own->turn = none_yet;
    /* Whether node 1 is where the name of the rows says. */
    int is_far = strcmp(argv[1], "mlx5") == 0;
    unsigned char *near;
    CHECK(farreach_gasnet_near(1 - gasnet_mynode(), theirs, 8, &near) == !is_far);
    if (is_far)
        CHECK(kick = (int (*)(void))dlsym(RTLD_DEFAULT, "farreach_softhca_kick"));
    OK(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS));
    if (gasnet_mynode() == 0) {
        /* The first ones connect. */
        OK(gasnet_AMRequestShort0(1, HANDLER));
        gasnet_put_nbi(1, &theirs->cell, payload, 8);
        turn(1);
        char target[32];
        snprintf(target, sizeof target, "%s" MODE, argv[1]);
        struct operands operands = {.target = &theirs->cell, .local = payload, .pe = 1};
        for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
            count_loops(rows[i].name, target, rows[i].call, rows[i].bare, TURN, atol(argv[2]),
                        &operands);
        gasnet_put_val(1, (void *)&theirs->turn, 0, sizeof theirs->turn);
    } else {
        serve();
    }
    OK(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS));
    return 0;
}
