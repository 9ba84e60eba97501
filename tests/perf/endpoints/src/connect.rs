//! The way in which processes connect their endpoints: by the words that they tell each other.

use crate::error::{Error, Result};
use crate::job::Member;
use crate::lanes::Ends;
use fi_mlx5::device::Peer;

/// Returns the queue pairs of a process's lanes as text: lanes between semicolons, queue pairs
/// between commas.
fn to_text(lanes: &[Vec<Peer>]) -> String {
    let peer = |peer: &Peer| {
        format!(
            "{}:{}:{}:{}",
            peer.number, peer.lid, peer.mtu, peer.max_read_atomic
        )
    };
    let lane = |pairs: &Vec<Peer>| pairs.iter().map(peer).collect::<Vec<_>>().join(",");
    lanes.iter().map(lane).collect::<Vec<_>>().join(";")
}

fn of_text(text: &str) -> Result<Vec<Vec<Peer>>> {
    let wrong = || Error::Words(text.to_owned());
    let peer = |word: &str| {
        let mut parts = word.split(':');
        let mut number = || parts.next()?.parse::<u32>().ok();
        let peer = Peer {
            number: number()?,
            lid: number()?.try_into().ok()?,
            mtu: number()?.try_into().ok()?,
            max_read_atomic: number()?.try_into().ok()?,
            // The devices are opened without one.
            key: 0,
        };
        Some(peer)
    };
    let lane = |text: &str| {
        text.split(',')
            .map(|word| peer(word).ok_or_else(wrong))
            .collect()
    };
    text.split(';').map(lane).collect()
}

/// Connects each lane's queue pair `pair` to the queue pair `other` of the lane with the same number of process `rank`, for each
/// such triple; when this returns, all processes have done so.
pub(crate) fn connect(
    member: &mut Member,
    ends: &mut Ends,
    ways: &[(usize, usize, usize)],
) -> Result<()> {
    let own = ends.addresses();
    let all = member.exchange(&to_text(&own))?;
    for &(pair, rank, other) in ways {
        let lanes = of_text(&all[rank])?;
        if lanes.len() != own.len() {
            return Err(Error::Words(format!(
                "{} lanes here, {} there",
                own.len(),
                lanes.len()
            )));
        }
        for (lane, pairs) in lanes.iter().enumerate() {
            let peer = pairs
                .get(other)
                .ok_or_else(|| Error::Words(all[rank].clone()))?;
            ends.connect(lane, pair, peer)?;
        }
    }
    member.barrier()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_pass_through_text() {
        let peer = |number| Peer {
            number,
            lid: 7,
            mtu: 4096,
            max_read_atomic: 16,
            key: 0,
        };
        let lanes = vec![vec![peer(1), peer(2)], vec![peer(3), peer(4)]];
        assert_eq!(of_text(&to_text(&lanes)).unwrap(), lanes);
        assert!(of_text("1:2:3").is_err() && of_text("1:2:3:400").is_err());
    }
}
