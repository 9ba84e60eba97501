/* An endpoint of UCX's lower layer, UCT, that leads to this very process over the software device. */
#ifndef UCT_SIDE_H
#define UCT_SIDE_H

#include "side.h"
#include <uct/api/uct.h>

static uct_component_h component;
static uct_md_h md;
static uct_worker_h worker;
static uct_iface_h iface;
static uct_ep_h ep;
static uct_rkey_t rkey;
static uint64_t *word;

/* Finds the memory domain of the device, and opens it. */
static void open_domain(void)
{
    uct_component_h *components;
    unsigned count;
    CHECK(uct_query_components(&components, &count) == UCS_OK);
    for (unsigned n = 0; n < count && !md; n++) {
        uct_component_attr_t attr = { .field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT };
        CHECK(uct_component_query(components[n], &attr) == UCS_OK);
        if (strcmp(attr.name, "ib"))
            continue;
        uct_md_config_t *config;
        component = components[n];
        CHECK(uct_md_config_read(component, NULL, NULL, &config) == UCS_OK);
        CHECK(uct_md_open(component, "mlx5_0", config, &md) == UCS_OK);
        uct_config_release(config);
    }
    CHECK(md);
    uct_release_component_list(components);
}

static void open_interface(const char *transport)
{
    ucs_async_context_t *async;
    uct_iface_config_t *config;
    CHECK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async) == UCS_OK);
    CHECK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker) == UCS_OK);
    CHECK(uct_md_iface_config_read(md, transport, NULL, NULL, &config) == UCS_OK);
    uct_iface_params_t params = {
        .field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
        .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
        .mode.device = { .tl_name = transport, .dev_name = "mlx5_0:1" },
    };
    CHECK(uct_iface_open(md, worker, &params, config, &iface) == UCS_OK);
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
}

/* Connects to this very process, by a transport that has these fetching atomics. */
static void connect_endpoint(uint64_t atomics)
{
    static char device[256], own[256], other[256];
    uct_iface_attr_t attr;
    uct_ep_h peer;
    CHECK(uct_iface_query(iface, &attr) == UCS_OK);
    CHECK((attr.cap.atomic32.fop_flags & atomics) == atomics && (attr.cap.atomic64.fop_flags & atomics) == atomics);
    CHECK(attr.device_addr_len <= sizeof device && attr.ep_addr_len <= sizeof own && attr.iface_addr_len <= sizeof own);
    CHECK(uct_iface_get_device_address(iface, (void *)device) == UCS_OK);
    uct_ep_params_t params = { .field_mask = UCT_EP_PARAM_FIELD_IFACE, .iface = iface };
    if (attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        CHECK(uct_iface_get_address(iface, (void *)own) == UCS_OK);
        params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
        params.dev_addr = (void *)device;
        params.iface_addr = (void *)own;
        CHECK(uct_ep_create(&params, &ep) == UCS_OK);
        return;
    }
    CHECK(uct_ep_create(&params, &ep) == UCS_OK && uct_ep_create(&params, &peer) == UCS_OK);
    CHECK(uct_ep_get_address(ep, (void *)own) == UCS_OK && uct_ep_get_address(peer, (void *)other) == UCS_OK);
    CHECK(uct_ep_connect_to_ep(ep, (void *)device, (void *)other) == UCS_OK);
    CHECK(uct_ep_connect_to_ep(peer, (void *)device, (void *)own) == UCS_OK);
}

static void register_memory(void)
{
    static char packed[256];
    char *memory = new_memory();
    uct_md_attr_t attr;
    uct_mem_h handle;
    uct_rkey_bundle_t bundle;
    CHECK(uct_md_query(md, &attr) == UCS_OK && attr.rkey_packed_size <= sizeof packed);
    CHECK(uct_md_mem_reg(md, memory, SIZE, UCT_MD_MEM_ACCESS_ALL, &handle) == UCS_OK);
    CHECK(uct_md_mkey_pack(md, handle, packed) == UCS_OK);
    CHECK(uct_rkey_unpack(component, packed, &bundle) == UCS_OK);
    rkey = bundle.rkey;
    word = (uint64_t *)(memory + 4096);
}

#endif
