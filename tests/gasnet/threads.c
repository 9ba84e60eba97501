// Threads that put, get, wait for their own operations, and send messages, all at once.
// run: np=1,2,4 mode=par
#include "check.h"

enum { COUNT = 128, COUNTED, THREADS = 4, ROUNDS = 60, WORDS = 64 };

static volatile int counts, answers;

static void count(gasnet_token_t token, void *payload, size_t bytes, gasnet_handlerarg_t thread)
{
    CHECK(bytes == 100 && is_filled(payload, bytes, 5, (unsigned)thread));
    __atomic_fetch_add(&counts, 1, __ATOMIC_SEQ_CST);
    GOOD(gasnet_AMReplyShort1(token, COUNTED, thread));
}

static void counted(gasnet_token_t token, gasnet_handlerarg_t thread)
{
    (void)token;
    (void)thread;
    __atomic_fetch_add(&answers, 1, __ATOMIC_SEQ_CST);
}

static void *work(void *argument)
{
    const unsigned thread = (unsigned)(uintptr_t)argument;
    const uint32_t node = (me + thread) % nodes;
    char payload[100];
    fill(payload, sizeof payload, 5, thread);
    uint64_t own[WORDS], back[WORDS];
    uint64_t *const there = at(node, (me * THREADS + thread) * sizeof own);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) own[i] = me * 1000000u + thread * 100000u + round * 1000u + (unsigned)i;
        gasnet_begin_nbi_accessregion();
        for (int i = 0; i < WORDS / 2; i++) gasnet_put_nbi(node, there + i, own + i, 8);
        gasnet_handle_t region = gasnet_end_nbi_accessregion();
        for (int i = WORDS / 2; i < WORDS; i++) gasnet_put_nbi_bulk(node, there + i, own + i, 8);
        GOOD(gasnet_AMRequestMedium1(node, COUNT, payload, sizeof payload, (int)thread));
        gasnet_wait_syncnb(region);
        gasnet_wait_syncnbi_puts();
        memset(back, 0, sizeof back);
        for (int i = 0; i < WORDS; i += 4) gasnet_get_nbi(back + i, node, there + i, 32);
        gasnet_wait_syncnbi_gets();
        CHECK(!memcmp(own, back, sizeof own));
        CHECK(gasnet_get_val(node, there, 8) == own[0]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{COUNT, (void (*)())count}, {COUNTED, (void (*)())counted}};
    pthread_t threads[THREADS];
    set_up(&argc, &argv, handlers, 2);
    for (uintptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    GASNET_BLOCKUNTIL(answers == THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    meet();
    CHECK(counts == THREADS * ROUNDS);
    gasnet_exit(0);
}
