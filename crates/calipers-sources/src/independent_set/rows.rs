//! A parquet file whose rows are graphs: `edge_index` and, beside it, the keys of array files as columns.

use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{Arrays, Source};
use calipers_io::column::{Cell, Column, Table};

use super::arrays::{EDGE_INDEX, is_key};

/// The graphs of a file, read row by row.
pub struct Rows {
    table: Table,
    columns: Vec<(String, Column)>,
}

impl Rows {
    /// Opens a file; `column` is the one that was named.
    pub fn open(source: Source, column: &str) -> Result<Self> {
        if column != EDGE_INDEX {
            return Err(Error::value("the column of graphs is called otherwise")
                .found(format!("`{column}`"))
                .allowed(format!("`{EDGE_INDEX}`"))
                .advice("name the column of edges; scores and labels are found beside it"));
        }
        let table = Table::open(source)?;
        // The named one first: what is said of it comes before all else.
        let others = table.columns().into_iter().filter(|name| name != column && is_key(name));
        let open = |name: String| {
            let column = table.column(&name)?;
            if column.holds_files() {
                return Err(Error::value("the column holds no numbers")
                    .at(format!("column `{name}`"))
                    .found("bytes or text")
                    .allowed("numbers, or lists of them"));
            }
            Ok((name, column))
        };
        let columns = std::iter::once(column.to_owned()).chain(others).map(open).collect::<Result<_>>()?;
        Ok(Self { table, columns })
    }

    /// What the graphs are called, by row.
    pub fn names(&self) -> Result<Vec<String>> {
        self.table.unit_names()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        usize::try_from(self.table.rows()).unwrap_or(usize::MAX)
    }

    /// The arrays of a row; a null is a key that the row has not.
    pub fn row(&self, row: usize) -> Result<Arrays> {
        let mut arrays = Vec::new();
        for (name, column) in &self.columns {
            match column.cell(row as u64).map_err(|error| error.at(format!("column `{name}`")))? {
                Some(Cell::Array(array)) => arrays.push((name.clone(), array)),
                Some(Cell::Bytes(_)) | None => {}
            }
        }
        Ok(Arrays::of(arrays))
    }
}

/// The rows of a file, where a column of it is named.
pub fn open(source: Source, column: Option<&str>) -> Result<Option<Arc<Rows>>> {
    column.map(|column| Rows::open(source, column).map(Arc::new)).transpose()
}
