// A core file holds of the symmetric memory the PE's own static data and used heap. All other
// mappings of the job's memory are marked "dd" (do not dump) in /proc/self/smaps.
// run: np=1,4
#include <check.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static int global;

/* Returns whether a core file would hold `place`, and how much it would hold of the job's
 * memory. */
static int is_dumped(const void *place, size_t *total)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512], name[256] = "";
    unsigned long start = 0, end = 0, from, to;
    int found = 0;

    *total = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &from, &to, name) >= 2) {
            start = from, end = to;
        } else if (strncmp(line, "VmFlags:", 8) == 0) {
            int dumped = strstr(line, " dd") == NULL;

            if (dumped && start <= (uintptr_t)place && (uintptr_t)place < end)
                found = 1;
            if (dumped && strstr(name, "memfd:farreach") != NULL)
                *total += end - start;
            name[0] = 0;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

int main(void)
{
    size_t total;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    char *small = shmem_malloc(4 * MIB);
    CHECK_INT(is_dumped(&global, &total), 1, "static data in the core");
    CHECK_INT(is_dumped(small, &total), 1, "the heap's first byte in the core");
    CHECK_INT(is_dumped(small + 4 * MIB - 1, &total), 1, "the block's last byte in the core");
    CHECK_INT(is_dumped(small + 100 * MIB, &total), 0, "unused heap in the core");
    CHECK(total < 16 * MIB, "%zu bytes of the job's memory in the core", total);
    for (int pe = 0; pe < npes; pe++) {
        void *heap = shmem_ptr(small, pe), *there = shmem_ptr(&global, pe);
        if (pe == me || heap == NULL)
            continue;
        CHECK_INT(is_dumped(heap, &total), 0, "the heap of a peer in the core");
        CHECK_INT(is_dumped(there, &total), 0, "static data of a peer in the core");
    }

    char *large = shmem_malloc(64 * MIB);
    CHECK_INT(is_dumped(large + 64 * MIB - 1, &total), 1, "a later block in the core");
    large = shmem_realloc(large, 80 * MIB);
    CHECK_INT(is_dumped(large + 80 * MIB - 1, &total), 1, "a grown block in the core");
    CHECK_INT(is_dumped(small + 200 * MIB, &total), 0, "unused heap in the core, later");
    CHECK(total < 170 * MIB, "%zu bytes of the job's memory in the core, later", total);
    shmem_free(large);
    shmem_finalize();

    shmem_init();
    small = shmem_malloc(MIB);
    CHECK_INT(is_dumped(small, &total), 1, "the heap in the core, in a second session");
    shmem_finalize();
    return 0;
}
