// A soak of the libfabric provider: processes with threads draw operations of all kinds, by the
// interface of libfabric alone, and compare with a model what comes of them. Each message comes
// once and as it was sent, each operation is told of once, each byte is as its only writer left it,
// and counters count all of them. README.md describes it.
//
//   provider [--seconds S] [--seed N] [--processes P] [--threads T] [--rounds R] [--operations O]
//            [--first E] [--epochs E] [--limit S]
#include "provider/receive.h"

static int expected(int e) {
    int many = 0;
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->process == me && op->ep == e)
            many += is_message(op) || (op->kind == WRITE && op->has_data);
    }
    return many;
}

static bool is_quiet(const struct receive *receive, bool deferred) {
    return receive->quiet && receive->deferred == deferred;
}

// Returns how many receives of the endpoint, deferred or not, are not told of.
static int quiet_ones(int e, bool deferred) {
    int many = 0;
    pthread_mutex_lock(&model);
    for (int t = 0; t < options.threads; t++)
        for (int i = 0; i < posted[t]; i++)
            many += is_quiet(&receives[plan->round % 2][t][i], deferred) && (set.one_ep || t == e);
    pthread_mutex_unlock(&model);
    return many;
}

static bool has_all(void) {
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->lane == lane_of(me, thread) && op->told_of && !op->refused &&
            !*(volatile int *)&op->told) {
            AT("waits for operation", op->id);
            return false;
        }
    }
    if (fi_cntr_read(did[thread]) != *(volatile uint64_t *)&had_done[thread]) {
        AT("waits for deferred work", (long)had_done[thread]);
        return false;
    }
    return true;
}

static char ending[DOOMED];

// Closes the region to which operations are under way: nothing may change its bytes any more.
static void close_doomed(void) {
    if (!plan->doomed || thread != 0 || !regions[ENDING].mr)
        return;
    close_region(ENDING);
    if (set.memory != OF_ARENA)
        memcpy(ending, regions[ENDING].at, DOOMED);
}

// Begins all operations of the thread and posts its buffers, in an order that is drawn.
static void begin_all(int lane) {
    struct op *own[OPERATIONS], *taken[LANES * OPERATIONS];
    int many = 0, takes = 0;
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->lane == lane)
            own[many++] = op;
        bool posts = op->mode != CLAIMED && op->mode != DISCARDED;
        if (op->kind == TAGGED && op->process == me && op->taker == thread && posts)
            taken[takes++] = op;
    }
    int ends_at = (int)draw(&whims, many + 1), j = 0;
    // Where few entries have room, all may be of messages that wait for these.
    while (set.cq_size && j < takes)
        post_tagged(taken[j++]);
    for (int i = 0; i < many || j < takes;) {
        uint64_t turn = draw(&whims, 8);
        if (turn < 3 && i < many)
            issue(own[i++]);
        else if (turn < 6 && j < takes)
            post_tagged(taken[j++]);
        else if (turn == 6)
            take();
        else if (chance(&whims, 20))
            post_never();
        else
            keep_posted();
        if (i == ends_at)
            close_doomed();
    }
}

// Makes progress until a thing is so: looks for messages and keeps buffers posted meanwhile.
static void work_until_all_came(void) {
    int e = set.one_ep ? 0 : thread;
    for (;;) {
        int wanted = expected(e) - quiet_ones(e, false) - quiet_ones(e, true);
        bool all = has_all();
        if (all && ends[e].arrived == wanted)
            return;
        if (all)
            AT("waits for messages, of which so many have come:", ends[e].arrived);
        seek();
        keep_posted();
        take();
    }
}

// Cancels the buffers of the thread that nothing came to.
static void cancel_rest(void) {
    struct receive *all = receives[plan->round % 2][thread];
    // Buffers whose count was reached last are posted in progress.
    for (int i = 0; i < 2; i++)
        take();
    for (int i = 0; i < posted[thread]; i++)
        if (!all[i].ended && !all[i].quiet && !all[i].cancelled)
            cancel(&all[i]);
    for (int i = 0; i < posted[thread]; i++)
        while (!all[i].quiet && !*(volatile bool *)&all[i].ended) {
            AT("waits for the end of a buffer", i);
            take();
        }
}

