/* gasnet_core_am.c: active messages of the Farreach conduit.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <gasnet_internal.h>
#include <gasnet_core_internal.h>
#include <gasnet_am.h>

/* A token is the address of the engine's message, which is even: GASNet's own tokens are odd. */
#define MESSAGE(token) ((farreach_am_message_t *)(token))

/* Runs the handler of a message. */
void gasnetc_handle(farreach_am_message_t *message) {
  const int is_req = !message->is_reply;
  const int index = message->handler;
  const int nargs = message->nargs;
  gex_AM_Entry_t *const entry = &gasnetc_handler[index];
  const gex_AM_Fn_t fn = entry->gex_fnptr;
  const gex_Token_t token = (gex_Token_t)message;
  gasneti_amtbl_check(entry, nargs, (gasneti_category_t)message->category, is_req);
  switch (message->category) {
    case FARREACH_AM_SHORT:
      GASNETI_RUN_HANDLER_SHORT(is_req, index, fn, token, message->args, nargs);
      break;
    case FARREACH_AM_MEDIUM:
      GASNETI_RUN_HANDLER_MEDIUM(is_req, index, fn, token, message->args, nargs,
                                 message->payload, message->bytes);
      break;
    case FARREACH_AM_LONG:
      GASNETI_RUN_HANDLER_LONG(is_req, index, fn, token, message->args, nargs,
                               message->payload, message->bytes);
      break;
    default:
      gasneti_unreachable_error(("a message of category %i", (int)message->category));
  }
}

extern gex_TI_t gasnetc_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask) {
  gasneti_assert(token);
  gasneti_assert(info);
  if (gasnetc_token_in_nbrhd(token)) return gasnetc_nbrhd_Token_Info(token, info, mask);
  const farreach_am_message_t *message = MESSAGE(token);
  info->gex_srcrank = message->source;
  info->gex_ep = gasneti_THUNK_EP;
  info->gex_entry = &gasnetc_handler[message->handler];
  info->gex_is_req = !message->is_reply;
  info->gex_is_long = message->category == FARREACH_AM_LONG;
  gex_TI_t result = GEX_TI_SRCRANK | GEX_TI_EP | GEX_TI_ENTRY | GEX_TI_IS_REQ | GEX_TI_IS_LONG;
  return GASNETI_TOKEN_INFO_RETURN(result, info, mask);
}

/* Takes the arguments of a prepared message, which are passed behind its descriptor. */
#define TAKE_ARGS(args, nargs, sd) do {                                         \
    va_list _list;                                                              \
    va_start(_list, sd);                                                        \
    for (int _i = 0; _i < (nargs); ++_i) args[_i] = va_arg(_list, gex_AM_Arg_t); \
    va_end(_list);                                                              \
  } while (0)

#if GASNET_TRACE
/* Writes arguments as GASNet's traces have them. */
static void gasnetc_print_args(char *text, size_t room, const gex_AM_Arg_t *args, int nargs) {
  text[0] = '\0';
  for (int i = 0; i < nargs; ++i) {
    int written = snprintf(text, room, " 0x%08x", (unsigned int)args[i]);
    text += written;
    room -= written;
  }
}

/* Traces find arguments in an array of this name, where GASNet's take variable ones. */
#undef _GASNETI_TRACE_GATHERARGS
#define _GASNETI_TRACE_GATHERARGS(numargs, lastarg) \
  char _tga_argstr[256];                            \
  gasnetc_print_args(_tga_argstr, sizeof(_tga_argstr), args, (int)(numargs))
#endif

/* Whether a poll has more to do than messages: another process exits, or a progress function is
 * wanted. Where these are not told in one byte, each request finds out. */
#if GASNETC_INLINE_POLL
  #define IS_WANTED() GASNETC_IS_WANTED()
#else
  #define IS_WANTED() 1
#endif

/* Does what a poll before a request does beside messages: the engine's request itself looks for
 * those, when it has sent. */
