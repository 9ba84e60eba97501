// Two processes by libfabric: operations in line (farreach_direct.h) on memory of the fabric's arena, beside
// the same by libfabric's functions; and when they call these, with the same results. With
// FI_FARREACH_NEAR=0 writes over a device.
#include "../../../../include/farreach_direct.h"
#include "../../../../include/farreach_fi.h"
#include "check.h"
#include <rdma/fi_cm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEN = 4096, KEY = 3, SHORT = 4, READONLY = 5, FOREIGN = 6, ROUNDS = 1000 };

static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_cntr *written, *received;
static struct farreach_ops_memory *arena;
static struct farreach_direct_ep direct;
static struct farreach_direct_cntr count, messages;
static fi_addr_t peer;
static uint64_t *memory, foreign[8];
static int leads, other, is_far;

static void meet(void) {
    char byte = 0;
    CHECK(write(other, &byte, 1) == 1 && read(other, &byte, 1) == 1);
}

// Returns whether operations on the peer's region are in line now: the slot is filled.
static int is_in_line(uint64_t key) {
    return farreach_direct_slot(&direct, peer, key) != NULL;
}

// Returns the same endpoint, unable to call anything: an operation that is not in line ends the
// process.
static struct farreach_direct_ep alone(void) {
    struct farreach_direct_ep alone = direct;
    alone.ep = NULL;
    return alone;
}

// Does writes of all lengths; those behind the first one are in line, and counted.
static void writes(void) {
    uint64_t word = 0x1122334455667788, before = fi_cntr_read(written);
    struct farreach_direct_ep here;
    CHECK(!is_in_line(KEY));
    OK(farreach_inject_write(&direct, &word, 8, peer, 0, KEY));
    CHECK(is_in_line(KEY));
    here = alone();
    OK(farreach_inject_write(&here, &word, 8, peer, LEN - 8, KEY));
    OK(farreach_inject_write(&here, &word, 4, peer, 17, KEY));
    OK(farreach_inject_write(&here, &word, 2, peer, 23, KEY));
    OK(farreach_inject_write(&here, &word, 1, peer, 27, KEY));
    OK(farreach_write(&here, &word, 8, NULL, peer, 64, KEY, NULL));
    // Lengths and places that libfabric's function is called for.
    OK(farreach_inject_write(&direct, &word, 3, peer, 32, KEY));
    OK(farreach_inject_write(&direct, &word, 1, peer, LEN - 9, KEY));
    CHECK(farreach_cntr_read(&count) == before + 8 && fi_cntr_read(written) == before + 8);
    for (uint64_t i = 0; i < ROUNDS; i++)
        OK(farreach_inject_write(&here, &i, 8, peer, 128, KEY));
    CHECK(farreach_cntr_read(&count) == before + 8 + ROUNDS);
    meet();
    CHECK(memory[0] == word && memory[LEN / 8 - 1] == word && memory[8] == word);
    CHECK(*((unsigned char *)memory + LEN - 9) == 0x88 && memory[16] == ROUNDS - 1);
    CHECK(memcmp((char *)memory + 17, "\x88\x77\x66\x55\0\0\x88\x77\0\0\x88\0\0\0\0\x88\x77\x66\0", 19) == 0);
    meet();
}

static void reads(void) {
    struct farreach_direct_ep here = alone();
    uint64_t word = 0;
    uint32_t half = 0;
    OK(farreach_read(&here, &word, 8, NULL, peer, 128, KEY, NULL));
    OK(farreach_read(&here, &half, 4, NULL, peer, 17, KEY, NULL));
    CHECK(word == ROUNDS - 1 && half == 0x55667788);
}

// Adds to one word from both processes, in line and by the function.
static void adds(void) {
    struct farreach_direct_ep here = alone();
    uint64_t one = 1;
    fi_addr_t own = leads ? 0 : 1, leader = leads ? own : peer;
    CHECK(farreach_inject_add(&direct, 1, peer, 4, KEY) == -FI_EINVAL);
    CHECK(fi_inject_atomic(ep, &one, 1, peer, 4, KEY, FI_UINT64, FI_SUM) == -FI_EINVAL);
    OK(farreach_inject_add(&direct, 0, leader, 256, KEY));
    meet();
    for (int i = 0; i < ROUNDS; i++) {
        OK(farreach_inject_add(&here, 3, leader, 256, KEY));
        OK(fi_inject_atomic(ep, &one, 1, leader, 256, KEY, FI_UINT64, FI_SUM));
    }
    meet();
    CHECK(!leads || memory[32] == 2 * 4 * ROUNDS);
}

