// Messages of every category, number of arguments and length go around a ring of processes and to
// the process itself; each is answered, and each answer checked.
// run: np=1,2,3,16 mode=am
// run: np=3 mode=am launcher=hydra
// run: np=2 mode=am nodes=1 valgrind
#include "check.h"

enum { REQUEST, ANSWER, LENGTHS = 12, ROUNDS = 3 };

static size_t lengths[LENGTHS] = {0, 1, 7, 8, 9, 63, 64, 200, 1000, 4096, 0, 100000};
static uint32_t most_args = FARREACH_AM_MOST_ARGS;
static unsigned answers, requests;
static uint64_t own_start;
static size_t half;

static unsigned char byte_of(uint32_t seed, size_t at)
{
    return (unsigned char)(seed * 31 + at * 7 + at / 251);
}

static void check_payload(const farreach_am_message_t *message, uint32_t seed)
{
    const unsigned char *bytes = message->payload;
    for (size_t i = 0; i < message->bytes; i++)
        CHECK(bytes[i] == byte_of(seed, i));
}

static void check_args(const farreach_am_message_t *message, uint32_t seed)
{
    for (uint32_t i = 1; i < message->nargs; i++)
        CHECK(message->args[i] == seed + i * 0x01010101u);
}

// Fills the arguments: the first one, if there is one, is the seed of the others and of the
// payload.
static void fill(uint32_t *args, uint32_t nargs, uint32_t seed)
{
    for (uint32_t i = 0; i < nargs; i++)
        args[i] = seed + i * 0x01010101u;
}

static unsigned char payload[100000];

static void requested(farreach_am_message_t *message)
{
    CHECK(message->context == &requests && !message->is_reply && message->handler == REQUEST);
    requests++;
    uint32_t seed = message->nargs ? message->args[0] : 0;
    check_args(message, seed);
    if (message->nargs)
        check_payload(message, seed);
    CHECK(message->category != FARREACH_AM_MEDIUM || (uintptr_t)message->payload % 8 == 0);
    const farreach_am_segment_t *theirs = &farreach_am_segments(message->am)[message->source];
    int result;
    switch (message->category) {
    case FARREACH_AM_SHORT:
        CHECK(message->bytes == 0);
        result = farreach_am_reply_short(message, ANSWER, message->args, message->nargs);
        break;
    case FARREACH_AM_MEDIUM:
        result = farreach_am_reply_medium(message, ANSWER, message->payload, message->bytes,
                                          message->args, message->nargs);
        break;
    default:
        CHECK((uint64_t)(uintptr_t)message->payload == own_start);
        result = farreach_am_reply_long(message, ANSWER, message->payload, message->bytes,
                                        theirs->start + half, message->args, message->nargs);
    }
    CHECK(result == FARREACH_AM_OK);
    CHECK(farreach_am_reply_short(message, ANSWER, NULL, 0) == FARREACH_AM_ESTATE);
    CHECK(farreach_am_request_short(message->am, 0, ANSWER, NULL, 0) == FARREACH_AM_ESTATE);
}

static void answered(farreach_am_message_t *message)
{
    CHECK(message->is_reply && message->handler == ANSWER);
    CHECK(farreach_am_reply_short(message, ANSWER, NULL, 0) == FARREACH_AM_ESTATE);
    uint32_t seed = message->nargs ? message->args[0] : 0;
    check_args(message, seed);
    if (message->nargs)
        check_payload(message, seed);
    if (message->category == FARREACH_AM_LONG)
        CHECK((uint64_t)(uintptr_t)message->payload == own_start + half);
    answers++;
}

static int all_answered(void *wanted) { return answers >= *(unsigned *)wanted; }

int main(void)
{
    farreach_am_t *am;
    farreach_am_config_t config = {.version = FARREACH_AM_VERSION};
    OK(farreach_am_open(&config, &am));
    uint32_t rank = farreach_am_rank(am), ranks = farreach_am_ranks(am);
    size_t most = farreach_am_most_medium(am);
    CHECK(most >= FARREACH_AM_LEAST_MEDIUM);
    lengths[10] = most;
    OK(farreach_am_register(am, REQUEST, requested, &requests));
    OK(farreach_am_register(am, ANSWER, answered, NULL));
    meet_register(am);
    half = 1 << 17;
    OK(farreach_am_attach(am, NULL, 2 * half));
    own_start = farreach_am_segments(am)[rank].start;
    CHECK(farreach_am_attach(am, NULL, 0) == FARREACH_AM_ESTATE);
    CHECK(farreach_am_request_short(am, ranks, REQUEST, NULL, 0) == FARREACH_AM_EINVAL);
    uint32_t args[FARREACH_AM_MOST_ARGS + 1];
    CHECK(farreach_am_request_short(am, 0, REQUEST, args, most_args + 1) == FARREACH_AM_EINVAL);
    CHECK(farreach_am_request_medium(am, 0, REQUEST, payload, most + 1, NULL,
            0) == FARREACH_AM_EINVAL);

    unsigned wanted = 0;
    for (int round = 0; round < ROUNDS; round++) {
        // The next one, at last the process itself.
        uint32_t to = (rank + (round < ROUNDS - 1 ? 1 : 0)) % ranks;
        // Another one writes to the same place.
        meet(am);
        const farreach_am_segment_t *theirs = &farreach_am_segments(am)[to];
        uint64_t start = theirs->start, end = start + theirs->bytes;
        CHECK(farreach_am_request_long(am, to, REQUEST, payload, 8, end - 7, NULL, 0) ==
              FARREACH_AM_ERANGE);
        for (uint32_t nargs = 0; nargs <= most_args; nargs++) {
            uint32_t seed = rank * 1000 + nargs + (uint32_t)round;
            fill(args, nargs, seed);
            OK(farreach_am_request_short(am, to, REQUEST, args, nargs));
            wanted++;
            for (int i = 0; i < LENGTHS; i++) {
                for (size_t at = 0; at < lengths[i]; at++)
                    payload[at] = byte_of(seed, at);
                if (lengths[i] <= most) {
                    OK(farreach_am_request_medium(am, to, REQUEST, payload, lengths[i], args,
                            nargs));
                    wanted++;
                }
                // The place is the same for all: one after the other.
                OK(farreach_am_wait(am, all_answered, &wanted));
                OK(farreach_am_request_long(am, to, REQUEST, payload, lengths[i], start, args,
                                            nargs));
                wanted++;
                OK(farreach_am_wait(am, all_answered, &wanted));
            }
        }
    }
    meet(am);
    CHECK(answers == wanted && requests == wanted);
    farreach_am_close(am);
    return 0;
}
