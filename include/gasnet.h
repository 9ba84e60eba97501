/* gasnet.h: GASNet-1, the core and the extended interface (GASNet specification 1.8), by Farreach
 * (docs/gasnet.md). Exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR is defined before.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FARREACH_GASNET_1_H
#define FARREACH_GASNET_1_H

#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR"
#endif

#ifdef GASNET_PAR
#if defined(FARREACH_AM_H) && !defined(FARREACH_AM_THREADS)
#error "farreach_am.h is included before gasnet.h without FARREACH_AM_THREADS"
#endif
#ifndef FARREACH_AM_THREADS
#define FARREACH_AM_THREADS 1
#endif
#elif defined(FARREACH_AM_THREADS)
#error "FARREACH_AM_THREADS is for GASNET_PAR"
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifndef GASNET_SEQ
#include <pthread.h>
#endif
#include "farreach_am.h"
#define FARREACH_GASNET_INSIDE 1
#include "farreach_gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Versions and properties. */
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR
/* That of the last release of GASNet-1, whose interface this is: programs ask for one at least. */
#define GASNET_RELEASE_VERSION_MAJOR 1
#define GASNET_RELEASE_VERSION_MINOR 32
#define GASNET_RELEASE_VERSION_PATCH 0
#define GASNET_CONDUIT_FARREACH 1
#define GASNET_CONDUIT_NAME farreach
#define GASNET_SEGMENT_FAST 1
#define GASNET_ALIGNED_SEGMENTS 0
#define GASNET_PAGESIZE 4096
#define GASNET_MAXNODES 0x7fffffffu
#define SIZEOF_GASNET_REGISTER_VALUE_T 8
#if defined(GASNET_SEQ)
#define FARREACH_GASNET_MODE FARREACH_GASNET_MODE_SEQ
#define GASNET_CONFIG_STRING "CONDUIT=farreach,SPEC=1.8,THREADMODEL=SEQ,SEGMENT=FAST,PTR=64bit"
#elif defined(GASNET_PARSYNC)
#define FARREACH_GASNET_MODE FARREACH_GASNET_MODE_PARSYNC
#define GASNET_CONFIG_STRING "CONDUIT=farreach,SPEC=1.8,THREADMODEL=PARSYNC,SEGMENT=FAST,PTR=64bit"
#else
#define FARREACH_GASNET_MODE FARREACH_GASNET_MODE_PAR
#define GASNET_CONFIG_STRING "CONDUIT=farreach,SPEC=1.8,THREADMODEL=PAR,SEGMENT=FAST,PTR=64bit"
#endif

/* Results. */
#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_BAD_ARG 10002
#define GASNET_ERR_RESOURCE 10003
#define GASNET_ERR_BARRIER_MISMATCH 10004
#define GASNET_ERR_NOT_READY 10005

/* Types. */
typedef uint32_t gasnet_node_t;
typedef uint8_t gasnet_handler_t;
typedef int32_t gasnet_handlerarg_t;
typedef uint64_t gasnet_register_value_t;
typedef farreach_am_message_t *gasnet_token_t;
typedef farreach_gasnet_operations_t *gasnet_handle_t;
typedef struct farreach_gasnet_value {
    farreach_gasnet_operations_t *handle; /* NULL where the value is there */
    gasnet_register_value_t value;
} gasnet_valget_handle_t;
typedef struct gasnet_handlerentry_s {
    gasnet_handler_t index; /* 0: gasnet_attach chooses one and stores it here */
    void (*fnptr)();
} gasnet_handlerentry_t;
typedef struct gasnet_seginfo_s {
    void *addr;
    uintptr_t size;
} gasnet_seginfo_t;
typedef struct gasnet_nodeinfo_s {
    gasnet_node_t host, supernode; /* the lowest rank of the node, in both */
    intptr_t offset; /* from an address of the node's segment to that of the same byte here, or 0 */
} gasnet_nodeinfo_t;
typedef void *gasnet_threadinfo_t;
#define GASNET_INVALID_HANDLE ((gasnet_handle_t)0)

