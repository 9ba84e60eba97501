// Takes entries of queues, and compares them with what the model expects.
#pragma once
#include "atomics.h"

enum taking { ONE, ANY, MULTI, CLAIM, PEEK, NEVER };
enum { RECEIVES = 1024 };

// A buffer that is posted, or a look for a message.
struct receive {
    union {
        struct fi_context2 plain;
        struct fi_triggered_context triggered;
    } context;
    struct fi_deferred_work work;
    union {
        struct fi_op_msg msg;
        struct fi_op_tagged tagged;
    } record;
    enum taking taking;
    struct op *wanted, *got;
    int lane, source, number;
    char *buffer;
    size_t room, used;
    uint64_t tag, ignore;
    struct iovec iov[4];
    int pieces, told;
    bool quiet, found, missing, ended, cancelled;
    // Whether it is posted when a counter has a count, and as deferred work.
    bool waits, deferred;
    struct start start;
};

static struct plan plans[2], *plan = plans;
static struct receive receives[2][THREADS][RECEIVES];
static int posted[THREADS];
static pthread_mutex_t model = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct numbers whims;

static struct op *op_of(void *context) {
    for (int i = 0; i < 2; i++)
        if ((struct op *)context >= plans[i].ops &&
            (struct op *)context < plans[i].ops + plans[i].many)
            return context;
    return NULL;
}

static struct receive *receive_of(void *context) {
    bool is = (struct receive *)context >= receives[0][0] &&
              (struct receive *)context < receives[0][0] + 2 * THREADS * RECEIVES;
    return is ? context : NULL;
}

#define OP_WORDS "operation %d of process %d thread %d to %d.%d: kind %d, how %d, mode %d, len %zu"
#define OP_IS(op)                                                                                  \
    (op)->id, process_of((op)->lane), (op)->lane % options.threads, (op)->process, (op)->ep,       \
        (op)->kind, (op)->how, (op)->mode, (op)->len
#define EXPECT(it, op, ...)                                                                        \
    do {                                                                                           \
        if (!(it)) {                                                                               \
            char more_[200];                                                                       \
            snprintf(more_, sizeof more_, " " __VA_ARGS__);                                        \
            fail(__LINE__, "%s: " OP_WORDS ", flags %llx:%s", #it, OP_IS(op),                      \
                 (long long)(op)->flags, more_);                                                   \
        }                                                                                          \
    } while (0)

static bool is_message(const struct op *op) { return op->kind <= TAGGED; }

static enum count counted(const struct op *op) {
    return is_message(op) ? SENT : op->kind == WRITE || op->kind == ATOMIC ? WRITTEN : HAS_READ;
}

static uint64_t entry_flags(const struct op *op) {
    static const uint64_t flags[KINDS] = {FI_MSG | FI_SEND,     FI_TAGGED | FI_SEND,
                                          FI_RMA | FI_WRITE,    FI_RMA | FI_READ,
                                          FI_ATOMIC | FI_WRITE, FI_ATOMIC | FI_READ,
                                          FI_ATOMIC | FI_READ};
    return flags[op->kind];
}

// Looks at what an operation has brought.
static void check_result(struct op *op) {
    if (op->kind == READ && !op->doomed) {
        uint64_t key = hash(3, epoch, op->process);
        size_t same = differs(op->result, key, op->offset, op->len);
        EXPECT(same == op->len, op, "byte %zu", same);
    }
    if ((op->kind == FETCH || op->kind == COMPARE) && !op->contested) {
        char wanted[CELL];
        elements(op, OLD, wanted);
        EXPECT(!memcmp(wanted, op->result, bytes_of(op)), op, "type %d, op %d", op->type, op->op);
    }
    if (op->result)
        for (size_t i = 0, end = op->kind == READ ? op->len : bytes_of(op); i < 16; i++)
            EXPECT(op->result[end + i] == (char)0xdd, op, "behind its end");
    bool delivered = op->flags & FI_DELIVERY_COMPLETE;
    if (op->kind == WRITE && delivered && set.memory == OF_MAPPING && !op->doomed) {
        char *at = mapped[op->process] + region_at(op->lane) + op->offset;
        size_t same = differs(at, op->key, 0, op->len);
        EXPECT(same == op->len, op, "delivered but for byte %zu", same);
    }
}

