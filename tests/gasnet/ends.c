// The end of a job: by all, by one while others wait, compute or are in handlers, by the end of
// main, from signals, and by crashes. The job ends with the code, and nobody stays. Where
// GASNET_EXITTIMEOUT is 600, the job ends by itself: a process that waits for that time fails the
// case. Over libfabric it may have to.
// run: np=1,3 mode=seq,par expect-exit=11 args=all 11
// run: np=2 mode=seq expect-exit=0 args=all 0
// run: np=3 mode=seq,par expect-exit=12 env=GASNET_EXITTIMEOUT=0.6 args=one 12
// run: np=2 mode=seq expect-exit=0 env=GASNET_EXITTIMEOUT=0.6 args=one 0
// run: np=3 mode=seq,par expect-exit=13 env=GASNET_EXITTIMEOUT=0.6 args=spin 13
// run: np=3 mode=seq expect-exit=14 env=GASNET_EXITTIMEOUT=0.6 expect-stdout="follows" args=quit 14
// run: np=2 mode=seq,par expect-exit=15 env=GASNET_EXITTIMEOUT=0.6 args=handler 15
// run: np=1,2 mode=seq,par expect-exit=16 env=GASNET_EXITTIMEOUT=0.6 args=signal 16
// run: np=1,2 mode=seq expect-exit=17 args=return 17
// run: np=2 mode=seq expect-exit=18 env=GASNET_EXITTIMEOUT=0.6 args=return-one 18
// run: np=2 mode=seq expect-exit=nonzero args=crash 0
// run: np=2 mode=seq expect-exit=19 args=before-attach 19
// run: np=2 mode=par expect-exit=20 env=GASNET_EXITTIMEOUT=0.6 args=threads 20
// run: nodes=1 np=3 mode=seq,par expect-exit=23 env=GASNET_EXITTIMEOUT=600 args=handlers 23
// run: nodes=several transport=rc np=3 mode=seq expect-exit=23 env=GASNET_EXITTIMEOUT=600 args=handlers 23
// run: nodes=several transport=dc np=3 mode=seq expect-exit=23 env=GASNET_EXITTIMEOUT=600 args=handlers 23
// run: nodes=1 np=3 mode=seq,par expect-exit=24 env=GASNET_EXITTIMEOUT=600 args=replies 24
// run: nodes=several transport=rc np=3 mode=seq expect-exit=24 env=GASNET_EXITTIMEOUT=600 args=replies 24
// run: nodes=1 np=4 mode=seq,par expect-exit=25 env=GASNET_EXITTIMEOUT=600 expect-stdout="late" args=nested 25
// run: nodes=several transport=rc np=4 mode=seq expect-exit=25 env=GASNET_EXITTIMEOUT=600 expect-stdout="late" args=nested 25
// run: nodes=1 np=3 mode=par expect-exit=26 env=GASNET_EXITTIMEOUT=600 expect-stdout="late" args=second 26
// run: nodes=several transport=rc np=3 mode=par expect-exit=26 env=GASNET_EXITTIMEOUT=600 expect-stdout="late" args=second 26
// run: np=2 mode=par expect-exit=27 env=GASNET_EXITTIMEOUT=0.6 expect-stdout="late" args=reader 27
// run: np=2 mode=par expect-exit=1 env=GASNET_EXITTIMEOUT=600 expect-stderr="gasnet_put" args=reader-mistake 1
// run: np=3 mode=seq launcher=hydra expect-exit=28 env=GASNET_EXITTIMEOUT=600 args=handlers 28
// run: np=2 mode=seq launcher=hydra expect-exit=21 args=all 21
// run: np=2 mode=seq launcher=hydra expect-exit=0 args=all 0
// run: np=2 mode=seq launcher=hydra expect-exit=22 env=GASNET_EXITTIMEOUT=0.6 args=one 22
#include "check.h"
#include <signal.h>

enum { END = 128, ASK, END_SLOWLY };

static int code;
static volatile int asked, is_ending;

/* Has the requester end in a handler of a reply. */
static void ask(gasnet_token_t token)
{
    asked++;
    GOOD(gasnet_AMReplyShort0(token, END));
}

/* Ends in a handler when another thread has begun to. */
static void end_slowly(gasnet_token_t token)
{
    (void)token;
    is_ending = 1;
    usleep(100000);
    gasnet_exit(code);
}

static void end(gasnet_token_t token)
{
    (void)token;
    gasnet_exit(code);
}

