//! The paper's numbers, and what becomes of systems of which less is known.

use crate::figures::{self, Bar};
use crate::whatif::{self, Amount, Change, Group};
use crate::{Component as C, Entry, Ns, Source, System, Total, polling};

/// Checks that `value` is `expected` to two decimals.
#[track_caller]
fn close(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 0.005 + 1e-9,
        "{value}, {expected}"
    );
}

/// Returns by how much a modelled value is off an observed one, in percent of the latter.
fn off(modelled: f64, observed: f64) -> f64 {
    (modelled - observed).abs() / observed * 100.0
}

fn value(total: Total) -> f64 {
    total.value(&System::paper()).expect("all is known").0
}

/// Returns the speed-up of a total in percent.
fn speedup(key: &str, amount: &str, total: Total) -> f64 {
    let paper = System::paper();
    let change = Change {
        group: Group::named(key).expect(key),
        amount: Amount::parse(amount).expect(amount),
    };
    let after = whatif::apply(&paper, &[change]).expect("all is known");
    let effect = whatif::effect(&paper, &after, total).expect("all is known");
    effect.speedup()
}

/// Returns the bar of a figure.
fn bar(number: u8, at: usize) -> Bar {
    let figures = figures::all(&System::paper());
    let figure = figures.iter().find(|figure| figure.number == number);
    figure.expect("the figure").bars[at].clone().expect("known")
}

/// Returns a share of a bar in percent.
fn share(number: u8, at: usize, name: &str) -> f64 {
    let bar = bar(number, at);
    let part = bar.parts.iter().find(|part| part.name == name);
    part.unwrap_or_else(|| panic!("{name} in {bar:?}")).percent
}

#[test]
fn totals_of_the_paper() {
    for (total, expected, observed, within) in [
        (Total::InjectionLow, 295.73, 282.33, 5.0),
        (Total::LatencyLow, 1135.8, 1190.25, 5.0),
        (Total::Injection, 264.97, 263.91, 1.0),
        (Total::Latency, 1387.02, 1336.0, 4.0),
    ] {
        let modelled = value(total);
        close(modelled, expected);
        assert!(off(modelled, observed) < within, "{total:?}");
        let paper = System::paper();
        let Entry::Known { value, .. } = paper.observed(total) else {
            panic!("{total:?} is observed");
        };
        assert_eq!(value.0, observed);
    }
}

#[test]
fn progress_above_the_driver_is_what_the_driver_leaves() {
    let paper = System::paper();
    let Entry::Known { value, .. } = paper.entry(C::TxProg) else {
        panic!("it is known");
    };
    close(value.0, 59.82 - 61.63 / 64.0);
    close(bar(12, 0).parts[1].time.0, 59.82);
    close(bar(13, 0).parts[8].time.0, 224.66);
}

#[test]
fn speedups_of_the_paper() {
    // I/O halved: over 15 %.
    close(speedup("io", "-50%", Total::Latency), 18.60);
    // PIO at 15 ns: over 25 and over 5 %.
    close(speedup("pio", "15ns", Total::Injection), 29.91);
    close(speedup("pio", "15ns", Total::Latency), 5.71);
    // The switch: at 70 %, and at 30 ns.
    close(speedup("switch", "-70%", Total::Latency), 5.45);
    close(speedup("switch", "30ns", Total::Latency), 5.62);
    // A fifth off the HLP (6.44 %), and off the LLP (13.33 %).
    close(speedup("hlp", "-20%", Total::Injection), 6.45);
    close(speedup("llp", "-20%", Total::Injection), 13.31);
    // End to end both are under 5 %.
    close(speedup("hlp", "-20%", Total::Latency), 3.62);
    close(speedup("llp", "-20%", Total::Latency), 3.42);
}

#[test]
fn shares_in_the_text_of_the_paper() {
    let tenth = |value: f64, expected: f64| {
        assert!(
            (value - expected).abs() <= 0.05 + 1e-9,
            "{value}, {expected}"
        );
    };
    tenth(share(4, 0, "PIO copy (64 bytes)"), 53.7);
    tenth(share(12, 0, "Post"), 76.2);
    tenth(share(15, 0, "Network"), 27.6);
    tenth(share(16, 0, "Target"), 66.2);
    close(
        figures::receive_over_send(&System::paper()).expect("known"),
        4.79,
    );
}

/// Compares the paper's own statements with the results of its numbers (docs/model.md names these).
#[test]
fn numbers_of_the_paper_that_do_not_add_up() {
    close(bar(8, 0).parts[2].time.0, 58.68);
    // The constituents of I/O are not within 4 % of each other; those of the CPU are.
    close(share(15, 2, "RC-to-MEM(8B)"), 46.70);
    close(share(15, 2, "PCIe"), 53.30);
    assert!((share(15, 1, "LLP") - share(15, 1, "HLP")).abs() < 4.0);
    // The observed latency less half a measurement update.
    close(1215.0 - 49.69 / 2.0, 1190.155);
}

