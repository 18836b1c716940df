//! CSV and TSV tables: one row per node, columns `unit`, `node` and any of `logits`, `probs`,
//! `set`, `labels`.

use std::borrow::Cow;
use std::collections::HashMap;

use calipers_core::{Error, ErrorKind, Result};

use super::lines::{not_a_number, number};
use super::names;
use super::records::Records;
use super::{NodeSet, UnitColumns};
use crate::text::{leading_whole, not_whole};

const VALUES: [&str; 4] = ["logits", "probs", "set", "labels"];

/// Reads a table. Units come in the order of their first rows; within a unit every node from 0
/// on must occur exactly once, in any order. Other columns are ignored.
pub fn parse(bytes: &[u8], delimiter: u8) -> Result<Vec<UnitColumns>> {
    let mut records = Records::new(bytes, delimiter)?;
    let unit_column = records.column("unit");
    let node_column =
        records.column("node").ok_or_else(|| records.missing("no column `node`", "node, from 0"))?;
    let columns = VALUES.map(|name| records.column(name));
    if columns.iter().all(Option::is_none) {
        return Err(records.missing("no column of values", "any of logits, probs, set, labels"));
    }
    let mut units: Vec<Rows> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut current = None;
    while let Some((line, row)) = records.next()? {
        let name = unit_column.map_or(Cow::Borrowed(""), |column| row.cell(column));
        if current.is_none_or(|place: usize| units[place].name != name) {
            let place = places.get(&*name).copied().unwrap_or(units.len());
            if place == units.len() {
                if unit_column.is_some() {
                    names::check(&name).map_err(|error| error.at(format_args!("line {line}")))?;
                }
                places.insert(name.clone().into_owned(), place);
                units.push(Rows { name: name.into_owned(), ..Rows::default() });
            }
            current = Some(place);
        }
        let Some(unit) = current.map(|place| &mut units[place]) else { continue };
        let node = row.cell(node_column);
        let node = node.trim_ascii().as_bytes();
        let whole = leading_whole(node).filter(|(_, length)| *length == node.len());
        unit.nodes.push((whole.ok_or_else(|| not_whole(node, line))?.0, line));
        for (column, values) in columns.iter().zip(&mut unit.values) {
            let Some(column) = *column else { continue };
            let cell = row.cell(column);
            let value = number(cell.as_bytes());
            values.push(value.ok_or_else(|| not_a_number(cell.as_bytes()).at(format_args!("line {line}")))?);
        }
    }
    units
        .into_iter()
        .map(|unit| unit.ordered(unit_column.is_some(), columns.map(|column| column.is_some())))
        .collect()
}

/// The rows of one unit, in file order.
#[derive(Default)]
struct Rows {
    name: String,
    /// Node and line of each row.
    nodes: Vec<(u64, u64)>,
    values: [Vec<f64>; VALUES.len()],
}

impl Rows {
    /// The columns in node order, when every node occurs exactly once.
    fn ordered(self, named: bool, present: [bool; VALUES.len()]) -> Result<UnitColumns> {
        let Self { name, nodes, values } = self;
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|row| nodes[*row].0);
        for (expected, row) in order.iter().enumerate() {
            let (node, line) = nodes[*row];
            if node == expected as u64 {
                continue;
            }
            let before = expected.checked_sub(1).map(|earlier| nodes[order[earlier]]);
            let error = match before.filter(|(earlier, _)| *earlier == node) {
                Some((_, first)) => Error::new(ErrorKind::Duplicate, "a node occurs twice")
                    .at(format_args!("node {node}"))
                    .found(format_args!("lines {first} and {line}")),
                None => Error::value("a node is missing")
                    .at(format_args!("node {expected}"))
                    .found(format_args!("{} rows, the next node is {node} in line {line}", nodes.len())),
            };
            return Err(if named { error.at(format_args!("unit {name}")) } else { error }
                .allowed("every node from 0 on exactly once")
                .advice("write one row for each node of the graph"));
        }
        let mut columns = values.into_iter().zip(present).map(|(values, present)| {
            present.then(|| order.iter().map(|row| values[*row]).collect::<Vec<f64>>())
        });
        let mut column = || columns.next().flatten();
        Ok(UnitColumns {
            unit: named.then_some(name),
            line: nodes.iter().map(|(_, line)| *line).min().unwrap_or(0),
            lines: order.iter().map(|row| nodes[*row].1).collect(),
            logits: column(),
            probs: column(),
            set: column().map(NodeSet::Values),
            labels: column(),
            optimum: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes(), b',').unwrap_err().to_string()
    }

    #[test]
    fn rows_are_put_in_node_order_and_units_in_order_of_appearance() {
        let text = "node, unit,logits,labels,note\n1,b,0.5,1,x\n0,a,-1,0,\n0,b,2e0,0,y\r\n";
        let units = parse(text.as_bytes(), b',').unwrap();
        let names: Vec<_> = units.iter().map(|unit| (unit.unit.as_deref(), unit.line)).collect();
        assert_eq!(names, [(Some("b"), 2), (Some("a"), 3)]);
        assert_eq!(
            (units[0].logits.as_deref(), units[0].labels.as_deref()),
            (Some(&[2.0, 0.5][..]), Some(&[0.0, 1.0][..]))
        );
        assert_eq!((&units[0].probs, &units[0].set), (&None, &None));
    }

    #[test]
    fn one_graph_needs_no_unit_column_and_tabs_work() {
        let units = parse(b"node\tset\tprobs\n0\t1\t0.25\n1\t0\t1\n", b'\t').unwrap();
        assert_eq!((units.len(), &units[0].unit), (1, &None));
        assert_eq!(units[0].set, Some(NodeSet::Values(vec![1.0, 0.0])));
        assert_eq!(parse(b"node,set\n", b',').unwrap(), []);
    }

    #[test]
    fn a_node_that_is_missing_or_twice_is_named_with_unit_and_line() {
        let twice = refusal("unit,node,set\ng,0,1\nh,0,1\ng,1,0\ng,0,1\n");
        assert!(["unit g, node 0", "lines 2 and 5"].iter().all(|word| twice.contains(word)), "{twice}");
        let missing = refusal("unit,node,set\ng,0,1\ng,2,0\n");
        assert!(["unit g, node 1", "line 3"].iter().all(|word| missing.contains(word)), "{missing}");
        assert!(refusal("node,set\n18446744073709551615,1\n").contains("node 0"));
    }

    #[test]
    fn bad_cells_and_headers_are_refused() {
        for (text, word) in [
            ("", "empty file"),
            ("unit,set\n", "`node`"),
            ("node,score\n", "`score`"),
            ("node,set\n0,x\n", "line 2"),
            ("node,set\n0,\n", "empty cell"),
            ("node,set\n-1,0\n", "`-1`"),
            ("node,set\n0.0,0\n", "line 2"),
            ("node,set\n0,1,2\n", "3 cells"),
            ("unit,node,set\n,0,1\n", "line 2"),
        ] {
            let error = refusal(text);
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}
