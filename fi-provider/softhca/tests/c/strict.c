/*
 * A program with a data path of its own, for strict mode, one case per run: strict NAME. Some cases
 * do all that hardware needs and check that they are served; the others leave something out, and
 * end with status 0 in any case: the device has to find them out.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: %s (errno %m)\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

enum { SIZE = 1 << 16, ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };
enum { NOP = 0, WRITE = 8, FETCH_ADD = 0x12, SIGNALLED = 8 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char *memory;
static uint16_t lid;

/* A queue pair that is connected to itself, in a thread domain, and its rings. */
struct lane {
    struct ibv_td *td;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct mlx5dv_qp dv;
    uint16_t index;
    unsigned offset; /* which half of the register is next */
};

static void open_device(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_port_attr port;
    CHECK(list && list[0]);
    CHECK(context = ibv_open_device(list[0]));
    ibv_free_device_list(list);
    CHECK(!ibv_query_port(context, 1, &port));
    lid = port.lid;
    CHECK(pd = ibv_alloc_pd(context));
    memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(mr = ibv_reg_mr(pd, memory, SIZE, ALL));
}

static void connect_to_itself(struct ibv_qp *qp)
{
    struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    a = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 16, .min_rnr_timer = 12,
        .ah_attr = { .dlid = lid, .port_num = 1 },
    };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16 };
    CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static struct lane open_lane(void)
{
    struct lane l = { 0 };
    struct ibv_td_init_attr td = { 0 };
    CHECK(l.td = ibv_alloc_td(context, &td));
    struct ibv_parent_domain_init_attr parent = { .pd = pd, .td = l.td };
    CHECK(l.pd = ibv_alloc_parent_domain(context, &parent));
    CHECK(l.cq = ibv_create_cq(context, 64, NULL, NULL, 0));
    struct ibv_qp_init_attr init = {
        .send_cq = l.cq, .recv_cq = l.cq, .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 32, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 64 },
    };
    CHECK(l.qp = ibv_create_qp(l.pd, &init));
    connect_to_itself(l.qp);
    struct mlx5dv_obj object = { .qp = { .in = l.qp, .out = &l.dv } };
    CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) && l.dv.sq.stride == 64 && l.dv.bf.size == 256);
    return l;
}

static void close_lane(struct lane *l)
{
    CHECK(!ibv_destroy_qp(l->qp) && !ibv_destroy_cq(l->cq) && !ibv_dealloc_pd(l->pd) && !ibv_dealloc_td(l->td));
}

