// A table of counters by key, spread over all processes: an active message adds to the counter of a key
// where that lies, and another one asks for it and is answered.
//
// run: np=1,2,4 mode=seq,par expect-stdout="keys" args=2000
// run: np=3 mode=seq launcher=hydra args=500
#include <gasnet.h>
#include <stdio.h>

enum { ADD = 128, ADDED, LOOK_UP, FOUND };
enum { SLOTS = 1 << 12 };

static struct {
    uint32_t key, count; /* key 0: free */
} table[SLOTS]; /* this process's part: used by handlers alone */
static volatile uint32_t adds_done, found, is_found;

static uint32_t hash(uint32_t key) { return (key * 2654435761u) >> 7; }

static uint32_t *count_of(uint32_t key)
{
    uint32_t at = hash(key) / gasnet_nodes() % SLOTS;
    while (table[at].key != 0 && table[at].key != key) at = (at + 1) % SLOTS;
    table[at].key = key;
    return &table[at].count;
}

static void add(gasnet_token_t token, gasnet_handlerarg_t key, gasnet_handlerarg_t amount)
{
    *count_of((uint32_t)key) += (uint32_t)amount;
    gasnet_AMReplyShort0(token, ADDED);
}

static void added(gasnet_token_t token)
{
    (void)token;
    adds_done++;
}

static void look_up(gasnet_token_t token, gasnet_handlerarg_t key)
{
    gasnet_AMReplyShort1(token, FOUND, (gasnet_handlerarg_t)*count_of((uint32_t)key));
}

static void take(gasnet_token_t token, gasnet_handlerarg_t count)
{
    (void)token;
    found = (uint32_t)count;
    is_found = 1;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{ADD, (void (*)())add},
                                        {ADDED, (void (*)())added},
                                        {LOOK_UP, (void (*)())look_up},
                                        {FOUND, (void (*)())take}};
    if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
    if (gasnet_attach(handlers, 4, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
    const uint32_t keys = argc > 1 ? (uint32_t)atoi(argv[1]) : 4000;
    const uint32_t nodes = gasnet_nodes(), me = gasnet_mynode();

    // Each process adds its rank + 1 to each key; nobody waits for one addition before the next.
    for (uint32_t key = 1; key <= keys; key++)
        gasnet_AMRequestShort2(hash(key) % nodes, ADD, (int)key, (int)me + 1);
    GASNET_BLOCKUNTIL(adds_done == keys);
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);

    uint32_t wrong = 0;
    for (uint32_t key = 1 + me; key <= keys; key += nodes) {
        is_found = 0;
        gasnet_AMRequestShort1(hash(key) % nodes, LOOK_UP, (int)key);
        GASNET_BLOCKUNTIL(is_found);
        wrong += found != nodes * (nodes + 1) / 2;
    }
    printf("node %u: %u keys, %u wrong\n", me, keys, wrong);
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(wrong != 0);
}
