// Puts of words in line, in front of replies that the node takes and behind them: by a post of its
// own to the same queue the library tells the peer that it has taken some, also where the queue is
// nearly full.
// run: np=2 mode=seq,par
#include "check.h"

enum { ASK = 128, ANSWER, ASKED = 24, BEFORE = 64, BEHIND = 40 };

static volatile int asked, answers;

static void ask(gasnet_token_t token)
{
    asked++;
    GOOD(gasnet_AMReplyShort0(token, ANSWER));
}

static void answer(gasnet_token_t token)
{
    (void)token;
    answers++;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{ASK, (void (*)())ask}, {ANSWER, (void (*)())answer}};
    set_up(&argc, &argv, handlers, 2);
    uint64_t *const there = at(1, 0);
    for (int before = 0; before < BEFORE; before++) {
        const uint64_t value = (uint64_t)before;
        meet();
        if (me == 1) {
            GASNET_BLOCKUNTIL(asked == (before + 1) * ASKED);
            continue;
        }
        for (int i = 0; i < ASKED; i++) GOOD(gasnet_AMRequestShort0(1, ASK));
        for (int i = 0; i < before; i++) gasnet_put_nbi_val(1, there + i, value + (uint64_t)i, 8);
        /* The puts are done, and answers have come. */
        usleep(2000);
        GOOD(gasnet_AMPoll());
        for (int i = 0; i < BEHIND; i++) gasnet_put_nbi_val(1, there + BEFORE + i, value, 8);
        gasnet_wait_syncnbi_puts();
        GASNET_BLOCKUNTIL(answers == (before + 1) * ASKED);
        for (int i = 0; i < before; i++)
            CHECK(gasnet_get_val(1, there + i, 8) == value + (uint64_t)i);
        for (int i = 0; i < BEHIND; i++) CHECK(gasnet_get_val(1, there + BEFORE + i, 8) == value);
    }
    meet();
    gasnet_exit(0);
}