/* Nothing is to be known of the calling function or thread. */
#define GASNET_BEGIN_FUNCTION() typedef int farreach_gasnet_begins __attribute__((__unused__))
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) \
    gasnet_threadinfo_t farreach_gasnet_posted __attribute__((__unused__)) = (info)

/* Joins the job that a launcher has started: farreach_am_open. */
FARREACH_INLINE int gasnet_init(int *argc, char ***argv)
{
    return farreach_gasnet_init(argc, argv, FARREACH_GASNET_MODE);
}

/* Registers the handlers of the table and lets others reach a segment of so many bytes, a multiple
 * of GASNET_PAGESIZE; the heap's offset is not asked for. Collective, once. */
FARREACH_INLINE int gasnet_attach(gasnet_handlerentry_t *table, int entries, uintptr_t bytes,
                                          uintptr_t min_heap_offset)
{
    (void)min_heap_offset;
    return farreach_gasnet_attach(table, entries, bytes, FARREACH_GASNET_MODE);
}

/* Ends all processes of the job with this code, whether they call this, too, or not. */
#define gasnet_exit(code) farreach_gasnet_exit(code)

#define gasnet_mynode() ((gasnet_node_t)farreach_gasnet.node)
#define gasnet_nodes() ((gasnet_node_t)farreach_gasnet.nodes)
#define gasnet_getMaxLocalSegmentSize() ((uintptr_t)farreach_gasnet.most_local)
#define gasnet_getMaxGlobalSegmentSize() ((uintptr_t)farreach_gasnet.most_global)
#define gasnet_getSegmentInfo(table, entries) \
    farreach_gasnet_segment_info((gasnet_seginfo_t *)(table), (entries))
#define gasnet_getNodeInfo(table, entries) \
    farreach_gasnet_node_info((gasnet_nodeinfo_t *)(table), (entries))
#define gasnet_getenv(name) getenv(name)
#define gasnet_ErrorName(code) farreach_gasnet_error((code), 1)
#define gasnet_ErrorDesc(code) farreach_gasnet_error((code), 0)

/* How waits use the processor: without a pause, giving it to others at once, or after a while. */
#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
#define gasnet_set_waitmode(mode) farreach_gasnet_set_waitmode(mode)

/* Active messages. */
#define gasnet_AMMaxArgs() ((size_t)FARREACH_AM_MOST_ARGS)
#define gasnet_AMMaxMedium() ((size_t)farreach_gasnet.most_medium)
#define gasnet_AMMaxLongRequest() ((size_t)FARREACH_GASNET_MOST_LONG)
#define gasnet_AMMaxLongReply() ((size_t)FARREACH_GASNET_MOST_LONG)
#define FARREACH_GASNET_MOST_LONG 0x40000000

FARREACH_INLINE int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *source)
{
    *source = token->source;
    return GASNET_OK;
}

/* Handles messages that have come, and goes on with operations and barriers. */
FARREACH_INLINE int gasnet_AMPoll(void)
{
    const int result = farreach_am_poll(farreach_gasnet.am);
    if (FARREACH_LIKELY(
            (result | (int)__atomic_load_n(&farreach_gasnet.due, __ATOMIC_RELAXED)) == 0))
        return GASNET_OK;
    return farreach_gasnet_attend(result);
}

/* Polls until the condition, which handlers bring about, holds. */
#define GASNET_BLOCKUNTIL(condition) \
    do { \
        uint32_t farreach_gasnet_rounds = 0; \
        while (!(condition)) farreach_gasnet_pause(&farreach_gasnet_rounds); \
        FARREACH_GASNET_AFTER_LOADS(); \
    } while (0)

FARREACH_INLINE void farreach_gasnet_pause(uint32_t *rounds)
{
    gasnet_AMPoll();
    if (*rounds < farreach_gasnet.spins)
        *rounds += 1;
    else
        farreach_gasnet_yield();
}

