//! A system of all that was measured, given, traced and fitted.

use crate::clock::{self, Clock};
use crate::fit::{self, Seen, fit};
use crate::high::{High, WINDOW};
use crate::low::{Low, PERIOD, Post};
use crate::samples::Samples;
use crate::trace::{Found, Trace};
use crate::{Error, LEAST_SAMPLES, Plan};
use fi_perfmodel::{Component as C, Entry, Ns, Source, System, Total};

/// Times that the user gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given {
    /// PCIe.
    pub pcie: Option<Ns>,
    /// Wire.
    pub wire: Option<Ns>,
    /// Switch.
    pub switch: Option<Ns>,
    /// RC-to-MEM(8B).
    pub memory: Option<Ns>,
    /// RC-to-MEM(64B).
    pub memory_64: Option<Ns>,
}

/// Traces, with the names of their files.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Trace of the system.
    pub whole: Option<(String, Trace)>,
    /// Trace of the same system without the switch.
    pub without_switch: Option<(String, Trace)>,
}

/// The results of a measurement.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The system.
    pub system: System,
    /// The times between posts of the benchmark of injection, and where they come from.
    pub gaps: (Samples, String),
    /// The timer.
    pub clock: Clock,
    /// Sentences for the user: components that could not be measured, cautions.
    pub notes: Vec<String>,
}

/// Parts of the result, put together here.
struct Work {
    system: System,
    given: Given,
    notes: Vec<String>,
}

/// Measures everything on the device of this name, or the first one.
///
/// # Errors
/// [`Error`].
pub fn measure(
    device: Option<&str>,
    plan: Plan,
    given: Given,
    traces: &Traces,
) -> Result<Measured, Error> {
    let clock = Clock::calibrate(plan.samples.max(1000))?;
    let mut low = Low::open(device, &clock, plan)?;
    let mut work = Work {
        system: System::unknown(&name(low.device()), "it is not measured"),
        given,
        notes: Vec::new(),
    };
    "program".clone_into(&mut work.system.upper);
    "fabric".clone_into(&mut work.system.lower);
    let post = low.post()?;
    let poll = low.progress()?;
    work.software(&mut low, &post, &poll)?;
    let (rates, gaps) = low.injection()?;
    // Times through the device, in which waits lie.
    let through = |samples: &Samples, how: &str| {
        Entry::known(
            samples.floor(),
            samples.floor_source(&format!("{how}, {}", clock::NAME)),
        )
    };
    let observe = |samples: &Samples, how: &str| {
        Entry::known(
            samples.mean(),
            samples.source(&format!("{how}, {}", clock::NAME)),
        )
    };
    let how = format!("posts in line, one completion for {PERIOD}, waits left out");
    work.system
        .observe(Total::InjectionLow, observe(&rates, &how));
    let latency = low.latency()?;
    let how = "message of 8 bytes there and back, halved";
    work.system
        .observe(Total::LatencyLow, through(&latency, how));
    let seen = Seen {
        inline: low.completion(false)?.floor(),
        read: low.completion(true)?.floor(),
        latency: latency.floor(),
        post: post.whole.mean(),
        poll: poll.mean(),
    };
    let found = work.found(traces);
    work.hardware(&seen, &found, plan.samples);
    drop(low);
    let mut high = High::open(&clock, plan)?;
    work.fabric(&mut high, &post, &poll)?;
    let how = format!("windows of {WINDOW} writes of the fabric, waits left out");
    work.system
        .observe(Total::Injection, observe(&high.injection()?, &how));
    let how = "message of the fabric there and back, halved";
    work.system
        .observe(Total::Latency, through(&high.latency()?, how));
    work.notes.extend(of_software());
    let gaps = match found.whole {
        Some((file, found)) if found.gaps.len() >= LEAST_SAMPLES => {
            (found.gaps, format!("posts in the trace {file}"))
        }
        _ => (
            gaps,
            format!(
                "time stamps behind posts, {} with the time of a stamp",
                clock::NAME
            ),
        ),
    };
    Ok(Measured {
        system: work.system,
        gaps,
        clock,
        notes: work.notes,
    })
}

/// Runs one benchmark of the driver, for a caller that records its transactions. Returns the time
/// of a message.
///
/// # Errors
/// [`Error`].
pub fn run_alone(device: Option<&str>, plan: Plan, total: Total) -> Result<Samples, Error> {
    let clock = Clock::calibrate(1000)?;
    let mut low = Low::open(device, &clock, plan)?;
    match total {
        Total::InjectionLow | Total::Injection => low.injection().map(|(rates, _)| rates),
        Total::LatencyLow | Total::Latency => low.latency(),
    }
}

/// The times of the traces that are there, with the files' names.
#[derive(Default)]
struct FoundIn {
    whole: Option<(String, Found)>,
    without_switch: Option<(String, Found)>,
}

impl Work {
    /// Puts a time that is the rest of one; less than nothing is none.
    fn put_rest(&mut self, component: C, rest: Ns, how: String) {
        if rest.0 < 0.0 {
            self.notes.push(format!(
                "{} came out at {rest}, less than nothing, and is taken for 0: {how}.",
                component.key()
            ));
        }
        let time = Ns(rest.0.max(0.0));
        self.system.put(component, time, Source::Derived(how));
    }

