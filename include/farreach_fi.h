/*
 * Extensions of the libfabric provider "farreach" (docs/libfabric.md): tables of functions that
 * fi_open_ops(3) opens on a domain.
 */
#ifndef FARREACH_FI_H
#define FARREACH_FI_H

#include <rdma/fi_domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of struct farreach_ops_memory. */
#define FARREACH_OPS_MEMORY "farreach_memory"

/* Memory of the fabric's arena: processes of the node load from it and store to it, where other
 * memory is copied by the kernel. */
struct farreach_ops_memory {
    /* Bytes of the table that the provider has. */
    size_t size;

    /*
     * Takes `len` zeroed bytes of the arena and registers them, with `access` of FI_REMOTE_READ and
     * FI_REMOTE_WRITE. Writes their address and the region, whose fi_close gives the bytes back.
     * The key is `requested_key`, or the provider's choice in a domain with FI_MR_BASIC; `flags`
     * are 0. Returns 0, -FI_EINVAL without access, -FI_ENOKEY for a key in use, -FI_ENOMEM where
     * the arena has no room.
     */
    int (*allocate)(struct fid_domain *domain, size_t len, uint64_t access, uint64_t requested_key,
                    uint64_t flags, void **address, struct fid_mr **mr, void *context);
};

#ifdef __cplusplus
}
#endif

#endif
