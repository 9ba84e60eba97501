//! The command line.

use crate::cases::{FIGURES, Figure};
use crate::error::{Error, Result};
use crate::job::{PORT, Place};
use crate::message_rate::Features;
use crate::shape::named;
use crate::tiles::Layout;
use fi_mlx5::policy::{POLICIES, Policy};
use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// The text of `endpoints --help`.
pub(crate) const HELP: &str = "\
usage: endpoints message-rate [FIGURE...] [OPTION...]   small RDMA writes of threads that share more and more
       endpoints global-array [OPTION...]               a product of matrices that lie on a server, under each policy
       endpoints stencil [OPTION...]                    a 5-point stencil of processes with threads, under each policy
       endpoints account [OPTION...]                    what each policy takes for 1 to 16 threads
       endpoints serve [--port N] [--device NAME]       on the second machine: the other half of the benchmarks
       endpoints draw FILE... [--out DIR]               draws figures of saved results again
       endpoints tables FILE...                         prints saved accounts as tables of a document

The benchmarks of \"Scalable Communication Endpoints for MPI+Threads Applications\", on this project's own mlx5 transport. Each
prints throughput and what the endpoints took, side by side.

  --server HOST[:PORT]  the second machine, where `endpoints serve` runs; without: all processes are on this machine
  --device NAME         the device here (default: the first that will do)
  --out DIR             write the results to DIR as tab-separated values, and draw them as SVG
  --resources-only      make the endpoints, count what they take, and send nothing
  --threads N           threads of a machine (default 16)
  --rounds N            rounds, of which the median counts (default 5)
  --policy NAME         global-array, stencil, account: this policy; may be repeated (default: all)

message-rate: FIGURE is policies, scaling, share-buf, alignment, share-ctx, share-pd, share-mr, share-cq, unsignalled-p32,
unsignalled-p1 or share-qp (default: all)
  --messages N          messages of a thread in a round (default 1000000)
  --size N              bytes of a message (default 2)
  --depth N             entries of a send queue, d (default 128)
  --postlist N          messages to a doorbell, p (default 32)
  --unsignalled N       messages to a completion, q (default 64)

global-array:
  --tiles N             tiles along an edge of the matrices (default 32)
  --edge N              elements along an edge of a tile (default 2)

stencil:
  --layout P.T          P processes of T threads on each machine; may be repeated (default: 16.1 8.2 4.4 2.8 1.16)
  --rows N, --columns N the grid (default 256 rows, 512 columns)
  --steps N             steps of a round (default 100)
";

/// The action that the command line asks for.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// A benchmark, or the account.
    Bench(Bench, Options),
    /// Start processes for others.
    Serve(u16, Option<String>),
    /// Be a process of a benchmark, of this rank, for the command at this address.
    Member(SocketAddr, usize, Option<String>),
    /// Draw saved results.
    Draw(Vec<PathBuf>, PathBuf),
    /// Print saved accounts.
    Tables(Vec<PathBuf>),
}

/// The benchmarks.
#[derive(Debug)]
pub(crate) enum Bench {
    /// Of these figures.
    MessageRate(Vec<Figure>),
    /// See [`crate::global_array`].
    GlobalArray,
    /// See [`crate::stencil`].
    Stencil,
    /// The usage of policies.
    Account,
}

/// Options of benchmarks.
#[derive(Debug)]
pub(crate) struct Options {
    /// Place in which the processes run.
    pub(crate) place: Place,
    /// Folder to which results go.
    pub(crate) out: Option<PathBuf>,
    /// Whether nothing is sent.
    pub(crate) resources_only: bool,
    /// Threads of a machine.
    pub(crate) threads: usize,
    /// Rounds.
    pub(crate) rounds: usize,
    /// Policies; all if there is none.
    pub(crate) policies: Vec<&'static Policy>,
    /// Messages of a thread in a round.
    pub(crate) messages: u64,
    /// Bytes of a message.
    pub(crate) size: usize,
    /// Entries of a send queue.
    pub(crate) depth: u32,
    /// All features.
    pub(crate) features: Features,
    /// The matrices of the global array.
    pub(crate) layout: Layout,
    /// Processes and threads of the stencil.
    pub(crate) layouts: Vec<(usize, usize)>,
    /// The grid of the stencil.
    pub(crate) grid: (usize, usize),
    /// Steps of a round of the stencil.
    pub(crate) steps: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            place: Place {
                server: None,
                device: None,
            },
            out: None,
            resources_only: false,
            threads: 16,
            rounds: 5,
            policies: Vec::new(),
            messages: 1_000_000,
            size: 2,
            depth: 128,
            features: Features {
                postlist: 32,
                unsignalled: 64,
                inlining: true,
                blueflame: true,
            },
            layout: Layout { tiles: 32, edge: 2 },
            layouts: Vec::new(),
            grid: (256, 512),
            steps: 100,
        }
    }
}

