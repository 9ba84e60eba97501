/*
 * The calls of farreach_am.h that tests/icount counts: am TARGET ROUNDS. TARGET is shm or mlx5. Each
 * call has a loop, and one of the same shape without it, as in cases.c; counted are the loads of its
 * arguments, too. Two engines of one process stand for two processes.
 */
#include "loops.h"
#include <dlfcn.h>
#include <farreach_am.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Calls between two turns of the software device and of the far end; and of operations with a
 * result. */
enum { TURN = 16, FETCHES = 8 };
enum { HANDLER = 3, ANSWERED = 4, BYTES = 4096, PAYLOAD = 64 };

#ifdef FARREACH_AM_THREADS
#define THREADS ", threads"
#else
#define THREADS ", alone"
#endif

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, farreach_am_explain()); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == FARREACH_AM_OK)

static farreach_am_t *near, *far;
static int is_far;
static long handled;
static uint64_t value = 5, found, ended;
static char payload[PAYLOAD];
static int (*kick)(void);

/* The two engines open at once, and give each other their bytes. */
static pthread_barrier_t both;
static const void *own_of[2];

static int exchange(void *context, const void *own, size_t bytes, void *all) {
    uint32_t rank = *(uint32_t *)context;
    own_of[rank] = own;
    pthread_barrier_wait(&both);
    for (int i = 0; i < 2; i++)
        memcpy((char *)all + (size_t)i * bytes, own_of[i], bytes);
    pthread_barrier_wait(&both);
    return 0;
}

static void handle(farreach_am_message_t *message) {
    (void)message;
    handled++;
}

static void answer(farreach_am_message_t *message) {
    OK(farreach_am_reply_short(message, HANDLER, NULL, 0));
}

static void *open_side(void *which) {
    static uint32_t ranks[2] = {0, 1};
    uint32_t rank = which == &far;
    farreach_am_config_t config = {
        .version = FARREACH_AM_VERSION,
        .rank = rank,
        .ranks = 2,
        .node = is_far ? rank + 1 : 0,
        .exchange = exchange,
        .exchange_context = &ranks[rank],
    };
    farreach_am_t **am = which;
    OK(farreach_am_open(&config, am));
    OK(farreach_am_register(*am, HANDLER, handle, NULL));
    OK(farreach_am_register(*am, ANSWERED, answer, NULL));
    OK(farreach_am_attach(*am, NULL, BYTES));
    return NULL;
}

/* Lets both ends act, until all messages are handled. */
static void turn(void) {
    for (int i = 0; i < 4; i++) {
        if (kick)
            kick();
        OK(farreach_am_poll(far));
        OK(farreach_am_poll(near));
    }
    __asm__ volatile("" : : : "memory");
}

/* callgrind does not count while functions of such names run: none calls another. */
static NOINLINE void icount_uncounted_turn(void) {
    turn();
}

#define USED(result) __asm__ volatile("" : : "r"(result))
#define BARE() __asm__ volatile("" : : : CHANGES_0)

/* Loops of `...`, which has to return no failure, with a turn of both ends behind each `of`. */
#define IN_TURNS(name, of, ...) \
    static NOINLINE void call_##name(long rounds, const struct operands *o) { \
        (void)o; \
        farreach_am_t *n = near; \
        for (long i = 0; i < rounds; i += of) { \
            for (long j = 0; j < of; j++) { \
                if (__builtin_expect((__VA_ARGS__) < 0, 0)) \
                    __builtin_trap(); \
            } \
            icount_uncounted_turn(); \
        } \
        USED(n); \
    } \
    static NOINLINE void bare_##name(long rounds, const struct operands *o) { \
        (void)o; \
        farreach_am_t *n = near; \
        for (long i = 0; i < rounds; i += of) { \
            for (long j = 0; j < of; j++) { \
                BARE(); \
            } \
            icount_uncounted_nothing(); \
        } \
        USED(n); \
    }

static uint64_t to;
IN_TURNS(request_short, TURN, farreach_am_request_short(n, 1, HANDLER, NULL, 0))
IN_TURNS(request_short_2, TURN, farreach_am_request_short(n, 1, HANDLER, (const uint32_t *)payload, 2))
IN_TURNS(request_medium, TURN, farreach_am_request_medium(n, 1, HANDLER, payload, PAYLOAD, NULL, 0))
IN_TURNS(request_medium_2, TURN,
         farreach_am_request_medium(n, 1, HANDLER, payload, PAYLOAD, (const uint32_t *)payload, 2))
