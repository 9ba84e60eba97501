//! The functions of farreach_am.h that wait for nothing.

use super::{
    Alone, Done, Engine, Error, NOT_TYPED, OK, REUSE, Sent, Source, Threads, atomic, code, ended,
    fail, slice,
};
use std::ffi::c_int;

macro_rules! functions {
    ($guard:ty: $short:ident $medium:ident $long:ident $has_room:ident $put:ident $get:ident $atomic:ident) => {
        /// Sends a short request if there is room.
        ///
        /// # Safety
        /// `am` is open, as for all functions; there are `nargs` at `args`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $short(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, the arguments are there, and the way is that of this request.
            unsafe {
                let args = slice(args, nargs as usize);
                let sent = match (*am).request_args_now(rank, handler, args) {
                    Sent::Beyond(beyond) => (*am).request_args_beyond(handler, args, beyond.way()),
                    sent => sent,
                };
                match sent {
                    Sent::Yes | Sent::More => OK,
                    Sent::No | Sent::Beyond(_) => {
                        code((*am).try_request_short(rank, handler, args))
                    }
                }
            }
        }

        /// Sends a medium request if there is room.
        ///
        /// # Safety
        /// There are `nargs` at `args`, and `bytes` at `payload`.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $medium(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            payload: *const u8,
            bytes: usize,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, and payload and arguments are there.
            code(unsafe {
                let (args, payload) = (slice(args, nargs as usize), slice(payload, bytes));
                (*am).try_request_medium(rank, handler, payload, args)
            })
        }

        /// Sends a long request if there is room.
        ///
        /// # Safety
        /// There are `nargs` at `args`, and `bytes` at `payload` unless it is null.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $long(
            am: *const Engine<$guard>,
            rank: u32,
            handler: u8,
            payload: *const u8,
            bytes: usize,
            to: u64,
            args: *const u32,
            nargs: u32,
        ) -> c_int {
            // SAFETY: the engine is open, and payload and arguments are there.
            code(unsafe {
                let args = slice(args, nargs as usize);
                if payload.is_null() {
                    (*am).try_request_stored(rank, handler, (to, bytes), args)
                } else {
                    (*am).try_request_long(rank, handler, slice(payload, bytes), to, args)
                }
            })
        }

        /// Returns whether a long request whose payload is stored finds room.
        ///
        /// # Safety
        /// `am` is open.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $has_room(am: *const Engine<$guard>, rank: u32) -> c_int {
            // SAFETY: the engine is open.
            let has_room = unsafe { (*am).has_room(rank) };
            has_room.unwrap_or(false).into()
        }

        /// Writes bytes to a peer's memory if that can be started.
        ///
        /// # Safety
        /// `from` holds the bytes, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $put(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            from: *const u8,
            bytes: usize,
            flags: u32,
            done: *mut u64,
        ) -> c_int {
            let source = if flags & REUSE != 0 {
                Source::Reused
            } else {
                Source::Kept
            };
            // SAFETY: the engine is open; the rest is the caller's promise.
            ended(unsafe { (*am).try_put(rank, to, (from, bytes), source, Done::new(done)) })
        }

        /// Reads bytes of a peer's memory if that can be started.
        ///
        /// # Safety
        /// `to` has room for the bytes, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $get(
            am: *const Engine<$guard>,
            rank: u32,
            to: *mut u8,
            from: u64,
            bytes: usize,
            done: *mut u64,
        ) -> c_int {
            // SAFETY: the engine is open; the rest is the caller's promise.
            ended(unsafe { (*am).try_get(rank, (to, bytes), from, Done::new(done)) })
        }

        /// Does an atomic operation on an element of a peer's memory if that can be started.
        ///
        /// # Safety
        /// `result` is null or has room for an element, and `done` stays, as farreach_am.h says.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $atomic(
            am: *const Engine<$guard>,
            rank: u32,
            to: u64,
            operation: c_int,
            datatype: c_int,
            operand: u64,
            comparand: u64,
            result: *mut u8,
            done: *mut u64,
        ) -> c_int {
            let Some(atomic) = atomic(operation, datatype, (operand, comparand), result) else {
                return fail(&Error::Argument(NOT_TYPED));
            };
            // SAFETY: the engine is open; the rest is the caller's promise.
            ended(unsafe { (*am).try_atomic(rank, to, &atomic, Done::new(done)) })
        }
    };
}

functions! { Alone: farreach_am_try_request_short farreach_am_try_request_medium
farreach_am_try_request_long farreach_am_has_room farreach_am_try_put farreach_am_try_get
farreach_am_try_atomic }

functions! { Threads: farreach_am_try_request_short_threads farreach_am_try_request_medium_threads
farreach_am_try_request_long_threads farreach_am_has_room_threads farreach_am_try_put_threads
farreach_am_try_get_threads farreach_am_try_atomic_threads }