#define ATTEND(flags) do {                       \
    if (GASNETC_IMMEDIATE_WOULD_POLL(flags)) {   \
      GASNETC_EXIT_FOLLOW();                     \
      GASNETI_PROGRESSFNS_RUN();                 \
    }                                            \
  } while (0)

/* Stores the payload of a Long at a process whose segment is mapped here, this one's or, with PSHM,
 * a neighbour's. Returns 1, or 0 where the engine has to carry it. */
GASNETI_INLINE(gasnetc_store_long)
int gasnetc_store_long(gex_Rank_t jobrank, void *dest, const void *src, size_t bytes,
                       gex_Flags_t flags) {
  if (!GASNETI_NBRHD_JOBRANK_IS_LOCAL(jobrank)) return 0;
  if (bytes) {
  #if GASNET_PSHM
    if (jobrank != gasneti_mynode) {
      int is_aux = !!(flags & GASNETI_FLAG_PEER_SEG_AUX);
      dest = gasneti_pshm_jobrank_addr2local(jobrank, dest, is_aux);
    }
  #endif
    memmove(dest, src, bytes);
  }
  return 1;
}

/* Sends a request. Returns not 0 where flags have GEX_FLAG_IMMEDIATE and it would wait; then nothing has
 * been done: so a Long is not stored here before there is room for it. */
GASNETI_INLINE(gasnetc_request)
int gasnetc_request(const gasneti_category_t category, gex_TM_t tm, gex_Rank_t rank,
                    gex_AM_Index_t handler, void *src, size_t bytes, void *dest,
                    gex_Flags_t flags, const gex_AM_Arg_t *arguments, unsigned int nargs) {
  const gex_Rank_t jobrank = gasneti_e_tm_rank_to_jobrank(tm, rank);
  const uint64_t to = (uint64_t)(uintptr_t)dest;
  const int tries = !!(flags & GEX_FLAG_IMMEDIATE);
  const uint32_t *const args = (const uint32_t *)arguments;
  int result;
  switch (category) {
    case gasneti_Short:
      result = tries
        ? farreach_am_try_request_short(gasnetc_am, jobrank, handler, args, nargs)
        : farreach_am_request_short(gasnetc_am, jobrank, handler, args, nargs);
      break;
    case gasneti_Medium:
      result = tries
        ? farreach_am_try_request_medium(gasnetc_am, jobrank, handler, src, bytes, args, nargs)
        : farreach_am_request_medium(gasnetc_am, jobrank, handler, src, bytes, args, nargs);
      break;
    default:
      /* A Long that is stored here is sent, even if another thread has taken the room. */
      if (tries && GASNETI_NBRHD_JOBRANK_IS_LOCAL(jobrank)) {
        if (!farreach_am_has_room(gasnetc_am, jobrank)) return 1;
      } else if (tries) {
        result = farreach_am_try_request_long(gasnetc_am, jobrank, handler, src, bytes, to, args,
                                              nargs);
        break;
      }
      if (gasnetc_store_long(jobrank, dest, src, bytes, flags)) src = NULL;
      result = farreach_am_request_long(gasnetc_am, jobrank, handler, src, bytes, to, args, nargs);
  }
  if_pf (tries && result == FARREACH_AM_EAGAIN) return 1;
  GASNETC_CHECK("a request", result);
  return GASNET_OK;
}

GASNETI_INLINE(gasnetc_reply)
int gasnetc_reply(const gasneti_category_t category, gex_Token_t token, gex_AM_Index_t handler,
                  void *src, size_t bytes, void *dest, gex_Flags_t flags,
                  const gex_AM_Arg_t *arguments, unsigned int nargs) {
  farreach_am_message_t *const message = MESSAGE(token);
  const uint32_t *const args = (const uint32_t *)arguments;
  gasneti_assert(!gasnetc_token_in_nbrhd(token));
  int result;
  switch (category) {
    case gasneti_Short:
      result = farreach_am_reply_short(message, handler, args, nargs);
      break;
    case gasneti_Medium:
      result = farreach_am_reply_medium(message, handler, src, bytes, args, nargs);
      break;
    default:
      if (gasnetc_store_long(message->source, dest, src, bytes, flags)) src = NULL;
      result = farreach_am_reply_long(message, handler, src, bytes, (uint64_t)(uintptr_t)dest,
                                      args, nargs);
  }
  GASNETC_CHECK("a reply", result);
  return GASNET_OK;
}