/* The functions of n arguments: gasnet_AMRequestShort0 to gasnet_AMReplyLong16. */
#define FARREACH_GASNET_ARGS(n) \
    const gasnet_handlerarg_t values[n ? n : 1] = {FARREACH_GASNET_GIVES_##n}; \
    const uint32_t *const args = n ? (const uint32_t *)values : NULL
#define FARREACH_GASNET_SEND(call, function, rank, handler, bytes, to) \
    const int result = call; \
    if (FARREACH_LIKELY(result == FARREACH_AM_OK)) return GASNET_OK; \
    return farreach_gasnet_failed(function, result, rank, handler, bytes, to)
#define FARREACH_GASNET_MESSAGES(n) \
    FARREACH_INLINE int gasnet_AMRequestShort##n( \
        gasnet_node_t dest, gasnet_handler_t handler FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND( \
            farreach_am_request_short(farreach_gasnet.am, dest, handler, args, n), \
            FARREACH_GASNET_REQUEST_SHORT, dest, handler, 0, 0); \
    } \
    FARREACH_INLINE int gasnet_AMRequestMedium##n( \
        gasnet_node_t dest, gasnet_handler_t handler, const void *source, \
        size_t bytes FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND(farreach_am_request_medium(farreach_gasnet.am, dest, handler, source, \
                                                        bytes, args, n), \
                             FARREACH_GASNET_REQUEST_MEDIUM, dest, handler, bytes, 0); \
    } \
    FARREACH_INLINE int gasnet_AMRequestLong##n( \
        gasnet_node_t dest, gasnet_handler_t handler, const void *source, size_t bytes, \
        void *to FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND( \
            farreach_am_request_long(farreach_gasnet.am, dest, handler, source, bytes, \
                                     (uintptr_t)to, args, n), \
            FARREACH_GASNET_REQUEST_LONG, dest, handler, bytes, (uintptr_t)to); \
    } \
    FARREACH_INLINE int gasnet_AMRequestLongAsync##n( \
        gasnet_node_t dest, gasnet_handler_t handler, const void *source, size_t bytes, \
        void *to FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND( \
            farreach_am_request_long(farreach_gasnet.am, dest, handler, source, bytes, \
                                     (uintptr_t)to, args, n), \
            FARREACH_GASNET_REQUEST_LONG_ASYNC, dest, handler, bytes, (uintptr_t)to); \
    } \
    FARREACH_INLINE int gasnet_AMReplyShort##n( \
        gasnet_token_t token, gasnet_handler_t handler FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND( \
            farreach_am_reply_short(token, handler, args, n), \
            FARREACH_GASNET_REPLY_SHORT, token->source, handler, 0, 0); \
    } \
    FARREACH_INLINE int gasnet_AMReplyMedium##n( \
        gasnet_token_t token, gasnet_handler_t handler, const void *source, \
        size_t bytes FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND(farreach_am_reply_medium(token, handler, source, bytes, \
                                                      args, n), \
                             FARREACH_GASNET_REPLY_MEDIUM, token->source, handler, bytes, 0); \
    } \
    FARREACH_INLINE int gasnet_AMReplyLong##n( \
        gasnet_token_t token, gasnet_handler_t handler, const void *source, size_t bytes, \
        void *to FARREACH_GASNET_TAKES_##n) \
    { \
        FARREACH_GASNET_ARGS(n); \
        FARREACH_GASNET_SEND( \
            farreach_am_reply_long(token, handler, source, bytes, (uintptr_t)to, \
                                   args, n), \
            FARREACH_GASNET_REPLY_LONG, token->source, handler, bytes, (uintptr_t)to); \
    }
FARREACH_GASNET_EACH(FARREACH_GASNET_MESSAGES)

