//! Where the table of nodes is written, and in which form.

use std::collections::BTreeMap;
use std::path::Path;

use calipers::metrics::robustness::NodeLines;
use calipers::tables::per_node::NodeTable;
use calipers::{Result, output};

use crate::emit::{TableFormat, table_format};
use crate::files::{Beside, Place, WritingBeside};

const FLAG: &str = "--per-node";

/// Refuses a table that could not be written, before any work.
pub(super) fn check(path: &Path) -> Result<()> {
    table_format(FLAG, path)?;
    output::check(path)
}

/// The table in the form that the ending of the file asks for, to be written beside reports.
pub(super) fn beside(path: &Path, nodes: BTreeMap<String, NodeLines>) -> Result<Beside> {
    let write: WritingBeside = match table_format(FLAG, path)? {
        TableFormat::Csv => Box::new(move |out| NodeTable(&nodes).csv(out)),
        TableFormat::JsonLines => Box::new(move |out| NodeTable(&nodes).jsonl(out)),
        TableFormat::Parquet => {
            let bytes = NodeTable(&nodes).parquet()?;
            Box::new(move |out| out.write_all(&bytes))
        }
    };
    Ok(Beside { place: Place::PerNode, path: path.to_owned(), write })
}