#[test]
fn the_bound_on_polling_says_what_it_assumes() {
    let mut system = System::paper();
    let bound = polling(&system).expect("known");
    assert_eq!((bound.posts, bound.assumes_8_bytes), (8, true));
    close(bound.gen_completion.0, 2.0 * (137.49 + 382.81) + 240.96);
    system.put(C::RcToMem64, Ns(600.0), Source::Given);
    let bound = polling(&system).expect("known");
    assert_eq!((bound.posts, bound.assumes_8_bytes), (10, false));
}

#[test]
fn breakdowns_are_whole() {
    let figures = figures::all(&System::paper());
    let numbers: Vec<u8> = figures.iter().map(|figure| figure.number).collect();
    assert_eq!(numbers, [4, 8, 10, 11, 12, 13, 14, 15, 16]);
    for figure in &figures {
        for bar in &figure.bars {
            let bar = bar.as_ref().expect("known");
            let percent: f64 = bar.parts.iter().map(|part| part.percent).sum();
            let time: Ns = bar.parts.iter().map(|part| part.time).sum();
            close(percent, 100.0);
            close(time.0, bar.total.0);
        }
    }
    close(bar(4, 0).total.0, 175.42);
    close(bar(8, 0).total.0, value(Total::InjectionLow));
    close(bar(10, 0).total.0, value(Total::LatencyLow));
    close(bar(11, 0).total.0, 26.56);
    close(bar(11, 1).total.0, 443.8);
    close(bar(12, 0).total.0, value(Total::Injection));
    for number in [13, 15] {
        close(bar(number, 0).total.0, value(Total::Latency));
    }
    close(bar(16, 0).total.0, value(Total::Latency) - 382.81);
}

#[test]
fn curves_are_straight_and_named_as_in_the_figure() {
    let panels = whatif::curves(&System::paper());
    let letters: String = panels.iter().map(|panel| panel.letter).collect();
    assert_eq!(letters, "abcd");
    for panel in &panels {
        for line in &panel.lines {
            let points = line.speedups.as_ref().expect("known");
            for (point, reduction) in points.iter().zip(whatif::REDUCTIONS) {
                let straight = points[0] / 10.0 * f64::from(reduction);
                assert!((point - straight).abs() < 1e-9, "{line:?}");
            }
        }
        // A part of a group gains less than all of it.
        let first = |at: usize| panel.lines[at].speedups.as_ref().expect("known")[4];
        if panel.letter != 'd' {
            assert!(first(0) > first(2), "{panel:?}");
        }
    }
    let of_switch = panels[3].lines[1].speedups.as_ref().expect("known");
    close(of_switch[3], 5.45);
}

