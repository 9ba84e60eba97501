//! Messages between the shim in a program and the device's process.
//!
//! One request and one reply are one packet each of a `SOCK_SEQPACKET` socket; a file descriptor travels with a reply as
//! `SCM_RIGHTS`. The shim includes this file by its path, so that both sides have the same definitions.

/// The variable that names the fabric's directory: socket, sysfs tree, device node.
pub(crate) const DIRECTORY_VARIABLE: &str = "FARREACH_SOFTHCA";

/// The variable that tells programs that the device runs in strict mode.
pub(crate) const STRICT_VARIABLE: &str = "FARREACH_SOFTHCA_STRICT";

/// Name of a command file, with the number of its context behind it: so a program finds its
/// mappings.
pub(crate) const COMMAND_FILE: &str = "softhca-uverbs0-";

/// The socket's name within the directory.
pub(crate) const SOCKET: &str = "socket";

/// The device node as programs name it.
pub(crate) const DEVICE_NODE: &str = "/dev/infiniband/uverbs0";

/// The major and minor number of the device node.
pub(crate) const DEVICE_NUMBER: (u32, u32) = (231, 192);

/// Word at the address that a program gives when it opens the device: the device reads it to see
/// that it may.
pub(crate) const PROBE: u64 = 0x6163_6874_666f_7321;

/// Operation that a program asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Operation {
    /// A new open file of the device; the argument is the address of [`PROBE`] in the program. The reply brings the context's
    /// number and its file descriptor.
    Open = 1,
    /// The open file is closed.
    Close = 2,
    /// An ioctl; the argument is the address of its header in the program.
    Ioctl = 3,
    /// Act now: return when everything that was posted before is done.
    Kick = 4,
    /// In strict mode: pages of the program are about to be unmapped, moved or emptied; the argument is [`pages`].
    Unmap = 5,
    /// Asks which queue pairs ring which doorbell register: the reply brings a file with the text.
    Account = 16,
}

impl Operation {
    fn from_u32(value: u32) -> Option<Self> {
        let all = [
            Self::Open,
            Self::Close,
            Self::Ioctl,
            Self::Kick,
            Self::Unmap,
            Self::Account,
        ];
        all.into_iter().find(|operation| *operation as u32 == value)
    }
}

/// Bits of an [`Operation::Unmap`]'s argument that count pages; the others are the number of the first one.
const PAGE_COUNT: u32 = 28;
const PAGE: u64 = 4096;

/// Returns the pages that have `len` bytes at `addr`; beyond a terabyte the rest is left out.
pub(crate) fn pages(addr: u64, len: u64) -> u64 {
    let first = addr / PAGE;
    let count = addr.saturating_add(len).div_ceil(PAGE) - first;
    first << PAGE_COUNT | count.min((1 << PAGE_COUNT) - 1)
}

/// Returns the addresses of such pages, from the first to behind the last.
pub(crate) fn addresses(pages: u64) -> (u64, u64) {
    let first = pages >> PAGE_COUNT;
    let count = pages & ((1 << PAGE_COUNT) - 1);
    (first * PAGE, (first + count) * PAGE)
}

/// A request of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The operation that is asked for.
    pub(crate) operation: Operation,
    /// The context that it is asked of; 0 when there is none.
    pub(crate) context: u32,
    /// An address in the program, see [`Operation`].
    pub(crate) argument: u64,
}

impl Request {
    /// The size of a request, in bytes.
    pub(crate) const SIZE: usize = 16;

    /// Returns the request as bytes.
    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.context.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.argument.to_ne_bytes());
        bytes
    }

    /// Returns the request in these bytes, if it is one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        Some(Self {
            operation: Operation::from_u32(u32_at(bytes, 0))?,
            context: u32_at(bytes, 4),
            argument: u64_at(bytes, 8),
        })
    }
}

/// A store to a doorbell page, which a program in strict mode tells of before it goes on, on a
/// connection for stores alone. The answer is a [`Reply`], if the program waits for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// The context whose command file it is.
    pub(crate) context: u32,
    /// The thread that stored.
    pub(crate) thread: u32,
    /// Offset in the command file, in bytes.
    pub(crate) at: u64,
    /// Number of bytes.
    pub(crate) size: u32,
    /// Whether the program waits until the device has taken it.
    pub(crate) is_awaited: bool,
    /// The bytes, and zeros.
    pub(crate) bytes: [u8; Self::LONGEST],
}