// Lists the operations of the round, and how far they have come.
static void show_operations(void) {
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        dprintf(2, "  " OP_WORDS ", flags %llx, %s%s%s%s%stold %d, came %d\n", OP_IS(op),
                (long long)op->flags, op->has_data ? "data, " : "", op->threshold ? "waits, " : "",
                op->deferred ? "deferred, " : "", op->doomed ? "doomed, " : "",
                op->told_of ? "" : "not ", op->told, op->came);
    }
}

// Waits until a counter shows what it has to; then it may not count on.
static void counts(struct fid_cntr *cntr, uint64_t ended, uint64_t errors, const char *what) {
    for (;;) {
        uint64_t found = fi_cntr_read(cntr), wrong = fi_cntr_readerr(cntr);
        AT(what, (long)(found * 1000000 + wrong * 10000 + ended * 100 + errors));
        if (found == ended && wrong == errors)
            return;
        if ((found > ended || wrong > errors) && getenv("SOAK_SHOW"))
            show_operations();
        CHECK(found <= ended && wrong <= errors, "%s: %llu and %llu errors for %llu and %llu", what,
              (long long)found, (long long)wrong, (long long)ended, (long long)errors);
        take();
    }
}

// Compares the counters of the thread that concern deferred work.
static void check_work(void) {
    counts(did[thread], had_done[thread], had_failed[thread], "counter of deferred work");
    counts(steps[thread], stepped[thread], 0, "counter that deferred work counts");
    counts(never[thread], 0, 0, "counter of work that was taken back");
}

static void check_counters(int e) {
    static const char *names[COUNTS] = {"counter of messages sent", "counter of writes",
                                        "counter of reads", "counter of messages received"};
    struct endpoint *end = &ends[e];
    end->ended[RECEIVED] += (uint64_t)quiet_ones(e, false);
    for (int i = 0; i < COUNTS; i++) {
        uint64_t ended = i == RECEIVED ? end->ended[i] : end->started[i] - end->errors[i];
        if (set.counters)
            counts(end->counts[i], ended, end->errors[i], names[i]);
    }
    if (!set.events || e != 0)
        return;
    for (int i = 0; i < plan->many; i++)
        if (plan->ops[i].process == me && !is_message(&plan->ops[i]))
            accessed[plan->ops[i].kind == READ]++;
    counts(remote[0], accessed[0], 0, "counter of the peers' writes");
    counts(remote[1], accessed[1], 0, "counter of the peers' reads");
}

// Compares the memory that a lane has written here with the model: gaps, too.
static void check_area(int lane) {
    char *at = regions[lane].at;
    size_t end = 0;
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->kind != WRITE || op->lane != lane || op->process != me || op->doomed)
            continue;
        // Without a promise of that a write may still be on its way.
        bool sure = is_sure(op) || op->has_data;
        size_t same;
        while ((same = differs(at + op->offset, op->key, 0, op->len)) != op->len && !sure) {
            AT("waits for the bytes of write", op->id);
            take();
        }
        EXPECT(same == op->len, op, "byte %zu of the memory", same);
        for (; end < op->offset; end++)
            EXPECT(at[end] == (char)0xee, op, "byte %zu before it", end);
        end = op->offset + op->len;
    }
}

// Compares buffers once more, and those that nobody was told of.
static void check_buffers(void) {
    for (int i = 0; i < posted[thread]; i++) {
        struct receive *receive = &receives[plan->round % 2][thread][i];
        if (receive->quiet) {
            struct op *op = receive->wanted;
            size_t same = scattered(receive, receive->buffer, op->key, op->len);
            EXPECT(same == op->len, op, "byte %zu, taken without an entry", same);
        }
        for (int j = 0; j < 16 && receive->buffer; j++)
            CHECK(receive->buffer[receive->room + j] == (char)0xdd, "behind a buffer");
    }
    for (int i = 0; i < plan->many; i++) {
        struct op *op = &plan->ops[i];
        if (op->landed && op->taker == thread && op->kind == MESSAGE && plan->multi[me][op->ep]) {
            size_t same = differs(op->landed, op->key, 0, op->len);
            EXPECT(same == op->len, op, "byte %zu, later", same);
        }
        if (op->lane == lane_of(me, thread) && !op->told && op->result && !op->refused)
            check_result(op);
    }
}

