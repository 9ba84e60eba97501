/*
 * Times collectives of an OpenSHMEM library over all PEs. Compiled and run by this library's tools and by another's;
 * tests/perf/run compares. By active sets, which every version has; with -DTEAMS by the world team, for this library.
 *
 *     collectives [pin]
 *
 * Before each call all PEs meet, uncounted. A time is that of a call on one PE, averaged over the PEs and over the calls of
 * a batch; printed is the median of the batches.
 */

#define _GNU_SOURCE
#include "perf.h"
#include <shmem.h>
#include <string.h>

enum { BATCHES = 11, MIB = 1 << 20 };

/* Elements of a work array: enough for any library. */
enum { SYNC = 4096 };

static long sync_words[2][SYNC];
static double times[BATCHES];
static double *work;
static char *source, *dest;
static int pes;

#ifdef TEAMS

static void broadcast(size_t bytes) { shmem_uint64_broadcast(SHMEM_TEAM_WORLD, (uint64_t *)dest, (uint64_t *)source, bytes / 8, 0); }
static void sum(size_t bytes) { shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)dest, (double *)source, bytes / 8); }
static void fcollect(size_t bytes) { shmem_uint64_fcollect(SHMEM_TEAM_WORLD, (uint64_t *)dest, (uint64_t *)source, bytes / 8); }
static void alltoall(size_t bytes) { shmem_uint64_alltoall(SHMEM_TEAM_WORLD, (uint64_t *)dest, (uint64_t *)source, bytes / 8); }

/* Stands beside the collectives: PEs of a pair put into each other's memory, and wait for the
 * other's signal. */
static void put_signal(size_t bytes) {
    static uint64_t signal, count;
    int other = shmem_my_pe() ^ 1;
    if (other < pes) {
        shmem_putmem_signal(dest, source, bytes, &signal, ++count, SHMEM_SIGNAL_SET, other);
        shmem_signal_wait_until(&signal, SHMEM_CMP_GE, count);
    }
}

#else

static long *sync_array(void) {
    static int turn;
    return sync_words[turn++ % 2];
}

static void broadcast(size_t bytes) { shmem_broadcast64(dest, source, bytes / 8, 0, 0, 0, pes, sync_array()); }
static void sum(size_t bytes) { shmem_double_sum_to_all((double *)dest, (double *)source, (int)(bytes / 8), 0, 0, pes, work, sync_array()); }
static void fcollect(size_t bytes) { shmem_fcollect64(dest, source, bytes / 8, 0, 0, pes, sync_array()); }
static void alltoall(size_t bytes) { shmem_alltoall64(dest, source, bytes / 8, 0, 0, pes, sync_array()); }

#endif

static void barrier(size_t bytes) {
    (void)bytes;
    shmem_barrier_all();
}

/* Returns the average time of a call of this batch on this PE. */
static double batch(void (*collective)(size_t), size_t bytes, int calls) {
    double total = 0;
    for (int call = 0; call < calls; call++) {
        shmem_barrier_all();
        double start = now();
        collective(bytes);
        total += now() - start;
    }
    return total / calls;
}

static void measure(const char *name, void (*collective)(size_t), size_t bytes, int calls) {
    batch(collective, bytes, calls);
    for (int i = 0; i < BATCHES; i++) {
        times[i] = batch(collective, bytes, calls);
    }
    shmem_barrier_all();
    if (shmem_my_pe() != 0) {
        return;
    }
    for (int i = 0; i < BATCHES; i++) {
        for (int pe = 1; pe < pes; pe++) {
            times[i] += shmem_double_g(&times[i], pe);
        }
        times[i] /= pes;
    }
    row(name, median(times, BATCHES));
    fflush(stdout);
}

static void sizes(const char *name, void (*collective)(size_t), int calls) {
    for (size_t bytes = 8; bytes <= MIB; bytes *= bytes == 512 ? 2 : bytes == 1024 ? 4 : 8) {
        char text[64];
        int few = (int)(64 * MIB / bytes / (size_t)pes / 16);
        snprintf(text, sizeof text, "%s %zu B", name, bytes);
        measure(text, collective, bytes, few < calls ? few + 1 : calls);
    }
}

int main(int argc, char **argv) {
    shmem_init();
    pes = shmem_n_pes();
    if (argc > 1 && strcmp(argv[1], "pin") == 0) {
        pin(shmem_my_pe());
    }
    for (int i = 0; i < SYNC; i++) {
        sync_words[0][i] = sync_words[1][i] = SHMEM_SYNC_VALUE;
    }
    source = shmem_align(4096, (size_t)(pes > 8 ? pes : 8) * MIB);
    dest = shmem_align(4096, (size_t)(pes > 8 ? pes : 8) * MIB);
    work = shmem_align(4096, 8 * MIB);
    if (source == NULL || dest == NULL || work == NULL) {
        fprintf(stderr, "collectives: needs memory\n");
        shmem_global_exit(2);
    }
    memset(source, 1, (size_t)(pes > 8 ? pes : 8) * MIB);
    memset(dest, 0, (size_t)(pes > 8 ? pes : 8) * MIB);
    shmem_barrier_all();
    int calls = pes > 2 ? 300 : 2000;
    measure("barrier_all", barrier, 0, calls);
    sizes("broadcast", broadcast, calls);
    measure("sum of 1 double", sum, 8, calls);
    measure("sum of 1 Ki doubles", sum, 8192, calls);
    measure("sum of 1 Mi doubles", sum, 8 * MIB, pes > 2 ? 2 : 5);
    sizes("fcollect", fcollect, calls);
    sizes("alltoall", alltoall, calls);
#ifdef TEAMS
    measure("put_signal 1 MiB", put_signal, MIB, pes > 2 ? 2 : 50);
#endif
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