// Checks that errors are those of the functions, which are called then.
static void errors(void) {
    uint64_t word = 1;
    uint64_t far[] = {LEN - 7, LEN, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63};
    CHECK(is_in_line(KEY));
    for (unsigned i = 0; i < sizeof far / sizeof *far; i++) {
        CHECK(farreach_inject_write(&direct, &word, 8, peer, far[i], KEY) == -FI_EFAULT);
        CHECK(farreach_read(&direct, &word, 8, NULL, peer, far[i], KEY, NULL) == -FI_EFAULT);
        CHECK(farreach_inject_add(&direct, 1, peer, far[i] & ~7ULL, KEY) == -FI_EFAULT || far[i] == LEN - 7);
    }
    CHECK(farreach_inject_write(&direct, &word, 8, peer, 0, 99) == -FI_ENOKEY);
    CHECK(farreach_inject_write(&direct, &word, 8, peer, 0, KEY + 256) == -FI_ENOKEY);
    CHECK(farreach_inject_write(&direct, &word, 8, peer + 32, 0, KEY - 256) == -FI_EINVAL);
    CHECK(farreach_inject_write(&direct, &word, 8, FI_ADDR_NOTAVAIL, 0, 0) == -FI_EINVAL);
    CHECK(farreach_inject_add(&direct, 1, FI_ADDR_NOTAVAIL, 0, 0) == -FI_EINVAL);
    // A region that may be read alone; one that has no 8 bytes; memory that is not of the arena.
    ssize_t refused = fi_inject_write(ep, &word, 8, peer, 0, READONLY);
    CHECK(refused < 0 && is_in_line(READONLY));
    CHECK(farreach_inject_write(&direct, &word, 8, peer, 0, READONLY) == refused);
    CHECK(farreach_inject_add(&direct, 1, peer, 0, READONLY) == refused);
    struct farreach_direct_ep here = alone();
    OK(farreach_read(&here, &word, 8, NULL, peer, 0, READONLY, NULL));
    for (int i = 0; i < 2; i++) {
        OK(farreach_inject_write(&direct, &word, 4, peer, 0, SHORT));
        CHECK(farreach_inject_write(&direct, &word, 8, peer, 0, SHORT) == -FI_EFAULT);
        OK(farreach_inject_write(&direct, &word, 8, peer, 8, FOREIGN));
        CHECK(!is_in_line(FOREIGN));
    }
    meet();
}

// Checks that the function does operations with completions.
static void completions(void) {
    uint64_t word = 7, flags = FI_SEND | FI_COMPLETION, none = FI_SEND;
    struct fi_cq_tagged_entry entry;
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &flags));
    OK(farreach_write(&direct, &word, 8, NULL, peer, 512, KEY, &word));
    CHECK(fi_cq_read(cq, &entry, 1) == 1 && entry.op_context == &word);
    OK(farreach_read(&direct, &word, 8, NULL, peer, 512, KEY, &flags));
    CHECK(fi_cq_read(cq, &entry, 1) == 1 && entry.op_context == &flags && word == 7);
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &none));
    OK(farreach_write(&direct, &word, 8, NULL, peer, 512, KEY, &word));
    CHECK(fi_cq_read(cq, &entry, 1) == -FI_EAGAIN);
}

// Checks that reading a counter makes progress where there is some to make.
static void progress(void) {
    uint64_t word = 0, before = farreach_cntr_read(&messages);
    OK(fi_recv(ep, &word, sizeof word, NULL, FI_ADDR_UNSPEC, &word));
    meet();
    uint64_t told = 77;
    OK(farreach_inject(&direct, &told, 8, peer));
    while (farreach_cntr_read(&messages) == before)
        ;
    CHECK(word == 77 && fi_cntr_read(received) == before + 1);
}

