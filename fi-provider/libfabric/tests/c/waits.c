// Two processes by libfabric: they sleep on descriptors of queues and counters until something
// comes from the other one, from another thread, or a signal; entries that are there keep them from
// sleeping.
#include "pair.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { ROUNDS = 300 };
static struct fid_cntr *got;
static struct fid_eq *eq;
static int rx_fd, tx_fd, got_fd, eq_fd;

static int is_readable(int fd, int timeout) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout);
}

static int try(struct fid *fid) {
    return fi_trywait(fabric, &fid, 1);
}

// Sleeps until the queue has an entry.
static void sleep_for(struct fid_cq *cq, int fd, void *context) {
    struct fi_cq_tagged_entry entry;
    ssize_t taken;
    while ((taken = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
        if (try(&cq->fid) == 0)
            CHECK(is_readable(fd, 10000) == 1);
    }
    CHECK(taken == 1 && entry.op_context == context);
}

static void *post(void *message) {
    usleep(50000);
    POST(fi_send(ep, message, 8, NULL, self, message));
    return NULL;
}

static void *signal_later(void *cq) {
    usleep(50000);
    OK(fi_cq_signal(cq));
    return NULL;
}

static double cpu(void) {
    struct timespec used;
    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

// Checks that a set tells of its queues and counters that have news.
static void polls(void) {
    struct fid_poll *set;
    void *found[3];
    OK(fi_poll_open(domain, NULL, &set) || fi_poll_add(set, &rx->fid, 0));
    OK(fi_poll_add(set, &tx->fid, 0) || fi_poll_add(set, &got->fid, 0));
    CHECK(fi_poll_add(set, &rx->fid, 0) == -FI_EINVAL);
    CHECK(fi_poll_add(set, &av->fid, 0) == -FI_ENOSYS);
    fi_cntr_read(got);
    CHECK(fi_poll(set, found, 3) == 0 && fi_poll(set, NULL, 1) == -FI_EINVAL);
    OK(fi_cntr_add(got, 1));
    CHECK(fi_poll(set, found, 3) == 1 && found[0] == &got);
    char from[8] = "", to[8];
    OK(fi_recv(ep, to, 8, NULL, self, to));
    POST(fi_send(ep, from, 8, NULL, self, from));
    CHECK(next(rx).op_context == to);
    fi_cntr_read(got);
    // The entry of the send.
    CHECK(fi_poll(set, found, 3) == 1 && found[0] == NULL && fi_poll(set, found, 0) == 0);
    CHECK(next(tx).op_context == from && fi_poll(set, found, 3) == 0);
    CHECK(fi_close(&got->fid) == -FI_EBUSY && fi_close(&domain->fid) == -FI_EBUSY);
    CHECK(fi_poll_del(set, &got->fid, 0) == 0 && fi_poll_del(set, &got->fid, 0) == -FI_EINVAL);
    CHECK(fi_poll_del(set, &rx->fid, 1) == -FI_EBADFLAGS);
    OK(fi_close(&set->fid));
}

// Takes the ends of all sends, in a thread that sleeps in between.
static void *ends(void *unused) {
    for (int i = 0; i < ROUNDS; i++)
        next(tx);
    return unused;
}

static void *counts(void *base) {
    OK(fi_cntr_wait(got, *(uint64_t *)base + ROUNDS, 20000));
    return NULL;
}

// Sends messages there and back, while a thread waits for each queue, and one for a counter.
static void there_and_back(void) {
    pthread_t threads[2];
    uint64_t base = fi_cntr_read(got), word = 0;
    time_t begun = time(NULL);
    OK(pthread_create(threads, NULL, ends, NULL));
    OK(pthread_create(threads + 1, NULL, counts, &base));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        OK(fi_recv(ep, &word, 8, NULL, peer, &word));
        if (leads)
            POST(fi_send(ep, &round, 8, NULL, peer, &word));
        CHECK(next(rx).op_context == &word && word == round);
        if (round % 10 == 0)
            usleep(200); // The other one sleeps.
        if (!leads)
            POST(fi_send(ep, &round, 8, NULL, peer, &word));
    }
    OK(pthread_join(threads[0], NULL) || pthread_join(threads[1], NULL));
    CHECK(time(NULL) - begun < 5);
}

static void *receive(void *entry) {
    *(struct fi_cq_tagged_entry *)entry = next(rx);
    return NULL;
}

// Checks that a thread sleeps on while another one makes progress that finds nothing.
static void beside(void) {
    pthread_t thread;
    struct fi_cq_tagged_entry entry;
    uint64_t word = 0;
    time_t begun = time(NULL);
    OK(fi_recv(ep, &word, 8, NULL, peer, &word));
    OK(pthread_create(&thread, NULL, receive, &entry));
    usleep(50000);
    CHECK(fi_cq_read(tx, NULL, 0) == -FI_EAGAIN);
    meet();
    usleep(50000 * leads);
    POST(fi_inject(ep, &(uint64_t){5}, 8, peer));
    OK(pthread_join(thread, NULL));
    CHECK(entry.op_context == &word && word == 5 && time(NULL) - begun < 5);
}

// A wait that a signal is to end.
struct interrupted {
    struct fid_cq *cq;
    struct fid_cntr *cntr;
    struct fid_eq *eq;
    volatile int is_over;
    ssize_t result;
};

static void ignore(int number) {
    (void)number;
}

static void *wait_for_ever(void *argument) {
    struct interrupted *wait = argument;
    struct fi_cq_tagged_entry entry;
    uint32_t event;
    if (wait->cq)
        wait->result = fi_cq_sread(wait->cq, &entry, 1, NULL, -1);
    else if (wait->cntr)
        wait->result = fi_cntr_wait(wait->cntr, fi_cntr_read(wait->cntr) + 1, -1);
    else
        wait->result = fi_eq_sread(wait->eq, &event, &entry, sizeof entry, -1, 0);
    wait->is_over = 1;
    return NULL;
}

// Checks that a signal ends a wait that has no end of its own. More than one is sent, as one that
// comes while the thread is awake ends nothing.
static void interrupt(struct interrupted wait) {
    pthread_t thread;
    wait.is_over = 0;
    OK(pthread_create(&thread, NULL, wait_for_ever, &wait));
    for (int i = 0; i < 100 && !wait.is_over; i++) {
        usleep(20000);
        if (!wait.is_over)
            OK(pthread_kill(thread, SIGUSR1));
    }
    usleep(20000);
    CHECK(wait.is_over && wait.result == -FI_EINTR);
    OK(pthread_join(thread, NULL));
}

// Checks that signals end the waits for objects of all kinds.
static void signals(void) {
    struct sigaction action = {.sa_handler = ignore}, before;
    OK(sigaction(SIGUSR1, &action, &before));
    interrupt((struct interrupted){.cq = rx});
    interrupt((struct interrupted){.cntr = got});
    interrupt((struct interrupted){.eq = eq});
    enum fi_wait_obj kinds[] = {FI_WAIT_UNSPEC, FI_WAIT_YIELD, FI_WAIT_NONE};
    for (int i = 0; i < 3; i++) {
        struct fi_cq_attr queue = {.wait_obj = kinds[i]};
        struct fi_cntr_attr counter = {.wait_obj = kinds[i]};
        struct interrupted of_queue = {0}, of_counter = {0};
        OK(fi_cq_open(domain, &queue, &of_queue.cq, NULL));
        OK(fi_cntr_open(domain, &counter, &of_counter.cntr, NULL));
        interrupt(of_queue);
        interrupt(of_counter);
        OK(fi_close(&of_queue.cq->fid) || fi_close(&of_counter.cntr->fid));
    }
    OK(sigaction(SIGUSR1, &before, NULL));
}

int main(void) {
    begin(FI_MSG, FI_WAIT_FD);
    struct fi_cntr_attr attr = {.wait_obj = FI_WAIT_FD};
    OK(fi_cntr_open(domain, &attr, &got, &got) || fi_ep_bind(ep, &got->fid, FI_RECV));
    struct fi_eq_attr events = {.wait_obj = FI_WAIT_FD};
    OK(fi_eq_open(fabric, &events, &eq, NULL));
    OK(fi_control(&rx->fid, FI_GETWAIT, &rx_fd) || fi_control(&tx->fid, FI_GETWAIT, &tx_fd));
    OK(fi_control(&got->fid, FI_GETWAIT, &got_fd) || fi_control(&eq->fid, FI_GETWAIT, &eq_fd));
    CHECK(rx_fd != tx_fd && rx_fd != got_fd);
    CHECK(fi_control(&rx->fid, FI_GETWAIT, NULL) == -FI_EINVAL);
    join();
    char here[8], message[8] = "message";
    for (int round = 0; round < ROUNDS; round++) {
        OK(fi_recv(ep, here, 8, NULL, peer, here));
        if (leads) {
            POST(fi_send(ep, message, 8, NULL, peer, message));
            sleep_for(rx, rx_fd, here);
        } else {
            sleep_for(rx, rx_fd, here);
            POST(fi_send(ep, message, 8, NULL, peer, message));
        }
        sleep_for(tx, tx_fd, message);
    }
    OK(fi_cntr_wait(got, ROUNDS, 10000));
    // Nothing is there: it is not readable, and a waiting thread takes no processor time.
    while (try(&rx->fid) != 0)
        CHECK(fi_cq_read(rx, NULL, 0) == -FI_EAGAIN);
    struct fid *all[] = {&rx->fid, &tx->fid, &got->fid, &eq->fid};
    OK(fi_trywait(fabric, all, 4));
    CHECK(is_readable(rx_fd, 0) == 0 && is_readable(got_fd, 0) == 0 && is_readable(eq_fd, 0) == 0);
    double before = cpu();
    struct fi_cq_tagged_entry entry;
    CHECK(fi_cq_sread(rx, &entry, 1, NULL, 300) == -FI_EAGAIN);
    CHECK(fi_cntr_wait(got, ROUNDS + 1, 300) == -FI_ETIMEDOUT);
    CHECK(cpu() - before < 0.2);
    // Another thread sends, signals, writes.
    pthread_t other_thread;
    OK(fi_recv(ep, here, 8, NULL, self, here));
    OK(pthread_create(&other_thread, NULL, post, message));
    CHECK(fi_cq_sread(rx, &entry, 1, NULL, 10000) == 1 && entry.op_context == here);
    OK(pthread_join(other_thread, NULL));
    CHECK(try(&tx->fid) == -FI_EAGAIN && next(tx).op_context == message);
    // It was counted, and not read since.
    CHECK(try(&got->fid) == -FI_EAGAIN && fi_cntr_read(got) == ROUNDS + 1);
    OK(pthread_create(&other_thread, NULL, signal_later, rx));
    CHECK(fi_cq_sread(rx, &entry, 1, NULL, -1) == -FI_EAGAIN);
    OK(pthread_join(other_thread, NULL));
    while (try(&got->fid) != 0)
        fi_cntr_read(got);
    OK(fi_cntr_add(got, 1));
    CHECK(is_readable(got_fd, 1000) == 1);
    CHECK(fi_eq_write(eq, FI_NOTIFY, here, 1, 0) == 1 && is_readable(eq_fd, 0) == 1);
    uint32_t event;
    CHECK(try(&eq->fid) == -FI_EAGAIN && fi_eq_read(eq, &event, here, 8, 0) == 1);
    CHECK(try(&eq->fid) == 0 && is_readable(eq_fd, 0) == 0);
    polls();
    signals();
    meet();
    there_and_back();
    meet();
    beside();
    // Queues without descriptors, and other objects.
    struct fid_cq *plain;
    OK(fi_cq_open(domain, NULL, &plain, NULL));
    CHECK(try(&plain->fid) == -FI_EINVAL && try(&av->fid) == -FI_ENOSYS);
    CHECK(fi_control(&plain->fid, FI_GETWAIT, &rx_fd) == -FI_ENOSYS);
    CHECK(fi_trywait(fabric, NULL, 1) == -FI_EINVAL);
    leave();
    OK(fi_close(&got->fid) || fi_close(&eq->fid) || fi_close(&plain->fid));
    return end();
}