/* Fixed payload. The payload may be changed on return: local completion is synchronous. */

/* Short and Medium requests that have nothing else to do go to the engine at once: others by
 * functions with the same parameters, behind which nothing is done, so that no register is kept. */
GASNETI_NEVER_INLINE(gasnetc_request_short,
static int gasnetc_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                 gex_Flags_t flags, const gex_AM_Arg_t *args,
                                 unsigned int numargs)) {
  ATTEND(flags);
  return gasnetc_request(gasneti_Short, tm, rank, handler, NULL, 0, NULL, flags, args, numargs);
}

GASNETI_NEVER_INLINE(gasnetc_request_medium,
static int gasnetc_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, void *src,
                                  size_t bytes, gex_Flags_t flags, const gex_AM_Arg_t *args,
                                  unsigned int numargs)) {
  ATTEND(flags);
  return gasnetc_request(gasneti_Medium, tm, rank, handler, src, bytes, NULL, flags, args, numargs);
}

extern int gasnetc_AMRequestShort(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                  gex_Flags_t flags GASNETI_THREAD_FARG, const gex_AM_Arg_t *args,
                                  unsigned int numargs) {
  GASNETI_COMMON_AMREQUESTSHORT(tm, rank, handler, flags, (int)numargs);
  if_pf ((flags & GEX_FLAG_IMMEDIATE) || IS_WANTED()) {
    return gasnetc_request_short(tm, rank, handler, flags, args, numargs);
  }
  return gasnetc_request(gasneti_Short, tm, rank, handler, NULL, 0, NULL, 0, args, numargs);
}

extern int gasnetc_AMRequestMedium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                   void *source_addr, size_t nbytes, gex_Event_t *lc_opt,
                                   gex_Flags_t flags GASNETI_THREAD_FARG,
                                   const gex_AM_Arg_t *args, unsigned int numargs) {
  GASNETI_COMMON_AMREQUESTMEDIUM(tm, rank, handler, source_addr, nbytes, lc_opt, flags,
                                 (int)numargs);
  gasneti_leaf_finish(lc_opt);
  if_pf ((flags & GEX_FLAG_IMMEDIATE) || IS_WANTED()) {
    return gasnetc_request_medium(tm, rank, handler, source_addr, nbytes, flags, args, numargs);
  }
  return gasnetc_request(gasneti_Medium, tm, rank, handler, source_addr, nbytes, NULL, 0, args,
                         numargs);
}

extern int gasnetc_AMRequestLong(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                 void *source_addr, size_t nbytes, void *dest_addr,
                                 gex_Event_t *lc_opt, gex_Flags_t flags GASNETI_THREAD_FARG,
                                 const gex_AM_Arg_t *args, unsigned int numargs) {
  GASNETI_COMMON_AMREQUESTLONG(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags,
                               (int)numargs);
  ATTEND(flags);
  gasneti_leaf_finish(lc_opt);
  return gasnetc_request(gasneti_Long, tm, rank, handler, source_addr, nbytes, dest_addr, flags,
                         args, numargs);
}

extern int gasnetc_AMReplyShort(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                                const gex_AM_Arg_t *args, unsigned int numargs) {
  GASNETI_COMMON_AMREPLYSHORT(token, handler, flags, (int)numargs);
  return gasnetc_reply(gasneti_Short, token, handler, NULL, 0, NULL, flags, args, numargs);
}

