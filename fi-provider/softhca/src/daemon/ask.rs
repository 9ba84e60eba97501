//! Requests to a device's process from outside of it, without the shim.

use super::sys;
use crate::wire::{Operation, Reply, Request, SOCKET};
use std::fs::File;
use std::io::{Error, ErrorKind, Result, read_to_string};
use std::os::fd::AsFd;
use std::path::Path;

/// Returns the account of doorbell registers of the device whose directory this is.
pub(crate) fn account(directory: &Path) -> Result<String> {
    let socket = sys::connect(directory, SOCKET)?;
    let request = Request {
        operation: Operation::Account,
        context: 0,
        argument: 0,
    };
    sys::send(socket.as_fd(), &request.encode(), None)?;
    let mut packet = [0; Reply::SIZE];
    let (length, file) = sys::receive_with_file(socket.as_fd(), &mut packet)?;
    let reply = Reply::decode(&packet[..length]).ok_or(ErrorKind::UnexpectedEof)?;
    match file {
        Some(file) if reply.errno == 0 => read_to_string(File::from(file)),
        _ => Err(Error::from_raw_os_error(reply.errno)),
    }
}
