// Threads of each process send requests to all processes, read and write their memory, and add to
// it, each as it likes.
// run: np=1,2,3 mode=am cflags=-pthread
#define FARREACH_AM_THREADS
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ASK, ANSWER, THREADS = 4, ROUNDS = 300, BYTES = 3000 };
static farreach_am_t *am;
static uint32_t rank, ranks;
static _Atomic uint64_t answers[THREADS], handled;

static void ask(farreach_am_message_t *message)
{
    handled++;
    for (size_t i = 0; i < message->bytes; i++)
        CHECK(((unsigned char *)message->payload)[i] == (unsigned char)(message->args[0] + i));
    OK(farreach_am_reply_short(message, ANSWER, message->args, 1));
}

static void answer(farreach_am_message_t *message) { answers[message->args[0]]++; }

struct wish {
    uint32_t thread;
    uint64_t wanted;
};

static int all_answered(void *context)
{
    struct wish *wish = context;
    return answers[wish->thread] == wish->wanted;
}

static int is_done(void *context) { return atomic_load((_Atomic uint64_t *)context) != 0; }

// Waits for the end of an operation that has returned this.
static void wait_for(int result, uint64_t *done)
{
    CHECK(result == FARREACH_AM_DONE || result == FARREACH_AM_OK);
    if (result == FARREACH_AM_OK)
        OK(farreach_am_wait(am, is_done, done));
}

static void *life(void *number)
{
    struct wish wish = {(uint32_t)(uintptr_t)number, 0};
    unsigned char bytes[BYTES], back[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(wish.thread + i);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t to = (rank + round) % ranks;
        uint32_t args[2] = {wish.thread, round};
        OK(farreach_am_request_short(am, to, ASK, args, 2));
        OK(farreach_am_request_medium(am, to, ASK, bytes, round * 10 % BYTES, args, 1));
        wish.wanted += 2;
        uint64_t start = farreach_am_segments(am)[to].start, done = 0;
        // A place for each thread of each process, behind a word for all.
        uint64_t place = start + 64 + (uint64_t)(rank * THREADS + wish.thread) * BYTES;
        size_t len = 1 + round * 7 % (BYTES - 1);
        uint32_t flags = round % 2 ? FARREACH_AM_REUSE : 0;
        wait_for(farreach_am_put(am, to, place, bytes, len, flags, &done), &done);
        done = 0;
        wait_for(farreach_am_get(am, to, back, place, len, &done), &done);
        CHECK(memcmp(bytes, back, len) == 0);
        uint64_t word = (uint64_t)round << 32 | wish.thread, found = 0;
        done = 0;
        wait_for(farreach_am_put_word(am, to, place, word, &done), &done);
        done = 0;
        wait_for(farreach_am_get(am, to, &found, place, sizeof found, &done), &done);
        CHECK(found == word);
        done = 0;
        int result = farreach_am_atomic(am, to, start, FARREACH_AM_ADD, FARREACH_AM_U64, 1, 0, NULL,
                                        &done);
        wait_for(result, &done);
        done = 0;
        double before, one = 1;
        uint64_t bits;
        memcpy(&bits, &one, sizeof bits);
        result = farreach_am_atomic(am, to, start + 8, FARREACH_AM_ADD, FARREACH_AM_DOUBLE, bits, 0,
                                    &before, &done);
        wait_for(result, &done);
        if (round % 16 == 0)
            OK(farreach_am_wait(am, all_answered, &wish));
    }
    OK(farreach_am_wait(am, all_answered, &wish));
    return NULL;
}

int main(void)
{
    farreach_am_config_t config = {.version = FARREACH_AM_VERSION};
    OK(farreach_am_open(&config, &am));
    rank = farreach_am_rank(am), ranks = farreach_am_ranks(am);
    meet_register(am);
    OK(farreach_am_register(am, ASK, ask, NULL));
    OK(farreach_am_register(am, ANSWER, answer, NULL));
    OK(farreach_am_attach(am, NULL, 64 + (size_t)ranks * THREADS * BYTES));
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, life, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    meet(am);
    // Each process has sent to each the same number of times, or nearly: all together make them up.
    uint64_t count = 0, sum, done = 0;
    double total;
    const farreach_am_segment_t *own = &farreach_am_segments(am)[rank];
    wait_for(farreach_am_get(am, rank, &count, own->start, sizeof count, &done), &done);
    memcpy(&total, own->mapped + 8, sizeof total);
    CHECK(count * 2 == handled && total == (double)count);
    uint64_t *all = malloc(ranks * sizeof count);
    OK(farreach_am_exchange(am, &count, sizeof count, all));
    sum = 0;
    for (uint32_t i = 0; i < ranks; i++)
        sum += all[i];
    CHECK(sum == (uint64_t)ranks * THREADS * ROUNDS);
    free(all);
    farreach_am_close(am);
    return 0;
}
