//! Cases that are written in Rust: each runs in a process of its own, `farreach-tests case NAME`.

use crate::case::{Case, Invocation};
use crate::groups::house_rules;
use crate::launch;
use crate::place::{self, Place};
use std::process::ExitCode;

/// A case written in Rust.
#[derive(Debug)]
pub(crate) struct Own {
    /// Its name, which is also its name within its group.
    pub(crate) name: &'static str,
    /// Its time limit.
    pub(crate) seconds: u64,
    /// Runs it; fails with a sentence.
    pub(crate) run: fn(&Place, &[String]) -> Result<(), String>,
}

impl Own {
    /// Returns the case that starts it, with arguments.
    ///
    /// # Errors
    ///
    /// A sentence, if the running program cannot be found.
    pub(crate) fn case(&self, args: &[String]) -> Result<Case, String> {
        let run = Invocation::new(place::own_program()?)
            .arg("case")
            .arg(self.name)
            .args(args);
        Ok(Case::new(self.name, self.seconds, run))
    }
}

/// Runs the process of one such case.
pub(crate) fn main(args: &[String]) -> ExitCode {
    let Some((name, args)) = args.split_first() else {
        eprintln!("farreach-tests case NAME ARGS...");
        return ExitCode::from(2);
    };
    let all = launch::OWN.iter().chain(launch::OF_HOSTS);
    let all = all.chain(launch::OF_OSHRUN).chain(launch::OF_FOREIGN);
    let all = all.chain(house_rules::OWN);
    let result = match all.into_iter().find(|own| own.name == name) {
        Some(own) => Place::find().and_then(|place| (own.run)(&place, args)),
        None => Err(format!("there is no case {name}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
