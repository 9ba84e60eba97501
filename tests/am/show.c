// farreach_am_show: a program that looks calls the engine only where there is something to do, and finds
// each message, request and reply.
// run: np=1,2,3 mode=am
// run: np=2 mode=am cflags=-DFARREACH_AM_THREADS
#include "check.h"
#include <sched.h>

enum { ASK, ANSWER, TELL, TIMES = 1000 };

static farreach_am_t *am;
static uint32_t come[3];
static unsigned char todo[FARREACH_AM_SHOWN_BYTES + 1];
static const uint64_t *bells;

static void take(farreach_am_message_t *message)
{
    come[message->handler]++;
    if (message->handler == ASK)
        OK(farreach_am_reply_short(message, ANSWER, NULL, 0));
}

static int is_due(void)
{
    const volatile unsigned char *bytes = todo;
    const volatile uint64_t *words = bells;
    return bytes[0] || bytes[1] || bytes[2] || words[0] || words[FARREACH_AM_BELL_STEP];
}

// Polls where that is due, until messages have come as often.
static void look_until(uint32_t handler, uint32_t times)
{
    while (come[handler] < times) {
        if (is_due())
            OK(farreach_am_poll(am));
        if (come[handler] < times)
            sched_yield();
    }
}

int main(void)
{
    const farreach_am_config_t config = { .version = FARREACH_AM_VERSION };
    OK(farreach_am_open(&config, &am));
    const uint32_t rank = farreach_am_rank(am), ranks = farreach_am_ranks(am);
    uint32_t all[64];
    int are_near = 1;
    for (uint32_t other = 0; other < ranks; other++)
        are_near &= farreach_am_is_near(am, other);
    meet_register(am);
    for (uint8_t handler = ASK; handler <= TELL; handler++)
        OK(farreach_am_register(am, handler, take, NULL));
    todo[FARREACH_AM_SHOWN_BYTES] = 77;
    CHECK(farreach_am_show(am, NULL, &bells) == FARREACH_AM_EINVAL);
    OK(farreach_am_show(am, todo, &bells));
    OK(farreach_am_attach(am, NULL, 4096));

    // Each asks the next one, which looks and answers, so that each looks for requests and replies.
    const uint32_t next = (rank + 1) % ranks;
    for (uint32_t time = 1; time <= TIMES; time++) {
        OK(farreach_am_request_short(am, next, ASK, NULL, 0));
        look_until(ASK, time);
        look_until(ANSWER, time);
    }
    meet(am);

    // Nothing is due once all have come, and nobody sends; a message alone makes it so.
    if (are_near) {
        OK(farreach_am_exchange(am, &rank, sizeof rank, all));
        OK(farreach_am_poll(am));
        OK(farreach_am_poll(am));
        CHECK(!is_due());
        OK(farreach_am_exchange(am, &rank, sizeof rank, all));
        if (rank == 0)
            OK(farreach_am_request_short(am, next, TELL, NULL, 0));
        OK(farreach_am_exchange(am, &rank, sizeof rank, all));
        if (ranks > 1)
            CHECK(is_due() == (rank == 1));
        OK(farreach_am_exchange(am, &rank, sizeof rank, all));
        if (next == 0 || rank == 1)
            OK(farreach_am_poll(am));
        CHECK(!is_due() && come[TELL] == (rank == 1 % ranks));
        OK(farreach_am_exchange(am, &rank, sizeof rank, all));
    } else {
        CHECK(todo[0] || todo[1] || todo[2]);
    }
    CHECK(todo[FARREACH_AM_SHOWN_BYTES] == 77);
    meet(am);
    farreach_am_close(am);
    return 0;
}
