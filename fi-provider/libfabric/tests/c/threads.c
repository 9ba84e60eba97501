// Two processes by libfabric, with several threads each, which use one endpoint and its queues at
// the same time: messages, writes and reads of all of them come to their ends, once each.
#include "check.h"
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 500, BUFFERS = 64, OPERATIONS = THREADS * ROUNDS };

// The buffers that are posted; each message is of one thread and round.
static struct message {
    uint64_t thread, round, filler[6];
} buffers[BUFFERS];
// Target of the writes of the peer's threads, a place for each round.
static uint64_t memory[THREADS][ROUNDS];
static struct fid_ep *ep;
static struct fid_cq *tx, *rx;
static struct fid_cntr *sent, *written;
static fi_addr_t peer;
static uint64_t base, key;
static atomic_int done, seen[THREADS][ROUNDS];
static _Atomic uint64_t received;

// Takes completions of both directions, whose operations other threads may have started.
static void take(void) {
    struct fi_cq_data_entry entries[8];
    ssize_t many = fi_cq_read(tx, entries, 8);
    CHECK(many >= 0 || many == -FI_EAGAIN);
    for (ssize_t i = 0; i < many; i++)
        atomic_fetch_add((atomic_int *)entries[i].op_context, 1);
    many = fi_cq_read(rx, entries, 3);
    CHECK(many >= 0 || many == -FI_EAGAIN);
    for (ssize_t i = 0; i < many; i++) {
        struct message *message = entries[i].op_context;
        CHECK(entries[i].len == sizeof *message && message->filler[5] == message->round);
        CHECK(message->thread < THREADS && message->round < ROUNDS);
        atomic_fetch_add(&seen[message->thread][message->round], 1);
        atomic_fetch_add(&received, 1);
        OK(fi_recv(ep, message, sizeof *message, NULL, FI_ADDR_UNSPEC, message));
    }
    if (many <= 0)
        sched_yield();
}

#define POST(call)                                                                                 \
    do {                                                                                           \
        ssize_t got;                                                                               \
        while ((got = (call)) == -FI_EAGAIN)                                                       \
            take();                                                                                \
        OK(got);                                                                                   \
    } while (0)

static void *works(void *number) {
    uint64_t own = (uintptr_t)number, back[2];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct message message = {.thread = own, .round = round, .filler = {[5] = round}};
        uint64_t at = base + (own * ROUNDS + round) * sizeof(uint64_t), value = at ^ own;
        atomic_int ends = 0;
        POST(fi_send(ep, &message, sizeof message, NULL, peer, &ends));
        POST(fi_write(ep, &value, sizeof value, NULL, peer, at, key, &ends));
        while (ends < 2)
            take();
        back[0] = back[1] = 0;
        POST(fi_read(ep, back, sizeof value, NULL, peer, at, key, &ends));
        while (ends < 3)
            take();
        CHECK(back[0] == value && back[1] == 0 && ends == 3);
    }
    atomic_fetch_add(&done, 1);
    while (done < THREADS || received < OPERATIONS)
        take();
    return NULL;
}

// Exchanges `len` bytes with the other process.
static void swap(int other, void *own, void *theirs, size_t len) {
    CHECK(write(other, own, len) == (ssize_t)len && read(other, theirs, len) == (ssize_t)len);
}

int main(void) {
    int pair[2];
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t child = fork();
    int leads = child != 0, other = pair[leads];
    close(pair[!leads]);
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_RMA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = FI_MR_BASIC;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->domain_attr->threading == FI_THREAD_SAFE);
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *mr;
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA};
    OK(fi_cq_open(domain, &cq, &tx, NULL) || fi_cq_open(domain, &cq, &rx, NULL));
    OK(fi_cntr_open(domain, NULL, &sent, NULL) || fi_cntr_open(domain, NULL, &written, NULL));
    OK(fi_av_open(domain, NULL, &av, NULL) || fi_endpoint(domain, info, &ep, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    OK(fi_ep_bind(ep, &rx->fid, FI_RECV) || fi_ep_bind(ep, &sent->fid, FI_SEND));
    OK(fi_ep_bind(ep, &written->fid, FI_WRITE) || fi_enable(ep));
    uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(fi_mr_reg(domain, memory, sizeof memory, rights, 0, 0, 0, &mr, NULL));
    char own[64] = {0}, theirs[64];
    size_t len = sizeof own;
    OK(fi_getname(&ep->fid, own, &len));
    swap(other, own, theirs, sizeof own);
    CHECK(fi_av_insert(av, theirs, 1, &peer, 0, NULL) == 1);
    uint64_t place[2] = {(uint64_t)memory, fi_mr_key(mr)}, there[2];
    swap(other, place, there, sizeof place);
    base = there[0], key = there[1];
    for (int i = 0; i < BUFFERS; i++)
        OK(fi_recv(ep, &buffers[i], sizeof buffers[i], NULL, FI_ADDR_UNSPEC, &buffers[i]));
    swap(other, own, theirs, 1);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, works, (void *)i));
    for (int i = 0; i < THREADS; i++)
        OK(pthread_join(threads[i], NULL));
    CHECK(fi_cntr_read(sent) == OPERATIONS && fi_cntr_read(written) == OPERATIONS);
    // The peer may still read here, or wait for the answer to a message.
    char is_done = 0;
    CHECK(write(other, &is_done, 1) == 1);
    while (recv(other, &is_done, 1, MSG_DONTWAIT) != 1)
        take();
    CHECK(received == OPERATIONS);
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t thread = i / ROUNDS, round = i % ROUNDS;
        uint64_t at = (uint64_t)&memory[thread][round];
        CHECK(seen[thread][round] == 1 && memory[thread][round] == (at ^ thread));
    }
    OK(fi_close(&mr->fid) || fi_close(&ep->fid) || fi_close(&av->fid) || fi_close(&tx->fid));
    OK(fi_close(&rx->fid) || fi_close(&sent->fid) || fi_close(&written->fid));
    OK(fi_close(&domain->fid) || fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
    int status = 0;
    CHECK(!leads || (waitpid(child, &status, 0) == child && status == 0));
    return 0;
}
