//! PCIe, network and RC-to-MEM from times that a program sees, where there is no trace.
//!
//! | time | is |
//! |---|---|
//! | of a write, post to completion | post + 2 (PCIe + network) + RC-to-MEM + poll |
//! | the same of bytes that the device reads | 2 PCIe more |
//! | of a message, half of there and back | post + 2 PCIe + network + RC-to-MEM + poll |

use fi_perfmodel::Ns;

/// The assumptions of a fit.
pub const ASSUMPTIONS: &str = "a payload that the device reads takes 2 PCIe more than one in the \
    entry; RC-to-MEM of a completion is that of 8 bytes; the device itself takes no time; the peer \
    is a queue pair of this process, so that the device's loopback stands for wire and switch";

/// The times that are seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// A write of bytes in the entry, post to completion.
    pub inline: Ns,
    /// A write of bytes that the device reads, post to completion.
    pub read: Ns,
    /// A message, half of there and back.
    pub latency: Ns,
    /// `LLP_post`.
    pub post: Ns,
    /// `LLP_prog`.
    pub poll: Ns,
}

/// The times that make them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// PCIe, one way.
    pub pcie: Ns,
    /// Wire and switch, one way.
    pub network: Ns,
    /// RC-to-MEM.
    pub memory: Ns,
}

/// Solves the three equations; PCIe and network may be known. None is less than 0.
#[must_use]
pub fn fit(seen: &Seen, pcie: Option<Ns>, network: Option<Ns>) -> Fit {
    let positive = |time: Ns| Ns(time.0.max(0.0));
    let pcie = pcie.unwrap_or_else(|| positive((seen.read - seen.inline) / 2.0));
    let network = network.unwrap_or_else(|| positive(seen.inline - seen.latency));
    let memory = seen.latency - seen.post - seen.poll - pcie * 2.0 - network;
    Fit {
        pcie,
        network,
        memory: positive(memory),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_found_again() {
        let (post, poll, pcie, network, memory) = (5.0, 3.0, 20.0, 60.0, 15.0);
        let completion = post + 2.0 * (pcie + network) + memory + poll;
        let seen = Seen {
            inline: Ns(completion),
            read: Ns(completion + 2.0 * pcie),
            latency: Ns(post + 2.0 * pcie + network + memory + poll),
            post: Ns(post),
            poll: Ns(poll),
        };
        let expected = Fit {
            pcie: Ns(pcie),
            network: Ns(network),
            memory: Ns(memory),
        };
        assert_eq!(fit(&seen, None, None), expected);
        assert_eq!(fit(&seen, Some(Ns(pcie)), Some(Ns(network))), expected);
        let off = fit(&seen, Some(Ns(200.0)), None);
        assert_eq!(off.memory, Ns(0.0));
    }
}
