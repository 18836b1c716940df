//! Node sets and labels: what index lists, masks and label arrays of a file mean.

use calipers_core::{Error, Result};

use calipers_core::NumberSlice;

/// Whether a node may be listed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Every node at most once.
    Refused,
    /// A repeated node counts as often as it is listed; preset `rung-fork`.
    Counted,
}

/// The nodes of an index list, in its order.
pub fn nodes_of_index(values: NumberSlice<'_>, nodes: usize, repeats: Repeats) -> Result<Vec<u32>> {
    let mut seen = vec![false; nodes];
    let mut listed = Vec::with_capacity(values.len());
    for position in 0..values.len() {
        let node = whole(&values, position).and_then(|node| usize::try_from(node).ok());
        let Some(node) = node.filter(|&node| node < nodes) else {
            return Err(Error::value("not a node number")
                .at(format!("position {position}"))
                .found(values.shown(position))
                .allowed(format!("0 to {}, there are {nodes} nodes", nodes as i128 - 1))
                .advice("nodes are counted from 0: check that the list belongs to these features"));
        };
        if std::mem::replace(&mut seen[node], true) && repeats == Repeats::Refused {
            return Err(Error::value("a node is listed twice")
                .at(format!("position {position}"))
                .found(format!("node {node}"))
                .advice("list every node once"));
        }
        listed.push(node as u32);
    }
    Ok(listed)
}

/// The nodes that a mask of 0 and 1 marks, in ascending order.
pub fn nodes_of_mask(values: NumberSlice<'_>, nodes: usize) -> Result<Vec<u32>> {
    right_length("the mask", values.len(), nodes)?;
    let mut marked = Vec::new();
    for position in 0..nodes {
        match whole(&values, position) {
            Some(0) => {}
            Some(1) => marked.push(position as u32),
            _ => {
                return Err(Error::value("a mask holds more than 0 and 1")
                    .at(format!("node {position}"))
                    .found(values.shown(position))
                    .allowed("0 and 1, or false and true")
                    .advice("a list of node numbers is an index, not a mask"));
            }
        }
    }
    Ok(marked)
}

/// Refuses an index list and a mask that mean different nodes.
pub fn same_nodes(index: &[u32], mask: &[u32]) -> Result<()> {
    let mut sorted = index.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted == mask {
        return Ok(());
    }
    let apart = sorted.iter().find(|node| mask.binary_search(node).is_err());
    let apart = apart.or_else(|| mask.iter().find(|node| sorted.binary_search(node).is_err()));
    Err(Error::value("the index list and the mask mean different nodes")
        .found(format!("node {} is in one of them only", apart.copied().unwrap_or_default()))
        .advice("keep one of the two"))
}

/// The labels of all nodes; only those of test nodes have to be whole numbers. What another node
/// has in its place is never read.
pub fn labels(values: NumberSlice<'_>, nodes: usize, test: Option<&[u32]>) -> Result<Vec<i64>> {
    right_length("`labels`", values.len(), nodes)?;
    let bad = test.unwrap_or_default().iter().map(|&node| node as usize);
    if let Some(node) = bad.into_iter().find(|&node| whole(&values, node).is_none()) {
        return Err(Error::value("a label is not a whole number")
            .at(format!("node {node}"))
            .found(values.shown(node))
            .allowed("whole numbers from 0")
            .advice("number the classes from 0 and store the labels as integers"));
    }
    Ok((0..nodes).map(|node| whole(&values, node).unwrap_or(-1)).collect())
}

/// Refuses an array that does not have one entry a node.
fn right_length(what: &str, found: usize, nodes: usize) -> Result<()> {
    if found == nodes {
        return Ok(());
    }
    Err(Error::value(format!("{what} is of another length than there are nodes"))
        .found(format!("length {found}"))
        .allowed(format!("length {nodes}"))
        .advice("store one value for every node, in the order of the features"))
}

fn whole(values: &NumberSlice<'_>, position: usize) -> Option<i64> {
    const LIMIT: f64 = (1u64 << 53) as f64;
    match values {
        NumberSlice::Int(values) => Some(values[position]),
        values => {
            let value = values.get(position);
            (value.abs() <= LIMIT && value.fract().to_bits() << 1 == 0).then_some(value as i64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(values: &[i64], repeats: Repeats) -> Result<Vec<u32>> {
        nodes_of_index(NumberSlice::Int(values), 4, repeats)
    }

    #[test]
    fn an_index_list_keeps_its_order() {
        assert_eq!(index(&[3, 0, 2], Repeats::Refused).unwrap(), [3, 0, 2]);
        assert_eq!(index(&[1, 1], Repeats::Counted).unwrap(), [1, 1]);
        assert_eq!(index(&[], Repeats::Refused).unwrap(), [0u32; 0]);
    }

    #[test]
    fn numbers_that_are_no_nodes_and_repeated_nodes_are_placed() {
        for (values, words) in [
            (&[0, -1][..], ["position 1", "-1"]),
            (&[4], ["position 0", "0 to 3"]),
            (&[2, 1, 2], ["position 2", "node 2"]),
        ] {
            let text = index(values, Repeats::Refused).unwrap_err().to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }

    #[test]
    fn masks_are_read_and_checked() {
        assert_eq!(nodes_of_mask(NumberSlice::Int(&[1, 0, 1]), 3).unwrap(), [0, 2]);
        let text = nodes_of_mask(NumberSlice::F32(&[0.0, 0.5]), 2).unwrap_err().to_string();
        assert!(text.contains("node 1") && text.contains("0.5"), "{text}");
        let text = nodes_of_mask(NumberSlice::Int(&[1]), 2).unwrap_err().to_string();
        assert!(text.contains("length 1") && text.contains("length 2"), "{text}");
        assert!(same_nodes(&[2, 0], &[0, 2]).is_ok());
        assert!(same_nodes(&[0, 2], &[0, 1, 2]).unwrap_err().to_string().contains("node 1"));
    }

    #[test]
    fn only_labels_of_test_nodes_have_to_be_whole() {
        let values = NumberSlice::F64(&[2.0, f64::NAN, 2.7]);
        assert_eq!(labels(values, 3, Some(&[0])).unwrap()[0], 2);
        assert!(labels(values, 3, None).is_ok());
        let text = labels(values, 3, Some(&[0, 2])).unwrap_err().to_string();
        assert!(text.contains("node 2") && text.contains("2.7"), "{text}");
        assert!(labels(values, 4, None).unwrap_err().to_string().contains("length 4"));
    }
}
