//! Operations and error syndromes.

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $value,)*
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the one with this number.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns its number.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }
        }
    };
}

numbered! {
    /// Opcode of a send WQE (`MLX5_OPCODE_*`).
    Opcode {
        /// Nothing; completes.
        Nop = 0x00,
        /// Send, and the peer invalidates a key.
        SendInvalidate = 0x01,
        /// RDMA write.
        Write = 0x08,
        /// RDMA write that consumes a receive and delivers 32 bits.
        WriteImmediate = 0x09,
        /// Send.
        Send = 0x0a,
        /// Send with 32 bits in the completion.
        SendImmediate = 0x0b,
        /// RDMA read.
        Read = 0x10,
        /// Compare and swap, 8 bytes.
        CompareSwap = 0x11,
        /// Fetch and add, 8 bytes.
        FetchAdd = 0x12,
        /// Compare and swap under masks, 4 or 8 bytes.
        MaskedCompareSwap = 0x14,
        /// Fetch and add within fields, 4 or 8 bytes.
        MaskedFetchAdd = 0x15,
        /// Changes a memory key.
        Umr = 0x25,
    }
}

numbered! {
    /// Opcode of a CQE (`MLX5_CQE_*`, upper half of its last byte).
    CqeOpcode {
        /// A request is done.
        Requester = 0,
        /// An RDMA write with immediate data arrived.
        ReceiveWriteImmediate = 1,
        /// A message arrived.
        ReceiveSend = 2,
        /// A message with immediate data arrived.
        ReceiveSendImmediate = 3,
        /// A message that invalidated a key arrived.
        ReceiveSendInvalidate = 4,
        /// The queue was resized.
        Resize = 5,
        /// A request failed.
        RequesterError = 13,
        /// A receive failed.
        ResponderError = 14,
        /// Not written by the device yet.
        Invalid = 15,
    }
}

numbered! {
    /// Causes of the failure of a request or a receive (`MLX5_CQE_SYNDROME_*`).
    Syndrome {
        /// The message does not fit into the receive.
        LocalLength = 0x01,
        /// The entry is not valid.
        LocalQpOperation = 0x02,
        /// A local key, right or range is wrong.
        LocalProtection = 0x04,
        /// An earlier failure flushed it.
        Flushed = 0x05,
        /// A memory window could not be bound.
        MemoryWindowBind = 0x06,
        /// The peer's answer made no sense.
        BadResponse = 0x10,
        /// The receive's key, right or range is wrong (told to the responder).
        LocalAccess = 0x11,
        /// The peer does not take such a request.
        RemoteInvalidRequest = 0x12,
        /// The remote key, right or range is wrong.
        RemoteAccess = 0x13,
        /// The peer failed on its own account.
        RemoteOperation = 0x14,
        /// The peer did not answer.
        TransportRetryExceeded = 0x15,
        /// The peer had no receive posted.
        ReceiverNotReadyRetryExceeded = 0x16,
        /// The peer gave up.
        RemoteAborted = 0x22,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_there_and_back() {
        for number in 0..=u8::MAX {
            if let Some(op) = Opcode::from_number(number) {
                assert_eq!(op.number(), number);
            }
            if let Some(op) = CqeOpcode::from_number(number) {
                assert_eq!(op.number(), number);
            }
            if let Some(syndrome) = Syndrome::from_number(number) {
                assert_eq!(syndrome.number(), number);
            }
        }
        assert_eq!(Opcode::ALL.len(), 12);
        assert_eq!(Opcode::from_number(0x14), Some(Opcode::MaskedCompareSwap));
        assert_eq!(Opcode::from_number(0x13), None);
    }
}
