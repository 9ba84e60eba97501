// The functions that try return FARREACH_AM_EAGAIN while a peer takes nothing, and have done nothing
// then; the messages that were sent come, each once, when the peer polls.
// run: np=1,2,3 mode=am
// run: np=2 mode=am cflags=-DFARREACH_AM_THREADS
#include "check.h"
#include <string.h>
#include <unistd.h>

enum { SHORT, MEDIUM, LONG, CONNECT, KINDS = 3 };
// More messages than any ring or queue has room for.
enum { MANY = 100000 };
enum { MEDIUM_BYTES = 3000, LONG_BYTES = 512, SEGMENT = 4096 };

static farreach_am_t *am;
static uint32_t rank, ranks, to;
static uint64_t start, done;
static uint32_t come[KINDS], wanted;
static unsigned char bytes[MEDIUM_BYTES];
static uint32_t words[LONG_BYTES / 4];

// Checks a message: each has the number of messages of its kind before it.
static void take(farreach_am_message_t *message)
{
    uint32_t kind = message->handler;
    CHECK(message->source == (rank + ranks - 1) % ranks && message->category == kind);
    CHECK(message->nargs == 1 && message->args[0] == come[kind]);
    come[kind]++;
    if (kind == MEDIUM)
        CHECK(message->bytes == MEDIUM_BYTES && memcmp(message->payload, bytes, MEDIUM_BYTES) == 0);
    // A later one may have been stored already.
    if (kind == LONG)
        CHECK(message->bytes == LONG_BYTES && *(uint32_t *)message->payload >= message->args[0]);
}

static void connect(farreach_am_message_t *message) { CHECK(message->bytes == 0); }

static int send_one(uint32_t kind, uint32_t number)
{
    if (kind == SHORT)
        return farreach_am_try_request_short(am, to, kind, &number, 1);
    if (kind == MEDIUM)
        return farreach_am_try_request_medium(am, to, kind, bytes, MEDIUM_BYTES, &number, 1);
    words[0] = number;
    return farreach_am_try_request_long(am, to, kind, words, LONG_BYTES, start, &number, 1);
}

static int all_have_come(void *kind) { return come[*(uint32_t *)kind] == wanted; }

// Sends messages of a kind until there is no room, while nobody polls.
static void fill(uint32_t kind)
{
    uint32_t sent = 0, of_all[64];
    int result = FARREACH_AM_OK;
    // Over a network it may become known a little later that the peer has taken messages before.
    for (int is_known = 0; !is_known;) {
        uint32_t before = sent;
        while (sent < MANY && (result = send_one(kind, sent)) == FARREACH_AM_OK)
            sent++;
        is_known = to == rank || result != FARREACH_AM_EAGAIN || sent == before;
        if (!is_known)
            usleep(20000);
    }
    // A message to itself is handled at once.
    if (to != rank) {
        CHECK(result == FARREACH_AM_EAGAIN && sent > 0);
        CHECK(strstr(farreach_am_explain(), "no room"));
        CHECK(send_one(kind, sent) == FARREACH_AM_EAGAIN);
        const farreach_am_segment_t *segment = &farreach_am_segments(am)[to];
        CHECK(!farreach_am_has_room(am, to) || kind == MEDIUM);
        if (kind == LONG && segment->near)
            CHECK(*(volatile uint32_t *)segment->mapped == sent - 1);
    }
    // The launcher brings them together, without messages.
    OK(farreach_am_exchange(am, &sent, sizeof sent, of_all));
    wanted = of_all[(rank + ranks - 1) % ranks];
    OK(farreach_am_wait(am, all_have_come, &kind));
    meet(am);
    // There is room again.
    CHECK(farreach_am_has_room(am, to) == farreach_am_is_near(am, to));
    OK(send_one(kind, sent));
    wanted++;
    OK(farreach_am_wait(am, all_have_come, &kind));
    meet(am);
}

// Starts operations as often as there is room, and polls where there is none: groups of an atomic
// operation, puts to words of their own, and a get of the last one of these.
static void access_memory(void)
{
    enum { GROUP = 64, GROUPS = 50 };
    uint64_t later = 0, value, back = 0;
    for (uint64_t i = 1; i <= GROUP * GROUPS; i++) {
        int result;
        do {
            value = i;
            if (i % GROUP == 0)
                result = farreach_am_try_get(am, to, &back, start + 8 * (GROUP - 1), 8, &done);
            else if (i % GROUP == 1)
                result = farreach_am_try_atomic(am, to, start, FARREACH_AM_ADD, FARREACH_AM_U64, 1,
                                                0, NULL, &done);
            else
                result = farreach_am_try_put(am, to, start + 8 * (i % GROUP), &value, 8,
                                             FARREACH_AM_REUSE, &done);
            CHECK(result == FARREACH_AM_OK || result == FARREACH_AM_DONE ||
                  result == FARREACH_AM_EAGAIN);
            if (result == FARREACH_AM_EAGAIN)
                OK(farreach_am_poll(am));
        } while (result == FARREACH_AM_EAGAIN);
        later += result == FARREACH_AM_OK;
        if ((i + 1) % GROUP <= 1)
            while (*(volatile uint64_t *)&done != later)
                OK(farreach_am_poll(am));
        CHECK(i % GROUP || back == i - 1);
    }
    meet(am);
    const uint64_t *own = (void *)(uintptr_t)farreach_am_segments(am)[rank].start;
    CHECK(own[0] == GROUPS);
    for (uint64_t i = 2; i < GROUP; i++)
        CHECK(own[i] == GROUP * (GROUPS - 1) + i);
}

int main(void)
{
    farreach_am_config_t config = {.version = FARREACH_AM_VERSION, .ring_bytes = 32768};
    OK(farreach_am_open(&config, &am));
    rank = farreach_am_rank(am), ranks = farreach_am_ranks(am), to = (rank + 1) % ranks;
    meet_register(am);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        OK(farreach_am_register(am, (uint8_t)kind, take, NULL));
    OK(farreach_am_register(am, CONNECT, connect, NULL));
    OK(farreach_am_attach(am, NULL, SEGMENT));
    start = farreach_am_segments(am)[to].start;
    for (int i = 0; i < MEDIUM_BYTES; i++)
        bytes[i] = (unsigned char)(i * 7);
    OK(farreach_am_request_short(am, to, CONNECT, NULL, 0));
    meet(am);
    access_memory();
    for (uint32_t kind = 0; kind < KINDS; kind++)
        fill(kind);
    meet(am);
    farreach_am_close(am);
    return 0;
}
