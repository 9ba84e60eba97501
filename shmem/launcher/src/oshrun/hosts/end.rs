//! The end of a job on several hosts.

use std::time::{Duration, Instant};

use super::super::crew::GRACE;
use super::super::job::LAST_WORDS;
use super::super::output::Output;
use super::super::sys::{self, Watch};
use super::super::{processes, report};
use super::{ACCOUNT_VARIABLE, Account, Agent, FAREWELL, Frame, Hosts, News, STEP, Stage};

impl Hosts<'_> {
    /// Returns whether nothing more comes from any host.
    pub(in super::super) fn are_over(&self) -> bool {
        let over = |agent: &Agent| agent.stage == Stage::Over || agent.link.is_none();
        self.agents.iter().all(over)
    }

    /// Has all hosts end the processes that PEs have left, and writes the output of these. With a
    /// `patience` hosts are given up that do not end in time; `stop` tells to give up at once.
    /// Returns whether all hosts have ended as they should.
    pub(in super::super) fn finish(
        &mut self,
        output: &mut Output,
        patience: Option<Duration>,
        stop: impl Fn() -> bool,
    ) -> bool {
        let mut all = true;
        let mut deadline = patience.map(|_| Instant::now());
        if !self.ending {
            self.ending = true;
            self.tell_all(&Frame::Finish {});
            deadline = patience.map(|_| Instant::now() + GRACE + LAST_WORDS);
        }
        let late = |deadline: Option<Instant>| deadline.is_some_and(|at| Instant::now() >= at);
        while !self.are_over() && !late(deadline) && all {
            for news in self.turn(output) {
                if let News::Failed { message, .. } = news {
                    report::line(&message);
                    all = false;
                }
            }
            all &= !stop();
        }
        if std::env::var_os(ACCOUNT_VARIABLE).is_some_and(|value| !value.is_empty()) {
            let mut account = Account::default();
            for link in self.agents.iter().filter_map(|agent| agent.link.as_ref()) {
                account.join(&link.account);
            }
            for line in account.lines() {
                report::line(&format!("account: {line}"));
            }
        }
        // Agents that wait for this go; those of their commands that are left are killed.
        for agent in &mut self.agents {
            agent.link = None;
        }
        let deadline = Instant::now() + FAREWELL;
        while self.processes.iter().any(|process| process.ended.is_none())
            && Instant::now() < deadline
        {
            self.reap();
            std::thread::sleep(Duration::from_millis(2));
        }
        processes::end_all(&[]);
        all
    }

    /// Does one turn while the job ends.
    fn turn(&mut self, output: &mut Output) -> Vec<News> {
        let (hosts, tokens): (Vec<_>, Vec<_>) = self.watches().into_iter().unzip();
        let (sinks, ways): (Vec<_>, Vec<_>) = output.watches().unzip();
        let count = hosts.len();
        let mut watches = [hosts, sinks].concat();
        sys::poll(&mut watches, Some(STEP));
        let ready = |watch: &Watch| watch.revents != 0;
        let mut news = Vec::new();
        for (_, token) in watches[..count]
            .iter()
            .zip(tokens)
            .filter(|(watch, _)| ready(watch))
        {
            news.extend(self.serve(token, output));
        }
        for (_, way) in watches[count..]
            .iter()
            .zip(ways)
            .filter(|(watch, _)| ready(watch))
        {
            output.serve(way);
        }
        news.extend(self.look_around(output));
        news
    }
}
