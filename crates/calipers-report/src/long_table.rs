//! Tables with many lines a unit: blocks of typed columns, one unit after another, so that no more
//! than one of them is held as cells.

mod columnar;

use std::io::{self, Write};

use calipers_core::Result;
use serde_json::Value as Json;

use crate::csv::guarded;
use crate::number::shortest;

/// The heading of a column, and what its cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The name.
    pub name: &'static str,
    /// What the cells hold.
    pub kind: Kind,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
}

/// The lines of one unit; the unit itself is the first cell of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// The unit.
    pub unit: &'a str,
    /// How many lines there are.
    pub lines: usize,
    /// The columns in the order of the headings, with a cell a line each.
    pub columns: Vec<Cells>,
}

/// The cells of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers.
    Number(Vec<f64>),
    /// There is no value in any line.
    Undefined,
}

impl Cells {
    fn text(&self, line: usize) -> String {
        match self {
            Self::Whole(cells) => cells[line].to_string(),
            Self::Number(cells) => shortest(cells[line]),
            Self::Undefined => String::new(),
        }
    }

    fn json(&self, line: usize) -> Json {
        match self {
            Self::Whole(cells) => cells[line].into(),
            Self::Number(cells) => cells[line].into(),
            Self::Undefined => Json::Null,
        }
    }
}

/// Writes CSV; an empty cell is undefined.
pub fn csv<'a>(
    headings: &[Heading],
    blocks: impl Iterator<Item = Block<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    lines.write_record(std::iter::once("unit").chain(headings.iter().map(|heading| heading.name)))?;
    for block in blocks {
        let unit = guarded(block.unit);
        for line in 0..block.lines {
            lines.write_field(&unit)?;
            for cells in &block.columns {
                lines.write_field(cells.text(line))?;
            }
            lines.write_record(None::<&[u8]>)?;
        }
    }
    lines.flush()
}

/// Writes JSON, one object a line; `null` is undefined.
pub fn jsonl<'a>(
    headings: &[Heading],
    blocks: impl Iterator<Item = Block<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for block in blocks {
        for line in 0..block.lines {
            let cells = headings.iter().zip(&block.columns);
            let cells = cells.map(|(heading, cells)| (heading.name.to_owned(), cells.json(line)));
            let first = ("unit".to_owned(), Json::from(block.unit));
            let object: serde_json::Map<String, Json> = std::iter::once(first).chain(cells).collect();
            writeln!(out, "{}", Json::Object(object))?;
        }
    }
    Ok(())
}

/// A parquet file with a row group a unit: whole numbers as 64-bit integers, numbers as doubles,
/// and null where undefined.
pub fn parquet<'a>(headings: &[Heading], blocks: impl Iterator<Item = Block<'a>>) -> Result<Vec<u8>> {
    columnar::write(headings, blocks)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const HEADINGS: [Heading; 3] = [
        Heading { name: "node", kind: Kind::Whole },
        Heading { name: "bias", kind: Kind::Number },
        Heading { name: "touched", kind: Kind::Whole },
    ];

    pub(crate) fn blocks() -> Vec<Block<'static>> {
        let numbers = Cells::Number(vec![0.5, 2.0]);
        vec![
            Block {
                unit: "=a",
                lines: 2,
                columns: vec![Cells::Whole(vec![0, 7]), numbers, Cells::Undefined],
            },
            Block { unit: "empty", lines: 0, columns: vec![Cells::Undefined; 3] },
            Block {
                unit: "b",
                lines: 1,
                columns: vec![Cells::Whole(vec![3]), Cells::Number(vec![1e300]), Cells::Whole(vec![1])],
            },
        ]
    }

    #[test]
    fn csv_has_a_line_for_each_and_guards_names() {
        let mut out = Vec::new();
        csv(&HEADINGS, blocks().into_iter(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "unit,node,bias,touched\n'=a,0,0.5,\n'=a,7,2.0,\nb,3,1e+300,1\n");
    }

    #[test]
    fn jsonl_has_an_object_for_each_and_null_where_undefined() {
        let mut out = Vec::new();
        jsonl(&HEADINGS, blocks().into_iter(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let first = "{\"unit\":\"=a\",\"node\":0,\"bias\":0.5,\"touched\":null}\n";
        assert!(text.starts_with(first) && text.lines().count() == 3, "{text}");
    }
}
