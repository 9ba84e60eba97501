// Puts, gets and atomic operations to a PE on another node over libfabric, beside our own loops on raw
// endpoints of the same provider in the same run. The target looks at the queue of the one that runs. Prints the
// fastest time of each in nanoseconds, and the ratio. With "descriptor" the raw queue has one to sleep on, as the
// library's has; nobody sleeps on it.
//
//     oshcc -O2 -o beside beside.c -lfabric
//     oshrun -n 2 --ppn 1 --fabric libfabric ./beside [PROVIDER [ROUNDS [descriptor]]]
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 20, NAME = 256 };

static char target[MOST], source[MOST];
static char names[2][NAME];
static uint64_t keys[2], bases[2];
// The queue that the target looks at: the library's, the raw one, or none any more.
enum { OURS, RAW, DONE };
static long phase;

static struct fid_ep *ep;
static struct fid_cq *cq;
static fi_addr_t peer;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int must_result = (int)(call);                                                             \
        if (must_result != 0) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, fi_strerror(-must_result));                         \
            shmem_global_exit(1);                                                                  \
        }                                                                                          \
    } while (0)

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// Opens a raw endpoint, and exchanges names and keys by the library.
static void open_raw(const char *provider, int with_descriptor)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_mr *mr;
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq_attr = {.size = 4096, .format = FI_CQ_FORMAT_CONTEXT,
                                 .wait_obj = with_descriptor ? FI_WAIT_FD : FI_WAIT_NONE};
    size_t len = NAME;
    int me = shmem_my_pe(), other = 1 - me;

    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    MUST(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
    MUST(fi_domain(fabric, info, &domain, NULL));
    MUST(fi_av_open(domain, &av_attr, &av, NULL));
    MUST(fi_cq_open(domain, &cq_attr, &cq, NULL));
    MUST(fi_endpoint(domain, info, &ep, NULL));
    MUST(fi_ep_bind(ep, &av->fid, 0));
    MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    MUST(fi_enable(ep));
    MUST(fi_mr_reg(domain, target, sizeof target, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 77, 0, &mr,
                   NULL));
    MUST(fi_getname(&ep->fid, names[me], &len));
    keys[me] = fi_mr_key(mr);
    bases[me] = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)target : 0;
    shmem_putmem(names[me], names[me], NAME, other);
    shmem_putmem(&keys[me], &keys[me], sizeof keys[me], other);
    shmem_putmem(&bases[me], &bases[me], sizeof bases[me], other);
    shmem_barrier_all();
    if (fi_av_insert(av, names[other], 1, &peer, 0, NULL) != 1)
        shmem_global_exit(1);
}

static void wait_raw(void)
{
    struct fi_cq_entry entry;
    ssize_t got;

    while ((got = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN)
        ;
    if (got != 1)
        shmem_global_exit(1);
}

static void put_raw(size_t bytes)
{
    static struct fi_context context;
    struct iovec own = {source, bytes};
    struct fi_rma_iov theirs = {bases[1], bytes, keys[1]};
    struct fi_msg_rma message = {.msg_iov = &own,
                                 .iov_count = 1,
                                 .addr = peer,
                                 .rma_iov = &theirs,
                                 .rma_iov_count = 1,
                                 .context = &context};
    uint64_t flags = FI_DELIVERY_COMPLETE | FI_COMPLETION | (bytes <= 64 ? FI_INJECT : 0);
    ssize_t posted;
    struct fi_cq_entry entry;

    while ((posted = fi_writemsg(ep, &message, flags)) == -FI_EAGAIN)
        (void)!fi_cq_read(cq, &entry, 0);
    MUST(posted);
    wait_raw();
}

static void get_raw(size_t bytes)
{
    static struct fi_context context;
    ssize_t posted;
    struct fi_cq_entry entry;

    while ((posted = fi_read(ep, source, bytes, NULL, peer, bases[1], keys[1], &context)) ==
           -FI_EAGAIN)
        (void)!fi_cq_read(cq, &entry, 0);
    MUST(posted);
    wait_raw();
}

static void put_ours(size_t bytes)
{
    shmem_putmem_nbi(target, source, bytes, 1);
    shmem_quiet();
}

static void get_ours(size_t bytes)
{
    shmem_getmem(source, target, bytes, 1);
}

static void add_ours(size_t bytes)
{
    static long word;

    (void)bytes;
    shmem_long_atomic_fetch_add(&word, 1, 1);
}

static void p_ours(size_t bytes)
{
    (void)bytes;
    shmem_long_p((long *)target, 1, 1);
    shmem_quiet();
}

static void enter(long next)
{
    shmem_long_p(&phase, next, 1);
    shmem_quiet();
}

static double once(void (*act)(size_t), size_t bytes, int rounds, long next)
{
    enter(next);
    double start = now();

    for (int round = 0; round < rounds; round++)
        act(bytes);
    return (now() - start) / rounds;
}

// Prints the fastest of several runs of each, in turn, in nanoseconds a round.
static void compare(const char *what, void (*ours)(size_t), void (*raw)(size_t), size_t bytes, int rounds)
{
    double least_ours = 1e18, least_raw = 1e18;

    for (int run = 0; run < 15; run++) {
        double took = once(ours, bytes, rounds, OURS);
        least_ours = took < least_ours ? took : least_ours;
        if (raw) {
            took = once(raw, bytes, rounds, RAW);
            least_raw = took < least_raw ? took : least_raw;
        }
    }
    if (raw)
        printf("%-24s %10.0f ns, raw %10.0f ns: %.2f\n", what, least_ours, least_raw, least_ours / least_raw);
    else
        printf("%-24s %10.0f ns\n", what, least_ours);
}

int main(int argc, char **argv)
{
    const char *provider = argc > 1 ? argv[1] : "tcp;ofi_rxm";
    int rounds = argc > 2 ? atoi(argv[2]) : 1000;

    shmem_init();
    if (shmem_n_pes() != 2)
        shmem_global_exit(2);
    open_raw(provider, argc > 3 && strcmp(argv[3], "descriptor") == 0);
    if (shmem_my_pe() == 1) {
        struct fi_cq_entry entry;

        // The library's own thread writes the next phase while the raw queue is looked at.
        while (!shmem_long_test(&phase, SHMEM_CMP_EQ, DONE))
            while (*(volatile long *)&phase == RAW)
                (void)!fi_cq_read(cq, &entry, 1);
    } else {
        compare("put 8 B, quiet", put_ours, put_raw, 8, rounds);
        compare("p of 8 B, quiet", p_ours, put_raw, 8, rounds);
        compare("get 8 B", get_ours, get_raw, 8, rounds);
        compare("fetch-add", add_ours, NULL, 8, rounds);
        compare("put 64 KiB, quiet", put_ours, put_raw, 64 << 10, 200);
        compare("put 1 MiB, quiet", put_ours, put_raw, MOST, 50);
        compare("get 1 MiB", get_ours, get_raw, MOST, 50);
        enter(DONE);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
