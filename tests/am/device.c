// Atomic operations of the device: all processes add to words of all, those of the own node and
// their own too, and nothing is lost. Where no device does an operation it is refused.
// run: np=1,2,3,4 mode=am
// run: np=2 mode=am cflags=-DFARREACH_AM_THREADS
#include "check.h"
#include <string.h>

enum { ROUNDS = 200, WORDS = 16, MOST_RANKS = 64 };

static farreach_am_t *am;
static uint32_t rank, ranks;
static uint64_t done, started;
static int has_small; // whether the devices have operations on 4 bytes

static int are_done(void *unused)
{
    (void)unused;
    return __atomic_load_n(&done, __ATOMIC_ACQUIRE) == started;
}

static void wait_for_all(void) { OK(farreach_am_wait(am, are_done, NULL)); }

// Starts an operation on a word of a process, by the function that waits or by the one that tries.
static void start(int tries, uint32_t to, uint64_t at, int operation, int type, uint64_t operand,
                  uint64_t comparand, void *result)
{
    int code = FARREACH_AM_EAGAIN;
    if (!tries && operation == FARREACH_AM_ADD && type == FARREACH_AM_U64)
        code = result ? farreach_am_device_fetch_add(am, result, to, at, operand, &done)
                      : farreach_am_device_add(am, to, at, operand, &done);
    while (code == FARREACH_AM_EAGAIN) {
        code = tries ? farreach_am_try_device_atomic(am, to, at, operation, type, operand, comparand,
                                                     result, &done)
                     : farreach_am_device_atomic(am, to, at, operation, type, operand, comparand,
                                                 result, &done);
        if (code == FARREACH_AM_EAGAIN)
            OK(farreach_am_poll(am));
    }
    OK(code);
    started++;
}

static uint64_t fetch(uint32_t to, uint64_t at, int operation, int type, uint64_t operand,
                      uint64_t comparand)
{
    // At an odd address: a result may lie anywhere.
    char result[1 + sizeof(uint64_t)] = { 0 };
    uint64_t before;
    start(0, to, at, operation, type, operand, comparand, result + 1);
    wait_for_all();
    memcpy(&before, result + 1, sizeof before);
    return before;
}

// Lets all add to the first words of a region of each: 8 bytes, and 4 of both types beside each
// other.
static void add_up(const uint64_t regions[])
{
    static uint64_t found[ROUNDS];
    meet(am);
    for (uint32_t to = 0; to < ranks; to++) {
        for (int i = 0; i < ROUNDS; i++) {
            start(i % 2, to, regions[to], FARREACH_AM_ADD, i % 3 ? FARREACH_AM_U64 : FARREACH_AM_I64, 3,
                  0, i % 5 ? &found[i] : NULL);
            if (!has_small)
                continue;
            start(i % 2, to, regions[to] + 8, FARREACH_AM_ADD, FARREACH_AM_U32, 1u << 31 | 1, 0, NULL);
            start(i % 2, to, regions[to] + 12, FARREACH_AM_ADD, FARREACH_AM_I32, (uint32_t)-1, 0, NULL);
        }
        wait_for_all();
        // One process finds growing values.
        for (int i = 1; i < ROUNDS; i++)
            CHECK(i % 5 == 0 || (i - 1) % 5 == 0 || found[i] > found[i - 1]);
    }
    meet(am);
    for (uint32_t to = 0; to < ranks; to++) {
        const uint32_t times = ranks * ROUNDS;
        CHECK(fetch(to, regions[to], FARREACH_AM_GET, FARREACH_AM_U64, 0, 0) == 3 * (uint64_t)times);
        if (!has_small)
            continue;
        CHECK(fetch(to, regions[to] + 8, FARREACH_AM_GET, FARREACH_AM_U32, 0, 0) ==
              (uint32_t)((1u << 31 | 1) * times));
        CHECK((uint32_t)fetch(to, regions[to] + 12, FARREACH_AM_GET, FARREACH_AM_I32, 0, 0) ==
              (uint32_t)-times);
    }
    meet(am);
}

