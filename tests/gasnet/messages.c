// Requests and replies of all categories and numbers of arguments, of several sizes, to all nodes, the
// own one too.
// run: np=1,2,3,4 mode=seq,par
// run: np=2 mode=parsync
// run: np=2 mode=seq launcher=hydra
#include "check.h"

#define P0
#define P1 , gasnet_handlerarg_t a0
#define P2 P1, gasnet_handlerarg_t a1
#define P3 P2, gasnet_handlerarg_t a2
#define P4 P3, gasnet_handlerarg_t a3
#define P5 P4, gasnet_handlerarg_t a4
#define P6 P5, gasnet_handlerarg_t a5
#define P7 P6, gasnet_handlerarg_t a6
#define P8 P7, gasnet_handlerarg_t a7
#define P9 P8, gasnet_handlerarg_t a8
#define P10 P9, gasnet_handlerarg_t a9
#define P11 P10, gasnet_handlerarg_t a10
#define P12 P11, gasnet_handlerarg_t a11
#define P13 P12, gasnet_handlerarg_t a12
#define P14 P13, gasnet_handlerarg_t a13
#define P15 P14, gasnet_handlerarg_t a14
#define P16 P15, gasnet_handlerarg_t a15
#define V0
#define V1 , a0
#define V2 V1, a1
#define V3 V2, a2
#define V4 V3, a3
#define V5 V4, a4
#define V6 V5, a5
#define V7 V6, a6
#define V8 V7, a7
#define V9 V8, a8
#define V10 V9, a9
#define V11 V10, a10
#define V12 V11, a11
#define V13 V12, a12
#define V14 V13, a13
#define V15 V14, a14
#define V16 V15, a15
#define C0
#define C1 , value(0)
#define C2 C1, value(1)
#define C3 C2, value(2)
#define C4 C3, value(3)
#define C5 C4, value(4)
#define C6 C5, value(5)
#define C7 C6, value(6)
#define C8 C7, value(7)
#define C9 C8, value(8)
#define C10 C9, value(9)
#define C11 C10, value(10)
#define C12 C11, value(11)
#define C13 C12, value(12)
#define C14 C13, value(13)
#define C15 C14, value(14)
#define C16 C15, value(15)

enum { SHORT = 128, MEDIUM = 145, LONG = 162, SHORT_BACK = 179, MEDIUM_BACK = 196, LONG_BACK = 213 };
/* Segment of each node: the payloads of a node's requests, by the sender's rank; and those of
 * replies. */
enum { SLOT = 1 << 16, BACK = SLOT * 4 };

static volatile int answers;
static size_t size;       /* of the payload that is expected */
static uint32_t partner;  /* the node that is to answer */
static char own[SLOT];

static gasnet_handlerarg_t value(int i) { return (gasnet_handlerarg_t)(0x89abcdefu - (unsigned)i * 0x01010101u); }

static void check_args(int n, const gasnet_handlerarg_t *args)
{
    for (int i = 0; i < n; i++) CHECK(args[i] == value(i));
}

static uint32_t source_of(gasnet_token_t token)
{
    gasnet_node_t source = 99;
    GOOD(gasnet_AMGetMsgSource(token, &source));
    CHECK(source < nodes);
    return source;
}

static void check_answer(gasnet_token_t token)
{
    CHECK(source_of(token) == partner);
    answers++;
}

