// Two processes by libfabric, of which one is killed: operations that wait for it, and those that are
// begun after its end, end in errors soon; the other process goes on.
#include "pair.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <time.h>

// Seconds within which all ends: a device tells after its retries.
enum { SOON = 20, LONG = 1 << 20, KEY = 7 };
static char memory[4096], here[LONG];
static uint64_t one = 1, before;

enum kind { MESSAGE, TAGGED, LONG_MESSAGE, LONG_TAGGED, ATOMIC, FETCH, WRITE, READ, WRITE_DATA, KINDS };

// Begins an operation, whose context is its kind.
static ssize_t start(enum kind kind) {
    void *mark = &here[kind];
    struct iovec piece = {here, kind == MESSAGE || kind == TAGGED ? 8 : LONG};
    struct fi_msg message = {&piece, NULL, 1, peer, mark, 0};
    struct fi_msg_tagged tagged = {&piece, NULL, 1, peer, 5, 0, mark, 0};
    // A long message stays with its sender until it is matched.
    uint64_t level = piece.iov_len == LONG ? FI_DELIVERY_COMPLETE : FI_MATCH_COMPLETE;
    switch (kind) {
    case MESSAGE:
    case LONG_MESSAGE:
        return fi_sendmsg(ep, &message, level | FI_COMPLETION);
    case TAGGED:
    case LONG_TAGGED:
        return fi_tsendmsg(ep, &tagged, level | FI_COMPLETION);
    case ATOMIC:
        return fi_atomic(ep, &one, 1, NULL, peer, 0, KEY, FI_UINT64, FI_SUM, mark);
    case FETCH:
        return fi_fetch_atomic(ep, &one, 1, NULL, &before, NULL, peer, 0, KEY, FI_UINT64, FI_SUM,
                               mark);
    case WRITE:
        return fi_write(ep, here, sizeof memory, NULL, peer, 0, KEY, mark);
    case READ:
        return fi_read(ep, here + 4096, sizeof memory, NULL, peer, 0, KEY, mark);
    default:
        return fi_writedata(ep, here, 8, NULL, 1, peer, 0, KEY, mark);
    }
}

// Takes the end of an operation: whether that is an error. Returns its kind, or none so far.
static int take(int *is_error) {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t got = fi_cq_read(tx, &entry, 1);
    *is_error = got == -FI_EAVAIL;
    if (got == -FI_EAGAIN)
        return -1;
    if (got == 1)
        return (int)((char *)entry.op_context - here);
    CHECK(*is_error && fi_cq_readerr(tx, &error, 0) == 1 && error.err > 0);
    if (!error.op_context)
        return KINDS;
    return (int)((char *)error.op_context - here);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Waits until all of these have ended, each in an error, and so many injected ones, which have no context.
static void fail(int waiting, int injected) {
    double end = seconds() + SOON;
    while (waiting || injected) {
        int is_error, kind = take(&is_error);
        CHECK(seconds() < end);
        if (kind < 0)
            continue;
        if (kind == KINDS) {
            CHECK(is_error && injected-- > 0);
            continue;
        }
        CHECK(is_error && waiting & 1 << kind);
        waiting &= ~(1 << kind);
    }
}

static void outlive(int waits_for_atomics) {
    // The other process is there, and does its part no more.
    POST(fi_inject(ep, "hello", 6, peer));
    meet();
    OK(kill(child, SIGSTOP));
    int waiting = 0;
    for (enum kind kind = MESSAGE; kind <= (waits_for_atomics ? FETCH : LONG_TAGGED); kind++) {
        POST(start(kind));
        waiting |= 1 << kind;
    }
    int injected = waits_for_atomics ? 3 : 0;
    for (int i = 0; i < injected; i++)
        POST(fi_inject_atomic(ep, &one, 1, peer, 0, KEY, FI_UINT64, FI_SUM));
    for (int i = 0; i < 1000; i++) {
        int is_error;
        CHECK(take(&is_error) < 0);
    }
    OK(kill(child, SIGKILL));
    fail(waiting, injected);
    // It is gone: each call is refused, or its operation fails.
    for (enum kind kind = MESSAGE; kind < KINDS; kind++) {
        double end = seconds() + SOON;
        ssize_t got;
        while ((got = start(kind)) == -FI_EAGAIN) {
            CHECK(seconds() < end);
            int is_error;
            CHECK(take(&is_error) < 0);
        }
        CHECK(got <= 0);
        if (got == 0)
            fail(1 << kind, 0);
    }
    CHECK(fi_inject_atomic(ep, &one, 1, peer, 0, KEY, FI_UINT64, FI_SUM) < 0);
    // Messages to itself arrive.
    char text[8] = "";
    OK(fi_recv(ep, text, sizeof text, NULL, self, text));
    OK(fi_inject(ep, "self", 5, self));
    CHECK(next(rx).op_context == text && !strcmp(text, "self"));
}

int main(int argc, char **argv) {
    (void)argv;
    begin(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV, FI_WAIT_UNSPEC);
    struct fid_mr *mr;
    uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(fi_mr_reg(domain, memory, sizeof memory, rights, 0, KEY, 0, &mr, NULL));
    join();
    if (!leads) {
        char text[8];
        OK(fi_recv(ep, text, sizeof text, NULL, FI_ADDR_UNSPEC, text));
        CHECK(next(rx).op_context == text);
        meet();
        for (;;)
            pause();
    }
    outlive(argc == 1);
    OK(fi_close(&mr->fid) || fi_close(&ep->fid));
    CHECK(end() != 0);
    return 0;
}