    /// Puts the times of the driver.
    fn software(&mut self, low: &mut Low, post: &Post, poll: &Samples) -> Result<(), Error> {
        let timer = clock::NAME;
        let whole = post.whole.mean();
        let parts = post.descriptor.mean() + post.record.mean();
        let how = post.whole.source(&format!("posts in a row, {timer}"));
        if parts < whole {
            let source = |samples: &Samples, what: &str| {
                samples.source(&format!("{what}, again and again without a post, {timer}"))
            };
            let descriptor = source(&post.descriptor, "the driver's descriptor");
            self.system
                .put(C::MdSetup, post.descriptor.mean(), descriptor);
            let record = source(&post.record, "the driver's doorbell record and barriers");
            self.system
                .put(C::DoorbellBarrier, post.record.mean(), record);
            let rest = format!("LLP_post of {whole} ({how}) less descriptor and record");
            self.put_rest(C::PioCopy, whole - parts, rest);
        } else {
            self.system.put(C::PioCopy, whole, how);
            let reason = "done again and again it takes longer than in a post";
            for component in [C::MdSetup, C::DoorbellBarrier] {
                let within = Entry::Within(C::PioCopy, reason.to_owned());
                self.system.set(component, within);
            }
        }
        let reason = "the copy cannot be done without a post, so the rest of a post is in it";
        self.system
            .set(C::PostMisc, Entry::Within(C::PioCopy, reason.to_owned()));
        if cfg!(target_arch = "x86_64") {
            let how = "x86-64 keeps stores in order without an instruction".to_owned();
            self.system.put(C::MdBarrier, Ns(0.0), Source::Derived(how));
        } else {
            let reason = "it is timed with the record".to_owned();
            self.system
                .set(C::MdBarrier, Entry::Within(C::DoorbellBarrier, reason));
        }
        let mut put = |component, samples: &Samples, how: &str| {
            let source = samples.source(&format!("{how}, {timer}"));
            self.system
                .put(component, Ns(samples.mean().0.max(0.0)), source);
        };
        put(C::LlpProg, poll, "polls that take a completion each");
        let busy = low.busy_post()?;
        put(C::BusyPost, &busy, "posts that find no room");
        let update = low.measurement_update()?;
        put(C::MeasurementUpdate, &update, "time stamps stored");
        self.system.low_period = PERIOD;
        Ok(())
    }

    /// Takes the times of the traces. Components with too few of them are left out.
    fn found(&mut self, traces: &Traces) -> FoundIn {
        let mut times = |trace: &Option<(String, Trace)>| {
            let (file, trace) = trace.as_ref()?;
            let found = trace.times();
            for (what, samples) in [
                ("writes with their acknowledgements", &found.pcie),
                ("posts with their completions", &found.network),
                ("messages with their answers", &found.turn),
            ] {
                if samples.len() < LEAST_SAMPLES {
                    self.notes.push(format!(
                        "The trace {file} has {} {what}, and {LEAST_SAMPLES} are needed: they are \
                         not used.",
                        samples.len()
                    ));
                }
            }
            Some((file.clone(), found))
        };
        FoundIn {
            whole: times(&traces.whole),
            without_switch: times(&traces.without_switch),
        }
    }

    /// Puts PCIe, wire, switch and RC-to-MEM: as given, else from a trace, else fitted.
    fn hardware(&mut self, seen: &Seen, found: &FoundIn, samples: usize) {
        let of_trace = |found: &Option<(String, Found)>, of: fn(&Found) -> &Samples, how: &str| {
            let (file, found) = found.as_ref()?;
            let samples = of(found);
            let spread = samples.spread();
            let how = format!(
                "{how}; mean of the lowest tenth, spread {spread}, {} samples",
                samples.len()
            );
            let file = file.clone();
            (samples.len() >= LEAST_SAMPLES).then(|| (samples.floor(), Source::Trace { file, how }))
        };
        let given = |time: Option<Ns>| time.map(|time| (time, Source::Given));
        let fitted = |what: &str| {
            Source::Fitted(format!(
                "{what}, means of the lowest tenths of {samples} samples; {}",
                fit::ASSUMPTIONS
            ))
        };
        let how = "write to acknowledgement, halved";
        let pcie =
            given(self.given.pcie).or_else(|| of_trace(&found.whole, |found| &found.pcie, how));
        let how = "post to completion, halved";
        let network = of_trace(&found.whole, |found| &found.network, how);
        let both = self.given.wire.zip(self.given.switch);
        let known = both
            .map(|(wire, switch)| wire + switch)
            .or_else(|| network.as_ref().map(|(time, _)| *time));
        let fit = fit(seen, pcie.as_ref().map(|(time, _)| *time), known);
        let pcie = pcie.unwrap_or_else(|| {
            let what = "writes of bytes that the device reads less those in the entry, halved";
            (fit.pcie, fitted(what))
        });
        let pcie_time = pcie.0;
        self.system.put(C::Pcie, pcie.0, pcie.1);
        let network = network.unwrap_or_else(|| {
            let what = "write to its completion less half of a message there and back";
            (fit.network, fitted(what))
        });
        let wire_alone = of_trace(&found.without_switch, |found| &found.network, how);
        self.network(network, wire_alone);
        let software = seen.post + seen.poll;
        let how = "pong to ping, less 2 PCIe, LLP_prog and LLP_post";
        let turn = of_trace(&found.whole, |found| &found.turn, how)
            .map(|(time, source)| (time - pcie_time * 2.0 - software, source));
        let memory = given(self.given.memory).or(turn).unwrap_or_else(|| {
            let what = "half of a message there and back, less all else";
            self.notes.push(
                "RC-to-MEM is fitted so that the low-level latency is what is observed: that the two \
                 agree shows nothing."
                    .to_owned(),
            );
            (fit.memory, fitted(what))
        });
        self.system
            .put(C::RcToMem8, Ns(memory.0.0.max(0.0)), memory.1);
        match self.given.memory_64 {
            Some(time) => self.system.put(C::RcToMem64, time, Source::Given),
            None => self.system.set(
                C::RcToMem64,
                Entry::Unknown(
                    "neither a trace nor a round trip tells it from that of 8 bytes; --rc-to-mem-64 \
                     gives it"
                        .to_owned(),
                ),
            ),
        }
    }

