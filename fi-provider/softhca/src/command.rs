//! The command `softhca`.

use crate::daemon::{self, Directory, Manners, Server, Signals, Transactions};
use crate::engine::{Config, Latencies};
use crate::uverbs::Settings;
use crate::wire::{DIRECTORY_VARIABLE, STRICT_VARIABLE};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable by which UCX is told which objects it shall create by DEVX: none, for the device
/// has none.
const UCX_OBJECTS: &str = "UCX_IB_MLX5_DEVX_OBJECTS";

/// Tells UCX to register memory once, for strict order. On AMD's processors it registers it for
/// relaxed order too, and then adds an offset to addresses, which an indirect memory key takes off
/// again; the device has no such keys.
const UCX_ORDER: &str = "UCX_IB_PCI_RELAXED_ORDERING";

/// The library that is preloaded into programs.
const SHIM: &str = "libsofthca_shim.so";

/// The variable that names the preloaded libraries.
const PRELOAD: &str = "LD_PRELOAD";

/// The options of AddressSanitizer's runtime.
const ASAN_OPTIONS: &str = "ASAN_OPTIONS";

/// Lets that runtime come behind a preloaded library, where it refuses to run otherwise. Functions
/// that both define go by the shim to the kernel; the heap and strings are the runtime's alone.
const ASAN_ORDER: &str = "verify_asan_link_order=0";

/// In strict mode: the time that the device leaves an entry alone after its doorbell, in ns. A
/// write of a program to the entry after it has rung is found out if it comes within.
const HOLD: u64 = 50_000;

/// Bytes of a message of a ConnectX.
const MAX_MESSAGE: u32 = 1 << 30;

/// The exit status when strict mode found a violation.
const VIOLATIONS: u8 = 99;

/// Text that `softhca --help` prints.
pub const HELP: &str = "\
usage: softhca run [OPTION...] [--] PROGRAM [ARGUMENT...]
       softhca account

`run` runs a program, and whatever it starts, on a machine with one more network adapter: mlx5_0, a ConnectX in software.
Programs see it through the libibverbs and libmlx5 of the system. All programs under one `softhca run` are on one
fabric. The exit status is the program's own (128 + N when signal N ended it); 2 for a wrong command
line, 126 or 127 when the program cannot be run, 1 when the device cannot be set up.

  --delay-seed N       leave queue pairs alone now and then, and let them act in any order, as
                       the seed N draws it: what hardware may do; operations of one queue pair
                       stay in their order
  --delays LIST        operations take time: LIST is any of pcie=T,wire=T,switch=T,memory=T, one way each, with T a number
                       with the unit ns, us or ms (docs/softhca.md)
  --legacy-uars        doorbell registers are assigned to queue pairs as old kernels do, not by libmlx5
  --no-dc              no dynamic connections
  --no-devx            contexts with DEVX are refused, as for users without the right to them
  --no-hook            farreach_softhca_kick is refused, so that programs that know of it wait as on hardware
  --on-kicks           look at the queues when a program calls farreach_softhca_kick, and else ten times a second, so that
                       few instructions of a program depend on when the device acts
  --no-masked-atomics  atomics with masks, and of 4 bytes, are not among what DEVX tells of
  --max-message N      a message holds no more than N bytes (default: 1 GiB)
  --max-pinned N       a process registers no more than N bytes, in whole pages, whatever its limit of locked memory
  --queue-pairs N      a process gets no more than N queue pairs, in all its contexts
  --uar-pages N        a process gets no more than N doorbell pages, in all its contexts
  --strict             act on writes to doorbell registers alone, and check them; doorbells that are not as hardware
                       needs them are told on standard error, and the exit status is 99 (x86-64 only)
  --trace              tell on standard error of every command that the device refuses
  --transactions FILE  write the PCIe transactions, with their times, to FILE as CSV

`account`, in a program that was started so, prints which doorbell registers the contexts of the device use.
";

/// Error with which the command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The command line names no action.
    #[error("{0} (see softhca --help)")]
    Usage(String),
    /// The shim is not where it belongs.
    #[error("{SHIM} is neither beside {} nor in ../lib: build or install the package softhca-shim", .0.display())]
    NoShim(PathBuf),
    /// The loader could not preload a library of this name.
    #[error("{}: the loader cannot preload a library whose path has a space or a colon", .0.display())]
    ShimPath(PathBuf),
    /// The fabric could not be set up.
    #[error("cannot set up the device: {0}")]
    Device(#[source] io::Error),
    /// Strict mode follows a program's instructions, and knows those of one processor.
    #[error("strict mode is for x86-64")]
    NotStrict,
    /// The file of transactions could not be made.
    #[error("{}: {error}", .file.display())]
    Transactions {
        /// Its name.
        file: PathBuf,
        /// Cause of the failure.
        error: io::Error,
    },
    /// There is no device to ask.
    #[error("{DIRECTORY_VARIABLE} is not set: this is to be called under `softhca run`")]
    NoDevice,
    /// The device did not answer.
    #[error("the device does not answer: {0}")]
    NoAnswer(#[source] io::Error),
    /// A folder is in the place of the program.
    #[error("{0} is a folder, not a program")]
    Folder(String),
    /// Text could not be written to stdout.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// The program could not be started.
    #[error("{program}: {error}")]
    Program {
        /// The program's name.
        program: String,
        /// Cause of the failure.
        error: io::Error,
    },
}

/// Options with which a program is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Assign doorbell registers as old kernels do.
    pub legacy_uars: bool,
    /// Refuse contexts with DEVX.
    pub no_devx: bool,
    /// Have no dynamic connections.
    pub no_dc: bool,
    /// Do not tell of atomics with masks.
    pub no_masked_atomics: bool,
    /// Bytes of a message, where they are to be fewer than a ConnectX's.
    pub max_message: Option<u32>,
    /// Bytes that a process may register; otherwise its limit of locked memory holds.
    pub max_pinned: Option<u64>,
    /// Doorbell pages that a process gets, if that is limited.
    pub uar_pages: Option<u32>,
    /// Queue pairs that a process gets, if that is limited.
    pub queue_pairs: Option<u32>,
    /// Act on writes to doorbell registers alone, and check them.
    pub strict: bool,
    /// By which queue pairs are left alone for a while, if they are.
    pub delay_seed: Option<u64>,
    /// The times that operations take, if they take any.
    pub latencies: Option<Latencies>,
    /// The file that PCIe transactions are written to.
    pub transactions: Option<PathBuf>,
    /// Tell of every command that the device refuses.
    pub trace: bool,
    /// Refuse kicks.
    pub no_hook: bool,
    /// Look at the queues at kicks, and seldom otherwise.
    pub on_kicks: bool,
}

