// By libfabric: address vectors that are filled by texts, and that tell of insertions by events.
#include "check.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <string.h>

int main(void) {
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *plain, *av;
    struct fid_eq *eq;
    struct fid_cq *cq;
    struct fid_ep *ep;
    char name[2][60], text[200];
    size_t len = sizeof name[0], room = sizeof text;
    fi_addr_t number[2] = {7, 7};
    hints->caps = FI_MSG;
    hints->fabric_attr->prov_name = strdup("farreach");
    OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    OK(fi_fabric(info->fabric_attr, &fabric, NULL) || fi_domain(fabric, info, &domain, NULL));
    OK(fi_av_open(domain, NULL, &plain, NULL) || fi_endpoint(domain, info, &ep, NULL));
    OK(fi_cq_open(domain, NULL, &cq, NULL) || fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
    OK(fi_ep_bind(ep, &plain->fid, 0) || fi_enable(ep) || fi_getname(&ep->fid, name[0], &len));
    memset(name[1], 1, sizeof name[1]);
    CHECK(len == sizeof name[0]);

    // By its text; a service says nothing.
    CHECK(fi_av_straddr(plain, name[0], text, &room) == text);
    CHECK(fi_av_insertsvc(plain, text, "1234", number, 0, NULL) == 1 && number[0] == 0);
    CHECK(fi_av_insertsym(plain, text, 1, "1234", 1, number, 0, NULL) == 1 && number[0] == 0);
    CHECK(fi_av_insertsym(plain, text, 2, "1234", 1, number, 0, NULL) == -FI_ENOSYS);
    CHECK(fi_av_insertsvc(plain, "nobody", NULL, number, 0, NULL) == 0);
    CHECK(number[0] == FI_ADDR_NOTAVAIL);
    CHECK(fi_av_insertsvc(plain, NULL, NULL, number, 0, NULL) == -FI_EINVAL);
    char theirs[60];
    OK(fi_av_lookup(plain, 0, theirs, &len) || memcmp(theirs, name[0], sizeof theirs));

    // By events: one for each failure, and one for the end.
    struct fi_av_attr attr = {.flags = FI_EVENT};
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_eq_entry entry;
    struct fi_eq_err_entry failed;
    uint32_t event = 77;
    OK(fi_av_open(domain, &attr, &av, NULL) || fi_eq_open(fabric, &eq_attr, &eq, NULL));
    CHECK(fi_av_insert(av, name, 2, number, 0, &attr) == -FI_ENOEQ);
    OK(fi_av_bind(av, &eq->fid, 0));
    CHECK(fi_av_bind(av, &eq->fid, 0) == -FI_EINVAL && fi_close(&eq->fid) == -FI_EBUSY);
    OK(fi_av_insert(av, name, 2, number, 0, &attr));
    CHECK(number[0] == 0 && number[1] == FI_ADDR_NOTAVAIL);
    CHECK(fi_eq_read(eq, &event, &entry, sizeof entry, 0) == -FI_EAVAIL);
    CHECK(fi_eq_readerr(eq, &failed, FI_PEEK) == sizeof failed);
    CHECK(fi_eq_readerr(eq, &failed, 0) == sizeof failed && failed.err == FI_EINVAL);
    CHECK(failed.fid == &av->fid && failed.context == &attr && failed.data == 1);
    CHECK(fi_eq_readerr(eq, &failed, 0) == -FI_EAGAIN);
    CHECK(fi_eq_sread(eq, &event, &entry, sizeof entry, 1000, 0) == sizeof entry);
    CHECK(event == FI_AV_COMPLETE && entry.fid == &av->fid);
    CHECK(entry.context == &attr && entry.data == 1);
    OK(fi_av_insertsvc(av, text, NULL, number, 0, number));
    CHECK(fi_eq_read(eq, &event, &entry, sizeof entry, 0) == sizeof entry);
    CHECK(event == FI_AV_COMPLETE && entry.context == number && entry.data == 1);
    CHECK(fi_eq_read(eq, &event, &entry, sizeof entry, 0) == -FI_EAGAIN);
    OK(fi_close(&av->fid) || fi_close(&eq->fid) || fi_close(&ep->fid));
    OK(fi_close(&cq->fid) || fi_close(&plain->fid) || fi_close(&domain->fid));
    OK(fi_close(&fabric->fid));
    fi_freeinfo(info), fi_freeinfo(hints);
    return 0;
}
