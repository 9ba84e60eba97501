// One process by libfabric: versions, capabilities and modes that there are not, full queues, and
// objects that are closed: all have their codes, and nothing is lost.
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>

enum { ROOM = 4, MANY = 20 };
static struct fi_info *hints, *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_ep *ep;
static struct fid_cq *tx, *rx;
static struct fid_cntr *counter;
static fi_addr_t self;

static void is_refused(void) {
    struct fi_info *none = NULL;
    CHECK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &none) == -FI_ENODATA && !none);
}

static void versions(void) {
    struct fi_info *one;
    CHECK(fi_getinfo(FI_VERSION(99, 0), NULL, NULL, 0, hints, &one) == -FI_ENOSYS);
    for (int minor = 0; minor <= 17; minor++) {
        OK(fi_getinfo(FI_VERSION(1, minor), NULL, NULL, 0, hints, &one));
        CHECK(one->domain_attr->mr_mode == (minor < 5 ? FI_MR_SCALABLE : 0) && one->mode == 0);
        CHECK(one->fabric_attr->api_version == FI_VERSION(1, (unsigned)minor));
        fi_freeinfo(one);
    }
}

static void wishes(void) {
    uint64_t caps = hints->caps, unknown[] = {FI_COLLECTIVE, FI_HMEM, FI_VARIABLE_MSG, 1ull << 62};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        hints->caps = caps | unknown[i];
        is_refused();
    }
    hints->caps = caps;
    uint64_t orders[] = {FI_ORDER_RAR, FI_ORDER_WAW, FI_ORDER_SAW, FI_ORDER_ATOMIC_WAW};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        hints->tx_attr->msg_order = FI_ORDER_SAS | orders[i];
        is_refused();
    }
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->inject_size = 1 << 20;
    is_refused();
    hints->tx_attr->inject_size = 0;
    hints->ep_attr->type = FI_EP_MSG;
    is_refused();
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_key_size = 9;
    is_refused();
    hints->domain_attr->mr_key_size = 0;
    // Of modes of the application's none is needed.
    hints->mode = ~0ull;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->mode == 0 && info->domain_attr->mr_mode == 0);
}

static void open_all(void) {
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_CONTEXT, .size = ROOM};
    OK(fi_cq_open(domain, &attr, &tx, NULL) || fi_cq_open(domain, &attr, &rx, NULL));
    OK(fi_cntr_open(domain, NULL, &counter, NULL) || fi_av_open(domain, NULL, &av, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL) || fi_ep_bind(ep, &av->fid, 0));
    OK(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT) || fi_ep_bind(ep, &rx->fid, FI_RECV));
    OK(fi_enable(ep));
    char name[64];
    size_t len = sizeof name;
    OK(fi_getname(&ep->fid, name, &len));
    CHECK(fi_av_insert(av, name, 1, &self, 0, NULL) == 1);
}

// Takes an entry, which is there soon; where it is due, that of this context.
static int takes(struct fid_cq *cq, const void *context) {
    struct fi_cq_entry entry;
    for (int i = 0; i < 1000; i++) {
        ssize_t got = fi_cq_read(cq, &entry, 1);
        if (got == 1) {
            CHECK(!context || entry.op_context == context);
            return 1;
        }
        CHECK(got == -FI_EAGAIN);
    }
    return 0;
}

// Fills both queues: calls are refused until they are read, and no entry is lost.
static void fill(void) {
    static char got[MANY], marks[MANY];
    for (int i = 0; i < MANY; i++)
        OK(fi_recv(ep, &got[i], 1, NULL, FI_ADDR_UNSPEC, &got[i]));
    int sent = 0, received = 0;
    char byte = 7;
    while (sent < MANY) {
        int begun = sent;
        ssize_t code;
        while (sent < MANY && (code = fi_send(ep, &byte, 1, NULL, self, &marks[sent])) == 0)
            sent++;
        // It is refused for want of room, and not before.
        CHECK(sent == MANY || code == -FI_EAGAIN);
        CHECK(sent - begun <= 2 * ROOM && sent > begun);
        for (; begun < sent; begun++)
            CHECK(takes(tx, &marks[begun]));
        CHECK(!takes(tx, NULL));
        // Half of those that have come are left for the next round.
        for (int half = (sent - received + 1) / 2; half; half--)
            CHECK(takes(rx, &got[received++]));
    }
    while (received < MANY)
        CHECK(takes(rx, &got[received++]));
    CHECK(!takes(rx, NULL) && !takes(tx, NULL));
    for (int i = 0; i < MANY; i++)
        CHECK(got[i] == 7);
}