extern int gasnetc_AMReplyMedium(gex_Token_t token, gex_AM_Index_t handler, void *source_addr,
                                 size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags,
                                 const gex_AM_Arg_t *args, unsigned int numargs) {
  GASNETI_COMMON_AMREPLYMEDIUM(token, handler, source_addr, nbytes, lc_opt, flags, (int)numargs);
  gasneti_leaf_finish(lc_opt);
  return gasnetc_reply(gasneti_Medium, token, handler, source_addr, nbytes, NULL, flags, args,
                       numargs);
}

extern int gasnetc_AMReplyLong(gex_Token_t token, gex_AM_Index_t handler, void *source_addr,
                               size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                               gex_Flags_t flags, const gex_AM_Arg_t *args, unsigned int numargs) {
  GASNETI_COMMON_AMREPLYLONG(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags,
                             (int)numargs);
  gasneti_leaf_finish(lc_opt);
  return gasnetc_reply(gasneti_Long, token, handler, source_addr, nbytes, dest_addr, flags, args,
                       numargs);
}

/* Negotiated payload: a buffer of the program's, or one of GASNet's per thread, which is sent as a
 * fixed payload is. */

/* Fills in a descriptor whose destination is known. Returns it. */
GASNETI_INLINE(gasnetc_prepare)
gasneti_AM_SrcDesc_t gasnetc_prepare(gasneti_AM_SrcDesc_t sd, int is_req, const void *client_buf,
                                     size_t limit, size_t most, void *dest, gex_Event_t *lc_opt,
                                     gex_Flags_t flags, unsigned int nargs) {
  size_t size = MIN(most, client_buf ? limit : MIN(limit, GASNETC_REF_NPAM_MAX_ALLOC));
  sd->_tofree = gasneti_prepare_common(sd, is_req, client_buf, size, lc_opt, flags, nargs);
  sd->_dest_addr = dest;
  gasneti_init_sd_poison(sd);
  return sd;
}

/* Gives a descriptor back, and its buffer. */
GASNETI_INLINE(gasnetc_release)
void gasnetc_release(gasneti_AM_SrcDesc_t sd) {
  if (sd->_tofree) gasneti_free_npam_buffer(sd);
  if (sd->_lc_opt) gasneti_leaf_finish(sd->_lc_opt);
}

/* Ends a prepared message that is sent. */
GASNETI_INLINE(gasnetc_consume)
int gasnetc_consume(gasneti_AM_SrcDesc_t sd) {
  gasnetc_release(sd);
  gasneti_reset_srcdesc(sd);
  return GASNET_OK;
}

/* The flags of a prepared message, with GEX_FLAG_IMMEDIATE as it is sent: as it was prepared, it had a
 * buffer at once. */
GASNETI_INLINE(gasnetc_commit_flags)
gex_Flags_t gasnetc_commit_flags(gasneti_AM_SrcDesc_t sd, gex_Flags_t commit_flags) {
  return (sd->_flags & ~GEX_FLAG_IMMEDIATE) | (commit_flags & GEX_FLAG_IMMEDIATE);
}

extern gex_AM_SrcDesc_t gasnetc_AM_PrepareRequestMedium(
    gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
    size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags GASNETI_THREAD_FARG,
    unsigned int nargs) {
  GASNETI_TRACE_PREP_REQUESTMEDIUM(tm, rank, client_buf, least_payload, most_payload, flags, nargs);
  ATTEND(flags);
  gasneti_AM_SrcDesc_t sd = gasneti_init_request_srcdesc(GASNETI_THREAD_PASS_ALONE);
  GASNETI_COMMON_PREP_REQ(sd, tm, rank, client_buf, least_payload, most_payload, NULL, lc_opt,
                          flags, nargs, Medium);
  sd->_dest._request._tm = tm;
  sd->_dest._request._rank = rank;
  gasnetc_prepare(sd, 1, client_buf, gex_AM_LUBRequestMedium(), most_payload, NULL, lc_opt, flags,
                  nargs);
  GASNETI_TRACE_PREP_RETURN(REQUEST_MEDIUM, sd);
  GASNETI_CHECK_SD(client_buf, least_payload, most_payload, sd);
  return gasneti_export_srcdesc(sd);
}

