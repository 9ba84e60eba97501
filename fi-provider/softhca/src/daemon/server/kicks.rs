//! Kicks: requests of programs that the device act now.
//!
//! A program that waits kicks again and again. While there is nothing to do its kick is answered
//! late: when the device has written its memory, which may be what it waits for, or a moment later.
//! So the processor is left to those that have something to do.

use super::{Client, Server};

/// The most times that a kick looks again while there is work: the others have their turn, too.
const KICK_ROUNDS: u32 = 1_000;

/// The shortest and the longest time for which a kick is left without an answer, in ns: twice as
/// long each time that one was in vain.
const SHORTEST_WAIT: u64 = 10_000;
const LONGEST_WAIT: u64 = 40_000;

/// The kick of a client.
#[derive(Debug, Default)]
pub(super) struct Kick {
    state: State,
    /// Whether the process's memory was written since its last kick was answered.
    is_written: bool,
    /// The time for which the next kick in vain is left without an answer; 0 for none.
    wait: u64,
}

/// State of a kick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// There is none.
    #[default]
    None,
    /// The device has to look at the queues for it.
    Asked,
    /// It is answered then at the latest.
    Waits { until: u64 },
}

impl Kick {
    /// Takes in that the client kicks.
    pub(super) fn ask(&mut self) {
        self.state = State::Asked;
    }

    /// Returns whether it is to be answered now, after the device has looked at the queues; `worked`
    /// says whether it found work for a kick that was asked for since the last time.
    fn is_due(&mut self, worked: bool, now: u64) -> bool {
        let wait = match self.state {
            State::None => return false,
            _ if self.is_written => 0,
            // Of others, or its own.
            State::Asked if worked => self.wait,
            State::Asked if self.wait > 0 => {
                let until = now + self.wait;
                self.state = State::Waits { until };
                return false;
            }
            State::Waits { until } if now < until => return false,
            State::Asked | State::Waits { .. } => {
                (2 * self.wait).clamp(SHORTEST_WAIT, LONGEST_WAIT)
            }
        };
        *self = Self {
            wait,
            ..Self::default()
        };
        true
    }
}

impl Client {
    fn has_kicked(&self) -> bool {
        self.kick.state == State::Asked
    }
}

impl Server {
    /// Looks at the queues for the kicks of a turn together: one look sees all doorbells that rang
    /// before them. Answers those that are due; returns whether there were any.
    pub(super) fn take_kicks(&mut self) -> bool {
        if !self.clients.iter().any(Client::has_kicked) {
            return false;
        }
        self.device.release(self.now());
        let worked = self.act_until_idle();
        self.answer_kicks(worked);
        true
    }

    /// Answers the kicks that are due; returns the time until the next one is, if any waits.
    pub(super) fn answer_kicks(&mut self, worked: bool) -> Option<u64> {
        let now = self.now();
        let written = self.programs.take_written();
        for index in (0..self.clients.len()).rev() {
            let client = &mut self.clients[index];
            client.kick.is_written |= written.contains(&client.process);
            if client.kick.is_due(worked, now) && !self.reply(index, Ok(())) {
                self.drop_client(index);
            }
        }
        let waits = self
            .clients
            .iter()
            .filter_map(|client| match client.kick.state {
                State::Waits { until } => Some(until.saturating_sub(now)),
                _ => None,
            });
        waits.min()
    }

    /// Looks at the queues until there is no work; returns whether there was some.
    pub(super) fn act_until_idle(&mut self) -> bool {
        let mut rounds = 0;
        while rounds < KICK_ROUNDS && self.act().worked {
            rounds += 1;
        }
        self.programs.flush();
        rounds > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kicks_in_vain_wait_longer_and_longer() {
        let mut kick = Kick::default();
        assert!(!kick.is_due(true, 0), "there is none");
        kick.ask();
        assert!(kick.is_due(false, 0), "the first one");
        let mut now = 0;
        for wait in [10_000, 20_000, 40_000, 40_000] {
            kick.ask();
            assert!(!kick.is_due(false, now));
            assert!(!kick.is_due(true, now + wait - 1), "the work is others'");
            now += wait;
            assert!(kick.is_due(false, now));
            assert!(!kick.is_due(false, now + wait), "it is answered");
        }
        kick.ask();
        assert!(!kick.is_due(false, now));
        kick.is_written = true;
        assert!(kick.is_due(false, now), "its memory was written");
        kick.ask();
        assert!(kick.is_due(false, now), "waits begin anew");
    }

    #[test]
    fn kicks_that_are_not_in_vain_are_answered() {
        let after_many = || Kick {
            state: State::Asked,
            wait: LONGEST_WAIT,
            ..Kick::default()
        };
        assert!(!after_many().is_due(false, 0));
        let mut kick = after_many();
        assert!(kick.is_due(true, 0), "there was work");
        assert_eq!(kick.wait, LONGEST_WAIT, "which may be others'");
        let mut kick = after_many();
        kick.is_written = true;
        assert!(kick.is_due(false, 0), "written since the last answer");
        assert_eq!(kick.wait, 0);
    }
}
