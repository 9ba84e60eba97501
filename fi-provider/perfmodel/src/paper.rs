//! The paper's system.

use crate::{Component as C, Entry, Ns, Source, System, Total};

/// Table 1 of the paper, and what section 6 adds to it.
const VALUES: [(C, f64, &str); 20] = [
    (C::MdSetup, 27.78, "Table 1"),
    (C::MdBarrier, 17.33, "Table 1"),
    (C::DoorbellBarrier, 21.07, "Table 1"),
    (C::PioCopy, 94.25, "Table 1"),
    (C::PostMisc, 14.99, "Table 1"),
    (C::LlpProg, 61.63, "Table 1"),
    (C::BusyPost, 8.99, "Table 1"),
    (C::MeasurementUpdate, 49.69, "Table 1, section 3"),
    (C::Pcie, 137.49, "Table 1"),
    (C::Wire, 274.81, "Table 1"),
    (C::Switch, 108.0, "Table 1"),
    (C::RcToMem8, 240.96, "Table 1"),
    (C::PostUpper, 24.37, "Table 1"),
    (C::PostLower, 2.19, "Table 1"),
    (C::BusyPosts, 3.17, "section 6"),
    (C::CallbackUpper, 47.99, "Table 1"),
    (C::CallbackLower, 139.78, "Table 1"),
    (C::AfterProgress, 36.89, "section 6"),
    (C::WaitUpper, 293.29, "Table 1 (section 6 has 293.99)"),
    (C::WaitLower, 150.51, "Table 1"),
];

/// `Post_prog` of section 6, of which an `LLP_prog` for each period is the LLP's.
const POST_PROG: f64 = 59.82;
/// The unsignaled period of UCX.
const PERIOD: u32 = 64;

impl System {
    /// Returns the system of the paper: ThunderX2 servers with ConnectX-4 adapters and a switch,
    /// MPICH (CH4) over UCX.
    #[must_use]
    pub fn paper() -> Self {
        let mut system = Self::unknown(
            "ThunderX2 at 2 GHz, ConnectX-4, MPICH (CH4) over UCX, with a switch (the paper's)",
            "the paper does not give it",
        );
        "MPICH".clone_into(&mut system.upper);
        "UCP".clone_into(&mut system.lower);
        system.period = Entry::of_paper(PERIOD, "section 6");
        let mut prog = 0.0;
        for (component, ns, place) in VALUES {
            system.set(component, Entry::of_paper(Ns(ns), place));
            if component == C::LlpProg {
                prog = ns;
            }
        }
        system.put(
            C::TxProg,
            Ns(POST_PROG - prog / f64::from(PERIOD)),
            Source::Derived("Post_prog of 59.82 ns (paper, section 6) less LLP_prog/64".to_owned()),
        );
        let observed = [
            (
                Total::InjectionLow,
                282.33,
                "section 4.2, PCIe trace of put_bw",
            ),
            (Total::LatencyLow, 1190.25, "section 4.3, am_lat"),
            (Total::Injection, 263.91, "section 6, OSU message rate"),
            (Total::Latency, 1336.0, "section 6, OSU latency"),
        ];
        for (total, ns, place) in observed {
            system.observe(total, Entry::of_paper(Ns(ns), place));
        }
        system
    }
}
