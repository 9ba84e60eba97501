/*
 * A worker of the soak: connected queue pairs to all workers, itself included, and a DC initiator and target; random operations on
 * all of them, until it is told to finish or is killed. Errors are taken from killed peers alone, and every operation must be
 * answered in time.
 */
#include "soak.h"
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

/* The most operations under way to one peer, bytes of a slot, and seconds until an answer. */
enum { DEPTH = 12, SLOT = WORDS * 8, PATIENCE = 15, ALL = 0xf };
static const uint64_t DC_KEY = 0x50a4;

enum kind { IDLE, PUT, GET, ADD, SWAP, DYNAMIC_ADD };

/* An operation under way. */
struct operation {
	enum kind kind;
	unsigned peer, slot, words;
	uint64_t number; /* of a write; the value that a swap expects; the last write before a read */
	double since;
	uint64_t *data; /* SLOT bytes of its own */
};

static unsigned self;
static uint64_t state;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *window_mr, *data_mr;
static struct ibv_qp *qps[WORKERS], *initiator, *target;
static struct ibv_ah *path;
static struct operation operations[WORKERS][DEPTH], dynamic;
static uint64_t swapped[WORKERS]; /* values of the counters when they were last seen */
static int down[WORKERS], under_way;
static char *data;
static int (*kick)(void);

static struct account *account_of(unsigned peer)
{
	return &board->account[self][peer];
}

/* Set-up. */

static struct ibv_qp *new_qp(enum ibv_qp_type type, enum mlx5dv_dc_type dc)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq, .recv_cq = cq, .srq = dc == MLX5DV_DCTYPE_DCT ? srq : NULL, .qp_type = type, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = 2 * DEPTH, .max_send_sge = 2, .max_inline_data = 64 },
	};
	struct mlx5dv_qp_init_attr driver = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC, .dc_init_attr = { .dc_type = dc, .dct_access_key = DC_KEY },
	};
	if (type == IBV_QPT_RC)
		return ibv_create_qp_ex(context, &init);
	if (dc == MLX5DV_DCTYPE_DCT) {
		memset(&init.cap, 0, sizeof init.cap);
	} else {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	}
	return mlx5dv_create_qp(context, &init, &driver);
}

static void change(struct ibv_qp *qp, enum ibv_qp_state to, int mask, uint32_t peer, uint16_t lid)
{
	struct ibv_qp_attr attr = {
		.qp_state = to, .port_num = 1, .qp_access_flags = ALL, .path_mtu = IBV_MTU_4096, .dest_qp_num = peer,
		.max_dest_rd_atomic = 16, .max_rd_atomic = 16, .min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.ah_attr = { .dlid = lid, .port_num = 1 },
	};
	CHECK(!ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE));
}

enum {
	TO_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	TO_SEND = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
};

static void start_initiator(uint16_t lid)
{
	change(initiator, IBV_QPS_INIT, TO_INIT, 0, 0);
	change(initiator, IBV_QPS_RTR, IBV_QP_PATH_MTU | IBV_QP_AV, 0, lid);
	change(initiator, IBV_QPS_RTS, TO_SEND, 0, 0);
}

static void publish(uint16_t lid)
{
	struct address *own = &board->address[self];
	own->base = (uintptr_t)windows[self];
	own->rkey = window_mr->rkey;
	own->lid = lid;
	own->dctn = target->qp_num;
	for (unsigned peer = 0; peer < WORKERS; peer++)
		own->qpn[peer] = qps[peer]->qp_num;
	board->published[self] = 1;
}

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	struct mlx5dv_context_attr plain = { 0 };
	CHECK(context = mlx5dv_open_device(list[0], &plain));
	ibv_free_device_list(list);
	struct ibv_port_attr port;
	CHECK(!ibv_query_port(context, 1, &port));
	CHECK(pd = ibv_alloc_pd(context));
	CHECK(cq = ibv_create_cq(context, 4 * WORKERS * DEPTH, NULL, NULL, 0));
	struct ibv_srq_init_attr receives = { .attr = { .max_wr = 1, .max_sge = 1 } };
	CHECK(srq = ibv_create_srq(pd, &receives));
	size_t size = (WORKERS * DEPTH + 1) * SLOT;
	CHECK(data = aligned_alloc(4096, size));
	CHECK(window_mr = ibv_reg_mr(pd, windows[self], sizeof *windows[self], ALL));
	CHECK(data_mr = ibv_reg_mr(pd, data, size, IBV_ACCESS_LOCAL_WRITE));
	for (unsigned peer = 0; peer < WORKERS; peer++)
		CHECK(qps[peer] = new_qp(IBV_QPT_RC, 0));
	CHECK(initiator = new_qp(IBV_QPT_DRIVER, MLX5DV_DCTYPE_DCI));
	CHECK(target = new_qp(IBV_QPT_DRIVER, MLX5DV_DCTYPE_DCT));
	change(target, IBV_QPS_INIT, TO_INIT | IBV_QP_ACCESS_FLAGS, 0, 0);
	change(target, IBV_QPS_RTR, IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MTU | IBV_QP_AV, 0, port.lid);
	struct ibv_ah_attr where = { .dlid = port.lid, .port_num = 1 };
	CHECK(path = ibv_create_ah(pd, &where));
	start_initiator(port.lid);
	publish(port.lid);
}

