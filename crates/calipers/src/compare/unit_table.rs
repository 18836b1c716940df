//! The numbers of single units: from an accumulator, or from a per-unit file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use calipers_core::metric::MetricInfo;
use calipers_core::resample::{Clusters, Draws, Leaf, Plan, Sampled, Sampling};
use calipers_core::{Error, ErrorKind, Ledger, Result, Value};
use calipers_io::history::parquet::is_parquet;
use calipers_io::history::{FORMATS, Reader, Table, Wanted, delimited, of_file};
use calipers_report::per_unit::is_sealed;

use crate::registry::{self, Family};

/// The column that names the units.
const UNIT: &str = "unit";
/// How many names a message spells out.
const NAMED: usize = 20;

/// The columns that say of which run, attack or group a unit is.
const RUN: &str = "run";
const ATTACK: &str = "attack";
const GROUP: &str = "group";

/// One number a unit in each column; units in key order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UnitTable {
    pub(super) units: Vec<String>,
    columns: Vec<(Leaf, Vec<Option<f64>>)>,
    belongs: Belongs,
}

/// What units are of, where columns say so: a text for each unit.
#[derive(Clone, Debug, Default, PartialEq)]
struct Belongs {
    runs: Option<Vec<String>>,
    attacks: Option<Vec<String>>,
    groups: Option<Vec<String>>,
}

impl Belongs {
    /// The columns that say something in this family.
    fn new(family: Option<&Family>, texts: impl Fn(&str) -> Option<Vec<String>>) -> Self {
        match family.map(|family| family.sampling) {
            Some(Sampling { draws: Draws::Separate, .. }) => Self { groups: texts(GROUP), ..Self::default() },
            Some(Sampling { unit: RUN, .. }) => {
                Self { runs: texts(RUN), attacks: texts(ATTACK), groups: None }
            }
            _ => Self::default(),
        }
    }
}

impl UnitTable {
    /// The per-unit metrics of an accumulator.
    pub(super) fn from_ledger(ledger: &dyn Ledger, infos: &[MetricInfo]) -> Self {
        let table = ledger.per_unit();
        let mut columns = Vec::new();
        for (place, heading) in table.columns.iter().skip(1).enumerate() {
            let id = format!("{}.{heading}", ledger.name());
            if !infos.iter().any(|info| info.per_unit && info.id == id) {
                continue;
            }
            let cells = || table.rows.iter().map(|(_, cells)| &cells[place]);
            let mut labels: Vec<&String> = Vec::new();
            for cell in cells() {
                if let Value::PerLabel(entries) = cell {
                    let new = entries.iter().map(|(label, _)| label);
                    let new: Vec<&String> = new.filter(|label| !labels.contains(label)).collect();
                    labels.extend(new);
                }
            }
            let of = |label: &String| {
                let leaf = Leaf { id: id.clone(), label: Some(label.clone()) };
                (leaf, cells().map(|cell| entry(cell, label)).collect())
            };
            columns.extend(labels.iter().map(|label| of(label)));
            if labels.is_empty() {
                columns.push((Leaf { id, label: None }, cells().map(Value::as_f64).collect()));
            }
        }
        let texts = |name: &str| -> Option<Vec<String>> {
            let place = table.columns.iter().skip(1).position(|column| column == name)?;
            let text = |(_, cells): &(String, Vec<Value>)| match &cells[place] {
                Value::Text(text) => text.to_string(),
                _ => String::new(),
            };
            Some(table.rows.iter().map(text).collect())
        };
        let belongs = Belongs::new(registry::find(ledger.name()), texts);
        Self { units: table.rows.into_iter().map(|(unit, _)| unit).collect(), columns, belongs }
    }

    /// The columns; where units are of groups, one for each group.
    pub(super) fn columns(&self) -> Vec<(Leaf, Vec<Option<f64>>)> {
        let Some(groups) = &self.belongs.groups else { return self.columns.clone() };
        let names: BTreeSet<&String> = groups.iter().collect();
        let of = |(leaf, numbers): &(Leaf, Vec<Option<f64>>), name: &String| {
            let own = numbers.iter().zip(groups).map(|(number, group)| number.filter(|_| group == name));
            (Leaf { label: Some(name.clone()), ..leaf.clone() }, own.collect())
        };
        self.columns.iter().flat_map(|column| names.iter().map(|name| of(column, name))).collect()
    }

