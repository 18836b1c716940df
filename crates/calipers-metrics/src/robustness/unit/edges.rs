//! Graphs as files give them: both directions, every edge once, or the pairs to toggle.

use calipers_core::{Error, Result};

/// An undirected edge, the smaller node first.
pub type Edge = (u32, u32);

/// What the pairs of an array are called in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Edges of a graph.
    Edges,
    /// Pairs to toggle.
    Flips,
}

impl Pairs {
    fn one(self) -> &'static str {
        match self {
            Self::Edges => "edge",
            Self::Flips => "flip",
        }
    }
}

/// The edges, or flips, of an (m, 2) array that lists each once in any orientation; sorted.
pub fn edges_once(values: &[i64], shape: &[usize], nodes: usize, pairs: Pairs) -> Result<Vec<Edge>> {
    let &[_, 2] = shape else {
        let error = Error::value(format!("{}s are an (m, 2) array", pairs.one()));
        return Err(misshapen(error, shape, matches!(shape, [2, _])));
    };
    let mut found = Vec::with_capacity(values.len() / 2);
    for (row, pair) in values.as_chunks::<2>().0.iter().enumerate() {
        let (a, b) = ends(*pair, nodes, || format!("row {row}"))?;
        if a == b {
            return Err(self_loop(pairs.one(), a, format!("row {row}")));
        }
        found.push((a.min(b), a.max(b)));
    }
    sorted(found, |edge| {
        let is_edge = |[a, b]: &[i64; 2]| (*a.min(b), *a.max(b)) == (edge.0.into(), edge.1.into());
        let mut rows = values.as_chunks::<2>().0.iter().enumerate().filter(|(_, pair)| is_edge(pair));
        let mut row = || rows.next().map_or(0, |(row, _)| row);
        repeated(pairs.one(), edge, format!("rows {} and {}", row(), row()))
    })
}

/// The edges of a (2, E) array that lists both directions of each; sorted.
pub fn edges_both_ways(values: &[i64], shape: &[usize], nodes: usize) -> Result<Vec<Edge>> {
    let columns = entries(values, shape, nodes)?;
    let mut forward = Vec::with_capacity(columns.len() / 2);
    let mut backward = Vec::with_capacity(columns.len() / 2);
    for (column, &(a, b)) in columns.iter().enumerate() {
        match a.cmp(&b) {
            std::cmp::Ordering::Less => forward.push((a, b)),
            std::cmp::Ordering::Greater => backward.push((b, a)),
            std::cmp::Ordering::Equal => return Err(self_loop("edge", a, format!("column {column}"))),
        }
    }
    let twice = |edge: Edge, swapped: bool| {
        let entry = if swapped { (edge.1, edge.0) } else { edge };
        let mut places = columns.iter().enumerate().filter(|(_, other)| **other == entry).map(|(c, _)| c);
        let mut column = || places.next().unwrap_or_default();
        repeated("edge", entry, format!("columns {} and {}", column(), column()))
    };
    let forward = sorted(forward, |edge| twice(edge, false))?;
    let backward = sorted(backward, |edge| twice(edge, true))?;
    if forward == backward {
        return Ok(forward);
    }
    let lonely = |&(a, b): &Edge| {
        let (other, edge) = if a < b { (&backward, (a, b)) } else { (&forward, (b, a)) };
        other.binary_search(&edge).is_err()
    };
    let mut alone = columns.iter().enumerate().filter(|(_, entry)| lonely(entry));
    let (column, (a, b)) = alone.next().map_or((0, (0, 0)), |(column, entry)| (column, *entry));
    Err(Error::value("an edge has no reverse")
        .at(format!("column {column}"))
        .found(format!("({a}, {b}) without ({b}, {a}), and {} such entries in all", alone.count() + 1))
        .allowed("both directions of every edge")
        .advice("use `edges` if each edge is listed once"))
}

/// The entries of a (2, E) array as they are, loops and repeats too: how preset `rung-fork` takes
/// a matrix.
pub fn entries(values: &[i64], shape: &[usize], nodes: usize) -> Result<Vec<Edge>> {
    let &[2, columns] = shape else {
        let error = Error::value("an edge index is a (2, E) array");
        return Err(misshapen(error, shape, matches!(shape, [_, 2])));
    };
    let (from, to) = values.split_at(columns);
    from.iter()
        .zip(to)
        .enumerate()
        .map(|(column, (&a, &b))| ends([a, b], nodes, || format!("column {column}")))
        .collect()
}

/// The graph after the flips: edges that are toggled away are gone, others are new; sorted.
pub fn toggled(clean: &[Edge], flips: &[Edge]) -> Vec<Edge> {
    let mut attacked = Vec::with_capacity(clean.len() + flips.len());
    let (mut clean, mut flips) = (clean.iter().peekable(), flips.iter().peekable());
    loop {
        match (clean.peek(), flips.peek()) {
            (Some(a), Some(b)) if a == b => {
                clean.next();
                flips.next();
            }
            (Some(a), Some(b)) if a < b => attacked.extend(clean.next()),
            (Some(_), None) => attacked.extend(clean.next()),
            (_, Some(_)) => attacked.extend(flips.next()),
            (None, None) => return attacked,
        }
    }
}