static void on_signal(int number)
{
    (void)number;
    gasnet_exit(code);
}

static void on_quit(int number)
{
    (void)number;
    puts("follows");
    fflush(stdout);
    gasnet_exit(code);
}

static void wait_for_ever(void)
{
    static volatile int never;
    GASNET_BLOCKUNTIL(never);
}

#ifdef GASNET_PAR
static void *poll_for_ever(void *unused)
{
    wait_for_ever();
    return unused;
}

/* Keeps the lock of a stream that brings nothing. */
static void *read_for_ever(void *unused)
{
    int ends[2];
    if (pipe(ends) == 0) fgetc(fdopen(ends[0], "r"));
    return unused;
}

static void *exit_soon(void *unused)
{
    usleep(20000);
    gasnet_exit(code);
    return unused;
}
#endif

/* Ends this process when the others have. */
static void end_late(void)
{
    usleep(500000);
    puts("late");
    gasnet_exit(code);
}

static void end_by_handlers(const char *how)
{
    const int is_first = me == 0, is_last = me == nodes - 1;
    if (!strcmp(how, "handlers") && is_first) {
        for (uint32_t node = 1; node < nodes; node++) GOOD(gasnet_AMRequestShort0(node, END));
        GOOD(gasnet_AMRequestShort0(0, END));
    }
    if (!strcmp(how, "replies") && is_first) {
        GASNET_BLOCKUNTIL(asked == (int)nodes - 1);
        gasnet_exit(code);
    }
    if (!strcmp(how, "replies")) GOOD(gasnet_AMRequestShort0(0, ASK));
    if (!strcmp(how, "nested")) {
        if (is_last) end_late();
        if (is_first) usleep(100000);
        for (uint32_t node = 1; is_first && node < nodes - 1; node++)
            GOOD(gasnet_AMRequestShort0(node, END));
        gasnet_exit(code);
    }
}

#ifdef GASNET_PAR
static void end_by_threads(const char *how)
{
    pthread_t thread;
    if (!strcmp(how, "second")) {
        if (me == 0) GOOD(gasnet_AMRequestShort0(1, END_SLOWLY));
        if (me == nodes - 1) end_late();
        if (me == 1) pthread_create(&thread, NULL, poll_for_ever, NULL);
        while (me == 1 && !is_ending) usleep(1000);
        gasnet_exit(code);
    }
    if (!strncmp(how, "reader", 6)) {
        if (me == 0) pthread_create(&thread, NULL, read_for_ever, NULL);
        usleep(100000);
        if (me == 0) puts("late");
        if (strcmp(how, "reader") && me == 0) gasnet_put(1, NULL, &code, sizeof code);
        gasnet_exit(code);
    }
}
#endif

int main(int argc, char **argv)
{
    gasnet_handlerentry_t handlers[] = {
        {END, (void (*)())end}, {ASK, (void (*)())ask}, {END_SLOWLY, (void (*)())end_slowly}};
    const char *how = argv[1];
    code = atoi(argv[2]);
    if (!strcmp(how, "before-attach")) {
        GOOD(gasnet_init(&argc, &argv));
        gasnet_exit(code);
    }
    set_up(&argc, &argv, handlers, 3);
    const int is_first = me == 0;
    if (!strcmp(how, "all")) gasnet_exit(code);
    if (!strcmp(how, "return")) return code;
    if (!strcmp(how, "return-one") && is_first) return code;
    if (!strcmp(how, "one") && is_first) gasnet_exit(code);
    if (!strcmp(how, "one")) meet();
    if (!strcmp(how, "spin") && is_first) gasnet_exit(code);
    if (!strcmp(how, "spin")) for (volatile int i = 0;; i++) continue;
    if (!strcmp(how, "quit")) signal(SIGQUIT, on_quit), meet();
    if (!strcmp(how, "quit") && is_first) gasnet_exit(code);
    if (!strcmp(how, "handler") && is_first) GOOD(gasnet_AMRequestShort0(nodes - 1, END));
    if (!strcmp(how, "signal") && is_first) {
        signal(SIGUSR1, on_signal);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "crash") && is_first) raise(SIGSEGV);
    end_by_handlers(how);
#ifdef GASNET_PAR
    end_by_threads(how);
    if (!strcmp(how, "threads") && is_first) {
        pthread_t threads[2];
        pthread_create(&threads[0], NULL, poll_for_ever, NULL);
        pthread_create(&threads[1], NULL, exit_soon, NULL);
    }
#endif
    wait_for_ever();
}
