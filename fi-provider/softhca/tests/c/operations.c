/*
 * Operations through libibverbs and libmlx5, each with its data checked, and the bytes that the library wrote printed:
 *   NAME QPN INDEX REMOTE RKEY LOCAL LKEY DCTN HEX
 * One process: two connected queue pairs, one that is filled by hand, and an initiator with its target.
 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 8192
#define FAR 4096 /* offset in the buffer of the memory that is called remote */
#define DC_KEY 0x1122334455667788ull

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *receive_cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_port_attr port;
static char *buffer;
static uint32_t dctn;

/* A send queue, as the device sees it. */
struct ring {
	struct mlx5dv_qp dv;
	uint32_t qpn;
	uint16_t index;
};

static struct ring ring_of(struct ibv_qp *qp)
{
	struct ring ring = {.qpn = qp->qp_num};
	struct mlx5dv_obj object = {.qp = {.in = qp, .out = &ring.dv}};
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP));
	return ring;
}

static uint8_t *block(struct ring *ring, unsigned n)
{
	return (uint8_t *)ring->dv.sq.buf + (ring->index + n) % ring->dv.sq.wqe_cnt * 64;
}

/* Prints the entry that was posted last. */
static void print(struct ring *ring, const char *name)
{
	unsigned units = block(ring, 0)[7] & 0x3f;
	printf("%s %u %u %lu %u %lu %u %u ", name, ring->qpn, ring->index, (unsigned long)(uintptr_t)(buffer + FAR), mr->rkey,
	       (unsigned long)(uintptr_t)buffer, mr->lkey, dctn);
	for (unsigned n = 0; n < units * 16; n++)
		printf("%02x", block(ring, n / 64)[n % 64]);
	printf("\n");
	ring->index += (units + 3) / 4;
}

static struct ibv_wc wait_for(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	CHECK(n == 1);
	return wc;
}

static void done(enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = wait_for(send_cq);
	CHECK(wc.status == IBV_WC_SUCCESS);
	CHECK(wc.opcode == opcode);
}

static uint64_t *word(size_t at)
{
	return (uint64_t *)(buffer + at);
}

static void reach(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	int dci = qp->qp_type == IBV_QPT_DRIVER;
	int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (dci ? 0 : IBV_QP_ACCESS_FLAGS);
	CHECK(!ibv_modify_qp(qp, &attr, init));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_4096;
	attr.dest_qp_num = peer;
	attr.max_dest_rd_atomic = 16;
	attr.min_rnr_timer = 12;
	attr.ah_attr = (struct ibv_ah_attr){.dlid = port.lid, .port_num = 1};
	int rtr = IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV;
	if (!dci)
		rtr |= IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	CHECK(!ibv_modify_qp(qp, &attr, rtr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	CHECK(!ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				     IBV_QP_MAX_QP_RD_ATOMIC));
}

static struct ibv_qp_init_attr_ex sizes(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = send_cq,
		.recv_cq = receive_cq,
		.cap = {.max_send_wr = 32, .max_recv_wr = type == IBV_QPT_RC ? 32 : 0, .max_send_sge = 4, .max_recv_sge = 2,
			.max_inline_data = 128},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
				  IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
				  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
}

static struct ibv_qp *connected(void)
{
	struct ibv_qp_init_attr_ex attr = sizes(IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp_ex(context, &attr);
	CHECK(qp);
	return qp;
}

static void post_receive(struct ibv_qp *qp, size_t at, uint32_t length)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(buffer + at), .length = length, .lkey = mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	CHECK(!(qp ? ibv_post_recv(qp, &wr, &bad) : ibv_post_srq_recv(srq, &wr, &bad)));
}

static struct ibv_qp_ex *start(struct ibv_qp *qp, unsigned wr_flags)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED | wr_flags;
	return ex;
}

static uint64_t far_at(size_t offset)
{
	return (uintptr_t)(buffer + FAR + offset);
}

/* Finishes an entry with `length` local bytes at `at`. */
static void local(struct ibv_qp_ex *ex, size_t at, uint32_t length)
{
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)(buffer + at), length);
	CHECK(!ibv_wr_complete(ex));
}

