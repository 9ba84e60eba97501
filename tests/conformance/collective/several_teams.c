// A PE is in the world, in a row and in a column of a grid, and in the team of all PEs reversed:
// the teams' collectives go on at the same time, in some teams more often than in others, with
// their own data, and do not disturb each other.
// run: np=1,2,3,7 nodes=1 args=400
// run: np=4 nodes=several args=20
// run: np=3,7 nodes=1 args=200 env=FARREACH_COLLECTIVE_NODE_SIZE=2
#include "group.h"

enum { MAX_PES = 8, N = 40, RING = 8 };

struct lane {
    struct group group;
    long round;
    long source[N], dest[RING][MAX_PES * N];
};

static struct lane world, row, column, reversed;
static int me, npes;

static long value(const struct lane *l, int owner, int index)
{
    return ((l->round * 16 + owner) * 64 + index) * 4 + l->group.size % 4;
}

static void step(struct lane *l, int n)
{
    const struct group *g = &l->group;
    long *dest = l->dest[l->round % RING];

    for (int i = 0; i < n; i++)
        l->source[i] = value(l, me, i);
    if (l->round % 2 == 0) {
        CHECK_INT(shmem_long_sum_reduce(g->team, dest, l->source, (size_t)n), 0, g->name);
        for (int i = 0; i < n; i++) {
            long want = 0;
            for (int m = 0; m < g->size; m++)
                want += value(l, g->members[m], i);
            CHECK(dest[i] == want, "sum over %s, round %ld: element %d is %ld, not %ld", g->name,
                  l->round, i, dest[i], want);
        }
    } else {
        CHECK_INT(shmem_long_fcollect(g->team, dest, l->source, (size_t)n), 0, g->name);
        for (int m = 0; m < g->size; m++)
            for (int i = 0; i < n; i++)
                CHECK(dest[m * n + i] == value(l, g->members[m], i),
                      "fcollect over %s, round %ld: element %d of member %d is %ld", g->name,
                      l->round, i, m, dest[m * n + i]);
    }
    if (++l->round % RING == 0)
        CHECK_INT(shmem_team_sync(g->team), 0, g->name);
}

static void make_grid(int width)
{
    int x = me % width, y = me / width, in_row = npes - y * width;

    group_members(&row.group, "a row", y * width, 1, in_row < width ? in_row : width);
    group_members(&column.group, "a column", x, width, (npes - x + width - 1) / width);
    CHECK_INT(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row.group.team, NULL, 0,
                                  &column.group.team),
              0, "shmem_team_split_2d");
    CHECK_INT(shmem_team_my_pe(row.group.team), x, "number in the row");
    CHECK_INT(shmem_team_my_pe(column.group.team), y, "number in the column");
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    group_members(&world.group, "the world", 0, 1, npes);
    world.group.team = SHMEM_TEAM_WORLD;
    group_split(&reversed.group, "all PEs reversed", npes - 1, -1, npes);
    make_grid(npes > 3 ? 3 : 2);
    for (int i = 0; i < rounds; i++) {
        // Rows with an even number are in more collectives than the others.
        for (int more = 0; more < (me / (npes > 3 ? 3 : 2) % 2 == 0 ? 3 : 1); more++)
            step(&row, i % 3 == 0 ? N : 1);
        step(&column, i % 5 == 0 ? N : 2);
        if (i % 4 == 0)
            step(&world, 1 + i % N);
        if (i % 4 == 2)
            step(&reversed, 1 + i % N);
    }
    shmem_team_destroy(row.group.team);
    shmem_team_destroy(column.group.team);
    shmem_team_destroy(reversed.group.team);
    shmem_finalize();
    return 0;
}
