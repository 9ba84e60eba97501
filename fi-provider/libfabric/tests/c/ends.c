// Three processes by libfabric: one has received a message and ended, another one closes its endpoint.
// The sender, which has looked at nothing meanwhile, is told that the message was delivered.
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

enum { CLOSES, ENDS, CHILDREN, NAME = 64 };
static struct fid_domain *domain;
static struct fid_fabric *fabric;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fi_info *info;

static void start(void) {
    struct fi_info *hints = fi_allocinfo();
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    fi_freeinfo(hints);
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED};
    OK(fi_av_open(domain, NULL, &av, NULL) || fi_cq_open(domain, &attr, &cq, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL) || fi_ep_bind(ep, &av->fid, 0));
    OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) || fi_enable(ep));
}

static void stop(void) {
    OK(fi_close(&ep->fid) || fi_close(&av->fid) || fi_close(&cq->fid));
    OK(fi_close(&domain->fid) || fi_close(&fabric->fid));
    fi_freeinfo(info);
}

// Exchanges names with the other one; returns its number.
static fi_addr_t meet(int fd) {
    char own[NAME] = {0}, theirs[NAME];
    size_t len = sizeof own;
    fi_addr_t peer;
    OK(fi_getname(&ep->fid, own, &len));
    CHECK(write(fd, own, NAME) == NAME && read(fd, theirs, NAME) == NAME);
    CHECK(fi_av_insert(av, theirs, 1, &peer, 0, NULL) == 1);
    return peer;
}

static void say(int fd) { CHECK(write(fd, "!", 1) == 1); }

static void hear(int fd) {
    char byte;
    CHECK(read(fd, &byte, 1) == 1);
}

// Takes an entry of this context, within 10 s.
static void expect(void *context) {
    struct fi_cq_tagged_entry entry;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 10000) == 1 && entry.op_context == context);
}

static uint64_t word = 5, buffer;

static void child(int which, int fd) {
    start();
    fi_addr_t to = meet(fd);
    // They connect to the sender one after the other.
    hear(fd);
    OK(fi_inject(ep, &word, sizeof word, to));
    if (which == ENDS) {
        OK(fi_recv(ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, &buffer));
        expect(&buffer);
        CHECK(buffer == word);
        _exit(0);
    }
    hear(fd);
    stop();
    say(fd);
    exit(0);
}

int main(void) {
    pid_t pids[CHILDREN];
    int fds[CHILDREN], status;
    fi_addr_t peers[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        int pair[2];
        OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
        pids[i] = fork();
        if (pids[i] == 0)
            child(i, pair[1]);
        fds[i] = pair[0];
        close(pair[1]);
    }
    start();
    for (int i = 0; i < CHILDREN; i++) {
        peers[i] = meet(fds[i]);
        OK(fi_recv(ep, &buffer, sizeof buffer, NULL, FI_ADDR_UNSPEC, &buffer));
        say(fds[i]);
        expect(&buffer);
    }
    struct iovec piece = {&word, sizeof word};
    struct fi_msg message = {
        .msg_iov = &piece, .iov_count = 1, .addr = peers[ENDS], .context = &word};
    OK(fi_sendmsg(ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION));
    CHECK(waitpid(pids[ENDS], &status, 0) == pids[ENDS] && status == 0);
    // The domain hears of the end by itself.
    usleep(200000);
    say(fds[CLOSES]);
    hear(fds[CLOSES]);
    expect(&word);
    CHECK(waitpid(pids[CLOSES], &status, 0) == pids[CLOSES] && status == 0);
    stop();
    return 0;
}
