/* count.c: operations of GASNet-EX, each a hundred times in a function of its own, whose
 * instructions callgrind counts (docs/gasnet.md); and loops without them, that load the same arguments.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <gasnetex.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 100
#define FOR(i) for (int i = 0; i < TIMES; ++i)
#define COUNTED __attribute__((noinline, noclone))

static gex_TM_t team;
static gex_AD_t domain;
static gex_Rank_t peer;
static uint64_t *there, source[8], fetched;
static volatile int came, rounds;

static void on_short(gex_Token_t token) { ++came; }
static void on_medium(gex_Token_t token, void *bytes, size_t count) { ++came; }
static void on_ping(gex_Token_t token) { gex_AM_ReplyShort0(token, 203, 0); }
static void on_pong(gex_Token_t token) { ++rounds; }

COUNTED void count_short(void) { FOR(i) gex_AM_RequestShort0(team, peer, 200, 0); }
COUNTED void count_medium(void) {
  FOR(i) gex_AM_RequestMedium0(team, peer, 201, source, sizeof(source), GEX_EVENT_NOW, 0);
}
COUNTED void count_put(void) {
  FOR(i) gex_RMA_PutNBI(team, peer, there, source, 8, GEX_EVENT_DEFER, 0);
}
COUNTED void count_wait(void) { FOR(i) gex_NBI_Wait(GEX_EC_PUT, 0); }
COUNTED void count_poll(void) { FOR(i) gasnet_AMPoll(); }
COUNTED void count_fetch_add(void) {
  FOR(i) (void)gex_AD_OpNBI_U64(domain, &fetched, peer, there, GEX_OP_FADD, 1, 0, 0);
}

COUNTED void count_no_call(void) { FOR(i) __asm__ volatile("" : : : "memory"); }
COUNTED void count_no_request(void) { FOR(i) __asm__ volatile("" : : "r"(team), "r"(peer) : "memory"); }
COUNTED void count_no_put(void) {
  FOR(i) __asm__ volatile("" : : "r"(team), "r"(peer), "r"(there) : "memory");
}

static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

static double seconds(void) { return gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-9; }

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  gex_AM_Entry_t handlers[] = {
    { 200, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0 },
    { 201, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0 },
    { 202, (gex_AM_Fn_t)on_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0 },
    { 203, (gex_AM_Fn_t)on_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0 },
  };
  if (gex_Client_Init(&client, &endpoint, &team, "count", &argc, &argv, 0)) return 1;
  if (gex_Segment_Attach(&segment, team, 1 << 20)) return 1;
  if (gex_EP_RegisterHandlers(endpoint, handlers, 4)) return 1;
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, 0);
  const int first = gex_TM_QueryRank(team) == 0;
  peer = gex_TM_QuerySize(team) - 1;
  void *start;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &start, NULL, NULL, 0));
  there = start;
  void (*const counted[])(void) = { count_short, count_medium, count_put, count_wait, count_poll,
                                    count_fetch_add, count_no_call, count_no_request,
                                    count_no_put };
  for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); ++i) {
    for (int twice = 0; twice < 2; ++twice) { /* the second time with what the first has made */
      barrier();
      if (first) counted[i]();
      gex_NBI_Wait(GEX_EC_ALL, 0);
    }
  }
  barrier();
  if (argc > 1) { /* times: the best of so many batches of a thousand */
    double best = 1, flood = 1;
    for (int batch = 0; first && batch < atoi(argv[1]); ++batch) {
      double from = seconds();
      for (int i = 0; i < 1000; ++i) {
        int before = rounds;
        gex_AM_RequestShort0(team, peer, 202, 0);
        GASNET_BLOCKUNTIL(rounds != before);
      }
      double took = (seconds() - from) / 1000;
      if (took < best) best = took;
      from = seconds();
      for (int i = 0; i < 100; ++i) {
        for (int j = 0; j < 64; ++j) gex_AM_RequestShort0(team, peer, 200, 0);
        int before = rounds;
        gex_AM_RequestShort0(team, peer, 202, 0);
        GASNET_BLOCKUNTIL(rounds != before);
      }
      took = (seconds() - from) / 100;
      if (took < flood) flood = took;
    }
    if (first) printf("round trip %.3f us, 64 requests and a round trip %.3f us\n", best * 1e6,
                      flood * 1e6);
  }
  barrier();
  gasnet_exit(0);
  return 0;
}
