// Two processes by libfabric: memory of the peer is written and read, by calls of each kind, with
// counters; messages come to one buffer for several; operations that must fail do.
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls until there is room.
#define POST(call)                                                                                 \
    do {                                                                                           \
        ssize_t got;                                                                               \
        while ((got = (call)) == -FI_EAGAIN)                                                       \
            fi_cntr_read(sent);                                                                    \
        OK(got);                                                                                   \
    } while (0)

enum { LEN = 100000 };
static char memory[LEN], here[LEN], many[4096];
static struct fid_cq *tx, *rx;
static struct fid_cntr *sent, *written, *got;

static struct fi_cq_data_entry next(struct fid_cq *cq) {
    struct fi_cq_data_entry entry;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == 1);
    return entry;
}

// Exchanges `len` bytes with the other process.
static void swap(int other, void *own, void *theirs, size_t len) {
    CHECK(write(other, own, len) == (ssize_t)len && read(other, theirs, len) == (ssize_t)len);
}

static void lead(struct fid_ep *ep, fi_addr_t peer, uint64_t addr, uint64_t key) {
    int mark;
    for (int i = 0; i < LEN; i++)
        here[i] = (char)(i * 7 + 1);
    POST(fi_write(ep, here, LEN, NULL, peer, addr, key, &mark));
    struct fi_cq_data_entry entry = next(tx);
    CHECK(entry.op_context == &mark && entry.flags == (FI_RMA | FI_WRITE));
    static char back[LEN];
    POST(fi_read(ep, back, LEN, NULL, peer, addr, key, &mark));
    entry = next(tx);
    CHECK(entry.op_context == &mark && entry.flags == (FI_RMA | FI_READ));
    OK(memcmp(back, here, LEN));
    POST(fi_inject_write(ep, "inject", 6, peer, addr + 8, key));
    OK(fi_cntr_wait(written, 2, 10000));
    POST(fi_writedata(ep, "data", 4, NULL, 77, peer, addr + 16, key, &mark));
    CHECK(next(tx).op_context == &mark);
    CHECK(fi_cntr_read(written) == 3 && fi_cntr_read(got) == 1 && fi_cntr_read(sent) == 0);
    CHECK(fi_write(ep, here, 1, NULL, peer, addr, key + 1, &mark) == -FI_ENOKEY);
    CHECK(fi_write(ep, here, 9, NULL, peer, addr + LEN - 8, key, &mark) == -FI_EFAULT);
    CHECK(fi_write(ep, here, 1, NULL, peer + 1, addr, key, &mark) == -FI_EINVAL);
    CHECK(fi_inject(ep, here, LEN, peer) == -FI_EMSGSIZE);
    for (uint64_t i = 0; i < 5; i++)
        POST(fi_inject(ep, &i, sizeof i, peer));
    struct iovec piece = {here, 600};
    struct fi_msg message = {&piece, NULL, 1, peer, &mark, 99};
    POST(fi_sendmsg(ep, &message, FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA));
    entry = next(tx);
    CHECK(entry.op_context == &mark && entry.flags == (FI_MSG | FI_SEND));
    OK(fi_cntr_wait(sent, 6, 10000));
    char waiting[8];
    OK(fi_recv(ep, waiting, 8, NULL, FI_ADDR_UNSPEC, &mark));
    OK(fi_cancel(&ep->fid, &mark));
    CHECK(fi_cq_read(rx, &entry, 1) == -FI_EAVAIL);
    struct fi_cq_err_entry error = {0};
    CHECK(fi_cq_readerr(rx, &error, 0) == 1 && error.err == FI_ECANCELED);
    CHECK(error.op_context == &mark && fi_cq_read(rx, &entry, 1) == -FI_EAGAIN);
}