/// Runs a program with the device; gives the exit status for the shell.
///
/// # Errors
/// See [`Error`]; a program that starts and fails is no error.
pub fn run(program: &OsStr, arguments: &[OsString], options: Options) -> Result<u8, Error> {
    if options.strict && !cfg!(target_arch = "x86_64") {
        return Err(Error::NotStrict);
    }
    let shim = find_shim()?;
    let config = Config {
        max_message: options.max_message.unwrap_or(MAX_MESSAGE),
        strict: options.strict,
        hold_ns: HOLD,
        delay_seed: options.delay_seed,
        latencies: options.latencies,
        transactions: options.transactions.is_some(),
        ..Config::default()
    };
    let directory = Directory::create(config.lid).map_err(Error::Device)?;
    let settings = Settings {
        legacy_uars: options.legacy_uars,
        devx: !options.no_devx,
        masked_atomics: !options.no_masked_atomics,
        no_dc: options.no_dc,
        max_pinned: options.max_pinned,
        uar_pages: options.uar_pages,
        queue_pairs: options.queue_pairs,
    };
    let manners = Manners {
        trace: options.trace,
        refuses_kicks: options.no_hook,
        waits_for_kicks: options.on_kicks,
        polls: options.latencies.is_some() || options.transactions.is_some(),
    };
    let mut server = Server::new(&directory, config, settings, manners).map_err(Error::Device)?;
    if let Some(file) = options.transactions {
        let created = Transactions::create(&file);
        server.write_transactions(created.map_err(|error| Error::Transactions { file, error })?);
    }
    let signals = Signals::take().map_err(Error::Device)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(DIRECTORY_VARIABLE, directory.path())
        .env(PRELOAD, before(PRELOAD, shim.as_os_str()))
        .env(ASAN_OPTIONS, before(ASAN_OPTIONS, OsStr::new(ASAN_ORDER)));
    if options.strict {
        command.env(STRICT_VARIABLE, "1");
    } else {
        command.env_remove(STRICT_VARIABLE);
    }
    for (variable, value) in [(UCX_OBJECTS, ""), (UCX_ORDER, "off")] {
        if settings.devx && env::var_os(variable).is_none() {
            command.env(variable, value);
        }
    }
    signals.leave_to(&mut command);
    let mut child = command
        .spawn()
        .map_err(|error| not_started(program, error))?;
    let served = server.serve(&child, &signals);
    if served.is_err() {
        // Without the device the program would only wait.
        let _ = child.kill();
    }
    let status = child.wait().map_err(Error::Device)?;
    served.map_err(Error::Device)?;
    let signal = status.signal().map(|signal| 128 + signal);
    let status = status.code().or(signal).unwrap_or(1);
    if server.violations() > 0 {
        eprintln!(
            "softhca: {} violations in strict mode (the program's own exit status was {status})",
            server.violations()
        );
        return Ok(VIOLATIONS);
    }
    Ok(u8::try_from(status).unwrap_or(1))
}

/// Returns the reason for which a program did not start.
fn not_started(program: &OsStr, error: io::Error) -> Error {
    let shown = program.to_string_lossy().into_owned();
    // Takes a name with a slash for a path, which is not looked for elsewhere.
    let is_path = program.as_encoded_bytes().contains(&b'/');
    if is_path && Path::new(program).is_dir() {
        return Error::Folder(shown);
    }
    Error::Program {
        program: shown,
        error,
    }
}

/// Returns the account of doorbell registers of the device that this process was started with.
///
/// # Errors
/// [`Error::NoDevice`] and [`Error::NoAnswer`].
pub fn account() -> Result<String, Error> {
    let directory = env::var_os(DIRECTORY_VARIABLE).ok_or(Error::NoDevice)?;
    daemon::account(Path::new(&directory)).map_err(Error::NoAnswer)
}

/// Returns the shim: beside this program, or in `../lib` of where it is installed.
fn find_shim() -> Result<PathBuf, Error> {
    let program = env::current_exe().map_err(Error::Device)?;
    let beside = program.parent().unwrap_or(Path::new("/"));
    let shim = [beside.join(SHIM), beside.join("../lib").join(SHIM)]
        .into_iter()
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| Error::NoShim(program.clone()))?;
    let bytes = shim.as_os_str().as_encoded_bytes();
    if bytes.contains(&b' ') || bytes.contains(&b':') {
        return Err(Error::ShimPath(shim));
    }
    Ok(shim)
}

/// Returns the value of a variable that is a list with colons: `first`, then the entries so far.
fn before(variable: &str, first: &OsStr) -> OsString {
    let mut value = first.to_owned();
    if let Some(others) = env::var_os(variable).filter(|others| !others.is_empty()) {
        value.push(":");
        value.push(others);
    }
    value
}
