//! The table of nodes: a line for each node of each pair, which rows do not keep.

use std::collections::BTreeMap;
use std::io::{self, Write};

use calipers_core::{Result, Value};
use calipers_metrics::robustness::NodeLines;
use calipers_report::per_unit::{Kind, parquet_blocks, write_csv, write_jsonl};

/// The columns.
const COLUMNS: [(&str, Kind); 8] = [
    ("unit", Kind::Text),
    ("node", Kind::Whole),
    ("bias", Kind::Number),
    ("clean_norm2", Kind::Number),
    ("touched", Kind::Whole),
    ("test", Kind::Whole),
    ("clean_pred", Kind::Whole),
    ("attacked_pred", Kind::Whole),
];

/// The lines of every unit, in the order of their names.
#[derive(Debug)]
pub struct NodeTable<'a>(pub &'a BTreeMap<String, NodeLines>);

impl NodeTable<'_> {
    /// Writes it as CSV.
    pub fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv(&COLUMNS.map(|(heading, _)| heading), self.blocks().flatten(), out)
    }

    /// Writes it as JSON, one object per line.
    pub fn jsonl(&self, out: &mut dyn Write) -> io::Result<()> {
        write_jsonl(&COLUMNS.map(|(heading, _)| heading), self.blocks().flatten(), out)
    }

    /// The table as a parquet file.
    pub fn parquet(&self) -> Result<Vec<u8>> {
        parquet_blocks(&COLUMNS, self.blocks())
    }

    /// The lines unit by unit, so that no more than one of them is held as cells.
    fn blocks(&self) -> impl Iterator<Item = Vec<(&str, [Value; 7])>> {
        self.0.iter().map(|(unit, lines)| {
            let line = |at: usize| {
                let cells = [
                    Value::Count(lines.nodes[at].into()),
                    Value::Number(lines.bias[at]),
                    Value::Number(lines.clean_norm2[at]),
                    count(lines.touched.as_deref(), at),
                    count(lines.test.as_deref(), at),
                    count(lines.clean_pred.as_deref(), at),
                    count(lines.attacked_pred.as_deref(), at),
                ];
                (unit.as_str(), cells)
            };
            (0..lines.nodes.len()).map(line).collect()
        })
    }
}

fn count<T: Copy + Into<i128>>(cells: Option<&[T]>, at: usize) -> Value {
    cells.map_or(Value::undefined(""), |cells| Value::Count(cells[at].into()))
}