/* The same by the number of the arguments that follow, and with that number before them. */
#define gasnet_AMRequestShortM(dest, handler, ...) \
    FARREACH_GASNET_NAME(gasnet_AMRequestShort, ##__VA_ARGS__)(dest, handler, ##__VA_ARGS__)
#define gasnet_AMRequestMediumM(dest, handler, source, bytes, ...) \
    FARREACH_GASNET_NAME(gasnet_AMRequestMedium, ##__VA_ARGS__) \
    (dest, handler, source, bytes, ##__VA_ARGS__)
#define gasnet_AMRequestLongM(dest, handler, source, bytes, to, ...) \
    FARREACH_GASNET_NAME(gasnet_AMRequestLong, ##__VA_ARGS__) \
    (dest, handler, source, bytes, to, ##__VA_ARGS__)
#define gasnet_AMRequestLongAsyncM(dest, handler, source, bytes, to, ...) \
    FARREACH_GASNET_NAME(gasnet_AMRequestLongAsync, ##__VA_ARGS__) \
    (dest, handler, source, bytes, to, ##__VA_ARGS__)
#define gasnet_AMReplyShortM(token, handler, ...) \
    FARREACH_GASNET_NAME(gasnet_AMReplyShort, ##__VA_ARGS__)(token, handler, ##__VA_ARGS__)
#define gasnet_AMReplyMediumM(token, handler, source, bytes, ...) \
    FARREACH_GASNET_NAME(gasnet_AMReplyMedium, ##__VA_ARGS__) \
    (token, handler, source, bytes, ##__VA_ARGS__)
#define gasnet_AMReplyLongM(token, handler, source, bytes, to, ...) \
    FARREACH_GASNET_NAME(gasnet_AMReplyLong, ##__VA_ARGS__) \
    (token, handler, source, bytes, to, ##__VA_ARGS__)
#define gasnet_AMRequestShort(dest, handler, count, ...) \
    ((void)(count), gasnet_AMRequestShortM(dest, handler, ##__VA_ARGS__))
#define gasnet_AMRequestMedium(dest, handler, source, bytes, count, ...) \
    ((void)(count), gasnet_AMRequestMediumM(dest, handler, source, bytes, ##__VA_ARGS__))
#define gasnet_AMRequestLong(dest, handler, source, bytes, to, count, ...) \
    ((void)(count), gasnet_AMRequestLongM(dest, handler, source, bytes, to, ##__VA_ARGS__))
#define gasnet_AMRequestLongAsync(dest, handler, source, bytes, to, count, ...) \
    ((void)(count), gasnet_AMRequestLongAsyncM(dest, handler, source, bytes, to, ##__VA_ARGS__))
#define gasnet_AMReplyShort(token, handler, count, ...) \
    ((void)(count), gasnet_AMReplyShortM(token, handler, ##__VA_ARGS__))
#define gasnet_AMReplyMedium(token, handler, source, bytes, count, ...) \
    ((void)(count), gasnet_AMReplyMediumM(token, handler, source, bytes, ##__VA_ARGS__))
#define gasnet_AMReplyLong(token, handler, source, bytes, to, count, ...) \
    ((void)(count), gasnet_AMReplyLongM(token, handler, source, bytes, to, ##__VA_ARGS__))

/* No handler interrupts a thread: they run in polls. */
#define gasnet_hold_interrupts() ((void)0)
#define gasnet_resume_interrupts() ((void)0)

/* Handler-safe locks. Under GASNET_SEQ nothing can hold one but the program itself. */
#ifdef GASNET_SEQ
typedef struct gasnet_hsl_s {
    int is_held;
} gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER {0}
FARREACH_INLINE void gasnet_hsl_init(gasnet_hsl_t *lock) { lock->is_held = 0; }
FARREACH_INLINE void gasnet_hsl_destroy(gasnet_hsl_t *lock)
{
    if (lock->is_held) farreach_gasnet_lock_failed("gasnet_hsl_destroy", 1);
}
FARREACH_INLINE void gasnet_hsl_lock(gasnet_hsl_t *lock)
{
    if (lock->is_held) farreach_gasnet_lock_failed("gasnet_hsl_lock", 1);
    lock->is_held = 1;
}
FARREACH_INLINE int gasnet_hsl_trylock(gasnet_hsl_t *lock)
{
    if (lock->is_held) return GASNET_ERR_NOT_READY;
    lock->is_held = 1;
    return GASNET_OK;
}
FARREACH_INLINE void gasnet_hsl_unlock(gasnet_hsl_t *lock)
{
    if (!lock->is_held) farreach_gasnet_lock_failed("gasnet_hsl_unlock", 0);
    lock->is_held = 0;
}
#else
typedef struct gasnet_hsl_s {
    pthread_mutex_t mutex;
} gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER {PTHREAD_MUTEX_INITIALIZER}
FARREACH_INLINE void gasnet_hsl_init(gasnet_hsl_t *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
}
FARREACH_INLINE void gasnet_hsl_destroy(gasnet_hsl_t *lock)
{
    if (pthread_mutex_destroy(&lock->mutex)) farreach_gasnet_lock_failed("gasnet_hsl_destroy", 1);
}
FARREACH_INLINE void gasnet_hsl_lock(gasnet_hsl_t *lock) { pthread_mutex_lock(&lock->mutex); }
FARREACH_INLINE int gasnet_hsl_trylock(gasnet_hsl_t *lock)
{
    return pthread_mutex_trylock(&lock->mutex) ? GASNET_ERR_NOT_READY : GASNET_OK;
}
FARREACH_INLINE void gasnet_hsl_unlock(gasnet_hsl_t *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
#endif

/* Puts. The source of those without _bulk may be changed on return. */
FARREACH_INLINE void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, dest, bytes, &near))) {
        farreach_gasnet_put(node, dest, src, bytes);
        return;
    }
    memcpy(near, src, bytes);
    FARREACH_GASNET_AFTER_STORES();
}

FARREACH_INLINE gasnet_handle_t farreach_gasnet_put_nb_(gasnet_node_t node, void *dest,
                                                                const void *src, size_t bytes,
                                                                uint32_t flags)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, dest, bytes, &near)))
        return farreach_gasnet_put_nb(node, dest, src, bytes, flags);
    memcpy(near, src, bytes);
    return GASNET_INVALID_HANDLE;
}

FARREACH_INLINE void farreach_gasnet_put_nbi_(gasnet_node_t node, void *dest, const void *src,
                                                      size_t bytes, uint32_t flags)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, dest, bytes, &near))) {
        farreach_gasnet_operations_t *const own = farreach_gasnet_own;
        uint64_t word;
        if (bytes == sizeof word && node < farreach_gasnet.reach && FARREACH_LIKELY(own != NULL)) {
            memcpy(&word, src, sizeof word);
            farreach_gasnet_put_word_nbi(node, dest, word, farreach_gasnet.am, own);
        } else {
            farreach_gasnet_put_nbi(node, dest, src, bytes, flags, &farreach_gasnet_own);
        }
        return;
    }
    memcpy(near, src, bytes);
}

#define gasnet_put_bulk(node, dest, src, bytes) gasnet_put(node, dest, src, bytes)
#define gasnet_put_nb(node, dest, src, bytes) \
    farreach_gasnet_put_nb_(node, dest, src, bytes, FARREACH_AM_REUSE)
#define gasnet_put_nb_bulk(node, dest, src, bytes) \
    farreach_gasnet_put_nb_(node, dest, src, bytes, 0)
#define gasnet_put_nbi(node, dest, src, bytes) \
    farreach_gasnet_put_nbi_(node, dest, src, bytes, FARREACH_AM_REUSE)
#define gasnet_put_nbi_bulk(node, dest, src, bytes) \
    farreach_gasnet_put_nbi_(node, dest, src, bytes, 0)

/* Gets. */
FARREACH_INLINE void gasnet_get(void *dest, gasnet_node_t node, const void *src, size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, src, bytes, &near))) {
        farreach_gasnet_get(dest, node, src, bytes);
        return;
    }
    memcpy(dest, near, bytes);
    FARREACH_GASNET_AFTER_LOADS();
}

FARREACH_INLINE gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, const void *src,
                                                      size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, src, bytes, &near)))
        return farreach_gasnet_get_nb(dest, node, src, bytes);
    memcpy(dest, near, bytes);
    FARREACH_GASNET_AFTER_LOADS();
    return GASNET_INVALID_HANDLE;
}

FARREACH_INLINE void gasnet_get_nbi(void *dest, gasnet_node_t node, const void *src,
                                            size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, src, bytes, &near))) {
        farreach_gasnet_get_nbi(dest, node, src, bytes, &farreach_gasnet_own);
        return;
    }
    memcpy(dest, near, bytes);
    FARREACH_GASNET_AFTER_LOADS();
}

#define gasnet_get_bulk(dest, node, src, bytes) gasnet_get(dest, node, src, bytes)
#define gasnet_get_nb_bulk(dest, node, src, bytes) gasnet_get_nb(dest, node, src, bytes)
#define gasnet_get_nbi_bulk(dest, node, src, bytes) gasnet_get_nbi(dest, node, src, bytes)

/* Values of 1 to 8 bytes: the lower ones of a register value. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FARREACH_GASNET_LOWER(value, bytes) ((unsigned char *)&(value))
#else
#define FARREACH_GASNET_LOWER(value, bytes) ((unsigned char *)&(value) + sizeof(value) - (bytes))
#endif

FARREACH_INLINE void gasnet_put_val(gasnet_node_t node, void *dest,
                                            gasnet_register_value_t value, size_t bytes)
{
    gasnet_put(node, dest, FARREACH_GASNET_LOWER(value, bytes), bytes);
}

FARREACH_INLINE gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest,
                                                  gasnet_register_value_t value, size_t bytes)
{
    return gasnet_put_nb(node, dest, FARREACH_GASNET_LOWER(value, bytes), bytes);
}

FARREACH_INLINE void gasnet_put_nbi_val(gasnet_node_t node, void *dest,
                                                gasnet_register_value_t value, size_t bytes)
{
    gasnet_put_nbi(node, dest, FARREACH_GASNET_LOWER(value, bytes), bytes);
}

FARREACH_INLINE gasnet_register_value_t gasnet_get_val(gasnet_node_t node, const void *src,
                                                               size_t bytes)
{
    gasnet_register_value_t value = 0;
    gasnet_get(FARREACH_GASNET_LOWER(value, bytes), node, src, bytes);
    return value;
}

FARREACH_INLINE gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, const void *src,
                                                                 size_t bytes)
{
    gasnet_valget_handle_t result = {NULL, 0};
    unsigned char *near;
    if (FARREACH_LIKELY(farreach_gasnet_near(node, src, bytes, &near))) {
        memcpy(FARREACH_GASNET_LOWER(result.value, bytes), near, bytes);
        FARREACH_GASNET_AFTER_LOADS();
    } else {
        result.handle = farreach_gasnet_get_value(node, src, bytes);
    }
    return result;
}

FARREACH_INLINE gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t value)
{
    return value.handle ? farreach_gasnet_wait_value(value.handle) : value.value;
}

/* Fills bytes. */
FARREACH_INLINE gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int value,
                                                         size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, dest, bytes, &near)))
        return farreach_gasnet_memset_nb(node, dest, value, bytes);
    memset(near, value, bytes);
    FARREACH_GASNET_AFTER_STORES();
    return GASNET_INVALID_HANDLE;
}

FARREACH_INLINE void gasnet_memset_nbi(gasnet_node_t node, void *dest, int value, size_t bytes)
{
    unsigned char *near;
    if (!FARREACH_LIKELY(farreach_gasnet_near(node, dest, bytes, &near))) {
        farreach_gasnet_memset_nbi(node, dest, value, bytes, &farreach_gasnet_own);
        return;
    }
    memset(near, value, bytes);
    FARREACH_GASNET_AFTER_STORES();
}

/* Waits for, or looks at, operations with handles. A try polls once where they are not done, and
 * returns GASNET_OK or GASNET_ERR_NOT_READY. */
FARREACH_INLINE void gasnet_wait_syncnb(gasnet_handle_t handle)
{
    if (handle) farreach_gasnet_wait(handle);
    FARREACH_GASNET_AFTER_STORES();
}

FARREACH_INLINE int gasnet_try_syncnb(gasnet_handle_t handle)
{
    FARREACH_GASNET_AFTER_STORES();
    return handle ? farreach_gasnet_try(handle) : GASNET_OK;
}

#define gasnet_memset(node, dest, value, bytes) \
    gasnet_wait_syncnb(gasnet_memset_nb(node, dest, value, bytes))
#define gasnet_wait_syncnb_some(handles, count) farreach_gasnet_wait_several((handles), (count), 0)
#define gasnet_wait_syncnb_all(handles, count) farreach_gasnet_wait_several((handles), (count), 1)
#define gasnet_try_syncnb_some(handles, count) farreach_gasnet_try_several((handles), (count), 0)
#define gasnet_try_syncnb_all(handles, count) farreach_gasnet_try_several((handles), (count), 1)

/* The same for those with implicit handles, of this thread, and not in an access region. */
FARREACH_INLINE int farreach_gasnet_is_done(const farreach_gasnet_operations_t *own, int which)
{
    FARREACH_GASNET_AFTER_STORES();
    if (!own) return 1;
    if ((which & FARREACH_GASNET_PUTS) && !farreach_gasnet_are_done(&own->puts, &own->puts_done))
        return 0;
    return !(which & FARREACH_GASNET_GETS) || farreach_gasnet_are_done(&own->gets, &own->gets_done);
}

FARREACH_INLINE void farreach_gasnet_wait_nbi(int which)
{
    farreach_gasnet_operations_t *const own = farreach_gasnet_own;
    if (!FARREACH_LIKELY(farreach_gasnet_is_done(own, which)))
        farreach_gasnet_wait_implicit(own, which);
}

FARREACH_INLINE int farreach_gasnet_try_nbi(int which)
{
    farreach_gasnet_operations_t *const own = farreach_gasnet_own;
    return FARREACH_LIKELY(farreach_gasnet_is_done(own, which))
        ? GASNET_OK
        : farreach_gasnet_try_implicit(own, which);
}

#define gasnet_wait_syncnbi_puts() farreach_gasnet_wait_nbi(FARREACH_GASNET_PUTS)
#define gasnet_wait_syncnbi_gets() farreach_gasnet_wait_nbi(FARREACH_GASNET_GETS)
#define gasnet_wait_syncnbi_all() \
    farreach_gasnet_wait_nbi(FARREACH_GASNET_PUTS | FARREACH_GASNET_GETS)
#define gasnet_try_syncnbi_puts() farreach_gasnet_try_nbi(FARREACH_GASNET_PUTS)
#define gasnet_try_syncnbi_gets() farreach_gasnet_try_nbi(FARREACH_GASNET_GETS)
#define gasnet_try_syncnbi_all() \
    farreach_gasnet_try_nbi(FARREACH_GASNET_PUTS | FARREACH_GASNET_GETS)

/* The operations with implicit handles that this thread starts in between get one handle. */
#define gasnet_begin_nbi_accessregion() farreach_gasnet_begin_region(&farreach_gasnet_own)
#define gasnet_end_nbi_accessregion() farreach_gasnet_end_region(&farreach_gasnet_own)

/* Barriers of two phases. */
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
#define gasnet_barrier_notify(id, flags) farreach_gasnet_notify((id), (flags))
#define gasnet_barrier_wait(id, flags) farreach_gasnet_barrier_wait((id), (flags))
#define gasnet_barrier_try(id, flags) farreach_gasnet_barrier_try((id), (flags))
#define gasnet_barrier_result(id) farreach_gasnet_barrier_result(id)
FARREACH_INLINE int gasnet_barrier(int id, int flags)
{
    farreach_gasnet_notify(id, flags);
    return farreach_gasnet_barrier_wait(id, flags);
}

#ifdef __cplusplus
}
#endif
#endif
