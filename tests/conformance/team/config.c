// The configuration of a team: the members that the mask names are taken and given back, all else
// has defaults.
// run: np=1,2,3,4,7
#include "check.h"

static void try_config(int wanted, long mask)
{
    shmem_team_config_t config = {wanted}, got = {-5};
    shmem_team_t team;

    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), &config, mask, &team),
              0, "shmem_team_split_strided");
    CHECK_INT(shmem_team_get_config(team, 0, NULL), 0, "shmem_team_get_config without mask");
    CHECK_INT(shmem_team_get_config(team, 0, &got), 0, "shmem_team_get_config without mask");
    CHECK_INT(got.num_contexts, -5, "a member that the mask does not name");
    CHECK_INT(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0,
              "shmem_team_get_config");
    CHECK_INT(got.num_contexts, mask != 0 ? wanted : 0, "num_contexts");
    shmem_team_destroy(team);
}

int main(void)
{
    shmem_team_config_t got = {-5};

    shmem_init();
    for (int wanted = 0; wanted < 4; wanted++) {
        try_config(wanted, SHMEM_TEAM_NUM_CONTEXTS);
        try_config(wanted, 0);
    }
    CHECK_INT(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &got), 0,
              "shmem_team_get_config of the world");
    CHECK(got.num_contexts >= 0, "num_contexts of the world: %d", got.num_contexts);
    shmem_finalize();
    return 0;
}
