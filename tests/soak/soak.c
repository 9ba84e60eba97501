// A soak: random operations of all kinds, over teams, contexts and threads, against a model that
// every PE computes from the same numbers. A failure is told with the seed and the epoch, which
// `--seed N --first E --epochs 1` repeats.
//
//   soak [--seconds S] [--seed N] [--first E] [--epochs E] [--rounds R] [--operations O] [--threads T]
//
// run: np=2,4,7 nodes=1 cflags=-pthread timeout=60 args=--seconds 6 --threads 1
// run: np=2,3,7 nodes=1 cflags=-pthread timeout=60 args=--seconds 6 --threads 3
// run: np=4 nodes=several cflags=-pthread timeout=90 args=--seconds 3 --threads 1 --operations 10 --rounds 10
// run: np=4 nodes=several cflags=-pthread timeout=90 args=--seconds 3 --threads 2 --operations 8 --rounds 10
// run: np=3 nodes=1 cflags=-pthread timeout=60 env=SHMEM_CHECK=1 args=--seconds 3 --threads 2
#include "lane.h"

#include "atomics.h"
#include "collectives.h"
#include "points.h"
#include "transfers.h"

#include <pthread.h>
#include <time.h>

// Lane 0 uses static data, the others the heap.
static Shared in_static_data;
static long go_on;

typedef struct {
    double seconds;
    int first;
    int epochs;
    int rounds;
    int operations;
    int threads;
} Options;

static void find_me(Team *team, int pe)
{
    int i;

    team->me = -1;
    for (i = 0; i < team->size; i++)
        if (team->members[i] == pe)
            team->me = i;
}

static void check_team(const Lane *lane, const Team *team, int result)
{
    int i;

    if (result != 0)
        wrong(lane, "a split returned %d", result);
    if ((team->handle == SHMEM_TEAM_INVALID) != (team->me < 0))
        wrong(lane, "a split made a team of the wrong PEs");
    if (team->me < 0)
        return;
    if (shmem_team_my_pe(team->handle) != team->me || shmem_team_n_pes(team->handle) != team->size)
        wrong(lane, "this is PE %d of %d in a team, and should be %d of %d", shmem_team_my_pe(team->handle),
              shmem_team_n_pes(team->handle), team->me, team->size);
    for (i = 0; i < team->size; i++)
        if (shmem_team_translate_pe(team->handle, i, SHMEM_TEAM_WORLD) != team->members[i])
            wrong(lane, "PE %d of a team is another PE of the job", i);
}

// Makes a team that counts up or down.
static void split_strided(Lane *lane, Random *random, Team *team)
{
    int start = below(random, lane->pes), stride = 1 + below(random, 3), room, i, result;

    if (below(random, 2) == 0)
        stride = -stride;
    room = stride > 0 ? (lane->pes - 1 - start) / stride : start / -stride;
    team->size = 1 + below(random, room + 1);
    for (i = 0; i < team->size; i++)
        team->members[i] = start + i * stride;
    find_me(team, lane->me);
    result = shmem_team_split_strided(lane->teams[0].handle, start, stride, team->size, NULL, 0, &team->handle);
    check_team(lane, team, result);
}

// Makes the own row and column.
static void split_2d(Lane *lane, Random *random, Team *row, Team *column)
{
    int xrange = 1 + below(random, lane->pes), x = lane->me % xrange, y = lane->me / xrange, result;

    row->size = column->size = 0;
    for (x = 0; x < xrange && y * xrange + x < lane->pes; x++)
        row->members[row->size++] = y * xrange + x;
    for (x = lane->me % xrange; x < lane->pes; x += xrange)
        column->members[column->size++] = x;
    find_me(row, lane->me);
    find_me(column, lane->me);
    result = shmem_team_split_2d(lane->teams[0].handle, xrange, NULL, 0, &row->handle, NULL, 0, &column->handle);
    check_team(lane, row, result);
    check_team(lane, column, result);
}

static void make_teams(Lane *lane, Random *random)
{
    split_strided(lane, random, &lane->teams[1]);
    split_strided(lane, random, &lane->teams[2]);
    split_2d(lane, random, &lane->teams[3], &lane->teams[4]);
    lane->team_count = TEAMS;
}

