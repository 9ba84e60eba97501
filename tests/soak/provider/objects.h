// Opens and closes what an epoch has: the endpoints of a process with their queues and counters,
// and its regions.
#pragma once
#include "plan.h"
#if __has_include(<farreach_fi.h>)
#include <farreach_fi.h>
#endif

enum count { SENT, WRITTEN, HAS_READ, RECEIVED, COUNTS };

static struct endpoint {
    struct fid_ep *ep;
    struct fid_cq *tx, *rx;
    struct fid_cntr *counts[COUNTS];
    // The values that counters have to show, and the numbers of messages and of writes with data
    // that came.
    uint64_t ended[COUNTS], errors[COUNTS], started[COUNTS];
    _Atomic int arrived;
    // Messages of the round that are injected, and cut there.
    int cuts;
} ends[THREADS];

static struct region {
    char *at;
    size_t len;
    struct fid_mr *mr;
} regions[REGIONS];

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static fi_addr_t addresses[PROCESSES][THREADS];
// Those of each thread: where its triggered operations start, and what ends of deferred work count.
// Deferred work has `steps` follow; nothing reaches the thresholds of `never`.
static struct fid_cntr *go[THREADS], *did[THREADS], *steps[THREADS], *never[THREADS], *remote[2];
static uint64_t released[THREADS], stepped[THREADS], had_done[THREADS], had_failed[THREADS];
static uint64_t accessed[2];
static char *own_memory;

static size_t cells_len(void) { return (size_t)LANES * OPERATIONS * CELL + 64; }

static size_t region_len(int number) {
    return number < LANES    ? AREA
           : number == READS ? READABLE
           : number == CELLS ? cells_len()
                             : DOOMED;
}

static size_t region_at(int number) {
    size_t at = 0;
    for (int i = 0; i < number; i++)
        at += (region_len(i) + 4095) & ~(size_t)4095;
    return at;
}

static uint64_t rights_of(int number) {
    return number < LANES ? FI_REMOTE_WRITE
           : number == READS ? FI_REMOTE_READ
                             : FI_REMOTE_READ | FI_REMOTE_WRITE;
}

// Opens a region; in a domain where the application chooses keys, by one that it never had.
static void open_region(int number, int round) {
    struct region *region = &regions[number];
    uint64_t key = set.basic ? 0 : (uint64_t)(round + 1) * REGIONS + (uint64_t)number;
    region->len = region_len(number);
#ifdef FARREACH_OPS_MEMORY
    if (set.memory == OF_ARENA) {
        struct farreach_ops_memory *ops;
        void *at;
        OK(fi_open_ops(&domain->fid, FARREACH_OPS_MEMORY, 0, (void **)&ops, NULL));
        OK(ops->allocate(domain, region->len, rights_of(number), key, 0, &at, &region->mr, NULL));
        region->at = at;
    } else
#endif
    {
        region->at = (set.memory == OF_MAPPING ? mapped[me] : own_memory) + region_at(number);
        OK(fi_mr_reg(domain, region->at, region->len, rights_of(number), 0, key, 0, &region->mr,
                     NULL));
    }
    if (number == READS)
        fill(region->at, hash(3, epoch, me), 0, READABLE);
    shared->keys[me][number] = fi_mr_key(region->mr);
    shared->bases[me][number] = set.basic ? (uint64_t)region->at : 0;
}

static void close_region(int number) {
    if (regions[number].mr)
        OK(fi_close(&regions[number].mr->fid));
    regions[number].mr = NULL;
}

static void look_up_atomics(void) {
    for (int type = 0; type < FI_FLOAT_COMPLEX; type++)
        for (int op = FI_MIN; op <= FI_MSWAP; op++) {
            size_t count = 0;
            struct fid_ep *ep = ends[0].ep;
            bool compares = op >= FI_CSWAP && op <= FI_MSWAP;
            valid[0][type][op] = !compares && op != FI_ATOMIC_READ &&
                                 !fi_atomicvalid(ep, type, op, &count) && count >= ELEMENTS;
            valid[1][type][op] = !compares && !fi_fetch_atomicvalid(ep, type, op, &count) &&
                                 count >= ELEMENTS;
            valid[2][type][op] = compares && !fi_compare_atomicvalid(ep, type, op, &count) &&
                                 count >= ELEMENTS;
        }
}

