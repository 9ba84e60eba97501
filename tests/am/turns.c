// Processes take turns at requests to the first one, longer than it takes to poll the ring of another
// sender, and then all send at once: each request is answered, whose bell was rung or not.
// run: np=3 mode=am nodes=1
// run: np=4 mode=am nodes=1 cflags=-DFARREACH_AM_THREADS
#include "check.h"

enum { ASK, ANSWER, TIMES = 400 };

static uint32_t asked[64], answers;

static void take(farreach_am_message_t *message)
{
    if (message->handler == ANSWER) {
        answers++;
        return;
    }
    asked[message->source]++;
    CHECK(message->nargs == 1 && message->args[0] == asked[message->source]);
    OK(farreach_am_reply_short(message, ANSWER, NULL, 0));
}

static int are_answered(void *wanted) { return answers >= *(uint32_t *)wanted; }

// Asks so many times, and waits for each answer, or for the last one.
static void ask(farreach_am_t *am, int waits_for_each)
{
    static uint32_t asks;
    for (uint32_t time = 0; time < TIMES; time++) {
        asks++;
        OK(farreach_am_request_short(am, 0, ASK, &asks, 1));
        if (waits_for_each)
            OK(farreach_am_wait(am, are_answered, &asks));
    }
    OK(farreach_am_wait(am, are_answered, &asks));
}

int main(void)
{
    const farreach_am_config_t config = { .version = FARREACH_AM_VERSION };
    farreach_am_t *am;
    OK(farreach_am_open(&config, &am));
    const uint32_t rank = farreach_am_rank(am), ranks = farreach_am_ranks(am);
    meet_register(am);
    OK(farreach_am_register(am, ASK, take, NULL));
    OK(farreach_am_register(am, ANSWER, take, NULL));
    OK(farreach_am_attach(am, NULL, 4096));
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t turn = 1; turn < ranks; turn++) {
            if (rank == turn)
                ask(am, 1);
            meet(am);
        }
        if (rank != 0)
            ask(am, 0);
        meet(am);
    }
    for (uint32_t other = 1; rank == 0 && other < ranks; other++)
        CHECK(asked[other] == 4 * TIMES);
    farreach_am_close(am);
    return 0;
}
