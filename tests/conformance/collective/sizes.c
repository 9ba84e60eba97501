// All collective routines with no elements, one, a few, about a page, and many; bytes at odd
// addresses, too. Every element is looked at.
// run: np=1,2,3,7 nodes=1 args=100000
// run: np=4 nodes=several args=20000
// run: np=2,3,7 nodes=1 args=100000 env=FARREACH_COLLECTIVE_NODE_SIZE=1
// run: np=3,7 nodes=1 args=100000 env=FARREACH_COLLECTIVE_NODE_SIZE=2
// run: np=7,16 nodes=1 args=20000 env=FARREACH_COLLECTIVE_NODE_SIZE=5
#include "group.h"

static const size_t LENGTHS[] = {0, 1, 2, 7, 63, 64, 65, 511, 512, 513, 1000, 4095};
enum { MOST = 4096, MOST_STRIDED = 1000, SKEW = 3 };

static long *source, *dest;
static unsigned char *bytes_from, *bytes_to;
static long turn_number;
static int npes;

static long value(int owner, size_t index)
{
    return (turn_number * 64 + owner) * 1000003 + (long)index * 7;
}

static unsigned char byte(int owner, size_t index)
{
    return (unsigned char)((size_t)(turn_number * 5 + owner * 17) + index * 3 + index / 251);
}

static void fill(const struct group *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        source[i] = value(g->members[g->me], i);
}

static void expect(const struct group *g, size_t at, long want, const char *routine, size_t n)
{
    CHECK(dest[at] == want, "%s of %zu elements over %s, member %d: dest[%zu] is %ld, not %ld",
          routine, n, g->name, g->me, at, dest[at], want);
}

// Ends the turn of one routine and begins that of the next.
static void next_turn(const struct group *g)
{
    turn_number++;
    shmem_team_sync(g->team);
}

static void try_moves(const struct group *g, size_t n)
{
    size_t size = (size_t)g->size, me = (size_t)g->me, at = 0;
    int root = (int)(turn_number / 8 % g->size);

    fill(g, n);
    CHECK_INT(shmem_long_broadcast(g->team, dest, source, n, root), 0, "broadcast");
    for (size_t i = 0; i < n; i++)
        expect(g, i, value(g->members[root], i), "broadcast", n);
    next_turn(g);
    fill(g, n);
    CHECK_INT(shmem_long_fcollect(g->team, dest, source, n), 0, "fcollect");
    for (size_t m = 0; m < size; m++)
        for (size_t i = 0; i < n; i++)
            expect(g, m * n + i, value(g->members[m], i), "fcollect", n);
    next_turn(g);
    // Each member another part of n: all, half, nothing.
    fill(g, n);
    CHECK_INT(shmem_long_collect(g->team, dest, source, n / 2 * (me % 3)), 0, "collect");
    for (size_t m = 0; m < size; m++)
        for (size_t i = 0; i < n / 2 * (m % 3); i++)
            expect(g, at++, value(g->members[m], i), "collect", n);
    next_turn(g);
    fill(g, n * size);
    CHECK_INT(shmem_long_alltoall(g->team, dest, source, n), 0, "alltoall");
    for (size_t m = 0; m < size; m++)
        for (size_t i = 0; i < n; i++)
            expect(g, m * n + i, value(g->members[m], me * n + i), "alltoall", n);
    next_turn(g);
    if (n > MOST_STRIDED)
        return;
    fill(g, n * size);
    CHECK_INT(shmem_long_alltoalls(g->team, dest, source, 2, 1, n), 0, "alltoalls");
    for (size_t m = 0; m < size; m++)
        for (size_t i = 0; i < n; i++)
            expect(g, 2 * (m * n + i), value(g->members[m], me * n + i), "alltoalls", n);
    next_turn(g);
}

// Returns the sum of the first `count` members' values, by arithmetic.
static long sum_of(const struct group *g, int count, size_t index)
{
    long sum = 0;

    for (int m = 0; m < count; m++)
        sum += value(g->members[m], index);
    return sum;
}

