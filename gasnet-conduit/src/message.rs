//! Messages as their handlers get them.

use crate::arrive::Reply;
use std::ffi::c_void;

/// The kinds of messages, with the numbers of farreach_am.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Category {
    /// Arguments alone.
    Short = 0,
    /// With a payload, which lies in memory of the engine during the handler.
    Medium = 1,
    /// With a payload, which lies in the receiver's segment, where the sender wanted it.
    Long = 2,
}

impl Category {
    #[inline(always)]
    pub(crate) fn of_bits(bits: u64) -> Option<Self> {
        match bits {
            0 => Some(Self::Short),
            1 => Some(Self::Medium),
            2 => Some(Self::Long),
            _ => None,
        }
    }
}

/// A message, for the time of its handler: `farreach_am_message_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Message {
    /// The engine.
    pub engine: *const c_void,
    /// The pointer that the handler was registered with.
    pub context: *mut c_void,
    /// The first byte of the payload, aligned to 8 if the message is a medium one; null without.
    pub payload: *mut c_void,
    /// The bytes of the payload.
    pub bytes: usize,
    /// The arguments.
    pub args: *const u32,
    /// The rank of the sender.
    pub source: u32,
    /// The handler's index.
    pub handler: u8,
    /// A [`Category`].
    pub category: u8,
    /// The number of arguments.
    pub nargs: u8,
    /// Whether it answers a request: then it cannot be replied to.
    pub is_reply: u8,
    pub(crate) reply: Reply,
}

const _: () = assert!(size_of::<Message>() == 80 && align_of::<Message>() == 8);

/// Handles messages of an index. May reply once, if it is a request; calls nothing else of the engine but
/// functions that return facts.
///
/// As a C function, so that C registers its own.
pub type Handler = unsafe extern "C" fn(*mut Message);
