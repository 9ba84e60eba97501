//! Writes of which the peer is told behind the bytes (fi_writedata).

#![expect(unsafe_code, reason = "writes are of memory by its C address")]

use super::link::Path;
use super::range::Range;
use super::remote::RemoteRegion;
use super::{Endpoint, MOST_ASKED, Operation};
use crate::raw::completion::Report;
use crate::raw::error::Error;
use crate::raw::protocol::Kind;
use crate::raw::region::{Access, Rights};

impl Endpoint {
    /// Writes as [`Endpoint::write`], and then tells the peer: its receive queue gets an entry with
    /// the data behind the bytes (fi_writedata).
    ///
    /// # Errors
    /// As [`Endpoint::write`].
    ///
    /// # Safety
    /// As [`Endpoint::write`].
    pub unsafe fn write_with_data<R: Report>(
        &self,
        region: &RemoteRegion,
        address: u64,
        (source, len): (*const u8, usize),
        data: u64,
        report: R,
    ) -> Result<(), Error> {
        region.check(address, len, Rights::WRITE)?;
        let plain = region.plain();
        if region.link.burden() >= MOST_ASKED {
            return Err(Error::Again);
        }
        let range = Range {
            region,
            address,
            len,
        };
        if let Path::Far(path) = &region.link.path {
            let (bytes, told) = ((source, len), (Some(data), report));
            // SAFETY: `source` holds the bytes until the operation is reported.
            let is_written = unsafe {
                match region.counted {
                    Some(_) => {
                        let there = (path, address);
                        self.write_counted_with_data(plain, there, bytes, data, report)?
                    }
                    None => self.write_far::<false, R>(region, path, address, bytes, told)?,
                }
            };
            if !is_written {
                // SAFETY: `source` holds the bytes until the operation is reported.
                return unsafe { self.write_and_tell(range, source, data, report) };
            }
            // An empty write waits for nothing.
            if len == 0 {
                self.owe(&region.link, Kind::Told, [data, 0, 0]);
            }
            return Ok(());
        }
        if !plain.is_mapped() && len > region.link.eager {
            if report.context().is_some() && !self.config.transmit.has_room() {
                return Err(Error::Again);
            }
            let here = source.cast_mut();
            // SAFETY: `source` holds the bytes.
            if !unsafe { region.copy_long(Access::Write, address, here, len)? } {
                // SAFETY: `source` holds the bytes until the operation is reported.
                return unsafe { self.write_and_tell(range, source, data, report) };
            }
            plain.count(Access::Write);
            self.report_rma(Operation::Write, len, report);
        } else {
            // SAFETY: `source` holds the bytes until the operation is reported.
            unsafe { self.write(region, address, source, len, report)? };
        }
        self.owe(&region.link, Kind::Told, [data, len as u64, 0]);
        Ok(())
    }

    /// Does as [`Endpoint::write_with_data`] where records have to carry the bytes: the peer is
    /// told behind its answer.
    ///
    /// # Safety
    /// As [`Endpoint::write`].
    #[cold]
    #[inline(never)]
    unsafe fn write_and_tell<R: Report>(
        &self,
        range: Range<'_>,
        source: *const u8,
        data: u64,
        report: R,
    ) -> Result<(), Error> {
        let piece = (source, range.len);
        // SAFETY: `source` holds the bytes until the operation is reported.
        unsafe { self.write_vector_with_data(&[range], &[piece], data, report) }
    }
}
