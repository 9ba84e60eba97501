// Barriers: that they wait for all, names, mismatches of every kind, the two phases, and progress of a
// process that polls, or sends requests, between them.
// run: np=1,2,3,4 mode=seq,par
// run: np=2 mode=parsync
// run: np=4 mode=seq launcher=hydra
#include "check.h"

enum { ANONYMOUS = GASNET_BARRIERFLAG_ANONYMOUS, MISMATCH = GASNET_BARRIERFLAG_MISMATCH };
enum { PING = 128, NOTHING };

static volatile int pings;

static void ping(gasnet_token_t token)
{
    (void)token;
    pings++;
}

static void nothing(gasnet_token_t token) { (void)token; }

/* Runs each phase in turn by gasnet_barrier, by notify and wait, and by notify and try. */
static int barrier(int id, int flags)
{
    static int turn;
    int result;
    if (++turn % 3 == 0) return gasnet_barrier(id, flags);
    gasnet_barrier_notify(id, flags);
    if (turn % 3 == 1) return gasnet_barrier_wait(id, flags);
    while ((result = gasnet_barrier_try(id, flags)) == GASNET_ERR_NOT_READY) continue;
    return result;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{PING, (void (*)())ping}, {NOTHING, (void (*)())nothing}};
    int id = -1;
    set_up(&argc, &argv, handlers, 2);

    /* A node that leaves finds the round of all others, or the one behind it. */
    volatile uint32_t *const rounds = at(me, 0);
    for (uint32_t round = 1; round <= 100; round++) {
        for (uint32_t node = 0; node < nodes; node++) gasnet_put_val(node, (char *)at(node, 0) + me * 4, round, 4);
        GOOD(barrier((int)round, 0));
        CHECK(gasnet_barrier_result(&id) == 0 && id == (int)round);
        for (uint32_t node = 0; node < nodes; node++) CHECK(rounds[node] == round || rounds[node] == round + 1);
    }

    for (uint32_t odd = 0; odd < nodes; odd++) {
        const int is_odd = me == odd;
        GOOD(barrier(is_odd ? 7 : 8, ANONYMOUS));
        CHECK(gasnet_barrier_result(&id) != 0);
        /* One names it, or all but one. */
        GOOD(barrier(-5, is_odd ? 0 : ANONYMOUS));
        CHECK(gasnet_barrier_result(&id) == 0 && id == -5);
        GOOD(barrier(is_odd ? 1 : 6, is_odd && nodes > 1 ? ANONYMOUS : 0));
        CHECK(nodes == 1 || (gasnet_barrier_result(&id) == 0 && id == 6));
        /* One says that it does not match. */
        CHECK(barrier(0, is_odd ? MISMATCH : 0) == GASNET_ERR_BARRIER_MISMATCH);
        /* One names another. */
        CHECK(barrier(is_odd, 0) == (nodes > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK));
        /* Two do, among others that name none. */
        const uint32_t other = (odd + 1) % nodes;
        CHECK(barrier(is_odd ? 1 : 2, is_odd || me == other ? 0 : ANONYMOUS) ==
              (nodes > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK));
        GOOD(barrier(3, 0));
    }

    /* Notify and wait differ. */
    gasnet_barrier_notify(1, 0);
    CHECK(gasnet_barrier_wait(2, 0) == GASNET_ERR_BARRIER_MISMATCH);
    gasnet_barrier_notify(1, ANONYMOUS);
    GOOD(gasnet_barrier_wait(2, 0));
    gasnet_barrier_notify(1, 0);
    GOOD(gasnet_barrier_wait(2, ANONYMOUS));
    CHECK(gasnet_barrier_result(&id) == 0 && id == 1);

    /* Node 0 notifies, and then only polls: all others come through, and tell it so. */
    gasnet_barrier_notify(4, 0);
    if (me == 0) {
        GASNET_BLOCKUNTIL(pings == (int)nodes - 1);
        GOOD(gasnet_barrier_wait(4, 0));
    } else {
        GOOD(gasnet_barrier_wait(4, 0));
        GOOD(gasnet_AMRequestShort0(0, PING));
    }

    /* So it does when it only sends requests, which handle messages, too. */
    pings = 0;
    meet();
    gasnet_barrier_notify(6, 0);
    if (me == 0) {
        for (uint32_t i = 0; pings < (int)nodes - 1; i++) {
            GOOD(gasnet_AMRequestShort0(i % nodes, NOTHING));
            if (i % 16 == 0) usleep(100);
        }
        GOOD(gasnet_barrier_wait(6, 0));
    } else {
        GOOD(gasnet_barrier_wait(6, 0));
        GOOD(gasnet_AMRequestShort0(0, PING));
    }

    /* A notify waits for nobody: node 0 comes late. */
    if (me == 0) usleep(100000);
    gasnet_barrier_notify(5, 0);
    if (nodes > 1 && me != 0) CHECK(gasnet_barrier_try(5, 0) == GASNET_ERR_NOT_READY);
    GOOD(gasnet_barrier_wait(5, 0));
    gasnet_exit(0);
}
