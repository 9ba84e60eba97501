//! The file of PCIe transactions.

use crate::engine::Transaction;
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// A CSV file that transactions are written to.
///
/// A failed write is told at the end: the device goes on without the file.
#[derive(Debug)]
pub(crate) struct Transactions {
    file: BufWriter<File>,
    done: Result<()>,
}

impl Transactions {
    /// Creates the file, with its header.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "{}", Transaction::HEADER)?;
        file.flush()?;
        Ok(Self { file, done: Ok(()) })
    }

    /// Writes lines.
    pub(super) fn write(&mut self, transactions: &[Transaction]) {
        if self.done.is_ok() {
            let mut lines = transactions.iter();
            self.done = lines.try_for_each(|line| writeln!(self.file, "{line}"));
        }
    }

    /// Writes the buffered lines out.
    pub(super) fn flush(&mut self) {
        if self.done.is_ok() {
            self.done = self.file.flush();
        }
    }

    /// Ends the file; tells whether all was written.
    pub(super) fn close(mut self) -> Result<()> {
        self.flush();
        self.done
    }
}