// Does with the end of an operation that this process has begun as the model says.
static void has_ended(struct op *op, uint64_t flags, int error, int e) {
    EXPECT(op->told == 0 && op->lane / options.threads == me, op, "told of again");
    EXPECT(ep_of(op->lane) == e, op, "in the queue of endpoint %d", e);
    op->told = 1;
    EXPECT(op->told_of || error, op, "told of without being asked");
    EXPECT(!flags || (flags & ~(uint64_t)FI_COMPLETION) == entry_flags(op), op, "flags %llx",
           (long long)flags);
    uint64_t *held = op->deferred ? NULL : error ? ends[e].errors : ends[e].ended;
    if (error) {
        bool may = (op->doomed && error == FI_ENOKEY) ||
                   (op->mode == CUT && is_message(op) && op->kind == TAGGED && error == FI_ETRUNC);
        EXPECT(may, op, "error %d (%s)", error, fi_strerror(error));
        op->failed = error;
    } else {
        // A short message may be delivered before its receive.
        bool until = op->flags & FI_MATCH_COMPLETE ||
                     (op->flags & FI_DELIVERY_COMPLETE && op->len > 16 << 10);
        bool cut = op->kind == TAGGED && op->mode == CUT && until;
        EXPECT(!cut, op, "no error");
        check_result(op);
    }
    EXPECT(!op->threshold || released[op->lane % options.threads] >= op->start.releases, op,
           "too early");
    if (held)
        held[counted(op)]++;
    // The bytes belong to the program again.
    if (op->buffer)
        memset(op->buffer, 0x55, op->kind < ATOMIC ? op->len : bytes_of(op));
}

static bool is_for(const struct op *op, const struct receive *receive, int e) {
    return op->process == me && op->ep == e && is_message(op) && !op->refused &&
           op->kind == (receive->taking == ANY || receive->taking == MULTI ? MESSAGE : TAGGED);
}

// Returns how far bytes that were scattered are those of a message.
static size_t scattered(const struct receive *receive, const char *at, uint64_t key, size_t len) {
    if (receive->taking == MULTI)
        return differs(at, key, 0, len);
    size_t done = 0;
    for (int i = 0; i < receive->pieces && done < len; i++) {
        size_t most = receive->iov[i].iov_len < len - done ? receive->iov[i].iov_len : len - done;
        size_t same = differs(receive->iov[i].iov_base, key, done, most);
        done += same;
        if (same < most)
            break;
    }
    return done;
}

// Returns the message without a tag that has come: by its data, its bytes, or its place.
static struct op *came_as(struct receive *receive, struct fi_cq_tagged_entry *entry, int e,
                          fi_addr_t source, const char *at) {
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (!is_for(op, receive, e) || op->came || op->len != entry->len)
            continue;
        if (op->has_data != ((entry->flags & FI_REMOTE_CQ_DATA) != 0))
            continue;
        if (op->has_data && op->data != entry->data)
            continue;
        if (addresses[process_of(op->lane)][ep_of(op->lane)] != source)
            continue;
        if (scattered(receive, at, op->key, op->len) == op->len)
            return op;
    }
    return NULL;
}

// Returns the tagged message of an entry.
static struct op *tagged_as(const struct receive *receive, uint64_t tag, int e) {
    uint64_t id = tag & 0xfffff;
    struct op *op = &plan->ops[id < (uint64_t)plan->many ? id : 0];
    if (!is_for(op, receive, e) || op->tag != tag ||
        ((op->tag ^ receive->tag) & ~receive->ignore))
        fail(__LINE__, "a message of tag %llx for a receive of %llx", (long long)tag,
             (long long)receive->tag);
    return op;
}

static void check_message(struct receive *receive, struct op *op, struct fi_cq_tagged_entry *entry,
                          fi_addr_t source, size_t cut) {
    uint64_t flags = (op->kind == MESSAGE ? FI_MSG : FI_TAGGED) | FI_RECV;
    flags |= op->has_data ? FI_REMOTE_CQ_DATA : 0;
    uint64_t found = entry->flags & ~(uint64_t)(FI_MULTI_RECV | FI_COMPLETION);
    EXPECT(found == flags, op, "flags %llx", (long long)entry->flags);
    EXPECT(!op->has_data || entry->data == op->data, op, "data %llx", (long long)entry->data);
    fi_addr_t from = addresses[process_of(op->lane)][ep_of(op->lane)];
    EXPECT(source == from || cut, op, "source %llx", (long long)source);
    EXPECT(receive->source < 0 || ep_of(receive->source) == ep_of(op->lane), op, "not directed");
    EXPECT(entry->len == op->len - cut, op, "len %zu", entry->len);
}