#define HANDLERS(n) \
    static void short_##n(gasnet_token_t token P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        check_args(n, args + 1); \
        GOOD(gasnet_AMReplyShort##n(token, SHORT_BACK + n V##n)); \
    } \
    static void short_back_##n(gasnet_token_t token P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        check_args(n, args + 1); \
        check_answer(token); \
    } \
    static void medium_##n(gasnet_token_t token, void *payload, size_t bytes P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        check_args(n, args + 1); \
        CHECK((uintptr_t)payload % 8 == 0); \
        CHECK(is_filled(payload, bytes, source_of(token), n)); \
        fill(payload, bytes, me, n + 1); /* it is the handler's */ \
        GOOD(gasnet_AMReplyMedium##n(token, MEDIUM_BACK + n, payload, bytes V##n)); \
    } \
    static void medium_back_##n(gasnet_token_t token, void *payload, size_t bytes P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        check_args(n, args + 1); \
        CHECK((uintptr_t)payload % 8 == 0 && bytes == size); \
        CHECK(is_filled(payload, bytes, partner, n + 1)); \
        check_answer(token); \
    } \
    static void long_##n(gasnet_token_t token, void *payload, size_t bytes P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        const uint32_t source = source_of(token); \
        check_args(n, args + 1); \
        CHECK(payload == at(me, source * SLOT + n)); \
        CHECK(is_filled(payload, bytes, source, n)); \
        fill(payload, bytes, me, n + 2); \
        GOOD(gasnet_AMReplyLong##n(token, LONG_BACK + n, payload, bytes, at(source, BACK + me * SLOT + n) V##n)); \
    } \
    static void long_back_##n(gasnet_token_t token, void *payload, size_t bytes P##n) \
    { \
        const gasnet_handlerarg_t args[] = {0 V##n}; \
        check_args(n, args + 1); \
        CHECK(payload == at(me, BACK + partner * SLOT + n) && bytes == size); \
        CHECK(is_filled(payload, bytes, partner, n + 2)); \
        check_answer(token); \
    } \
    static void send_##n(void) \
    { \
        answers = 0; \
        GOOD(gasnet_AMRequestShort##n(partner, SHORT + n C##n)); \
        fill(own, size, me, n); \
        if (size <= gasnet_AMMaxMedium()) { \
            GOOD(gasnet_AMRequestMedium##n(partner, MEDIUM + n, own, size C##n)); \
            GASNET_BLOCKUNTIL(answers == 2); \
        } else { \
            GASNET_BLOCKUNTIL(answers == 1); \
            answers++; \
        } \
        GOOD(gasnet_AMRequestLong##n(partner, LONG + n, own, size, at(partner, me * SLOT + n) C##n)); \
        GASNET_BLOCKUNTIL(answers == 3); \
        GOOD(gasnet_AMRequestLongAsync##n(partner, LONG + n, own, size, at(partner, me * SLOT + n) C##n)); \
        GASNET_BLOCKUNTIL(answers == 4); \
    }
#define EACH(macro) \
    macro(0) macro(1) macro(2) macro(3) macro(4) macro(5) macro(6) macro(7) macro(8) macro(9) \
    macro(10) macro(11) macro(12) macro(13) macro(14) macro(15) macro(16)
EACH(HANDLERS)

typedef void (*function)();
#define ENTRIES(n) \
    {SHORT + n, (function)short_##n}, {SHORT_BACK + n, (function)short_back_##n}, \
    {MEDIUM + n, (function)medium_##n}, {MEDIUM_BACK + n, (function)medium_back_##n}, \
    {LONG + n, (function)long_##n}, {LONG_BACK + n, (function)long_back_##n},
#define SENDS(n) send_##n,

/* Calls the functions that count their arguments, and those that are told the number. */
static void send_by_number(void)
{
    answers = 0;
    size = 9;
    fill(own, size, me, 0);
    GOOD(gasnet_AMRequestShortM(partner, SHORT));
    GOOD(gasnet_AMRequestShortM(partner, SHORT + 2, value(0), value(1)));
    GOOD(gasnet_AMRequestMediumM(partner, MEDIUM, own, size));
    GOOD(gasnet_AMRequestLong(partner, LONG, own, size, at(partner, me * SLOT), 0));
    GASNET_BLOCKUNTIL(answers == 4);
    fill(own, size, me, 16);
    GOOD(gasnet_AMRequestLongM(partner, LONG + 16, own, size, at(partner, me * SLOT + 16), value(0), value(1),
                               value(2), value(3), value(4), value(5), value(6), value(7), value(8), value(9),
                               value(10), value(11), value(12), value(13), value(14), value(15)));
    GASNET_BLOCKUNTIL(answers == 5);
    fill(own, size, me, 1);
    GOOD(gasnet_AMRequestMedium(partner, MEDIUM + 1, own, size, 1, value(0)));
    GOOD(gasnet_AMRequestShort(partner, SHORT + 3, 3, value(0), value(1), value(2)));
    GASNET_BLOCKUNTIL(answers == 7);
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {EACH(ENTRIES)};
    void (*const sends[])(void) = {EACH(SENDS)};
    set_up(&argc, &argv, handlers, sizeof handlers / sizeof *handlers);
    CHECK(gasnet_AMMaxArgs() >= 16);
    CHECK(gasnet_AMMaxMedium() >= 512 && gasnet_AMMaxLongRequest() >= 512 && gasnet_AMMaxLongReply() >= 512);
    const size_t sizes[] = {0, 1, 7, 8, 64, 511, 4096, gasnet_AMMaxMedium(), SLOT - 16};
    for (uint32_t step = 0; step < nodes; step++) {
        partner = (me + step) % nodes;
        for (int n = 0; n <= 16; n++)
            for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                // All sizes with some numbers of arguments, and all numbers with two sizes.
                if (n % 5 != 0 && i != 2 && i != 4) continue;
                size = sizes[i];
                sends[n]();
            }
        send_by_number();
    }
    meet();
    gasnet_exit(0);
}