static void writes_and_reads(struct ibv_qp *qp, struct ring *ring)
{
	struct ibv_qp_ex *ex = start(qp, IBV_SEND_INLINE);
	ibv_wr_rdma_write(ex, mr->rkey, far_at(0));
	ibv_wr_set_inline_data(ex, "inlined!", 8);
	CHECK(!ibv_wr_complete(ex));
	print(ring, "write_inline");
	done(IBV_WC_RDMA_WRITE);
	CHECK(!memcmp(buffer + FAR, "inlined!", 8));

	strcpy(buffer, "one");
	strcpy(buffer + 100, "two");
	struct ibv_sge pieces[2] = {{(uintptr_t)buffer, 3, mr->lkey}, {(uintptr_t)(buffer + 100), 4, mr->lkey}};
	ex = start(qp, IBV_SEND_FENCE);
	ibv_wr_rdma_write(ex, mr->rkey, far_at(64));
	ibv_wr_set_sge_list(ex, 2, pieces);
	CHECK(!ibv_wr_complete(ex));
	print(ring, "write_gather_fence");
	done(IBV_WC_RDMA_WRITE);
	CHECK(!strcmp(buffer + FAR + 64, "onetwo"));

	strcpy(buffer + FAR + 200, "fetched");
	ex = start(qp, 0);
	ibv_wr_rdma_read(ex, mr->rkey, far_at(200));
	local(ex, 8, 8);
	print(ring, "read");
	done(IBV_WC_RDMA_READ);
	CHECK(!strcmp(buffer + 8, "fetched"));
}

static void atomics(struct ibv_qp *qp, struct ring *ring)
{
	*word(FAR) = 40;
	struct ibv_qp_ex *ex = start(qp, 0);
	ibv_wr_atomic_fetch_add(ex, mr->rkey, far_at(0), 2);
	local(ex, 0, 8);
	print(ring, "fetch_add");
	done(IBV_WC_FETCH_ADD);
	CHECK(*word(0) == 40 && *word(FAR) == 42);
	ex = start(qp, 0);
	ibv_wr_atomic_cmp_swp(ex, mr->rkey, far_at(0), 42, 7);
	local(ex, 0, 8);
	print(ring, "compare_swap");
	done(IBV_WC_COMP_SWAP);
	CHECK(*word(0) == 42 && *word(FAR) == 7);
}

static void messages(struct ibv_qp *qp, struct ibv_qp *peer, struct ring *ring)
{
	post_receive(peer, FAR + 512, 64);
	struct ibv_qp_ex *ex = start(qp, IBV_SEND_INLINE);
	ibv_wr_send_imm(ex, htobe32(0xabcd));
	ibv_wr_set_inline_data(ex, "message", 8);
	CHECK(!ibv_wr_complete(ex));
	print(ring, "send_immediate");
	done(IBV_WC_SEND);
	struct ibv_wc wc = wait_for(receive_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.byte_len == 8);
	CHECK(wc.wc_flags & IBV_WC_WITH_IMM && be32toh(wc.imm_data) == 0xabcd);
	CHECK(!peer || (wc.qp_num == peer->qp_num && wc.src_qp == qp->qp_num));
	CHECK(!strcmp(buffer + FAR + 512, "message"));

	post_receive(peer, FAR + 512, 64);
	ex = start(qp, 0);
	ibv_wr_rdma_write_imm(ex, mr->rkey, far_at(640), htobe32(5));
	strcpy(buffer, "written");
	local(ex, 0, 8);
	print(ring, "write_immediate");
	done(IBV_WC_RDMA_WRITE);
	wc = wait_for(receive_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && be32toh(wc.imm_data) == 5);
	CHECK(!strcmp(buffer + FAR + 640, "written") && !strcmp(buffer + FAR + 512, "message"));
}

