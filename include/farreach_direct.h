/* farreach_direct.h: operations of libfabric in line at the place of the call, for endpoints of the
 * provider "farreach" (docs/libfabric.md).
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Writes, reads and additions of 1, 2, 4 or 8 bytes, as the compiler sees, to memory of the fabric's
 * arena of a peer of the node are stores and loads; an inject_write of 8 bytes to another node is one
 * call of the provider. Everything else calls libfabric, with the same arguments and results: other
 * memory, other lengths, the first access by a key, errors, other providers, and domains of other
 * threading than FI_THREAD_DOMAIN. Counters count as ever. */
#ifndef FARREACH_DIRECT_H
#define FARREACH_DIRECT_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name and the version of the provider's tables; the version is what fi_open_ops takes as flags. */
#define FARREACH_OPS_DIRECT "farreach_direct"
#define FARREACH_DIRECT_OPS_VERSION 2

/* A region of a peer that was accessed before, at the place of peer and key. */
struct farreach_direct_slot {
    uint64_t peer, key;
    const volatile uint64_t *state; /* the region's present state */
    uint64_t writable;              /* that in which it may be written */
    uint64_t start;                 /* the address of its first byte, as peers give it */
    uint64_t room;                  /* 1 more than the greatest distance of 8 bytes; 0 if it has none */
    unsigned char *mapped;          /* the first byte here */
    uint64_t readable, updatable;
    uint64_t far_room; /* as room, of a region that farreach_ops_direct.far writes */
    const void *region;
    uint64_t rest[5];
};

struct farreach_direct_ep;

/* The provider's table of an endpoint. */
struct farreach_ops_direct {
    uint32_t version, bytes;
    const struct farreach_direct_slot *slots;
    uint64_t mask; /* places of slots, less 1 */
    uint64_t *written, *read;
    volatile uint64_t silent; /* whether fi_write and fi_read make no completions */
    /* Writes 8 bytes to the region of a slot, of another node as a rule, at this distance from its first
     * address. */
    ssize_t (*far)(const struct farreach_direct_ep *direct, const void *buf,
                   const struct farreach_direct_slot *slot, fi_addr_t peer, uint64_t distance);
    const void *endpoint;
};

/* There is progress to make unless both are 0. */
struct farreach_direct_rest {
    const volatile uint64_t *bell;
    const volatile unsigned char *todo;
};

/* The provider's table of a counter. */
struct farreach_ops_direct_cntr {
    uint32_t version, bytes;
    const volatile uint64_t *count;
    const struct farreach_direct_rest *rest;
};

/* The layout is the provider's, or this does not compile. */
typedef char farreach_direct_ops_layout[(sizeof(struct farreach_direct_slot) == 128 &&
        offsetof(struct farreach_direct_slot, region) == 80 &&
        sizeof(struct farreach_ops_direct) == 64 &&
        sizeof(struct farreach_ops_direct_cntr) == 24) ? 1 : -1];

/* A program's record of an endpoint. */
struct farreach_direct_ep {
    struct fid_ep *ep;
    const void *endpoint; /* the provider's */
    const struct farreach_direct_slot *slots;
    uint64_t mask;
    uint64_t *written, *read;
    ssize_t (*far)(const struct farreach_direct_ep *direct, const void *buf,
                   const struct farreach_direct_slot *slot, fi_addr_t peer, uint64_t distance);
    const struct farreach_ops_direct *ops; /* NULL: all operations call libfabric */
};

/* A program's record of a counter. */
struct farreach_direct_cntr {
    struct fid_cntr *cntr;
    const volatile uint64_t *count;
    const struct farreach_direct_rest *rest;
};

/* Fits no access; and progress that there is always to make. Nobody writes them. */
extern struct farreach_direct_slot farreach_direct_no_slot
    __attribute__((__visibility__("hidden")));
extern struct farreach_direct_rest farreach_direct_no_rest
    __attribute__((__visibility__("hidden")));
struct farreach_direct_slot farreach_direct_no_slot
    __attribute__((__weak__, __visibility__("hidden"))) = {
    FI_ADDR_UNSPEC, 0, &farreach_direct_no_slot.key, 1, 0, 0, NULL, 1, 1, 0, NULL,
    {0, 0, 0, 0, 0}};
struct farreach_direct_rest farreach_direct_no_rest
    __attribute__((__weak__, __visibility__("hidden"))) = {&farreach_direct_no_slot.writable, NULL};

