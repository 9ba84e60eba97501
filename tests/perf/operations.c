/*
 * Times operations of an OpenSHMEM library between two PEs: PE 0 works, PE 1 waits in a barrier. Compiled and run by
 * this library's tools and by another's; tests/perf/run compares. With the argument "sweep": put and get of 1 B to 4 MiB.
 * With "fastest": shorter batches, of which the fastest counts, for a machine that has other work and for slow networks.
 */

#define _GNU_SOURCE
#include "perf.h"
#include <shmem.h>
#include <string.h>

enum { BATCHES = 25, LARGEST = 4 << 20, MIB = 1 << 20 };

static char *remote, *local;
static long *counter, *flag;
static int is_fastest;

static void put(size_t bytes) {
    shmem_putmem(remote, local, bytes, 1);
    shmem_quiet();
}

static void get(size_t bytes) { shmem_getmem(local, remote, bytes, 1); }

static void fetch_add(size_t bytes) {
    (void)bytes;
    (void)shmem_long_atomic_fetch_add(counter, 1, 1);
}

/* Sends a flag there and back: by PE 0 and PE 1, each of which waits for the other's. */
static void ping_pong(size_t bytes) {
    static long round;
    int me = shmem_my_pe();
    (void)bytes;
    round++;
    if (me == 0) {
        shmem_long_p(flag, round, 1);
    }
    shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
    if (me == 1) {
        shmem_long_p(flag, round, 0);
    }
}

static void barrier(size_t bytes) {
    (void)bytes;
    shmem_barrier_all();
}

/* Returns the median over batches of the time of one operation, or the least. */
static double timed(void (*operation)(size_t), size_t bytes, int rounds) {
    double batches[BATCHES];
    if (is_fastest && rounds > 200) {
        rounds = 200;
    }
    for (int round = 0; round < rounds; round++) {
        operation(bytes);
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int round = 0; round < rounds; round++) {
            operation(bytes);
        }
        batches[batch] = (now() - start) / rounds;
    }
    double middle = median(batches, BATCHES);
    return is_fastest ? batches[0] : middle;
}

static void sweep(void) {
    for (size_t bytes = 1; bytes <= LARGEST; bytes *= 2) {
        int rounds = (int)(MIB / bytes > 2000 ? 2000 : MIB / bytes + 1);
        char name[64];
        snprintf(name, sizeof name, "put %zu", bytes);
        row(name, timed(put, bytes, rounds));
        snprintf(name, sizeof name, "get %zu", bytes);
        row(name, timed(get, bytes, rounds));
    }
}

int main(int argc, char **argv) {
    int is_sweep = argc > 1 && strcmp(argv[1], "sweep") == 0;
    is_fastest = argc > 1 && strcmp(argv[1], "fastest") == 0;
    shmem_init();
    int me = shmem_my_pe();
    pin(me);
    remote = shmem_align(4096, LARGEST);
    local = shmem_align(4096, LARGEST);
    counter = shmem_malloc(sizeof *counter);
    flag = shmem_calloc(1, sizeof *flag);
    if (shmem_n_pes() != 2 || remote == NULL || local == NULL || counter == NULL || flag == NULL) {
        fprintf(stderr, "operations: needs 2 PEs and memory\n");
        shmem_global_exit(2);
    }
    memset(remote, me, LARGEST);
    memset(local, me, LARGEST);
    *counter = 0;
    shmem_barrier_all();
    if (me == 0 && is_sweep) {
        sweep();
    } else if (me == 0) {
        row("put 8 B + quiet", timed(put, 8, 20000));
        row("get 8 B", timed(get, 8, 20000));
        row("fetch_add", timed(fetch_add, 8, 20000));
        row("put 1 MiB + quiet", timed(put, MIB, 20));
        row("get 1 MiB", timed(get, MIB, 20));
    }
    shmem_barrier_all();
    if (!is_sweep) {
        double time = timed(barrier, 0, 5000);
        if (me == 0) {
            row("barrier_all", time);
        }
        time = timed(ping_pong, 0, 5000);
        if (me == 0) {
            row("flag, there and back", time);
        }
    }
    fflush(stdout);
    shmem_finalize();
    return 0;
}
