/*
 * Processes that end, are killed or become other programs, and the others that go on: one case a run, ends CASE [ARGUMENT].
 * Each is the program that `softhca run` starts; its parent is the device's process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                               \
	do {                                                                                           \
		if (!(condition)) {                                                                    \
			fprintf(stderr, "%s:%d: %s (errno %m)\n", __FILE__, __LINE__, #condition);     \
			exit(1);                                                                       \
		}                                                                                      \
	} while (0)

enum { SIZE = 4096, ALL = 0xf };

/* Objects that one queue pair needs. */
struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint64_t *memory;
};

/* Words of two processes to each other, in memory that they share. */
struct meeting {
	struct {
		uint32_t qpn, rkey;
		uint64_t base;
		_Atomic int stage;
	} of[2];
};

static char **arguments;

static int kick(void)
{
	static int (*hook)(void);
	if (!hook)
		*(void **)&hook = dlsym(RTLD_DEFAULT, "farreach_softhca_kick");
	CHECK(hook);
	return hook();
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	return memory;
}

static struct side open_side(uint64_t *memory)
{
	struct side s = { .memory = memory };
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	CHECK(s.context = ibv_open_device(list[0]));
	ibv_free_device_list(list);
	CHECK(s.pd = ibv_alloc_pd(s.context));
	CHECK(s.cq = ibv_create_cq(s.context, 64, NULL, NULL, 0));
	CHECK(s.mr = ibv_reg_mr(s.pd, memory, SIZE, ALL));
	struct ibv_qp_init_attr init = {
		.send_cq = s.cq, .recv_cq = s.cq, .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 16 },
	};
	CHECK(s.qp = ibv_create_qp(s.pd, &init));
	return s;
}