impl Options {
    /// Returns the policies that are asked for.
    pub(crate) fn policies(&self) -> Vec<&'static Policy> {
        if self.policies.is_empty() {
            POLICIES.iter().collect()
        } else {
            self.policies.clone()
        }
    }

    /// Returns the layouts that are asked for: by default those with one process for each thread
    /// down to one for all.
    pub(crate) fn layouts(&self) -> Vec<(usize, usize)> {
        if !self.layouts.is_empty() {
            return self.layouts.clone();
        }
        let threads = (0..)
            .map(|power| 1 << power)
            .take_while(|&threads| threads <= self.threads);
        threads
            .filter(|threads| self.threads.is_multiple_of(*threads))
            .map(|threads| (self.threads / threads, threads))
            .collect()
    }

    /// Takes an option, if it is one of these.
    fn take(&mut self, name: &str, parser: &mut Parser) -> Result<bool> {
        match name {
            "server" => self.place.server = Some(value(parser)?),
            "device" => self.place.device = Some(value(parser)?),
            "out" => self.out = Some(value(parser)?),
            "resources-only" => self.resources_only = true,
            "threads" => self.threads = positive(parser)?,
            "rounds" => self.rounds = positive(parser)?,
            "policy" => self.policies.push(named(&value::<String>(parser)?)?),
            "messages" => self.messages = positive(parser)?,
            "size" => self.size = positive(parser)?,
            "depth" => self.depth = positive(parser)?,
            "postlist" => self.features.postlist = positive(parser)?,
            "unsignalled" => self.features.unsignalled = positive(parser)?,
            "tiles" => self.layout.tiles = positive(parser)?,
            "edge" => self.layout.edge = positive(parser)?,
            "layout" => self.layouts.push(layout(&value::<String>(parser)?)?),
            "rows" => self.grid.0 = positive(parser)?,
            "columns" => self.grid.1 = positive(parser)?,
            "steps" => self.steps = positive(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check(&self) -> Result<()> {
        let Features {
            postlist,
            unsignalled,
            ..
        } = self.features;
        let depth = self.depth;
        if !depth.is_power_of_two() || !(16..=1 << 15).contains(&depth) {
            return Err(Error::Usage(format!(
                "--depth {depth} is no power of two from 16 to 32768"
            )));
        }
        if !depth.is_multiple_of(postlist)
            || !depth.is_multiple_of(unsignalled)
            || unsignalled >= depth
        {
            let what = format!(
                "--postlist {postlist} and --unsignalled {unsignalled} do not divide --depth {depth}"
            );
            return Err(Error::Usage(what));
        }
        Ok(())
    }
}

fn layout(text: &str) -> Result<(usize, usize)> {
    let parts = text
        .split_once('.')
        .and_then(|(p, t)| Some((p.parse().ok()?, t.parse().ok()?)));
    parts
        .filter(|&(p, t)| p > 0 && t > 0)
        .ok_or_else(|| Error::Usage(format!("--layout {text} is not like 4.4")))
}

fn value<T: FromStr>(parser: &mut Parser) -> Result<T>
where
    T::Err: Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
{
    parser
        .value()
        .and_then(|value| value.parse())
        .map_err(usage)
}

/// Returns a number above 0.
fn positive<T: FromStr + Default + PartialEq>(parser: &mut Parser) -> Result<T>
where
    T::Err: Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
{
    let number = value::<T>(parser)?;
    if number == T::default() {
        return Err(Error::Usage("0 is not enough".to_owned()));
    }
    Ok(number)
}

fn usage(error: lexopt::Error) -> Error {
    Error::Usage(error.to_string())
}

/// Parses the words of the command line.
pub(crate) fn parse(mut parser: Parser) -> Result<Command> {
    let verb = match parser.next().map_err(usage)? {
        Some(Short('h') | Long("help")) => return Ok(Command::Help),
        Some(Value(verb)) => verb.string().map_err(usage)?,
        Some(other) => return Err(usage(other.unexpected())),
        None => return Err(Error::Usage("nothing to do".to_owned())),
    };
    let mut options = Options::default();
    let mut values: Vec<String> = Vec::new();
    let mut port = PORT;
    while let Some(arg) = parser.next().map_err(usage)? {
        match arg {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("port") if verb == "serve" => port = positive(&mut parser)?,
            Long(name) => {
                let name = name.to_owned();
                if !options.take(&name, &mut parser)? {
                    return Err(usage(Long(&name).unexpected()));
                }
            }
            Value(word) => values.push(word.string().map_err(usage)?),
            other @ Short(_) => return Err(usage(other.unexpected())),
        }
    }
    options.check()?;
    let none = |values: &[String]| match values.first() {
        Some(word) => Err(Error::Usage(format!("unexpected argument {word}"))),
        None => Ok(()),
    };
    let files = |values: Vec<String>| match values.len() {
        0 => Err(Error::Usage("of which files?".to_owned())),
        _ => Ok(values.into_iter().map(PathBuf::from).collect()),
    };
    match verb.as_str() {
        "message-rate" => {
            let named = values
                .iter()
                .map(|name| Figure::named(name))
                .collect::<Result<Vec<_>>>()?;
            let figures = if named.is_empty() {
                FIGURES.to_vec()
            } else {
                named
            };
            Ok(Command::Bench(Bench::MessageRate(figures), options))
        }
        "global-array" => none(&values).map(|()| Command::Bench(Bench::GlobalArray, options)),
        "stencil" => none(&values).map(|()| Command::Bench(Bench::Stencil, options)),
        "account" => none(&values).map(|()| Command::Bench(Bench::Account, options)),
        "serve" => none(&values).map(|()| Command::Serve(port, options.place.device)),
        "member" => member(&values, options.place.device),
        "draw" => Ok(Command::Draw(
            files(values)?,
            options.out.unwrap_or_else(|| PathBuf::from(".")),
        )),
        "tables" => Ok(Command::Tables(files(values)?)),
        _ => Err(Error::Usage(format!("there is no {verb}"))),
    }
}

fn member(values: &[String], device: Option<String>) -> Result<Command> {
    if let [address, rank] = values
        && let (Ok(address), Ok(rank)) = (address.parse(), rank.parse())
    {
        return Ok(Command::Member(address, rank, device));
    }
    Err(Error::Usage(
        "processes of a benchmark are started by it".to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        parse(Parser::from_args(line.split_whitespace()))
    }

    #[test]
    fn words_become_commands() {
        let Ok(Command::Bench(Bench::MessageRate(figures), options)) =
            parsed("message-rate share-cq --threads 4 --unsignalled 1")
        else {
            panic!("no message rate");
        };
        assert_eq!((figures.len(), figures[0].name), (1, "share-cq"));
        assert_eq!((options.threads, options.features.unsignalled), (4, 1));
        let Ok(Command::Bench(Bench::Stencil, options)) =
            parsed("stencil --policy static --layout 2.8")
        else {
            panic!("no stencil");
        };
        assert_eq!(
            (options.policies().len(), options.layouts()),
            (1, vec![(2, 8)])
        );
        assert_eq!(
            Options::default().layouts(),
            [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)]
        );
        assert!(matches!(
            parsed("member 127.0.0.1:9 3"),
            Ok(Command::Member(_, 3, None))
        ));
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "",
            "fly",
            "message-rate nothing",
            "message-rate --depth 100",
            "message-rate --postlist 5",
            "global-array --rounds 0",
            "stencil --layout 4",
            "stencil more",
            "draw",
            "account --fast",
            "member here 0",
        ] {
            assert!(matches!(parsed(line), Err(Error::Usage(_))), "{line}");
        }
    }
}
