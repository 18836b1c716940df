//! What codecarbon measured: the last row of each of its runs, shared out to the runs of a study.

use std::collections::BTreeMap;

use calipers_core::{Error, ExactSum, Result};
use calipers_io::history::delimited::{self, Options};
use calipers_io::history::{Table, Wanted};

const RUN: &str = "run_id";
const PROJECT: &str = "project_name";
const EMISSIONS: &str = "emissions";
const ENERGY: &str = "energy_consumed";

/// One run of codecarbon.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// Its identifier.
    pub(super) id: String,
    /// What it was called.
    pub(super) project: String,
    /// Kilograms of CO2 equivalents.
    pub(super) emissions: f64,
    /// Kilowatt-hours.
    pub(super) energy: f64,
}

/// What was spent on one run of a study.
#[derive(Clone, Debug, Default)]
pub(super) struct Carbon {
    train: Spent,
    test: Spent,
}

#[derive(Clone, Debug, Default)]
struct Spent {
    emissions: ExactSum,
    energy: ExactSum,
    records: usize,
}

impl Carbon {
    /// Adds a run of codecarbon; those of tests are called so.
    pub(super) fn add(&mut self, record: &Record) {
        let test = record.project.to_lowercase().contains("test");
        let spent = if test { &mut self.test } else { &mut self.train };
        spent.emissions.add(record.emissions);
        spent.energy.add(record.energy);
        spent.records += 1;
    }

    /// The sums by name; of tests only where there are any.
    pub(super) fn sums(&self) -> Vec<(&'static str, f64)> {
        let mut sums = Vec::new();
        let parts = [
            ("train_emissions", "train_energy_consumed", &self.train),
            ("test_emissions", "test_energy_consumed", &self.test),
        ];
        for (emissions, energy, spent) in parts.into_iter().filter(|(.., spent)| spent.records > 0) {
            sums.extend([(emissions, spent.emissions.value()), (energy, spent.energy.value())]);
        }
        sums
    }
}

/// The runs of an `emissions.csv`: of each the last row, which holds its totals.
pub(super) fn records(bytes: &[u8]) -> Result<Vec<Record>> {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let wanted =
        Wanted { numbers: owned(&[EMISSIONS, ENERGY]), texts: owned(&[RUN, PROJECT]), config: false };
    let table = delimited::read(bytes, &wanted, &Options::default())?;
    let mut last: BTreeMap<String, Record> = BTreeMap::new();
    for row in 0..table.rows as u32 {
        let id = text(&table, RUN, row).unwrap_or_default();
        let project = text(&table, PROJECT, row).unwrap_or_default();
        let number = |key: &str| -> Result<f64> {
            let column = table.number(key).ok_or_else(|| {
                Error::value(format!("no column '{key}'")).allowed("the columns that codecarbon writes")
            })?;
            if let Some(error) = &column.unreadable {
                return Err(error.clone());
            }
            let at = column
                .rows
                .binary_search(&row)
                .map_err(|_| Error::value(format!("a row without '{key}'")).at(table.places.of(row)))?;
            Ok(column.values[at])
        };
        let record =
            Record { id: id.clone(), project, emissions: number(EMISSIONS)?, energy: number(ENERGY)? };
        last.insert(id, record);
    }
    Ok(last.into_values().collect())
}

fn text(table: &Table, key: &str, row: u32) -> Option<String> {
    let column = table.text(key)?;
    let at = column.cells.binary_search_by_key(&row, |(row, _)| *row).ok()?;
    column.names.get(column.cells[at].1 as usize).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"timestamp,project_name,run_id,emissions,energy_consumed\n\
        t,cfg,a,0.1,1\nt,cfg,a,0.25,2\nt,Test run,b,0.5,3\nt,cfg,c,0.5,4\n";

    #[test]
    fn the_last_row_of_each_run_counts_and_tests_are_kept_apart() {
        let mut carbon = Carbon::default();
        let records = records(FILE).unwrap();
        assert_eq!(records.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        records.iter().for_each(|record| carbon.add(record));
        assert_eq!(
            carbon.sums(),
            [
                ("train_emissions", 0.75),
                ("train_energy_consumed", 6.0),
                ("test_emissions", 0.5),
                ("test_energy_consumed", 3.0)
            ]
        );
        assert!(Carbon::default().sums().is_empty());
    }

    #[test]
    fn a_row_without_its_emissions_is_named() {
        let error = records(b"run_id,emissions,energy_consumed\na,,1\n").unwrap_err().to_string();
        assert!(error.contains("emissions") && error.contains("line 2"), "{error}");
    }
}
