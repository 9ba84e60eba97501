/*
 * Queue pairs that a device gives that has little: limits COUNT makes up to COUNT queue pairs in
 * each of two contexts, first such with a thread domain of their own, then plain ones, and prints
 * for each context
 *   domains NUMBER ERRNO plain NUMBER ERRNO
 * (errno 0 if all were made), then once more after all are gone.
 */
#include "side.h"
#include <errno.h>

struct made {
    struct ibv_td *domain;
    struct ibv_pd *parent;
    struct ibv_qp *qp;
};

/* Destroys the objects that were made of one. */
static void take_back(struct made *m)
{
    int error = errno;
    CHECK(!m->qp || !ibv_destroy_qp(m->qp));
    CHECK(!m->parent || !ibv_dealloc_pd(m->parent));
    CHECK(!m->domain || !ibv_dealloc_td(m->domain));
    *m = (struct made){ 0 };
    errno = error;
}

static int make(struct side *s, struct made *m, int with_domain)
{
    struct ibv_pd *pd = s->pd;
    if (with_domain) {
        struct ibv_td_init_attr none = { 0 };
        if (!(m->domain = ibv_alloc_td(s->context, &none)))
            return 0;
        struct ibv_parent_domain_init_attr parent = { .pd = s->pd, .td = m->domain };
        CHECK(pd = m->parent = ibv_alloc_parent_domain(s->context, &parent));
    }
    struct ibv_qp_init_attr init = {
        .send_cq = s->cq, .recv_cq = s->cq, .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 64 },
    };
    if ((m->qp = ibv_create_qp(pd, &init)))
        return 1;
    take_back(m);
    return 0;
}

static int fill(struct side *s, struct made *made, int count, int with_domains)
{
    int n = 0;
    errno = 0;
    while (n < count && make(s, &made[n], with_domains))
        n++;
    printf("%s %d %d%s", with_domains ? "domains" : "plain", n, n < count ? errno : 0, with_domains ? " " : "\n");
    return n;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    int count = atoi(argv[1]);
    struct made *made = calloc(4 * count, sizeof *made);
    CHECK(made);
    for (int round = 0; round < 2; round++) {
        struct side sides[2] = { open_side(new_memory()), open_side(new_memory()) };
        for (int n = 0; n < 4; n++)
            fill(&sides[n / 2], made + n * count, count, n % 2 == 0);
        for (int n = 0; n < 4 * count; n++)
            take_back(&made[n]);
        close_side(&sides[0]);
        close_side(&sides[1]);
    }
    return 0;
}