fn ends(pair: [i64; 2], nodes: usize, place: impl Fn() -> String) -> Result<(u32, u32)> {
    let node = |value: i64| {
        let node = usize::try_from(value).ok().filter(|&node| node < nodes);
        node.map(|node| node as u32).ok_or_else(|| {
            Error::value("not a node number")
                .at(place())
                .found(value)
                .allowed(format!("0 to {}, there are {nodes} nodes", nodes as i128 - 1))
                .advice("nodes are counted from 0: check that the pairs belong to this graph")
        })
    };
    Ok((node(pair[0])?, node(pair[1])?))
}

/// Sorts pairs, which files often have in order; `twice` says where a pair occurs again.
fn sorted(mut pairs: Vec<Edge>, twice: impl Fn(Edge) -> Error) -> Result<Vec<Edge>> {
    if !pairs.is_sorted() {
        pairs.sort_unstable();
    }
    match pairs.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(twice(pair[0])),
        None => Ok(pairs),
    }
}

fn misshapen(error: Error, shape: &[usize], transposed: bool) -> Error {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let error = error.found(format!("shape ({})", lengths.join(", ")));
    if transposed { error.advice("it looks transposed") } else { error }
}

fn self_loop(what: &str, node: u32, place: String) -> Error {
    Error::value(format!("a self loop among the {what}s"))
        .at(place)
        .found(format!("({node}, {node})"))
        .advice("leave loops out: they enter the degrees by themselves")
}

fn repeated(what: &str, (a, b): Edge, place: String) -> Error {
    Error::value(format!("a repeated {what}"))
        .at(place)
        .found(format!("({a}, {b})"))
        .advice(format!("list every {what} once"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    use super::*;

    fn once(values: &[i64]) -> Result<Vec<Edge>> {
        edges_once(values, &[values.len() / 2, 2], 5, Pairs::Edges)
    }

    fn both(from: &[i64], to: &[i64]) -> Result<Vec<Edge>> {
        edges_both_ways(&[from, to].concat(), &[2, from.len()], 5)
    }

    #[test]
    fn both_forms_give_the_same_sorted_edges() {
        assert_eq!(once(&[3, 1, 0, 2]).unwrap(), [(0, 2), (1, 3)]);
        assert_eq!(both(&[3, 0, 1, 2], &[1, 2, 3, 0]).unwrap(), [(0, 2), (1, 3)]);
        assert_eq!(once(&[]).unwrap(), []);
        assert_eq!(edges_both_ways(&[], &[2, 0], 5).unwrap(), []);
    }

    #[test]
    fn every_fault_of_a_graph_is_placed() {
        for (result, words) in [
            (once(&[0, 1, 2, 2]), ["self loop", "row 1"]),
            (once(&[0, 1, 2, 3, 1, 0]), ["repeated edge", "rows 0 and 2"]),
            (once(&[0, 5]), ["row 0", "0 to 4"]),
            (both(&[0, 1, 2], &[1, 0, 3]), ["(2, 3) without (3, 2)", "use `edges`"]),
            (both(&[0, 1, 0], &[1, 0, 1]), ["repeated edge", "columns 0 and 2"]),
            (both(&[0, -1], &[1, 0]), ["column 1", "-1"]),
            (both(&[4], &[4]), ["self loop", "(4, 4)"]),
            (edges_once(&[0; 6], &[2, 3], 5, Pairs::Edges), ["(2, 3)", "looks transposed"]),
            (edges_both_ways(&[0; 6], &[3, 2], 5), ["(3, 2)", "looks transposed"]),
            (edges_once(&[0, 1, 1, 0], &[2, 2], 5, Pairs::Flips), ["repeated flip", "(0, 1)"]),
        ] {
            let text = result.unwrap_err().to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }

    #[test]
    fn a_matrix_is_taken_as_it_is() {
        assert_eq!(entries(&[1, 0, 0, 1, 2, 2], &[2, 3], 3).unwrap(), [(1, 1), (0, 2), (0, 2)]);
    }

    proptest! {
        #[test]
        fn toggling_is_the_symmetric_difference(a in edges(), b in edges()) {
            let expected: Vec<Edge> = a.symmetric_difference(&b).copied().collect();
            let (a, b): (Vec<Edge>, Vec<Edge>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(&toggled(&a, &b), &expected);
            prop_assert_eq!(toggled(&expected, &b), a);
        }
    }

    fn edges() -> impl Strategy<Value = BTreeSet<Edge>> {
        prop::collection::btree_set((0u32..6, 0u32..6).prop_filter("no loop", |(a, b)| a < b), 0..9)
    }
}
