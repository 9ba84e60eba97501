// One process by libfabric, to itself: memory of the fabric's arena, written and read by short and
// long calls; messages, tagged and not; in domains of several threads, and of one at a time.
#include "../../../../include/farreach_fi.h"
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>

enum { LEN = 4096, KEY = 3, ROUNDS = 1000 };

static struct fid_cq *cq;
static struct fid_cntr *written, *received;

static struct fi_cq_tagged_entry next(void) {
    struct fi_cq_tagged_entry entry;
    ssize_t got;
    while ((got = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN)
        ;
    CHECK(got == 1);
    return entry;
}

static void write_and_read(struct fid_ep *ep, fi_addr_t own, char *memory) {
    CHECK(fi_cq_read(cq, memory, 1) == -FI_EAGAIN && fi_cntr_read(written) == 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        OK(fi_inject_write(ep, &i, sizeof i, own, 8, KEY));
        CHECK(*(uint64_t *)(memory + 8) == i && fi_cntr_read(written) == 2 * i - 1);
        OK(fi_write(ep, &i, sizeof i, NULL, own, LEN - 8, KEY, &i));
        CHECK(*(uint64_t *)(memory + LEN - 8) == i);
        struct fi_cq_tagged_entry entry = next();
        CHECK(entry.op_context == &i && entry.flags == (FI_RMA | FI_WRITE) && entry.len == 8);
        CHECK(entry.tag == 0 && entry.data == 0);
    }
    static char bytes[LEN], back[LEN];
    memset(bytes, 7, LEN);
    OK(fi_inject_write(ep, bytes, 100, own, 0, KEY));
    OK(memcmp(memory, bytes, 100));
    OK(fi_write(ep, bytes, LEN, NULL, own, 0, KEY, NULL));
    next();
    OK(fi_read(ep, back, LEN, NULL, own, 0, KEY, NULL));
    next();
    OK(memcmp(back, bytes, LEN) || memcmp(memory, bytes, LEN));
    // One byte too far, another key, another peer, and too much at once.
    CHECK(fi_inject_write(ep, bytes, 8, own, LEN - 7, KEY) == -FI_EFAULT);
    CHECK(fi_inject_write(ep, bytes, 8, own, UINT64_MAX - 3, KEY) == -FI_EFAULT);
    CHECK(fi_inject_write(ep, bytes, 8, own, 0, KEY + 256) == -FI_ENOKEY);
    CHECK(fi_inject_write(ep, bytes, 8, own + 1, 0, KEY) == -FI_EINVAL);
    CHECK(fi_inject_write(ep, bytes, 8, own + ((uint64_t)1 << 32), 0, KEY) == -FI_EINVAL);
    CHECK(fi_inject_write(ep, bytes, (size_t)-1, own, 0, KEY) == -FI_EMSGSIZE);
    CHECK(fi_write(ep, bytes, 8, NULL, own, LEN - 7, KEY, NULL) == -FI_EFAULT);
}

static void send_and_receive(struct fid_ep *ep, fi_addr_t own) {
    uint64_t word;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        // Contexts of any bits, also those that are no addresses.
        void *context = i % 2 ? (void *)&word : (void *)~i;
        OK(fi_recv(ep, &word, sizeof word, NULL, FI_ADDR_UNSPEC, context));
        OK(fi_inject(ep, &i, sizeof i, own));
        struct fi_cq_tagged_entry entry = next();
        CHECK(entry.op_context == context && entry.flags == (FI_MSG | FI_RECV) && word == i);
        OK(fi_trecv(ep, &word, sizeof word, NULL, FI_ADDR_UNSPEC, i, 0, context));
        OK(fi_tinject(ep, &i, sizeof i, own, i));
        entry = next();
        CHECK(entry.op_context == context && entry.flags == (FI_TAGGED | FI_RECV));
        CHECK(entry.tag == i && entry.len == 8 && word == i);
    }
    CHECK(fi_cntr_read(received) == 2 * ROUNDS);
    for (uintptr_t context = 1; context; context = context == 1 ? UINTPTR_MAX : 0) {
        OK(fi_recv(ep, &word, sizeof word, NULL, FI_ADDR_UNSPEC, (void *)context));
        OK(fi_cancel(&ep->fid, (void *)context));
        CHECK(fi_cancel(&ep->fid, (void *)context) == -FI_ENOENT);
        struct fi_cq_err_entry error = {0};
        CHECK(fi_cq_read(cq, &word, 0) == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1);
        CHECK(error.err == FI_ECANCELED && error.op_context == (void *)context);
        CHECK(error.flags == (FI_MSG | FI_RECV));
    }
}

