//! Where the table of nodes is written, and in which form.

use std::path::Path;

use calipers::tables::per_node::NodeTable;
use calipers::{Result, output};

use crate::emit::{TableFormat, table_format};

const FLAG: &str = "--per-node";

/// Refuses a table that could not be written, before any work.
pub(super) fn check(path: &Path) -> Result<()> {
    table_format(FLAG, path)?;
    output::check(path)
}

/// Writes the table in the form that the ending of the file asks for.
pub(super) fn write(path: &Path, table: &NodeTable) -> Result<()> {
    match table_format(FLAG, path)? {
        TableFormat::Csv => output::write_with(path, |out| table.csv(out)),
        TableFormat::JsonLines => output::write_with(path, |out| table.jsonl(out)),
        TableFormat::Parquet => output::write(path, &table.parquet()?),
    }
}
