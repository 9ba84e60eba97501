/* farreach_am.h: active messages, one-sided access and atomic operations among the processes of a
 * job (docs/gasnet.md).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * An engine connects this process with the others of its job, which oshrun, mpiexec.hydra or
 * srun --mpi=pmi2 has started, or which the program brings together itself (exchange). Functions
 * return FARREACH_AM_OK, or a negative FARREACH_AM_E... (farreach_am_strerror); some return
 * FARREACH_AM_DONE, which is positive.
 *
 * Without FARREACH_AM_THREADS, which is defined before this header is included or not at all, an
 * engine is used by one thread at a time. With it, by any, each call under the engine's lock.
 * Handlers run in calls that make progress: farreach_am_poll, farreach_am_wait, and requests, gets and
 * others that have to wait. With FARREACH_AM_THREADS one handler of an engine runs at a time. */
#ifndef FARREACH_AM_H
#define FARREACH_AM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FARREACH_AM_VERSION 1

/* Results. */
#define FARREACH_AM_OK 0
#define FARREACH_AM_DONE 1        /* complete on return: nothing is counted later */
#define FARREACH_AM_EINVAL (-1)   /* an argument is out of its range */
#define FARREACH_AM_ERANGE (-2)   /* bytes outside of the peer's segment */
#define FARREACH_AM_ENOMEM (-3)   /* no memory, descriptor or room in a table */
#define FARREACH_AM_EPEER (-4)    /* the peer's process has ended, or cannot be reached */
#define FARREACH_AM_ESTATE (-5)   /* not now: a request in a handler, a second reply, ... */
#define FARREACH_AM_EJOB (-6)     /* the launcher, or the program's exchange, has failed */
#define FARREACH_AM_ENETWORK (-7) /* other nodes are to be reached, and there is no network */
#define FARREACH_AM_ENOTSUP (-8)  /* the operation is not done on this type */
#define FARREACH_AM_EAGAIN (-9)   /* farreach_am_try_... alone: there is no room now */

/* The most arguments of a message, of 32 bits each. Handlers have indices from 0 to 255. */
#define FARREACH_AM_MOST_ARGS 16
#define FARREACH_AM_HANDLERS 256

/* The fewest payload bytes that farreach_am_most_medium returns. */
#define FARREACH_AM_LEAST_MEDIUM 4096

typedef struct farreach_am farreach_am_t;

/* Categories of messages. A payload of MEDIUM lies in memory of the engine during the handler, aligned
 * to 8, which the handler may change; that of LONG in the segment, at the sender's choice. */
enum { FARREACH_AM_SHORT = 0, FARREACH_AM_MEDIUM = 1, FARREACH_AM_LONG = 2 };

/* A message, as its handler gets it: for the time of the handler. */
typedef struct farreach_am_message {
    farreach_am_t *am;
    void *context;        /* as registered with the handler */
    void *payload;        /* NULL without */
    size_t bytes;         /* of the payload */
    const uint32_t *args;
    uint32_t source;      /* the sender's rank */
    uint8_t handler, category, nargs;
    uint8_t is_reply;     /* not zero where it answers a request: then it cannot be replied to */
    uint64_t engine[4];   /* the engine's own */
} farreach_am_message_t;

/* Handles a message. May reply once, if it is a request; calls nothing else of the engine's but
 * functions that return facts. */
typedef void (*farreach_am_handler_t)(farreach_am_message_t *message);

/* Gives each process the bytes of all: own of this one, all with room for ranks * bytes, by rank.
 * Collective; returns 0 or anything else where it fails. */
typedef int (*farreach_am_exchange_t)(void *context, const void *own, size_t bytes, void *all);

