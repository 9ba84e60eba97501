// shmem_team_split_2d: rows and columns of every width, the last row shorter than the others, a
// width above the number of PEs, of the world and of a reversed team, and once more of the columns.
// run: np=1,2,3,4,7
#include "check.h"

enum { MAX_PES = 8 };

static long mine, all;
static int npes;

static void expect_sum(shmem_team_t team, long value, long want, const char *what)
{
    mine = value;
    CHECK_INT(shmem_long_sum_reduce(team, &all, &mine, 1), 0, what);
    CHECK_INT(all, want, what);
    shmem_team_sync(team);
}

static void try_width(shmem_team_t parent, int width)
{
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    int me = shmem_team_my_pe(parent), size = shmem_team_n_pes(parent);
    int range = width < size ? width : size, x = me % range, y = me / range;
    int in_row = size - y * range < range ? size - y * range : range;
    int in_column = (size - x + range - 1) / range;
    shmem_team_config_t row_config = {1 + y}, column_config = {10 + x}, got = {0};

    // The configuration may differ from row to row, and from column to column.
    int status = shmem_team_split_2d(parent, width, &row_config, SHMEM_TEAM_NUM_CONTEXTS, &row,
                                     &column_config, SHMEM_TEAM_NUM_CONTEXTS, &column);
    CHECK_INT(status, 0, "shmem_team_split_2d");
    CHECK_INT(shmem_team_n_pes(row), in_row, "PEs in the row");
    CHECK_INT(shmem_team_my_pe(row), x, "the number in the row");
    CHECK_INT(shmem_team_n_pes(column), in_column, "PEs in the column");
    CHECK_INT(shmem_team_my_pe(column), y, "the number in the column");
    for (int i = 0; i < in_row; i++)
        CHECK_INT(shmem_team_translate_pe(row, i, parent), y * range + i, "a member of the row");
    for (int i = 0; i < in_column; i++)
        CHECK_INT(shmem_team_translate_pe(column, i, parent), i * range + x,
                  "a member of the column");
    CHECK_INT(shmem_team_get_config(row, SHMEM_TEAM_NUM_CONTEXTS, &got), 0, "config of the row");
    CHECK_INT(got.num_contexts, 1 + y, "num_contexts of the row");
    CHECK_INT(shmem_team_get_config(column, SHMEM_TEAM_NUM_CONTEXTS, &got), 0, "config");
    CHECK_INT(got.num_contexts, 10 + x, "num_contexts of the column");
    expect_sum(row, 1 << x, (1 << in_row) - 1, "the sum over the row");
    expect_sum(column, 1 << y, (1 << in_column) - 1, "the sum over the column");
    expect_sum(parent, 1 << me, (1 << size) - 1, "the sum over the parent");
    if (size == npes && in_column > 1 && width > 1) {
        // A third dimension.
        try_width(column, 2);
        try_width(column, MAX_PES);
    }
    shmem_team_destroy(row);
    shmem_team_destroy(column);
}

int main(void)
{
    shmem_team_t reversed, x, y;

    shmem_init();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &reversed), 0,
              "the reversed team");
    for (int width = 1; width <= npes + 2; width++) {
        try_width(SHMEM_TEAM_WORLD, width);
        try_width(reversed, width);
    }
    try_width(SHMEM_TEAM_WORLD, 1000000);
    // A width has to be positive.
    x = y = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &x, NULL, 0, &y) != 0, "width 0: 0");
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID, "width 0 made a team");
    shmem_team_destroy(reversed);
    shmem_finalize();
    return 0;
}
