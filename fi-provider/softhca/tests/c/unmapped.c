/*
 * A write from memory that is not the registered memory any more: unmapped HOW puts other memory in
 * the place of some of it (nothing, fixed, munmap, moved, emptied, fork) and prints the status of
 * the completion.
 */
#include "side.h"

int main(int argc, char **argv)
{
    struct side a, b;
    CHECK(argc == 2);
    pair(&a, &b);
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    memset(memory, 1, SIZE);
    struct ibv_mr *mr = ibv_reg_mr(a.pd, memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr);
    char *page = memory + 4096;
    if (!strcmp(argv[1], "fixed"))
        CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page);
    if (!strcmp(argv[1], "munmap")) {
        CHECK(!munmap(page, 4096));
        CHECK(mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == page);
    }
    if (!strcmp(argv[1], "moved")) {
        char *other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page);
    }
    if (!strcmp(argv[1], "emptied"))
        CHECK(!madvise(page, 4096, MADV_DONTNEED));
    if (!strcmp(argv[1], "fork")) {
        pid_t child = fork();
        if (child == 0)
            _exit(munmap(memory, SIZE));
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    struct ibv_mr *whole = a.mr;
    a.mr = mr;
    post(&a, IBV_WR_RDMA_WRITE, memory, 3 * 4096, (uintptr_t)b.memory, b.mr->rkey, 0, 0);
    struct ibv_wc wc = completion(a.cq);
    printf("%s\n", ibv_wc_status_str(wc.status));
    CHECK(!ibv_dereg_mr(mr));
    a.mr = whole;
    close_side(&a);
    close_side(&b);
    return 0;
}