    fn sampled(&self) -> impl Iterator<Item = Sampled<'_>> {
        fn text(texts: &Option<Vec<String>>, at: usize) -> Option<&str> {
            texts.as_ref().map(|texts| texts[at].as_str())
        }
        let Belongs { runs, attacks, groups } = &self.belongs;
        self.units.iter().enumerate().map(move |(at, unit)| Sampled {
            unit: text(runs, at).unwrap_or(unit),
            part: text(groups, at).or(text(attacks, at)).unwrap_or_default(),
        })
    }

    /// The names of the sampling units, each once.
    pub(super) fn sampling_units(&self) -> Vec<&str> {
        self.sampled().map(|row| row.unit).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What is drawn in a resample: runs and groups where columns name them.
    pub(super) fn plan(&self, family: Option<Sampling>, clusters: Option<&Clusters>) -> Result<Plan> {
        let draws = if self.belongs.groups.is_some() { Draws::Separate } else { Draws::Joint };
        let named = self.belongs.runs.is_some() || self.belongs.groups.is_some();
        let unit = family.filter(|_| named).map_or(Sampling::UNITS.unit, |family| family.unit);
        Plan::new(Sampling { unit, draws, ..Sampling::UNITS }, self.sampled(), clusters)
    }

    /// The names of the runs, each once, where a column names them.
    pub(super) fn runs(&self) -> Option<Vec<&str>> {
        self.belongs.runs.is_some().then(|| self.sampling_units())
    }

    /// Gives runs and the units of them other names.
    pub(super) fn with_runs(&mut self, name: &dyn Fn(&str) -> Result<String>) -> Result<()> {
        let Some(runs) = &mut self.belongs.runs else { return Ok(()) };
        for (run, unit) in runs.iter_mut().zip(&mut self.units) {
            let new = name(run)?;
            if let Some(rest) = unit.strip_prefix(run.as_str()) {
                *unit = format!("{new}{rest}");
            }
            *run = new;
        }
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|at| &self.units[*at]);
        if let Some(pair) = order.windows(2).find(|pair| self.units[pair[0]] == self.units[pair[1]]) {
            return Err(
                Error::new(ErrorKind::Duplicate, "two units have one name").found(&self.units[pair[0]])
            );
        }
        let texts =
            |texts: &Vec<String>| -> Vec<String> { order.iter().map(|at| texts[*at].clone()).collect() };
        self.units = texts(&self.units);
        let Belongs { runs, attacks, groups } = &mut self.belongs;
        for kept in [runs, attacks, groups].into_iter().flatten() {
            *kept = texts(kept);
        }
        for (_, numbers) in &mut self.columns {
            *numbers = order.iter().map(|at| numbers[*at]).collect();
        }
        Ok(())
    }
}

fn entry(cell: &Value, label: &str) -> Option<f64> {
    match cell {
        Value::PerLabel(entries) => entries.iter().find(|(name, _)| name == label)?.1.as_f64(),
        _ => None,
    }
}

/// A per-unit file: columns of numbers by their headings.
pub(super) struct File {
    units: Vec<String>,
    columns: Vec<(String, Vec<Option<f64>>)>,
    /// What units are of, by column.
    texts: BTreeMap<String, Vec<String>>,
    /// Whether the form could say which rows were written, and the file does not.
    is_unchecked: bool,
}

/// Reads a per-unit file by its ending.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<File> {
    let name = path.to_string_lossy();
    let known = FORMATS.by_name(&name).map(|_| of_file(bytes, &name, true)).transpose()?.flatten();
    let Some((format, Reader::Table { whole, .. })) = known.map(|format| (format, format.reader)) else {
        return Err(Error::usage("neither a state nor a per-unit file")
            .allowed("what --state or --per-unit wrote (.csv, .jsonl or .parquet)"));
    };
    let read = |wanted: &Wanted| whole(&name, bytes, wanted, &delimited::Options::default());
    let keys = read(&Wanted { numbers: Vec::new(), texts: vec![UNIT.into()], ..Wanted::default() })?.keys;
    if !keys.iter().any(|key| key == UNIT) {
        return Err(Error::value("the file has no column `unit`").advice("write it with --per-unit"));
    }
    let (texts, numbers) =
        keys.into_iter().partition(|key| [UNIT, RUN, ATTACK, GROUP].contains(&key.as_str()));
    let table = read(&Wanted { numbers, texts, ..Wanted::default() })?;
    // Read first: what the decoder cannot follow is told with its place.
    let is_unchecked = is_parquet(bytes) && !is_sealed(bytes)?;
    let file = file(&table, format.ending_of(&name) == Some(".csv"))?;
    Ok(File { is_unchecked, ..file })
}