static void connect_to(struct side *s, uint32_t qpn)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL, .path_mtu = IBV_MTU_4096, .dest_qp_num = qpn,
		.max_dest_rd_atomic = 16, .max_rd_atomic = 16, .min_rnr_timer = 12, .timeout = 12, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .dlid = 1, .port_num = 1 },
	};
	CHECK(!ibv_modify_qp(s->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(s->qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(s->qp, &a,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Writes a number, and gives the status of the completion. */
static enum ibv_wc_status write_to(struct side *s, uint64_t number, uint64_t to, uint32_t rkey)
{
	struct ibv_sge from = { (uintptr_t)&number, 8, 0 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .sg_list = &from, .num_sge = 1,
		.wr.rdma = { to, rkey },
	}, *bad;
	CHECK(!ibv_post_send(s->qp, &wr, &bad));
	struct ibv_wc wc;
	int got;
	for (time_t end = time(NULL) + 20; (got = ibv_poll_cq(s->cq, 1, &wc)) == 0 && time(NULL) < end;)
		usleep(20);
	CHECK(got == 1);
	return wc.status;
}

/* Checks that a queue pair that is connected to itself works, for so many writes. */
static void work_alone(int writes)
{
	uint64_t *memory = aligned_alloc(4096, SIZE);
	CHECK(memory);
	struct side s = open_side(memory);
	connect_to(&s, s.qp->qp_num);
	for (int n = 1; n <= writes; n++) {
		CHECK(write_to(&s, n, (uintptr_t)(memory + 5), s.mr->rkey) == IBV_WC_SUCCESS);
		CHECK(memory[5] == (uint64_t)n);
	}
	CHECK(!ibv_destroy_qp(s.qp) && !ibv_dereg_mr(s.mr) && !ibv_destroy_cq(s.cq) && !ibv_dealloc_pd(s.pd) && !ibv_close_device(s.context));
	free(memory);
}

static pid_t fork_mine(void)
{
	pid_t parent = getpid(), child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			exit(1);
	}
	return child;
}

static void wait_for(_Atomic int *stage, int value)
{
	for (time_t end = time(NULL) + 20; *stage < value;) {
		CHECK(time(NULL) < end);
		usleep(100);
	}
}

static void become(const char *what, const char *how)
{
	char *next[] = { arguments[0], (char *)what, (char *)how, NULL };
	execv("/proc/self/exe", next);
	CHECK(!"exec");
}

/* Acts as the peer in case `closed`: is written to, and ends its context in one of several ways. */
static void be_written_to(struct meeting *meeting, uint64_t *memory, const char *how)
{
	struct side s = open_side(memory);
	meeting->of[1].qpn = s.qp->qp_num;
	meeting->of[1].rkey = s.mr->rkey;
	meeting->of[1].base = (uintptr_t)memory;
	meeting->of[1].stage = 1;
	wait_for(&meeting->of[0].stage, 1);
	connect_to(&s, meeting->of[0].qpn);
	meeting->of[1].stage = 2;
	wait_for(&meeting->of[0].stage, 2);
	if (!strcmp(how, "close"))
		close(s.context->cmd_fd);
	if (!strcmp(how, "exec"))
		become("sleep", "");
	if (!strcmp(how, "exit"))
		_exit(0);
	meeting->of[1].stage = 3;
	for (;;)
		pause();
}

/*
 * Ends a context: by closing its file, exit, exec or a signal. Checks that its queue pair answers
 * no more, and that its number is nobody else's.
 */
static void closed(const char *how)
{
	struct meeting *meeting = shared(sizeof *meeting);
	uint64_t *memory = shared(SIZE), *own = shared(SIZE);
	pid_t peer = fork_mine();
	if (peer == 0)
		be_written_to(meeting, memory, how);
	struct side s = open_side(own);
	meeting->of[0].qpn = s.qp->qp_num;
	meeting->of[0].stage = 1;
	wait_for(&meeting->of[1].stage, 2);
	connect_to(&s, meeting->of[1].qpn);
	CHECK(write_to(&s, 1, meeting->of[1].base, meeting->of[1].rkey) == IBV_WC_SUCCESS && memory[0] == 1);
	meeting->of[0].stage = 2;
	if (!strcmp(how, "kill"))
		kill(peer, SIGKILL);
	if (!strcmp(how, "close"))
		wait_for(&meeting->of[1].stage, 3);
	else if (!strcmp(how, "exec"))
		usleep(300000);
	else
		CHECK(waitpid(peer, NULL, 0) == peer);
	/* New objects do not get the numbers and keys of those that are gone. */
	struct side other = open_side(own);
	CHECK(other.qp->qp_num != meeting->of[1].qpn && other.mr->rkey != meeting->of[1].rkey);
	connect_to(&other, s.qp->qp_num);
	usleep(20000);
	CHECK(write_to(&s, 2, meeting->of[1].base, meeting->of[1].rkey) == IBV_WC_RETRY_EXC_ERR);
	CHECK(memory[0] == 1 && write_to(&s, 3, meeting->of[1].base, meeting->of[1].rkey) == IBV_WC_WR_FLUSH_ERR);
	if (!strcmp(how, "close") || !strcmp(how, "exec"))
		CHECK(!kill(peer, SIGKILL) && waitpid(peer, NULL, 0) == peer);
	work_alone(10);
}

/* Threads of this process that have a list of devices. */
static _Atomic int asking;

/* Makes requests of every kind without end. */
static void *ask(void *forever)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	++asking;
	do {
		struct ibv_context *context = ibv_open_device(list[0]);
		CHECK(context);
		struct ibv_port_attr port;
		for (int n = 0; n < 10; n++)
			CHECK(!ibv_query_port(context, 1, &port) && !kick());
		CHECK(!ibv_close_device(context));
	} while (forever);
	ibv_free_device_list(list);
	return NULL;
}

/* Starts threads that ask without end. */
static void ask_in_threads(int count)
{
	for (int n = 0; n < count; n++) {
		pthread_t thread;
		CHECK(!pthread_create(&thread, NULL, ask, &arguments));
	}
}

static pid_t start_worker(int writes)
{
	pid_t worker = fork_mine();
	if (worker == 0) {
		work_alone(writes);
		exit(0);
	}
	return worker;
}

static void check_end(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Kills processes between a request and its reply, again and again; another one goes on. */
static void killed(void)
{
	pid_t worker = start_worker(500);
	for (int n = 0; n < 40; n++) {
		pid_t child = fork_mine();
		if (child == 0) {
			ask_in_threads(2);
			ask(&arguments);
		}
		usleep(rand() % 40000);
		kill(child, SIGKILL);
		CHECK(waitpid(child, NULL, 0) == child);
	}
	work_alone(10);
	check_end(worker);
}

/*
 * Lets processes become other programs, which use the device anew, with threads in the middle of
 * requests.
 */
static void replaced(void)
{
	pid_t worker = start_worker(500);
	for (int n = 0; n < 20; n++) {
		pid_t child = fork_mine();
		if (child == 0) {
			ask_in_threads(3);
			usleep(rand() % 40000);
			become("alone", "10");
		}
		check_end(child);
	}
	check_end(worker);
}

/*
 * Forks with threads in the middle of requests: the child uses the device by itself. Waits until
 * the threads have their lists: libibverbs makes one under a lock, which a child would have for
 * ever.
 */
static void forked(void)
{
	enum { THREADS = 3 };
	ask_in_threads(THREADS);
	while (asking < THREADS)
		usleep(1000);
	for (int n = 0; n < 20; n++) {
		usleep(rand() % 10000);
		check_end(start_worker(5));
	}
}

/*
 * Starts more processes than the device has files for: some are refused, none hangs, and afterwards
 * all is as before.
 */
static void crowd(void)
{
	enum { MEMBERS = 60 };
	pid_t members[MEMBERS];
	_Atomic int *go = shared(sizeof *go), refused = 0, opened = 0;
	for (int n = 0; n < MEMBERS; n++) {
		members[n] = fork_mine();
		if (members[n] == 0) {
			struct ibv_device **list = ibv_get_device_list(NULL);
			struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
			++*go;
			while (*go <= MEMBERS)
				usleep(1000);
			_exit(context ? 0 : 7);
		}
	}
	for (time_t end = time(NULL) + 20; *go < MEMBERS;) {
		CHECK(time(NULL) < end);
		usleep(1000);
	}
	++*go;
	for (int n = 0; n < MEMBERS; n++) {
		int status;
		CHECK(waitpid(members[n], &status, 0) == members[n] && WIFEXITED(status));
		refused += WEXITSTATUS(status) == 7;
		opened += WEXITSTATUS(status) == 0;
	}
	CHECK(refused + opened == MEMBERS);
	printf("%d refused\n", refused);
	/* The device learns of the ends in its own time. */
	usleep(200000);
	work_alone(10);
}

int main(int argc, char **argv)
{
	arguments = argv;
	srand(1);
	const char *name = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
	if (!strcmp(name, "closed"))
		closed(how);
	else if (!strcmp(name, "alone"))
		work_alone(atoi(how));
	else if (!strcmp(name, "sleep"))
		for (;;)
			pause();
	else if (!strcmp(name, "killed"))
		killed();
	else if (!strcmp(name, "replaced"))
		replaced();
	else if (!strcmp(name, "forked"))
		forked();
	else if (!strcmp(name, "crowd"))
		crowd();
	else
		return 2;
	return 0;
}
