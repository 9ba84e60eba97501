// One process by libfabric: tagged messages of an endpoint to itself find their receives; they are
// looked at, claimed and dropped, cut and cancelled; messages and accesses have several pieces.
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEN = 100000, SENT = FI_TAGGED | FI_SEND, GOT = FI_TAGGED | FI_RECV };
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_cq *tx, *rx;
static fi_addr_t self;
static char from[LEN], to[LEN];
static struct fi_context one, other;

// Takes the next entry, within 10 s.
static struct fi_cq_tagged_entry next(struct fid_cq *cq) {
    struct fi_cq_tagged_entry entry;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == 1);
    return entry;
}

static struct fi_cq_err_entry failed(struct fid_cq *cq) {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == -FI_EAVAIL);
    CHECK(fi_cq_readerr(cq, &error, 0) == 1);
    return error;
}

static void is_sent(void *context) {
    struct fi_cq_tagged_entry entry = next(tx);
    CHECK(entry.op_context == context && entry.flags == SENT);
}

static void is_got(void *context, uint64_t flags, uint64_t tag, size_t len, uint64_t data) {
    struct fi_cq_tagged_entry entry = next(rx);
    CHECK(entry.op_context == context && entry.flags == (GOT | flags) && entry.tag == tag);
    CHECK(entry.len == len && entry.data == data);
}

static void matches(void) {
    OK(fi_trecv(ep, to, 8, NULL, FI_ADDR_UNSPEC, 5, 0, &one));
    OK(fi_trecv(ep, to + 8, 8, NULL, self, 0xf0, 0xf, &other));
    OK(fi_tsend(ep, "masked", 7, NULL, self, 0xf7, from));
    is_got(&other, 0, 0xf7, 7, 0);
    is_sent(from);
    OK(fi_tinjectdata(ep, "exact", 6, 77, self, 5));
    is_got(&one, FI_REMOTE_CQ_DATA, 5, 6, 77);
    CHECK(!strcmp(to, "exact") && !strcmp(to + 8, "masked"));
    OK(fi_tinject(ep, "early", 6, self, UINT64_MAX));
    OK(fi_tsenddata(ep, from, LEN, NULL, 78, self, 6, from));
    OK(fi_trecv(ep, to, LEN, NULL, FI_ADDR_UNSPEC, 6, 0, &one));
    is_got(&one, FI_REMOTE_CQ_DATA, 6, LEN, 78);
    is_sent(from);
    OK(memcmp(from, to, LEN));
    OK(fi_trecv(ep, to, LEN, NULL, self, 0, UINT64_MAX, &one));
    is_got(&one, 0, UINT64_MAX, 6, 0);
    // Levels, and a message that is not tagged.
    uint64_t levels[] = {FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE,
                         FI_MATCH_COMPLETE, FI_INJECT};
    struct iovec piece = {from, 9};
    for (int i = 0; i < 5; i++) {
        struct fi_msg_tagged message = {&piece, NULL, 1, self, i, 0, &other, 0};
        OK(fi_tsendmsg(ep, &message, levels[i]));
        struct fi_msg plain = {&(struct iovec){to + 9, 9}, NULL, 1, FI_ADDR_UNSPEC, NULL, 0};
        // A receive may have a level, which says nothing.
        uint64_t level = i % 2 ? FI_TRANSMIT_COMPLETE : 0;
        OK(fi_recvmsg(ep, &plain, level));
        message.context = &one;
        OK(fi_trecvmsg(ep, &message, level));
        is_got(&one, 0, i, 9, 0);
        is_sent(&other);
        OK(fi_inject(ep, from, 9, self));
        CHECK(next(rx).flags == (FI_MSG | FI_RECV));
    }
}

// Asks for a message of this tag.
static void ask(uint64_t tag, void *context, uint64_t flags) {
    struct fi_msg_tagged message = {.addr = self, .tag = tag, .context = context};
    OK(fi_trecvmsg(ep, &message, flags));
}

