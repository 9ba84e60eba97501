// 1 GiB of .bss costs no memory until it is touched, and then only the pages touched; all of it can
// be reached from the other PEs.
// run: np=2
// run: np=2 link=no-pie,static
#include "check.h"

static char huge[(size_t)1 << 30];

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

// Returns the memory of the whole machine that shared mappings use; other programs may change it a
// little.
static long shared_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *info = fopen("/proc/meminfo", "r");

    CHECK(info != NULL, "no /proc/meminfo");
    while (fgets(line, sizeof line, info) != NULL)
        if (strncmp(line, "Shmem:", 6) == 0)
            kib = atol(line + 6);
    fclose(info);
    return kib;
}

int main(void)
{
    long shared_before = shared_kib();

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    shmem_barrier_all();
    long resident = kib_of("VmRSS:"), shared = shared_kib() - shared_before;
    CHECK(resident < 100 * 1024, "%ld KiB resident after shmem_init with 1 GiB of .bss", resident);
    CHECK(shared < 600 * 1024, "shmem_init made %ld KiB of shared memory", shared);

    // A byte every 32 MiB, written by the neighbour, read by its owner and back.
    for (size_t i = 12345; i < sizeof huge; i += (size_t)32 << 20)
        shmem_char_p(&huge[i], (char)(i >> 25), right);
    shmem_char_p(&huge[sizeof huge - 1], 'z', right);
    shmem_barrier_all();
    for (size_t i = 12345; i < sizeof huge; i += (size_t)32 << 20)
        CHECK_INT(huge[i], (char)(i >> 25), "byte put far inside .bss");
    CHECK_INT(huge[sizeof huge - 1], 'z', "last byte of .bss");
    CHECK_INT(shmem_char_g(&huge[12345 + ((size_t)32 << 20)], right), 1, "byte got from .bss");
    // 33 pages; with huge pages 2 MiB each.
    CHECK(kib_of("VmRSS:") < resident + 160 * 1024, "33 touched pages made %ld KiB resident",
          kib_of("VmRSS:") - resident);
    shmem_finalize();
    return 0;
}
