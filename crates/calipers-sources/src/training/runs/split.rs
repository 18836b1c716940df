//! The runs of one table: which rows belong to which run, and what the columns say about each.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use calipers_io::history::{Table, Texts};

use super::filter;
use super::known::{CONFIG, is_field};
use crate::training::options::Options;
use crate::training::points::x_axis::missing;

/// A table divided into runs.
#[derive(Debug)]
pub struct Split {
    /// The runs, in the order of their first rows.
    pub runs: Vec<Part>,
    /// The run of each row, or nobody; none when all rows are one run.
    of_row: Option<Vec<u32>>,
}

/// Stands for the run of a row that belongs to none: four bytes per row instead of eight.
const NOBODY: u32 = u32::MAX;

/// What the columns say about one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The text under `--run-column`.
    pub name: Option<String>,
    /// The texts under the columns that rules name.
    pub columns: BTreeMap<String, String>,
    /// How many rows it has.
    pub rows: usize,
}

impl Split {
    /// Divides a table by the run column, else by the columns of all rules together.
    pub fn new(table: &Table, options: &Options) -> Result<Self> {
        let mut labels: Vec<(&str, &Texts)> = Vec::new();
        for asked in options.assignment.columns() {
            if let Some(texts) = column(table, asked, options.run_column.as_deref())? {
                labels.push((asked, texts));
            }
        }
        let mut split = match options.run_column.as_deref() {
            Some(asked) => match column(table, asked, options.run_column.as_deref())? {
                Some(names) => Self::by_name(table, names),
                None => Self::by_labels(table, &labels),
            },
            None => Self::by_labels(table, &labels),
        };
        for (asked, texts) in labels {
            split.describe(table, asked, texts)?;
        }
        Ok(split)
    }

    /// The run of a row.
    pub fn run_of(&self, row: u32) -> Option<usize> {
        match &self.of_row {
            None => Some(0),
            Some(of_row) => of_row.get(row as usize).filter(|run| **run != NOBODY).map(|run| *run as usize),
        }
    }

    fn whole(table: &Table) -> Self {
        Self { runs: vec![Part { rows: table.rows, ..Part::default() }], of_row: None }
    }

    fn by_name(table: &Table, names: &Texts) -> Self {
        let mut runs: Vec<Part> =
            names.names.iter().map(|name| Part { name: Some(name.clone()), ..Part::default() }).collect();
        let mut of_row = vec![NOBODY; table.rows];
        for (row, name) in &names.cells {
            of_row[*row as usize] = *name;
            runs[*name as usize].rows += 1;
        }
        Self { runs, of_row: Some(of_row) }
    }

    fn by_labels(table: &Table, labels: &[(&str, &Texts)]) -> Self {
        if labels.iter().all(|(_, texts)| texts.names.len() <= 1) {
            return Self::whole(table);
        }
        // Rows with the same texts so far have the same number.
        let mut of_row = vec![0_u32; table.rows];
        for (_, texts) in labels {
            let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            let mut cells = texts.cells.iter().peekable();
            for (row, run) in of_row.iter_mut().enumerate() {
                let cell = cells.next_if(|(at, _)| *at as usize == row);
                // A row that lacks one of the columns belongs to no run.
                *run = match cell {
                    Some((_, name)) if *run != NOBODY => {
                        let next = known.len() as u32;
                        *known.entry((*run, *name)).or_insert(next)
                    }
                    _ => NOBODY,
                };
            }
        }
        // Rows that belong to no run leave no gap in the numbering.
        let (mut places, mut runs): (BTreeMap<u32, u32>, Vec<Part>) = (BTreeMap::new(), Vec::new());
        for run in of_row.iter_mut().filter(|run| **run != NOBODY) {
            *run = *places.entry(*run).or_insert_with(|| {
                runs.push(Part::default());
                runs.len() as u32 - 1
            });
            runs[*run as usize].rows += 1;
        }
        Self { runs, of_row: Some(of_row) }
    }

