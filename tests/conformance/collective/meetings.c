// Number of times that all PEs meet in each collective routine over the world team, and in the
// allocation routines: a superfluous meeting is right, but slow. SHMEM_DEBUG tells at the end of a
// session how often the PEs have met since the start of the job; each routine has a session of its
// own here. With "together" all PEs share one processor, with "apart" each of the two has one of
// its own.
// run: np=2 nodes=1 args=apart
// run: np=3 nodes=1 args=together
// run: np=4 nodes=several args=far
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <unistd.h>

enum { APART, TOGETHER, FAR, PLACEMENTS };
static const char *const placements[] = { "apart", "together", "far" };

enum { MAX_PES = 4, FEW = 2, MANY = 4096 };

static long dest[MAX_PES * MANY], source[MAX_PES * MANY];

static void nothing(void)
{
}

static void barrier_all(void)
{
    shmem_barrier_all();
}

static void sync_all(void)
{
    shmem_sync_all();
}

static void team_sync(void)
{
    CHECK_INT(shmem_team_sync(SHMEM_TEAM_WORLD), 0, "shmem_team_sync");
}

// A function for each collective routine over `NELEMS` elements of each PE.
#define COLLECTIVE(NAME, NELEMS, ...)                                                              \
    static void NAME##_##NELEMS(void)                                                              \
    {                                                                                              \
        CHECK_INT(shmem_long_##NAME(SHMEM_TEAM_WORLD, dest, source, __VA_ARGS__), 0, #NAME);       \
    }
#define COLLECTIVES(NELEMS)                                                                        \
    COLLECTIVE(broadcast, NELEMS, NELEMS, 0)                                                       \
    COLLECTIVE(fcollect, NELEMS, NELEMS)                                                           \
    COLLECTIVE(collect, NELEMS, NELEMS)                                                            \
    COLLECTIVE(alltoall, NELEMS, NELEMS)                                                           \
    COLLECTIVE(alltoalls, NELEMS, 1, 1, NELEMS)                                                    \
    COLLECTIVE(sum_reduce, NELEMS, NELEMS)                                                         \
    COLLECTIVE(sum_inscan, NELEMS, NELEMS)                                                         \
    COLLECTIVE(sum_exscan, NELEMS, NELEMS)
COLLECTIVES(FEW)
COLLECTIVES(MANY)

// Broadcasts: apart, PEs meet where all 8 slots are in use; otherwise each time.
static void broadcasts(void)
{
    for (int i = 0; i < 40; i++)
        broadcast_FEW();
}

static void *block;

static void malloc_free(void)
{
    block = shmem_malloc(64);
    shmem_free(block);
}

static void calloc_free(void)
{
    block = shmem_calloc(8, 8);
    shmem_free(block);
}

static void align_free(void)
{
    block = shmem_align(64, 64);
    shmem_free(block);
}

static void malloc_realloc_free(void)
{
    block = shmem_realloc(shmem_malloc(64), 4096);
    shmem_free(block);
}

static void malloc_move_free(void)
{
    block = shmem_malloc(64);
    void *behind = shmem_malloc(64);
    block = shmem_realloc(block, 4096);
    shmem_free(behind);
    shmem_free(block);
}

// Splits a team and destroys it: the new team meets in shmem_team_destroy, and not the world team.
static void split_destroy(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    shmem_team_destroy(team);
}

static void split_2d_destroy(void)
{
    shmem_team_t x, y;

    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

static const struct {
    const char *name;
    void (*run)(void);
    int meetings[PLACEMENTS];
} cases[] = {
    // The end of shmem_init, shmem_finalize, and between nodes an agreement on the thread level.
    // The other cases count without these.
    { "nothing", nothing, { 2, 2, 3 } },
    { "barrier_all", barrier_all, { 1, 1, 1 } },
    { "sync_all", sync_all, { 1, 1, 1 } },
    { "team_sync", team_sync, { 1, 1, 1 } },
    { "broadcast", broadcast_FEW, { 0, 1, 1 } },
    { "broadcast, long", broadcast_MANY, { 2, 2, 2 } },
    { "broadcasts", broadcasts, { 4, 40, 40 } },
    { "fcollect", fcollect_FEW, { 0, 1, 1 } },
    { "fcollect, long", fcollect_MANY, { 2, 2, 2 } },
    { "collect", collect_FEW, { 2, 2, 2 } },
    { "collect, long", collect_MANY, { 2, 2, 2 } },
    { "alltoall", alltoall_FEW, { 0, 1, 1 } },
    { "alltoall, long", alltoall_MANY, { 2, 1, 2 } },
    { "alltoalls", alltoalls_FEW, { 2, 2, 2 } },
    { "alltoalls, long", alltoalls_MANY, { 2, 2, 2 } },
    { "sum_reduce", sum_reduce_FEW, { 0, 1, 1 } },
    { "sum_reduce, long", sum_reduce_MANY, { 2, 2, 3 } },
    { "sum_inscan", sum_inscan_FEW, { 0, 1, 1 } },
    // Between nodes once a chunk of 8 KiB, too.
    { "sum_inscan, long", sum_inscan_MANY, { 2, 2, 5 } },
    { "sum_exscan", sum_exscan_FEW, { 0, 1, 1 } },
    { "sum_exscan, long", sum_exscan_MANY, { 2, 2, 5 } },
    { "malloc, free", malloc_free, { 2, 2, 2 } },
    { "calloc, free", calloc_free, { 2, 2, 2 } },
    { "align, free", align_free, { 2, 2, 2 } },
    { "malloc, realloc in place, free", malloc_realloc_free, { 3, 3, 3 } },
    { "malloc, realloc to elsewhere, free", malloc_move_free, { 6, 6, 6 } },
    // Two agreements on a team's number, small reductions, and a meeting when it is there.
    { "split_strided, destroy", split_destroy, { 1, 3, 3 } },
    { "split_2d, destroy", split_2d_destroy, { 2, 6, 6 } },
};

// Binds this process, before it is known which PE it will be, by the launcher's number of it.
static void bind_to_processors(int placement)
{
    cpu_set_t all, mine;
    const char *rank = getenv("PMI_RANK");
    int skip = placement == APART && rank != NULL ? atoi(rank) : 0;

    if (placement == FAR || sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&mine);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && skip-- == 0)
            CPU_SET(cpu, &mine);
    CHECK(CPU_COUNT(&mine) == 1, "fewer processors than PEs");
    sched_setaffinity(0, sizeof mine, &mine);
}

// Ends the session; returns how often the PEs have met since the start of the job.
static long finalize(FILE *output)
{
    char line[512];
    long meetings = -1;
    int standard_error = dup(2);

    CHECK(ftruncate(fileno(output), 0) == 0, "no file for standard error");
    rewind(output);
    setenv("SHMEM_DEBUG", "1", 1);
    dup2(fileno(output), 2);
    shmem_finalize();
    dup2(standard_error, 2);
    close(standard_error);
    unsetenv("SHMEM_DEBUG");
    rewind(output);
    while (fgets(line, sizeof line, output) != NULL) {
        const char *told = strstr(line, "all PEs have met ");
        if (told != NULL)
            sscanf(told, "all PEs have met %ld times", &meetings);
    }
    CHECK(meetings >= 0, "shmem_finalize does not tell how often the PEs have met");
    return meetings;
}

int main(int argc, char **argv)
{
    int placement = 0, wrong = 0;
    long before = 0, of_session = 0;
    FILE *output = tmpfile();

    CHECK(argc == 2 && output != NULL, "usage: meetings apart|together|far");
    while (strcmp(placements[placement], argv[1]) != 0)
        CHECK(++placement < PLACEMENTS, "no placement %s", argv[1]);
    bind_to_processors(placement);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shmem_init();
        cases[i].run();
        long after = finalize(output), met = after - before - of_session;
        if (i == 0)
            of_session = met;
        int expected = cases[i].meetings[placement];
        if (met != expected) {
            fprintf(stderr, "%s, %s: met %ld times, not %d\n", argv[1], cases[i].name, met, expected);
            wrong = 1;
        }
        before = after;
    }
    fclose(output);
    return wrong;
}
