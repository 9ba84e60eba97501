// A token goes round all processes by active messages. Each hop adds 1 to it.
//
// A handler may not send a request: it stores the arguments, and main, which waits, passes them on.
//
// run: np=1,2,4 mode=seq,par expect-stdout="hops" args=100
// run: np=3 mode=seq launcher=hydra args=100
#include <gasnet.h>
#include <stdio.h>

enum { TOKEN = 128 };

static volatile int has_come;
static volatile gasnet_handlerarg_t token;

static void take(gasnet_token_t from, gasnet_handlerarg_t value)
{
    gasnet_node_t source;
    gasnet_AMGetMsgSource(from, &source);
    if ((source + 1) % gasnet_nodes() != gasnet_mynode()) gasnet_exit(2);
    token = value;
    has_come = 1;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{TOKEN, (void (*)())take}};
    if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
    if (gasnet_attach(handlers, 1, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
    const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    const gasnet_node_t me = gasnet_mynode(), next = (me + 1) % gasnet_nodes();

    gasnet_handlerarg_t value = 0;
    for (int round = 0; round < rounds; round++) {
        if (me == 0) gasnet_AMRequestShort1(next, TOKEN, value + 1);
        GASNET_BLOCKUNTIL(has_come);
        has_come = 0;
        value = token;
        if (me != 0) gasnet_AMRequestShort1(next, TOKEN, value + 1);
    }
    if (me == 0) printf("%d rounds, %d hops\n", rounds, (int)value);
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(me == 0 && value != rounds * (int)gasnet_nodes());
}
