/* farreach_gasnet.h: what gasnet.h is written with: the library's state, its functions, and the
 * macros that make the active messages of each number of arguments. For gasnet.h alone.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FARREACH_GASNET_H
#define FARREACH_GASNET_H

#ifndef FARREACH_GASNET_INSIDE
#error "include gasnet.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* State of the library that the functions in line read, from gasnet_init on. */
typedef struct farreach_gasnet {
    farreach_am_t *am;
    const farreach_am_segment_t *segments; /* by rank; NULL before gasnet_attach */
    uint32_t reach;                        /* ranks that segments has: 0 before gasnet_attach */
    uint32_t node, nodes;
    uint32_t due;   /* not 0 where polls have more to do than messages */
    uint32_t spins; /* polls without a pause in a wait */
    uint32_t most_medium;
    uint64_t most_local, most_global; /* bytes of segments */
} farreach_gasnet_t;
extern farreach_gasnet_t farreach_gasnet;

/* The operations of a handle: started ones, and those that have ended, which the engine counts. */
typedef struct farreach_gasnet_operations {
    uint64_t puts_done, gets_done, puts, gets;
    uint64_t value;                          /* of gasnet_get_nb_val */
    struct farreach_gasnet_operations *next; /* the library's */
} farreach_gasnet_operations_t;

/* The operations with implicit handles, of this thread under GASNET_PAR: NULL before the first one
 * that is not done on return. One for all libraries of the program. */
#ifdef GASNET_PAR
#define FARREACH_GASNET_OF_THREAD __thread
#else
#define FARREACH_GASNET_OF_THREAD
#endif
extern FARREACH_GASNET_OF_THREAD farreach_gasnet_operations_t *farreach_gasnet_own
    __attribute__((__weak__, __visibility__("default")));
FARREACH_GASNET_OF_THREAD farreach_gasnet_operations_t *farreach_gasnet_own
    __attribute__((__weak__, __visibility__("default")));

#ifdef GASNET_PAR
#define farreach_gasnet_put farreach_gasnet_put_threads
#define farreach_gasnet_put_nb farreach_gasnet_put_nb_threads
#define farreach_gasnet_put_nbi farreach_gasnet_put_nbi_threads
#define farreach_gasnet_put_word_nbi farreach_gasnet_put_word_nbi_threads
#define farreach_gasnet_get farreach_gasnet_get_threads
#define farreach_gasnet_get_nb farreach_gasnet_get_nb_threads
#define farreach_gasnet_get_nbi farreach_gasnet_get_nbi_threads
#define farreach_gasnet_get_value farreach_gasnet_get_value_threads
#define farreach_gasnet_memset_nb farreach_gasnet_memset_nb_threads
#define farreach_gasnet_memset_nbi farreach_gasnet_memset_nbi_threads
#define farreach_gasnet_try farreach_gasnet_try_threads
#define farreach_gasnet_wait farreach_gasnet_wait_threads
#define farreach_gasnet_wait_value farreach_gasnet_wait_value_threads
#define farreach_gasnet_try_several farreach_gasnet_try_several_threads
#define farreach_gasnet_wait_several farreach_gasnet_wait_several_threads
#define farreach_gasnet_try_implicit farreach_gasnet_try_implicit_threads
#define farreach_gasnet_wait_implicit farreach_gasnet_wait_implicit_threads
#define farreach_gasnet_notify farreach_gasnet_notify_threads
#define farreach_gasnet_barrier_wait farreach_gasnet_barrier_wait_threads
#define farreach_gasnet_barrier_try farreach_gasnet_barrier_try_threads
#endif

/* Modes, as the library is told of them. */
enum { FARREACH_GASNET_MODE_SEQ, FARREACH_GASNET_MODE_PARSYNC, FARREACH_GASNET_MODE_PAR };

/* Operations that are done with: bits for farreach_gasnet_try_implicit and the like. */
enum { FARREACH_GASNET_PUTS = 1, FARREACH_GASNET_GETS = 2 };

/* Functions of active messages, for farreach_gasnet_failed. */
enum {
    FARREACH_GASNET_REQUEST_SHORT, FARREACH_GASNET_REQUEST_MEDIUM, FARREACH_GASNET_REQUEST_LONG,
    FARREACH_GASNET_REQUEST_LONG_ASYNC, FARREACH_GASNET_REPLY_SHORT, FARREACH_GASNET_REPLY_MEDIUM,
    FARREACH_GASNET_REPLY_LONG
};

int farreach_gasnet_init(int *argc, char ***argv, int mode);
int farreach_gasnet_attach(const void *table, int entries, uintptr_t bytes, int mode);
int farreach_gasnet_segment_info(void *table, int entries);
int farreach_gasnet_node_info(void *table, int entries);
void farreach_gasnet_exit(int code) __attribute__((__noreturn__));
const char *farreach_gasnet_error(int code, int is_name);
int farreach_gasnet_set_waitmode(int mode);

