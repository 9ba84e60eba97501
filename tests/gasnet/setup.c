// Queries, constants, names of errors, the table of handlers, segments of different sizes and of none.
// run: np=1,2,3,4 mode=seq,parsync,par
// run: np=1 mode=seq launcher=none
// run: np=2 mode=par launcher=hydra
// run: np=2 mode=seq nodes=1 env=GASNET_MAX_SEGMENT_SIZE=4M args=limit
#include "check.h"

static volatile int a_came, b_came;

static void a(gasnet_token_t token) { (void)token; a_came++; }
static void b(gasnet_token_t token) { (void)token; b_came++; }

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{0, (void (*)())a}, {128, (void (*)())b}, {0, (void (*)())b}, {255, (void (*)())a}};
    GASNET_BEGIN_FUNCTION();
    GOOD(gasnet_init(&argc, &argv));
    me = gasnet_mynode();
    nodes = gasnet_nodes();
    CHECK(me < nodes);
    const uintptr_t local = gasnet_getMaxLocalSegmentSize(), global = gasnet_getMaxGlobalSegmentSize();
    CHECK(local >= global && global > 0 && local % GASNET_PAGESIZE == 0 && global % GASNET_PAGESIZE == 0);
    if (argc > 1) CHECK(local * nodes == 4 << 20);
    CHECK(GASNET_VERSION == 1 && GASNET_SPEC_VERSION_MINOR == 8 && !GASNET_ALIGNED_SEGMENTS);
    CHECK(sizeof(gasnet_register_value_t) == SIZEOF_GASNET_REGISTER_VALUE_T);
    CHECK(strstr(GASNET_CONFIG_STRING, "THREADMODEL="));
    CHECK(!strcmp(gasnet_ErrorName(GASNET_OK), "GASNET_OK"));
    CHECK(!strcmp(gasnet_ErrorName(GASNET_ERR_BARRIER_MISMATCH), "GASNET_ERR_BARRIER_MISMATCH"));
    CHECK(strlen(gasnet_ErrorDesc(GASNET_ERR_NOT_READY)) && strlen(gasnet_ErrorDesc(12345)));
    CHECK(gasnet_getenv("PATH") && !gasnet_getenv("no such variable"));

    /* The last node has no segment; the others' differ. */
    const uintptr_t bytes = me + 1 == nodes && nodes > 1 ? 0 : (uintptr_t)GASNET_PAGESIZE * (me + 1);
    GOOD(gasnet_attach(handlers, 4, bytes, 0));
    CHECK(handlers[0].index == 129 && handlers[2].index == 130 && handlers[1].index == 128);
    segments = calloc(nodes, sizeof *segments);
    GOOD(gasnet_getSegmentInfo(segments, (int)nodes));
    for (uint32_t node = 0; node < nodes; node++)
        CHECK(segments[node].size == (node + 1 == nodes && nodes > 1 ? 0 : (uintptr_t)GASNET_PAGESIZE * (node + 1)));
    for (uintptr_t i = 0; i < bytes; i++) CHECK(((char *)segments[me].addr)[i] == 0);
    CHECK((uintptr_t)segments[me].addr % GASNET_PAGESIZE == 0);

    gasnet_nodeinfo_t *info = calloc(nodes, sizeof *info);
    GOOD(gasnet_getNodeInfo(info, (int)nodes));
    CHECK(info[me].host <= me && info[me].offset == 0);
    meet();
    for (uint32_t node = 0; node < nodes; node++) {
        CHECK(info[node].supernode == info[node].host);
        if (segments[node].size == 0 || info[node].supernode != info[me].supernode) continue;
        /* Loads reach the bytes that puts store. */
        const char *near = (char *)segments[node].addr + info[node].offset;
        gasnet_put_val(node, (char *)segments[node].addr + me, me + 40, 1);
        CHECK(((volatile const char *)near)[me] == (char)(me + 40));
    }
    for (uint32_t node = 0; node < nodes; node++)
        for (int i = 0; i < 4; i++) GOOD(gasnet_AMRequestShort0(node, handlers[i].index));
    GASNET_BLOCKUNTIL(a_came == 2 * (int)nodes && b_came == 2 * (int)nodes);

    GOOD(gasnet_set_waitmode(GASNET_WAIT_SPIN));
    GOOD(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK));
    GOOD(gasnet_set_waitmode(GASNET_WAIT_BLOCK));
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
    GASNET_POST_THREADINFO(GASNET_GET_THREADINFO());
    meet();
    gasnet_exit(0);
}