extern gex_AM_SrcDesc_t gasnetc_AM_PrepareRequestLong(
    gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
    size_t most_payload, void *dest_addr, gex_Event_t *lc_opt,
    gex_Flags_t flags GASNETI_THREAD_FARG, unsigned int nargs) {
  GASNETI_TRACE_PREP_REQUESTLONG(tm, rank, client_buf, least_payload, most_payload, dest_addr,
                                 flags, nargs);
  ATTEND(flags);
  gasneti_AM_SrcDesc_t sd = gasneti_init_request_srcdesc(GASNETI_THREAD_PASS_ALONE);
  GASNETI_COMMON_PREP_REQ(sd, tm, rank, client_buf, least_payload, most_payload, dest_addr, lc_opt,
                          flags, nargs, Long);
  sd->_dest._request._tm = tm;
  sd->_dest._request._rank = rank;
  gasnetc_prepare(sd, 1, client_buf, GASNETC_MAX_LONG, most_payload, dest_addr, lc_opt, flags,
                  nargs);
  GASNETI_TRACE_PREP_RETURN(REQUEST_LONG, sd);
  GASNETI_CHECK_SD(client_buf, least_payload, most_payload, sd);
  return gasneti_export_srcdesc(sd);
}

extern gex_AM_SrcDesc_t gasnetc_AM_PrepareReplyMedium(
    gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
    gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int nargs) {
  GASNETI_TRACE_PREP_REPLYMEDIUM(token, client_buf, least_payload, most_payload, flags, nargs);
  GASNET_BEGIN_FUNCTION();
  gasneti_AM_SrcDesc_t sd = gasneti_init_reply_srcdesc(GASNETI_THREAD_PASS_ALONE);
  GASNETI_COMMON_PREP_REP(sd, token, client_buf, least_payload, most_payload, NULL, lc_opt, flags,
                          nargs, Medium);
  sd->_dest._reply._token = token;
  gasnetc_prepare(sd, 0, client_buf, gex_AM_LUBReplyMedium(), most_payload, NULL, lc_opt, flags,
                  nargs);
  GASNETI_TRACE_PREP_RETURN(REPLY_MEDIUM, sd);
  GASNETI_CHECK_SD(client_buf, least_payload, most_payload, sd);
  return gasneti_export_srcdesc(sd);
}

extern gex_AM_SrcDesc_t gasnetc_AM_PrepareReplyLong(
    gex_Token_t token, const void *client_buf, size_t least_payload, size_t most_payload,
    void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int nargs) {
  GASNETI_TRACE_PREP_REPLYLONG(token, client_buf, least_payload, most_payload, dest_addr, flags,
                               nargs);
  GASNET_BEGIN_FUNCTION();
  gasneti_AM_SrcDesc_t sd = gasneti_init_reply_srcdesc(GASNETI_THREAD_PASS_ALONE);
  GASNETI_COMMON_PREP_REP(sd, token, client_buf, least_payload, most_payload, dest_addr, lc_opt,
                          flags, nargs, Long);
  sd->_dest._reply._token = token;
  gasnetc_prepare(sd, 0, client_buf, GASNETC_MAX_LONG, most_payload, dest_addr, lc_opt, flags,
                  nargs);
  GASNETI_TRACE_PREP_RETURN(REPLY_LONG, sd);
  GASNETI_CHECK_SD(client_buf, least_payload, most_payload, sd);
  return gasneti_export_srcdesc(sd);
}

#if GASNET_DEBUG
  #define NARGS_PARAMETER unsigned int nargs_arg,
#else
  #define NARGS_PARAMETER
#endif

