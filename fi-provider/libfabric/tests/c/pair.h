// Two processes with an endpoint each, which know each other.
#pragma once
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_ep *ep;
static struct fid_cq *tx, *rx;
static fi_addr_t self, peer;
static pid_t child;
static int leads, other;

// Calls until there is room.
#define POST(call)                                                                                 \
    do {                                                                                           \
        ssize_t got;                                                                               \
        while ((got = (call)) == -FI_EAGAIN)                                                       \
            fi_cq_read(tx, NULL, 0);                                                               \
        OK(got);                                                                                   \
    } while (0)

// Takes the next entry, within 10 s.
static inline struct fi_cq_tagged_entry next(struct fid_cq *cq) {
    struct fi_cq_tagged_entry entry;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == 1);
    return entry;
}

// Exchanges `len` bytes with the other process.
static inline void swap(void *own, void *theirs, size_t len) {
    CHECK(write(other, own, len) == (ssize_t)len && read(other, theirs, len) == (ssize_t)len);
}

// Waits until both processes come here.
static inline void meet(void) {
    char byte = 0;
    swap(&byte, &byte, 1);
}

// Begins two processes, and opens all but the endpoint: queues with objects to wait for. Progress is
// automatic where the environment says AUTOMATIC.
static inline void begin(uint64_t caps, enum fi_wait_obj wait) {
    int pair[2];
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    child = fork();
    leads = child != 0, other = pair[leads];
    close(pair[!leads]);
    struct fi_info *hints = fi_allocinfo();
    hints->caps = caps;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_SCALABLE;
    if (getenv("AUTOMATIC"))
        hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->domain_attr->data_progress ==
          (getenv("AUTOMATIC") ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL));
    fi_freeinfo(hints);
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    OK(fi_av_open(domain, NULL, &av, NULL) || fi_endpoint(domain, info, &ep, NULL));
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait};
    OK(fi_cq_open(domain, &attr, &tx, NULL) || fi_cq_open(domain, &attr, &rx, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    OK(fi_ep_bind(ep, &rx->fid, FI_RECV));
}

// Enables the endpoint, and gets to know the other one.
static inline void join(void) {
    char own[64] = {0}, theirs[64];
    size_t len = sizeof own;
    OK(fi_enable(ep) || fi_getname(&ep->fid, own, &len));
    swap(own, theirs, sizeof own);
    CHECK(fi_av_insert(av, own, 1, &self, 0, NULL) == 1);
    CHECK(fi_av_insert(av, theirs, 1, &peer, 0, NULL) == 1 && peer != self);
}

// Closes the endpoint.
static inline void leave(void) {
    meet();
    OK(fi_close(&ep->fid));
}

// Closes the rest; the process that leads tells how the other one has ended.
static inline int end(void) {
    OK(fi_close(&av->fid) || fi_close(&tx->fid) || fi_close(&rx->fid));
    OK(fi_close(&domain->fid) || fi_close(&fabric->fid));
    fi_freeinfo(info);
    int status = 0;
    if (leads)
        CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}
