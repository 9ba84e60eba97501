// The checking library: objects and numbers of collectives, of strided transfers, and contexts that are none any more.
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_fcollect: source 0x" expect-stderr="is not symmetric: static data is at" args=local-source
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_alltoall: dest 0x" expect-stderr="lies in memory of the heap that was freed" args=freed-dest
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_long_fcollect: 128 bytes at dest 0x" expect-stderr="run over the end of their block of the heap, which has 64 bytes" args=short-dest
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_broadcast: 16 bytes at dest 0x" expect-stderr="share memory of PE 1, and must not overlap" args=same-broadcast
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_sum_reduce: 16 bytes at dest 0x" expect-stderr="share memory of PE 1, and must be the same or apart" args=overlap-reduce
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_sum_exscan: 16 bytes at dest 0x" expect-stderr="must be the same or apart" args=overlap-scan
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_long_max_to_all: 16 bytes at dest 0x" expect-stderr="must be the same or apart" args=overlap-active
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_broadcast: PE_root 2 is out of range (0 to 1)" args=root
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_barrier: the last PE of the active set (PE_start 1, logPE_stride 0, PE_size 2) is 2, out of range (0 to 1)" args=too-many
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_sync: PE 1 calls this and is not in the active set (PE_start 0, logPE_stride 0, PE_size 1)" args=not-in
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_barrier: PE_size 0 is less than 1" args=nobody
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_barrier: pSync 0x" expect-stderr="is not symmetric" args=local-sync
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_sum_to_all: nreduce -1 is negative" args=negative
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_iput: dst 0 is less than 1" args=stride
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_ibget: sst 2 is less than 3" args=block-stride
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_int_iput: 68 bytes at dest 0x" expect-stderr="for PE 0 run over the end of their block of the heap" args=strided-end
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_ctx_int_put: ctx 0x" expect-stderr=" is not a context" args=destroyed
// run: np=2 env=SHMEM_CHECK=1 expect-exit=1 expect-stderr="PE 1: shmem_ctx_int_put: 8 bytes at dest 0x" expect-stderr="for PE 0 and 8 bytes at source 0x" expect-stderr="share memory of PE 1" args=team-context
#include "check.h"

#include <stdbool.h>

static int object[16];
static long longs[16], work[16], sync_array[SHMEM_SYNC_SIZE];

static bool is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

static void of_teams(const char *what, int *gone, long *short_block)
{
    int local[16] = {0};

    if (is(what, "local-source"))
        shmem_int_fcollect(SHMEM_TEAM_WORLD, object, local, 4);
    else if (is(what, "freed-dest"))
        shmem_int_alltoall(SHMEM_TEAM_WORLD, gone, object, 4);
    else if (is(what, "short-dest"))
        shmem_long_fcollect(SHMEM_TEAM_WORLD, short_block, longs, 8);
    else if (is(what, "same-broadcast"))
        shmem_int_broadcast(SHMEM_TEAM_WORLD, object, object, 4, 0);
    else if (is(what, "overlap-reduce"))
        shmem_int_sum_reduce(SHMEM_TEAM_WORLD, object, object + 1, 4);
    else if (is(what, "overlap-scan"))
        shmem_int_sum_exscan(SHMEM_TEAM_WORLD, object, object + 3, 4);
    else if (is(what, "root"))
        shmem_int_broadcast(SHMEM_TEAM_WORLD, object, object + 8, 4, 2);
}

static void of_active_sets(const char *what)
{
    long local[SHMEM_SYNC_SIZE] = {0};

    if (is(what, "overlap-active"))
        shmem_long_max_to_all(longs, longs + 1, 2, 0, 0, 2, work, sync_array);
    else if (is(what, "too-many"))
        shmem_barrier(1, 0, 2, sync_array);
    else if (is(what, "not-in"))
        shmem_sync(0, 0, 1, sync_array);
    else if (is(what, "nobody"))
        shmem_barrier(1, 0, 0, sync_array);
    else if (is(what, "local-sync"))
        shmem_barrier(0, 0, 2, local);
    else if (is(what, "negative"))
        shmem_int_sum_to_all(object, object + 8, -1, 0, 0, 2, (int *)(void *)work, sync_array);
}

static void of_transfers(const char *what, long *short_block, shmem_ctx_t destroyed, shmem_ctx_t of_team)
{
    int local[16] = {0}, *block = (int *)(void *)short_block;

    if (is(what, "stride"))
        shmem_int_iput(object, local, 0, 1, 4, 0);
    else if (is(what, "block-stride"))
        shmem_int_ibget(local, object, 3, 2, 3, 2, 0);
    else if (is(what, "strided-end"))
        shmem_int_iput(block, local, 8, 1, 3, 0);
    else if (is(what, "destroyed"))
        shmem_ctx_int_put(destroyed, object, local, 2, 0);
    else if (is(what, "team-context"))
        // PE 0 of the team is the caller.
        shmem_ctx_int_put(of_team, object, object + 1, 2, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    shmem_ctx_t destroyed, of_team = SHMEM_CTX_INVALID;
    shmem_team_t team;
    long *short_block;
    int *gone;

    shmem_init();
    short_block = shmem_malloc(64);
    gone = shmem_malloc(64);
    CHECK(short_block != NULL && gone != NULL, "no memory");
    shmem_free(gone);
    CHECK_INT(shmem_ctx_create(0, &destroyed), 0, "ctx_create");
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 1, NULL, 0, &team), 0, "split");
    if (shmem_my_pe() == 1) {
        CHECK_INT(shmem_team_create_ctx(team, 0, &of_team), 0, "team_create_ctx");
        shmem_ctx_destroy(destroyed);
        of_teams(what, gone, short_block);
        of_active_sets(what);
        of_transfers(what, short_block, destroyed, of_team);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