// Takes the result of a look for a message.
static void looked(struct receive *receive, struct fi_cq_tagged_entry *entry, fi_addr_t source,
                   int error, int e) {
    if (error) {
        CHECK(error == FI_ENOMSG, "%d", error);
        receive->missing = true;
        return;
    }
    struct op *op = tagged_as(receive, entry->tag, e);
    check_message(receive, op, entry, source, 0);
    receive->got = op, receive->found = true;
}

static bool has_started(const struct receive *receive) {
    uint64_t releases = released[receive->lane % options.threads];
    return !receive->waits || releases >= receive->start.releases;
}

// Does with a message that has come as the model says.
static void has_come(struct receive *receive, struct fi_cq_tagged_entry *entry, fi_addr_t source,
                     int e) {
    char *at = receive->taking == MULTI ? entry->buf : receive->buffer;
    if (receive->taking == MULTI) {
        char *end = receive->buffer + receive->room;
        CHECK(at >= receive->buffer && at + entry->len <= end, "%p", at);
        receive->used += entry->len;
    }
    struct op *op = receive->taking == ANY || receive->taking == MULTI
                        ? came_as(receive, entry, e, source, at)
                        : tagged_as(receive, entry->tag, e);
    if (!op)
        fail(__LINE__, "no such message: len %zu, flags %llx, data %llx, source %llx", entry->len,
             (long long)entry->flags, (long long)entry->data, (long long)source);
    EXPECT(op->came == 0, op, "come again");
    EXPECT(receive->taking != NEVER, op, "for a tag that nobody sends");
    check_message(receive, op, entry, source, 0);
    size_t same = scattered(receive, at, op->key, op->len);
    EXPECT(same == op->len, op, "byte %zu", same);
    if (receive->taking != MULTI)
        for (int i = 0; i < 16; i++)
            EXPECT(receive->buffer[receive->room + i] == (char)0xdd, op, "behind the buffer");
    EXPECT(has_started(receive), op, "before its buffer was posted");
    EXPECT(!receive->quiet, op, "told of without being asked");
    op->came = 1, op->landed = at, receive->got = op;
    if (receive->deferred)
        had_done[receive->lane % options.threads]++;
    else
        ends[e].ended[RECEIVED]++;
    ends[e].arrived++;
}

static void received(struct receive *receive, struct fi_cq_tagged_entry *entry, fi_addr_t source,
                     struct fi_cq_err_entry *error, int e) {
    // The entry that gives a buffer for several back may be handled before those that were read
    // before it by other threads.
    bool may_be_late = receive->taking == MULTI && set.one_ep && options.threads > 1;
    CHECK(!receive->ended || may_be_late,
          "a receive of thread %d (taking %d) is told of again: flags %llx", receive->lane,
          receive->taking, (long long)entry->flags);
    if (receive->taking == PEEK) {
        receive->ended = true;
        looked(receive, entry, source, error ? error->err : 0, e);
        return;
    }
    if (error && error->err == FI_ECANCELED) {
        CHECK(receive->cancelled, "a receive that was not cancelled, taking %d", receive->taking);
        receive->ended = true;
        return;
    }
    if (error) {
        struct op *op = receive->wanted;
        CHECK(op && op->mode == CUT && error->err == FI_ETRUNC && !op->came, "error %d, taking %d",
              error->err, receive->taking);
        check_message(receive, op, entry, source, op->len - op->room);
        EXPECT(error->olen == op->len - op->room, op, "olen %zu", error->olen);
        size_t same = differs(receive->buffer, op->key, 0, op->room);
        EXPECT(same == op->room, op, "byte %zu", same);
        EXPECT(has_started(receive), op, "before its buffer was posted");
        op->came = 1, receive->ended = true;
        if (receive->deferred)
            had_failed[receive->lane % options.threads]++;
        else
            ends[e].errors[RECEIVED]++;
        ends[e].arrived++;
        return;
    }
    bool multi = receive->taking == MULTI, last = entry->flags & FI_MULTI_RECV;
    CHECK(multi || !last, "taking %d", receive->taking);
    receive->ended |= !multi || last;
    if (entry->flags & FI_RECV)
        has_come(receive, entry, source, e);
    else
        CHECK(last, "flags %llx", (long long)entry->flags);
}