// Compares the order of messages from one thread in buffers that were posted for any of them.
static void check_order(void) {
    struct receive *all = receives[plan->round % 2][thread];
    for (int i = 0; i < posted[thread]; i++)
        for (int j = 0; j < i; j++) {
            struct op *late = all[i].got, *early = all[j].got;
            if (!late || !early || late->lane != early->lane || late->threshold ||
                early->threshold || all[i].taking != all[j].taking || all[i].waits || all[j].waits)
                continue;
            bool alike = all[i].taking == ANY
                             ? all[i].source == all[j].source && late->len > 7 && early->len > 7
                             : all[i].taking == ONE && all[i].ignore && all[j].ignore;
            EXPECT(!alike || early->id < late->id, late, "before operation %d", early->id);
        }
}

static void clean_up(int lane) {
    for (int i = 0; i < posted[thread]; i++)
        free(receives[plan->round % 2][thread][i].buffer);
    for (int i = 0; i < plan->many; i++)
        if (plan->ops[i].lane == lane) {
            struct op *op = &plan->ops[i];
            shared->done[op->kind]++;
            free(op->buffer), free(op->result);
            op->buffer = op->result = NULL;
        }
}

// Makes the memory ready that this thread looks after.
static void prepare_memory(int round) {
    struct numbers from = {hash(4ull << 32 | epoch, round, me)};
    for (int i = 0; i < REGIONS; i++) {
        bool again = chance(&from, 6);
        if (i % options.threads != thread)
            continue;
        if ((again && round) || !regions[i].mr) {
            close_region(i);
            open_region(i, round);
        }
        if (i < LANES)
            memset(regions[i].at, 0xee, plan->ends[i][me]);
        if (i == CELLS)
            prepare_cells(plan);
    }
}

static void run_round(int round) {
    int lane = lane_of(me, thread), e = set.one_ep ? 0 : thread;
    bool leads = !set.one_ep || thread == 0;
    if (thread == 0) {
        turn = round;
        alarm((unsigned)options.limit);
        plan = &plans[round % 2];
        draw_plan(plan, round);
    }
    posted[thread] = 0;
    meet("waits for the round's plan");
    if (leads) {
        ends[e].arrived = ends[e].cuts = 0;
        size_t least = plan->longest[me][e] ? plan->longest[me][e] : 1;
        OK(fi_setopt(&ends[e].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                     sizeof least));
    }
    prepare_memory(round);
    meet("waits for the round's begin");
    follow_releases();
    begin_all(lane);
    close_doomed();
    all_released = true;
    release(STEPS);
    work_until_all_came();
    meet("waits for the end of all operations");
    cancel_rest();
    meet("waits for the end of all buffers");
    check_work();
    if (leads)
        check_counters(e);
    meet("waits for all counters");
    for (int i = thread; i < options.processes * options.threads; i += options.threads)
        check_area(i);
    if (CELLS % options.threads == thread)
        check_cells(plan);
    // A store of a peer of the node that is past its look at the region may come behind the close.
    const char *near = getenv("FI_FARREACH_NEAR");
    bool far = near && !strcmp(near, "0");
    bool kept = far && plan->doomed && thread == 0 && set.memory != OF_ARENA;
    CHECK(!kept || !memcmp(ending, regions[ENDING].at, DOOMED), "written behind the close");
    check_buffers();
    check_order();
    for (int i = 0; i < 3; i++)
        take();
    meet("waits for all checks");
    clean_up(lane);
    meet("waits for the end of the round");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *run_lane(void *number) {
    thread = (int)(intptr_t)number;
    double begin = now();
    bool last = false;
    for (epoch = options.first; !last; thread == 0 ? epoch++ : 0) {
        if (thread == 0)
            open_epoch();
        meet_and("waits for open endpoints", false);
        int now_is = epoch;
        whims.state = hash(5, now_is, lane_of(me, thread));
        if (thread == 0)
            know_each_other();
        meet("waits for addresses");
        for (int round = 0; round < options.rounds; round++)
            run_round(round);
        if (me == 0 && thread == 0)
            shared->go_on = options.epochs ? epoch + 1 < options.first + options.epochs
                                           : now() - begin < options.seconds;
        meet("waits for the end of the epoch");
        last = !shared->go_on;
        for (int i = 0; i < 20; i++)
            take();
        meet_and("waits for the end of the endpoints", false);
        if (thread == 0)
            close_epoch();
        meet_and("waits for closed endpoints", false);
    }
    return NULL;
}

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2,
            "seed %llu --processes %d --threads %d, epoch %d, round %d: process %d does not go "
            "on\n",
            (unsigned long long)options.seed, options.processes, options.threads, epoch, turn, me);
    say_places();
    if (getenv("SOAK_SHOW"))
        show_operations();
    if (getenv("SOAK_STAY"))
        for (;;)
            pause();
    shared->failed = 1;
    _exit(3);
}

