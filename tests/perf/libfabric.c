/*
 * Times libfabric's calls between two processes of this node, by the provider that FI_PROVIDER names: messages of 8 bytes
 * there and back, with a tag and without, and writes of 8 bytes to memory of the peer that the application has
 * allocated: so many under way, and one at a time. Progress is made by reading completion queues.
 */
#define _GNU_SOURCE
#include "perf.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { TURNS = 20000, WINDOW = 64, ROUNDS = 5, MOST = 256, TAG = 7 };

static struct fid_ep *ep;
static struct fid_cq *cq;
static fi_addr_t peer;
static int rank, link_fd;
static char memory[4096] __attribute__((aligned(64)));
static uint64_t value = 5, buffer, remote_address, remote_key;

#define MUST(it) \
    do { \
        long result_ = (it); \
        if (result_ != 0) { \
            fprintf(stderr, "libfabric.c:%d: %s: %s\n", __LINE__, #it, fi_strerror((int)-result_)); \
            exit(1); \
        } \
    } while (0)

/* Calls until there is room. */
#define UNTIL(it) \
    do { \
        long result_; \
        while ((result_ = (it)) == -FI_EAGAIN) \
            look(); \
        MUST(result_); \
    } while (0)

static long done;

static void look(void) {
    struct fi_cq_tagged_entry entries[16];
    ssize_t many = fi_cq_read(cq, entries, 16);
    if (many > 0) {
        done += many;
    } else if (many != -FI_EAGAIN) {
        MUST(many);
    }
}

static void wait_for(long many) {
    while (done < many)
        look();
    done -= many;
}

static void exchange(const void *own, void *other, size_t bytes) {
    if (write(link_fd, own, bytes) != (ssize_t)bytes || read(link_fd, other, bytes) != (ssize_t)bytes)
        exit(1);
}

static void meet(void) {
    char mine = 0, other;
    exchange(&mine, &other, 1);
}

/* Sends messages: a buffer is posted before each message is sent that it is for. */
static void messages(long turns) {
    for (long i = 0; i < turns; i++) {
        UNTIL(fi_recv(ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, NULL));
        if (rank == 0)
            UNTIL(fi_inject(ep, &value, sizeof value, peer));
        wait_for(1);
        if (rank == 1)
            UNTIL(fi_inject(ep, &value, sizeof value, peer));
    }
}

static void tagged(long turns) {
    for (long i = 0; i < turns; i++) {
        UNTIL(fi_trecv(ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, TAG, 0, NULL));
        if (rank == 0)
            UNTIL(fi_tinject(ep, &value, sizeof value, peer, TAG));
        wait_for(1);
        if (rank == 1)
            UNTIL(fi_tinject(ep, &value, sizeof value, peer, TAG));
    }
}

/* Writes messages: the other process makes progress, as it may have to write the bytes. */
static void writes(long turns, long window) {
    if (rank == 0) {
        for (long i = 0; i < turns; i += window) {
            for (long j = 0; j < window; j++)
                UNTIL(fi_write(ep, &value, sizeof value, NULL, peer, remote_address + 8 * (uint64_t)j, remote_key, NULL));
            wait_for(window);
        }
        UNTIL(fi_inject(ep, &value, sizeof value, peer));
    } else {
        UNTIL(fi_recv(ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, NULL));
        wait_for(1);
    }
}

static void many_writes(long turns) { writes(turns, WINDOW); }
static void single_writes(long turns) { writes(turns, 1); }

static void measure(const char *name, void (*run)(long), long turns) {
    double times[ROUNDS];
    run(WINDOW);
    for (int i = 0; i < ROUNDS; i++) {
        meet();
        double start = now();
        run(turns);
        times[i] = (now() - start) / (double)turns;
    }
    if (rank == 0)
        row(name, median(times, ROUNDS));
}

int main(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return 1;
    pid_t child = fork();
    rank = child == 0;
    link_fd = pair[rank];
    close(pair[1 - rank]);
    pin(rank);
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
    hints->mode = FI_CONTEXT;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    MUST(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *mr;
    MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, info, &domain, NULL));
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    MUST(fi_av_open(domain, &av_attr, &av, NULL));
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 1024};
    MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
    MUST(fi_endpoint(domain, info, &ep, NULL));
    MUST(fi_ep_bind(ep, &av->fid, 0));
    MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(ep));
    char own[MOST] = {0}, other[MOST] = {0};
    size_t bytes = MOST;
    MUST(fi_getname(&ep->fid, own, &bytes));
    exchange(own, other, MOST);
    if (fi_av_insert(av, other, 1, &peer, 0, NULL) != 1)
        return 1;
    MUST(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0, &mr, NULL));
    uint64_t by_address = info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC) ? (uint64_t)(uintptr_t)memory : 0;
    uint64_t mine[2] = {by_address, fi_mr_key(mr)}, theirs[2];
    exchange(mine, theirs, sizeof mine);
    remote_address = theirs[0];
    remote_key = theirs[1];
    measure("message there and back", messages, TURNS);
    measure("tagged message there and back", tagged, TURNS);
    measure("write, 64 under way", many_writes, TURNS / WINDOW * WINDOW);
    measure("write, one at a time", single_writes, TURNS);
    meet();
    fflush(stdout);
    if (rank == 1)
        _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
