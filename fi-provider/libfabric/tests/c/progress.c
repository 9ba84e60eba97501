// Two processes by libfabric with automatic progress: one posts buffers, and sleeps without a call
// while the other one sends to it, and reads and writes its memory; operations that wait for counters
// start; and a process may end with all open, which it does without an argument.
#include "pair.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <time.h>

enum { LONG = 1 << 20, ADDS = 100, KEY = 7, TAGS = 4 };
enum { MESSAGES = 2 + TAGS, REPLY = 99 };
static struct fid_cntr *received, *sent, *wrote, *was_read, *written;
static char *shorts, *longs, *tagged[TAGS], *from;
static uint64_t *memory;
static struct fid_mr *mr;

static double cpu(void) {
    struct timespec used;
    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

// Reads a counter until it has reached a count, within 10 s, and no other call.
static void count_to(struct fid_cntr *cntr, uint64_t count) {
    for (int i = 0; i < 10000 && fi_cntr_read(cntr) < count; i++)
        usleep(1000);
    CHECK(fi_cntr_read(cntr) == count);
}

static void *zeros(size_t len) {
    void *bytes = calloc(1, len);
    CHECK(bytes);
    return bytes;
}

static size_t size_of(int tag) {
    return tag % 2 ? LONG : 8;
}

// Sends when the counter has reached a count.
static void reply_at(struct fid_cntr *cntr, size_t count, uint64_t tag) {
    static struct fi_triggered_context contexts[2];
    static int used;
    struct fi_triggered_context *context = &contexts[used++];
    *context = (struct fi_triggered_context){
        .event_type = FI_TRIGGER_THRESHOLD,
        .trigger.threshold = {.cntr = cntr, .threshold = count},
    };
    struct iovec iov = {from, LONG};
    struct fi_msg_tagged msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = peer, .tag = tag, .context = context};
    OK(fi_tsendmsg(ep, &msg, FI_TRIGGER | FI_COMPLETION));
}

// Posts buffers, sleeps, and finds all done.
static void sleeper(void) {
    OK(fi_recv(ep, shorts, 8, NULL, peer, shorts) || fi_recv(ep, longs, LONG, NULL, peer, longs));
    for (int i = 0; i < TAGS; i++)
        OK(fi_trecv(ep, tagged[i], size_of(i), NULL, peer, i, 0, tagged[i]));
    reply_at(received, MESSAGES, REPLY);
    reply_at(written, 1, REPLY + 1);
    meet();
    meet(); // All is sent, and more.
    CHECK(memory[0] == 2 * ADDS && memory[1] == 5);
    CHECK(memory[8] == 6 && !memcmp(memory + LONG / 8, from, LONG));
    CHECK(!memcmp(shorts, from, 8) && !memcmp(longs, from, LONG));
    for (int i = 0; i < TAGS; i++)
        CHECK(!memcmp(tagged[i], from + i, size_of(i)));
    CHECK(fi_cntr_read(received) == MESSAGES);
    uint64_t context = 0;
    for (int i = 0; i < MESSAGES; i++)
        context += (uint64_t)next(rx).op_context;
    for (int i = 0; i < TAGS; i++)
        context -= (uint64_t)tagged[i];
    CHECK(context == (uint64_t)shorts + (uint64_t)longs);
    CHECK(next(tx).flags & FI_SEND && next(tx).flags & FI_SEND);
    // Nothing is to do, and the thread takes no time.
    double before = cpu();
    usleep(400000);
    CHECK(cpu() - before < 0.2);
}

// Does all of that, and reads nothing but counters.
static void starter(void) {
    char *replies[2] = {zeros(LONG), zeros(LONG)}, *back = zeros(LONG);
    for (int i = 0; i < 2; i++)
        OK(fi_trecv(ep, replies[i], LONG, NULL, peer, REPLY + i, 0, replies[i]));
    meet();
    POST(fi_send(ep, from, 8, NULL, peer, from));
    POST(fi_send(ep, from, LONG, NULL, peer, from));
    for (int i = 0; i < TAGS; i++)
        POST(fi_tsend(ep, from + i, size_of(i), NULL, peer, i, from));
    count_to(sent, MESSAGES);
    uint64_t two = 2, found = 0, word = 5;
    for (int i = 0; i < ADDS; i++)
        POST(fi_atomic(ep, &two, 1, NULL, peer, 0, KEY, FI_UINT64, FI_SUM, from));
    count_to(wrote, ADDS);
    POST(fi_fetch_atomic(ep, &two, 1, NULL, &found, NULL, peer, 0, KEY, FI_UINT64, FI_ATOMIC_READ,
                         from));
    count_to(was_read, 1);
    CHECK(found == 2 * ADDS);
    POST(fi_write(ep, &word, 8, NULL, peer, 8, KEY, from));
    POST(fi_write(ep, from, LONG, NULL, peer, LONG, KEY, from));
    POST(fi_inject_write(ep, &(uint64_t){6}, 8, peer, 64, KEY));
    count_to(wrote, ADDS + 3);
    POST(fi_read(ep, back, LONG, NULL, peer, LONG, KEY, back));
    POST(fi_read(ep, &found, 8, NULL, peer, 8, KEY, back));
    count_to(was_read, 3);
    CHECK(found == 5 && !memcmp(back, from, LONG));
    count_to(received, 2);
    for (int i = 0; i < 2; i++)
        CHECK(!memcmp(replies[i], from, LONG));
    meet();
    for (int i = 0; i < 2; i++) {
        next(rx);
        free(replies[i]);
    }
    for (int i = 0; i < MESSAGES + ADDS + 1 + 2 + 2; i++)
        CHECK(next(tx).op_context);
    free(back);
}

static struct fid_cntr *counter(uint64_t flags) {
    struct fid_cntr *cntr;
    OK(fi_cntr_open(domain, NULL, &cntr, NULL) || fi_ep_bind(ep, &cntr->fid, flags));
    return cntr;
}

int main(int argc, char **argv) {
    (void)argv;
    setenv("AUTOMATIC", "1", 1);
    begin(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV | FI_TRIGGER | FI_RMA_EVENT,
          FI_WAIT_UNSPEC);
    CHECK(info->domain_attr->control_progress == FI_PROGRESS_AUTO);
    CHECK(info->domain_attr->threading == FI_THREAD_SAFE);
    from = zeros(LONG + TAGS), shorts = zeros(8), longs = zeros(LONG), memory = zeros(2 * LONG);
    for (int i = 0; i < TAGS; i++)
        tagged[i] = zeros(LONG);
    for (int i = 0; i < LONG + TAGS; i++)
        from[i] = (char)(i * 7 + i / 256 + 1);
    received = counter(FI_RECV), sent = counter(FI_SEND);
    wrote = counter(FI_WRITE), was_read = counter(FI_READ), written = counter(FI_REMOTE_WRITE);
    uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
    OK(fi_mr_reg(domain, memory, 2 * LONG, rights, 0, KEY, 0, &mr, NULL));
    join();
    if (leads)
        starter();
    else
        sleeper();
    meet();
    if (!leads && argc == 1)
        exit(0); // With all open.
    struct fid *all[] = {&ep->fid,    &mr->fid,       &received->fid, &sent->fid,
                         &wrote->fid, &was_read->fid, &written->fid};
    for (int i = 0; i < 7; i++)
        OK(fi_close(all[i]));
    free(from), free(shorts), free(longs), free(memory);
    for (int i = 0; i < TAGS; i++)
        free(tagged[i]);
    return end();
}
