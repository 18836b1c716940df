//! The table of nodes: a line for each node of each pair, which rows do not keep.

use std::collections::BTreeMap;
use std::io::{self, Write};

use calipers_core::Result;
use calipers_metrics::robustness::NodeLines;
use calipers_report::long_table::{self, Block, Cells, Heading, Kind};

/// The columns after the unit.
const HEADINGS: [Heading; 7] = [
    Heading { name: "node", kind: Kind::Whole },
    Heading { name: "bias", kind: Kind::Number },
    Heading { name: "clean_norm2", kind: Kind::Number },
    Heading { name: "touched", kind: Kind::Whole },
    Heading { name: "test", kind: Kind::Whole },
    Heading { name: "clean_pred", kind: Kind::Whole },
    Heading { name: "attacked_pred", kind: Kind::Whole },
];

/// The lines of every unit, in the order of their names.
#[derive(Debug)]
pub struct NodeTable<'a>(pub &'a BTreeMap<String, NodeLines>);

impl NodeTable<'_> {
    /// Writes it as CSV.
    pub fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        long_table::csv(&HEADINGS, self.blocks(), out)
    }

    /// Writes it as JSON, one object per line.
    pub fn jsonl(&self, out: &mut dyn Write) -> io::Result<()> {
        long_table::jsonl(&HEADINGS, self.blocks(), out)
    }

    /// The table as a parquet file.
    pub fn parquet(&self) -> Result<Vec<u8>> {
        long_table::parquet(&HEADINGS, self.blocks())
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.0.iter().map(|(unit, lines)| Block {
            unit,
            lines: lines.nodes.len(),
            columns: vec![
                Cells::Whole(lines.nodes.iter().copied().map(i64::from).collect()),
                Cells::Number(lines.bias.clone()),
                Cells::Number(lines.clean_norm2.clone()),
                whole(lines.touched.as_deref()),
                whole(lines.test.as_deref()),
                whole(lines.clean_pred.as_deref()),
                whole(lines.attacked_pred.as_deref()),
            ],
        })
    }
}

fn whole<T: Copy + Into<i64>>(cells: Option<&[T]>) -> Cells {
    cells.map_or(Cells::Undefined, |cells| Cells::Whole(cells.iter().map(|&cell| cell.into()).collect()))
}
