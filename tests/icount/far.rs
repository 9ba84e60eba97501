//! Counts the calls of far.c: to a PE on another node, over the software device, with each policy of
//! its lanes, and over the system's libfabric; and, in the same way and over the same device, the
//! puts of verbs and of UCX.

use crate::Tools;
use crate::cases::{Counted, OPTIONS, Program, UNCOUNTED, compile, count, count_compiled, in_line};
use crate::instructions::Disassembly;
use crate::table::LIBFABRIC;
use farreach_icount::callgrind::Profiles;
use farreach_icount::layer::Layer;
use std::path::Path;

/// Each transport: oshrun's word, UCX's, and the name of the target.
const TRANSPORTS: [(&str, &str, &str); 2] = [("rc", "rc_mlx5", "RC"), ("dc", "dc_mlx5", "DC")];

/// Settings that differ from the defaults.
struct Setting {
    /// The suffix of the names of routines.
    label: &'static str,
    /// Variables of the job.
    environment: &'static [(&'static str, &'static str)],
    /// The thread level, and which cases: arguments of far.c.
    arguments: [&'static str; 2],
}

const fn policy(label: &'static str, lanes: &'static [(&'static str, &'static str)]) -> Setting {
    Setting {
        label,
        environment: lanes,
        arguments: ["single", "posts"],
    }
}

const fn threads(label: &'static str, lanes: &'static [(&'static str, &'static str)]) -> Setting {
    Setting {
        label,
        environment: lanes,
        arguments: ["multiple", "posts"],
    }
}

/// The default policy with all cases, the others with those that post.
const SETTINGS: [Setting; 11] = [
    Setting {
        label: "",
        environment: &[],
        arguments: ["single", "all"],
    },
    Setting {
        label: ", shared CQ",
        environment: &[("FARREACH_COMPLETIONS", "shared")],
        arguments: ["single", "all"],
    },
    policy(", mpi-everywhere", &[("FARREACH_LANES", "mpi-everywhere")]),
    policy(", 2x-dynamic", &[("FARREACH_LANES", "2x-dynamic")]),
    policy(", shared-dynamic", &[("FARREACH_LANES", "shared-dynamic")]),
    policy(", static", &[("FARREACH_LANES", "static")]),
    policy(", mpi+threads", &[("FARREACH_LANES", "mpi+threads")]),
    threads(", threads", &[]),
    threads(
        ", mpi-everywhere, threads",
        &[("FARREACH_LANES", "mpi-everywhere")],
    ),
    threads(", static, threads", &[("FARREACH_LANES", "static")]),
    threads(
        ", mpi+threads, threads",
        &[("FARREACH_LANES", "mpi+threads")],
    ),
];

/// Returns the labels of all settings; that of the defaults is empty.
pub(crate) fn labels() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.label)
}

/// Counts the calls of far.c, in `folder`: each PE on a pretended node of its own, over each transport, which takes the place
/// of the target, in each setting.
pub(crate) fn far(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut counted = Counted::default();
    let options = format!("{OPTIONS} {UNCOUNTED}");
    // One program for all settings.
    let built = Profiles::new()?;
    let mut executable = None;
    for setting in &SETTINGS {
        for (transport, _, target) in TRANSPORTS {
            let words = [
                "-n",
                "2",
                "--ppn",
                "1",
                "--fabric",
                "softhca",
                "--transport",
            ];
            let mut launcher = vec![tools.oshrun.clone().into()];
            launcher.extend(words.map(Into::into));
            launcher.push(transport.into());
            let program = Program {
                compiler: &tools.oshcc,
                flags: tools.oshcc_flags.clone(),
                source: folder.join("far.c"),
                libraries: &[],
                launcher,
                environment: setting.environment.to_vec(),
                arguments: &setting.arguments,
                options: &options,
            };
            let executable = match &executable {
                Some(executable) => executable,
                None => executable.insert(compile(&program, &built)?),
            };
            let one = count_compiled(&program, executable, disassembly)?;
            let label = setting.label;
            counted.extend(
                one.renamed(|(routine, _)| (format!("{routine}{label}"), target.to_owned())),
            );
        }
    }
    if let Some(executable) = &executable {
        disassembly.forget(executable);
    }
    for (transport, _, target) in TRANSPORTS {
        let words = [
            "--ppn",
            "1",
            "--fabric",
            "softhca",
            "--transport",
            transport,
        ];
        let one = in_line(tools, folder, &words, disassembly)?;
        counted.extend(one.renamed(|(routine, _)| (routine, target.to_owned())));
    }
    Ok(counted)
}

/// Counts the calls of far.c over a provider of the system's libfabric, in `folder`: without the
/// provider's own part.
pub(crate) fn libfabric(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let mut launcher = vec![tools.oshrun.clone().into()];
    let words = ["-n", "2", "--ppn", "1", "--fabric", "libfabric"];
    launcher.extend(words.map(Into::into));
    let program = Program {
        compiler: &tools.oshcc,
        flags: tools.oshcc_flags.clone(),
        source: folder.join("far.c"),
        libraries: &[],
        launcher,
        environment: vec![
            ("FARREACH_LIBFABRIC_PROVIDER", LIBFABRIC),
            // The other thread never takes the lock while is counted.
            ("FARREACH_LIBFABRIC_LEAVE", "5000000"),
        ],
        arguments: &["single", "libfabric"],
        options: &format!("{OPTIONS} {UNCOUNTED}"),
    };
    let mut counted = count(&program, disassembly)
        .map_err(|error| format!("over libfabric, which needs the package libfabric1: {error}"))?;
    for (call, layers) in &mut counted.layers {
        let others = layers.remove(&Layer::Misc).unwrap_or(0.0);
        if let Some(count) = counted.counts.get_mut(call) {
            *count -= others;
        }
    }
    Ok(counted.renamed(|(routine, _)| (routine, LIBFABRIC.to_owned())))
}

/// Counts a put by verbs and by UCX, with the programs of `folder`.
pub(crate) fn beside(
    tools: &Tools,
    folder: &Path,
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let verbs = ["-libverbs", "-lmlx5", "-ldl"];
    let ucx = ["-luct", "-lucs", "-ldl"];
    let mut counted = one_beside(tools, folder, "beside_verbs.c", &verbs, &[], disassembly)?;
    for (_, transport, target) in TRANSPORTS {
        let arguments = [transport, target];
        let one = one_beside(tools, folder, "beside_uct.c", &ucx, &arguments, disassembly)?;
        counted.extend(one);
    }
    Ok(counted)
}

fn one_beside(
    tools: &Tools,
    folder: &Path,
    source: &str,
    libraries: &[&str],
    arguments: &[&str],
    disassembly: &mut Disassembly,
) -> Result<Counted, String> {
    let side = folder.join("../../fi-provider/softhca/tests/c");
    let program = Program {
        compiler: Path::new("cc"),
        flags: vec!["-std=gnu11".into(), "-I".into(), side.into()],
        source: folder.join(source),
        libraries,
        launcher: vec![tools.softhca.clone().into(), "run".into(), "--".into()],
        environment: Vec::new(),
        arguments,
        options: &format!("{OPTIONS} {UNCOUNTED}"),
    };
    count(&program, disassembly).map_err(|error| {
        format!("{source}, which needs the packages libibverbs-dev and libucx-dev: {error}")
    })
}