// Checks that a poll set tells of a counter until that is read, in any way.
static void watch(struct fid_domain *domain, struct fid_ep *ep, fi_addr_t own) {
    struct fid_poll *set;
    void *found[2];
    uint64_t word;
    OK(fi_poll_open(domain, NULL, &set) || fi_poll_add(set, &received->fid, 0));
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t before = fi_cntr_read(received);
        CHECK(fi_poll(set, found, 2) == 0);
        OK(fi_recv(ep, &word, sizeof word, NULL, FI_ADDR_UNSPEC, &word));
        OK(fi_inject(ep, &i, sizeof i, own));
        next();
        CHECK(fi_poll(set, found, 2) == 1 && fi_cntr_read(received) == before + 1);
    }
    OK(fi_close(&set->fid));
}

static void run(enum fi_threading threading) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->fabric_attr->prov_name = strdup("farreach");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
    hints->domain_attr->threading = threading;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->domain_attr->threading == threading);
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    OK(fi_fabric(info->fabric_attr, &fabric, NULL));
    OK(fi_domain(fabric, info, &domain, NULL));
    struct fid_av *av;
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    OK(fi_av_open(domain, &av_attr, &av, NULL));
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    OK(fi_cq_open(domain, &cq_attr, &cq, NULL));
    struct fi_cntr_attr cntr_attr = {0};
    OK(fi_cntr_open(domain, &cntr_attr, &written, NULL));
    OK(fi_cntr_open(domain, &cntr_attr, &received, NULL));
    struct fid_ep *ep;
    OK(fi_endpoint(domain, info, &ep, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    OK(fi_ep_bind(ep, &written->fid, FI_WRITE) || fi_ep_bind(ep, &received->fid, FI_RECV));
    CHECK(fi_inject(ep, "early", 5, 0) == -FI_EOPBADSTATE);
    CHECK(fi_inject_write(ep, "early", 5, 0, 0, KEY) == -FI_EOPBADSTATE);
    OK(fi_enable(ep));
    char name[64];
    size_t len = sizeof name;
    fi_addr_t own;
    OK(fi_getname(&ep->fid, name, &len));
    CHECK(fi_av_insert(av, name, 1, &own, 0, NULL) == 1);
    struct farreach_ops_memory *ops;
    CHECK(fi_open_ops(&domain->fid, "of nobody", 0, (void **)&ops, NULL) == -FI_ENOSYS);
    CHECK(fi_open_ops(&domain->fid, FARREACH_OPS_MEMORY, 1, (void **)&ops, NULL) != 0);
    OK(fi_open_ops(&domain->fid, FARREACH_OPS_MEMORY, 0, (void **)&ops, NULL));
    CHECK(ops->size >= sizeof *ops);
    void *memory;
    struct fid_mr *mr, *other;
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    CHECK(ops->allocate(domain, LEN, 0, KEY, 0, &memory, &mr, NULL) == -FI_EINVAL);
    CHECK(ops->allocate(domain, LEN, both, KEY, 1, &memory, &mr, NULL) < 0);
    CHECK(ops->allocate(domain, (size_t)1 << 60, both, KEY, 0, &memory, &mr, NULL) == -FI_ENOMEM);
    OK(ops->allocate(domain, LEN, both, KEY, 0, &memory, &mr, NULL));
    CHECK(ops->allocate(domain, LEN, both, KEY, 0, &memory, &other, NULL) == -FI_ENOKEY);
    CHECK(fi_mr_key(mr) == KEY && fi_close(&domain->fid) == -FI_EBUSY);
    write_and_read(ep, own, memory);
    send_and_receive(ep, own);
    watch(domain, ep, own);
    OK(fi_close(&mr->fid));
    CHECK(fi_inject_write(ep, "late", 4, own, 0, KEY) == -FI_ENOKEY);
    OK(fi_close(&ep->fid) || fi_close(&written->fid) || fi_close(&received->fid));
    OK(fi_close(&cq->fid) || fi_close(&av->fid) || fi_close(&domain->fid));
    OK(fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

int main(void) {
    run(FI_THREAD_SAFE);
    run(FI_THREAD_DOMAIN);
    return 0;
}