/* How an engine is opened. All zero but version is a job by its launcher. */
typedef struct farreach_am_config {
    uint32_t version;                /* FARREACH_AM_VERSION */
    uint32_t rank, ranks;            /* of the job, with exchange */
    uint32_t node;                   /* 0, or 1 more than the number of a node that is pretended */
    farreach_am_exchange_t exchange; /* NULL: the launcher's protocol, PMI-1 */
    void *exchange_context;
    size_t most_memory;              /* bytes of address space for segments; 0: 16 GiB */
    size_t ring_bytes; /* of each pair's ring on a node, a power of two from 32 KiB; 0: 64 KiB */
} farreach_am_config_t;

/* A peer's segment. Its bytes are at mapped in this process where near is not 0; that is the number
 * of bytes which loads and stores reach so. */
typedef struct farreach_am_segment {
    uint64_t start;       /* the address of the first byte, as the peer knows it */
    uint64_t bytes;
    uint64_t near;        /* bytes, or 0 */
    unsigned char *mapped;
} farreach_am_segment_t;

/* All that a peer has to know of exposed memory: plain bytes, which may be sent by any means. */
typedef struct farreach_am_key {
    uint64_t start, bytes; /* the address of the first byte in its process, and the number of bytes */
    uint64_t rest[6];
} farreach_am_key_t;

/* Another way to tell of the end of a put, get or atomic: FARREACH_AM_CALLS(completion) in the place of
 * done has the function called, which calls nothing of the engine. */
typedef struct farreach_am_completion {
    void (*done)(struct farreach_am_completion *completion);
} farreach_am_completion_t;
#define FARREACH_AM_CALLS(completion) ((uint64_t *)((uintptr_t)(completion) + 1))

/* Types and operations of farreach_am_atomic. */
enum {
    FARREACH_AM_I32 = 0, FARREACH_AM_U32 = 1, FARREACH_AM_I64 = 2, FARREACH_AM_U64 = 3,
    FARREACH_AM_FLOAT = 4, FARREACH_AM_DOUBLE = 5
};
enum {
    FARREACH_AM_SET = 0, FARREACH_AM_GET = 1, FARREACH_AM_ADD = 2, FARREACH_AM_MULTIPLY = 3,
    FARREACH_AM_MIN = 4, FARREACH_AM_MAX = 5, FARREACH_AM_AND = 6, FARREACH_AM_OR = 7,
    FARREACH_AM_XOR = 8, FARREACH_AM_SWAP = 9, FARREACH_AM_COMPARE_SWAP = 10
};

#ifdef FARREACH_AM_THREADS
#define farreach_am_open farreach_am_open_threads
#define farreach_am_close farreach_am_close_threads
#define farreach_am_poll farreach_am_poll_threads
#define farreach_am_wait farreach_am_wait_threads
#define farreach_am_request_short farreach_am_request_short_threads
#define farreach_am_request_medium farreach_am_request_medium_threads
#define farreach_am_request_long farreach_am_request_long_threads
#define farreach_am_attach farreach_am_attach_threads
#define farreach_am_put farreach_am_put_threads
#define farreach_am_put_word farreach_am_put_word_threads
#define farreach_am_get farreach_am_get_threads
#define farreach_am_atomic farreach_am_atomic_threads
#define farreach_am_expose farreach_am_expose_threads
#define farreach_am_conceal farreach_am_conceal_threads
#define farreach_am_learn farreach_am_learn_threads
#define farreach_am_forget farreach_am_forget_threads
#define farreach_am_depart farreach_am_depart_threads
#define farreach_am_leave_handler farreach_am_leave_handler_threads
#define farreach_am_try_request_short farreach_am_try_request_short_threads
#define farreach_am_try_request_medium farreach_am_try_request_medium_threads
#define farreach_am_try_request_long farreach_am_try_request_long_threads
#define farreach_am_has_room farreach_am_has_room_threads
#define farreach_am_try_put farreach_am_try_put_threads
#define farreach_am_try_get farreach_am_try_get_threads
#define farreach_am_try_atomic farreach_am_try_atomic_threads
#define farreach_am_device_atomic farreach_am_device_atomic_threads
#define farreach_am_device_add farreach_am_device_add_threads
#define farreach_am_device_fetch_add farreach_am_device_fetch_add_threads
#define farreach_am_try_device_atomic farreach_am_try_device_atomic_threads
#endif