/* Says what is wrong with an active message and returns GASNet's code for the engine's result. */
int farreach_gasnet_failed(int function, int result, uint32_t rank, uint32_t handler,
                           uint64_t bytes, uint64_t to) __attribute__((__cold__));
/* Says what is wrong with a use of a handler-safe lock and ends the job. */
void farreach_gasnet_lock_failed(const char *routine, int is_held)
    __attribute__((__cold__, __noreturn__));

/* Does what polls have to do beside messages; result is that of farreach_am_poll. */
int farreach_gasnet_attend(int result) __attribute__((__cold__));
void farreach_gasnet_yield(void);

/* Operations on memory that is not near, or not there, which ends the job with a message. */
void farreach_gasnet_put(uint32_t node, void *dest, const void *src, size_t bytes);
farreach_gasnet_operations_t *farreach_gasnet_put_nb(uint32_t node, void *dest, const void *src,
                                                     size_t bytes, uint32_t flags);
void farreach_gasnet_put_nbi(uint32_t node, void *dest, const void *src, size_t bytes,
                             uint32_t flags, farreach_gasnet_operations_t **own);
/* A put of 8 bytes, to a node below farreach_gasnet.reach; am is farreach_gasnet.am, and the thread's
 * operations are not NULL. */
void farreach_gasnet_put_word_nbi(uint32_t node, void *dest, uint64_t word, farreach_am_t *am,
                                  farreach_gasnet_operations_t *own);
void farreach_gasnet_get(void *dest, uint32_t node, const void *src, size_t bytes);
farreach_gasnet_operations_t *farreach_gasnet_get_nb(void *dest, uint32_t node, const void *src,
                                                     size_t bytes);
void farreach_gasnet_get_nbi(void *dest, uint32_t node, const void *src, size_t bytes,
                             farreach_gasnet_operations_t **own);
farreach_gasnet_operations_t *farreach_gasnet_get_value(uint32_t node, const void *src,
                                                        size_t bytes);
farreach_gasnet_operations_t *farreach_gasnet_memset_nb(uint32_t node, void *dest, int value,
                                                        size_t bytes);
void farreach_gasnet_memset_nbi(uint32_t node, void *dest, int value, size_t bytes,
                                farreach_gasnet_operations_t **own);
int farreach_gasnet_try(farreach_gasnet_operations_t *handle);
void farreach_gasnet_wait(farreach_gasnet_operations_t *handle);
uint64_t farreach_gasnet_wait_value(farreach_gasnet_operations_t *handle);
int farreach_gasnet_try_several(farreach_gasnet_operations_t **handles, size_t count, int is_all);
void farreach_gasnet_wait_several(farreach_gasnet_operations_t **handles, size_t count, int is_all);
int farreach_gasnet_try_implicit(farreach_gasnet_operations_t *own, int which);
void farreach_gasnet_wait_implicit(farreach_gasnet_operations_t *own, int which);
void farreach_gasnet_begin_region(farreach_gasnet_operations_t **own);
farreach_gasnet_operations_t *farreach_gasnet_end_region(farreach_gasnet_operations_t **own);

void farreach_gasnet_notify(int id, int flags);
int farreach_gasnet_barrier_wait(int id, int flags);
int farreach_gasnet_barrier_try(int id, int flags);
int farreach_gasnet_barrier_result(int *id);

#define FARREACH_INLINE static __inline__ __attribute__((__unused__))
#define FARREACH_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Says where bytes of a node's segment are in this process; returns 0 where they are not. */
FARREACH_INLINE int farreach_gasnet_near(uint32_t node, const void *address, size_t bytes,
                                                 unsigned char **near)
{
    if (FARREACH_LIKELY(node < farreach_gasnet.reach)) {
        const farreach_am_segment_t *const segment = farreach_gasnet.segments + node;
        const uint64_t at = (uint64_t)(uintptr_t)address - segment->start;
        uint64_t end;
        if (FARREACH_LIKELY(!__builtin_add_overflow(at, (uint64_t)bytes, &end)) &&
            FARREACH_LIKELY(end <= segment->near)) {
            *near = segment->mapped + at;
            return 1;
        }
    }
    return 0;
}

/* Loads and stores of memory that is near stay on their side of these. */
#define FARREACH_GASNET_AFTER_LOADS() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define FARREACH_GASNET_AFTER_STORES() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Whether the operations have ended: 1 or 0. */
FARREACH_INLINE int farreach_gasnet_are_done(const uint64_t *started, const uint64_t *done)
{
    return *started == __atomic_load_n(done, __ATOMIC_ACQUIRE);
}

