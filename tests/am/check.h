// Checks of programs on farreach_am.h, and a barrier of messages.
#ifndef CHECK_H
#define CHECK_H
#include <farreach_am.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition,                    \
                    farreach_am_explain());                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) CHECK((call) == FARREACH_AM_OK)

// The handler of the barrier, at process 0, which tells all when all have come.
enum { MEET = 200, MET = 201 };
static uint32_t meet_come, meet_over;

static inline void meet_request(farreach_am_message_t *message)
{
    if (message->handler == MEET)
        meet_come++;
    else
        meet_over++;
}

static inline int meet_all_come(void *wanted) { return meet_come >= *(uint32_t *)wanted; }
static inline int meet_is_over(void *wanted) { return meet_over >= *(uint32_t *)wanted; }

// Registers the handlers of the barrier: before farreach_am_attach.
static inline void meet_register(farreach_am_t *am)
{
    OK(farreach_am_register(am, MEET, meet_request, NULL));
    OK(farreach_am_register(am, MET, meet_request, NULL));
}

// Waits until all processes have come here, handling messages meanwhile.
static inline void meet(farreach_am_t *am)
{
    static uint32_t times;
    times++;
    uint32_t ranks = farreach_am_ranks(am), come = times * ranks;
    OK(farreach_am_request_short(am, 0, MEET, NULL, 0));
    if (farreach_am_rank(am) == 0) {
        OK(farreach_am_wait(am, meet_all_come, &come));
        for (uint32_t rank = 0; rank < ranks; rank++)
            OK(farreach_am_request_short(am, rank, MET, NULL, 0));
    }
    OK(farreach_am_wait(am, meet_is_over, &times));
}
#endif