static void run_process(int number) {
    pthread_t threads[THREADS];
    me = number;
    signal(SIGALRM, on_alarm);
    size_t len = region_at(REGIONS);
    own_memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(own_memory != MAP_FAILED, "mmap");
    for (intptr_t i = 0; i < options.threads; i++)
        OK(pthread_create(&threads[i], NULL, run_lane, (void *)i));
    for (int i = 0; i < options.threads; i++)
        OK(pthread_join(threads[i], NULL));
    exit(0);
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        long number = strtol(value, NULL, 0);
        if (!strcmp(name, "--seconds"))
            options.seconds = atof(value);
        else if (!strcmp(name, "--seed"))
            options.seed = strtoull(value, NULL, 0);
        else if (!strcmp(name, "--processes"))
            options.processes = (int)number;
        else if (!strcmp(name, "--threads"))
            options.threads = (int)number;
        else if (!strcmp(name, "--rounds"))
            options.rounds = (int)number;
        else if (!strcmp(name, "--operations"))
            options.operations = (int)number;
        else if (!strcmp(name, "--first"))
            options.first = (int)number;
        else if (!strcmp(name, "--epochs"))
            options.epochs = (int)number;
        else if (!strcmp(name, "--limit"))
            options.limit = (int)number;
        else {
            fprintf(stderr, "there is no option %s\n", name);
            exit(2);
        }
    }
    if (!options.seed)
        options.seed = (uint64_t)time(NULL);
    if (!options.processes)
        options.processes = 2 + (int)(options.seed % 3);
    if (!options.threads)
        options.threads = 1 + (int)(options.seed / 3 % 3);
    bool fits = options.processes <= PROCESSES && options.threads <= THREADS &&
                options.operations <= OPERATIONS && options.operations > 0;
    if (!fits || options.processes < 1 || options.threads < 1) {
        fprintf(stderr, "up to %d processes, %d threads and %d operations\n", PROCESSES, THREADS,
                OPERATIONS);
        exit(2);
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv);
    printf("seed %llu --processes %d --threads %d\n", (unsigned long long)options.seed,
           options.processes, options.threads);
    fflush(stdout);
    int all = PROT_READ | PROT_WRITE, kind = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    shared = mmap(NULL, sizeof *shared, all, kind, -1, 0);
    CHECK(shared != MAP_FAILED, "mmap");
    for (int p = 0; p < options.processes; p++) {
        mapped[p] = mmap(NULL, region_at(REGIONS), all, kind, -1, 0);
        CHECK(mapped[p] != MAP_FAILED, "mmap");
    }
    pid_t children[PROCESSES];
    for (int p = 0; p < options.processes; p++)
        if ((children[p] = fork()) == 0)
            run_process(p);
    int failed = 0;
    for (int p = 0; p < options.processes; p++) {
        int status;
        pid_t child = wait(&status);
        if (status && !failed)
            fprintf(stderr, "process %d has ended with status %x\n", (int)child, (unsigned)status);
        if (status) {
            shared->failed = 1;
            failed = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
    }
    if (!failed)
        printf("%llu messages, %llu tagged, %llu writes, %llu reads, %llu atomic operations\n",
               (long long)shared->done[MESSAGE], (long long)shared->done[TAGGED],
               (long long)shared->done[WRITE], (long long)shared->done[READ],
               (long long)(shared->done[ATOMIC] + shared->done[FETCH] + shared->done[COMPARE]));
    return failed;
}