#define REFUSED(call) CHECK((call) == -FI_EOPBADSTATE)

static void use_closed(void) {
    char bytes[8];
    uint64_t flags = FI_TRANSMIT;
    size_t len = sizeof bytes;
    struct iovec piece = {bytes, 8};
    struct fi_msg message = {&piece, NULL, 1, self, NULL, 0};
    OK(fi_close(&ep->fid));
    REFUSED(fi_send(ep, bytes, 8, NULL, self, NULL));
    REFUSED(fi_sendmsg(ep, &message, 0));
    REFUSED(fi_inject(ep, bytes, 8, self));
    REFUSED(fi_recv(ep, bytes, 8, NULL, self, NULL));
    REFUSED(fi_tsend(ep, bytes, 8, NULL, self, 1, NULL));
    REFUSED(fi_trecv(ep, bytes, 8, NULL, self, 1, 0, NULL));
    REFUSED(fi_write(ep, bytes, 8, NULL, self, 0, 1, NULL));
    REFUSED(fi_inject_writedata(ep, bytes, 8, 0, self, 0, 1));
    REFUSED(fi_read(ep, bytes, 8, NULL, self, 0, 1, NULL));
    REFUSED(fi_inject_atomic(ep, bytes, 1, self, 0, 1, FI_UINT64, FI_SUM));
    REFUSED(fi_fetch_atomic(ep, bytes, 1, NULL, bytes, NULL, self, 0, 1, FI_UINT64, FI_SUM, NULL));
    REFUSED(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &len));
    REFUSED(fi_cancel(&ep->fid, NULL));
    REFUSED(fi_getname(&ep->fid, bytes, &len));
    REFUSED(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &len, sizeof len));
    REFUSED(fi_control(&ep->fid, FI_GETOPSFLAG, &flags));
    REFUSED(fi_enable(ep));
    REFUSED(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    REFUSED(fi_close(&ep->fid));
    struct fi_cq_entry entry;
    struct fi_cq_err_entry error = {0};
    OK(fi_close(&rx->fid));
    REFUSED(fi_cq_read(rx, &entry, 1));
    REFUSED(fi_cq_readfrom(rx, &entry, 1, &self));
    REFUSED(fi_cq_sread(rx, &entry, 1, NULL, 0));
    REFUSED(fi_cq_readerr(rx, &error, 0));
    REFUSED(fi_cq_signal(rx));
    CHECK(strlen(fi_cq_strerror(rx, 1, NULL, NULL, 0)) > 0);
    REFUSED(fi_close(&rx->fid));
    OK(fi_close(&counter->fid));
    REFUSED(fi_cntr_wait(counter, 1, 0));
    REFUSED(fi_cntr_add(counter, 1));
    // Nothing takes them for objects that are open.
    OK(fi_endpoint(domain, info, &ep, NULL));
    CHECK(fi_ep_bind(ep, &rx->fid, FI_RECV) < 0 && fi_ep_bind(ep, &counter->fid, FI_READ) < 0);
    OK(fi_close(&ep->fid) || fi_close(&tx->fid) || fi_close(&av->fid));
    OK(fi_close(&domain->fid) || fi_close(&fabric->fid));
}

int main(void) {
    hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("farreach");
    versions();
    wishes();
    open_all();
    fill();
    use_closed();
    fi_freeinfo(info);
    fi_freeinfo(hints);
    return 0;
}
