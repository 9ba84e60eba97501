//! The hosts that a job runs on, the number of PEs that each has room for, and the host of each PE.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::arguments::{MOST_PES, Options};
use super::super::{Failure, USAGE};

/// A host and how many PEs it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Host {
    pub(in super::super) name: String,
    pub(in super::super) slots: usize,
}

/// The source of the hosts' names, which decides how programs are started there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Source {
    /// The user, or a file of PBS.
    Named,
    /// A Slurm allocation.
    Slurm,
}

/// The hosts of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct List {
    pub(in super::super) hosts: Vec<Host>,
    pub(in super::super) source: Source,
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(USAGE, message)
}

impl List {
    /// Returns the hosts that options, or else an allocation of several nodes, name; `None` where a
    /// job is on this machine.
    ///
    /// # Errors
    /// A list that cannot be read.
    pub(in super::super) fn find(options: &Options) -> Result<Option<Self>, Failure> {
        Self::find_in(options, |name| std::env::var_os(name))
    }

    fn find_in(
        options: &Options,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>, Failure> {
        let mut list = List {
            hosts: Vec::new(),
            source: Source::Named,
        };
        for words in &options.hosts {
            list.add_words(words)?;
        }
        for file in &options.host_files {
            list.add_file(file)?;
        }
        if !list.hosts.is_empty() {
            return list.checked().map(Some);
        }
        if !options.host_files.is_empty() || !options.hosts.is_empty() {
            return Err(wrong("no host is named by --host and --hostfile"));
        }
        if options.per_node.is_some() {
            // Nodes are pretended, on this machine.
            return Ok(None);
        }
        if let Some(file) = variable("PBS_NODEFILE").filter(|file| !file.is_empty()) {
            list.add_file(&PathBuf::from(file))?;
        } else if let Some(nodes) = variable("SLURM_JOB_NODELIST")
            && variable("SLURM_JOB_ID").is_some()
        {
            let tasks = variable("SLURM_TASKS_PER_NODE").unwrap_or_default();
            list.add_slurm(&nodes.to_string_lossy(), &tasks.to_string_lossy())?;
        }
        if list.hosts.len() > 1 {
            list.checked().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Returns whether all PEs are on this machine, and need no agent.
    pub(in super::super) fn is_this_machine(&self, options: &Options) -> bool {
        let agent =
            std::env::var_os(super::AGENT_VARIABLE).is_some_and(|command| !command.is_empty());
        match self.hosts.as_slice() {
            [host] => options.launch_agent.is_none() && !agent && super::is_own(&host.name),
            _ => false,
        }
    }

    /// Returns the number of PEs that there is room for.
    pub(in super::super) fn slots(&self) -> usize {
        self.hosts.iter().map(|host| host.slots).sum()
    }

    fn checked(self) -> Result<Self, Failure> {
        if self.slots() > MOST_PES {
            let slots = self.slots();
            return Err(wrong(format!(
                "the hosts have {slots} slots, and a job at most {MOST_PES} PEs"
            )));
        }
        Ok(self)
    }

    /// Adds slots of a host, which may be known already.
    fn add(&mut self, name: &str, slots: usize) {
        match self.hosts.iter_mut().find(|host| host.name == name) {
            Some(host) => host.slots = host.slots.saturating_add(slots),
            None => self.hosts.push(Host {
                name: name.to_owned(),
                slots,
            }),
        }
    }

    /// Adds the hosts of `a,b:4`.
    fn add_words(&mut self, words: &str) -> Result<(), Failure> {
        for word in words.split(',').filter(|word| !word.is_empty()) {
            let (name, slots) =
                host(word).map_err(|why| wrong(format!("--host {words}: {why}")))?;
            self.add(name, slots);
        }
        Ok(())
    }

    /// Adds the hosts of a file.
    fn add_file(&mut self, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(format!("host file {shown}: {error}")))?;
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let number = index + 1;
            if let Some((name, slots)) = host_line(line)
                .map_err(|why| wrong(format!("host file {shown}, line {number}: {why}")))?
            {
                self.add(name, slots);
            }
        }
        if self.hosts.is_empty() {
            return Err(wrong(format!("host file {shown} names no host")));
        }
        Ok(())
    }

    /// Adds the nodes of a Slurm allocation.
    fn add_slurm(&mut self, nodes: &str, tasks: &str) -> Result<(), Failure> {
        self.source = Source::Slurm;
        let names = slurm_nodes(nodes).ok_or_else(|| {
            wrong(format!(
                "SLURM_JOB_NODELIST is \"{nodes}\", which is no list"
            ))
        })?;
        let tasks = slurm_tasks(tasks, names.len()).ok_or_else(|| {
            let count = names.len();
            wrong(format!(
                "SLURM_TASKS_PER_NODE is \"{tasks}\", which is no list for {count} nodes"
            ))
        })?;
        for (name, slots) in names.iter().zip(tasks) {
            check_name(name).map_err(|why| wrong(format!("SLURM_JOB_NODELIST: {why}")))?;
            self.add(name, slots);
        }
        Ok(())
    }
}

/// Returns the host of each of `pes` PEs: blocks of as many consecutive ranks as a host has slots,
/// host after host; PEs that are left go round again.
pub(in super::super) fn place(hosts: &[Host], pes: usize) -> Vec<u32> {
    let round = hosts.iter().zip(0_u32..);
    let round = round.flat_map(|(host, number)| std::iter::repeat_n(number, host.slots));
    round.cycle().take(pes).collect()
}

/// Reads a host and its slots from `name`, `name:4`, or an address of IPv6 in brackets.
fn host(word: &str) -> Result<(&str, usize), String> {
    let (name, slots) = match word.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, rest)) => (
            name,
            rest.strip_prefix(':').or(rest.is_empty().then_some("1")),
        ),
        None => match word.split_once(':') {
            Some((name, slots)) if !slots.contains(':') => (name, Some(slots)),
            _ => (word, Some("1")),
        },
    };
    let slots = slots.ok_or_else(|| format!("\"{word}\" is no host"))?;
    check_name(name)?;
    Ok((name, count(slots)?))
}