// Closes a region, opens another one of its key, and removes a peer.
static void changes(struct fid_mr *mr) {
    uint64_t word = 5, *next;
    char name[64];
    size_t len = sizeof name;
    OK(farreach_inject_write(&direct, &word, 8, peer, 0, KEY));
    CHECK(is_in_line(KEY));
    meet();
    OK(fi_close(&mr->fid));
    meet();
    CHECK(farreach_inject_write(&direct, &word, 8, peer, 0, KEY) == -FI_ENOKEY);
    CHECK(farreach_inject_add(&direct, 1, peer, 0, KEY) == -FI_ENOKEY);
    CHECK(farreach_read(&direct, &word, 8, NULL, peer, 0, KEY, NULL) == -FI_ENOKEY);
    meet();
    OK(arena->allocate(domain, LEN, FI_REMOTE_READ | FI_REMOTE_WRITE, KEY, 0, (void **)&next, &mr, NULL));
    meet();
    OK(farreach_inject_write(&direct, &word, 8, peer, 8, KEY));
    struct farreach_direct_ep here = alone();
    OK(farreach_inject_write(&here, &word, 8, peer, 16, KEY));
    meet();
    CHECK(next[1] == 5 && next[2] == 5);
    OK(fi_av_lookup(av, peer, name, &len));
    OK(fi_av_remove(av, &peer, 1, 0));
    CHECK(!is_in_line(KEY));
    CHECK(farreach_inject_write(&direct, &word, 8, peer, 8, KEY) == -FI_EINVAL);
    CHECK(fi_av_insert(av, name, 1, &peer, 0, NULL) == 1);
    OK(farreach_inject_write(&direct, &word, 8, peer, 24, KEY));
    CHECK(is_in_line(KEY));
    // Threads that may sleep are woken by the functions alone.
    struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
    struct fid_cntr *sleeper;
    OK(fi_cntr_open(domain, &attr, &sleeper, NULL));
    CHECK(!is_in_line(KEY));
    OK(farreach_inject_write(&direct, &word, 8, peer, 32, KEY));
    CHECK(!is_in_line(KEY) && farreach_cntr_read(&count) == fi_cntr_read(written));
    meet();
    OK(fi_close(&sleeper->fid) || fi_close(&mr->fid));
}

// Writes over a device: writes of 8 bytes go by a call of their own from the second one on, and
// count.
static void far_writes(struct fid_mr *mr) {
    uint64_t word = 9, before = fi_cntr_read(written);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        ssize_t got;
        uint64_t value = i;
        while ((got = farreach_inject_write(&direct, &value, 8, peer, 8 * (i % 64), KEY)) == -FI_EAGAIN)
            fi_cntr_read(written);
        value = 0; // It was taken over.
        OK(got);
        if (i > 0 && getenv("FI_FARREACH_TRANSPORT") && !strcmp(getenv("FI_FARREACH_TRANSPORT"), "rc"))
            CHECK(is_in_line(KEY) && farreach_direct_slot(&direct, peer, KEY)->far_room == LEN - 7);
    }
    while (farreach_cntr_read(&count) < before + ROUNDS)
        ;
    CHECK(farreach_inject_write(&direct, &word, 8, peer, LEN - 7, KEY) == -FI_EFAULT);
    CHECK(farreach_inject_write(&direct, &word, 8, peer, UINT64_MAX - 7, KEY) == -FI_EFAULT);
    meet();
    for (uint64_t i = ROUNDS - 64; i < ROUNDS; i++)
        CHECK(memory[i % 64] == i);
    meet();
    OK(fi_close(&mr->fid));
}

// Checks the refusals for other versions and threadings, and before an endpoint is enabled.
static void refusals(enum fi_threading threading, int is_enabled) {
    void *table;
    int code = threading == FI_THREAD_DOMAIN ? -FI_EBADFLAGS : -FI_ENOSYS;
    CHECK(fi_open_ops(&ep->fid, "of nobody", 1, &table, NULL) == -FI_ENOSYS);
    for (int version = 0; version < 4; version++) {
        if (version == FARREACH_DIRECT_OPS_VERSION)
            continue;
        CHECK(fi_open_ops(&ep->fid, FARREACH_OPS_DIRECT, version, &table, NULL) == code);
        CHECK(fi_open_ops(&written->fid, FARREACH_OPS_DIRECT, version, &table, NULL) == code);
    }
    if (threading != FI_THREAD_DOMAIN) {
        CHECK(farreach_direct_ep_open(&direct, ep) == -FI_ENOSYS);
        CHECK(farreach_direct_cntr_open(&count, written) == -FI_ENOSYS);
    } else if (!is_enabled) {
        CHECK(farreach_direct_ep_open(&direct, ep) == -FI_EOPBADSTATE);
    }
}