/* Posts a masked atomic of `size` bytes by hand: libmlx5 has no call for it. */
static void masked(struct ring *ring, const char *name, uint8_t opcode, int size, const void *operands, size_t length)
{
	uint8_t *entry = block(ring, 0);
	struct mlx5_wqe_raddr_seg remote = {.raddr = htobe64(far_at(0)), .rkey = htobe32(mr->rkey)};
	struct mlx5_wqe_data_seg result = {htobe32(size), htobe32(mr->lkey), htobe64((uintptr_t)buffer)};
	unsigned units = 3 + length / 16;
	memset(entry, 0, 16);
	mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg *)entry, ring->index, opcode, size == 8 ? 9 : 8, ring->qpn,
			    MLX5_WQE_CTRL_CQ_UPDATE, units, 0, 0);
	uint8_t tail[64];
	memcpy(tail, &remote, 16);
	memcpy(tail + 16, operands, length);
	memcpy(tail + 16 + length, &result, 16);
	for (unsigned n = 16; n < units * 16; n++)
		block(ring, n / 64)[n % 64] = tail[n - 16];
	uint64_t doorbell;
	memcpy(&doorbell, entry, 8);
	print(ring, name);
	__sync_synchronize();
	ring->dv.dbrec[1] = htobe32(ring->index);
	__sync_synchronize();
	*(volatile uint64_t *)ring->dv.bf.reg = doorbell;
	struct ibv_wc wc = wait_for(send_cq);
	CHECK(wc.status == IBV_WC_SUCCESS);
}

static void masked_atomics(struct ring *ring)
{
	uint64_t or64[4] = {htobe64(0xff00), 0, htobe64(0xff00), 0};
	*word(FAR) = 0x100000000000000f;
	masked(ring, "masked_or_8", 0x14, 8, or64, sizeof or64);
	CHECK(*word(0) == 0x100000000000000f && *word(FAR) == 0x100000000000ff0f);
	uint64_t xor64[2] = {htobe64(0xf0f), -1};
	masked(ring, "masked_xor_8", 0x15, 8, xor64, sizeof xor64);
	CHECK(*word(0) == 0x100000000000ff0f && *word(FAR) == 0x100000000000f000);
	uint32_t and32[4] = {0, 0, htobe32(~0x3000u), 0};
	*word(0) = -1;
	masked(ring, "masked_and_4", 0x14, 4, and32, sizeof and32);
	/* Results of 4 bytes are big-endian. */
	CHECK(*word(0) == (0xffffffff00000000 | htobe32(0x0000f000)) && *word(FAR) == 0x1000000000003000);
	uint32_t add32[4] = {htobe32(-1), 0, 0, 0};
	masked(ring, "masked_add_4", 0x15, 4, add32, sizeof add32);
	CHECK(*word(0) == (0xffffffff00000000 | htobe32(0x00003000)) && *word(FAR) == 0x1000000000002fff);
}

static void dynamic(void)
{
	struct ibv_srq_init_attr shared = {.attr = {.max_wr = 16, .max_sge = 1}};
	CHECK((srq = ibv_create_srq(pd, &shared)));
	struct ibv_qp_init_attr_ex attr = sizes(IBV_QPT_DRIVER);
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = DC_KEY},
	};
	struct ibv_qp_init_attr_ex target = {
		.send_cq = receive_cq, .recv_cq = receive_cq, .srq = srq, .qp_type = IBV_QPT_DRIVER,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd,
	};
	struct ibv_qp *dct = mlx5dv_create_qp(context, &target, &dv);
	CHECK(dct);
	struct ibv_qp_attr to = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};
	CHECK(!ibv_modify_qp(dct, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	to.qp_state = IBV_QPS_RTR;
	to.path_mtu = IBV_MTU_4096;
	to.min_rnr_timer = 12;
	to.ah_attr.port_num = 1;
	CHECK(!ibv_modify_qp(dct, &to, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU));
	dctn = dct->qp_num;
	CHECK(dctn);

	dv.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
	struct ibv_qp *dci = mlx5dv_create_qp(context, &attr, &dv);
	CHECK(dci);
	reach(dci, 0);
	struct ring ring = ring_of(dci);
	struct ibv_ah_attr address = {.dlid = port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(pd, &address);
	CHECK(ah);
	struct mlx5dv_qp_ex *dv_ex = mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(dci));

	struct ibv_qp_ex *ex = start(dci, IBV_SEND_INLINE);
	ibv_wr_rdma_write(ex, mr->rkey, far_at(0));
	mlx5dv_wr_set_dc_addr(dv_ex, ah, dctn, DC_KEY);
	ibv_wr_set_inline_data(ex, "DC, far!", 8);
	CHECK(!ibv_wr_complete(ex));
	print(&ring, "dc_write_inline");
	done(IBV_WC_RDMA_WRITE);
	CHECK(!memcmp(buffer + FAR, "DC, far!", 8));

	*word(FAR) = 1;
	ex = start(dci, 0);
	ibv_wr_atomic_fetch_add(ex, mr->rkey, far_at(0), 2);
	mlx5dv_wr_set_dc_addr(dv_ex, ah, dctn, DC_KEY);
	local(ex, 0, 8);
	print(&ring, "dc_fetch_add");
	done(IBV_WC_FETCH_ADD);
	CHECK(*word(0) == 1 && *word(FAR) == 3);

	post_receive(NULL, FAR + 512, 64);
	ex = start(dci, IBV_SEND_INLINE);
	ibv_wr_send(ex);
	mlx5dv_wr_set_dc_addr(dv_ex, ah, dctn, DC_KEY);
	ibv_wr_set_inline_data(ex, "to DCT", 7);
	CHECK(!ibv_wr_complete(ex));
	print(&ring, "dc_send");
	done(IBV_WC_SEND);
	struct ibv_wc wc = wait_for(receive_cq);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == 7 && !strcmp(buffer + FAR + 512, "to DCT"));

	CHECK(!ibv_destroy_ah(ah));
	CHECK(!ibv_destroy_qp(dci));
	CHECK(!ibv_destroy_qp(dct));
	CHECK(!ibv_destroy_srq(srq));
}