/* Prepares an enabled endpoint, until it is closed. Returns 0, or why all operations call libfabric,
 * which they do then: -FI_ENOSYS for another provider or another threading than FI_THREAD_DOMAIN,
 * -FI_EBADFLAGS where the provider has another version, -FI_EOPBADSTATE for an endpoint that is not
 * enabled. */
static inline int farreach_direct_ep_open(struct farreach_direct_ep *direct, struct fid_ep *ep)
{
    void *table = NULL;
    const struct farreach_ops_direct *ops;
    int code = fi_open_ops(&ep->fid, FARREACH_OPS_DIRECT, FARREACH_DIRECT_OPS_VERSION, &table, NULL);
    direct->ep = ep;
    direct->endpoint = NULL;
    direct->slots = &farreach_direct_no_slot;
    direct->mask = 0;
    direct->written = direct->read = NULL;
    direct->far = NULL;
    direct->ops = NULL;
    if (code != 0) return code;
    ops = (const struct farreach_ops_direct *)table;
    if (ops->version != FARREACH_DIRECT_OPS_VERSION || ops->bytes < sizeof *ops) return -FI_EBADFLAGS;
    direct->slots = ops->slots;
    direct->mask = ops->mask;
    direct->written = ops->written;
    direct->read = ops->read;
    direct->far = ops->far;
    direct->endpoint = ops->endpoint;
    direct->ops = ops;
    return 0;
}

/* The same for a counter. */
static inline int farreach_direct_cntr_open(struct farreach_direct_cntr *direct,
                                            struct fid_cntr *cntr)
{
    void *table = NULL;
    const struct farreach_ops_direct_cntr *ops;
    int code = fi_open_ops(&cntr->fid, FARREACH_OPS_DIRECT, FARREACH_DIRECT_OPS_VERSION, &table, NULL);
    direct->cntr = cntr;
    direct->count = NULL;
    direct->rest = &farreach_direct_no_rest;
    if (code != 0) return code;
    ops = (const struct farreach_ops_direct_cntr *)table;
    if (ops->version != FARREACH_DIRECT_OPS_VERSION || ops->bytes < sizeof *ops) return -FI_EBADFLAGS;
    direct->count = ops->count;
    direct->rest = ops->rest;
    return 0;
}

#define FARREACH_IN_LINE static inline __attribute__((__always_inline__))

/* The slot of a region, or NULL. */
FARREACH_IN_LINE const struct farreach_direct_slot *
farreach_direct_slot(const struct farreach_direct_ep *direct, fi_addr_t peer, uint64_t key)
{
    const struct farreach_direct_slot *slot = direct->slots + ((key + (peer << 3)) & direct->mask);
    return __builtin_expect(slot->peer == peer && slot->key == key, 1) ? slot : NULL;
}

FARREACH_IN_LINE int farreach_direct_fits(size_t len)
{
    return __builtin_constant_p(len) && (len == 8 || len == 4 || len == 2 || len == 1);
}

typedef uint64_t farreach_direct_8 __attribute__((__may_alias__, __aligned__(1)));
typedef uint32_t farreach_direct_4 __attribute__((__may_alias__, __aligned__(1)));
typedef uint16_t farreach_direct_2 __attribute__((__may_alias__, __aligned__(1)));

/* Copies so many bytes by one load and one store, of which the compiler leaves neither out. */
FARREACH_IN_LINE void farreach_direct_copy(void *to, const void *from, size_t len)
{
    switch (len) {
    case 8: *(volatile farreach_direct_8 *)to = *(const volatile farreach_direct_8 *)from; break;
    case 4: *(volatile farreach_direct_4 *)to = *(const volatile farreach_direct_4 *)from; break;
    case 2: *(volatile farreach_direct_2 *)to = *(const volatile farreach_direct_2 *)from; break;
    default: *(volatile unsigned char *)to = *(const volatile unsigned char *)from;
    }
}

/* Writes in line if it can: returns whether it has. If not, leaves the slot of a region that may be
 * written, if there is one, and its distance from the first address in the place of the address; and else
 * NULL, and the address as it was. */
FARREACH_IN_LINE int farreach_direct_writes(const struct farreach_direct_ep *direct,
                                            const void *buf, size_t len, fi_addr_t peer,
                                            uint64_t *addr, uint64_t key,
                                            const struct farreach_direct_slot **found)
{
    const struct farreach_direct_slot *slot = farreach_direct_slot(direct, peer, key);
    *found = NULL;
    if (!slot || __builtin_expect(*slot->state != slot->writable, 0)) return 0;
    *addr -= slot->start;
    __asm__("" : "+r"(*addr)); /* nothing keeps the address: it is made anew below */
    if (__builtin_expect(*addr >= slot->room, 0)) {
        *found = slot;
        return 0;
    }
    farreach_direct_copy(slot->mapped + *addr, buf, len);
    ++*direct->written;
    return 1;
}