/* Waits until all workers that are not killed have set their flag. */
static void meet(_Atomic int *flags)
{
	double end = seconds() + PATIENCE;
	for (unsigned peer = 0; peer < WORKERS; peer++)
		while (!flags[peer] && !board->doomed[peer]) {
			if (seconds() > end)
				FAIL("worker %u waits for worker %u", self, peer);
			usleep(100);
		}
}

static void connect_all(void)
{
	meet(board->published);
	for (unsigned peer = 0; peer < WORKERS; peer++) {
		down[peer] = !board->published[peer];
		if (down[peer])
			continue;
		struct address *there = &board->address[peer];
		change(qps[peer], IBV_QPS_INIT, TO_INIT | IBV_QP_ACCESS_FLAGS, 0, 0);
		change(qps[peer], IBV_QPS_RTR,
		       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		       there->qpn[self], there->lid);
		change(qps[peer], IBV_QPS_RTS, TO_SEND, 0, 0);
	}
	board->connected[self] = 1;
	meet(board->connected);
}

/* Operations. */

static struct operation *begin(struct operation *operation, enum kind kind, unsigned peer)
{
	operation->kind = kind;
	operation->peer = peer;
	operation->since = seconds();
	under_way++;
	return operation;
}

static void post(struct operation *operation, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	CHECK(!ibv_post_send(qps[operation->peer], wr, &bad));
}

static uint64_t far(unsigned peer, size_t offset)
{
	return board->address[peer].base + offset;
}

/* Posts a write in one or two pieces, and behind it its number into the mailbox. */
static void put(struct operation *operation)
{
	unsigned peer = operation->peer;
	uint64_t n = operation->number = ++account_of(peer)->writes;
	unsigned words = words_of(self, peer, n), first = draw(&state) % 3 ? words : draw(&state) % words;
	for (unsigned at = 0; at < words; at++)
		operation->data[at] = word_of(self, peer, n, at);
	struct ibv_sge pieces[2] = {
		{ (uintptr_t)operation->data, first * 8, data_mr->lkey },
		{ (uintptr_t)(operation->data + first), (words - first) * 8, data_mr->lkey },
	};
	/* A piece of length 0 would stand for 2^31 bytes. */
	int skipped = first == 0;
	struct ibv_sge number = { (uintptr_t)&operation->number, 8, 0 };
	struct ibv_send_wr tell = {
		.wr_id = (uintptr_t)operation, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.sg_list = &number, .num_sge = 1,
		.wr.rdma = { far(peer, offsetof(struct window, mailbox[self])), board->address[peer].rkey },
	};
	struct ibv_send_wr write = {
		.wr_id = (uintptr_t)operation, .next = &tell, .opcode = IBV_WR_RDMA_WRITE, .send_flags = words <= 8 ? IBV_SEND_INLINE : 0,
		.sg_list = pieces + skipped, .num_sge = 1 + (first < words) - skipped,
		.wr.rdma = { far(peer, offsetof(struct window, slots[self][n % SLOTS])), board->address[peer].rkey },
	};
	post(operation, &write);
}

static void get(struct operation *operation)
{
	unsigned peer = operation->peer;
	operation->slot = draw(&state) % SLOTS;
	operation->words = 1 + draw(&state) % WORDS;
	operation->number = account_of(peer)->writes;
	memset(operation->data, 0xee, operation->words * 8);
	struct ibv_sge to = { (uintptr_t)operation->data, operation->words * 8, data_mr->lkey };
	struct ibv_send_wr read = {
		.wr_id = (uintptr_t)operation, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED, .sg_list = &to, .num_sge = 1,
		.wr.rdma = { far(peer, offsetof(struct window, slots[self][operation->slot])), board->address[peer].rkey },
	};
	post(operation, &read);
}

