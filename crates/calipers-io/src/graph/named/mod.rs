//! Graphs whose nodes have names: GraphML and node-link JSON.

pub mod graphml;
pub mod node_link;

use std::collections::HashMap;
use std::rc::Rc;

use calipers_core::{Error, Result};

use super::{Storage, StoredGraph, check_nodes};

/// How many names a warning shows.
const SHOWN: usize = 3;
/// A node that was named by an edge and not declared yet.
const UNDECLARED: u32 = u32::MAX;

/// The nodes of one graph by name, in the order in which they are mentioned, and its edges.
#[derive(Default)]
struct NamedGraph {
    known: HashMap<Rc<str>, u32>,
    nodes: Vec<Node>,
    declared: u32,
    edges: Vec<(u32, u32)>,
    /// The edges that go one way, by place, where some do and some do not.
    directed: Vec<bool>,
    labelled: Labelled,
}

struct Node {
    name: Rc<str>,
    /// Its place among the declared nodes.
    number: u32,
    /// Where it was mentioned first: a line, or the place of an edge.
    first: u64,
}

/// The labels of nodes that were declared, in their order.
#[derive(Default)]
struct Labelled {
    labels: Vec<Option<bool>>,
    /// The first value that is no label.
    other: Option<String>,
}

impl NamedGraph {
    /// The place of a name among those mentioned.
    fn mention(&mut self, name: &str, first: u64) -> Result<u32> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        check_nodes(self.nodes.len() as u64 + 1)?;
        let (place, name) = (self.nodes.len() as u32, Rc::<str>::from(name));
        self.known.insert(Rc::clone(&name), place);
        self.nodes.push(Node { name, number: UNDECLARED, first });
        Ok(place)
    }

    /// Declares a node; `Err` of the inner result where that was done before.
    fn declare(&mut self, name: &str, first: u64) -> Result<std::result::Result<(), ()>> {
        let place = self.mention(name, first)? as usize;
        if self.nodes[place].number != UNDECLARED {
            return Ok(Err(()));
        }
        self.nodes[place].number = self.declared;
        self.declared += 1;
        self.labelled.labels.push(None);
        Ok(Ok(()))
    }

    /// Notes the value that the node declared last has as a label.
    fn label(&mut self, value: Option<bool>, shown: impl FnOnce() -> String) {
        let Some(last) = self.labelled.labels.last_mut() else { return };
        *last = value;
        if value.is_none() && self.labelled.other.is_none() {
            self.labelled.other = Some(format!("{} at node {}", shown(), self.declared - 1));
        }
    }

    fn edge(&mut self, from: u32, to: u32, directed: bool) {
        self.edges.push((from, to));
        self.directed.push(directed);
    }

    /// The graph with numbers for names; `undeclared` makes the error for a name that only edges have.
    fn finish(self, undeclared: impl FnOnce(&str, u64) -> Error) -> Result<StoredGraph> {
        if let Some(node) = self.nodes.iter().find(|node| node.number == UNDECLARED) {
            return Err(undeclared(&node.name, node.first));
        }
        let count = self.declared;
        let numbers: Vec<Option<u32>> = self.nodes.iter().map(|node| own_number(&node.name, count)).collect();
        let is_numbered = numbers.iter().all(Option::is_some) && self.has_one_kind();
        let number = |place: u32| match numbers[place as usize] {
            Some(number) if is_numbered => number,
            _ => self.nodes[place as usize].number,
        };
        let any_directed = self.directed.contains(&true);
        let mut entries = Vec::with_capacity(self.edges.len());
        for ((u, v), directed) in self.edges.iter().zip(&self.directed) {
            let (u, v) = (number(*u), number(*v));
            entries.push((u, v));
            // Beside edges that go one way, one that goes both is stored both ways.
            if any_directed && !directed {
                entries.push((v, u));
            }
        }
        let mut in_order = vec![(0, None); self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            in_order[node.number as usize] =
                (number(place as u32), self.labelled.labels[node.number as usize]);
        }
        let renumbered = (!is_numbered).then(|| {
            let mut first: Vec<&Node> =
                self.nodes.iter().filter(|node| (node.number as usize) < SHOWN).collect();
            first.sort_unstable_by_key(|node| node.number);
            let names: Vec<&str> = first.iter().map(|node| node.name.trim_start_matches('"')).collect();
            names.join(", ")
        });
        let (labels, no_labels) = self.labelled.finish(&in_order);
        Ok(StoredGraph {
            nodes: Some(count.into()),
            entries,
            storage: if any_directed { Storage::Both } else { Storage::Once },
            labels,
            no_labels,
            renumbered,
            ..StoredGraph::default()
        })
    }

    /// Whether all names are numbers or all are texts: 1 and "1" are two nodes.
    fn has_one_kind(&self) -> bool {
        let texts = self.nodes.iter().filter(|node| node.name.starts_with('"')).count();
        texts == 0 || texts == self.nodes.len()
    }
}

impl Labelled {
    /// The labels by node number, or why there are none.
    fn finish(self, in_order: &[(u32, Option<bool>)]) -> (Option<Vec<bool>>, Option<String>) {
        if self.other.is_some() {
            return (None, self.other);
        }
        let mut labels = vec![false; in_order.len()];
        let given = in_order.iter().filter(|(_, label)| label.is_some()).count();
        for (number, label) in in_order {
            labels[*number as usize] = label.unwrap_or_default();
        }
        match given {
            _ if given == in_order.len() => (Some(labels), None),
            0 => (None, None),
            _ => (None, Some(format!("labels for {given} of {} nodes", in_order.len()))),
        }
    }
}

/// The number that a name is: a whole number below the number of nodes, written plainly.
fn own_number(name: &str, nodes: u32) -> Option<u32> {
    let digits = name.strip_prefix('"').unwrap_or(name);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let plain = plain && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|number| plain && *number < nodes)
}

/// A label as a file writes it.
fn label_of(text: &str) -> Option<bool> {
    match text.trim() {
        "0" | "false" => Some(false),
        "1" | "true" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: &[&str], edges: &[(&str, &str)]) -> StoredGraph {
        let mut graph = NamedGraph::default();
        for (from, to) in edges {
            let (from, to) = (graph.mention(from, 0).unwrap(), graph.mention(to, 0).unwrap());
            graph.edge(from, to, false);
        }
        nodes.iter().for_each(|node| graph.declare(node, 0).unwrap().unwrap());
        graph.finish(|name, _| Error::value(name)).unwrap()
    }

    #[test]
    fn names_that_are_the_numbers_of_the_nodes_are_kept_in_any_order() {
        for quoted in [false, true] {
            let name = |number: &str| if quoted { format!("\"{number}") } else { number.to_owned() };
            let names = ["2", "0", "1"].map(name);
            let [two, zero, one] = [&*names[0], &*names[1], &*names[2]];
            let read = graph(&[two, zero, one], &[(two, one), (zero, two)]);
            assert_eq!((read.entries, read.renumbered), (vec![(2, 1), (0, 2)], None));
        }
    }

    #[test]
    fn other_names_are_numbered_in_the_order_of_the_file_and_said() {
        for names in
            [["n1", "n0", "x"], ["1", "2", "3"], ["00", "1", "2"], ["0", "\"1", "2"], ["0", "-1", "1"]]
        {
            let read = graph(&names, &[(names[2], names[0])]);
            assert_eq!(read.entries, [(2, 0)], "{names:?}");
            assert_eq!(read.renumbered.unwrap(), names.join(", ").replace('"', ""));
        }
    }
}
