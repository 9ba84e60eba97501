// Rounds of signals that tell of data, and of locks that guard data that is not atomic.
#ifndef FARREACH_SOAK_POINTS_H
#define FARREACH_SOAK_POINTS_H

#include "lane.h"

#include <sched.h>

// Runs one turn: every other PE sends data with a signal to the PE `distance` ahead, which waits
// for it meanwhile and looks at the data as soon as the signal has come.
static void signal_turn(Lane *lane, Random *random, int turn)
{
    int distance = below(random, lane->pes), adds = below(random, 2), nbi = below(random, 2);
    int to = (lane->me + distance) % lane->pes, from = (lane->me + lane->pes - distance) % lane->pes;
    size_t count = 1 + (size_t)(draw(random) % (AREA / sizeof(long))), i;
    uint64_t key = draw(random), step = 1 + draw(random) % 100, seen;
    Context *context = &lane->contexts[0];
    long *data = local(lane, count * sizeof *data), *dest = (long *)(void *)lane->shared->area;
    uint64_t *signal = &lane->shared->signals[0], value;
    int pe;

    for (pe = 0; pe < lane->pes; pe++)
        if ((pe + turn) % 2 == 0) {
            fill(lane->areas[(pe + distance) % lane->pes], count * sizeof *data, key + (uint64_t)pe);
            lane->signals[(pe + distance) % lane->pes] += step;
        }
    if ((lane->me + turn) % 2 == 0) {
        fill(data, count * sizeof *data, key + (uint64_t)lane->me);
        value = adds ? step : lane->signals[to];
        context->is_used = true;
        if (nbi)
            shmem_ctx_long_put_signal_nbi(context->handle, dest, data, count, signal, value,
                                          adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, to);
        else
            shmem_ctx_long_put_signal(context->handle, dest, data, count, signal, value,
                                      adds ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET, to);
    }
    seen = shmem_signal_wait_until(signal, SHMEM_CMP_GE, lane->signals[lane->me]);
    if (seen != lane->signals[lane->me])
        wrong(lane, "the signal of PE %d is %llu and should be %llu", from, (unsigned long long)seen,
              (unsigned long long)lane->signals[lane->me]);
    // The last element comes last.
    for (i = count; (from + turn) % 2 == 0 && i-- > 0;)
        if ((uint64_t)dest[i] != mixed(key + (uint64_t)from, i))
            wrong(lane, "element %zu of %zu did not come before the signal of PE %d", i, count, from);
    finish_round(lane);
}

static void signal_round(Lane *lane, Random *random)
{
    int turns = 1 + below(random, 6), turn;

    for (turn = 0; turn < turns; turn++)
        signal_turn(lane, random, turn);
}

// Lets every PE go through the lock some times, and change the guarded data so that the change
// would be lost if others changed it too.
static void lock_round(Lane *lane, Random *random)
{
    int which = below(random, LOCKS), home = below(random, lane->pes), tries = below(random, 2);
    int times = 1 + below(random, 8), i, j;
    long *lock = &lane->shared->locks[which];
    uint64_t *guarded = lane->shared->guarded[which], old[4], key = draw(random);

    if (lane->me == home)
        for (i = 0; i < 4; i++)
            shmem_uint64_p(&guarded[i], key, home);
    shmem_quiet();
    shmem_team_sync(lane->teams[0].handle);
    for (i = 0; i < times; i++) {
        if (tries)
            while (shmem_test_lock(lock) != 0)
                sched_yield();
        else
            shmem_set_lock(lock);
        shmem_uint64_get(old, guarded, 4, home);
        for (j = 1; j < 4; j++)
            if (old[j] != old[0])
                wrong(lane, "lock %d: word %d is %#llx and word 0 %#llx", which, j,
                      (unsigned long long)old[j], (unsigned long long)old[0]);
        for (j = 0; j < 4; j++) {
            // On few processors the others come meanwhile.
            sched_yield();
            shmem_uint64_p(&guarded[j], old[j] + 1, home);
        }
        shmem_clear_lock(lock);
    }
    finish_round(lane);
    if (lane->me == home && guarded[0] != key + (uint64_t)(times * lane->pes))
        wrong(lane, "lock %d: %lld passages were counted and %d made", which,
              (long long)(guarded[0] - key), times * lane->pes);
    if (*lock != 0)
        wrong(lane, "lock %d is %#lx when nobody holds it", which, (unsigned long)*lock);
}

#endif