// Does all operations on a word of this process's own at the process behind it, and at itself.
static void each_as_it_says(uint32_t to, uint64_t at, int type)
{
    const uint64_t ones = type == FARREACH_AM_U32 ? UINT32_MAX : UINT64_MAX;
    CHECK(fetch(to, at, FARREACH_AM_SWAP, type, 12, 0) == 0);
    CHECK(fetch(to, at, FARREACH_AM_AND, type, 10, 0) == 12);
    CHECK(fetch(to, at, FARREACH_AM_OR, type, 3, 0) == 8);
    CHECK(fetch(to, at, FARREACH_AM_XOR, type, 1, 0) == 11);
    CHECK(fetch(to, at, FARREACH_AM_COMPARE_SWAP, type, 5, 11) == 10);
    CHECK(fetch(to, at, FARREACH_AM_COMPARE_SWAP, type, 5, 10) == 10);
    CHECK(fetch(to, at, FARREACH_AM_ADD, type, ones - 1, 0) == 5);
    start(1, to, at, FARREACH_AM_SET, type, 77, 0, NULL);
    wait_for_all();
    CHECK(fetch(to, at, FARREACH_AM_GET, type, 0, 0) == 77);
    start(0, to, at, FARREACH_AM_SET, type, 0, 0, NULL);
    wait_for_all();
}

static int atomic(uint32_t to, uint64_t at, int operation, int type)
{
    return farreach_am_device_atomic(am, to, at, operation, type, 1, 0, NULL, &done);
}

int main(void)
{
    static uint64_t own[WORDS];
    uint64_t segments[MOST_RANKS], exposed[MOST_RANKS];
    farreach_am_config_t config = { .version = FARREACH_AM_VERSION };
    OK(farreach_am_open(&config, &am));
    rank = farreach_am_rank(am);
    ranks = farreach_am_ranks(am);
    CHECK(ranks <= MOST_RANKS);
    meet_register(am);
    OK(farreach_am_attach(am, NULL, sizeof own));
    farreach_am_key_t key, keys[MOST_RANKS];
    OK(farreach_am_expose(am, own, sizeof own, &key));
    OK(farreach_am_exchange(am, &key, sizeof key, keys));
    for (uint32_t to = 0; to < ranks; to++) {
        OK(farreach_am_learn(am, to, &keys[to]));
        segments[to] = farreach_am_segments(am)[to].start;
        exposed[to] = keys[to].start;
    }

    const uint32_t next = (rank + 1) % ranks;
    const int does = farreach_am_device_does(am, FARREACH_AM_ADD, FARREACH_AM_U64);
    has_small = farreach_am_device_does(am, FARREACH_AM_ADD, FARREACH_AM_U32);
    CHECK(does == farreach_am_device_does(am, FARREACH_AM_ADD, FARREACH_AM_I64));
    CHECK(!farreach_am_device_does(am, FARREACH_AM_MULTIPLY, FARREACH_AM_U64));
    CHECK(!farreach_am_device_does(am, FARREACH_AM_ADD, FARREACH_AM_DOUBLE));
    CHECK(!farreach_am_device_does(am, 99, FARREACH_AM_U64));
    CHECK(atomic(next, segments[next], FARREACH_AM_MAX, FARREACH_AM_U64) == FARREACH_AM_ENOTSUP);
    CHECK(atomic(next, segments[next], FARREACH_AM_ADD, FARREACH_AM_FLOAT) == FARREACH_AM_ENOTSUP);
    CHECK(atomic(next, segments[next], 99, FARREACH_AM_U64) == FARREACH_AM_EINVAL);
    if (does) {
        CHECK(atomic(ranks, segments[0], FARREACH_AM_ADD, FARREACH_AM_U64) == FARREACH_AM_EINVAL);
        CHECK(atomic(next, segments[next] + sizeof own, FARREACH_AM_ADD, FARREACH_AM_U64) ==
              FARREACH_AM_ERANGE);
        CHECK(atomic(next, segments[next] + 4, FARREACH_AM_ADD, FARREACH_AM_U64) == FARREACH_AM_EINVAL);
        add_up(segments);
        add_up(exposed);
        for (uint32_t place = 0; place < 2; place++) {
            const uint32_t to = place ? next : rank;
            // Without masks there is addition and CAS alone.
            if (farreach_am_device_does(am, FARREACH_AM_AND, FARREACH_AM_U64))
                each_as_it_says(to, segments[to] + 16 + 8 * place, FARREACH_AM_U64);
            if (has_small)
                each_as_it_says(to, exposed[to] + 32 + 4 * place, FARREACH_AM_U32);
        }
    } else {
        CHECK(atomic(next, segments[next], FARREACH_AM_ADD, FARREACH_AM_U64) == FARREACH_AM_ENOTSUP);
    }
    meet(am);
    if (rank == 0)
        printf("atomic operations of the device: 8 bytes %d, 4 bytes %d\n", does, has_small);
    farreach_am_close(am);
    return 0;
}
