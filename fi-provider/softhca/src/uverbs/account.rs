//! The account of doorbell registers, as text.

use super::Device;
use crate::engine::{RegisterKind, UarRegime, UarReport};
use std::fmt::Write as _;

impl Device {
    /// Writes a line for each context, and behind it one for each of its registers that is in use;
    /// docs/softhca.md tells of the words.
    pub(crate) fn account(&self) -> String {
        let mut text = String::new();
        for context in self.engine.contexts() {
            if let Ok(report) = self.engine.uar_report(context) {
                // Writing to a string does not fail.
                let _ = write_context(&mut text, context.0, &report);
            }
        }
        text
    }
}

fn write_context(text: &mut String, number: u32, report: &UarReport) -> std::fmt::Result {
    let regime = match report.regime {
        UarRegime::LibraryManaged => "library".to_owned(),
        UarRegime::Legacy { total, low_latency } => format!("legacy:{total}/{low_latency}"),
    };
    let account = &report.account;
    write!(
        text,
        "context={number} process={} regime={regime}",
        report.pid
    )?;
    writeln!(
        text,
        " pages={} used_pages={} registers={} largest_sharing={} unseen={}",
        account.pages,
        account.used_pages,
        account.registers,
        account.largest_sharing,
        report.unseen.len()
    )?;
    for register in &report.registers {
        let kind = match register.kind {
            RegisterKind::Assigned => "assigned",
            RegisterKind::Mapped => "mapped",
            RegisterKind::BlueFlame => "blueflame",
            RegisterKind::NonCached => "noncached",
        };
        let pairs: Vec<String> = register.queue_pairs.iter().map(u32::to_string).collect();
        writeln!(
            text,
            "register context={number} page={} index={} kind={kind} queue_pairs={}",
            register.page,
            register.register,
            pairs.join(",")
        )?;
    }
    Ok(())
}
