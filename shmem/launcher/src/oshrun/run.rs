//! The start of a job on this machine.

use std::path::{Path, PathBuf};

use fi_bootstrap::server::{Host, Job};

use super::arguments::Options;
use super::crew::Crew;
use super::device::Device;
use super::job::{Pes, Running};
use super::output::Output;
use super::pes::{Input, Launch};
use super::sys::{self, Signals};
use super::{Failure, binding, compile, environment, program};
use crate::installation::Installation;

/// Runs the job; yields its exit status.
pub(super) fn run(
    options: &Options,
    device: Option<&Device>,
    signals: &Signals,
) -> Result<i32, Failure> {
    let place = Installation::find()
        .map_err(|error| Failure::new(1, format!("cannot read /proc/self/exe: {error}")))?;
    let cpus = if options.bind {
        Some(binding::cores(options.pes)?)
    } else {
        None
    };
    let program = Program::prepare(options, &place, signals)?;
    let environment = environment::of(options, false);
    let launch = Launch {
        size: options.pes,
        executable: program.executable(),
        name: program.name(options),
        arguments: &options.arguments,
        environment: &environment,
        place: &place,
        device,
        cpus,
        descriptors: sys::raise_descriptor_limit(),
        input: Input::Inherited,
    };
    let output = Output::new(options)
        .map_err(|error| Failure::new(1, format!("cannot write the output: {error}")))?;
    let host = Host::alone(options.pes, &format!("kvs_{}", std::process::id()))
        .on_nodes_of(options.per_node.unwrap_or(options.pes));
    let crew = Crew::start(&launch, host, options.per_node, output)?;
    // All PEs execute it: the file may go.
    drop(program);
    let job = Job::new(options.pes, 1);
    Ok(Running::new(options, job, Pes::Here(crew), signals, device).run())
}

/// The file that the PEs execute.
enum Program {
    File(PathBuf),
    Compiled(compile::Compiled),
}

impl Program {
    fn prepare(
        options: &Options,
        place: &Installation,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let name = Path::new(&options.program);
        match program::source_language(name) {
            Some(language) => {
                program::check_source(name)?;
                compile::compile(name, language, place, signals).map(Program::Compiled)
            }
            None => program::find(&options.program, std::env::var_os("PATH").as_deref())
                .map(Program::File),
        }
    }

    fn executable(&self) -> &Path {
        match self {
            Program::File(path) => path,
            Program::Compiled(compiled) => &compiled.executable,
        }
    }

    /// Returns the name of the program as it finds it.
    fn name<'a>(&'a self, options: &'a Options) -> &'a std::ffi::OsStr {
        match self {
            Program::File(_) => &options.program,
            Program::Compiled(compiled) => compiled.executable.as_os_str(),
        }
    }
}
