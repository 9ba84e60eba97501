/* Helpers of the programs here: checks, setting up, and the addresses of segments. */
#ifndef CHECK_H
#define CHECK_H

#include <gasnet.h>
#include <stdio.h>
#include <unistd.h>

/* Ends the job with status 1 where a condition does not hold. */
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "node %u: %s:%d: %s\n", gasnet_mynode(), __FILE__, __LINE__, #condition); \
            gasnet_exit(1); \
        } \
    } while (0)
#define GOOD(call) CHECK((call) == GASNET_OK)

#define SEGMENT ((uintptr_t)1 << 20)

static uint32_t me, nodes;
static gasnet_seginfo_t *segments;

/* Returns an address in a node's segment. */
static inline void *at(uint32_t node, size_t offset) { return (char *)segments[node].addr + offset; }

static inline void meet(void) { GOOD(gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS)); }

static inline void set_up(int *argc, char ***argv, gasnet_handlerentry_t *handlers, int count)
{
    GOOD(gasnet_init(argc, argv));
    GOOD(gasnet_attach(handlers, count, SEGMENT, 0));
    me = gasnet_mynode();
    nodes = gasnet_nodes();
    segments = (gasnet_seginfo_t *)malloc(nodes * sizeof *segments);
    GOOD(gasnet_getSegmentInfo(segments, (int)nodes));
    meet();
}

/* Returns the byte that a node has at an offset in a round. */
static inline unsigned char byte_of(uint32_t node, size_t offset, unsigned round)
{
    return (unsigned char)(offset * 7 + offset / 251 + node * 31 + round * 13 + 1);
}

static inline void fill(void *place, size_t bytes, uint32_t node, unsigned round)
{
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)place)[i] = byte_of(node, i, round);
}

static inline int is_filled(const void *place, size_t bytes, uint32_t node, unsigned round)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)place)[i] != byte_of(node, i, round)) return 0;
    return 1;
}

#endif
