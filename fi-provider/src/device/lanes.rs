//! Lanes of a domain: one for each context as long as the device has the resources that the policy
//! asks for, and the default endpoint's where it has not.

use crate::device::config::{Completions, Policy};
use crate::device::error::Error;
use crate::device::gate::{Common, Gate};
use crate::device::hook::software_hook;
use crate::device::mailbox::Mailbox;
use crate::device::parts::WindowParts;
use crate::device::plan::{Plan, Queues};
use crate::registration::{Limits, Registrations};
use crate::symmetric::window::Window;
use fi_mlx5::device::{self as hca, Pool};
use fi_mlx5::registers::Registers;
use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The facts of a device that reports name.
pub use fi_mlx5::device::{Account, Features, Regime};

/// The lanes of a device.
#[derive(Debug)]
pub(crate) struct Lanes {
    pool: Pool,
    /// Resources that the gates of the device's first context share.
    common: Common,
    regime: Regime,
    /// Lanes made, the default endpoint's included.
    made: AtomicU32,
    /// Number of those lanes that have less than the policy says.
    short: AtomicU32,
    /// Contexts that were given the default endpoint's lane though the policy would have them have their own.
    shared: AtomicU32,
    /// Reason why the first of both had to do with less.
    reason: Mutex<Option<String>>,
}

/// Report on the lanes of a domain: their policy, their number, and the resources that they take.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Policy, which says which objects they share.
    pub policy: &'static Policy,
    /// Lanes that use a completion queue.
    pub completions: Completions,
    /// Component that hands out doorbell registers.
    pub regime: Regime,
    /// Lanes that were made, the default endpoint's included.
    pub lanes: u32,
    /// Lanes that have less than the policy says, for want of doorbell pages.
    pub short: u32,
    /// Contexts that share the default endpoint's lane because the device had nothing for one of their own.
    pub shared: u32,
    /// Message of the device when that happened first.
    pub reason: Option<String>,
    /// Resources that the lanes take.
    pub account: Account,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "lanes {}, completion queues {}, registers by {}: {}",
            self.policy.name,
            self.completions.name(),
            match self.regime {
                Regime::Library => "libmlx5",
                Regime::Legacy => "the kernel",
            },
            self.account
        )
    }
}

impl Lanes {
    pub(crate) fn new(
        hca: &hca::Device,
        policy: &'static Policy,
        completions: Completions,
        common: Common,
    ) -> Self {
        Self {
            pool: Pool::new(hca, policy, completions),
            common,
            regime: hca.regime(),
            made: AtomicU32::new(0),
            short: AtomicU32::new(0),
            shared: AtomicU32::new(0),
            reason: Mutex::new(None),
        }
    }

    /// Makes lanes of a device without a window.
    pub(crate) fn bare(
        hca: &hca::Device,
        policy: &'static Policy,
        completions: Completions,
        limits: Limits,
    ) -> Result<Self, Error> {
        let nowhere = Window::spanning(Vec::new());
        let common = Common {
            parts: WindowParts::register(hca, &nowhere)?,
            mailbox: Mailbox::none(),
            registrations: Arc::new(Registrations::of(hca, limits)),
            registers: Arc::new(Registers::new()),
        };
        Ok(Self::new(hca, policy, completions, common))
    }

    /// Returns whether all lanes are the first one.
    pub(crate) fn are_one(&self) -> bool {
        self.pool.policy().one_lane
    }

    /// Makes a lane for memory in `window`.
    pub(crate) fn open(&self, plan: &Plan, window: &Window) -> Result<Gate, Error> {
        self.open_telling(plan, window, None)
    }

    /// Does as [`Lanes::open`]; its completions have events in this file.
    pub(crate) fn open_telling(
        &self,
        plan: &Plan,
        window: &Window,
        channel: Option<&hca::Channel>,
    ) -> Result<Gate, Error> {
        let seat = self.pool.seat()?.ok_or(Error::NoLane)?.telling(channel);
        let common = if seat.has_other_context() {
            Common {
                parts: WindowParts::register(seat.device(), window)?,
                mailbox: self.common.mailbox,
                registrations: Arc::new(self.common.registrations.beside(seat.device())),
                registers: Arc::new(Registers::new()),
            }
        } else {
            self.common.clone()
        };
        let gate = Gate::open(seat, plan, common)?;
        self.made.fetch_add(1, Ordering::Relaxed);
        if gate.is_short() {
            self.short.fetch_add(1, Ordering::Relaxed);
            self.keep_reason("no page or queue is left for all that the policy says");
        }
        Ok(gate)
    }

    /// Notes that a context has to share a lane.
    pub(crate) fn note_shared(&self, why: &Error) {
        self.shared.fetch_add(1, Ordering::Relaxed);
        self.keep_reason(&why.to_string());
    }

    fn keep_reason(&self, why: &str) {
        let mut reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.get_or_insert_with(|| why.to_owned());
    }

    /// Returns the report on the lanes.
    pub(crate) fn report(&self) -> Report {
        let reason = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            policy: self.pool.policy(),
            completions: self.pool.completions(),
            regime: self.regime,
            lanes: self.made.load(Ordering::Relaxed),
            short: self.short.load(Ordering::Relaxed),
            shared: self.shared.load(Ordering::Relaxed),
            reason: reason.clone(),
            account: self.pool.account(),
        }
    }
}

/// Results of [`survey`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Survey {
    /// The kernel's name for the device.
    pub device: String,
    /// Features of the device and its port.
    pub features: Features,
    /// The lanes.
    pub report: Report,
}

/// Opens the device and makes `lanes` lanes of one queue pair as contexts have them; tells the
/// resources that they take.
///
/// # Errors
/// That there is no device, or that it has nothing for a single lane.
pub fn survey(
    policy: &'static Policy,
    completions: Completions,
    lanes: u32,
) -> Result<Survey, Error> {
    let hca = hca::Device::open(None)?;
    let features = *hca.features();
    let queues = if features.dc {
        Queues::Initiators(1)
    } else {
        Queues::Connected(1)
    };
    let plan = Plan::beside(queues, false, software_hook());
    let nowhere = Window::spanning(Vec::new());
    let all = Lanes::bare(&hca, policy, completions, Limits::default())?;
    let mut made = vec![all.open(&plan, &nowhere)?];
    for _ in 1..lanes {
        if all.are_one() {
            break;
        }
        match all.open(&plan, &nowhere) {
            Ok(gate) => made.push(gate),
            Err(error) => all.note_shared(&error),
        }
    }
    Ok(Survey {
        device: hca.name().to_owned(),
        features,
        report: all.report(),
    })
}