/* Checks a wrong key: the entry fails, later entries are flushed, and so are receives. */
static void errors(struct ibv_qp *qp, struct ibv_qp *peer)
{
	post_receive(qp, 0, 8);
	struct ibv_qp_ex *ex = start(qp, IBV_SEND_INLINE);
	ibv_wr_rdma_write(ex, mr->rkey ^ 1, far_at(0));
	ibv_wr_set_inline_data(ex, "no", 2);
	ibv_wr_rdma_write(ex, mr->rkey, far_at(0));
	ibv_wr_set_inline_data(ex, "no", 2);
	CHECK(!ibv_wr_complete(ex));
	CHECK(wait_for(send_cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(wait_for(send_cq).status == IBV_WC_WR_FLUSH_ERR);
	CHECK(wait_for(receive_cq).status == IBV_WC_WR_FLUSH_ERR);
	struct ibv_qp *both[2] = {qp, peer};
	for (int n = 0; n < 2; n++) {
		struct ibv_qp_attr attr;
		struct ibv_qp_init_attr init;
		CHECK(!ibv_query_qp(both[n], &attr, IBV_QP_STATE, &init));
		CHECK(attr.qp_state == IBV_QPS_ERR);
	}
}

int main(void)
{
	int count;
	struct ibv_device **devices = ibv_get_device_list(&count);
	CHECK(devices && count == 1);
	CHECK((context = ibv_open_device(devices[0])));
	CHECK(!ibv_query_port(context, 1, &port));
	CHECK((pd = ibv_alloc_pd(context)));
	CHECK((send_cq = ibv_create_cq(context, 64, NULL, NULL, 0)));
	CHECK((receive_cq = ibv_create_cq(context, 64, NULL, NULL, 0)));
	CHECK((buffer = aligned_alloc(4096, SIZE)));
	memset(buffer, 0, SIZE);
	CHECK((mr = ibv_reg_mr(pd, buffer, SIZE,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_ATOMIC)));
	struct ibv_qp *a = connected(), *b = connected(), *c = connected();
	reach(a, b->qp_num);
	reach(b, a->qp_num);
	reach(c, c->qp_num);
	struct ring ring = ring_of(a), by_hand = ring_of(c);
	/* More rounds than the ring has entries. */
	for (int round = 0; round < 40; round++) {
		writes_and_reads(a, &ring);
		atomics(a, &ring);
		messages(a, b, &ring);
		masked_atomics(&by_hand);
	}
	dynamic();
	errors(a, b);
	CHECK(!ibv_destroy_qp(a) && !ibv_destroy_qp(b) && !ibv_destroy_qp(c));
	CHECK(!ibv_dereg_mr(mr) && !ibv_destroy_cq(send_cq) && !ibv_destroy_cq(receive_cq) && !ibv_dealloc_pd(pd));
	CHECK(!ibv_close_device(context));
	ibv_free_device_list(devices);
	return 0;
}
