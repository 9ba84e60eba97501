// Mistakes that are refused with an error code, and those that end the job: each with a message.
// run: np=1 mode=seq,par expect-stderr="gasnet_AMRequestShort: node 77 is not one of the 1" args=messages
// run: np=2 mode=seq expect-stderr="gasnet_AMRequestMedium: " expect-stderr="gasnet_AMMaxMedium() is" args=messages
// run: np=2 mode=seq,par expect-stderr="gasnet_AMReplyShort" expect-stderr="not allowed here" args=handlers
// run: np=1 mode=seq expect-stderr="handler index 5 is not between 128 and 255" args=attach
// run: np=2 mode=seq,par expect-exit=1 expect-stderr="gasnet_put: node 0, 8 bytes at " args=put
// run: np=2 mode=seq expect-exit=1 expect-stderr="gasnet_get: node 9 is not one of the 2 of the job" args=node
// run: np=2 mode=seq expect-exit=1 expect-stderr="gasnet_memset: node 0" args=memset
// run: np=1 mode=seq expect-exit=1 expect-stderr="gasnet_init has not been called" args=early
// run: np=1 mode=seq expect-exit=1 expect-stderr="gasnet_hsl_lock: the lock is held already" args=lock
// run: np=1 mode=seq expect-exit=1 expect-stderr="gasnet_hsl_unlock: the lock is not held" args=unlock
// run: np=2 mode=seq expect-exit=1 expect-stderr="gasnet_barrier_notify: " args=notify
// run: np=1 mode=seq expect-exit=1 expect-stderr="gasnet_barrier_wait: no gasnet_barrier_notify" args=wait
// run: np=1 mode=seq expect-exit=1 expect-stderr="gasnet_begin_nbi_accessregion: " args=region
// run: np=2 mode=seq expect-exit=nonzero expect-stderr="names handler 200" args=unknown
// run: np=1 mode=seq expect-exit=nonzero env=GASNET_EXITTIMEOUT=soon expect-stderr="GASNET_EXITTIMEOUT is " expect-stderr="numbers of seconds from 0.01 to 1000000"
// run: np=1 mode=par expect-exit=nonzero env=GASNET_MAX_SEGMENT_SIZE=1K expect-stderr="GASNET_MAX_SEGMENT_SIZE is " expect-stderr="numbers of bytes from 4096 on"
#include "check.h"

enum { ASK = 130, ANSWER };

static volatile int refused, answers;

static void ask(gasnet_token_t token)
{
    refused += gasnet_AMRequestShort0(gasnet_mynode(), ANSWER) == GASNET_ERR_BAD_ARG;
    GOOD(gasnet_AMReplyShort0(token, ANSWER));
    refused += gasnet_AMReplyShort0(token, ANSWER) == GASNET_ERR_BAD_ARG;
}

static void answer(gasnet_token_t token)
{
    refused += gasnet_AMReplyShort0(token, ANSWER) == GASNET_ERR_BAD_ARG;
    answers++;
}

static void attach_wrongly(int *argc, char ***argv)
{
    gasnet_handlerentry_t low[] = {{5, (void (*)())ask}};
    gasnet_handlerentry_t twice[] = {{200, (void (*)())ask}, {200, (void (*)())answer}};
    GOOD(gasnet_init(argc, argv));
    CHECK(gasnet_init(argc, argv) == GASNET_ERR_NOT_INIT);
    CHECK(gasnet_attach(low, 1, GASNET_PAGESIZE, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gasnet_attach(twice, 2, GASNET_PAGESIZE, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gasnet_attach(NULL, 0, 100, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gasnet_attach(NULL, 0, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE, 0) == GASNET_ERR_BAD_ARG);
    GOOD(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0));
    CHECK(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) == GASNET_ERR_NOT_INIT);
    gasnet_exit(0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uint64_t word = 0;
    gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
    gasnet_handlerentry_t handlers[] = {{ASK, (void (*)())ask}, {ANSWER, (void (*)())answer}};
    if (!strcmp(what, "early")) gasnet_barrier(0, 0);
    if (!strcmp(what, "attach")) attach_wrongly(&argc, &argv);
    set_up(&argc, &argv, handlers, 2);
    const uint32_t last = nodes - 1;
    if (!strcmp(what, "messages")) {
        char *large = calloc(1, gasnet_AMMaxMedium() + 1);
        CHECK(gasnet_AMRequestShort0(77, ASK) == GASNET_ERR_BAD_ARG);
        CHECK(gasnet_AMRequestMedium0(last, ASK, large, gasnet_AMMaxMedium() + 1) == GASNET_ERR_BAD_ARG);
        CHECK(gasnet_AMRequestLong0(last, ASK, large, 8, at(last, SEGMENT - 7)) == GASNET_ERR_BAD_ARG);
        free(large);
    } else if (!strcmp(what, "handlers")) {
        GOOD(gasnet_AMRequestShort0(last, ASK));
        GASNET_BLOCKUNTIL(answers == 1);
        meet();
        // Two in the request's handler, which node `last` runs for all, and one in the reply's.
        CHECK(refused == (me == last ? (int)nodes * 2 + 1 : 1));
    } else if (me == last) {
        if (!strcmp(what, "put")) gasnet_put(0, at(0, SEGMENT - 4), &word, 8);
        if (!strcmp(what, "node")) gasnet_get(&word, 9, at(0, 0), 8);
        if (!strcmp(what, "memset")) gasnet_memset(0, at(0, SEGMENT), 1, 1);
        if (!strcmp(what, "lock")) gasnet_hsl_lock(&lock), gasnet_hsl_lock(&lock);
        if (!strcmp(what, "unlock")) gasnet_hsl_unlock(&lock);
        if (!strcmp(what, "notify")) gasnet_barrier_notify(0, 0), gasnet_barrier_notify(0, 0);
        if (!strcmp(what, "wait")) gasnet_barrier_wait(0, 0);
        if (!strcmp(what, "region")) gasnet_begin_nbi_accessregion(), gasnet_begin_nbi_accessregion();
        if (!strcmp(what, "unknown")) gasnet_AMRequestShort0(0, 200);
    } else if (!strcmp(what, "notify")) {
        // The first of the two notifies would let this one through the barrier, and exit with 0.
        for (;;) GOOD(gasnet_AMPoll());
    }
    meet();
    gasnet_exit(0);
}
