//! Tables of functions for objects that have a part of them.

#![expect(
    clippy::missing_transmute_annotations,
    reason = "the place of a function tells its type"
)]

use crate::object::stub;
use fi_ofi_abi::*;

/// [`stub`], in a place of any type.
macro_rules! refuse {
    () => {{
        // SAFETY: both are pointers to C functions. C alone calls this one, with the arguments of
        // the place in registers or on its own stack, where `stub` looks at none of them, and takes
        // as much of the result as the place returns (`fi_ofi_abi::Stub`).
        unsafe { std::mem::transmute::<Stub, _>(stub as Stub) }
    }};
}

/// Functions of an object to which nothing can be sent, and by which nothing is received.
pub(crate) static MSG: FiOpsMsg = FiOpsMsg {
    size: size_of::<FiOpsMsg>(),
    recv: refuse!(),
    recvv: refuse!(),
    recvmsg: refuse!(),
    send: refuse!(),
    sendv: refuse!(),
    sendmsg: refuse!(),
    inject: refuse!(),
    senddata: refuse!(),
    injectdata: refuse!(),
};
pub(crate) static TAGGED: FiOpsTagged = FiOpsTagged {
    size: size_of::<FiOpsTagged>(),
    recv: refuse!(),
    recvv: refuse!(),
    recvmsg: refuse!(),
    send: refuse!(),
    sendv: refuse!(),
    sendmsg: refuse!(),
    inject: refuse!(),
    senddata: refuse!(),
    injectdata: refuse!(),
};
pub(crate) static RMA: FiOpsRma = FiOpsRma {
    size: size_of::<FiOpsRma>(),
    read: refuse!(),
    readv: refuse!(),
    readmsg: refuse!(),
    write: refuse!(),
    writev: refuse!(),
    writemsg: refuse!(),
    inject: refuse!(),
    writedata: refuse!(),
    injectdata: refuse!(),
};
pub(crate) static ATOMIC: FiOpsAtomic = FiOpsAtomic {
    size: size_of::<FiOpsAtomic>(),
    write: refuse!(),
    writev: refuse!(),
    writemsg: refuse!(),
    inject: refuse!(),
    readwrite: refuse!(),
    readwritev: refuse!(),
    readwritemsg: refuse!(),
    compwrite: refuse!(),
    compwritev: refuse!(),
    compwritemsg: refuse!(),
    writevalid: refuse!(),
    readwritevalid: refuse!(),
    compwritevalid: refuse!(),
};
pub(crate) const EP: FiOpsEp = FiOpsEp {
    size: size_of::<FiOpsEp>(),
    cancel: refuse!(),
    getopt: refuse!(),
    setopt: refuse!(),
    tx_ctx: refuse!(),
    rx_ctx: refuse!(),
    rx_size_left: stub,
    tx_size_left: stub,
    newer: [stub],
};
pub(crate) const CM: FiOpsCm = FiOpsCm {
    size: size_of::<FiOpsCm>(),
    setname: stub,
    getname: refuse!(),
    getpeer: stub,
    connect: stub,
    listen: stub,
    accept: stub,
    reject: stub,
    shutdown: stub,
    join: stub,
};

/// Returns functions of messages without those that receive.
pub(crate) const fn sending(ops: FiOpsMsg) -> FiOpsMsg {
    FiOpsMsg {
        recv: refuse!(),
        recvv: refuse!(),
        recvmsg: refuse!(),
        ..ops
    }
}

/// Returns functions of messages without those that send.
pub(crate) const fn receiving(ops: FiOpsMsg) -> FiOpsMsg {
    FiOpsMsg {
        send: refuse!(),
        sendv: refuse!(),
        sendmsg: refuse!(),
        inject: refuse!(),
        senddata: refuse!(),
        injectdata: refuse!(),
        ..ops
    }
}

/// Returns functions of tagged messages without those that receive.
pub(crate) const fn sending_tagged(ops: FiOpsTagged) -> FiOpsTagged {
    FiOpsTagged {
        recv: refuse!(),
        recvv: refuse!(),
        recvmsg: refuse!(),
        ..ops
    }
}

/// Returns functions of tagged messages without those that send.
pub(crate) const fn receiving_tagged(ops: FiOpsTagged) -> FiOpsTagged {
    FiOpsTagged {
        send: refuse!(),
        sendv: refuse!(),
        sendmsg: refuse!(),
        inject: refuse!(),
        senddata: refuse!(),
        injectdata: refuse!(),
        ..ops
    }
}
