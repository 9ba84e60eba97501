//! The constants.

/// Defines constants, and lists them in [`CONSTANTS`].
macro_rules! constants {
    ($($kind:ty { $($name:ident = $value:expr;)* })*) => {
        $($(pub const $name: $kind = $value;)*)*

        /// All constants and their values, in 64 bits.
        pub const CONSTANTS: &[(&str, u64)] = &[$($((stringify!($name), $name as u64),)*)*];
    };
}

constants! {
    // Capabilities, and flags of operations, of completions and of bindings.
    u64 {
        FI_MSG = 1 << 1;
        FI_RMA = 1 << 2;
        FI_TAGGED = 1 << 3;
        FI_ATOMIC = 1 << 4;
        FI_READ = 1 << 8;
        FI_WRITE = 1 << 9;
        FI_RECV = 1 << 10;
        FI_SEND = 1 << 11;
        FI_REMOTE_READ = 1 << 12;
        FI_REMOTE_WRITE = 1 << 13;
        FI_MULTI_RECV = 1 << 16;
        FI_REMOTE_CQ_DATA = 1 << 17;
        FI_MORE = 1 << 18;
        FI_PEEK = 1 << 19;
        FI_TRIGGER = 1 << 20;
        FI_COMPLETION = 1 << 24;
        FI_EVENT = 1 << 24;
        FI_INJECT = 1 << 25;
        FI_INJECT_COMPLETE = 1 << 26;
        FI_TRANSMIT_COMPLETE = 1 << 27;
        FI_DELIVERY_COMPLETE = 1 << 28;
        FI_MATCH_COMPLETE = 1 << 31;
        FI_LOCAL_COMM = 1 << 51;
        FI_REMOTE_COMM = 1 << 52;
        FI_SHARED_AV = 1 << 53;
        FI_RMA_EVENT = 1 << 56;
        FI_SOURCE = 1 << 57;
        FI_SYNC_ERR = 1 << 58;
        FI_NAMED_RX_CTX = 1 << 58;
        FI_DISCARD = 1 << 58;
        FI_CLAIM = 1 << 59;
        FI_SYMMETRIC = 1 << 59;
        FI_AFFINITY = 1 << 29;
        FI_DIRECTED_RECV = 1 << 59;
        FI_SELECTIVE_COMPLETION = 1 << 59;
        FI_FETCH_ATOMIC = 1 << 58;
        FI_COMPARE_ATOMIC = 1 << 59;
        FI_ORDER_WAW = 1 << 4;
        FI_ORDER_SAW = 1 << 7;
        FI_ORDER_SAS = 1 << 8;
        FI_ORDER_RMA_WAW = 1 << 35;
        FI_CONTEXT2 = 1 << 52;
        FI_CONTEXT = 1 << 59;
        FI_ADDR_UNSPEC = u64::MAX;
        FI_ADDR_NOTAVAIL = u64::MAX;
        FI_KEY_NOTAVAIL = u64::MAX;
    }
    u32 {
        FI_PROV_SPECIFIC = 1 << 31;
        FI_FORMAT_UNSPEC = 0;
        FI_EP_UNSPEC = 0;
        FI_AV_COMPLETE = 5;
        FI_EP_RDM = 3;
        FI_LOG_INFO = 2;
        FI_LOG_CORE = 0;
        FI_LOG_EP_CTRL = 3;
        FI_TYPE_CAPS = 2;
        FI_TYPE_OP_FLAGS = 3;
        FI_TYPE_MSG_ORDER = 13;
        FI_SOCKADDR_IN = 2;
        FI_SOCKADDR_IN6 = 3;
        FI_AV_UNSPEC = 0;
        FI_AV_MAP = 1;
        FI_AV_TABLE = 2;
        FI_THREAD_SAFE = 1;
        FI_THREAD_DOMAIN = 3;
        FI_PROGRESS_UNSPEC = 0;
        FI_PROGRESS_AUTO = 1;
        FI_PROGRESS_MANUAL = 2;
        FI_RM_ENABLED = 2;
        FI_WAIT_NONE = 0;
        FI_WAIT_UNSPEC = 1;
        FI_WAIT_FD = 3;
        FI_WAIT_YIELD = 5;
        FI_CQ_FORMAT_UNSPEC = 0;
        FI_CQ_FORMAT_CONTEXT = 1;
        FI_CQ_FORMAT_MSG = 2;
        FI_CQ_FORMAT_DATA = 3;
        FI_CQ_FORMAT_TAGGED = 4;
        FI_CQ_COND_NONE = 0;
        FI_CQ_COND_THRESHOLD = 1;
        FI_HMEM_SYSTEM = 0;
        FI_INT8 = 0;
        FI_UINT8 = 1;
        FI_INT16 = 2;
        FI_UINT16 = 3;
        FI_INT32 = 4;
        FI_UINT32 = 5;
        FI_INT64 = 6;
        FI_UINT64 = 7;
        FI_FLOAT = 8;
        FI_DOUBLE = 9;
        FI_FLOAT_COMPLEX = 10;
        FI_MIN = 0;
        FI_MAX = 1;
        FI_SUM = 2;
        FI_PROD = 3;
        FI_LOR = 4;
        FI_LAND = 5;
        FI_BOR = 6;
        FI_BAND = 7;
        FI_LXOR = 8;
        FI_BXOR = 9;
        FI_ATOMIC_READ = 10;
        FI_ATOMIC_WRITE = 11;
        FI_CSWAP = 12;
        FI_CSWAP_NE = 13;
        FI_CSWAP_LE = 14;
        FI_CSWAP_LT = 15;
        FI_CSWAP_GE = 16;
        FI_CSWAP_GT = 17;
        FI_MSWAP = 18;
        FI_TRIGGER_THRESHOLD = 0;
        FI_OP_RECV = 0;
        FI_OP_SEND = 1;
        FI_OP_TRECV = 2;
        FI_OP_TSEND = 3;
        FI_OP_READ = 4;
        FI_OP_WRITE = 5;
        FI_OP_ATOMIC = 6;
        FI_OP_FETCH_ATOMIC = 7;
        FI_OP_COMPARE_ATOMIC = 8;
        FI_OP_CNTR_SET = 9;
        FI_OP_CNTR_ADD = 10;
    }
    i32 {
        FI_PARAM_STRING = 0;
        FI_MR_BASIC = 1;
        FI_MR_SCALABLE = 2;
        FI_MR_LOCAL = 1 << 2;
        FI_MR_VIRT_ADDR = 1 << 4;
        FI_MR_ALLOCATED = 1 << 5;
        FI_MR_PROV_KEY = 1 << 6;
        FI_MR_ENDPOINT = 1 << 9;
        FI_GETOPSFLAG = 2;
        FI_SETOPSFLAG = 3;
        FI_ALIAS = 4;
        FI_GETWAIT = 5;
        FI_ENABLE = 6;
        FI_QUEUE_WORK = 11;
        FI_CANCEL_WORK = 12;
        FI_FLUSH_WORK = 13;
        FI_OPT_ENDPOINT = 0;
        FI_OPT_MIN_MULTI_RECV = 0;
        FI_ENOSYS = 38;
        FI_ETOOSMALL = 257;
        FI_EOPBADSTATE = 258;
        FI_EAVAIL = 259;
        FI_EBADFLAGS = 260;
        FI_EDOMAIN = 262;
        FI_ENOCQ = 263;
        FI_ENOKEY = 266;
        FI_ENOAV = 267;
        FI_ENOEQ = 261;
    }
    usize {
        FI_CLASS_FABRIC = 1;
        FI_CLASS_DOMAIN = 2;
        FI_CLASS_EP = 3;
        FI_CLASS_SEP = 4;
        FI_CLASS_RX_CTX = 5;
        FI_CLASS_SRX_CTX = 6;
        FI_CLASS_TX_CTX = 7;
        FI_CLASS_STX_CTX = 8;
        FI_CLASS_AV = 11;
        FI_CLASS_MR = 12;
        FI_CLASS_EQ = 13;
        FI_CLASS_CQ = 14;
        FI_CLASS_CNTR = 15;
        FI_CLASS_POLL = 17;
        FI_SHARED_CONTEXT = usize::MAX;
    }
}