/// Reads a line of a host file without its comment: `name`, `name:4` or `name slots=4`, where other
/// words are passed over.
fn host_line(line: &str) -> Result<Option<(&str, usize)>, String> {
    let mut words = line.split_ascii_whitespace();
    let Some(word) = words.next() else {
        return Ok(None);
    };
    let (name, mut slots) = host(word)?;
    for word in words {
        match word.split_once('=') {
            Some(("slots", number)) => slots = count(number)?,
            Some(("max_slots" | "max-slots", _)) => {}
            _ => return Err(format!("\"{word}\" is not understood; \"slots=4\" is")),
        }
    }
    Ok(Some((name, slots)))
}

fn count(text: &str) -> Result<usize, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (1..=MOST_PES).contains(number));
    number.ok_or_else(|| format!("the number of slots is from 1 to {MOST_PES}, not \"{text}\""))
}

/// Names are words of a command line on this host and another: nothing in them may mean something there.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@%".contains(&byte);
    let good = !name.is_empty() && name.len() <= 255 && name.bytes().all(plain);
    if good && !name.starts_with('-') && !name.contains("@-") {
        Ok(())
    } else {
        Err(format!("\"{name}\" cannot be a host's name"))
    }
}

/// Expands `a[001-003,7],b`: Slurm's list of nodes, with any number of brackets in a name.
fn slurm_nodes(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0;
    let is_end = |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    for word in text.split(is_end) {
        names.extend(expand(word, MOST_PES - names.len())?);
    }
    Some(names).filter(|names: &Vec<String>| !names.iter().any(String::is_empty))
}

/// Expands one name, to `most` names.
fn expand(word: &str, most: usize) -> Option<Vec<String>> {
    let Some((before, rest)) = word.split_once('[') else {
        return (!word.contains(']') && most > 0).then(|| vec![word.to_owned()]);
    };
    let (list, after) = rest.split_once(']')?;
    let ends = expand(after, most)?;
    let mut names = Vec::new();
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let digits =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let (from, to): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let width = first.len();
        if to < from
            || (to - from).saturating_add(1).saturating_mul(ends.len()) > most - names.len()
        {
            return None;
        }
        for number in from..=to {
            names.extend(
                ends.iter()
                    .map(|end| format!("{before}{number:0width$}{end}")),
            );
        }
    }
    Some(names)
}

/// Expands `2(x3),1`: Slurm's numbers of tasks, one for each of `nodes` nodes.
fn slurm_tasks(text: &str, nodes: usize) -> Option<Vec<usize>> {
    let mut tasks = Vec::new();
    for word in text.split(',') {
        let (number, times) = match word.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse().ok()?),
            None => (word, 1),
        };
        let number = number
            .parse()
            .ok()
            .filter(|number| (1..=MOST_PES).contains(number))?;
        if times > nodes - tasks.len() {
            return None;
        }
        tasks.extend(std::iter::repeat_n(number, times));
    }
    (tasks.len() == nodes).then_some(tasks)
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