static void run(enum fi_threading threading) {
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    hints->fabric_attr->prov_name = strdup("farreach");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->domain_attr->threading = threading;
    hints->domain_attr->mr_mode = FI_MR_SCALABLE;
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_cntr_attr cntr_attr = {.wait_obj = FI_WAIT_NONE};
    OK(fi_av_open(domain, NULL, &av, NULL) || fi_cq_open(domain, &cq_attr, &cq, NULL));
    OK(fi_cntr_open(domain, &cntr_attr, &written, NULL));
    OK(fi_cntr_open(domain, &cntr_attr, &received, NULL));
    OK(fi_endpoint(domain, info, &ep, NULL) || fi_ep_bind(ep, &av->fid, 0));
    OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION));
    OK(fi_ep_bind(ep, &written->fid, FI_WRITE) || fi_ep_bind(ep, &received->fid, FI_RECV));
    uint64_t none = FI_SEND;
    OK(fi_control(&ep->fid, FI_SETOPSFLAG, &none));
    refusals(threading, 0);
    OK(fi_enable(ep));
    refusals(threading, 1);

    // The leader is 0 for both.
    char names[2][64] = {{0}};
    size_t len = sizeof *names;
    OK(fi_getname(&ep->fid, names[!leads], &len));
    CHECK(write(other, names[!leads], 64) == 64 && read(other, names[leads], 64) == 64);
    fi_addr_t numbers[2];
    for (int i = 0; i < 2; i++)
        CHECK(fi_av_insert(av, names[i], 1, &numbers[i], 0, NULL) == 1 && numbers[i] == (fi_addr_t)i);
    peer = numbers[leads];
    OK(fi_open_ops(&domain->fid, FARREACH_OPS_MEMORY, 0, (void **)&arena, NULL));
    struct fid_mr *mr, *few, *readonly, *copied;
    void *place;
    uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(arena->allocate(domain, LEN, both, KEY, 0, (void **)&memory, &mr, NULL));
    OK(arena->allocate(domain, 4, both, SHORT, 0, &place, &few, NULL));
    OK(arena->allocate(domain, LEN, FI_REMOTE_READ, READONLY, 0, &place, &readonly, NULL));
    OK(fi_mr_reg(domain, foreign, sizeof foreign, both, 0, FOREIGN, 0, &copied, NULL));

    if (threading == FI_THREAD_DOMAIN) {
        OK(farreach_direct_ep_open(&direct, ep) || farreach_direct_cntr_open(&count, written));
        OK(farreach_direct_cntr_open(&messages, received));
        meet();
        if (is_far) {
            far_writes(mr);
            goto end;
        }
        writes();
        reads();
        adds();
        errors();
        completions();
        progress();
        changes(mr);
    } else {
        // All of it by the functions.
        uint64_t word = 9, back = 0;
        meet();
        for (int i = 0; i < 3; i++)
            OK(farreach_inject_write(&direct, &word, 8, peer, 8, KEY));
        OK(farreach_write(&direct, &word, 8, NULL, peer, 16, KEY, NULL));
        OK(farreach_read(&direct, &back, 8, NULL, peer, 16, KEY, NULL));
        OK(farreach_inject_add(&direct, 2, peer, 16, KEY));
        CHECK(!is_in_line(KEY) && farreach_cntr_read(&count) == 5 && back == 9);
        meet();
        CHECK(memory[1] == 9 && memory[2] == 11);
        meet();
        OK(fi_close(&mr->fid));
    }
end:
    meet();
    OK(fi_close(&few->fid) || fi_close(&readonly->fid) || fi_close(&copied->fid));
    OK(fi_close(&ep->fid) || fi_close(&written->fid) || fi_close(&received->fid));
    OK(fi_close(&cq->fid) || fi_close(&av->fid) || fi_close(&domain->fid));
    OK(fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
}

int main(void) {
    int pair[2], status = 0;
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t child = fork();
    leads = child != 0, other = pair[leads];
    close(pair[!leads]);
    is_far = getenv("FI_FARREACH_NEAR") != NULL;
    if (!is_far)
        run(FI_THREAD_SAFE);
    run(FI_THREAD_DOMAIN);
    if (leads)
        CHECK(waitpid(child, &status, 0) == child);
    return status != 0;
}