impl Store {
    /// The most bytes that one instruction stores, or that are told of at once.
    pub(crate) const LONGEST: usize = 64;

    /// The size of the packet, in bytes: by which it is told from a request.
    pub(crate) const SIZE: usize = 24 + Self::LONGEST;

    /// Returns the store as bytes.
    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.context.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.thread.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.at.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.size.to_ne_bytes());
        bytes[20..24].copy_from_slice(&u32::from(self.is_awaited).to_ne_bytes());
        bytes[24..].copy_from_slice(&self.bytes);
        bytes
    }

    /// Returns the store in these bytes, if it is one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        let mut stored = [0; Self::LONGEST];
        stored.copy_from_slice(&bytes[24..]);
        let size = u32_at(bytes, 16);
        (size as usize <= Self::LONGEST).then_some(Self {
            context: u32_at(bytes, 0),
            thread: u32_at(bytes, 4),
            at: u64_at(bytes, 8),
            size,
            is_awaited: u32_at(bytes, 20) != 0,
            bytes: stored,
        })
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// 0, or the errno with which the call fails.
    pub(crate) errno: i32,
    /// The number of the new context, for [`Operation::Open`].
    pub(crate) context: u32,
    /// Address in the program for the number of the descriptor that came along; 0 for none.
    pub(crate) store_at: u64,
    /// Number of bytes of that number there: 4 or 8.
    pub(crate) store_size: u32,
}

impl Reply {
    /// The size of a reply, in bytes.
    pub(crate) const SIZE: usize = 20;

    /// Returns the reply as bytes.
    pub(crate) fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.errno.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.context.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.store_at.to_ne_bytes());
        bytes[16..].copy_from_slice(&self.store_size.to_ne_bytes());
        bytes
    }

    /// Returns the reply in these bytes, if it is one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        Some(Self {
            errno: u32_at(bytes, 0).cast_signed(),
            context: u32_at(bytes, 4),
            store_at: u64_at(bytes, 8),
            store_size: u32_at(bytes, 16),
        })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(value)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_come_back_as_they_were() {
        for operation in [
            Operation::Open,
            Operation::Close,
            Operation::Ioctl,
            Operation::Kick,
            Operation::Unmap,
            Operation::Account,
        ] {
            let request = Request {
                operation,
                context: 0x1234_5678,
                argument: 0x7fff_0000_1234_5678,
            };
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        for is_awaited in [false, true] {
            let store = Store {
                context: 7,
                thread: 1234,
                at: 0x8000_0800,
                size: 16,
                is_awaited,
                bytes: [0x5a; Store::LONGEST],
            };
            assert_eq!(Store::decode(&store.encode()), Some(store));
        }
        let reply = Reply {
            errno: 95,
            context: 3,
            store_at: 0x7fff_0000_0000_0008,
            store_size: 4,
        };
        assert_eq!(Reply::decode(&reply.encode()), Some(reply));
    }

    #[test]
    fn pages_come_back_whole() {
        for (addr, len, start, end) in [
            (0x7fff_0000_1000, 0x2000, 0x7fff_0000_1000, 0x7fff_0000_3000),
            (0x7fff_0000_1fff, 2, 0x7fff_0000_1000, 0x7fff_0000_3000),
            (0x1000, 0, 0x1000, 0x1000),
        ] {
            assert_eq!(addresses(pages(addr, len)), (start, end));
        }
        let (start, end) = addresses(pages(0x7fff_0000_1000, 1 << 46));
        assert!(start == 0x7fff_0000_1000 && end - start >= 1 << 39);
    }

    #[test]
    fn what_is_no_request_is_none() {
        assert_eq!(Request::decode(&[0; Request::SIZE]), None);
        assert_eq!(Request::decode(&[1; Request::SIZE - 1]), None);
        assert_eq!(Reply::decode(&[0; Reply::SIZE + 1]), None);
        assert_eq!(Store::decode(&[0xff; Store::SIZE]), None);
    }
}
