//! `farreach info`: the networks between nodes, the device, and what lanes take of it.

use crate::arguments::Options;
use crate::network::Networks;
use fi_provider::device::{self, Completions, Features, Regime, Survey};
use std::fmt::Write as _;

/// The columns of the table behind the policy's name.
const COLUMNS: [&str; 9] = [
    "contexts", "QPs", "CQs", "UARs", "uUARs", "used", "bytes", "short", "shared",
];

/// The same for programs; the account's own names.
const WORDS: [&str; 9] = [
    "contexts",
    "queue_pairs",
    "completion_queues",
    "uars",
    "uuars",
    "used_uuars",
    "bytes",
    "short",
    "shared",
];

/// The output; an error where there is no network between nodes, or no device for the table alone.
pub(crate) fn tell(options: &Options) -> Result<String, String> {
    if options.tsv {
        let surveys = surveys(options).map_err(|error| error.to_string())?;
        return Ok(table_for_programs(options, &surveys));
    }
    // Before libfabric is asked: its providers keep the device open, and some of what it has.
    let surveys = surveys(options);
    let networks = Networks::find();
    if !networks.is_any() {
        let list = networks.text();
        return Err(format!("no network between nodes can be used\n\n{list}"));
    }
    let of_lanes = match surveys {
        Ok(surveys) => text(options, &surveys),
        Err(error) => format!("lanes     are an mlx5 device's: {error}\n"),
    };
    Ok(format!("{}\n{of_lanes}", networks.text()))
}

/// Makes the lanes of each policy.
fn surveys(options: &Options) -> Result<Vec<Survey>, device::Error> {
    let mut surveys = Vec::new();
    for policy in &options.policies {
        surveys.push(device::survey(policy, options.completions, options.lanes)?);
    }
    Ok(surveys)
}

/// The numbers of a row.
fn row(survey: &Survey) -> [u64; 9] {
    let report = &survey.report;
    let account = &report.account;
    [
        account.contexts.into(),
        account.queue_pairs.into(),
        account.completion_queues.into(),
        account.uars.into(),
        account.uuars.into(),
        account.used_uuars.into(),
        account.bytes,
        report.short.into(),
        report.shared.into(),
    ]
}

fn table_for_programs(options: &Options, surveys: &[Survey]) -> String {
    let mut text = format!("policy\tlanes\tcompletions\tregime\t{}\n", WORDS.join("\t"));
    for survey in surveys {
        let report = &survey.report;
        let numbers = row(survey).map(|number| number.to_string()).join("\t");
        let (policy, regime) = (report.policy.name, report.regime.name());
        let (lanes, completions) = (options.lanes, options.completions.name());
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{policy}\t{lanes}\t{completions}\t{regime}\t{numbers}"
        );
    }
    text
}

fn text(options: &Options, surveys: &[Survey]) -> String {
    let mut text = String::new();
    if let Some(first) = surveys.first() {
        text += &of_device(first);
    }
    let completions = match options.completions {
        Completions::Own => "a completion queue each",
        Completions::Shared => "completion queues shared by those of a context",
    };
    let lanes = options.lanes;
    let _ = writeln!(
        text,
        "\n{lanes} lanes of a queue pair each, {completions}:\n"
    );
    let _ = write!(text, "{:<16}", "policy");
    for column in COLUMNS {
        let _ = write!(text, "{column:>10}");
    }
    text.push('\n');
    for survey in surveys {
        let _ = write!(text, "{:<16}", survey.report.policy.name);
        for number in row(survey) {
            let _ = write!(text, "{number:>10}");
        }
        text.push('\n');
    }
    for survey in surveys {
        text += &of_want(survey);
    }
    text
}

/// The device in words.
fn of_device(survey: &Survey) -> String {
    let Features {
        port,
        lid,
        mtu,
        max_message,
        max_read_atomic,
        max_completions,
        ..
    } = survey.features;
    format!(
        "device    {}, port {port}: InfiniBand, LID {lid}, packets of {mtu} bytes, messages of {max_message}\n\
         features  {}\n\
         queues    {max_read_atomic} reads and atomics under way on each, {max_completions} completion entries at most\n\
         registers {}\n",
        survey.device,
        of_features(&survey.features),
        match survey.report.regime {
            Regime::Library => "by libmlx5, on pages that it asks for as they are needed",
            Regime::Legacy =>
                "by the kernel, on pages that each context has from the beginning (legacy)",
        }
    )
}

fn of_features(features: &Features) -> String {
    let words = [
        (features.dc, "dynamic connections (DC)"),
        (features.host_endian_atomics, "atomics of 8 bytes"),
        (features.masked_atomics_4, "masked atomics of 4 bytes"),
        (features.masked_atomics_8, "masked atomics of 8 bytes"),
    ];
    let says = |(has, what): (bool, &str)| {
        if has {
            what.to_owned()
        } else {
            format!("no {what}")
        }
    };
    words.map(says).join(", ")
}

/// The resources that lanes of a policy had to do without.
fn of_want(survey: &Survey) -> String {
    let report = &survey.report;
    let (name, short, shared) = (report.policy.name, report.short, report.shared);
    if short + shared == 0 {
        return String::new();
    }
    let why = report.reason.as_deref().unwrap_or("the device has no more");
    format!(
        "\n{name}: {short} lanes have less than the policy says, {shared} more had to share the first one ({why})\n"
    )
}
