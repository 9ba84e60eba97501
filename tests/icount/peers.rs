//! Counts of others for the same operations, from `peers.tsv`, beside ours.

use farreach_icount::table::{Table, number, sum};
use std::fmt::Write as _;

/// Returns the table of the document: a line for each peer's count, with ours of the same
/// operation.
///
/// Fails on a line that does not have five fields, or whose operation is not counted here.
pub(crate) fn table(peers: &str, counts: &Table) -> Result<String, String> {
    let mut text =
        "| operation | target | here | peer | instructions | source |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let lines = peers.lines().filter(|line| !line.starts_with('#'));
    for line in lines.filter(|line| !line.is_empty()) {
        let fields: Vec<_> = line.split('\t').collect();
        let [operation, target, peer, count, source] = fields[..] else {
            return Err(format!("not five fields: {line}"));
        };
        let here = counts.0.get(&(operation.to_owned(), target.to_owned()));
        let here = here.ok_or_else(|| format!("{operation}, {target}, is not counted: {line}"))?;
        let here = number(sum(here));
        let _ = writeln!(
            text,
            "| {operation} | {target} | {here} | {peer} | {count} | {source} |"
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use farreach_icount::layer::Layer;

    #[test]
    fn each_peer_stands_beside_our_count() {
        let mut counts = Table::default();
        let layers = [(Layer::Caller, 2.0), (Layer::Routing, 3.0)];
        let call = ("a b".to_owned(), "heap".to_owned());
        counts.0.insert(call, layers.into());
        let text = table("# of\na b\theap\tsomebody\t70\tby hand\n", &counts).expect("a table");
        assert!(
            text.ends_with("| a b | heap | 5 | somebody | 70 | by hand |\n"),
            "{text}"
        );
        assert!(table("a b\tglobal\tsomebody\t70\tby hand\n", &counts).is_err());
        assert!(table("a b\theap\tsomebody\t70\n", &counts).is_err());
    }
}
