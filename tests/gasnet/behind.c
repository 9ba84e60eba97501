// A barrier that is over for a node is not held up by it any more, also where the ring to the node
// that it has to tell is just full: a ring of 64 KiB is, with one of these numbers of requests.
// run: nodes=1 np=4 mode=seq,par
#include "check.h"

enum { NOTHING = 128, FIRST = 4091, LAST = 4095 };

static void nothing(gasnet_token_t token) { (void)token; }

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{NOTHING, (void (*)())nothing}};
    set_up(&argc, &argv, handlers, 1);
    volatile uint64_t *const through = at(me, 0);
    for (uint64_t many = FIRST; many <= LAST; many++) {
        meet();
        if (me == 0) {
            usleep(60000);
            for (uint64_t i = 0; i < many; i++) GOOD(gasnet_AMRequestShort0(2, NOTHING));
        }
        /* Node 0 hears of node 3, and so of all, while node 2 does not poll. */
        if (me == 3) usleep(120000);
        gasnet_barrier_notify((int)many, 0);
        if (me == 2) {
            for (int i = 0; i < 40; i++) {
                GOOD(gasnet_AMPoll());
                usleep(1000);
            }
            usleep(150000);
        }
        GOOD(gasnet_barrier_wait((int)many, 0));
        if (me == 2) gasnet_put_val(0, at(0, 0), many, 8);
        /* Without a poll. */
        if (me == 0)
            while (*through != many) usleep(1000);
    }
    meet();
    gasnet_exit(0);
}