/* Parameters and values of so many arguments. */
#define FARREACH_GASNET_TAKES_0
#define FARREACH_GASNET_TAKES_1 , gasnet_handlerarg_t a0
#define FARREACH_GASNET_TAKES_2 FARREACH_GASNET_TAKES_1, gasnet_handlerarg_t a1
#define FARREACH_GASNET_TAKES_3 FARREACH_GASNET_TAKES_2, gasnet_handlerarg_t a2
#define FARREACH_GASNET_TAKES_4 FARREACH_GASNET_TAKES_3, gasnet_handlerarg_t a3
#define FARREACH_GASNET_TAKES_5 FARREACH_GASNET_TAKES_4, gasnet_handlerarg_t a4
#define FARREACH_GASNET_TAKES_6 FARREACH_GASNET_TAKES_5, gasnet_handlerarg_t a5
#define FARREACH_GASNET_TAKES_7 FARREACH_GASNET_TAKES_6, gasnet_handlerarg_t a6
#define FARREACH_GASNET_TAKES_8 FARREACH_GASNET_TAKES_7, gasnet_handlerarg_t a7
#define FARREACH_GASNET_TAKES_9 FARREACH_GASNET_TAKES_8, gasnet_handlerarg_t a8
#define FARREACH_GASNET_TAKES_10 FARREACH_GASNET_TAKES_9, gasnet_handlerarg_t a9
#define FARREACH_GASNET_TAKES_11 FARREACH_GASNET_TAKES_10, gasnet_handlerarg_t a10
#define FARREACH_GASNET_TAKES_12 FARREACH_GASNET_TAKES_11, gasnet_handlerarg_t a11
#define FARREACH_GASNET_TAKES_13 FARREACH_GASNET_TAKES_12, gasnet_handlerarg_t a12
#define FARREACH_GASNET_TAKES_14 FARREACH_GASNET_TAKES_13, gasnet_handlerarg_t a13
#define FARREACH_GASNET_TAKES_15 FARREACH_GASNET_TAKES_14, gasnet_handlerarg_t a14
#define FARREACH_GASNET_TAKES_16 FARREACH_GASNET_TAKES_15, gasnet_handlerarg_t a15
#define FARREACH_GASNET_GIVES_0 0
#define FARREACH_GASNET_GIVES_1 a0
#define FARREACH_GASNET_GIVES_2 FARREACH_GASNET_GIVES_1, a1
#define FARREACH_GASNET_GIVES_3 FARREACH_GASNET_GIVES_2, a2
#define FARREACH_GASNET_GIVES_4 FARREACH_GASNET_GIVES_3, a3
#define FARREACH_GASNET_GIVES_5 FARREACH_GASNET_GIVES_4, a4
#define FARREACH_GASNET_GIVES_6 FARREACH_GASNET_GIVES_5, a5
#define FARREACH_GASNET_GIVES_7 FARREACH_GASNET_GIVES_6, a6
#define FARREACH_GASNET_GIVES_8 FARREACH_GASNET_GIVES_7, a7
#define FARREACH_GASNET_GIVES_9 FARREACH_GASNET_GIVES_8, a8
#define FARREACH_GASNET_GIVES_10 FARREACH_GASNET_GIVES_9, a9
#define FARREACH_GASNET_GIVES_11 FARREACH_GASNET_GIVES_10, a10
#define FARREACH_GASNET_GIVES_12 FARREACH_GASNET_GIVES_11, a11
#define FARREACH_GASNET_GIVES_13 FARREACH_GASNET_GIVES_12, a12
#define FARREACH_GASNET_GIVES_14 FARREACH_GASNET_GIVES_13, a13
#define FARREACH_GASNET_GIVES_15 FARREACH_GASNET_GIVES_14, a14
#define FARREACH_GASNET_GIVES_16 FARREACH_GASNET_GIVES_15, a15

/* Applies a macro to each number of arguments. */
#define FARREACH_GASNET_EACH(macro) \
    macro(0) macro(1) macro(2) macro(3) macro(4) macro(5) macro(6) macro(7) macro(8) macro(9) \
    macro(10) macro(11) macro(12) macro(13) macro(14) macro(15) macro(16)

/* A name with the number of the arguments that follow it, up to 16. */
#define FARREACH_GASNET_NAME(...) \
    FARREACH_GASNET_NAMED(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define FARREACH_GASNET_NAMED(stem, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) \
    FARREACH_GASNET_GLUE(stem, count)
#define FARREACH_GASNET_GLUE(stem, count) FARREACH_GASNET_GLUED(stem, count)
#define FARREACH_GASNET_GLUED(stem, count) stem##count

#ifdef __cplusplus
}
#endif
#endif
