// Handler-safe locks: in turn, and between handlers and threads.
// run: np=1,2 mode=seq,parsync,par
#include "check.h"

enum { ADD = 128, ADDED };
enum { THREADS = 3, ROUNDS = 200 };

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static volatile int counter, answers;

/* Adds slowly: long enough for another thread to come in between. */
static void add(void)
{
    gasnet_hsl_lock(&lock);
    const int before = counter;
    for (volatile int i = 0; i < 20; i++) continue;
    counter = before + 1;
    gasnet_hsl_unlock(&lock);
}

static void on_add(gasnet_token_t token)
{
    add();
    GOOD(gasnet_AMReplyShort0(token, ADDED));
}

static void on_added(gasnet_token_t token)
{
    (void)token;
    __atomic_fetch_add(&answers, 1, __ATOMIC_SEQ_CST);
}

#ifdef GASNET_PAR
static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        add();
        GOOD(gasnet_AMRequestShort0((me + 1) % nodes, ADD));
    }
    return unused;
}
#endif

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {{ADD, (void (*)())on_add}, {ADDED, (void (*)())on_added}};
    set_up(&argc, &argv, handlers, 2);
    gasnet_hsl_t other;
    gasnet_hsl_init(&other);
    GOOD(gasnet_hsl_trylock(&other));
    CHECK(gasnet_hsl_trylock(&other) == GASNET_ERR_NOT_READY);
    gasnet_hsl_lock(&lock);
    gasnet_hsl_unlock(&other);
    gasnet_hsl_unlock(&lock);
    gasnet_hsl_lock(&other);
    gasnet_hsl_unlock(&other);
    gasnet_hsl_destroy(&other);
#ifdef GASNET_PAR
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
    GASNET_BLOCKUNTIL(answers == THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    meet();
    CHECK(counter == 2 * THREADS * ROUNDS);
#else
    for (int i = 0; i < ROUNDS; i++) {
        add();
        GOOD(gasnet_AMRequestShort0((me + 1) % nodes, ADD));
    }
    GASNET_BLOCKUNTIL(answers == ROUNDS);
    meet();
    CHECK(counter == 2 * ROUNDS);
#endif
    gasnet_exit(0);
}
