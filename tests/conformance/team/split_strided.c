// shmem_team_split_strided: every triplet that is valid, of the world and of teams made from it,
// numbers the PEs as it says; strides below 0 reverse; an invalid one gives no team to anybody.
// run: np=1,2,3,4,7
#include "check.h"

enum { MAX_PES = 8 };

// A parent team and the world numbers of its members.
struct parent {
    shmem_team_t team;
    int size, members[MAX_PES];
};

static long word[MAX_PES];
static int me, npes, made;

static void expect_team(const struct parent *p, int start, int stride, int size, shmem_team_t team)
{
    int mine = -1;

    for (int i = 0; i < size; i++)
        if (p->members[start + i * stride] == me)
            mine = i;
    if (mine < 0) {
        CHECK(team == SHMEM_TEAM_INVALID, "(%d, %d, %d): a PE outside has a handle", start, stride,
              size);
        return;
    }
    CHECK(team != SHMEM_TEAM_INVALID && team != SHMEM_TEAM_WORLD && team != p->team,
          "(%d, %d, %d): no handle of its own", start, stride, size);
    CHECK_INT(shmem_team_n_pes(team), size, "shmem_team_n_pes");
    CHECK_INT(shmem_team_my_pe(team), mine, "shmem_team_my_pe");
    for (int i = 0; i < size; i++) {
        int in_parent = start + i * stride, in_world = p->members[in_parent];
        CHECK_INT(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), in_world, "to the world");
        CHECK_INT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, in_world, team), i, "from the world");
        CHECK_INT(shmem_team_translate_pe(team, i, p->team), in_parent, "to the parent");
        CHECK_INT(shmem_team_translate_pe(p->team, in_parent, team), i, "from the parent");
        CHECK(shmem_team_ptr(team, word, i) == shmem_ptr(word, in_world),
              "shmem_team_ptr of member %d is not shmem_ptr of PE %d", i, in_world);
    }
    CHECK_INT(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD), -1, "above the last member");
    for (int pe = 0; pe < npes; pe++) {
        int inside = 0;
        for (int i = 0; i < size; i++)
            inside |= p->members[start + i * stride] == pe;
        CHECK_INT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team) >= 0, inside,
                  "translate_pe of a PE that is in the team or not");
    }
}

// Counts the members of the team by a collective of it, on each of them.
static void use_team(shmem_team_t team, int size)
{
    static long mine, all;

    if (team == SHMEM_TEAM_INVALID)
        return;
    mine = 1 << shmem_team_my_pe(team);
    CHECK_INT(shmem_long_sum_reduce(team, &all, &mine, 1), 0, "sum_reduce");
    CHECK_INT(all, (1 << size) - 1, "the sum over all members");
    CHECK_INT(shmem_team_sync(team), 0, "shmem_team_sync");
}

// Tries a triplet. All members of the parent call; the result is the same for all.
static void try_triplet(const struct parent *p, int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int last = start + (size - 1) * stride;
    int valid = size >= 1 && start >= 0 && start < p->size && last >= 0 && last < p->size;
    int status = shmem_team_split_strided(p->team, start, stride, size, NULL, 0, &team);

    CHECK((status == 0) == valid, "(%d, %d, %d) of %d PEs: status %d", start, stride, size, p->size,
          status);
    if (!valid) {
        CHECK(team == SHMEM_TEAM_INVALID, "(%d, %d, %d) of %d PEs: a handle", start, stride, size,
              p->size);
        return;
    }
    expect_team(p, start, stride, size, team);
    // Right after the split parent and child can be used.
    use_team(team, size);
    use_team(p->team, p->size);
    shmem_team_destroy(team);
    made++;
}

static void try_parent(const struct parent *p)
{
    if (p->team == SHMEM_TEAM_INVALID)
        return;
    for (int start = -1; start <= p->size; start++)
        for (int stride = -p->size; stride <= p->size; stride++)
            for (int size = -1; size <= p->size + 1; size++)
                // Stride 0 with several PEs is undefined, and so is wrapping around.
                if (stride != 0 || size == 1)
                    try_triplet(p, start, stride, size);
}

static void make_parent(struct parent *p, const struct parent *from, int start, int stride,
                        int size)
{
    p->size = size;
    for (int i = 0; i < size; i++)
        p->members[i] = from->members[start + i * stride];
    CHECK_INT(shmem_team_split_strided(from->team, start, stride, size, NULL, 0, &p->team), 0,
              "split of a parent");
}

int main(void)
{
    struct parent world = {SHMEM_TEAM_WORLD, 0, {0}}, reversed, odd;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    world.size = npes;
    for (int pe = 0; pe < npes; pe++)
        world.members[pe] = pe;
    make_parent(&reversed, &world, npes - 1, -1, npes);
    try_parent(&reversed);
    if (npes <= 4)
        try_parent(&world);
    if (npes > 2) {
        // A team of a team.
        make_parent(&odd, &reversed, 1, 2, npes / 2);
        try_parent(&odd);
        shmem_team_destroy(odd.team);
    }
    shmem_team_destroy(reversed.team);
    CHECK(made >= npes, "only %d teams were made", made);
    shmem_finalize();
    return 0;
}
