/*
 * Where queue pairs ring: argv[1] plain ones, then argv[2] ones with a thread domain each.
 * Prints for each group: NAME REGISTERS PAGES LARGEST, the last the largest number of queue pairs on one register.
 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static int compare(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
	return (x > y) - (x < y);
}

/* The register of a queue pair; its two halves count as one. */
static uintptr_t register_of(struct ibv_qp *qp)
{
	struct mlx5dv_qp dv = {0};
	struct mlx5dv_obj object = {.qp = {.in = qp, .out = &dv}};
	CHECK(!mlx5dv_init_obj(&object, MLX5DV_OBJ_QP));
	return (uintptr_t)dv.bf.reg & ~(uintptr_t)0x1ff;
}

static void group(const char *name, int count, int with_domains)
{
	struct ibv_qp **pairs = calloc(count, sizeof *pairs);
	struct ibv_pd **parents = calloc(count, sizeof *parents);
	struct ibv_td **domains = calloc(count, sizeof *domains);
	uintptr_t *registers = calloc(count, sizeof *registers);
	CHECK(pairs && parents && domains && registers);
	for (int n = 0; n < count; n++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = cq, .recv_cq = cq, .cap = {.max_send_wr = 1, .max_send_sge = 1}, .qp_type = IBV_QPT_RC,
		};
		if (with_domains) {
			struct ibv_td_init_attr none = {0};
			CHECK((domains[n] = ibv_alloc_td(context, &none)));
			struct ibv_parent_domain_init_attr parent = {.pd = pd, .td = domains[n]};
			CHECK((parents[n] = ibv_alloc_parent_domain(context, &parent)));
		}
		CHECK((pairs[n] = ibv_create_qp(with_domains ? parents[n] : pd, &attr)));
		registers[n] = register_of(pairs[n]);
	}
	qsort(registers, count, sizeof *registers, compare);
	int distinct = 0, pages = 0, sharing = 0, largest = 0;
	for (int n = 0; n < count; n++) {
		int new = n == 0 || registers[n] != registers[n - 1];
		distinct += new;
		pages += n == 0 || registers[n] / 4096 != registers[n - 1] / 4096;
		sharing = new ? 1 : sharing + 1;
		largest = sharing > largest ? sharing : largest;
	}
	printf("%s %d %d %d\n", name, distinct, pages, largest);
	for (int n = 0; n < count; n++) {
		CHECK(!ibv_destroy_qp(pairs[n]));
		CHECK(!with_domains || (!ibv_dealloc_pd(parents[n]) && !ibv_dealloc_td(domains[n])));
	}
	free(pairs);
	free(parents);
	free(domains);
	free(registers);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	struct ibv_device **devices = ibv_get_device_list(NULL);
	CHECK(devices && devices[0]);
	CHECK((context = ibv_open_device(devices[0])));
	CHECK((pd = ibv_alloc_pd(context)));
	CHECK((cq = ibv_create_cq(context, 16, NULL, NULL, 0)));
	group("plain", atoi(argv[1]), 0);
	group("domains", atoi(argv[2]), 1);
	CHECK(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	ibv_free_device_list(devices);
	return 0;
}
