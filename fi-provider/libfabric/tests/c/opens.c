// One process by libfabric: objects of all kinds are opened, used and closed, again and again, as
// often as the argument says. Nothing is left of them: descriptors, mapped memory, memory of the heap.
#include "check.h"
#include <dirent.h>
#include <malloc.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <string.h>

// Rounds that are not compared; ranges that malloc may map after them, and bytes that it and the
// libraries may keep: for 10000 rounds less than 7 bytes each.
enum { FIRST = 10, SLACK = 4, CACHED = 64 << 10 };

static int descriptors(void) {
    DIR *all = opendir("/proc/self/fd");
    CHECK(all);
    int many = 0;
    while (readdir(all))
        many++;
    closedir(all);
    return many;
}

static int mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    int many = 0;
    for (int c; (c = fgetc(maps)) != EOF;)
        many += c == '\n';
    fclose(maps);
    return many;
}

static void wait_for(struct fid_cntr *counter, uint64_t many) {
    OK(fi_cntr_wait(counter, many, 10000));
}

static void round_of(struct fi_info *info) {
    static char memory[4096], got[64];
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_cntr *counter, *received;
    struct fid_ep *ep;
    struct fid_mr *mr;
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_eq_open(fabric, NULL, &eq, NULL));
    OK(fi_domain(fabric, info, &domain, NULL) || fi_av_open(domain, NULL, &av, NULL));
    OK(fi_cq_open(domain, &(struct fi_cq_attr){.format = FI_CQ_FORMAT_TAGGED}, &cq, NULL));
    OK(fi_cntr_open(domain, NULL, &counter, NULL) || fi_cntr_open(domain, NULL, &received, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL) || fi_ep_bind(ep, &av->fid, 0));
    OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) || fi_ep_bind(ep, &eq->fid, 0));
    OK(fi_ep_bind(ep, &counter->fid, FI_SEND | FI_READ | FI_WRITE));
    OK(fi_ep_bind(ep, &received->fid, FI_RECV) || fi_enable(ep));
    OK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &mr,
                 NULL));
    char name[64];
    size_t len = sizeof name;
    fi_addr_t self;
    OK(fi_getname(&ep->fid, name, &len));
    CHECK(fi_av_insert(av, name, 1, &self, 0, NULL) == 1);
    // One of each, two receives that wait in vain, and a message that nobody takes.
    OK(fi_recv(ep, got, sizeof got, NULL, self, NULL));
    OK(fi_recv(ep, got, sizeof got, NULL, FI_ADDR_UNSPEC, NULL));
    OK(fi_trecv(ep, got, sizeof got, NULL, self, 1, 0, NULL));
    OK(fi_trecv(ep, got, sizeof got, NULL, self, 2, 0, NULL));
    OK(fi_inject(ep, "message", 8, self) || fi_tinject(ep, "tagged", 7, self, 1));
    OK(fi_tinject(ep, "early", 6, self, 3));
    OK(fi_inject_write(ep, "write", 6, self, 8, 7));
    uint64_t one = 1, before = 1;
    OK(fi_fetch_atomic(ep, &one, 1, NULL, &before, NULL, self, 16, 7, FI_UINT64, FI_SUM, NULL));
    wait_for(counter, 5);
    wait_for(received, 2);
    OK(strcmp(memory + 8, "write"));
    CHECK(memory[16] == 1 && before == 0);
    memset(memory, 0, sizeof memory);
    OK(fi_close(&ep->fid) || fi_close(&mr->fid) || fi_close(&counter->fid));
    OK(fi_close(&received->fid) || fi_close(&cq->fid) || fi_close(&av->fid));
    OK(fi_close(&domain->fid) || fi_close(&eq->fid) || fi_close(&fabric->fid));
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("farreach");
    if (getenv("AUTOMATIC"))
        hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    for (int i = 0; i < FIRST; i++)
        round_of(info);
    int open = descriptors(), mapped = mappings();
    size_t heap = mallinfo2().uordblks;
    for (int i = FIRST; i < rounds; i++)
        round_of(info);
    CHECK(descriptors() == open && mappings() <= mapped + SLACK);
    CHECK(mallinfo2().uordblks <= heap + CACHED);
    fi_freeinfo(info);
    fi_freeinfo(hints);
    return 0;
}