static void close_device(void)
{
    CHECK(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
}

/* Returns true when a completion comes within so many ms. */
static int completes(struct lane *l, int ms)
{
    struct ibv_wc wc;
    for (int n = 0; n < ms * 10; n++) {
        int got = ibv_poll_cq(l->cq, 1, &wc);
        if (got) {
            CHECK(got == 1 && wc.status == IBV_WC_SUCCESS);
            return 1;
        }
        usleep(100);
    }
    return 0;
}

static void barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static uint64_t *entry(struct lane *l)
{
    return (uint64_t *)((char *)l->dv.sq.buf + l->index % l->dv.sq.wqe_cnt * 64);
}

/* Writes the control segment: of so many units of 16 bytes. */
static void control(struct lane *l, int opcode, unsigned units)
{
    uint32_t *at = (uint32_t *)entry(l);
    at[0] = htobe32(l->index << 8 | opcode);
    at[1] = htobe32(l->qp->qp_num << 8 | units);
    at[2] = htobe32(SIGNALLED);
    at[3] = 0;
}

/* Puts a write of 28 bytes inline to `memory` into the ring: one block, filled. */
static void write_inline(struct lane *l, const char *text)
{
    uint32_t *at = (uint32_t *)entry(l);
    uint64_t to = htobe64((uintptr_t)memory);
    control(l, WRITE, 4);
    memcpy(at + 4, &to, 8);
    at[6] = htobe32(mr->rkey);
    at[7] = 0;
    at[8] = htobe32(0x80000000u | 28);
    strncpy((char *)(at + 9), text, 28);
}

static void record(struct lane *l)
{
    barrier();
    l->dv.dbrec[MLX5_SND_DBR] = htobe32((uint16_t)(l->index + 1));
    barrier();
}

static volatile uint64_t *half(struct lane *l)
{
    return (volatile uint64_t *)((char *)l->dv.bf.reg + l->offset);
}

/* Copies `words` of 8 bytes of the entry to the register. */
static void ring(struct lane *l, int words)
{
    uint64_t *from = entry(l);
    for (int n = 0; n < words; n++)
        half(l)[n] = from[n];
    barrier();
    l->offset ^= 256;
}

static void good(struct lane *l, const char *text, int words)
{
    write_inline(l, text);
    record(l);
    ring(l, words);
    l->index++;
    CHECK(completes(l, 10000));
    CHECK(!strcmp(memory, text));
}

static void works(struct lane *l)
{
    for (int n = 0; n < 100; n++)
        good(l, n % 3 ? "a text" : "another text", n % 2 ? 1 : 8);
}

/* Rings by doorbells and copies of all kinds, more often than the ring has entries. */
static void plain(struct lane *l)
{
    works(l);
    for (int n = 0; n < 50; n++) {
        write_inline(l, "backwards");
        record(l);
        for (int at = 7; at >= 0; at--)
            half(l)[at] = entry(l)[at];
        l->offset ^= 256;
        l->index++;
        CHECK(completes(l, 10000));
        write_inline(l, "by halves");
        record(l);
        ((volatile uint32_t *)half(l))[0] = ((uint32_t *)entry(l))[0];
        ((volatile uint32_t *)half(l))[1] = ((uint32_t *)entry(l))[1];
        l->index++;
        CHECK(completes(l, 10000));
    }
}

/* (a) Writes the record alone: nothing is done. */
static void never(struct lane *l)
{
    write_inline(l, "unheard");
    record(l);
    CHECK(!completes(l, 300) && !memory[0]);
}

/* Does as `never`, and the process closes nothing. */
static void abandoned(struct lane *l)
{
    never(l);
    _exit(0);
}

/* (b) Writes the register before the record. */
static void early(struct lane *l)
{
    write_inline(l, "early");
    barrier();
    ring(l, 1);
    record(l);
    completes(l, 300);
}

/* (c) Writes the register before the entry's last bytes, and before its first ones. */
static void incomplete(struct lane *l)
{
    write_inline(l, "this was before");
    record(l);
    ring(l, 1);
    memcpy((char *)entry(l) + 36, "that is too late", 17);
    completes(l, 300);
}

static void unwritten(struct lane *l)
{
    uint64_t first = htobe64((uint64_t)WRITE << 32 | l->qp->qp_num << 8 | 4);
    record(l);
    *half(l) = first;
    write_inline(l, "late");
    completes(l, 300);
}

/* (d) Writes a BlueFlame copy with one byte that the entry does not have. */
static void different(struct lane *l)
{
    works(l);
    write_inline(l, "copied");
    record(l);
    for (int n = 0; n < 8; n++)
        half(l)[n] = entry(l)[n] ^ (n == 6 ? 1ull << 40 : 0);
    l->index++;
    completes(l, 300);
}

/* Writes a BlueFlame copy that ends too early. */
static void shortened(struct lane *l)
{
    write_inline(l, "a part");
    record(l);
    ring(l, 4);
    l->index++;
    completes(l, 300);
}

/* (e) Rings twice. */
static void twice(struct lane *l)
{
    write_inline(l, "twice");
    record(l);
    ring(l, 1);
    ring(l, 1);
    l->index++;
    completes(l, 300);
}

/* Rings the register of a page that is not the queue pair's. */
static void elsewhere(struct lane *l)
{
    struct lane others[3] = { open_lane(), open_lane(), open_lane() };
    struct lane *far = NULL;
    for (int n = 0; n < 3; n++)
        if (((uintptr_t)others[n].dv.bf.reg ^ (uintptr_t)l->dv.bf.reg) >> 12)
            far = &others[n];
    CHECK(far);
    write_inline(l, "unheard");
    record(l);
    *(volatile uint64_t *)far->dv.bf.reg = *entry(l);
    CHECK(!completes(l, 300));
}

/* Arms a completion queue with another word than its record has. */
static void armed(struct lane *l)
{
    struct mlx5dv_cq cq;
    struct mlx5dv_obj object = { .cq = { .in = l->cq, .out = &cq } };
    CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ));
    *(volatile uint64_t *)((char *)cq.cq_uar + 0x20) = htobe64(1ull << 60 | cq.cqn);
}

