// Many teams: made and destroyed a thousand times, a hundred alive at the same time, destroyed in
// another order than they were made, and all of them in use; a destroyed team can be had again.
// run: np=1,2,3,7 nodes=1 args=1000
// run: np=4 nodes=several args=40
#include "check.h"

enum { ALIVE = 100 };

static long mine[ALIVE], all[ALIVE];
static int me, npes;

static shmem_team_t make(int i)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;
    int start = i % npes, size = i % 2 ? npes - start : 1 + start, stride = i % 2 ? 1 : -1;

    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0,
              "shmem_team_split_strided");
    return team;
}

static void use(shmem_team_t team, int i, long round)
{
    int start = i % npes, size = i % 2 ? npes - start : 1 + start;
    long want = 0;

    if (team == SHMEM_TEAM_INVALID)
        return;
    mine[i % ALIVE] = round + me;
    for (int pe = 0; pe < size; pe++)
        want += round + (i % 2 ? start + pe : start - pe);
    CHECK_INT(shmem_long_sum_reduce(team, &all[i % ALIVE], &mine[i % ALIVE], 1), 0, "sum_reduce");
    CHECK_INT(all[i % ALIVE], want, "the sum over one of many teams");
}

int main(int argc, char **argv)
{
    static shmem_team_t teams[ALIVE];
    int rounds = argc > 1 ? atoi(argv[1]) : 100, alive = rounds < ALIVE ? rounds / 2 : ALIVE;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int i = 0; i < rounds; i++) {
        shmem_team_t team = make(i);
        use(team, i, i);
        shmem_team_destroy(team);
    }
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < alive; i++)
            teams[i] = make(i);
        for (int i = 0; i < alive; i++)
            for (int other = 0; other < i; other++)
                CHECK(teams[i] == SHMEM_TEAM_INVALID || teams[i] != teams[other],
                      "teams %d and %d have the same handle", i, other);
        shmem_barrier_all();
        for (int i = 0; i < alive; i++)
            use(teams[i * 7 % alive], i * 7 % alive, again + 3L * i);
        // Every second one, then new ones in their places, then all.
        for (int i = 0; i < alive; i += 2)
            shmem_team_destroy(teams[i]);
        for (int i = 0; i < alive; i += 2)
            teams[i] = make(i);
        shmem_barrier_all();
        for (int i = 0; i < alive; i++)
            use(teams[i], i, again + 5L * i);
        for (int i = alive; i-- > 0;)
            shmem_team_destroy(teams[i]);
    }
    // A PE that has teams left at the end may go.
    use(make(1), 1, 9);
    shmem_finalize();
    return 0;
}