#[test]
fn changes_follow_each_other() {
    let paper = System::paper();
    let change = |key, text| Change {
        group: Group::named(key).expect(key),
        amount: Amount::parse(text).expect(text),
    };
    let after = whatif::apply(&paper, &[change("pio", "15ns"), change("llp-post", "-50%")]);
    let after = after.expect("known");
    let post: f64 = C::LLP_POST
        .iter()
        .map(|&part| match after.entry(part) {
            Entry::Known { value, .. } => value.0,
            other => panic!("{other:?}"),
        })
        .sum();
    close(post, (175.42 - 94.25 + 15.0) / 2.0);
    let after = whatif::apply(&paper, &[change("network", "100ns")]).expect("known");
    close(
        Total::Latency.value(&after).expect("known").0,
        1387.02 - 382.81 + 100.0,
    );
    let refused = whatif::apply(&paper, &[change("hlp", "100ns")]).expect_err("ambiguous");
    assert!(refused.contains("change it by percent"), "{refused}");
    for (text, part) in [
        ("15", "neither a time"),
        ("20%", "has no sign"),
        ("-120%", "less than no time"),
        ("-x%", "no change in percent"),
        ("-3ns", "neither a time"),
        ("nanns", "neither a time"),
    ] {
        let message = Amount::parse(text).expect_err(text);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_result_says_which_component_is_missing() {
    let mut system = System::paper();
    system.set(C::Switch, Entry::Unknown("no second trace".to_owned()));
    let missing = Total::Latency.value(&system).expect_err("it is not known");
    assert_eq!(missing.to_string(), "needs switch (no second trace)");
    assert!(Total::Injection.value(&system).is_ok());
    let panels = whatif::curves(&system);
    assert!(panels[0].lines.iter().all(|line| line.speedups.is_ok()));
    assert!(panels[1].lines.iter().all(|line| line.speedups.is_err()));
    system.period = Entry::Unknown("not counted".to_owned());
    let missing = Total::Injection.value(&system).expect_err("no period");
    assert_eq!(missing.to_string(), "needs unsignaled_period (not counted)");
}

#[test]
fn a_part_within_another_counts_there() {
    let mut system = System::paper();
    system.put(C::Wire, Ns(382.81), Source::Given);
    system.set(C::Switch, Entry::Within(C::Wire, "one trace".to_owned()));
    close(Total::Latency.value(&system).expect("known").0, 1387.02);
    let change = |key| Change {
        group: Group::named(key).expect(key),
        amount: Amount::By(-50.0),
    };
    let refused = whatif::apply(&system, &[change("switch")]).expect_err("not apart");
    assert!(refused.contains("switch (one trace)"), "{refused}");
    let halved = whatif::apply(&system, &[change("network")]).expect("known");
    close(
        Total::Latency.value(&halved).expect("known").0,
        1387.02 - 382.81 / 2.0,
    );
    let figures = figures::all(&system);
    let network = figures[7].bars[3].as_ref().expect("known");
    assert_eq!(network.parts.len(), 1);
    assert_eq!(figures[5].bars[0].as_ref().expect("known").parts.len(), 8);
    // Neither has a time then.
    system.set(C::Wire, Entry::Within(C::Switch, "one trace".to_owned()));
    let missing = Total::Latency.value(&system).expect_err("no time");
    assert_eq!(missing.0.len(), 2, "{missing}");
}

#[test]
fn completions_of_several_posts_are_shared_out() {
    let mut system = System::paper();
    system.low_period = 16;
    let expected = 175.42 + 49.69 + (61.63 + 8.99) / 16.0;
    close(
        Total::InjectionLow.value(&system).expect("known").0,
        expected,
    );
    let figures = figures::all(&system);
    close(
        figures[1].bars[0].as_ref().expect("known").total.0,
        expected,
    );
    // The paper says why it is 1 there: each message has a completion.
    assert_eq!(System::paper().low_period, 1);
}

#[test]
fn files_keep_everything() {
    let mut system = System::paper();
    system.low_period = 16;
    system.put(
        C::LlpProg,
        Ns(61.625),
        Source::Measured {
            how: "tsc; with; marks".to_owned(),
            spread: Ns(1.48),
            samples: 1000,
        },
    );
    let trace = Source::Trace {
        file: "a b.csv".to_owned(),
        how: "write: to acknowledgement".to_owned(),
    };
    system.put(C::Pcie, Ns(137.5), trace);
    system.put(
        C::Wire,
        Ns(1.0 / 3.0),
        Source::Fitted("assumes: x".to_owned()),
    );
    system.set(C::Switch, Entry::Within(C::Wire, "one trace".to_owned()));
    system.put(C::RcToMem64, Ns(250.0), Source::Given);
    assert_eq!(System::parse(&system.to_text()), Ok(system));
    let paper = System::paper();
    assert_eq!(System::parse(&paper.to_text()), Ok(paper));
}

#[test]
fn files_are_read_with_care() {
    let system = System::parse("# x\n\n llp_prog=2us|given\n").expect("right");
    let known = Entry::known(Ns(2000.0), Source::Given);
    assert_eq!(system.entry(C::LlpProg), &known);
    assert!(matches!(system.entry(C::Wire), Entry::Unknown(_)));
    for (text, part) in [
        ("llp_prog 3", "line 1: \"llp_prog 3\" is not `key"),
        ("\nllp_prog = 3 ns", "line 2: llp_prog has no source"),
        ("llp_prog = 3 | given", "is no time with its unit"),
        ("llp_prog = -3 ns | given", "no time of 0 or more"),
        ("llp_prog = inf ns | given", "no time of 0 or more"),
        ("llp_prog = 3 ns | guessed", "is no source"),
        ("llp_prog = 3 ns |", "empty source"),
        ("frob = 3 ns | given", "no component \"frob\""),
        (
            "observed.frob = 3 ns | given",
            "no component \"observed.frob\"",
        ),
        ("wire = within pcie | x", "wire cannot be within pcie"),
        ("wire = within wire | x", "wire cannot be within wire"),
        ("llp_prog = within wire | x", "cannot be within"),
        ("wire = within frob | x", "no component \"frob\""),
        ("unsignaled_period = 0 | given", "from 1 on"),
        ("low_level_period = 0", "from 1 on"),
        (
            "wire = 1 ns | given\nwire = 2 ns | given",
            "line 2: wire is there twice",
        ),
    ] {
        let error = System::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
