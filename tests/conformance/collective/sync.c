// shmem_team_sync and shmem_sync_all: nobody leaves before all have come, and the stores of all
// members are then visible; no other PE is waited for.
// run: np=1,2,3,7 nodes=1 std=c11 args=400
// run: np=4 nodes=several std=c11 args=40
// run: np=3,7 nodes=1 std=c11 args=200 env=FARREACH_COLLECTIVE_NODE_SIZE=2
#include "group.h"

static long came[GROUP_MAX + 1][GROUP_MAX_PES], stored[GROUP_MAX + 1];
static int me, npes;

static int sync_team(shmem_team_t team)
{
    return shmem_team_sync(team);
}

// Calls the generic name, of which the team's form is one.
static int sync_generic(shmem_team_t team)
{
    return shmem_sync(team);
}

static int sync_all(shmem_team_t team)
{
    (void)team;
    shmem_sync_all();
    return 0;
}

// Lets each PE say to every member that it has come, and store to its own memory.
static void try_sync(const struct group *g, int lane, int rounds, int (*sync)(shmem_team_t),
                     const char *name)
{
    for (long round = 1; round <= rounds; round++) {
        for (int m = 0; m < g->size; m++)
            shmem_long_p(&came[lane][me], round, g->members[m]);
        shmem_quiet();
        ((volatile long *)stored)[lane] = round * 8 + me;
        CHECK_INT(sync(g->team), 0, name);
        for (int m = 0; m < g->size; m++) {
            int pe = g->members[m];
            long there = ((volatile long *)came[lane])[pe];
            CHECK(there >= round, "%s over %s, round %ld: PE %d has not come (%ld)", name,
                  g->name, round, pe, there);
            long seen = shmem_long_g(&stored[lane], pe);
            CHECK(seen == round * 8 + pe, "%s over %s, round %ld: the store of PE %d: %ld", name,
                  g->name, round, pe, seen);
        }
        // Before the next store.
        CHECK_INT(sync(g->team), 0, name);
    }
}

// Lets PE 0 come late to the barrier of all; the team without it goes on in the meantime.
static void leave_out_pe_0(const struct group *g)
{
    static long done;

    if (me == 0) {
        shmem_long_wait_until(&done, SHMEM_CMP_EQ, npes - 1);
    } else {
        CHECK_INT(shmem_team_sync(g->team), 0, g->name);
        shmem_long_atomic_inc(&done, 0);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    struct group groups[GROUP_MAX];
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int count = group_teams(groups);
    for (int g = 0; g < count; g++)
        if (groups[g].me >= 0)
            try_sync(&groups[g], g, rounds, g % 2 ? sync_generic : sync_team, "sync of a team");
    try_sync(&groups[0], GROUP_MAX, rounds, sync_all, "shmem_sync_all");
    if (npes > 1)
        leave_out_pe_0(&groups[3]);
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
