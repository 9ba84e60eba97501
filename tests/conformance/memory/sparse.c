// A heap of 1 GiB is reserved, not committed: half of it can be touched, in pieces and through
// other PEs, and untouched memory costs nothing.
// run: np=2 env=SHMEM_SYMMETRIC_SIZE=1G
#include "check.h"

static long kib_of(const char *field)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");

    CHECK(status != NULL, "no /proc/self/status");
    while (fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            kib = atol(line + strlen(field) + 1);
    fclose(status);
    CHECK(kib >= 0, "no %s in /proc/self/status", field);
    return kib;
}

// Checks that nothing of it is a file in /dev/shm, which may be small or missing.
static void expect_no_files(void)
{
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");

    CHECK(maps != NULL, "no /proc/self/maps");
    while (fgets(line, sizeof line, maps) != NULL)
        CHECK(strstr(line, "/dev/shm/") == NULL,
              "a mapping of a file that could be left behind: %s", line);
    fclose(maps);
}

int main(void)
{
    const size_t size = (size_t)960 << 20, half = (size_t)512 << 20;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    long before = kib_of("VmRSS:");
    expect_no_files();
    CHECK(before < 128 * 1024, "%ld KiB resident after shmem_init with a heap of 1 GiB", before);
    unsigned char *block = (unsigned char *)shmem_malloc(size);
    CHECK(block != NULL, "shmem_malloc(960 MiB) of 1 GiB returned NULL");
    CHECK(kib_of("VmRSS:") < before + 64 * 1024, "shmem_malloc alone made %ld KiB resident",
          kib_of("VmRSS:") - before);
    for (size_t i = 0; i < half; i += 4096)
        block[i] = (unsigned char)(i >> 12);
    shmem_barrier_all();
    for (size_t i = 0; i < half; i += 4096 * 97)
        CHECK(shmem_uchar_g(block + i, right) == (unsigned char)(i >> 12),
              "page %zu on PE %d: expected 0x%02x, got 0x%02x", i >> 12, right,
              (unsigned char)(i >> 12), shmem_uchar_g(block + i, right));
    // The far end, first touched by a neighbour.
    shmem_uchar_p(block + size - 1, (unsigned char)(me + 1), right);
    shmem_barrier_all();
    CHECK_INT(block[size - 1], (me + npes - 1) % npes + 1, "last byte");
    shmem_free(block);
    shmem_finalize();
    return 0;
}
