/* gasnet_core_segment.c: regions of the Farreach conduit: GASNet's own segment and those of the
 * program, which the engine reaches at each process that has been told of them.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <gasnet_internal.h>
#include <gasnet_core_internal.h>

/* A region, as others are told of it. */
typedef struct {
  uint32_t rank;
  uint32_t is_there; /* 0: the process has none */
  farreach_am_key_t key;
} gasnetc_region_t;

static void gasnetc_expose(gasnetc_region_t *region, void *start, size_t bytes) {
  memset(region, 0, sizeof(*region));
  region->rank = gasneti_mynode;
  if (!bytes) return;
  GASNETC_CHECK("farreach_am_expose",
                farreach_am_expose(gasnetc_am, start, bytes, &region->key));
  region->is_there = 1;
}

static void gasnetc_learn(const gasnetc_region_t *regions, size_t count) {
  for (const gasnetc_region_t *region = regions; region < regions + count; ++region) {
    if (!region->is_there) continue;
    GASNETC_CHECK("farreach_am_learn",
                  farreach_am_learn(gasnetc_am, region->rank, &region->key));
  }
}

void gasnetc_auxseg_expose(gasnet_seginfo_t segment) {
  gasnetc_region_t own;
  gasnetc_expose(&own, segment.addr, segment.size);
  gasnetc_region_t *all = gasneti_malloc(gasneti_nodes * sizeof(own));
  gasnetc_bootstrap_exchange(&own, sizeof(own), all);
  gasnetc_learn(all, gasneti_nodes);
  gasneti_free(all);
}

/* Tells the processes of a team of regions of each. Collective. */
static void gasnetc_share(gex_TM_t tm, gasnetc_region_t *own, size_t count) {
  void *all;
  size_t bytes = gasneti_blockingRotatedExchangeV(tm, own, count * sizeof(*own), &all, NULL);
  gasnetc_learn(all, bytes / sizeof(*own));
  gasneti_free(all);
}

extern int gasnetc_segment_attach_hook(gex_Segment_t e_segment, gex_TM_t tm) {
  gasneti_Segment_t segment = gasneti_import_segment(e_segment);
  gasnetc_region_t own;
  gasnetc_expose(&own, segment->_addr, segment->_size);
  gasnetc_share(tm, &own, 1);
  return GASNET_OK;
}

/* Segments that endpoints are bound to, one for each. */
static gasnetc_region_t gasnetc_bound[GASNET_MAXEPS];

extern int gasnetc_ep_bindsegment_hook(gasneti_EP_t ep, gasneti_Segment_t segment,
                                       gex_Flags_t flags) {
  gasnetc_expose(&gasnetc_bound[ep->_index], segment->_addr, segment->_size);
  return GASNET_OK;
}

extern int gasnetc_ep_publishboundsegment_hook(gex_TM_t tm, gex_EP_t *eps, size_t num_eps,
                                               gex_Flags_t flags) {
  gasnetc_region_t *own = gasneti_calloc(num_eps + 1, sizeof(*own));
  for (size_t i = 0; i < num_eps; ++i) {
    own[i] = gasnetc_bound[gasneti_import_ep_valid(eps[i])->_index];
  }
  gasnetc_share(tm, own, num_eps);
  gasneti_free(own);
  /* A Long's reply may be sent here as soon as one process knows the others' regions. */
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  return GASNET_OK;
}

extern void gasnetc_segment_destroy_hook(gasneti_Segment_t segment) {
  gasneti_Client_t client = segment->_client;
  for (int i = 0; i < GASNET_MAXEPS; ++i) {
    gasneti_EP_t ep = client->_ep_tbl[i];
    if (!ep || ep->_segment != segment || !segment->_size) continue;
    GASNETC_CHECK("farreach_am_conceal", farreach_am_conceal(gasnetc_am, segment->_addr));
    gasnetc_bound[i].is_there = 0;
    return;
  }
}
