//! The components of the path of a message.

/// Names the owner of a time. The terms are those of the paper: the low-level protocol (LLP) is
/// the driver of the device, the high-level protocol (HLP) is all software above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Writing the message descriptor (MD), inline payload included.
    MdSetup,
    /// The store barrier behind the descriptor.
    MdBarrier,
    /// The doorbell counter (the doorbell record of mlx5), and the store barrier behind it.
    DoorbellBarrier,
    /// The copy of 64 bytes to the device's register (programmed I/O).
    PioCopy,
    /// The rest of `LLP_post`: the call, branches.
    PostMisc,
    /// `LLP_prog`: taking one entry of a completion queue.
    LlpProg,
    /// A post that fails because the transmit queue is full.
    BusyPost,
    /// The work of a benchmark for its own time stamps, for each message.
    MeasurementUpdate,
    /// 64 bytes from the root complex to the device, or back.
    Pcie,
    /// The interconnect's wire, from device to device.
    Wire,
    /// The time that a switch adds.
    Switch,
    /// RC-to-MEM(8B): the root complex writing 8 bytes to memory.
    RcToMem8,
    /// RC-to-MEM(64B): the same of 64 bytes, as a completion is.
    RcToMem64,
    /// `HLP_post` in the upper layer (MPICH).
    PostUpper,
    /// `HLP_post` in the lower layer (UCP).
    PostLower,
    /// `HLP_tx_prog`: progress of a send above the LLP, for one operation.
    TxProg,
    /// Busy posts, for one operation, where many are progressed at a time.
    BusyPosts,
    /// The upper layer's callback of a receive that has completed.
    CallbackUpper,
    /// The lower layer's callback, without the upper one's.
    CallbackLower,
    /// The work of the upper layer after the lower one has made progress.
    AfterProgress,
    /// A successful wait for a receive in the upper layer, its callback included.
    WaitUpper,
    /// A successful wait for a receive in the lower layer, its callback included.
    WaitLower,
}

/// Groups components that are parts of one sum in every total, so that the time of one of them may
/// be known as a part of another's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Parts of `LLP_post`.
    LlpPost,
    /// Parts of `HLP_post`.
    HlpPost,
    /// Parts of `HLP_rx_prog`.
    HlpRxProg,
    /// Parts of a wait for a receive.
    Wait,
    /// Parts of `Network`.
    Network,
}

impl Component {
    /// All components, in the order of the paper's Table 1.
    pub const ALL: [Self; 22] = [
        Self::MdSetup,
        Self::MdBarrier,
        Self::DoorbellBarrier,
        Self::PioCopy,
        Self::PostMisc,
        Self::LlpProg,
        Self::BusyPost,
        Self::MeasurementUpdate,
        Self::Pcie,
        Self::Wire,
        Self::Switch,
        Self::RcToMem8,
        Self::RcToMem64,
        Self::PostUpper,
        Self::PostLower,
        Self::TxProg,
        Self::BusyPosts,
        Self::CallbackUpper,
        Self::CallbackLower,
        Self::AfterProgress,
        Self::WaitUpper,
        Self::WaitLower,
    ];

    /// The parts of `LLP_post`.
    pub const LLP_POST: &[Self] = &[
        Self::MdSetup,
        Self::MdBarrier,
        Self::DoorbellBarrier,
        Self::PioCopy,
        Self::PostMisc,
    ];
    /// The parts of `HLP_post`.
    pub const HLP_POST: &[Self] = &[Self::PostUpper, Self::PostLower];
    /// The parts of `HLP_rx_prog`.
    pub const HLP_RX_PROG: &[Self] = &[
        Self::CallbackUpper,
        Self::CallbackLower,
        Self::AfterProgress,
    ];
    /// The parts of `Network`.
    pub const NETWORK: &[Self] = &[Self::Wire, Self::Switch];
    /// The parts of a wait for a receive.
    pub const WAIT: &[Self] = &[Self::WaitUpper, Self::WaitLower];

    /// Returns the name by which files and command lines know it.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::MdSetup => "md_setup",
            Self::MdBarrier => "md_barrier",
            Self::DoorbellBarrier => "doorbell_barrier",
            Self::PioCopy => "pio_copy",
            Self::PostMisc => "llp_post_misc",
            Self::LlpProg => "llp_prog",
            Self::BusyPost => "busy_post",
            Self::MeasurementUpdate => "measurement_update",
            Self::Pcie => "pcie",
            Self::Wire => "wire",
            Self::Switch => "switch",
            Self::RcToMem8 => "rc_to_mem_8",
            Self::RcToMem64 => "rc_to_mem_64",
            Self::PostUpper => "hlp_post_upper",
            Self::PostLower => "hlp_post_lower",
            Self::TxProg => "hlp_tx_prog",
            Self::BusyPosts => "busy_posts",
            Self::CallbackUpper => "callback_upper",
            Self::CallbackLower => "callback_lower",
            Self::AfterProgress => "after_progress",
            Self::WaitUpper => "wait_upper",
            Self::WaitLower => "wait_lower",
        }
    }

    /// Returns the component of this key.
    #[must_use]
    pub fn named(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|which| which.key() == key)
    }

    /// Returns a few words for a table; `{upper}` and `{lower}` stand for names of layers.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::MdSetup => "Message descriptor setup",
            Self::MdBarrier => "Barrier for the message descriptor",
            Self::DoorbellBarrier => "Doorbell counter and its barrier",
            Self::PioCopy => "PIO copy (64 bytes)",
            Self::PostMisc => "Miscellaneous in LLP_post",
            Self::LlpProg => "LLP_prog",
            Self::BusyPost => "Busy post",
            Self::MeasurementUpdate => "Measurement update",
            Self::Pcie => "PCIe (64 bytes)",
            Self::Wire => "Wire",
            Self::Switch => "Switch",
            Self::RcToMem8 => "RC-to-MEM(8B)",
            Self::RcToMem64 => "RC-to-MEM(64B)",
            Self::PostUpper => "HLP_post in {upper}",
            Self::PostLower => "HLP_post in {lower}",
            Self::TxProg => "HLP_tx_prog, of one operation",
            Self::BusyPosts => "Busy posts, of one operation",
            Self::CallbackUpper => "Callback of a receive in {upper}",
            Self::CallbackLower => "Callback of a receive in {lower}",
            Self::AfterProgress => "{upper} after progress",
            Self::WaitUpper => "Wait for a receive in {upper}",
            Self::WaitLower => "Wait for a receive in {lower}",
        }
    }

    /// Returns the sum that it is a part of, if its time may be known within another part's.
    #[must_use]
    pub fn family(self) -> Option<Family> {
        let families = [
            (Family::LlpPost, Self::LLP_POST),
            (Family::HlpPost, Self::HLP_POST),
            (Family::HlpRxProg, Self::HLP_RX_PROG),
            (Family::Wait, Self::WAIT),
            (Family::Network, Self::NETWORK),
        ];
        let found = families.iter().find(|(_, parts)| parts.contains(&self));
        found.map(|&(family, _)| family)
    }
}