static void try_sums(const struct group *g, size_t n)
{
    fill(g, n);
    CHECK_INT(shmem_long_sum_reduce(g->team, dest, source, n), 0, "sum_reduce");
    for (size_t i = 0; i < n; i++)
        expect(g, i, sum_of(g, g->size, i), "sum_reduce", n);
    next_turn(g);
    fill(g, n);
    CHECK_INT(shmem_long_sum_inscan(g->team, dest, source, n), 0, "sum_inscan");
    for (size_t i = 0; i < n; i++)
        expect(g, i, sum_of(g, g->me + 1, i), "sum_inscan", n);
    next_turn(g);
    fill(g, n);
    CHECK_INT(shmem_long_sum_exscan(g->team, dest, source, n), 0, "sum_exscan");
    for (size_t i = 0; i < n; i++)
        expect(g, i, sum_of(g, g->me, i), "sum_exscan", n);
    next_turn(g);
    // In place.
    fill(g, n);
    for (size_t i = 0; i < n; i++)
        dest[i] = source[i];
    shmem_team_sync(g->team);
    CHECK_INT(shmem_long_max_reduce(g->team, dest, dest, n), 0, "max_reduce");
    for (size_t i = 0; i < n; i++) {
        long most = value(g->members[0], i);
        for (int m = 1; m < g->size; m++)
            most = most > value(g->members[m], i) ? most : value(g->members[m], i);
        expect(g, i, most, "max_reduce in place", n);
    }
    next_turn(g);
}

// Moves bytes from one odd address to another.
static void try_bytes(const struct group *g, size_t n)
{
    unsigned char *to = bytes_to + 1, *from = bytes_from + SKEW;
    int root = (int)(turn_number % g->size);

    for (size_t i = 0; i < n * (size_t)g->size; i++)
        from[i] = byte(g->members[g->me], i);
    to[-1] = 99;
    to[n] = 98;
    CHECK_INT(shmem_broadcastmem(g->team, to, from, n, root), 0, "broadcastmem");
    for (size_t i = 0; i < n; i++)
        CHECK(to[i] == byte(g->members[root], i), "broadcastmem of %zu: byte %zu is wrong", n, i);
    CHECK(to[-1] == 99 && to[n] == 98, "broadcastmem of %zu wrote beside dest", n);
    shmem_team_sync(g->team);
    CHECK_INT(shmem_alltoallmem(g->team, to, from, n), 0, "alltoallmem");
    for (int m = 0; m < g->size; m++)
        for (size_t i = 0; i < n; i++)
            CHECK(to[(size_t)m * n + i] == byte(g->members[m], (size_t)g->me * n + i),
                  "alltoallmem of %zu: byte %zu of member %d is wrong", n, i, m);
    next_turn(g);
    for (size_t i = 0; i < n; i++)
        from[i] = byte(g->members[g->me], i);
    CHECK_INT(shmem_uchar_xor_reduce(g->team, to, from, n), 0, "xor_reduce");
    for (size_t i = 0; i < n; i++) {
        unsigned char want = 0;
        for (int m = 0; m < g->size; m++)
            want ^= byte(g->members[m], i);
        CHECK(to[i] == want, "xor_reduce of %zu: byte %zu is wrong", n, i);
    }
    next_turn(g);
}

int main(int argc, char **argv)
{
    struct group groups[GROUP_MAX];
    size_t most = argc > 1 ? (size_t)atol(argv[1]) : MOST;

    shmem_init();
    npes = shmem_n_pes();
    source = (long *)shmem_malloc((size_t)npes * most * sizeof *source);
    dest = (long *)shmem_malloc((size_t)npes * most * sizeof *dest);
    bytes_from = (unsigned char *)shmem_malloc((size_t)npes * most + 16);
    bytes_to = (unsigned char *)shmem_malloc((size_t)npes * most + 16);
    CHECK(source && dest && bytes_from && bytes_to, "shmem_malloc returned NULL");
    int count = group_teams(groups);
    for (int g = 0; g < count; g++) {
        // The members count alike; the others have not taken part.
        turn_number = g * 1000;
        for (size_t l = 0; l < COUNT_OF(LENGTHS) && groups[g].me >= 0; l++) {
            try_moves(&groups[g], LENGTHS[l]);
            try_sums(&groups[g], LENGTHS[l]);
            try_bytes(&groups[g], LENGTHS[l]);
        }
        // Groups share memory: one after the other.
        shmem_barrier_all();
    }
    turn_number = GROUP_MAX * 1000;
    try_moves(&groups[0], most);
    try_sums(&groups[0], most);
    try_bytes(&groups[0], most);
    group_destroy(groups, count);
    shmem_finalize();
    return 0;
}
