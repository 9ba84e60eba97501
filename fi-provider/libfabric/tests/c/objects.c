// One process by libfabric: objects in use are not closed, wrong arguments have their codes, the
// numbers of addresses are in order, and an endpoint reaches itself.
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

enum { NAME = 60 };
static struct fid_fabric *fabric;
static struct fid_domain *domain;

// Asks for the provider, with hints that are changed after that.
static struct fi_info *hints_for(uint64_t caps) {
    struct fi_info *hints = fi_allocinfo();
    hints->caps = caps;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("farreach");
    return hints;
}

static struct fi_info *get(const char *node, const char *service, uint64_t flags,
                           struct fi_info *hints, int code) {
    struct fi_info *info = NULL;
    CHECK(fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints, &info) == code);
    return info;
}

static void informs(void) {
    struct fi_info *hints = hints_for(FI_MSG);
    // A service names nothing, and the own address is not chosen.
    struct fi_info *info = get(NULL, "9228", FI_SOURCE, hints, 0);
    CHECK(info->src_addrlen == NAME && info->domain_attr->control_progress == FI_PROGRESS_AUTO);
    get("farreach:00", NULL, FI_SOURCE, hints, -FI_ENODATA);
    // The answer of one call is the hint of the next.
    hints->src_addr = malloc(NAME);
    hints->src_addrlen = NAME;
    memcpy(hints->src_addr, info->src_addr, NAME);
    fi_freeinfo(info);
    fi_freeinfo(get(NULL, NULL, 0, hints, 0));
    memset(hints->src_addr, 1, NAME);
    get(NULL, NULL, 0, hints, -FI_ENODATA);
    fi_freeinfo(get(NULL, NULL, FI_SOURCE, hints, 0));
    hints->src_addrlen = NAME - 1;
    get(NULL, NULL, 0, hints, -FI_ENODATA);
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    info = get(NULL, NULL, FI_SOURCE, hints, 0);
    CHECK(info->domain_attr->control_progress == FI_PROGRESS_MANUAL);
    fi_freeinfo(info);
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    info = get(NULL, NULL, FI_SOURCE, hints, 0);
    // The domain's thread is one more.
    CHECK(info->domain_attr->data_progress == FI_PROGRESS_AUTO);
    CHECK(info->domain_attr->threading == FI_THREAD_SAFE);
    fi_freeinfo(info);
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    info = get(NULL, NULL, FI_SOURCE, hints, 0);
    CHECK(info->domain_attr->data_progress == FI_PROGRESS_MANUAL);
    CHECK(info->domain_attr->threading == FI_THREAD_DOMAIN);
    fi_freeinfo(info);
    fi_freeinfo(hints);
    // Contexts of peers are named by the senders.
    hints = hints_for(FI_MSG | FI_NAMED_RX_CTX);
    info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->tx_attr->caps & ~info->rx_attr->caps & FI_NAMED_RX_CTX);
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

// Checks that each side of an endpoint has the capabilities that are asked for there, with the
// directions that they stand for, and those of the endpoint where none is.
static void sides(void) {
    struct fi_info *hints = hints_for(FI_MSG | FI_TAGGED | FI_RMA | FI_SOURCE);
    struct fi_info *info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->tx_attr->caps == (FI_MSG | FI_TAGGED | FI_RMA | FI_SEND | FI_READ | FI_WRITE));
    fi_freeinfo(info);
    hints->rx_attr->op_flags = FI_TRANSMIT_COMPLETE;
    info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->rx_attr->op_flags == FI_TRANSMIT_COMPLETE);
    fi_freeinfo(info);
    hints->tx_attr->caps = FI_MSG | FI_SEND;
    hints->rx_attr->caps = FI_TAGGED | FI_SOURCE;
    info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->tx_attr->caps == (FI_MSG | FI_SEND));
    CHECK(info->rx_attr->caps == (FI_TAGGED | FI_SOURCE | FI_RECV));
    CHECK(info->caps & FI_RMA);
    fi_freeinfo(info);
    hints->tx_attr->caps = FI_RMA;
    info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->tx_attr->caps == (FI_RMA | FI_READ | FI_WRITE));
    fi_freeinfo(info);
    hints->tx_attr->caps = FI_ATOMIC;
    get(NULL, NULL, 0, hints, -FI_ENODATA);
    fi_freeinfo(hints);
}

