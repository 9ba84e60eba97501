/*
 * How much memory the device takes: pinned BYTES COUNT registers up to COUNT regions of BYTES and prints
 *   regions NUMBER ERRNO
 * (errno 0 if all were registered), beside the 16 pages that the side has; then once more after all are gone.
 */
#include "side.h"
#include <errno.h>

enum { MOST = 1024 };

int main(int argc, char **argv)
{
    static struct ibv_mr *regions[MOST];
    CHECK(argc == 3);
    size_t bytes = strtoul(argv[1], NULL, 0);
    int count = atoi(argv[2]);
    CHECK(count <= MOST);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    struct side side = open_side(new_memory());
    for (int round = 0; round < 2; round++) {
        int n = 0;
        errno = 0;
        while (n < count && (regions[n] = ibv_reg_mr(side.pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE)))
            n++;
        printf("regions %d %d\n", n, n < count ? errno : 0);
        while (n > 0)
            CHECK(!ibv_dereg_mr(regions[--n]));
    }
    close_side(&side);
    return 0;
}
