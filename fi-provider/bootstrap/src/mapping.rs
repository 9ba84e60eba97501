//! `PMI_process_mapping`: which PE runs on which node.
//!
//! `(vector,(first,nodes,each),...)`: each block lays `each` consecutive ranks on each of `nodes` nodes from number
//! `first` on; the list starts over until every rank has a node.

/// The key that launchers tell it under.
pub(crate) const KEY: &str = "PMI_process_mapping";

/// Returns the mapping of `size` ranks in blocks of `each` to a node; the last node has the rest.
///
/// # Panics
/// When `each` is 0.
pub(crate) fn of_blocks(size: usize, each: usize) -> String {
    let blocks = [(0, size / each, each), (size / each, 1, size % each)];
    let blocks: Vec<String> = blocks
        .into_iter()
        .filter(|&(_, nodes, each)| nodes > 0 && each > 0)
        .map(|(first, nodes, each)| format!("({first},{nodes},{each})"))
        .collect();
    format!("(vector,{})", blocks.join(","))
}

/// Describes the host of every rank, by its number: text of a few bytes where hosts are alike.
#[must_use]
pub fn of_hosts(hosts: &[u32]) -> String {
    // Runs of ranks on one host, then runs of those: hosts one after the other with as many ranks each.
    let mut blocks: Vec<(u32, u32, usize)> = Vec::new();
    for run in hosts.chunk_by(|one, other| one == other) {
        match blocks.last_mut() {
            Some((first, count, each)) if *each == run.len() && *first + *count == run[0] => {
                *count += 1;
            }
            _ => blocks.push((run[0], 1, run.len())),
        }
    }
    let blocks: Vec<String> = blocks
        .into_iter()
        .map(|(first, count, each)| format!("({first},{count},{each})"))
        .collect();
    format!("(vector,{})", blocks.join(","))
}

/// Returns the node of each of `size` ranks; `None` when the text is no mapping.
#[must_use]
pub fn parse(text: &str, size: usize) -> Option<Vec<u32>> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = compact.strip_prefix("(vector,")?.strip_suffix(')')?;
    let mut blocks = Vec::new();
    let mut rest = inner;
    while !rest.is_empty() {
        let (block, after) = rest.strip_prefix('(')?.split_once(')')?;
        let numbers: Vec<u32> = block
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        let &[first, nodes, each] = numbers.as_slice() else {
            return None;
        };
        blocks.push((first, nodes, each));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    if !blocks.iter().any(|&(_, nodes, each)| nodes > 0 && each > 0) {
        return None;
    }
    let round = blocks
        .iter()
        .copied()
        .filter(|&(_, _, each)| each > 0)
        .flat_map(|(first, nodes, each)| {
            (first..first.saturating_add(nodes))
                .flat_map(move |node| std::iter::repeat_n(node, each as usize))
        });
    Some(round.cycle().take(size).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_and_rounds() {
        assert_eq!(parse("(vector,(0,1,1))", 3), Some(vec![0, 0, 0]));
        assert_eq!(parse("(vector,(0,2,2))", 4), Some(vec![0, 0, 1, 1]));
        assert_eq!(parse("(vector, (0,2,1))", 5), Some(vec![0, 1, 0, 1, 0]));
        assert_eq!(parse("(vector,(0,1,2),(1,1,1))", 3), Some(vec![0, 0, 1]));
    }

    #[test]
    fn what_is_no_mapping_is_none() {
        for bad in [
            "",
            "(vector)",
            "(vector,)",
            "(vector,(0,0,1))",
            "(vector,(0,1))",
            "(vector,(0,1,0))",
            "(vector,(0,1,x))",
            "(vector,(0,1,1)",
        ] {
            assert_eq!(parse(bad, 2), None, "{bad}");
        }
    }

    #[test]
    fn one_node_is_one_block() {
        assert_eq!(of_blocks(3, 3), "(vector,(0,1,3))");
        assert_eq!(of_blocks(5, 2), "(vector,(0,2,2),(2,1,1))");
        assert_eq!(of_blocks(1, 4), "(vector,(0,1,1))");
    }

    #[test]
    fn hosts_that_are_alike_are_one_block() {
        assert_eq!(of_hosts(&[0, 0, 1, 1, 2, 2]), "(vector,(0,3,2))");
        assert_eq!(of_hosts(&[0, 1, 1, 0]), "(vector,(0,1,1),(1,1,2),(0,1,1))");
        assert_eq!(of_hosts(&[0, 0, 1, 1, 0, 1]), "(vector,(0,2,2),(0,2,1))");
        assert_eq!(of_hosts(&[0; 3]), of_blocks(3, 3));
    }

    proptest! {
        #[test]
        fn hosts_are_read_as_they_were_written(hosts in proptest::collection::vec(0_u32..4, 1..40)) {
            prop_assert_eq!(parse(&of_hosts(&hosts), hosts.len()).unwrap(), hosts);
        }

        #[test]
        fn blocks_are_read_as_they_were_written(size in 1_usize..60, each in 1_usize..70) {
            let nodes = parse(&of_blocks(size, each), size).unwrap();
            let expected: Vec<u32> = (0..size).map(|rank| u32::try_from(rank / each).unwrap()).collect();
            prop_assert_eq!(nodes, expected);
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\(vector,[(),0-9]{0,20}\\)", size in 0_usize..9) {
            if let Some(nodes) = parse(&text, size) {
                prop_assert_eq!(nodes.len(), size);
            }
        }
    }
}
