// More requests than there is room for, in both directions at once, all answered, while nobody waits.
// run: np=2,4 mode=seq,par
// run: np=3 mode=parsync
#include "check.h"

enum { SHORT = 128, MEDIUM, LONG, BACK, MANY = 4000 };

static volatile uint32_t answers;
static uint32_t sum;

static void on_short(gasnet_token_t token, gasnet_handlerarg_t value) { GOOD(gasnet_AMReplyShort1(token, BACK, value)); }

static void on_medium(gasnet_token_t token, void *payload, size_t bytes, gasnet_handlerarg_t value)
{
    CHECK(is_filled(payload, bytes, 1, 2));
    GOOD(gasnet_AMReplyShort1(token, BACK, value));
}

static void on_long(gasnet_token_t token, void *payload, size_t bytes, gasnet_handlerarg_t value)
{
    CHECK(is_filled(payload, bytes, 1, 2));
    GOOD(gasnet_AMReplyShort1(token, BACK, value));
}

static void on_back(gasnet_token_t token, gasnet_handlerarg_t value)
{
    (void)token;
    sum += (uint32_t)value;
    answers++;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{SHORT, (void (*)())on_short}, {MEDIUM, (void (*)())on_medium},
                                        {LONG, (void (*)())on_long}, {BACK, (void (*)())on_back}};
    set_up(&argc, &argv, handlers, 4);
    static char payload[3000];
    uint32_t expected = 0;
    fill(payload, sizeof payload, 1, 2);
    for (uint32_t i = 0; i < MANY; i++) {
        const uint32_t node = (me + i) % nodes;
        const size_t bytes = i * 37 % sizeof payload;
        if (i % 8 == 3)
            GOOD(gasnet_AMRequestMedium1(node, MEDIUM, payload, bytes, (int)i));
        else if (i % 8 == 6)
            GOOD(gasnet_AMRequestLong1(node, LONG, payload, bytes, at(node, me * 4096), (int)i));
        else
            GOOD(gasnet_AMRequestShort1(node, SHORT, (int)i));
        expected += i;
    }
    GASNET_BLOCKUNTIL(answers == MANY);
    CHECK(sum == expected);
    meet();
    gasnet_exit(0);
}