/* Copies into the buffer of another thread's copy, in the middle of that copy. */
static void *second(void *argument)
{
    struct lane *l = argument;
    *half(l) = *entry(l);
    return NULL;
}

static void interleaved(struct lane *l)
{
    pthread_t thread;
    write_inline(l, "mine");
    record(l);
    half(l)[0] = entry(l)[0];
    half(l)[1] = entry(l)[1];
    CHECK(!pthread_create(&thread, NULL, second, l) && !pthread_join(thread, NULL));
    l->index++;
    completes(l, 300);
}

/* Lets a child of fork ring its parent's page. */
static void foreign(struct lane *l)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        *half(l) = *entry(l);
        _exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    works(l);
}

enum { THREADS = 4, TIMES = 400 };

/* Adds 1 to the counter, through libmlx5, as often as is said; signals are blocked, as in many libraries' threads. */
static void add(struct lane *l, int index, int times)
{
    for (int n = 0; n < times; n++) {
        struct ibv_sge sge = { (uintptr_t)(memory + 1024 + 8 * index), 8, mr->lkey };
        struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1 }, *bad;
        wr.wr.atomic.remote_addr = (uintptr_t)memory;
        wr.wr.atomic.rkey = mr->rkey;
        wr.wr.atomic.compare_add = 1;
        CHECK(!ibv_post_send(l->qp, &wr, &bad));
        CHECK(completes(l, 20000));
    }
}

static struct lane lanes[THREADS];

static void *adding(void *argument)
{
    sigset_t all;
    sigfillset(&all);
    CHECK(!pthread_sigmask(SIG_SETMASK, &all, NULL));
    add(&lanes[(intptr_t)argument], (intptr_t)argument, TIMES);
    return NULL;
}

/* Lets threads ring the registers of two pages, two and two, at once: nothing is lost. */
static void threads(struct lane *l)
{
    pthread_t ids[THREADS];
    int same = 0;
    (void)l;
    for (int n = 0; n < THREADS; n++) {
        lanes[n] = open_lane();
        for (int m = 0; m < n; m++)
            same += ((uintptr_t)lanes[n].dv.bf.reg ^ (uintptr_t)lanes[m].dv.bf.reg) >> 12 == 0;
    }
    CHECK(same >= 1);
    for (intptr_t n = 0; n < THREADS; n++)
        CHECK(!pthread_create(&ids[n], NULL, adding, (void *)n));
    for (int n = 0; n < THREADS; n++)
        CHECK(!pthread_join(ids[n], NULL));
    CHECK(*(uint64_t *)memory == THREADS * TIMES);
    for (int n = 0; n < THREADS; n++)
        close_lane(&lanes[n]);
}

static int fired;

static void on_alarm(int signal)
{
    (void)signal;
    int before = errno;
    if (fired < 200) {
        add(&lanes[0], 0, 1);
        fired++;
    }
    errno = before;
}

/* Lets a signal handler ring, in a thread that rings, with all signals blocked meanwhile. */
static void interrupted(struct lane *l)
{
    struct sigaction action = { .sa_handler = on_alarm };
    struct itimerval time = { { 0, 1500 }, { 0, 1500 } }, none = { { 0 }, { 0 } };
    sigfillset(&action.sa_mask);
    lanes[0] = open_lane();
    CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &time, NULL));
    int own = 0;
    while (fired < 200) {
        errno = 77;
        add(l, 1, 1);
        own++;
    }
    CHECK(!setitimer(ITIMER_REAL, &none, NULL));
    CHECK(*(uint64_t *)memory == (uint64_t)(own + fired));
    close_lane(&lanes[0]);
}

static sigjmp_buf back;
static void *volatile seen;

static void on_fault(int signal, siginfo_t *info, void *registers)
{
    sigset_t blocked;
    CHECK(signal == SIGSEGV && registers && !pthread_sigmask(SIG_BLOCK, NULL, &blocked));
    CHECK(sigismember(&blocked, SIGUSR1) == 1 && !sigismember(&blocked, SIGUSR2));
    seen = info->si_code > 0 ? info->si_addr : "sent";
    siglongjmp(back, 1);
}

static void on_simple(int signal)
{
    CHECK(signal == SIGSEGV);
    seen = "simple";
    siglongjmp(back, 1);
}

