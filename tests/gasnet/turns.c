// Threads beside one that keeps the library busy: it waits for room at a node that polls only when
// another thread has come through, and it sends messages to itself one after the other.
// run: np=2 mode=par
#include "check.h"

enum { COUNT = 128, WORK, FLOOD = 100000, ROUNDS = 20, MOST = 200 };

static volatile int counts, works, is_over;

static void count(gasnet_token_t token)
{
    (void)token;
    counts++;
}

/* Keeps the library for a while. */
static void work(gasnet_token_t token)
{
    (void)token;
    usleep(100);
    works++;
}

static void *flood(void *argument)
{
    for (int i = 0; i < FLOOD; i++) GOOD(gasnet_AMRequestShort0(1, COUNT));
    return argument;
}

static void *stay_busy(void *argument)
{
    while (!is_over) GOOD(gasnet_AMRequestShort0(me, WORK));
    return argument;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{COUNT, (void (*)())count}, {WORK, (void (*)())work}};
    pthread_t thread;
    set_up(&argc, &argv, handlers, 2);

    /* Node 1 waits for the flag in its memory, and does not poll before. */
    volatile uint64_t *const flag = at(1, 0);
    if (me == 0) {
        CHECK(pthread_create(&thread, NULL, flood, NULL) == 0);
        /* There is room for some thousand requests. */
        usleep(200000);
        GOOD(gasnet_AMPoll());
        gasnet_put_val(1, (void *)flag, 1, sizeof *flag);
        CHECK(pthread_join(thread, NULL) == 0);
    } else {
        while (!*flag) usleep(1000);
        GASNET_BLOCKUNTIL(counts == FLOOD);
    }
    meet();

    /* A thread that comes once in a while has its turns, and waits for some of the other's. */
    CHECK(pthread_create(&thread, NULL, stay_busy, NULL) == 0);
    int waits = 0;
    for (int round = 0; round < ROUNDS; round++) {
        usleep(1000);
        const int before = works;
        GOOD(gasnet_AMPoll());
        GOOD(gasnet_AMRequestShort0(me, COUNT));
        waits += works - before;
    }
    is_over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    if (waits > ROUNDS * MOST) {
        fprintf(stderr, "%d turns waited for %d of the other thread\n", 2 * ROUNDS, waits);
        CHECK(!"the lock is fair in the end");
    }
    gasnet_exit(0);
}
