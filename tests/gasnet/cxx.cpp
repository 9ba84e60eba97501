// The header in C++: every function of some number of arguments, transfers, locks, barriers.
// run: np=2 mode=seq,parsync,par nodes=1
#include "check.h"

enum { PING = 128, PONG };

static volatile int pongs;

static void ping(gasnet_token_t token, void *payload, size_t bytes, gasnet_handlerarg_t a, gasnet_handlerarg_t b)
{
    CHECK(a == 1 && b == -2);
    GOOD(gasnet_AMReplyMedium1(token, PONG, payload, bytes, 3));
}

static void pong(gasnet_token_t, void *payload, size_t bytes, gasnet_handlerarg_t a)
{
    CHECK(a == 3 && is_filled(payload, bytes, 4, 5));
    pongs++;
}

int main(int argc, char **argv)
{
    typedef void (*function)();
    gasnet_handlerentry_t handlers[] = {{PING, reinterpret_cast<function>(ping)}, {PONG, reinterpret_cast<function>(pong)}};
    set_up(&argc, &argv, handlers, 2);
    static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
    gasnet_hsl_lock(&lock);
    gasnet_hsl_unlock(&lock);
    const uint32_t next = (me + 1) % nodes;
    char payload[20];
    fill(payload, sizeof payload, 4, 5);
    GOOD(gasnet_AMRequestMedium2(next, PING, payload, sizeof payload, 1, -2));
    GOOD(gasnet_AMRequestMediumM(next, PING, payload, sizeof payload, 1, -2));
    GASNET_BLOCKUNTIL(pongs == 2);
    uint64_t word = 17 + me, found = 0;
    gasnet_handle_t handle = gasnet_put_nb(next, at(next, 64), &word, sizeof word);
    gasnet_wait_syncnb(handle);
    gasnet_get_nbi(&found, next, at(next, 64), sizeof found);
    gasnet_wait_syncnbi_all();
    CHECK(found == word);
    gasnet_memset(next, at(next, 64), 0, 8);
    CHECK(gasnet_wait_syncnb_valget(gasnet_get_nb_val(next, at(next, 64), 8)) == 0);
    GOOD(gasnet_barrier(9, 0));
    gasnet_exit(0);
}