/* Has calls go to the function's address at once, without a stub of the linker's. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define FARREACH_AM_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef FARREACH_AM_DIRECT
#define FARREACH_AM_DIRECT
#endif

/* Opens the engine of this process and connects it with all others. Collective. */
int farreach_am_open(const farreach_am_config_t *config, farreach_am_t **am);

/* Closes an engine, whose segments are gone then. Not collective: others that still send here are
 * told that the peer is gone. The launcher is told that this process is done, which may end with any
 * code then. */
void farreach_am_close(farreach_am_t *am);

/* Tells the launcher that this process is done, as farreach_am_close does, and leaves the rest as it is:
 * for a process that is about to end, with any code, while its threads may use the engine, which wait for
 * ever then. */
int farreach_am_depart(farreach_am_t *am);

uint32_t farreach_am_rank(const farreach_am_t *am);
uint32_t farreach_am_ranks(const farreach_am_t *am);

/* Returns the most payload bytes of a medium message, the same for all processes. */
size_t farreach_am_most_medium(const farreach_am_t *am);

/* Returns whether loads and stores reach the process's memory: it is of this node. */
int farreach_am_is_near(const farreach_am_t *am, uint32_t rank);

/* Has messages to this index handled. None may come meanwhile: call it before farreach_am_attach, say, or
 * a barrier of the program's. Replaces the one that was there. */
int farreach_am_register(farreach_am_t *am, uint8_t index, farreach_am_handler_t handler,
                         void *context);

/* Lets peers reach memory of this process, and tells it to all. Collective, once; bytes may differ and
 * be 0. With memory NULL the engine takes zeroed memory, which peers of the node map; else the bytes
 * at memory, which stay mapped until the engine is closed. */
int farreach_am_attach(farreach_am_t *am, void *memory, size_t bytes);

/* Returns the segments of all processes, by rank: NULL before farreach_am_attach. */
const farreach_am_segment_t *farreach_am_segments(const farreach_am_t *am);

/* Lets peers reach memory of this process beside its segment, until it is concealed: not collective. The
 * memory stays mapped until then, or until the engine is closed. Peers reach it once they have learnt of
 * the key; what they learn takes the place of all that it overlaps. A process may learn of its own. */
int farreach_am_expose(farreach_am_t *am, void *memory, size_t bytes, farreach_am_key_t *key);
int farreach_am_conceal(farreach_am_t *am, void *memory);
int farreach_am_learn(farreach_am_t *am, uint32_t rank, const farreach_am_key_t *key);
int farreach_am_forget(farreach_am_t *am, uint32_t rank, uint64_t start);

/* Gives each process the bytes of all, as farreach_am_exchange_t. Collective, of few bytes: at start. */
int farreach_am_exchange(farreach_am_t *am, const void *own, size_t bytes, void *all);

/* Handles messages that have come, and goes on with operations. */
FARREACH_AM_DIRECT
int farreach_am_poll(farreach_am_t *am);

/* Lets the program see without a call that there is nothing to poll for. From here on the engine keeps
 * FARREACH_AM_SHOWN_BYTES bytes at todo, and *bells is the address of a word: while the bytes, this word and that
 * FARREACH_AM_BELL_STEP words behind it are all 0, farreach_am_poll would do nothing, but in a handler.
 * They change at any time, by this process and by peers; to have seen them orders nothing; nobody else
 * writes them. Where a device is, one of the bytes is never 0. The bytes stay, and the words are looked at,
 * until the engine is closed. No other thread uses the engine during this call. */
#define FARREACH_AM_SHOWN_BYTES 3
#define FARREACH_AM_BELL_STEP 32
int farreach_am_show(const farreach_am_t *am, unsigned char *todo, const uint64_t **bells);