static void written_with_data(struct fi_cq_tagged_entry *entry, int e) {
    uint64_t id = entry->data & 0xffffffff;
    struct op *op = &plan->ops[id < (uint64_t)plan->many ? id : 0];
    EXPECT(op->has_data && op->kind == WRITE && op->data == entry->data, op, "data %llx",
           (long long)entry->data);
    EXPECT(op->process == me && op->ep == e && !op->came, op, "at endpoint %d", e);
    uint64_t flags = FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE | FI_RMA;
    EXPECT(entry->flags == flags, op, "flags %llx", (long long)entry->flags);
    size_t same = differs(regions[op->lane].at + op->offset, op->key, 0, op->len);
    EXPECT(same == op->len, op, "data before byte %zu", same);
    op->came = 1;
    ends[e].arrived++;
}

// Takes the failure of a message that was injected, and cut there: it has no context.
static void injected_cut(struct fi_cq_err_entry *error, int e) {
    CHECK(error->err == FI_ETRUNC && error->flags == (FI_TAGGED | FI_SEND), "error %d, flags %llx",
          error->err, (long long)error->flags);
    CHECK(ends[e].cuts > 0, "nothing was injected that is cut");
    ends[e].cuts--;
    ends[e].errors[SENT]++;
}

static void told(struct fi_cq_tagged_entry *entry, fi_addr_t source, struct fi_cq_err_entry *error,
                 int e) {
    struct op *op = op_of(entry->op_context);
    struct receive *receive = receive_of(entry->op_context);
    pthread_mutex_lock(&model);
    if (entry->flags & FI_REMOTE_WRITE)
        written_with_data(entry, e);
    else if (op)
        has_ended(op, entry->flags, error ? error->err : 0, e);
    else if (error && !entry->op_context)
        injected_cut(error, e);
    else if (receive)
        received(receive, entry, source, error, e);
    else
        fail(__LINE__, "an entry of nobody: flags %llx, context %p, error %d",
             (long long)entry->flags, entry->op_context, error ? error->err : 0);
    pthread_mutex_unlock(&model);
}

static void take_error(struct fid_cq *cq, int e) {
    struct fi_cq_err_entry error = {0};
    ssize_t got = fi_cq_readerr(cq, &error, 0);
    // Another thread may have taken it.
    if (got == -FI_EAGAIN || got == 0)
        return;
    CHECK(got == 1, "%zd", got);
    struct fi_cq_tagged_entry entry = {error.op_context, error.flags, error.len,
                                       error.buf,        error.data,  error.tag};
    told(&entry, FI_ADDR_NOTAVAIL, &error, e);
}

// Takes some entries of a queue; waits for them now and then.
static bool take_some(struct fid_cq *cq, enum fi_cq_format format, int e, bool waits) {
    static const size_t sizes[] = {0, sizeof(struct fi_cq_entry), sizeof(struct fi_cq_msg_entry),
                                   sizeof(struct fi_cq_data_entry),
                                   sizeof(struct fi_cq_tagged_entry)};
    char room[8 * sizeof(struct fi_cq_tagged_entry)];
    fi_addr_t sources[8];
    size_t many = 1 + draw(&whims, 8);
    ssize_t got;
    if (waits && set.wait != FI_WAIT_NONE)
        got = fi_cq_sreadfrom(cq, room, many, sources, NULL, 1);
    else
        got = fi_cq_readfrom(cq, room, many, sources);
    if (got == -FI_EAVAIL) {
        take_error(cq, e);
        return true;
    }
    if (got == -FI_EAGAIN || got == -FI_EINTR || got == 0)
        return false;
    CHECK(got > 0 && got <= (ssize_t)many, "%zd", got);
    for (ssize_t i = 0; i < got; i++) {
        struct fi_cq_tagged_entry entry = {0};
        memcpy(&entry, room + i * (ssize_t)sizes[format], sizes[format]);
        told(&entry, sources[i], NULL, e);
    }
    return true;
}

// Makes progress for the thread's endpoint.
static void take(void) {
    static _Thread_local int idle;
    int e = set.one_ep ? 0 : thread;
    if (shared->failed)
        give_up();
    if (!ends[e].ep) {
        sched_yield();
        return;
    }
    bool waits = idle > 20 && idle % 16 == 0;
    bool some = take_some(ends[e].rx, FI_CQ_FORMAT_TAGGED, e, waits);
    if (!set.one_cq)
        some |= take_some(ends[e].tx, tx_format(), e, false);
    idle = some ? 0 : idle + 1;
    if (idle > 2)
        sched_yield();
}
