//! Counts a function of somebody's program.

use crate::callgrind::{self, Job, Profile};
use crate::scratch::Scratch;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;

/// Callees that are shown.
const SHOWN: usize = 12;

/// What was counted.
pub(crate) struct Measured {
    name: String,
    pes: u32,
    pe: u32,
    profile: Profile,
}

/// Runs `program` on `pes` PEs and counts the function `name` on one of them.
pub(crate) fn count(
    oshrun: &Path,
    name: &str,
    pes: u32,
    pe: u32,
    program: &[OsString],
) -> Result<Measured, String> {
    let scratch = Scratch::new()?;
    callgrind::run(
        &Job {
            launcher: &[oshrun.into(), "-n".into(), pes.to_string().into()],
            environment: &[],
            pe,
            options: "",
            program,
        },
        &scratch,
        false,
    )?;
    let text = callgrind::read(&callgrind::out(&scratch))?;
    let profile = callgrind::profile(&text, name)?.ok_or_else(|| {
        format!(
            "{name} was not called on PE {pe}. If the program has a function of that name, the compiler may have \
             inlined it: declare it __attribute__((noinline)); and do not strip the program."
        )
    })?;
    Ok(Measured {
        name: name.to_owned(),
        pes,
        pe,
        profile,
    })
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Profile {
            calls,
            inclusive,
            own,
            callees,
        } = &self.profile;
        let line = |f: &mut fmt::Formatter<'_>, what: &str, count: u64, calls_of: u64| {
            let each = count as f64 / *calls as f64;
            let times = if calls_of == 0 {
                String::new()
            } else {
                format!(", {calls_of} calls")
            };
            writeln!(f, "{count:>15} {each:>15.2}  {what}{times}")
        };
        writeln!(
            f,
            "{} on PE {} of {}: {calls} calls",
            self.name, self.pe, self.pes
        )?;
        writeln!(f, "{:>15} {:>15}", "instructions", "of one call")?;
        line(f, "in all", *inclusive, 0)?;
        line(f, "its own, PLT jumps of its calls included", *own, 0)?;
        for (name, calls, cost) in callees.iter().take(SHOWN) {
            line(f, name, *cost, *calls)?;
        }
        let rest: u64 = callees.iter().skip(SHOWN).map(|(.., cost)| cost).sum();
        if rest > 0 {
            line(f, "in other functions", rest, 0)?;
        }
        Ok(())
    }
}