static void open_domain(void) {
    struct fi_info *hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV |
                  FI_MULTI_RECV | (set.triggers ? FI_TRIGGER : 0) | (set.events ? FI_RMA_EVENT : 0);
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->iov_limit = hints->rx_attr->iov_limit = hints->tx_attr->rma_iov_limit = 4;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = set.basic ? FI_MR_BASIC : FI_MR_SCALABLE;
    hints->domain_attr->data_progress = set.automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    const char *provider = getenv("SOAK_PROVIDER");
    hints->fabric_attr->prov_name = strdup(provider ? provider : "farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    fi_freeinfo(hints);
    OK(fi_fabric(info->fabric_attr, &fabric, NULL));
    OK(fi_domain(fabric, info, &domain, NULL));
    struct fi_av_attr attr = {.type = FI_AV_TABLE};
    OK(fi_av_open(domain, &attr, &av, NULL));
}

static void open_counters(int e) {
    static const uint64_t bound[COUNTS] = {FI_SEND, FI_WRITE, FI_READ, FI_RECV};
    for (int i = 0; i < COUNTS && set.counters; i++) {
        OK(fi_cntr_open(domain, NULL, &ends[e].counts[i], NULL));
        OK(fi_ep_bind(ends[e].ep, &ends[e].counts[i]->fid, bound[i]));
    }
    for (int i = 0; i < 2 && set.events && e == 0; i++) {
        OK(fi_cntr_open(domain, NULL, &remote[i], NULL));
        OK(fi_ep_bind(ends[e].ep, &remote[i]->fid, i ? FI_REMOTE_READ : FI_REMOTE_WRITE));
    }
}

static enum fi_cq_format tx_format(void) {
    return set.one_cq || set.format > FI_CQ_FORMAT_TAGGED || set.format == 0
               ? FI_CQ_FORMAT_TAGGED
               : (enum fi_cq_format)set.format;
}

static void open_endpoint(int e) {
    struct endpoint *end = &ends[e];
    *end = (struct endpoint){0};
    struct fi_cq_attr attr = {
        .size = set.cq_size, .format = FI_CQ_FORMAT_TAGGED, .wait_obj = set.wait};
    OK(fi_endpoint(domain, info, &end->ep, NULL));
    OK(fi_cq_open(domain, &attr, &end->rx, NULL));
    attr.format = tx_format();
    end->tx = end->rx;
    if (!set.one_cq)
        OK(fi_cq_open(domain, &attr, &end->tx, NULL));
    OK(fi_ep_bind(end->ep, &av->fid, 0));
    OK(fi_ep_bind(end->ep, &end->tx->fid,
                  FI_TRANSMIT | (set.selective_tx ? FI_SELECTIVE_COMPLETION : 0)));
    OK(fi_ep_bind(end->ep, &end->rx->fid,
                  FI_RECV | (set.selective_rx ? FI_SELECTIVE_COMPLETION : 0)));
    open_counters(e);
    OK(fi_enable(end->ep));
    size_t len = NAME;
    OK(fi_getname(&end->ep->fid, shared->names[me][e], &len));
}

static void open_epoch(void) {
    draw_settings();
    open_domain();
    for (int e = 0; e < eps(); e++)
        open_endpoint(e);
    look_up_atomics();
    for (int i = 0; i < options.threads; i++) {
        OK(fi_cntr_open(domain, NULL, &go[i], NULL));
        OK(fi_cntr_open(domain, NULL, &did[i], NULL));
        OK(fi_cntr_open(domain, NULL, &steps[i], NULL));
        OK(fi_cntr_open(domain, NULL, &never[i], NULL));
        released[i] = had_done[i] = had_failed[i] = stepped[i] = 0;
    }
    for (int i = 0; i < REGIONS; i++)
        open_region(i, 0);
    accessed[0] = accessed[1] = 0;
}

static void know_each_other(void) {
    for (int p = 0; p < options.processes; p++)
        for (int e = 0; e < eps(); e++)
            CHECK(fi_av_insert(av, shared->names[p][e], 1, &addresses[p][e], 0, NULL) == 1, "av");
}

static void close_epoch(void) {
    for (int i = 0; i < REGIONS; i++)
        close_region(i);
    for (int e = 0; e < eps(); e++) {
        OK(fi_close(&ends[e].ep->fid));
        for (int i = 0; i < COUNTS && set.counters; i++)
            OK(fi_close(&ends[e].counts[i]->fid));
        OK(fi_close(&ends[e].rx->fid));
        if (!set.one_cq)
            OK(fi_close(&ends[e].tx->fid));
        ends[e].ep = NULL;
    }
    for (int i = 0; i < 2 && set.events; i++)
        OK(fi_close(&remote[i]->fid));
    for (int i = 0; i < options.threads; i++) {
        OK(fi_close(&go[i]->fid));
        OK(fi_close(&did[i]->fid));
        OK(fi_close(&steps[i]->fid));
        OK(fi_close(&never[i]->fid));
    }
    OK(fi_close(&av->fid));
    OK(fi_close(&domain->fid));
    OK(fi_close(&fabric->fid));
    fi_freeinfo(info);
}