// Checks the limits of a domain that are no objects': of its regions, and of the data of an error.
static void limits(void) {
    struct fi_info *hints = hints_for(FI_MSG | FI_RMA);
    hints->domain_attr->mr_cnt = 1000;
    struct fi_info *info = get(NULL, NULL, 0, hints, 0);
    CHECK(info->domain_attr->mr_cnt >= 1000 && info->domain_attr->max_err_data == 0);
    hints->domain_attr->mr_cnt = info->domain_attr->mr_cnt;
    fi_freeinfo(get(NULL, NULL, 0, hints, 0));
    hints->domain_attr->mr_cnt++;
    get(NULL, NULL, 0, hints, -FI_ENODATA);
    hints->domain_attr->mr_cnt = 0;
    hints->domain_attr->max_err_data = 16;
    get(NULL, NULL, 0, hints, -FI_ENODATA);
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

static struct fid_cq *queue(enum fi_cq_format format) {
    struct fid_cq *cq;
    OK(fi_cq_open(domain, &(struct fi_cq_attr){.format = format}, &cq, NULL));
    return cq;
}

// Checks that queues take what may be ignored, and nothing else: a processor for interrupts, and a
// condition of waits.
static void hinted(void) {
    struct fi_cq_attr attrs[] = {
        {.flags = FI_AFFINITY, .signaling_vector = 1},
        {.wait_obj = FI_WAIT_NONE, .wait_cond = FI_CQ_COND_THRESHOLD},
        {.wait_obj = FI_WAIT_FD, .wait_cond = FI_CQ_COND_THRESHOLD},
        {.flags = FI_AFFINITY | FI_SEND},
        {.wait_obj = FI_WAIT_FD, .wait_cond = FI_CQ_COND_THRESHOLD + 1},
    };
    int codes[] = {0, 0, 0, -FI_EBADFLAGS, -FI_ENOSYS};
    for (int i = 0; i < 5; i++) {
        struct fid_cq *cq;
        CHECK(fi_cq_open(domain, &attrs[i], &cq, NULL) == codes[i]);
        if (codes[i] == 0)
            OK(fi_close(&cq->fid));
    }
}

// Opens an endpoint of these capabilities, and binds these objects.
static struct fid_ep *endpoint(uint64_t caps, struct fid_av *av, struct fid_cq *tx,
                               struct fid_cq *rx) {
    struct fi_info *hints = hints_for(caps), *info = get(NULL, NULL, 0, hints, 0);
    struct fid_ep *ep;
    CHECK(fi_endpoint(domain, NULL, &ep, NULL) == -FI_EINVAL);
    OK(fi_endpoint(domain, info, &ep, NULL));
    if (av)
        OK(fi_ep_bind(ep, &av->fid, 0));
    if (tx)
        OK(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    if (rx)
        OK(fi_ep_bind(ep, &rx->fid, FI_RECV));
    fi_freeinfo(hints);
    fi_freeinfo(info);
    return ep;
}

static void binds(struct fid_av *av, struct fid_cq *cq) {
    struct fid_ep *ep = endpoint(FI_MSG, NULL, cq, cq);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT) == -FI_EINVAL);
    CHECK(fi_ep_bind(ep, &cq->fid, 1) == -FI_EBADFLAGS);
    CHECK(fi_enable(ep) == -FI_ENOAV);
    CHECK(fi_recv(ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL) == -FI_EOPBADSTATE);
    OK(fi_ep_bind(ep, &av->fid, 0));
    OK(fi_enable(ep));
    CHECK(fi_enable(ep) == -FI_EOPBADSTATE && fi_ep_bind(ep, &av->fid, 0) == -FI_EOPBADSTATE);
    OK(fi_close(&ep->fid));
    // A queue is needed for the sides that there are.
    uint64_t receives = FI_MSG | FI_RECV, sends = FI_MSG | FI_SEND | FI_RMA | FI_WRITE;
    struct {
        uint64_t caps;
        int tx, rx, code;
    } tries[] = {{FI_MSG, 1, 0, -FI_ENOCQ}, {FI_MSG, 0, 1, -FI_ENOCQ},   {sends, 1, 0, 0},
                 {sends, 0, 1, -FI_ENOCQ},  {receives, 1, 0, -FI_ENOCQ}, {receives, 0, 1, 0}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        ep = endpoint(tries[i].caps, av, tries[i].tx ? cq : NULL, tries[i].rx ? cq : NULL);
        CHECK(fi_enable(ep) == tries[i].code);
        OK(fi_close(&ep->fid));
    }
}