    /// Puts wire and switch, of which the whole is known, and the wire where a trace has it alone.
    fn network(&mut self, (whole, source): (Ns, Source), wire_alone: Option<(Ns, Source)>) {
        let rest = |of: &str, other: &str| format!("{of} of {whole} ({source}) less the {other}");
        match (self.given.wire, self.given.switch, wire_alone) {
            (Some(wire), Some(switch), _) => {
                self.system.put(C::Wire, wire, Source::Given);
                self.system.put(C::Switch, switch, Source::Given);
            }
            (Some(wire), None, _) => {
                self.system.put(C::Wire, wire, Source::Given);
                self.put_rest(C::Switch, whole - wire, rest("network", "wire"));
            }
            (None, Some(switch), _) => {
                self.system.put(C::Switch, switch, Source::Given);
                self.put_rest(C::Wire, whole - switch, rest("network", "switch"));
            }
            (None, None, Some((wire, without))) => {
                let how = format!("network of {whole} ({source}) less that of {without}");
                self.put_rest(C::Switch, whole - wire, how);
                self.system.put(C::Wire, wire, without);
            }
            (None, None, None) => {
                self.system.put(C::Wire, whole, source);
                let reason = "one way through the network is not told apart: --switch, or a trace \
                              without the switch (--trace-without-switch), does";
                self.system
                    .set(C::Switch, Entry::Within(C::Wire, reason.to_owned()));
            }
        }
    }

    /// Puts the times of the fabric, which is all of the HLP.
    fn fabric(&mut self, high: &mut High, post: &Post, poll: &Samples) -> Result<(), Error> {
        let timer = clock::NAME;
        let none = "the program calls the fabric: there is no layer above it";
        for component in [
            C::PostUpper,
            C::CallbackUpper,
            C::AfterProgress,
            C::WaitUpper,
        ] {
            let source = Source::Derived(none.to_owned());
            self.system.put(component, Ns(0.0), source);
        }
        let (posts, progress) = high.sending()?;
        let how = posts.source(&format!(
            "writes of 8 bytes in windows of {WINDOW}, {timer}"
        ));
        let rest = format!("{} ({how}) less LLP_post", posts.mean());
        self.put_rest(C::PostLower, posts.mean() - post.whole.mean(), rest);
        let period = WINDOW as u32;
        self.system.period = Entry::known(
            period,
            Source::Derived("a window of writes is progressed at a time".to_owned()),
        );
        let how = progress.source(&format!("progress of windows, for one write, {timer}"));
        let rest = format!("{} ({how}) less LLP_prog/{period}", progress.mean());
        let time = progress.mean() - poll.mean() / f64::from(period);
        self.put_rest(C::TxProg, time, rest);
        let how = "a window fits the queue: no post is busy".to_owned();
        self.system.put(C::BusyPosts, Ns(0.0), Source::Derived(how));
        let received = high.receiving()?;
        let how = received.source(&format!("progress and entry of one message, {timer}"));
        let rest = format!("{} ({how}) less LLP_prog", received.mean());
        let time = received.mean() - poll.mean();
        self.put_rest(C::CallbackLower, time, rest.clone());
        self.put_rest(C::WaitLower, time, rest);
        Ok(())
    }
}

/// Names the device and the machine that programs run on.
fn name(device: &str) -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let processor = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!(
        "{device}, {processor}, farreach {}",
        env!("CARGO_PKG_VERSION")
    )
}

/// Cautions about a device in software.
fn of_software() -> Option<String> {
    std::env::var_os("FARREACH_SOFTHCA").map(|_| {
        "The device is a software one (softhca): but for the delays that it was told, its times say \
         nothing of hardware. Progress that finds nothing asks it to act, which is part of \
         HLP_tx_prog unless it runs with --no-hook."
            .to_owned()
    })
}