static void is_none(uint64_t tag) {
    ask(tag, &other, FI_PEEK);
    struct fi_cq_err_entry error = failed(rx);
    CHECK(error.err == FI_ENOMSG && error.op_context == &other && error.tag == tag);
}

static void looks(void) {
    is_none(1);
    for (uint64_t tag = 1; tag <= 4; tag++)
        OK(fi_tinjectdata(ep, from, 10 + tag, tag, self, tag));
    // A device takes a while; messages arrive in their order.
    struct fi_cq_tagged_entry entry;
    do {
        ask(4, &one, FI_PEEK);
    } while (fi_cq_sread(rx, &entry, 1, NULL, 10000) != 1 && failed(rx).err == FI_ENOMSG);
    for (int i = 0; i < 2; i++) {
        ask(1, &one, FI_PEEK);
        is_got(&one, FI_REMOTE_CQ_DATA, 1, 11, 1);
    }
    ask(2, &one, FI_PEEK | FI_CLAIM);
    is_got(&one, FI_REMOTE_CQ_DATA, 2, 12, 2);
    is_none(2);
    ask(3, &other, FI_PEEK | FI_CLAIM);
    is_got(&other, FI_REMOTE_CQ_DATA, 3, 13, 3);
    ask(4, NULL, FI_PEEK | FI_DISCARD);
    is_got(NULL, FI_REMOTE_CQ_DATA, 4, 14, 4);
    is_none(4);
    struct iovec pieces[] = {{to, 5}, {to + 50, 50}};
    struct fi_msg_tagged message = {.msg_iov = pieces, .iov_count = 2, .addr = self, .tag = 2};
    message.context = &one;
    OK(fi_trecvmsg(ep, &message, FI_CLAIM));
    is_got(&one, FI_REMOTE_CQ_DATA, 2, 12, 2);
    CHECK(!memcmp(to, from, 5) && !memcmp(to + 50, from + 5, 7));
    ask(3, &other, FI_CLAIM | FI_DISCARD);
    is_got(&other, FI_REMOTE_CQ_DATA, 3, 13, 3);
    // Nothing is claimed any more; wrong flags; no context.
    CHECK(fi_trecvmsg(ep, &message, FI_CLAIM) == -FI_EINVAL);
    CHECK(fi_trecvmsg(ep, &message, FI_CLAIM | FI_DISCARD) == -FI_EINVAL);
    CHECK(fi_trecvmsg(ep, &message, FI_DISCARD) == -FI_EBADFLAGS);
    CHECK(fi_trecvmsg(ep, &message, FI_PEEK | FI_CLAIM | FI_DISCARD) == -FI_EBADFLAGS);
    CHECK(fi_trecvmsg(ep, &message, FI_INJECT) == -FI_EBADFLAGS);
    CHECK(fi_tsendmsg(ep, &message, FI_PEEK) == -FI_EBADFLAGS);
    message.context = NULL;
    CHECK(fi_trecvmsg(ep, &message, FI_PEEK | FI_CLAIM) == -FI_EINVAL);
    ask(1, &one, FI_PEEK | FI_DISCARD);
    is_got(&one, FI_REMOTE_CQ_DATA, 1, 11, 1);
}

// A message is delivered without a receive, and matched by one alone.
static void early(void) {
    struct iovec piece = {from, 9};
    struct fi_msg_tagged message = {&piece, NULL, 1, self, 20, 0, &other, 0};
    OK(fi_tsendmsg(ep, &message, FI_DELIVERY_COMPLETE));
    is_sent(&other);
    OK(fi_trecv(ep, to, 9, NULL, self, 20, 0, &one));
    is_got(&one, 0, 20, 9, 0);
    struct fi_msg plain = {&piece, NULL, 1, self, &other, 0};
    OK(fi_sendmsg(ep, &plain, FI_DELIVERY_COMPLETE));
    CHECK(next(tx).op_context == &other);
    OK(fi_recv(ep, to, 9, NULL, self, &one));
    CHECK(next(rx).op_context == &one);
    struct fi_cq_tagged_entry entry;
    OK(fi_tsendmsg(ep, &message, FI_MATCH_COMPLETE));
    CHECK(fi_cq_sread(tx, &entry, 1, NULL, 200) == -FI_EAGAIN);
    OK(fi_trecv(ep, to, 9, NULL, self, 20, 0, &one));
    is_got(&one, 0, 20, 9, 0);
    is_sent(&other);
}