static void change_counter(struct operation *operation)
{
	unsigned peer = operation->peer;
	int add = operation->kind == ADD;
	operation->number = swapped[peer];
	++*(add ? &account_of(peer)->adds : &account_of(peer)->swaps);
	struct ibv_sge old = { (uintptr_t)operation->data, 8, data_mr->lkey };
	size_t offset = add ? offsetof(struct window, added) : offsetof(struct window, swapped);
	struct ibv_send_wr atomic = {
		.wr_id = (uintptr_t)operation, .opcode = add ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP,
		.send_flags = IBV_SEND_SIGNALED, .sg_list = &old, .num_sge = 1,
		.wr.atomic = { far(peer, offset), add ? 1 : swapped[peer], swapped[peer] + 1, board->address[peer].rkey },
	};
	post(operation, &atomic);
}

static void add_dynamically(struct operation *operation)
{
	unsigned peer = operation->peer;
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(initiator);
	++account_of(peer)->adds;
	ibv_wr_start(qp);
	qp->wr_id = (uintptr_t)operation;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qp, board->address[peer].rkey, far(peer, offsetof(struct window, added)), 1);
	mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(qp), path, board->address[peer].dctn, DC_KEY);
	ibv_wr_set_sge(qp, data_mr->lkey, (uintptr_t)operation->data, 8);
	CHECK(!ibv_wr_complete(qp));
}

static struct operation *idle(unsigned peer)
{
	for (unsigned n = 0; n < DEPTH; n++)
		if (operations[peer][n].kind == IDLE)
			return &operations[peer][n];
	return NULL;
}

static void start_one(void)
{
	unsigned peer = draw(&state) % WORKERS, choice = draw(&state) % 10;
	if (down[peer])
		return;
	if (choice == 9) {
		if (dynamic.kind == IDLE)
			add_dynamically(begin(&dynamic, DYNAMIC_ADD, peer));
		return;
	}
	struct operation *operation = idle(peer);
	if (!operation)
		return;
	if (choice < 4)
		put(begin(operation, PUT, peer));
	else if (choice < 6)
		get(begin(operation, GET, peer));
	else
		change_counter(begin(operation, choice < 8 ? ADD : SWAP, peer));
}

/* Answers. */

static void fetched(unsigned peer, uint64_t value)
{
	if (value >= MOST_ADDS)
		FAIL("worker %u fetched %lx from worker %u", self, value, peer);
	if (board->fetched[peer][value]++)
		FAIL("worker %u fetched %lu from worker %u, as somebody did before", self, value, peer);
	account_of(peer)->adds_acknowledged++;
}

static void done(struct operation *operation)
{
	unsigned peer = operation->peer;
	struct account *account = account_of(peer);
	uint64_t old = operation->data[0];
	switch (operation->kind) {
	case PUT:
		if (operation->number != account->writes_acknowledged + 1)
			FAIL("worker %u: write %lu to worker %u is done before %lu", self, operation->number, peer,
			     account->writes_acknowledged + 1);
		account->writes_acknowledged = operation->number;
		break;
	case GET:
		/* A read comes behind the writes that were posted before it on this queue, and before those that were posted after. */
		for (unsigned at = 0; at < operation->words; at++)
			check_word(self, peer, operation->slot, at, operation->data[at], operation->number, operation->number);
		account->reads++;
		break;
	case ADD:
	case DYNAMIC_ADD:
		fetched(peer, old);
		break;
	case SWAP:
		account->swaps_acknowledged += old == operation->number;
		if (old < operation->number)
			FAIL("worker %u: worker %u's counter went back from %lu to %lu", self, peer, operation->number, old);
		if (old + (old == operation->number) > swapped[peer])
			swapped[peer] = old + (old == operation->number);
		break;
	case IDLE:
		FAIL("worker %u: an answer to nothing", self);
	}
}