static void follow(void) {
    struct fi_cq_data_entry entry = next(rx);
    CHECK(entry.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA) && entry.data == 77);
    OK(memcmp(memory + 8, "inject", 6) || memcmp(memory + 16, "data", 4));
    CHECK(memory[0] == 1 && memory[LEN - 1] == (char)((LEN - 1) * 7 + 1));
    for (uint64_t i = 0; i < 5; i++) {
        entry = next(rx);
        CHECK(entry.flags == (FI_MSG | FI_RECV) && entry.len == sizeof i);
        CHECK(entry.op_context == many && entry.buf >= (void *)many);
        OK(memcmp(entry.buf, &i, sizeof i));
    }
    entry = next(rx);
    CHECK(entry.flags == (FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA | FI_MULTI_RECV));
    CHECK(entry.len == 600 && entry.data == 99 && (char *)entry.buf == many + 40);
}

// Runs with a mode of regions that is asked for, and the one that the provider needs for it.
static void run(int asked, int needed) {
    int pair[2];
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t child = fork();
    int leads = child != 0, other = pair[leads];
    close(pair[!leads]);
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_RMA | FI_MULTI_RECV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = asked;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->domain_attr->mr_mode == needed);
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_ep *ep;
    struct fid_mr *mr;
    OK(fi_fabric(info->fabric_attr, &fabric, NULL));
    OK(fi_domain(fabric, info, &domain, NULL));
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_UNSPEC};
    OK(fi_cq_open(domain, &cq, &tx, NULL) || fi_cq_open(domain, &cq, &rx, NULL));
    OK(fi_cntr_open(domain, NULL, &sent, NULL) || fi_cntr_open(domain, NULL, &written, NULL));
    OK(fi_cntr_open(domain, NULL, &got, NULL));
    OK(fi_av_open(domain, &(struct fi_av_attr){.type = FI_AV_TABLE}, &av, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    OK(fi_ep_bind(ep, &rx->fid, FI_RECV) || fi_ep_bind(ep, &sent->fid, FI_SEND));
    OK(fi_ep_bind(ep, &written->fid, FI_WRITE) || fi_ep_bind(ep, &got->fid, FI_READ));
    size_t least = sizeof many - 600;
    OK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
    OK(fi_enable(ep));
    OK(fi_mr_reg(domain, memory, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0, &mr, NULL));
    CHECK(needed == FI_MR_BASIC || fi_mr_key(mr) == 5);
    struct iovec piece = {many, sizeof many};
    struct fi_msg message = {&piece, NULL, 1, FI_ADDR_UNSPEC, many, 0};
    if (!leads)
        OK(fi_recvmsg(ep, &message, FI_MULTI_RECV));
    char own[64] = {0}, theirs[64];
    size_t len = sizeof own;
    OK(fi_getname(&ep->fid, own, &len));
    swap(other, own, theirs, sizeof own);
    fi_addr_t peer;
    CHECK(fi_av_insert(av, theirs, 1, &peer, 0, NULL) == 1);
    uint64_t place[2] = {needed == FI_MR_BASIC ? (uint64_t)memory : 0, fi_mr_key(mr)}, there[2];
    swap(other, place, there, sizeof place);
    if (leads)
        lead(ep, peer, there[0], there[1]);
    else
        follow();
    swap(other, own, theirs, 1);
    CHECK(fi_close(&domain->fid) == -FI_EBUSY && fi_close(&rx->fid) == -FI_EBUSY);
    OK(fi_close(&mr->fid) || fi_close(&ep->fid) || fi_close(&av->fid) || fi_close(&tx->fid));
    OK(fi_close(&rx->fid) || fi_close(&sent->fid) || fi_close(&written->fid));
    OK(fi_close(&got->fid) || fi_close(&domain->fid) || fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
    close(other);
    int status = 0;
    CHECK(!leads || (waitpid(child, &status, 0) == child && status == 0));
    if (!leads)
        exit(0);
}

static void is_refused(int version, int mode) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->domain_attr->mr_mode = mode;
    hints->fabric_attr->prov_name = strdup("farreach");
    CHECK(fi_getinfo(version, NULL, NULL, 0, hints, &info) == -FI_ENODATA);
    fi_freeinfo(hints);
}

int main(void) {
    run(FI_MR_BASIC, FI_MR_BASIC);
    run(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT | FI_MR_LOCAL, 0);
    is_refused(FI_VERSION(1, 17), FI_MR_BASIC | FI_MR_LOCAL);
    is_refused(FI_VERSION(1, 4), FI_MR_VIRT_ADDR);
    return 0;
}