/* Polls until is_done(context) returns something else than 0, at first without a pause, then giving
 * the processor to others. */
int farreach_am_wait(farreach_am_t *am, int (*is_done)(void *context), void *context);

/* Sends a request: payload and arguments may be changed on return. Waits while there is no room,
 * handling messages meanwhile. Not in a handler. */
FARREACH_AM_DIRECT
int farreach_am_request_short(farreach_am_t *am, uint32_t rank, uint8_t handler,
                              const uint32_t *args, uint32_t nargs);
FARREACH_AM_DIRECT
int farreach_am_request_medium(farreach_am_t *am, uint32_t rank, uint8_t handler,
                               const void *payload, size_t bytes, const uint32_t *args,
                               uint32_t nargs);
/* The payload is stored at to, an address in the peer's segment or in memory that was learnt of, before
 * the handler runs. With payload NULL the bytes are there already: to is any address. */
int farreach_am_request_long(farreach_am_t *am, uint32_t rank, uint8_t handler,
                             const void *payload, size_t bytes, uint64_t to, const uint32_t *args,
                             uint32_t nargs);

/* Replies to a request, in its handler, once: never waits. */
FARREACH_AM_DIRECT
int farreach_am_reply_short(farreach_am_message_t *request, uint8_t handler, const uint32_t *args,
                            uint32_t nargs);
FARREACH_AM_DIRECT
int farreach_am_reply_medium(farreach_am_message_t *request, uint8_t handler, const void *payload,
                             size_t bytes, const uint32_t *args, uint32_t nargs);
int farreach_am_reply_long(farreach_am_message_t *request, uint8_t handler, const void *payload,
                           size_t bytes, uint64_t to, const uint32_t *args, uint32_t nargs);

/* Flags of farreach_am_put. */
#define FARREACH_AM_REUSE 1u /* the source may be changed on return */

/* Writes bytes to a peer's segment, or reads them from there; addresses as the peer knows them. Return
 * FARREACH_AM_DONE, or FARREACH_AM_OK where the operation is under way: its end, which polls bring
 * about, adds 1 to *done, behind the bytes of a get. Memory of a near peer is done on return. A put that
 * is done is visible at the peer. Not in a handler. */
FARREACH_AM_DIRECT
int farreach_am_put(farreach_am_t *am, uint32_t rank, uint64_t to, const void *from, size_t bytes,
                    uint32_t flags, uint64_t *done);
FARREACH_AM_DIRECT
int farreach_am_get(farreach_am_t *am, uint32_t rank, void *to, uint64_t from, size_t bytes,
                    uint64_t *done);
/* Puts the 8 bytes of a word, as it lies in memory, by fewer instructions over a device. */
FARREACH_AM_DIRECT
int farreach_am_put_word(farreach_am_t *am, uint32_t rank, uint64_t to, uint64_t word, uint64_t *done);

/* Does an atomic operation on an element of a peer's segment, aligned to its size; operand is that
 * of the operation, comparand of FARREACH_AM_COMPARE_SWAP alone; both in the lower bytes. The value
 * before goes to result, of the type's size, if that is not NULL. Returns as farreach_am_put. Elements
 * are atomic to the engines' operations of this type. */
FARREACH_AM_DIRECT
int farreach_am_atomic(farreach_am_t *am, uint32_t rank, uint64_t to, int operation, int type,
                       uint64_t operand, uint64_t comparand, void *result, uint64_t *done);

/* Returns 1 where the devices of all processes do an operation on elements of a type, else 0: the same at
 * each process. It is 0 where there is no device. */
int farreach_am_device_does(const farreach_am_t *am, int operation, int type);

/* Does as farreach_am_atomic by the device, whatever process the element is of: it may be of a near one or
 * of this one, of which it has learnt if it is not of the segment. The device's operations are atomic to
 * each other, and not to those of farreach_am_atomic. FARREACH_AM_ENOTSUP where
 * farreach_am_device_does returns 0. */