/* The address of which farreach_direct_writes has left the distance, where it has left a slot. */
FARREACH_IN_LINE uint64_t farreach_direct_address(const struct farreach_direct_slot *slot, uint64_t addr)
{
    return slot ? addr + *(const volatile uint64_t *)&slot->start : addr;
}

/* As fi_inject_write. */
FARREACH_IN_LINE ssize_t farreach_inject_write(const struct farreach_direct_ep *direct,
                                               const void *buf, size_t len, fi_addr_t peer,
                                               uint64_t addr, uint64_t key)
{
    if (farreach_direct_fits(len)) {
        const struct farreach_direct_slot *slot;
        if (farreach_direct_writes(direct, buf, len, peer, &addr, key, &slot)) return 0;
        if (len == 8 && slot) return direct->far(direct, buf, slot, peer, addr);
        addr = farreach_direct_address(slot, addr);
    }
    return fi_inject_write(direct->ep, buf, len, peer, addr, key);
}

/* As fi_write: in line where the endpoint's operations make no completions (FI_SELECTIVE_COMPLETION). */
FARREACH_IN_LINE ssize_t farreach_write(const struct farreach_direct_ep *direct, const void *buf,
                                        size_t len, void *desc, fi_addr_t peer, uint64_t addr,
                                        uint64_t key, void *context)
{
    if (farreach_direct_fits(len) && direct->ops && direct->ops->silent) {
        const struct farreach_direct_slot *slot;
        if (farreach_direct_writes(direct, buf, len, peer, &addr, key, &slot)) return 0;
        addr = farreach_direct_address(slot, addr);
    }
    return fi_write(direct->ep, buf, len, desc, peer, addr, key, context);
}

/* As fi_read, in line as farreach_write. */
FARREACH_IN_LINE ssize_t farreach_read(const struct farreach_direct_ep *direct, void *buf,
                                       size_t len, void *desc, fi_addr_t peer, uint64_t addr,
                                       uint64_t key, void *context)
{
    if (farreach_direct_fits(len) && direct->ops && direct->ops->silent) {
        const struct farreach_direct_slot *slot = farreach_direct_slot(direct, peer, key);
        if (slot && *slot->state == slot->readable && addr - slot->start < slot->room) {
            farreach_direct_copy(buf, slot->mapped + (addr - slot->start), len);
            ++*direct->read;
            __atomic_signal_fence(__ATOMIC_ACQUIRE);
            return 0;
        }
    }
    return fi_read(direct->ep, buf, len, desc, peer, addr, key, context);
}

/* As fi_inject_atomic of one FI_UINT64 with FI_SUM. */
FARREACH_IN_LINE ssize_t farreach_inject_add(const struct farreach_direct_ep *direct, uint64_t value,
                                             fi_addr_t peer, uint64_t addr, uint64_t key)
{
    const struct farreach_direct_slot *slot = farreach_direct_slot(direct, peer, key);
    if (slot && *slot->state == slot->updatable && addr - slot->start < slot->room) {
        unsigned char *place = slot->mapped + (addr - slot->start);
        if (__builtin_expect(((uintptr_t)place & 7) == 0, 1)) {
            typedef uint64_t word __attribute__((__may_alias__));
            __atomic_fetch_add((word *)(void *)place, value, __ATOMIC_SEQ_CST);
            ++*direct->written;
            return 0;
        }
    }
    return fi_inject_atomic(direct->ep, &value, 1, peer, addr, key, FI_UINT64, FI_SUM);
}

/* As fi_inject. */
FARREACH_IN_LINE ssize_t farreach_inject(const struct farreach_direct_ep *direct, const void *buf,
                                         size_t len, fi_addr_t peer)
{
    return fi_inject(direct->ep, buf, len, peer);
}

/* As fi_cntr_read: in line where the domain has one endpoint that is enabled, and no progress to make. */
FARREACH_IN_LINE uint64_t farreach_cntr_read(const struct farreach_direct_cntr *direct)
{
    if (*direct->rest->bell == 0 && *direct->rest->todo == 0) {
        uint64_t count = *direct->count;
        __atomic_signal_fence(__ATOMIC_ACQUIRE);
        return count;
    }
    return fi_cntr_read(direct->cntr);
}

#ifdef __cplusplus
}
#endif

#endif