static void numbers(void) {
    struct fi_av_attr attr = {.type = FI_AV_UNSPEC};
    struct fid_av *av;
    OK(fi_av_open(domain, &attr, &av, NULL));
    CHECK(attr.type == FI_AV_TABLE);
    char names[5][NAME] = {{0}}, name[NAME];
    for (int i = 0; i < 5; i++) {
        names[i][0] = 2; // The version.
        names[i][16] = (char)i;
    }
    CHECK(fi_av_insert(av, names, 4, NULL, 0, NULL) == 4);
    CHECK(fi_av_remove(av, (fi_addr_t[]){1, 0}, 2, 0) == 0 && fi_av_remove(av, NULL, 0, 0) == 0);
    size_t len = NAME;
    CHECK(fi_av_lookup(av, 1, name, &len) == -FI_EINVAL);
    fi_addr_t number;
    CHECK(fi_av_insert(av, names[1], 1, &number, FI_MORE, NULL) == 1 && number == 0);
    CHECK(fi_av_insert(av, names[4], 1, &number, 0, NULL) == 1 && number == 1);
    for (int i = 0; i < 4; i++) {
        OK(fi_av_lookup(av, i, name, &len));
        CHECK(len == NAME && !memcmp(name, names[i == 0 ? 1 : i == 1 ? 4 : i], NAME));
    }
    len = 0;
    OK(fi_av_lookup(av, 0, NULL, &len));
    CHECK(len == NAME);
    // Nonsense has no number.
    int codes[2] = {7, 7};
    memset(names[0], 9, NAME);
    fi_addr_t two[2];
    CHECK(fi_av_insert(av, names, 2, two, FI_SYNC_ERR, codes) == 1);
    CHECK(codes[0] == FI_EINVAL && codes[1] == 0 && two[0] == FI_ADDR_NOTAVAIL && two[1] == 0);
    CHECK(fi_av_insert(av, NULL, 0, NULL, 0, NULL) == 0);
    CHECK(fi_av_insert(av, NULL, 1, two, 0, NULL) == -FI_EINVAL);
    CHECK(fi_av_insert(av, names, 1, two, FI_SYNC_ERR, NULL) == -FI_EINVAL);
    CHECK(fi_av_insert(av, names, 1, two, FI_INJECT, NULL) == -FI_EBADFLAGS);
    OK(fi_close(&av->fid));
    CHECK(fi_av_open(domain, &(struct fi_av_attr){.flags = FI_INJECT}, &av, NULL) == -FI_EBADFLAGS);
}

static void flags(struct fid_ep *ep) {
    uint64_t flags = FI_TRANSMIT | FI_DELIVERY_COMPLETE;
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &flags));
    flags = FI_TRANSMIT;
    CHECK(fi_control(&ep->fid, FI_GETOPSFLAG, &flags) == 0 && flags == FI_DELIVERY_COMPLETE);
    flags = FI_RECV;
    CHECK(fi_control(&ep->fid, FI_GETOPSFLAG, &flags) == 0 && flags == 0);
    flags = FI_TRANSMIT | FI_RECV;
    CHECK(fi_control(&ep->fid, FI_GETOPSFLAG, &flags) == -FI_EINVAL);
    flags = FI_RECV | FI_INJECT;
    CHECK(fi_control(&ep->fid, FI_SETOPSFLAG, &flags) == -FI_EBADFLAGS);
    CHECK(fi_control(&ep->fid, FI_GETOPSFLAG, NULL) == -FI_EINVAL);
    size_t least = 0, len = 1;
    CHECK(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, &len) ==
          -FI_ETOOSMALL);
    CHECK(len == sizeof least && fi_setopt(&ep->fid, FI_OPT_ENDPOINT, 99, &least, len) ==
          -FI_ENOPROTOOPT);
}

// Takes the next entry, within 10 s.
static struct fi_cq_data_entry next(struct fid_cq *cq) {
    struct fi_cq_data_entry entry;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == 1);
    return entry;
}