FARREACH_AM_DIRECT
int farreach_am_device_atomic(farreach_am_t *am, uint32_t rank, uint64_t to, int operation, int type,
                              uint64_t operand, uint64_t comparand, void *result, uint64_t *done);

/* Do as farreach_am_device_atomic with FARREACH_AM_ADD and FARREACH_AM_U64, by fewer instructions: without
 * a result, and with one, which stands where GASNet-EX's functions have theirs. */
FARREACH_AM_DIRECT
int farreach_am_device_add(farreach_am_t *am, uint32_t rank, uint64_t to, uint64_t operand,
                           uint64_t *done);
FARREACH_AM_DIRECT
int farreach_am_device_fetch_add(farreach_am_t *am, void *result, uint32_t rank, uint64_t to,
                                 uint64_t operand, uint64_t *done);

/* Do as the functions without try_ where nothing has to wait. Return FARREACH_AM_EAGAIN, and have done
 * nothing, where there is no room, or another thread uses the engine: a later call may succeed, after
 * farreach_am_poll. They handle no messages. A payload of farreach_am_try_request_long that is neither
 * stored in mapped memory nor short enough to travel with the message is waited for once its write has
 * been started, and so is a source of farreach_am_try_put with FARREACH_AM_REUSE that is longer than a
 * medium payload. */
int farreach_am_try_request_short(farreach_am_t *am, uint32_t rank, uint8_t handler,
                                  const uint32_t *args, uint32_t nargs);
int farreach_am_try_request_medium(farreach_am_t *am, uint32_t rank, uint8_t handler,
                                   const void *payload, size_t bytes, const uint32_t *args,
                                   uint32_t nargs);
int farreach_am_try_request_long(farreach_am_t *am, uint32_t rank, uint8_t handler,
                                 const void *payload, size_t bytes, uint64_t to,
                                 const uint32_t *args, uint32_t nargs);
/* Returns whether farreach_am_try_request_long with payload NULL finds room now, 1 or 0: of processes that
 * are near; else 0. Another thread may take the room. */
int farreach_am_has_room(farreach_am_t *am, uint32_t rank);
int farreach_am_try_put(farreach_am_t *am, uint32_t rank, uint64_t to, const void *from,
                        size_t bytes, uint32_t flags, uint64_t *done);
int farreach_am_try_get(farreach_am_t *am, uint32_t rank, void *to, uint64_t from, size_t bytes,
                        uint64_t *done);
int farreach_am_try_atomic(farreach_am_t *am, uint32_t rank, uint64_t to, int operation, int type,
                           uint64_t operand, uint64_t comparand, void *result, uint64_t *done);
int farreach_am_try_device_atomic(farreach_am_t *am, uint32_t rank, uint64_t to, int operation,
                                  int type, uint64_t operand, uint64_t comparand, void *result,
                                  uint64_t *done);

/* Ends all processes of the job with this code, by its launcher, and this one at once. Waits for nothing
 * and takes no lock: it may be called in handlers of messages and of signals. am may be NULL, and message,
 * which the launcher prints. */
void farreach_am_abort(farreach_am_t *am, int code, const char *message) __attribute__((noreturn));

/* Leaves the handler that this thread runs in, if it does: it is never returned to, as the process is
 * about to end. Requests and polls are possible again; messages of the handler's kind, requests
 * or replies, do not come any more, nor does room for them at peers, and over libfabric a peer's
 * first word: a request may wait for ever. farreach_am_close has the messages that are sent leave,
 * tells the launcher, and leaves the engine as it is. */
void farreach_am_leave_handler(farreach_am_t *am);

/* Returns words for a result; and for the last failure of this thread, with its reason. */
const char *farreach_am_strerror(int result);
const char *farreach_am_explain(void);

#ifdef __cplusplus
}
#endif
#endif