static void ends(void) {
    for (size_t len = 20; len <= LEN; len *= 5000) {
        memset(to, 0, LEN);
        OK(fi_trecv(ep, to, 8, NULL, FI_ADDR_UNSPEC, 9, 0, &one));
        OK(fi_tsend(ep, from, len, NULL, self, 9, NULL));
        struct fi_cq_err_entry error = failed(rx);
        CHECK(error.err == FI_ETRUNC && error.op_context == &one && error.tag == 9);
        CHECK(error.len == 8 && error.olen == len - 8 && error.flags == GOT);
        OK(memcmp(to, from, 8));
        CHECK(!to[8]);
        CHECK(len > 20 || next(tx).flags == SENT);
    }
    CHECK(failed(tx).err == FI_ETRUNC);
    OK(fi_trecv(ep, to, 8, NULL, self, 12, 0, &one));
    OK(fi_cancel(&ep->fid, &one));
    struct fi_cq_err_entry error = failed(rx);
    CHECK(error.err == FI_ECANCELED && error.tag == 12 && error.flags == GOT);
    CHECK(fi_cancel(&ep->fid, &one) == -FI_ENOENT);
    CHECK(fi_tsend(ep, from, 1, NULL, self + 1, 1, NULL) == -FI_EINVAL);
    CHECK(fi_trecv(ep, to, 1, NULL, self - 2, 1, 0, NULL) == -FI_EINVAL);
    CHECK(fi_tinject(ep, from, LEN, self, 1) == -FI_EMSGSIZE);
}

static void pieces(void) {
    struct iovec out[5] = {{from, 1}, {from + 1, 20000}, {from + 20001, 0}, {from + 20001, 9}};
    struct iovec in[5] = {{to, 7}, {to + 10, 3}, {to + 20, 30000}};
    memset(to, 0, LEN);
    OK(fi_trecvv(ep, in, NULL, 4, self, 1, 0, &one));
    OK(fi_tsendv(ep, out, NULL, 4, self, 1, &other));
    is_got(&one, 0, 1, 20010, 0);
    is_sent(&other);
    CHECK(!memcmp(to, from, 7) && !memcmp(to + 10, from + 7, 3) && !to[7]);
    OK(memcmp(to + 20, from + 10, 20000));
    OK(fi_recvv(ep, in, NULL, 2, FI_ADDR_UNSPEC, &one));
    out[1].iov_len = 8, out[3].iov_len = 1;
    OK(fi_sendv(ep, out, NULL, 4, self, &other));
    struct fi_cq_tagged_entry entry = next(rx);
    CHECK(entry.op_context == &one && entry.len == 10 && entry.flags == (FI_MSG | FI_RECV));
    CHECK(next(tx).op_context == &other && to[10] == from[7] && to[12] == from[20001]);
    // Wrong lists.
    CHECK(fi_tsendv(ep, out, NULL, 5, self, 1, NULL) == -FI_EINVAL);
    CHECK(fi_trecvv(ep, NULL, NULL, 1, self, 1, 0, NULL) == -FI_EINVAL);
    CHECK(fi_recvv(ep, in, NULL, 5, self, NULL) == -FI_EINVAL);
    struct fi_msg many = {.msg_iov = in, .iov_count = 2, .addr = self};
    CHECK(fi_recvmsg(ep, &many, FI_MULTI_RECV) == -FI_EINVAL);
}