IN_TURNS(poll, TURN, farreach_am_poll(n))
IN_TURNS(put, TURN, farreach_am_put(n, 1, to, &value, sizeof value, FARREACH_AM_REUSE, &ended))
IN_TURNS(put_word, TURN, farreach_am_put_word(n, 1, to, value, &ended))
IN_TURNS(get, FETCHES, farreach_am_get(n, 1, &found, to, sizeof found, &ended))
IN_TURNS(fetch_add, FETCHES,
         farreach_am_atomic(n, 1, to, FARREACH_AM_ADD, FARREACH_AM_U64, 1, 0, &found, &ended))

IN_TURNS(device_add, FETCHES, farreach_am_device_add(n, 1, to, 1, &ended))

IN_TURNS(device_fetch_add, FETCHES, farreach_am_device_fetch_add(n, &found, 1, to, 1, &ended))

/* Sends a request, and has the software device bring it there. */
static inline void send_to(uint8_t handler) {
    OK(farreach_am_request_short(near, 1, handler, NULL, 0));
    if (kick)
        kick();
}

static NOINLINE void icount_uncounted_request(void) {
    send_to(HANDLER);
}
static NOINLINE void icount_uncounted_question(void) {
    send_to(ANSWERED);
}
IN_TURNS(handle, 1, (icount_uncounted_request(), farreach_am_poll(far)))
IN_TURNS(answer, 1, (icount_uncounted_question(), farreach_am_poll(far)))

/* Places in which an operation is counted. */
enum { ON_NODE = 1, OVER_DEVICE = 2, BOTH = ON_NODE | OVER_DEVICE };

static const struct row {
    const char *name;
    int where;
    loop *call, *bare;
} rows[] = {
#define ROW(name, where, function) {name, where, call_##function, bare_##function}
    ROW("farreach_am_request_short, no arguments", BOTH, request_short),
    ROW("farreach_am_request_short, 2 arguments", BOTH, request_short_2),
    ROW("farreach_am_request_medium 64 B", BOTH, request_medium),
    ROW("farreach_am_request_medium 64 B, 2 arguments", BOTH, request_medium_2),
    ROW("farreach_am_poll, idle", BOTH, poll),
    ROW("farreach_am_poll, a short request", BOTH, handle),
    ROW("farreach_am_poll, a short request and its reply", BOTH, answer),
    ROW("farreach_am_put 8 B", BOTH, put),
    ROW("farreach_am_put_word", BOTH, put_word),
    ROW("farreach_am_get 8 B", BOTH, get),
    /* Over a device the peer's process does it, and the count depends on its turns. */
    ROW("farreach_am_atomic, fetch-add 8 B", ON_NODE, fetch_add),
    ROW("farreach_am_device_add", OVER_DEVICE, device_add),
    ROW("farreach_am_device_fetch_add", OVER_DEVICE, device_fetch_add),
};

int main(int argc, char **argv) {
    CHECK(argc == 3);
    is_far = strcmp(argv[1], "mlx5") == 0;
    CHECK(pthread_barrier_init(&both, NULL, 2) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_side, &far) == 0);
    open_side(&near);
    CHECK(pthread_join(thread, NULL) == 0);
    if (is_far)
        CHECK(kick = (int (*)(void))dlsym(RTLD_DEFAULT, "farreach_softhca_kick"));
    to = farreach_am_segments(near)[1].start;
    /* The first ones connect. */
    OK(farreach_am_request_short(near, 1, HANDLER, NULL, 0));
    if (!is_far)
        OK(farreach_am_request_short(near, 1, ANSWERED, NULL, 0));
    int result = farreach_am_atomic(near, 1, to, FARREACH_AM_ADD, FARREACH_AM_U64, 1, 0, &found, &ended);
    CHECK(result >= 0);
    while (handled < 2 - is_far || (result == FARREACH_AM_OK && ended == 0))
        turn();
    char target[32];
    snprintf(target, sizeof target, "%s" THREADS, argv[1]);
    struct operands none = {0};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(rows[i].where & (is_far ? OVER_DEVICE : ON_NODE)))
            continue;
        count_loops(rows[i].name, target, rows[i].call, rows[i].bare, TURN, atol(argv[2]), &none);
    }
    return 0;
}