static void failed(struct operation *operation, struct ibv_wc *wc)
{
	unsigned peer = operation->peer;
	if (!board->doomed[peer])
		FAIL("worker %u: %s from worker %u, which was not killed", self, ibv_wc_status_str(wc->status), peer);
	if (wc->status != IBV_WC_RETRY_EXC_ERR && (wc->status != IBV_WC_WR_FLUSH_ERR || !account_of(peer)->errors) &&
	    wc->status != IBV_WC_REM_OP_ERR)
		FAIL("worker %u: %s from worker %u", self, ibv_wc_status_str(wc->status), peer);
	account_of(peer)->errors++;
	down[peer] = 1;
	if (operation->kind == DYNAMIC_ADD) {
		change(initiator, IBV_QPS_RESET, 0, 0, 0);
		start_initiator(board->address[self].lid);
	}
}

static void poll(void)
{
	struct ibv_wc wcs[16];
	int got = ibv_poll_cq(cq, 16, wcs);
	CHECK(got >= 0);
	for (int i = 0; i < got; i++) {
		struct operation *operation = (struct operation *)(uintptr_t)wcs[i].wr_id;
		if (operation->kind == IDLE && wcs[i].status != IBV_WC_SUCCESS)
			continue; /* The second half of a write, of which the first has failed. */
		if (wcs[i].status == IBV_WC_SUCCESS)
			done(operation);
		else
			failed(operation, &wcs[i]);
		operation->kind = IDLE;
		under_way--;
	}
}

static void check_time(struct operation *operation)
{
	if (operation->kind != IDLE && seconds() - operation->since > PATIENCE)
		FAIL("worker %u: an operation of kind %d to worker %u (killed: %d) is not answered", self, operation->kind, operation->peer,
		     board->doomed[operation->peer]);
}

static void check_times(void)
{
	for (unsigned peer = 0; peer < WORKERS; peer++)
		for (unsigned n = 0; n < DEPTH; n++)
			check_time(&operations[peer][n]);
	check_time(&dynamic);
}

/* Besides. */

/*
 * Checks the own window as it is now: the write that a mailbox tells of is there, and no word is
 * torn.
 */
static void look(void)
{
	unsigned by = draw(&state) % WORKERS;
	uint64_t told = windows[self]->mailbox[by];
	unsigned slot = draw(&state) % 2 ? told % SLOTS : draw(&state) % SLOTS;
	for (unsigned at = 0; at < WORDS; at++) {
		uint64_t word = windows[self]->slots[by][slot][at];
		check_word(by, self, slot, at, word, told, board->account[by][self].writes);
	}
}

/* Makes and destroys objects meanwhile. */
static void churn(void)
{
	struct ibv_pd *more = ibv_alloc_pd(context);
	CHECK(more);
	struct ibv_mr *mr = ibv_reg_mr(more, data, 4096, ALL);
	struct ibv_cq *another = ibv_create_cq(context, 4, NULL, NULL, 0);
	CHECK(mr && another);
	CHECK(!ibv_destroy_cq(another) && !ibv_dereg_mr(mr) && !ibv_dealloc_pd(more));
}

static void close_all(void)
{
	for (unsigned peer = 0; peer < WORKERS; peer++)
		CHECK(!ibv_destroy_qp(qps[peer]));
	CHECK(!ibv_destroy_qp(initiator) && !ibv_destroy_qp(target) && !ibv_destroy_ah(path));
	CHECK(!ibv_destroy_srq(srq) && !ibv_destroy_cq(cq));
	CHECK(!ibv_dereg_mr(window_mr) && !ibv_dereg_mr(data_mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
}

void work(unsigned number, uint64_t seed)
{
	self = number;
	state = seed;
	*(void **)&kick = dlsym(RTLD_DEFAULT, "farreach_softhca_kick");
	CHECK(kick);
	open_all();
	for (unsigned n = 0; n < WORKERS * DEPTH; n++)
		operations[n / DEPTH][n % DEPTH].data = (uint64_t *)(data + n * SLOT);
	dynamic.data = (uint64_t *)(data + WORKERS * DEPTH * SLOT);
	connect_all();
	for (unsigned turn = 0; !board->finish; turn++) {
		for (unsigned n = draw(&state) % 8; n > 0; n--)
			start_one();
		if (draw(&state) % 16 == 0)
			look();
		if (draw(&state) % 64 == 0)
			churn();
		if (draw(&state) % 8 == 0)
			CHECK(!kick());
		else if (draw(&state) % 4 == 0)
			usleep(50);
		poll();
		if (turn % 256 == 0)
			check_times();
	}
	while (under_way > 0) {
		poll();
		check_times();
		usleep(50);
	}
	board->drained[self] = 1;
	meet(board->drained);
	/* Some leave it to the end of the process. */
	if (draw(&state) % 2)
		close_all();
}