    /// Gives every run its text under a column, which does not change within a run.
    fn describe(&mut self, table: &Table, asked: &str, column: &Texts) -> Result<()> {
        let mut first: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
        for (row, name) in &column.cells {
            let Some(run) = self.run_of(*row) else { continue };
            let (first_row, first_name) = *first.entry(run).or_insert((*row, *name));
            if first_name != *name {
                let text = |name: u32| &column.names[name as usize];
                let places = (table.places.of(first_row), table.places.of(*row));
                return Err(Error::value("a column changes within a run")
                    .at(format!("column '{}', {} and {}", column.key, places.0, places.1))
                    .found(format!("'{}' and '{}'", text(first_name), text(*name)))
                    .allowed("one text in all rows of a run")
                    .advice("separate the runs of the table with --run-column COL"));
            }
        }
        for (run, (_, name)) in first {
            self.runs[run].columns.insert(asked.to_owned(), column.names[name as usize].clone());
        }
        Ok(())
    }
}

/// The texts of a column that was asked for. A table must have it, unless the word means a field; elsewhere
/// the run's own configuration may hold it.
fn column<'a>(table: &'a Table, asked: &str, run_column: Option<&str>) -> Result<Option<&'a Texts>> {
    match filter::column(table, asked).filter(|column| !column.cells.is_empty()) {
        Some(column) => Ok(Some(column)),
        None if !table.origin.is_table() || is_setting(table, asked) => Ok(None),
        None if is_field(asked, table.origin) && run_column != Some(asked) => Ok(None),
        None if table.keys.iter().any(|key| key == asked) => {
            Err(Error::value("a column without a single text").at(format!("column '{asked}'")))
        }
        None => Err(missing(table, asked)),
    }
}

/// Whether the settings beside a table have a key, be it with `config.` in front.
fn is_setting(table: &Table, asked: &str) -> bool {
    let bare = asked.strip_prefix(CONFIG).unwrap_or(asked);
    [asked, bare].iter().any(|key| table.run.labels.contains_key(*key))
}

#[cfg(test)]
mod tests {
    use calipers_io::history::Origin;

    use super::*;

    fn texts(key: &str, cells: &[(u32, &str)]) -> Texts {
        let mut texts = Texts { key: key.into(), ..Texts::default() };
        for (row, name) in cells {
            let known = texts.names.iter().position(|known| known == name);
            let at = known.unwrap_or_else(|| {
                texts.names.push((*name).into());
                texts.names.len() - 1
            });
            texts.cells.push((*row, at as u32));
        }
        texts
    }

    fn table(rows: usize, texts: Vec<Texts>) -> Table {
        Table { rows, texts, ..crate::training::tests::table(Origin::Table, &[]) }
    }

    fn options(run_column: Option<&str>, group_by: &str, fold_by: &str) -> Options {
        let mut options = crate::training::tests::options(&[], "m");
        options.run_column = run_column.map(String::from);
        options.assignment.group_by = group_by.parse().unwrap();
        options.assignment.fold_by = fold_by.parse().unwrap();
        options
    }

    #[test]
    fn a_table_is_split_by_group_and_fold_together() {
        let columns =
            vec![texts("g", &[(0, "a"), (1, "a"), (2, "b")]), texts("f", &[(0, "0"), (1, "1"), (2, "0")])];
        let split = Split::new(&table(4, columns), &options(None, "column:g", "column:f")).unwrap();
        let parts: Vec<_> =
            split.runs.iter().map(|run| (run.columns["g"].as_str(), run.columns["f"].as_str())).collect();
        assert_eq!(parts, [("a", "0"), ("a", "1"), ("b", "0")]);
        assert_eq!(split.run_of(3), None, "a row without group and fold belongs to nobody");
    }

    #[test]
    fn a_column_that_changes_within_a_run_is_shown_with_both_lines() {
        let columns = vec![texts("run", &[(0, "x"), (1, "x")]), texts("g", &[(0, "a"), (1, "b")])];
        let error = Split::new(&table(2, columns), &options(Some("run"), "column:g", "auto")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("line 2 and line 3") && text.contains("'a' and 'b'"), "{text}");
    }

    #[test]
    fn a_constant_column_leaves_the_table_whole() {
        let split =
            Split::new(&table(3, vec![texts("g", &[(1, "a")])]), &options(None, "column:g", "auto")).unwrap();
        let columns = BTreeMap::from([("g".to_owned(), "a".to_owned())]);
        assert_eq!(split.runs, [Part { columns, rows: 3, ..Part::default() }]);
        assert_eq!(split.run_of(2), Some(0));
    }
}