fn file(table: &Table, is_csv: bool) -> Result<File> {
    let names = table.text(UNIT).map_or(&[][..], |texts| &texts.cells);
    let texts = table.text(UNIT).map_or(&[][..], |texts| &texts.names);
    if names.len() != table.rows {
        return Err(Error::value("a row has no unit").found(format!("{} of {}", names.len(), table.rows)));
    }
    let name = |place: u32| unguarded(&texts[place as usize], is_csv);
    let mut units: Vec<(String, u32)> = names.iter().map(|(row, place)| (name(*place), *row)).collect();
    units.sort();
    if let Some(pair) = units.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(Error::value("a unit occurs twice").at(table.places.of(pair[1].1)).found(&pair[0].0));
    }
    let mut columns = Vec::new();
    // A column that holds something else than numbers belongs to no test.
    for numbers in table.numbers.iter().filter(|numbers| numbers.unreadable.is_none()) {
        let mut by_row = vec![None; table.rows];
        for (row, value) in numbers.rows.iter().zip(&numbers.values) {
            if !value.is_finite() {
                return Err(Error::value("a number of a unit is not finite")
                    .at(format!("{}, column {}", table.places.of(*row), numbers.key))
                    .found(value)
                    .advice("leave the cell empty where a number is undefined"));
            }
            by_row[*row as usize] = Some(*value);
        }
        let numbers_of = units.iter().map(|(_, row)| by_row[*row as usize]).collect();
        columns.push((numbers.key.clone(), numbers_of));
    }
    let mut texts = BTreeMap::new();
    for column in [RUN, ATTACK, GROUP] {
        let Some(text) = table.text(column) else { continue };
        let mut by_row = vec![String::new(); table.rows];
        for (row, place) in &text.cells {
            by_row[*row as usize] = unguarded(&text.names[*place as usize], is_csv);
        }
        texts.insert(
            column.to_owned(),
            units.iter().map(|(_, row)| std::mem::take(&mut by_row[*row as usize])).collect(),
        );
    }
    let units = units.into_iter().map(|(unit, _)| unit).collect();
    Ok(File { units, columns, texts, is_unchecked: false })
}

/// A name as it was before CSV kept spreadsheets from taking it for a formula.
fn unguarded(name: &str, is_csv: bool) -> String {
    let guarded = is_csv && name.starts_with('\'');
    match name.strip_prefix('\'') {
        Some(rest) if guarded && rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\0']) => rest.into(),
        _ => name.into(),
    }
}

impl File {
    /// Whether nothing says that the rows are those that were written, though something could.
    pub(super) fn is_unchecked(&self) -> bool {
        self.is_unchecked
    }

    /// How many units it names.
    pub(super) fn units(&self) -> usize {
        self.units.len()
    }

    /// The columns that are per-unit metrics of the family.
    pub(super) fn of_family(&self, family: &str, infos: &[MetricInfo]) -> Result<UnitTable> {
        let leaf = |heading: &str| Leaf { id: format!("{family}.{heading}"), label: None };
        let known = |heading: &str| infos.iter().any(|info| info.per_unit && info.id == leaf(heading).id);
        let columns: Vec<_> = self
            .columns
            .iter()
            .filter(|(heading, _)| known(heading))
            .map(|(heading, numbers)| (leaf(heading), numbers.clone()))
            .collect();
        if columns.is_empty() {
            return Err(Error::value(format!("no column is a metric of {family}"))
                .found(self.headings())
                .advice("write the file with --per-unit"));
        }
        let belongs = Belongs::new(registry::find(family), |name| self.texts.get(name).cloned());
        Ok(UnitTable { units: self.units.clone(), columns, belongs })
    }

    fn headings(&self) -> String {
        self.columns.iter().take(NAMED).map(|(heading, _)| heading.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The one family whose metrics most columns of the files are.
pub(super) fn family<'f>(files: impl Iterator<Item = &'f File>) -> Result<&'static str> {
    let headings: Vec<&str> =
        files.flat_map(|file| file.columns.iter().map(|(heading, _)| heading.as_str())).collect();
    let counted = registry::FAMILIES.iter().map(|family| {
        let infos = (family.metrics)();
        let known = |heading: &&&str| {
            infos
                .iter()
                .any(|info| info.per_unit && info.id.split_once('.').is_some_and(|(_, id)| id == **heading))
        };
        (headings.iter().filter(known).count(), family.name)
    });
    let counted: Vec<(usize, &'static str)> = counted.collect();
    let most = counted.iter().map(|(count, _)| *count).max().unwrap_or(0);
    match counted.iter().filter(|(count, _)| *count == most).map(|(_, name)| *name).collect::<Vec<_>>()[..] {
        _ if most == 0 => Err(Error::value("no column is a metric of any family")
            .found(headings.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "))
            .advice("write the files with --per-unit")),
        [family] => Ok(family),
        ref several => Err(Error::value("the columns are metrics of several families")
            .found(several.join(", "))
            .advice("compare states, which say what they are")),
    }
}