static void make_contexts(Lane *lane)
{
    static const long options[CONTEXTS] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED, 0, SHMEM_CTX_NOSTORE};
    static const int teams[CONTEXTS] = {-1, -1, 0, 1, 2};
    int i, result;

    lane->context_count = CONTEXTS;
    for (i = 0; i < CONTEXTS; i++) {
        Context *context = &lane->contexts[i];

        *context = (Context){SHMEM_CTX_DEFAULT, teams[i], false};
        if (i == 0)
            continue;
        context->handle = SHMEM_CTX_INVALID;
        if (teams[i] < 0)
            result = shmem_ctx_create(options[i], &context->handle);
        else if (lane->teams[teams[i]].me >= 0)
            result = shmem_team_create_ctx(lane->teams[teams[i]].handle, options[i], &context->handle);
        else
            result = 0;
        if (result != 0)
            wrong(lane, "context %d cannot be created: %d", i, result);
    }
}

static void destroy_all(Lane *lane)
{
    int i;

    for (i = 1; i < lane->context_count; i++)
        shmem_ctx_destroy(lane->contexts[i].handle);
    for (i = 1; i < lane->team_count; i++)
        shmem_team_destroy(lane->teams[i].handle);
}

// Runs the rounds of a thread in an epoch.
static void *run_lane(void *argument)
{
    static void (*const kinds[])(Lane *, Random *) = {transfer_round, atomic_round, signal_round,
                                                      lock_round, collective_round, active_round};
    Lane *lane = argument;
    Random random = derived(lane->seed, 0);

    make_teams(lane, &random);
    make_contexts(lane);
    for (lane->round = 0; lane->round < lane->rounds; lane->round++) {
        Random of_round = derived(lane->seed, (uint64_t)lane->round * 4 + 2);

        // All have looked at the results of the round before.
        shmem_team_sync(lane->teams[0].handle);
        kinds[below(&of_round, sizeof kinds / sizeof kinds[0])](lane, &of_round);
    }
    shmem_team_sync(lane->teams[0].handle);
    destroy_all(lane);
    return NULL;
}

// Allocates blocks that come and go, and keep their contents.
static void heap_round(const Lane *lane, Random *random)
{
    unsigned char *blocks[8] = {NULL};
    size_t sizes[8] = {0}, size, kept;
    uint64_t keys[8] = {0};
    unsigned char *wanted = malloc(1 << 16);
    int turn, i, way;

    for (turn = 0; turn < 24; turn++) {
        i = below(random, 8);
        way = below(random, 4);
        size = 1 + (size_t)(draw(random) % (1 << 16));
        kept = size < sizes[i] ? size : sizes[i];
        if (blocks[i] != NULL && way == 0) {
            shmem_free(blocks[i]);
            blocks[i] = NULL;
            continue;
        }
        if (blocks[i] != NULL) {
            blocks[i] = shmem_realloc(blocks[i], size);
            fill(wanted, kept, keys[i]);
        } else if (way == 1) {
            blocks[i] = shmem_calloc(size, 1);
            memset(wanted, 0, kept = size);
        } else {
            blocks[i] = way == 2 ? shmem_malloc(size) : shmem_align(4096, size);
            kept = 0;
        }
        if (blocks[i] == NULL)
            wrong(lane, "no memory for %zu bytes", size);
        if (memcmp(blocks[i], wanted, kept) != 0)
            wrong(lane, "a block of %zu bytes does not hold what it should", size);
        sizes[i] = size;
        keys[i] = draw(random);
        fill(wanted, size, keys[i]);
        shmem_barrier_all();
        // Written by the PE before this one.
        shmem_putmem(blocks[i], wanted, size, (lane->me + 1) % lane->pes);
        shmem_barrier_all();
        if (memcmp(blocks[i], wanted, size) != 0)
            wrong(lane, "what was put into a block of %zu bytes is not there", size);
    }
    for (i = 0; i < 8; i++)
        shmem_free(blocks[i]);
    free(wanted);
}

