//! A figure of the report: its picture, its data and its notes.

use crate::output::Table;

/// A figure.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// The name of its file and of its place in the page.
    pub(super) id: String,
    pub(super) title: String,
    /// Sentences below it.
    pub(super) notes: Vec<String>,
    /// The picture; none where there is no data.
    pub(super) svg: Option<String>,
    pub(super) data: Option<Table>,
}

impl Figure {
    /// Makes a figure with its picture and the data that was drawn.
    pub(super) fn drawn(id: &str, title: &str, svg: String, data: Table) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            notes: Vec::new(),
            svg: Some(svg),
            data: Some(data),
        }
    }

    /// Makes a figure that cannot be drawn, with the reason.
    pub(super) fn without(id: &str, title: &str, reason: String) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            notes: vec![reason],
            svg: None,
            data: None,
        }
    }

    /// Adds a sentence below it.
    pub(super) fn note(mut self, words: impl Into<String>) -> Self {
        self.notes.push(words.into());
        self
    }
}
