//! Systems: a time for each component.

use crate::{Component, Entry, Ns, Source, Total};

/// Holds what is known of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// The system: machine, device.
    pub name: String,
    /// The upper layer of the HLP (MPICH in the paper).
    pub upper: String,
    /// The lower layer of the HLP (UCP in the paper).
    pub lower: String,
    /// The unsignaled period c: one completion is written for so many operations.
    pub period: Entry<u32>,
    /// The same of the benchmark of the LLP alone: 1 in the paper.
    pub low_period: u32,
    /// The components, by their place in [`Component::ALL`].
    times: Vec<Entry<Ns>>,
    /// The results of benchmarks, by the place in [`Total::ALL`].
    observed: Vec<Entry<Ns>>,
}

impl System {
    /// Makes a system of which nothing is known, for this reason.
    #[must_use]
    pub fn unknown(name: &str, reason: &str) -> Self {
        Self {
            name: name.to_owned(),
            upper: "upper layer".to_owned(),
            lower: "lower layer".to_owned(),
            period: Entry::Unknown(reason.to_owned()),
            low_period: 1,
            times: vec![Entry::Unknown(reason.to_owned()); Component::ALL.len()],
            observed: vec![Entry::Unknown(reason.to_owned()); Total::ALL.len()],
        }
    }

    /// Returns a component's time, as far as it is known.
    #[must_use]
    pub fn entry(&self, component: Component) -> &Entry<Ns> {
        &self.times[component as usize]
    }

    /// Puts a component's time, or why it is not known.
    pub fn set(&mut self, component: Component, entry: Entry<Ns>) {
        self.times[component as usize] = entry;
    }

    /// Puts a component's time with its source.
    pub fn put(&mut self, component: Component, time: Ns, source: Source) {
        self.set(component, Entry::known(time, source));
    }

    /// Returns the result of a benchmark for a total.
    #[must_use]
    pub fn observed(&self, total: Total) -> &Entry<Ns> {
        &self.observed[total as usize]
    }

    /// Puts what a benchmark shows for a total.
    pub fn observe(&mut self, total: Total, entry: Entry<Ns>) {
        self.observed[total as usize] = entry;
    }

    /// Returns the words for a component in a table, with this system's names of layers.
    #[must_use]
    pub fn words(&self, component: Component) -> String {
        let words = component.words().replace("{upper}", &self.upper);
        words.replace("{lower}", &self.lower)
    }
}
