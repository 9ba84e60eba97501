// The sets of PEs over which the collective routines are run: teams made in several ways, or
// active sets, with the world numbers of their members.
#ifndef FARREACH_TESTS_GROUP_H
#define FARREACH_TESTS_GROUP_H

#include "check.h"

enum { GROUP_MAX_PES = 16, GROUP_MAX = 8 };

struct group {
    const char *name;
    shmem_team_t team; // SHMEM_TEAM_INVALID for an active set, and where this PE is no member
    int size, me;      // me is the number in the group, -1 where this PE is no member
    int members[GROUP_MAX_PES];
    int start, log_stride; // of an active set
};

static inline void group_members(struct group *g, const char *name, int start, int stride, int size)
{
    CHECK(size <= GROUP_MAX_PES, "run with at most %d PEs", (int)GROUP_MAX_PES);
    memset(g, 0, sizeof *g);
    g->name = name;
    g->team = SHMEM_TEAM_INVALID;
    g->size = size;
    g->me = -1;
    for (int i = 0; i < size; i++) {
        g->members[i] = start + i * stride;
        if (g->members[i] == shmem_my_pe())
            g->me = i;
    }
}

// Makes a team split off the world; collective over all PEs.
static inline void group_split(struct group *g, const char *name, int start, int stride, int size)
{
    group_members(g, name, start, stride, size);
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &g->team), 0,
              name);
    CHECK_INT(g->team != SHMEM_TEAM_INVALID, g->me >= 0, "a member has a handle, no other PE");
}

// Makes the teams of a job: the world, every second PE, all reversed, all but PE 0, and rows of up
// to three PEs, of which each PE knows its own. Returns how many there are.
static inline int group_teams(struct group *groups)
{
    int npes = shmem_n_pes(), me = shmem_my_pe(), count = 0;
    struct group *g = &groups[count++];

    group_members(g, "world", 0, 1, npes);
    g->team = SHMEM_TEAM_WORLD;
    group_split(&groups[count++], "every second PE", 0, 2, (npes + 1) / 2);
    group_split(&groups[count++], "all PEs reversed", npes - 1, -1, npes);
    if (npes > 1)
        group_split(&groups[count++], "all but PE 0", 1, 1, npes - 1);
    if (npes > 2) {
        shmem_team_t row, column;
        int first = me / 3 * 3;
        g = &groups[count++];
        CHECK_INT(shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, NULL, 0, &row, NULL, 0, &column), 0,
                  "shmem_team_split_2d");
        group_members(g, "rows of three", first, 1, npes - first < 3 ? npes - first : 3);
        g->team = row;
        shmem_team_destroy(column);
    }
    return count;
}

static inline void group_destroy(struct group *groups, int count)
{
    for (int i = 0; i < count; i++)
        if (groups[i].team != SHMEM_TEAM_WORLD)
            shmem_team_destroy(groups[i].team);
}

// Makes the active sets of a job: all PEs, and sets with strides of 1, 2 and 4, some starting above
// PE 0.
static inline int group_active_sets(struct group *groups)
{
    static const int SHAPES[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {2, 2}};
    static const char *const NAMES[] = {"all PEs",       "all but PE 0",  "even PEs",
                                        "odd PEs",       "every fourth",  "every fourth from PE 2"};
    int npes = shmem_n_pes(), count = 0;

    for (size_t i = 0; i < COUNT_OF(SHAPES); i++) {
        int start = SHAPES[i][0], stride = 1 << SHAPES[i][1];
        if (start >= npes)
            continue;
        struct group *g = &groups[count++];
        group_members(g, NAMES[i], start, stride, (npes - start + stride - 1) / stride);
        g->start = start;
        g->log_stride = SHAPES[i][1];
    }
    return count;
}

#endif
