// Calls that are wrong are refused, with words; a message that nobody handles ends the job.
// run: np=2 mode=am
// run: np=2 mode=am expect-exit=1 args=unhandled
#include "check.h"
#include <string.h>

static void refused(int result, int expected, const char *words)
{
    CHECK(result == expected && strstr(farreach_am_explain(), words));
}

enum { FORBIDDEN = 50 };

// Results of calls in a handler.
static int polled, requested;

static void on_forbidden(farreach_am_message_t *message)
{
    polled = farreach_am_poll(message->am);
    requested = farreach_am_request_short(message->am, message->source, FORBIDDEN, NULL, 0);
}

enum { TOO_LONG = 51, ANSWER };

static int answered;

// Replies once more where the first reply is refused.
static void on_too_long(farreach_am_message_t *message)
{
    size_t most = farreach_am_most_medium(message->am);
    char *payload = calloc(1, most + 1);
    refused(farreach_am_reply_medium(message, ANSWER, payload, most + 1, NULL, 0),
            FARREACH_AM_EINVAL, "most_medium");
    OK(farreach_am_reply_short(message, ANSWER, NULL, 0));
    refused(farreach_am_reply_short(message, ANSWER, NULL, 0), FARREACH_AM_ESTATE, "second one");
    free(payload);
}

static void on_answer(farreach_am_message_t *message)
{
    (void)message;
    answered++;
}

int main(int argc, char **argv)
{
    farreach_am_t *am;
    farreach_am_config_t config = {.version = FARREACH_AM_VERSION + 1};
    refused(farreach_am_open(&config, &am), FARREACH_AM_EINVAL, "config.version");
    config.version = FARREACH_AM_VERSION;
    OK(farreach_am_open(&config, &am));
    uint32_t ranks = farreach_am_ranks(am), other = 1 - farreach_am_rank(am);
    meet_register(am);
    OK(farreach_am_register(am, FORBIDDEN, on_forbidden, NULL));
    CHECK(farreach_am_segments(am) == NULL);
    uint64_t done = 0, value = 0, start;
    refused(farreach_am_put(am, other, 4096, &value, 8, 0, &done), FARREACH_AM_ERANGE, "segment");
    OK(farreach_am_attach(am, NULL, 4096));
    start = farreach_am_segments(am)[other].start;
    refused(farreach_am_put(am, ranks, start, &value, 8, 0, &done), FARREACH_AM_EINVAL,
            "no such rank");
    refused(farreach_am_put(am, other, start + 4089, &value, 8, 0, &done), FARREACH_AM_ERANGE,
            "segment");
    refused(farreach_am_put_word(am, ranks, start, 1, &done), FARREACH_AM_EINVAL, "no such rank");
    refused(farreach_am_put_word(am, other, start + 4089, 1, &done), FARREACH_AM_ERANGE, "segment");
    refused(farreach_am_get(am, other, &value, start - 1, 8, &done), FARREACH_AM_ERANGE, "segment");
    refused(farreach_am_atomic(am, other, start, FARREACH_AM_AND, FARREACH_AM_FLOAT, 0, 0, NULL,
            &done),
            FARREACH_AM_ENOTSUP, "type");
    refused(farreach_am_atomic(am, other, start, 99, FARREACH_AM_U64, 0, 0, NULL, &done),
            FARREACH_AM_EINVAL, "no such");
    refused(farreach_am_atomic(am, other, start + 4, FARREACH_AM_ADD, FARREACH_AM_U64, 1, 0,
            NULL, &done),
            FARREACH_AM_EINVAL, "aligned");
    OK(farreach_am_request_short(am, other, FORBIDDEN, NULL, 0));
    meet(am);
    CHECK(polled == FARREACH_AM_ESTATE && requested == FARREACH_AM_ESTATE);
    OK(farreach_am_register(am, TOO_LONG, on_too_long, NULL));
    OK(farreach_am_register(am, ANSWER, on_answer, NULL));
    meet(am);
    OK(farreach_am_request_short(am, other, TOO_LONG, NULL, 0));
    while (!answered)
        OK(farreach_am_poll(am));
    refused(farreach_am_request_long(am, other, ANSWER, NULL, (size_t)1 << 48, start, NULL, 0),
            FARREACH_AM_EINVAL, "2^48");
    meet(am);
    CHECK(answered == 1);
    refused(farreach_am_conceal(am, &value), FARREACH_AM_EINVAL, "no exposed memory");
    refused(farreach_am_forget(am, other, 1), FARREACH_AM_EINVAL, "no known region");
    // Memory of the program, which the other one learns of by a message of its key.
    static uint64_t words[8];
    farreach_am_key_t own, *keys = calloc(ranks, sizeof *keys);
    OK(farreach_am_expose(am, words, sizeof words, &own));
    OK(farreach_am_exchange(am, &own, sizeof own, keys));
    OK(farreach_am_learn(am, other, &keys[other]));
    value = 77;
    int result = farreach_am_put(am, other, keys[other].start + 8, &value, 8, FARREACH_AM_REUSE,
            &done);
    CHECK(result >= 0);
    while (result == FARREACH_AM_OK && done == 0)
        OK(farreach_am_poll(am));
    meet(am);
    CHECK(words[1] == 77);
    OK(farreach_am_forget(am, other, keys[other].start));
    refused(farreach_am_put(am, other, keys[other].start, &value, 8, 0, &done),
            FARREACH_AM_ERANGE, "segment");
    meet(am);
    OK(farreach_am_conceal(am, words));
    free(keys);
    if (argc > 1 && strcmp(argv[1], "unhandled") == 0) {
        OK(farreach_am_request_short(am, other, 99, NULL, 0));
        meet(am);
        CHECK(!"the message was handled");
    }
    farreach_am_close(am);
    return 0;
}
