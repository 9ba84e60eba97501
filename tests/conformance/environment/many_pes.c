// A node of many PEs: each has a few mappings for each other PE, and page tables of the kernel only
// for the mappings that it has touched.
// run: np=64,2 nodes=1 env=SHMEM_SYMMETRIC_SIZE=64K
#include <check.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static long word;

/* Returns the number behind `name` in /proc/self/status. */
static long status_of(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long number = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), "%ld", &number);
    if (file)
        fclose(file);
    return number;
}

static int mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int count = 0, byte;

    while (file && (byte = fgetc(file)) != EOF)
        count += byte == '\n';
    if (file)
        fclose(file);
    return count;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int count = mappings();
    long table = status_of("VmPTE:");
    CHECK(count > 0 && table > 0, "%d mappings, page tables of %ld kB", count, table);
    // The mappings of any program, and of each peer static data, heap and the hole behind each.
    CHECK(count <= 200 + 4 * npes, "%d mappings for %d PEs", count, npes);
    // A page of the kernel's tables for each peer would be 4 kB each, beside some 100 kB of any
    // program.
    CHECK(table < 160 + npes, "page tables of %ld kB for %d PEs", table, npes);
    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_add(&word, 1, (me + pe) % npes);
    shmem_barrier_all();
    CHECK_INT(word, npes, "what all have added");
    shmem_finalize();
    return 0;
}
