// Random requests of every category and length go from all processes to all, themselves included,
// and are answered at random: soak SECONDS [SEED [RING_BYTES]].
// run: np=8 mode=am nodes=1 timeout=120 args=60 1 32768
// run: np=1,4 mode=am args=2 7
#include "check.h"
#include <string.h>
#include <time.h>

enum { REQUEST, ANSWER, MOST = 1 << 17 };
// Arguments: the seed of the payload, how the request is answered (3: not at all), and with how
// many bytes; others are random.
enum { SEED, WANTED, BYTES, USED };

static farreach_am_t *am;
static uint32_t rank, ranks;
static size_t most_medium;
static uint64_t state, sent, answered;
static unsigned char payload[MOST], reply[MOST];
// Whether the places for long payloads there, and for long answers from there, are in use.
static unsigned char is_busy[1024];

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

// Returns a length, mostly a short one.
static size_t length(size_t most)
{
    size_t bits = next() % 18, bytes = next() % ((size_t)1 << bits);
    return bytes < most ? bytes : most;
}

static void fill(unsigned char *bytes, size_t many, uint32_t seed)
{
    for (size_t i = 0; i < many; i++)
        bytes[i] = (unsigned char)(seed + i * 3 + i / 253);
}

static void check(const farreach_am_message_t *message)
{
    const unsigned char *bytes = message->payload;
    uint32_t seed = message->args[SEED];
    for (size_t i = 0; i < message->bytes; i++)
        CHECK(bytes[i] == (unsigned char)(seed + i * 3 + i / 253));
    for (uint32_t i = USED; i < message->nargs; i++)
        CHECK(message->args[i] == seed * i);
}

// Returns the place for payloads of a process, in the lower or upper half of a segment.
static uint64_t place(uint32_t of, uint32_t from, int is_answer)
{
    return farreach_am_segments(am)[of].start + (uint64_t)(from * 2 + is_answer) * MOST;
}

static void requested(farreach_am_message_t *message)
{
    check(message);
    uint32_t args[FARREACH_AM_MOST_ARGS], seed = message->args[SEED] ^ 0x55;
    uint32_t wanted = message->args[WANTED];
    uint32_t nargs = USED + seed % (FARREACH_AM_MOST_ARGS - USED + 1);
    size_t bytes = message->args[BYTES];
    if (wanted == 3)
        return;
    for (uint32_t i = 0; i < nargs; i++)
        args[i] = i == SEED ? seed : seed * i;
    args[WANTED] = wanted, args[BYTES] = message->category;
    fill(reply, bytes, seed);
    switch (wanted) {
    case FARREACH_AM_SHORT:
        OK(farreach_am_reply_short(message, ANSWER, args, nargs));
        break;
    case FARREACH_AM_MEDIUM:
        OK(farreach_am_reply_medium(message, ANSWER, reply, bytes, args, nargs));
        break;
    default:
        OK(farreach_am_reply_long(message, ANSWER, reply, bytes, place(message->source, rank, 1),
                                  args, nargs));
    }
}

static void is_answered(farreach_am_message_t *message)
{
    check(message);
    CHECK(message->is_reply && message->category == message->args[WANTED]);
    if (message->category == FARREACH_AM_LONG || message->args[BYTES] == FARREACH_AM_LONG)
        is_busy[message->source] = 0;
    answered++;
}

static int all_answered(void *context)
{
    (void)context;
    return answered == sent;
}

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    farreach_am_config_t config = {.version = FARREACH_AM_VERSION};
    if (argc > 3)
        config.ring_bytes = (size_t)atol(argv[3]);
    OK(farreach_am_open(&config, &am));
    rank = farreach_am_rank(am), ranks = farreach_am_ranks(am);
    most_medium = farreach_am_most_medium(am);
    CHECK(ranks <= sizeof is_busy && most_medium < MOST);
    state = (argc > 2 ? (uint64_t)atol(argv[2]) : 1) * 1000 + rank;
    meet_register(am);
    OK(farreach_am_register(am, REQUEST, requested, NULL));
    OK(farreach_am_register(am, ANSWER, is_answered, NULL));
    OK(farreach_am_attach(am, NULL, (size_t)ranks * 2 * MOST));
    time_t end = time(NULL) + atol(argv[1]);
    for (uint64_t i = 0; i % 64 || time(NULL) < end; i++) {
        uint32_t to = (uint32_t)(next() % ranks), seed = (uint32_t)next();
        uint32_t category = next() % 3, wanted = next() % 4;
        if ((category == FARREACH_AM_LONG || wanted == FARREACH_AM_LONG) && is_busy[to])
            category = wanted = FARREACH_AM_SHORT;
        if (category == FARREACH_AM_LONG && wanted == 3)
            wanted = FARREACH_AM_SHORT;
        if (category == FARREACH_AM_LONG || wanted == FARREACH_AM_LONG)
            is_busy[to] = 1;
        uint32_t args[FARREACH_AM_MOST_ARGS];
        uint32_t nargs = USED + next() % (FARREACH_AM_MOST_ARGS - USED + 1);
        for (uint32_t k = USED; k < nargs; k++)
            args[k] = seed * k;
        args[SEED] = seed, args[WANTED] = wanted;
        args[BYTES] = (uint32_t)length(wanted == FARREACH_AM_LONG ? MOST : most_medium);
        size_t bytes = length(category == FARREACH_AM_LONG ? MOST : most_medium);
        fill(payload, bytes, seed);
        sent += wanted != 3;
        switch (category) {
        case FARREACH_AM_SHORT:
            OK(farreach_am_request_short(am, to, REQUEST, args, nargs));
            break;
        case FARREACH_AM_MEDIUM:
            OK(farreach_am_request_medium(am, to, REQUEST, payload, bytes, args, nargs));
            break;
        default:
            OK(farreach_am_request_long(am, to, REQUEST, payload, bytes, place(to, rank, 0), args,
                                        nargs));
        }
    }
    OK(farreach_am_wait(am, all_answered, NULL));
    meet(am);
    if (rank == 0)
        printf("%llu of process 0 were answered\n", (unsigned long long)answered);
    farreach_am_close(am);
    return 0;
}