static void reaches_itself(struct fid_ep *ep, struct fid_av *av, struct fid_cq *cq) {
    char name[NAME], from[] = "to itself", to[2 * sizeof from] = "";
    size_t len = 0;
    CHECK(fi_getname(&ep->fid, NULL, &len) == -FI_ETOOSMALL && len == NAME);
    OK(fi_getname(&ep->fid, name, &len));
    fi_addr_t self;
    CHECK(fi_av_insert(av, name, 1, &self, 0, NULL) == 1 && self == 0);
    CHECK(fi_send(ep, from, sizeof from, NULL, 1, NULL) == -FI_EINVAL);
    CHECK(fi_send(ep, from, sizeof from, NULL, FI_ADDR_UNSPEC, NULL) == -FI_EINVAL);
    OK(fi_recv(ep, to, sizeof to, NULL, FI_ADDR_UNSPEC, to));
    OK(fi_send(ep, from, sizeof from, NULL, self, from));
    struct fi_cq_data_entry both[2] = {next(cq), next(cq)};
    int first = both[0].op_context == to;
    CHECK(both[!first].op_context == to && both[!first].len == sizeof from);
    CHECK(both[first].op_context == from && !strcmp(to, from));
    // FI_INJECT for all operations: the bytes may be changed at once, and there is an entry.
    uint64_t flags = FI_TRANSMIT | FI_INJECT, usual = FI_TRANSMIT | FI_DELIVERY_COMPLETE;
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &flags));
    OK(fi_send(ep, from, sizeof from, NULL, self, from));
    from[0]++;
    OK(fi_recv(ep, to, sizeof to, NULL, FI_ADDR_UNSPEC, to));
    both[0] = next(cq), both[1] = next(cq);
    from[0]--;
    CHECK(both[0].op_context != both[1].op_context && !strcmp(to, from));
    static char many[(8 << 10) + 1];
    CHECK(fi_send(ep, many, sizeof many, NULL, self, NULL) == -FI_EMSGSIZE);
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &usual));
    // No room for entries is asked for.
    OK(fi_recv(ep, to, sizeof to, NULL, FI_ADDR_UNSPEC, to));
    OK(fi_inject(ep, from, 2, self));
    ssize_t got;
    while ((got = fi_cq_read(cq, NULL, 0)) == -FI_EAGAIN)
        ;
    CHECK(got == 0 && next(cq).len == 2 && fi_cq_read(cq, NULL, 0) == -FI_EAGAIN);
    // A message of no bytes.
    OK(fi_recv(ep, NULL, 0, NULL, FI_ADDR_UNSPEC, to));
    OK(fi_send(ep, NULL, 0, NULL, self, from));
    both[0] = next(cq), both[1] = next(cq);
    CHECK(both[0].len == 0 && both[1].len == 0);
    // Pieces and flags that there are not.
    struct iovec pieces[5] = {{from, 1}, {from, 1}};
    struct fi_msg message = {.msg_iov = pieces, .iov_count = 5, .addr = self};
    CHECK(fi_sendmsg(ep, &message, 0) == -FI_EINVAL && fi_recvmsg(ep, &message, 0) == -FI_EINVAL);
    message.iov_count = 1;
    CHECK(fi_sendmsg(ep, &message, FI_MULTI_RECV) == -FI_EBADFLAGS);
    CHECK(fi_recvmsg(ep, &message, FI_INJECT) == -FI_EBADFLAGS);
    struct fi_msg_rma access = {.msg_iov = pieces, .iov_count = 1, .addr = self};
    CHECK(fi_writemsg(ep, &access, 0) == -FI_EINVAL && fi_readmsg(ep, &access, 0) == -FI_EINVAL);
    CHECK(fi_readmsg(ep, &access, FI_INJECT) == -FI_EBADFLAGS);
    CHECK(fi_read(ep, to, 1, NULL, self, 0, 7, NULL) == -FI_ENOKEY);
    CHECK(fi_cancel(&ep->fid, to) == -FI_ENOENT);
}

int main(void) {
    informs();
    sides();
    limits();
    struct fi_info *hints = hints_for(FI_MSG | FI_RMA), *info = get(NULL, NULL, 0, hints, 0);
    struct fi_cq_attr attr = {.wait_obj = FI_WAIT_MUTEX_COND};
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_eq *eq;
    struct fid_mr *mr;
    struct fid_cntr *counter;
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_eq_open(fabric, NULL, &eq, NULL));
    CHECK(fi_close(&fabric->fid) == -FI_EBUSY);
    OK(fi_domain(fabric, info, &domain, NULL) || fi_av_open(domain, NULL, &av, NULL));
    CHECK(fi_cq_open(domain, &attr, &cq, NULL) == -FI_ENOSYS);
    hinted();
    cq = queue(FI_CQ_FORMAT_DATA);
    OK(fi_cntr_open(domain, NULL, &counter, NULL));
    numbers();
    binds(av, cq);
    struct fid_ep *ep = endpoint(FI_MSG | FI_RMA, av, cq, cq);
    OK(fi_ep_bind(ep, &eq->fid, 0) || fi_ep_bind(ep, &counter->fid, FI_READ));
    flags(ep);
    OK(fi_enable(ep));
    reaches_itself(ep, av, cq);
    char memory[64];
    struct iovec none[2] = {{memory, 8}, {memory + 8, 8}};
    CHECK(fi_mr_regv(domain, none, 2, FI_REMOTE_READ, 0, 1, 0, &mr, NULL) == -FI_EINVAL);
    OK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ, 0, 1, 0, &mr, NULL));
    struct fid_mr *other;
    CHECK(fi_mr_reg(domain, memory, 8, FI_REMOTE_READ, 0, 1, 0, &other, NULL) == -FI_ENOKEY);
    struct fid *used[] = {&av->fid, &cq->fid, &eq->fid, &counter->fid, &domain->fid, &fabric->fid};
    enum { MANY = sizeof used / sizeof *used };
    for (int i = 0; i < MANY; i++)
        CHECK(fi_close(used[i]) == -FI_EBUSY);
    OK(fi_close(&ep->fid));
    CHECK(fi_close(&domain->fid) == -FI_EBUSY);
    OK(fi_close(&mr->fid));
    for (int i = 0; i < MANY; i++)
        OK(fi_close(used[i]));
    fi_freeinfo(info);
    fi_freeinfo(hints);
    return 0;
}