static void accesses(void) {
    static char memory[2][100];
    struct fid_mr *mr[2];
    for (uint64_t key = 0; key < 2; key++)
        OK(fi_mr_reg(domain, memory[key], 100, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, key, 0,
                     &mr[key], NULL));
    struct iovec out[5] = {{from, 3}, {from + 3, 10}, {from + 13, 7}, {NULL, 0}};
    OK(fi_writev(ep, out, NULL, 3, self, 5, 0, &one));
    CHECK(next(tx).op_context == &one && !memcmp(memory[0] + 5, from, 20));
    struct fi_rma_iov there[5] = {{0, 8, 0}, {50, 1, 0}, {90, 10, 1}, {1, 1, 1}};
    struct fi_msg_rma access = {out, NULL, 4, self, there, 4, &one, 99};
    uint64_t kinds[] = {0, FI_INJECT, FI_REMOTE_CQ_DATA, FI_INJECT | FI_REMOTE_CQ_DATA};
    for (int i = 0; i < 4; i++) {
        memset(memory, 0, sizeof memory);
        OK(fi_writemsg(ep, &access, kinds[i]));
        struct fi_cq_tagged_entry entry = next(tx);
        CHECK(entry.op_context == &one && entry.flags == (FI_RMA | FI_WRITE));
        CHECK(!memcmp(memory[0], from, 8) && memory[0][50] == from[8] && !memory[0][8]);
        CHECK(!memcmp(memory[1] + 90, from + 9, 10) && memory[1][1] == from[19]);
        if (kinds[i] & FI_REMOTE_CQ_DATA)
            CHECK((entry = next(rx)).data == 99 && entry.flags & FI_REMOTE_WRITE);
    }
    struct iovec in[2] = {{to, 15}, {to + 20, 5}};
    access.msg_iov = in, access.iov_count = 2;
    OK(fi_readmsg(ep, &access, 0));
    CHECK(next(tx).op_context == &one && !memcmp(to, from, 15) && !memcmp(to + 20, from + 15, 5));
    // Wrong lists, keys and ranges.
    CHECK(fi_writev(ep, out, NULL, 5, self, 0, 0, NULL) == -FI_EINVAL);
    access.rma_iov_count = 5;
    CHECK(fi_readmsg(ep, &access, 0) == -FI_EINVAL);
    access.rma_iov_count = 3;
    CHECK(fi_readmsg(ep, &access, 0) == -FI_EINVAL);
    access.rma_iov_count = 4, there[1].key = 2;
    CHECK(fi_readmsg(ep, &access, 0) == -FI_ENOKEY);
    there[1].key = 0, there[1].addr = 100;
    CHECK(fi_writemsg(ep, &access, 0) == -FI_EFAULT);
    OK(fi_close(&mr[0]->fid) || fi_close(&mr[1]->fid));
}

int main(void) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV;
    hints->tx_attr->iov_limit = hints->rx_attr->iov_limit = hints->tx_attr->rma_iov_limit = 4;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    CHECK(info->ep_attr->mem_tag_format == 0xaaaaaaaaaaaaaaaa && info->caps & FI_TAGGED);
    struct fid_fabric *fabric;
    struct fid_av *av;
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    OK(fi_av_open(domain, NULL, &av, NULL) || fi_endpoint(domain, info, &ep, NULL));
    OK(fi_cq_open(domain, &attr, &tx, NULL) || fi_cq_open(domain, &attr, &rx, NULL));
    OK(fi_ep_bind(ep, &av->fid, 0) || fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
    OK(fi_ep_bind(ep, &rx->fid, FI_RECV));
    CHECK(fi_trecv(ep, to, 1, NULL, FI_ADDR_UNSPEC, 1, 0, NULL) == -FI_EOPBADSTATE);
    OK(fi_enable(ep));
    char name[60];
    size_t len = sizeof name;
    OK(fi_getname(&ep->fid, name, &len));
    CHECK(fi_av_insert(av, name, 1, &self, 0, NULL) == 1);
    for (int i = 0; i < LEN; i++)
        from[i] = (char)(i * 7 + i / 256 + 1);
    matches();
    looks();
    early();
    ends();
    pieces();
    accesses();
    // One that nothing comes to.
    OK(fi_trecv(ep, to, 1, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
    OK(fi_close(&ep->fid) || fi_close(&av->fid) || fi_close(&tx->fid) || fi_close(&rx->fid));
    OK(fi_close(&domain->fid) || fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
    return 0;
}
