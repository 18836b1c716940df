//! A column of a parquet file as units: one row per unit, each a file or an array.
//!
//! `FILE.parquet:COLUMN` names it. Its units are called by the column `unit`, else by the number of the row,
//! from 0 with at least six digits. A row group is decoded when one of its rows is asked for.

mod address;
mod cells;
mod field;
mod lists;

use std::collections::BTreeMap;
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use parquet::basic::Type as Physical;
use parquet::file::metadata::ParquetMetaData;

pub use self::address::address;
pub use self::cells::{Cell, Column};
use crate::file::{ReadAt, empty};
use crate::history::parquet::column::{kind, texts};
use crate::history::parquet::groups::{Source, damaged};
use crate::history::parquet::{checked_footer, guarded};

/// The column that names the rows.
const UNIT: &str = "unit";

/// A parquet file whose rows are units.
pub struct Table(Arc<Opened>);

/// An open file with its footer, and the first row of each row group.
struct Opened {
    file: Arc<dyn ReadAt>,
    footer: Arc<ParquetMetaData>,
    starts: Vec<u64>,
}

impl Opened {
    fn source(&self) -> Source<'_> {
        Source { file: &*self.file, footer: Arc::clone(&self.footer) }
    }
}

impl Table {
    /// Reads the footer of a file.
    pub fn open(file: Arc<dyn ReadAt>) -> Result<Self> {
        if file.size() == 0 {
            return Err(empty());
        }
        let footer = guarded(|| checked_footer(&*file))?;
        let mut next = 0;
        let start = |rows: i64| {
            let start = next;
            next += u64::try_from(rows).map_err(damaged)?;
            Ok(start)
        };
        let starts =
            footer.row_groups().iter().map(|group| group.num_rows()).map(start).collect::<Result<_>>()?;
        Ok(Self(Arc::new(Opened { file, footer: Arc::new(footer), starts })))
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.0.footer.file_metadata().num_rows()).unwrap_or_default()
    }

    /// The names of the columns, in their order.
    pub fn columns(&self) -> Vec<String> {
        field::names(self.0.footer.file_metadata().schema_descr())
    }

    /// A column whose cells are files or arrays.
    pub fn column(&self, name: &str) -> Result<Column> {
        let field = field::find(self.0.footer.file_metadata().schema_descr(), name);
        Ok(Column::new(Arc::clone(&self.0), field.map_err(|error| error.at(format!("column `{name}`")))?))
    }

    /// What the units are called, by row.
    pub fn unit_names(&self) -> Result<Vec<String>> {
        let schema = self.0.footer.file_metadata().schema_descr();
        let is_unit = |at: &usize| schema.column(*at).path().parts() == [UNIT.to_owned()];
        let Some(place) = (0..schema.num_columns()).find(is_unit) else {
            return Ok((0..self.rows()).map(row_name).collect());
        };
        let column = schema.column(place);
        let named =
            matches!(column.physical_type(), Physical::BYTE_ARRAY | Physical::INT32 | Physical::INT64);
        if !named || column.max_rep_level() > 0 {
            return Err(Error::value("the column does not hold names")
                .at(format!("column `{UNIT}`"))
                .found(kind(&column))
                .allowed("text or whole numbers"));
        }
        let mut names = Vec::new();
        for group in 0..self.0.footer.num_row_groups() {
            guarded(|| self.names_of(group, place, &mut names))?;
        }
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for (row, name) in names.iter().enumerate() {
            if let Some(first) = rows.insert(name, row) {
                let [first, row] = [first, row].map(|row| row_name(row as u64));
                return Err(Error::new(ErrorKind::Duplicate, "two rows name one unit")
                    .at(format!("column `{UNIT}`, rows {first} and {row}"))
                    .found(format!("'{name}'"))
                    .allowed("every name once"));
            }
        }
        Ok(names)
    }

    /// Adds the names of a row group.
    fn names_of(&self, group: usize, place: usize, names: &mut Vec<String>) -> Result<()> {
        let before = names.len();
        let found = texts(&self.0.source(), group, place, before)?;
        let rows = u64::try_from(self.0.footer.row_group(group).num_rows()).map_err(damaged)?;
        let mut cells = found.cells.iter();
        for row in 0..rows {
            let name = cells.next().filter(|(at, _)| u64::from(*at) == row);
            let name = name.map(|(_, name)| found.names[*name as usize].as_str()).unwrap_or_default();
            if name.is_empty() {
                return Err(Error::value("a row without a name")
                    .at(format!("column `{UNIT}`, row {}", row_name(before as u64 + row)))
                    .found("a null or no characters")
                    .allowed("a name of one character or more"));
            }
            names.push(name.to_owned());
        }
        Ok(())
    }
}

/// What a row is called that has no name.
fn row_name(row: u64) -> String {
    format!("{row:06}")
}
