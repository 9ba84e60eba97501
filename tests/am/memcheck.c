// memcheck knows the engine's memory: segments are accessible, unused memory is not, and the leak
// check finds pointers in a segment. It does not touch all memory that there may ever be.
// run: np=2 mode=am nodes=1 valgrind
#include "check.h"
#include <string.h>
#include <sys/resource.h>
#include <valgrind/memcheck.h>

enum { BLOCKS = 1000, BYTES = 100, SEGMENT = 1 << 20 };

static void __attribute__((noinline)) allocate(void **blocks)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BYTES);
}

// Returns the bytes that no pointer leads to.
static unsigned long leaked(void)
{
    unsigned long leaked = 0, dubious = 0, reachable = 0, suppressed = 0;
    VALGRIND_DO_QUICK_LEAK_CHECK;
    VALGRIND_COUNT_LEAKS(leaked, dubious, reachable, suppressed);
    (void)dubious, (void)reachable, (void)suppressed;
    return leaked;
}

int main(void)
{
    farreach_am_t *am;
    const farreach_am_config_t config = {.version = FARREACH_AM_VERSION};
    OK(farreach_am_open(&config, &am));
    meet_register(am);
    OK(farreach_am_attach(am, NULL, SEGMENT));
    const uint32_t own = farreach_am_rank(am), other = 1 - own;
    const farreach_am_segment_t *segments = farreach_am_segments(am);
    char *mine = (char *)(uintptr_t)segments[own].start;
    CHECK(RUNNING_ON_VALGRIND);
    CHECK(VALGRIND_CHECK_MEM_IS_DEFINED(mine, SEGMENT) == 0);
    char bits;
    CHECK(VALGRIND_GET_VBITS(mine, &bits, 1) == 1);
    CHECK(VALGRIND_GET_VBITS(mine + (1L << 30), &bits, 1) == 3); // "not addressable"

    // Stores to the other's segment are no errors, nor are loads from there.
    char *theirs = (char *)segments[other].mapped;
    CHECK(theirs);
    memset(theirs + SEGMENT / 2, 7 + own, 1000);
    meet(am);
    CHECK(mine[SEGMENT / 2 + 999] == (char)(7 + other) && theirs[SEGMENT / 2] == (char)(7 + own));

    const unsigned long before = leaked();
    allocate((void **)mine);
    CHECK(leaked() < before + BLOCKS * BYTES / 2);
    memset(mine, 0, BLOCKS * sizeof(void *));
    CHECK(leaked() > before + BLOCKS * BYTES / 2);

    struct rusage used;
    CHECK(getrusage(RUSAGE_SELF, &used) == 0);
    CHECK(used.ru_maxrss < 1 << 20); // in KiB
    meet(am);
    farreach_am_close(am);
    return 0;
}