extern int gasnetc_AM_CommitRequestMediumM(
    gex_AM_Index_t handler, size_t nbytes, gex_Flags_t commit_flags GASNETI_THREAD_FARG,
    NARGS_PARAMETER gex_AM_SrcDesc_t sd_arg, ...) {
  gasneti_AM_SrcDesc_t sd = gasneti_import_srcdesc(sd_arg);
  gex_AM_Arg_t args[16];
  TAKE_ARGS(args, sd->_nargs, sd_arg);
  GASNETI_COMMON_COMMIT_REQ(sd, handler, nbytes, NULL, commit_flags, nargs_arg, Medium);
  int result = gasnetc_request(gasneti_Medium, sd->_dest._request._tm, sd->_dest._request._rank,
                               handler, sd->_addr, nbytes, NULL,
                               gasnetc_commit_flags(sd, commit_flags), args, sd->_nargs);
  return result ? result : gasnetc_consume(sd);
}

extern int gasnetc_AM_CommitRequestLongM(
    gex_AM_Index_t handler, size_t nbytes, void *dest_addr,
    gex_Flags_t commit_flags GASNETI_THREAD_FARG, NARGS_PARAMETER gex_AM_SrcDesc_t sd_arg, ...) {
  gasneti_AM_SrcDesc_t sd = gasneti_import_srcdesc(sd_arg);
  gex_AM_Arg_t args[16];
  TAKE_ARGS(args, sd->_nargs, sd_arg);
  GASNETI_COMMON_COMMIT_REQ(sd, handler, nbytes, dest_addr, commit_flags, nargs_arg, Long);
  int result = gasnetc_request(gasneti_Long, sd->_dest._request._tm, sd->_dest._request._rank,
                               handler, sd->_addr, nbytes, dest_addr,
                               gasnetc_commit_flags(sd, commit_flags), args, sd->_nargs);
  return result ? result : gasnetc_consume(sd);
}

extern int gasnetc_AM_CommitReplyMediumM(gex_AM_Index_t handler, size_t nbytes,
                                         gex_Flags_t commit_flags, NARGS_PARAMETER
                                         gex_AM_SrcDesc_t sd_arg, ...) {
  gasneti_AM_SrcDesc_t sd = gasneti_consume_srcdesc(sd_arg);
  gex_AM_Arg_t args[16];
  TAKE_ARGS(args, sd->_nargs, sd_arg);
  GASNETI_COMMON_COMMIT_REP(sd, handler, nbytes, NULL, commit_flags, nargs_arg, Medium);
  int result = gasnetc_reply(gasneti_Medium, sd->_dest._reply._token, handler, sd->_addr, nbytes,
                             NULL, sd->_flags, args, sd->_nargs);
  gasnetc_release(sd);
  return result;
}

extern int gasnetc_AM_CommitReplyLongM(gex_AM_Index_t handler, size_t nbytes, void *dest_addr,
                                       gex_Flags_t commit_flags, NARGS_PARAMETER
                                       gex_AM_SrcDesc_t sd_arg, ...) {
  gasneti_AM_SrcDesc_t sd = gasneti_consume_srcdesc(sd_arg);
  gex_AM_Arg_t args[16];
  TAKE_ARGS(args, sd->_nargs, sd_arg);
  GASNETI_COMMON_COMMIT_REP(sd, handler, nbytes, dest_addr, commit_flags, nargs_arg, Long);
  int result = gasnetc_reply(gasneti_Long, sd->_dest._reply._token, handler, sd->_addr, nbytes,
                             dest_addr, sd->_flags, args, sd->_nargs);
  gasnetc_release(sd);
  return result;
}

/* Ends a prepared message that is not sent. */
#define CANCEL(name, REQREP, category)                                                    \
  int gasnetc_AM_Cancel##name(gex_AM_SrcDesc_t sd_arg, gex_Flags_t flags) {               \
    gasneti_AM_SrcDesc_t sd = gasneti_import_srcdesc(sd_arg);                             \
    GASNETI_COMMON_CANCEL_##REQREP(sd, flags, category);                                  \
    gasnetc_release(sd);                                                                  \
    gasneti_reset_srcdesc(sd);                                                            \
    return GASNET_OK;                                                                     \
  }
CANCEL(RequestMedium, REQ, Medium)
CANCEL(RequestLong, REQ, Long)
CANCEL(ReplyMedium, REP, Medium)
CANCEL(ReplyLong, REP, Long)