static void set_up_lane(Lane *lane, const Options *options, int number, int epoch)
{
    Random random = derived(soak_seed, (uint64_t)epoch * LANES + (uint64_t)number);
    int pe, i;

    memset(lane, 0, sizeof *lane);
    *lane = (Lane){.seed = draw(&random), .number = number, .epoch = epoch, .round = -1};
    lane->operations = options->operations;
    lane->rounds = options->rounds;
    lane->me = shmem_my_pe();
    lane->pes = shmem_n_pes();
    lane->is_only = options->threads == 1;
    lane->shared = number == 0 ? &in_static_data : shmem_malloc(sizeof(Shared));
    lane->local = malloc(LOCAL);
    if (lane->shared == NULL || lane->local == NULL)
        wrong(lane, "no memory for lane %d", number);
    memset(lane->shared, 0, sizeof *lane->shared);
    for (i = 0; i < SHMEM_SYNC_SIZE; i++)
        lane->shared->sync[0][i] = lane->shared->sync[1][i] = SHMEM_SYNC_VALUE;
    for (pe = 0; pe < lane->pes; pe++)
        lane->areas[pe] = calloc(1, AREA);
    lane->teams[0].size = lane->pes;
    for (pe = 0; pe < lane->pes; pe++)
        lane->teams[0].members[pe] = pe;
    lane->teams[0].me = lane->me;
    // Each thread has a team of all PEs: one team is in one collective at a time.
    i = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, lane->pes, NULL, 0, &lane->teams[0].handle);
    check_team(lane, &lane->teams[0], i);
}

static void tear_down_lane(Lane *lane)
{
    int pe;

    shmem_team_destroy(lane->teams[0].handle);
    if (lane->number > 0)
        shmem_free(lane->shared);
    for (pe = 0; pe < lane->pes; pe++)
        free(lane->areas[pe]);
    free(lane->local);
}

static void run_epoch(const Options *options, int epoch)
{
    static Lane lanes[LANES];
    pthread_t threads[LANES];
    Random random = derived(soak_seed, ~(uint64_t)epoch);
    int i;

    for (i = 0; i < options->threads; i++)
        set_up_lane(&lanes[i], options, i, epoch);
    shmem_barrier_all();
    for (i = 1; i < options->threads; i++)
        if (pthread_create(&threads[i], NULL, run_lane, &lanes[i]) != 0)
            wrong(&lanes[i], "a thread cannot be started");
    run_lane(&lanes[0]);
    for (i = 1; i < options->threads; i++)
        pthread_join(threads[i], NULL);
    heap_round(&lanes[0], &random);
    for (i = 0; i < options->threads; i++)
        tear_down_lane(&lanes[i]);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static Options read_options(int argc, char **argv)
{
    Options options = {10, 0, 1 << 30, 40, 60, 1};
    int i;

    soak_seed = (uint64_t)time(NULL);
    for (i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];

        if (strcmp(name, "--seconds") == 0)
            options.seconds = atof(value);
        else if (strcmp(name, "--seed") == 0)
            soak_seed = strtoull(value, NULL, 0);
        else if (strcmp(name, "--first") == 0)
            options.first = atoi(value);
        else if (strcmp(name, "--epochs") == 0)
            options.epochs = atoi(value);
        else if (strcmp(name, "--rounds") == 0)
            options.rounds = atoi(value);
        else if (strcmp(name, "--operations") == 0)
            options.operations = atoi(value);
        else if (strcmp(name, "--threads") == 0)
            options.threads = atoi(value);
        else
            fprintf(stderr, "soak: %s is unknown\n", name);
    }
    if (options.threads < 1 || options.threads > LANES) {
        fprintf(stderr, "soak: 1 to %d threads\n", LANES);
        exit(2);
    }
    return options;
}

int main(int argc, char **argv)
{
    Options options = read_options(argc, argv);
    int level = options.threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, provided, epoch;
    double end;

    if (shmem_init_thread(level, &provided) != 0 || provided < level || shmem_n_pes() > MOST_PES) {
        fprintf(stderr, "soak: cannot start\n");
        return 1;
    }
    end = now() + options.seconds;
    // PE 0's seed is everybody's.
    go_on = (long)soak_seed;
    shmem_barrier_all();
    soak_seed = (uint64_t)shmem_long_g(&go_on, 0);
    shmem_barrier_all();
    for (epoch = options.first;; epoch++) {
        go_on = epoch - options.first < options.epochs && now() < end;
        shmem_barrier_all();
        if (!shmem_long_g(&go_on, 0))
            break;
        shmem_barrier_all();
        run_epoch(&options, epoch);
    }
    if (shmem_my_pe() == 0)
        printf("soak: seed %llu, %d PEs, %d threads: %d epochs of %d rounds\n", (unsigned long long)soak_seed,
               shmem_n_pes(), options.threads, epoch - options.first, options.rounds);
    shmem_finalize();
    return 0;
}
