// THREAD_MULTIPLE: the threads of a PE are in collectives of different teams at the same time,
// while another one puts and waits for locks.
// run: np=1,2,3,7 nodes=1 cflags=-pthread args=150
// run: np=2,4 nodes=several cflags=-pthread args=15 timeout=60
#include "check.h"

#include <pthread.h>

enum { TEAMS = 3, N = 700, MAX_PES = 8, RING = 4 };

static shmem_team_t teams[TEAMS];
static long source[TEAMS][N], dest[TEAMS][RING][MAX_PES * N];
static long lock, counter, inside;
static int me, npes, rounds;

static long value(long round, int team, int owner, int index)
{
    return ((round * TEAMS + team) * MAX_PES + owner) * N + index;
}

static void *collect(void *argument)
{
    int t = (int)(intptr_t)argument, n = t == 0 ? N : t == 1 ? 3 : 90;

    for (long round = 0; round < rounds; round++) {
        long *to = dest[t][round % RING];
        for (int i = 0; i < n; i++)
            source[t][i] = value(round, t, me, i);
        if (round % 2) {
            CHECK_INT(shmem_long_fcollect(teams[t], to, source[t], (size_t)n), 0, "fcollect");
            for (int m = 0; m < npes; m++)
                for (int i = 0; i < n; i++)
                    CHECK(to[m * n + i] == value(round, t, t == 1 ? npes - 1 - m : m, i),
                          "team %d, round %ld: element %d of member %d", t, round, i, m);
        } else {
            CHECK_INT(shmem_long_max_reduce(teams[t], to, source[t], (size_t)n), 0, "max_reduce");
            for (int i = 0; i < n; i++)
                CHECK(to[i] == value(round, t, npes - 1, i), "team %d, round %ld: maximum %d", t,
                      round, i);
        }
        CHECK_INT(shmem_team_sync(teams[t]), 0, "shmem_team_sync");
    }
    return NULL;
}

static void *count(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        shmem_set_lock(&lock);
        CHECK_INT(shmem_long_atomic_fetch_inc(&inside, 0), 0, "PEs in the critical region");
        for (volatile int pause = 0; pause < 200; pause++)
            ;
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_long_atomic_add(&inside, -1, 0);
        shmem_clear_lock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[TEAMS + 1];

    rounds = argc > 1 ? atoi(argv[1]) : 50;
    CHECK_INT(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0, "shmem_init_thread");
    CHECK_INT(provided, SHMEM_THREAD_MULTIPLE, "level provided");
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= MAX_PES, "run with at most %d PEs", (int)MAX_PES);
    teams[0] = SHMEM_TEAM_WORLD;
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &teams[1]), 0,
              "the reversed team");
    CHECK_INT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[2]), 0,
              "a team of all PEs");
    for (intptr_t t = 0; t < TEAMS; t++)
        CHECK_INT(pthread_create(&threads[t], NULL, collect, (void *)t), 0, "pthread_create");
    CHECK_INT(pthread_create(&threads[TEAMS], NULL, count, NULL), 0, "pthread_create");
    for (int t = 0; t <= TEAMS; t++)
        pthread_join(threads[t], NULL);
    shmem_barrier_all();
    CHECK_INT(shmem_long_g(&counter, 0), (long)rounds * npes, "passages of the lock");
    shmem_finalize();
    return 0;
}
