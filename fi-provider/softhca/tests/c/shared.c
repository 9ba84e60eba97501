/*
 * Regions in shared memory, some of which the device maps as well: shared CASE.
 */
#include "files.h"

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE };

/* Two connected queue pairs, and a region of the second one's side that requests go to. */
struct link {
    struct side a, b;
    struct ibv_mr *mr;
    char *memory;
};

static struct link link_to(char *memory, int rights)
{
    struct link l = { .memory = memory };
    pair(&l.a, &l.b);
    CHECK(l.mr = ibv_reg_mr(l.b.pd, memory, SIZE, rights));
    return l;
}

static void close_link(struct link *l)
{
    CHECK(!ibv_dereg_mr(l->mr));
    close_side(&l->a);
    close_side(&l->b);
}

/* Makes a request of length bytes at byte at of the region; returns its status. */
static enum ibv_wc_status request(struct link *l, enum ibv_wr_opcode opcode, size_t at,
                                  uint32_t length)
{
    post(&l->a, opcode, l->a.memory, length, (uintptr_t)l->memory + at, l->mr->rkey, 1, 0);
    return completion(l->a.cq).status;
}

/* Checks that a write, a read and an atomic are seen on both sides, at byte at of the region. */
static void all_reach(struct link *l, size_t at, char *seen)
{
    memset(l->a.memory, 0x41, 24);
    CHECK(request(l, IBV_WR_RDMA_WRITE, at, 24) == IBV_WC_SUCCESS);
    CHECK(!memcmp(seen + at, l->a.memory, 24));
    seen[at + 3] = 0x7f;
    CHECK(request(l, IBV_WR_RDMA_READ, at, 24) == IBV_WC_SUCCESS);
    CHECK(l->a.memory[3] == 0x7f && !memcmp(seen + at, l->a.memory, 24));
    uint64_t before;
    memcpy(&before, seen + at + 8, 8);
    CHECK(request(l, IBV_WR_ATOMIC_FETCH_AND_ADD, at + 8, 8) == IBV_WC_SUCCESS);
    CHECK(*(uint64_t *)l->a.memory == before);
    before++;
    CHECK(!memcmp(seen + at + 8, &before, 8));
}

/* Checks that the pages are those of the registration, whatever the addresses hold later. */
static void kept(void)
{
    int file = new_file(1);
    char *seen = map(file, 0, SIZE, NULL, RW);
    struct link l = link_to(map(file, 0, SIZE, NULL, RW), ALL);
    CHECK(!close(file));
    all_reach(&l, PAGE, seen);
    CHECK(mmap(l.memory, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == l.memory);
    all_reach(&l, PAGE + 64, seen);
    CHECK(!l.memory[PAGE] && !l.memory[PAGE + 64]);
    /* Others of a new registration, under the number of the old one. */
    CHECK(!ibv_dereg_mr(l.mr));
    CHECK(l.mr = ibv_reg_mr(l.b.pd, l.memory, SIZE, ALL));
    all_reach(&l, PAGE + 128, l.memory);
    CHECK(!seen[PAGE + 128]);
    close_link(&l);
}

/* Checks regions of several mappings: requests within each, and across their ends. */
static void parts(void)
{
    int files[] = { new_file(1), new_file(0) };
    char *memory = new_memory();
    map(files[0], 2 * PAGE, 2 * PAGE, memory, RW);
    map(files[1], 0, PAGE, memory + 3 * PAGE, RW);
    map(files[0], 0, PAGE, memory + 4 * PAGE, RW);
    char *sealed = map(files[0], 0, SIZE, NULL, RW), *other = map(files[1], 0, SIZE, NULL, RW);
    struct link l = link_to(memory, ALL);
    for (size_t at = 0; at < 6 * PAGE; at += PAGE / 4)
        all_reach(&l, at, memory);
    for (size_t end = PAGE; end < 6 * PAGE; end += PAGE) {
        memset(l.a.memory, 0x20 + end / PAGE, 300);
        CHECK(request(&l, IBV_WR_RDMA_WRITE, end - 151, 300) == IBV_WC_SUCCESS);
        CHECK(!memcmp(memory + end - 151, l.a.memory, 300));
        memset(l.a.memory, 0, 300);
        CHECK(request(&l, IBV_WR_RDMA_READ, end - 151, 300) == IBV_WC_SUCCESS);
        CHECK(!memcmp(memory + end - 151, l.a.memory, 300));
    }
    CHECK(!memcmp(sealed + 2 * PAGE, memory, 2 * PAGE));
    CHECK(!memcmp(sealed, memory + 4 * PAGE, PAGE));
    CHECK(!memcmp(other, memory + 3 * PAGE, PAGE));
    close_link(&l);
}

/* Checks that memory which the process may not write is not written, and may be read. */
static void constant(void)
{
    int file = new_file(1);
    char *seen = map(file, 0, SIZE, NULL, RW);
    struct link l = link_to(map(file, 0, SIZE, NULL, PROT_READ), ALL);
    memset(seen, 0x11, 16);
    CHECK(request(&l, IBV_WR_RDMA_READ, 0, 16) == IBV_WC_SUCCESS && !memcmp(l.a.memory, seen, 16));
    memset(l.a.memory, 0x22, 16);
    CHECK(request(&l, IBV_WR_RDMA_WRITE, 0, 16) == IBV_WC_REM_OP_ERR && seen[0] == 0x11);
    close_link(&l);
}

/*
 * Checks memory of a file whose descriptors are all closed, which the device maps where it has the
 * right to.
 */
static void closed(void)
{
    int file = new_file(1);
    char *memory = map(file, 0, SIZE, NULL, RW);
    CHECK(!close(file));
    struct link l = link_to(memory, ALL);
    all_reach(&l, PAGE, memory);
    close_link(&l);
}

/* Checks that the device lives where a file loses its pages. */
static void shortened(void)
{
    int file = new_file(0);
    struct link l = link_to(map(file, 0, SIZE, NULL, RW), ALL);
    all_reach(&l, 0, l.memory);
    CHECK(!ftruncate(file, 0));
    CHECK(request(&l, IBV_WR_RDMA_WRITE, 0, 16) == IBV_WC_REM_OP_ERR);
    close_link(&l);
    l = link_to(mapped_memory(), ALL);
    all_reach(&l, 0, l.memory);
    close_link(&l);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        { "kept", kept }, { "parts", parts }, { "constant", constant }, { "closed", closed },
        { "shortened", shortened },
    };
    for (size_t n = 0; argc == 2 && n < sizeof cases / sizeof *cases; n++)
        if (!strcmp(argv[1], cases[n].name)) {
            cases[n].run();
            return 0;
        }
    fprintf(stderr, "usage: shared CASE\n");
    return 2;
}