static void *volatile bad_address = (void *)0x123000;

static void fault(void *expected)
{
    seen = NULL;
    if (!sigsetjmp(back, 1))
        *(volatile int *)bad_address = 1;
    CHECK(seen == expected);
}

static int overflow(int depth)
{
    volatile char frame[4096];
    frame[0] = depth;
    return (depth < 0 ? 0 : overflow(depth + 1)) + frame[0];
}

static void *on_own_stack(void *argument)
{
    /* As small as they come, below them nothing. */
    char *stack = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED && !mprotect(stack, 4096, PROT_NONE));
    stack_t alternate = { .ss_sp = stack + 4096, .ss_size = 2 * 4096 };
    CHECK(!sigaltstack(&alternate, NULL));
    works(argument);
    seen = NULL;
    if (!sigsetjmp(back, 1))
        overflow(0);
    CHECK(seen);
    works(argument);
    return NULL;
}

/* Returns the status with which a child ends that does this. */
static int ending(void (*act)(void))
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        act();
        _exit(9);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void die(void)
{
    *(volatile int *)bad_address = 1;
}

static void send_to_itself(void)
{
    raise(SIGSEGV);
}

/*
 * Checks the program's own handler of SIGSEGV: put in before and after, asked for, ignored, by
 * default, on a stack of its own.
 */
static void handlers(struct lane *l)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK }, before;
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(!sigaction(SIGSEGV, &action, &before));
    CHECK(before.sa_handler == on_simple); /* of main */
    works(l);
    fault(bad_address);
    works(l);
    CHECK(!sigaction(SIGSEGV, NULL, &before) && before.sa_sigaction == on_fault && before.sa_flags & SA_SIGINFO);
    seen = NULL;
    if (!sigsetjmp(back, 1))
        raise(SIGSEGV);
    CHECK(!strcmp(seen, "sent"));
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, on_own_stack, l) && !pthread_join(thread, NULL));
    CHECK(signal(SIGSEGV, on_simple) == (void (*)(int))(uintptr_t)on_fault);
    seen = NULL;
    if (!sigsetjmp(back, 1))
        *(volatile int *)bad_address = 1;
    CHECK(!strcmp(seen, "simple"));
    CHECK(signal(SIGSEGV, SIG_IGN) == on_simple);
    CHECK(!raise(SIGSEGV));
    int status = ending(die);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    status = ending(die);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = ending(send_to_itself);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    works(l);
}

static void own_device(void)
{
    open_device();
    struct lane l = open_lane();
    works(&l);
    close_lane(&l);
    close_device();
    _exit(5);
}

/* Starts children, one with a device of its own, and programs, while this one goes on. */
static void children(struct lane *l)
{
    works(l);
    int status = ending(own_device);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    memset(memory, 0, SIZE);
    works(l);
    CHECK(!system("true"));
    pid_t child = vfork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        execlp("true", "true", NULL);
        _exit(1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    works(l);
    signal(SIGSEGV, SIG_DFL);
}

/* Stores by an instruction that no doorbell is made of. */
static void exchanged(struct lane *l)
{
    write_inline(l, "exchanged");
    record(l);
    uint64_t value = *entry(l);
    asm volatile("xchg %0, (%1)" : "+r"(value) : "r"(half(l)) : "memory");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct lane *);
    } cases[] = {
        { "plain", plain }, { "threads", threads }, { "interrupted", interrupted }, { "handlers", handlers }, { "children", children },
        { "never", never }, { "abandoned", abandoned }, { "early", early }, { "incomplete", incomplete }, { "unwritten", unwritten },
        { "different", different }, { "shortened", shortened }, { "twice", twice }, { "elsewhere", elsewhere }, { "armed", armed },
        { "interleaved", interleaved }, { "foreign", foreign }, { "exchanged", exchanged },
    };
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            signal(SIGSEGV, on_simple);
            if (strcmp(argv[1], "handlers"))
                signal(SIGSEGV, SIG_DFL);
            open_device();
            struct lane l = open_lane();
            cases[i].run(&l);
            if (cases[i].run != elsewhere)
                close_lane(&l);
            if (cases[i].run != elsewhere)
                close_device();
            return 0;
        }
    fprintf(stderr, "usage: strict CASE\n");
    return 2;
}
