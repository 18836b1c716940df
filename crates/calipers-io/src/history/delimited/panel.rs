//! The table behind a W&B panel: an x column, then for each run a column `<run> - <key>` and its
//! smallest and largest values.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::Options;
use super::column::{NumberColumn, Picks};
use super::header::{self, Header};
use super::walk::Walk;
use crate::file::{ReadAt, empty};
use crate::history::chunks::{Chunks, whole};
use crate::history::window::Window;
use crate::history::{Numbers, Origin, Run, RunTable, Runs, Table, Wanted};

const JOINT: &str = " - ";
const MIN: &str = "__MIN";
const MAX: &str = "__MAX";

/// The wanted columns of a panel.
#[derive(Debug)]
pub struct Panel {
    /// The name of the x column.
    pub x: String,
    /// The x column, then the curves of all runs.
    table: Table,
    /// The runs, in the order of the columns.
    runs: Vec<Columns>,
    wanted: Wanted,
}

impl Panel {
    /// The runs, in the order of the columns. Each takes its curves with it.
    pub fn into_runs(self) -> impl Iterator<Item = RunTable> {
        let Self { x, mut table, runs, wanted } = self;
        let mut curves = std::mem::take(&mut table.numbers).into_iter();
        let x_column = curves.next();
        runs.into_iter().map(move |run| {
            let mut numbers: Vec<Numbers> = x_column.iter().cloned().collect();
            numbers.extend(curves.by_ref().take(run.curves));
            let place = |column: &Numbers| wanted.numbers.iter().position(|key| *key == column.key);
            numbers.sort_by_key(|column| place(column).unwrap_or(usize::MAX));
            let named = Run { name: Some(run.name), ..Run::default() };
            let keys = std::iter::once(x.clone()).chain(run.keys).collect();
            let table = Table { run: named, keys, numbers, ..table.clone() };
            RunTable { table, x: Some(x.clone()), aggregated: run.aggregated }
        })
    }

    /// The same where there must be a run.
    pub(in crate::history) fn into_tables(self) -> Result<Runs> {
        if self.runs.is_empty() {
            return Err(Error::value("a panel without a single run"));
        }
        Ok(Box::new(self.into_runs().map(Ok)))
    }
}

/// Whether the header has a column `<run> - <key>` with its `__MIN` and `__MAX`.
pub fn is_panel(bytes: &[u8]) -> bool {
    let header = header::opening(bytes).map(|text| Header::read(text, &Options::default()));
    let Some(Ok(header)) = header else { return false };
    let has = |name: &str| header.column(name).is_some();
    header
        .keys
        .iter()
        .filter_map(|key| key.strip_suffix(MIN))
        .any(|curve| curve.contains(JOINT) && has(curve) && has(&format!("{curve}{MAX}")))
}

/// What is known of one run.
#[derive(Debug, Default)]
struct Columns {
    name: String,
    keys: Vec<String>,
    /// How many of the keys are wanted.
    curves: usize,
    aggregated: bool,
}

/// The columns of smallest and largest values of a curve.
struct Extremes {
    run: usize,
    min: NumberColumn,
    max: NumberColumn,
}

/// Reads a panel. Without a wanted key its runs have the x column only.
pub fn read_panel(bytes: &[u8], wanted: &Wanted, options: &Options) -> Result<Panel> {
    over(Window::whole(bytes, header::not_text)?, wanted, options)
}

/// Reads a panel of any length, with about `step` bytes of the file in memory, and the wanted
/// columns as numbers.
pub fn read_panel_in_chunks(
    file: &dyn ReadAt,
    wanted: &Wanted,
    options: &Options,
    step: usize,
) -> Result<Panel> {
    over(Window::opening(file, step, header::not_text)?, wanted, options)
}

fn over(mut window: Window<'_>, wanted: &Wanted, options: &Options) -> Result<Panel> {
    let header = header::opened(&mut window, options)?;
    let x = header.keys.first().cloned().filter(|key| header.column(&format!("{key}{MIN}")).is_none());
    let x = x.ok_or_else(|| Error::format("no x column").at("header").allowed("the x column first"))?;
    let mut rows = PanelRows {
        walk: Walk::new(window, &header),
        curves: Vec::new(),
        extremes: Vec::new(),
        runs: Vec::new(),
        picks: Picks::new([]),
        decimal_comma: options.decimal_comma,
    };
    rows.find_columns(&header, wanted);
    rows.curves.splice(0..0, NumberColumn::find(&header, &x));
    let extremes = rows.extremes.iter().flat_map(|extremes| [&extremes.min, &extremes.max]);
    rows.picks = Picks::new(rows.curves.iter().chain(extremes).filter_map(|column| column.column));
    let table = whole(&mut rows)?.ok_or_else(empty)?;
    Ok(Panel { x, table, runs: rows.runs, wanted: wanted.clone() })
}

/// The rows of a panel as those of one table.
struct PanelRows<'a> {
    walk: Walk<'a>,
    /// The x column, then the curves of all runs, run after run.
    curves: Vec<NumberColumn>,
    extremes: Vec<Extremes>,
    runs: Vec<Columns>,
    picks: Picks,
    decimal_comma: bool,
}

impl PanelRows<'_> {
    /// Finds the runs of a header and the columns that are wanted of them.
    fn find_columns(&mut self, header: &Header, wanted: &Wanted) {
        let mut places = BTreeMap::new();
        let mut curves: Vec<(usize, NumberColumn)> = Vec::new();
        for name in &header.keys[1..] {
            let Some((run, key)) = parted(name, header, wanted) else { continue };
            let place = *places.entry(run).or_insert_with(|| {
                self.runs.push(Columns { name: run.to_owned(), ..Columns::default() });
                self.runs.len() - 1
            });
            self.runs[place].keys.push(key.to_owned());
            if !wanted.numbers.iter().any(|wanted| wanted == key) {
                continue;
            }
            if let Some(column) = header.column(name) {
                self.runs[place].curves += 1;
                curves.push((place, NumberColumn::new(key, column)));
            }
            let extreme = |ending: &str| header.column(&format!("{name}{ending}"));
            if let (Some(Ok(min)), Some(Ok(max))) = (extreme(MIN), extreme(MAX)) {
                let [min, max] = [min, max].map(|column| NumberColumn::new(key, Ok(column)));
                self.extremes.push(Extremes { run: place, min, max });
            }
        }
        // The columns of one run need not stand side by side.
        curves.sort_by_key(|(place, _)| *place);
        self.curves = curves.into_iter().map(|(_, column)| column).collect();
    }
}

impl Chunks for PanelRows<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        let mut columns = self.picks.numbers(&mut self.curves);
        for Extremes { min, max, .. } in &mut self.extremes {
            let both = [min, max].into_iter();
            columns.extend(both.filter_map(|column| Some((self.picks.cell(column.column?), column))));
        }
        let (before, decimal_comma) = (self.walk.before, self.decimal_comma);
        let lines = self.walk.rows(&self.picks, |row, line, text, cells| {
            for (cell, column) in &mut columns {
                column.log(row, line, &cells[*cell].of(text), decimal_comma);
            }
        })?;
        let Some((rows, places)) = lines.map(|lines| lines.finish()) else { return Ok(None) };
        self.walk.before += rows;
        for Extremes { run, min, max } in &mut self.extremes {
            self.runs[*run].aggregated |= differ(&min.take(), &max.take());
        }
        Ok(Some(Table {
            origin: Origin::Panel,
            run: Run::default(),
            keys: Vec::new(),
            before,
            rows,
            numbers: self.curves.iter_mut().map(NumberColumn::take).collect(),
            texts: Vec::new(),
            places,
            cut_at: self.walk.cut_at,
        }))
    }
}

/// Run and key of a column; none for the columns of smallest and largest values.
fn parted<'a>(name: &'a str, header: &Header, wanted: &Wanted) -> Option<(&'a str, &'a str)> {
    let run_of = |key: &String| name.strip_suffix(key.as_str()).and_then(|rest| rest.strip_suffix(JOINT));
    let known = wanted.numbers.iter().filter_map(run_of).min_by_key(|run| run.len());
    let run = match known {
        Some(run) => run,
        None => {
            let curve = name.strip_suffix(MIN).or_else(|| name.strip_suffix(MAX));
            if curve.is_some_and(|curve| header.column(curve).is_some()) {
                return None;
            }
            name.rsplit_once(JOINT)?.0
        }
    };
    Some((run, &name[run.len() + JOINT.len()..]))
}

/// Whether the two columns differ in a row that both have.
fn differ(min: &Numbers, max: &Numbers) -> bool {
    let same = |min: f64, max: f64| min.total_cmp(&max).is_eq() || (min - max).abs() <= 0.0;
    min.rows
        .iter()
        .zip(&min.values)
        .any(|(row, min)| max.rows.binary_search(row).is_ok_and(|place| !same(*min, max.values[place])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(text: &str, keys: &[&str]) -> (String, Vec<RunTable>) {
        let numbers = keys.iter().map(|key| (*key).to_owned()).collect();
        let wanted = Wanted { numbers, texts: Vec::new(), ..Wanted::default() };
        let panel = read_panel(text.as_bytes(), &wanted, &Options::default()).unwrap();
        (panel.x.clone(), panel.into_runs().collect())
    }

    const TWO_RUNS: &str = "\"Step\",\"a - v\",\"a - v__MIN\",\"a - v__MAX\",\"b - x - v\",\"b - x - v__MIN\",\"b - x - v__MAX\"\n\
        \"0\",\"0.5\",\"0.5\",\"0.5\",\"0.2\",\"0.1\",\"0.3\"\n\"2\",\"\",\"\",\"\",\"0.4\",\"0.4\",\"0.4\"\n";

    #[test]
    fn each_run_has_its_curve_and_the_x_column() {
        assert!(is_panel(TWO_RUNS.as_bytes()));
        let (x, runs) = panel(TWO_RUNS, &["v", "Step"]);
        let [a, b] = &runs[..] else { panic!("two runs") };
        assert_eq!((&x[..], a.aggregated, b.aggregated), ("Step", false, true));
        let (a, b) = (&a.table, &b.table);
        assert_eq!((a.run.name.as_deref(), b.run.name.as_deref()), (Some("a"), Some("b - x")));
        assert_eq!((a.origin, &a.keys[..]), (Origin::Panel, &["Step".to_owned(), "v".to_owned()][..]));
        assert_eq!((&a.numbers[0].key[..], &a.numbers[0].rows[..]), ("v", &[0][..]));
        assert_eq!((&a.numbers[1].key[..], &a.numbers[1].values[..]), ("Step", &[0.0, 2.0][..]));
        assert_eq!(b.number("v").map(|curve| &curve.values[..]), Some(&[0.2, 0.4][..]));
    }

    #[test]
    fn the_run_is_what_stands_before_the_last_wanted_key() {
        let header = "Step,r - v - v,r - v - v__MIN,r - v - v__MAX\n";
        let run = |keys: &[&str]| panel(header, keys).1[0].table.run.name.clone();
        assert_eq!(run(&["v"]).as_deref(), Some("r - v"));
        assert_eq!(run(&["v", "v - v"]).as_deref(), Some("r"));
    }

    #[test]
    fn without_a_wanted_key_the_runs_still_say_what_they_have() {
        let (_, runs) = panel(TWO_RUNS, &["w"]);
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[1].table.keys, ["Step", "v"]);
        assert_eq!((runs[1].table.numbers.len(), runs[1].aggregated), (1, false));
    }

    #[test]
    fn two_runs_of_one_name_cannot_be_told_apart() {
        let (_, runs) = panel("Step,a - v,a - v__MIN,a - v__MAX,a - v\n0,1,1,1,2\n", &["v"]);
        let error = runs[0].table.number("v").and_then(|curve| curve.unreadable.clone()).unwrap();
        assert_eq!(error.place(), Some("line 1, columns 2 and 5"));
        assert_eq!(runs.len(), 1);
    }

    #[test]
    fn curves_of_one_run_may_stand_apart() {
        let header = "Step,a - v,a - v__MIN,a - v__MAX,b - v,a - w\n";
        let (_, runs) = panel(&format!("{header}0,1,1,2,3,4\n"), &["w", "v"]);
        let values = |run: usize| -> Vec<(&str, f64)> {
            runs[run].table.numbers.iter().map(|column| (&column.key[..], column.values[0])).collect()
        };
        assert_eq!(values(0), [("w", 4.0), ("v", 1.0), ("Step", 0.0)]);
        assert_eq!(values(1), [("v", 3.0), ("Step", 0.0)]);
        assert_eq!((runs[0].aggregated, runs[1].aggregated), (true, false));
    }

    #[test]
    fn only_a_curve_with_both_extremes_makes_a_panel() {
        for header in ["", "Step,a - v\n", "Step,a - v,a - v__MIN\n", "Step,v,v__MIN,v__MAX\n", "\"a - v"] {
            assert!(!is_panel(header.as_bytes()), "{header}");
        }
        let without_x = b"a - v,a - v__MIN,a - v__MAX\n";
        assert!(read_panel(without_x, &Wanted::default(), &Options::default()).is_err());
    }

    #[test]
    fn equal_extremes_are_no_aggregate_whatever_they_are() {
        let column = |values: &[f64]| Numbers {
            rows: (0..values.len() as u32).collect(),
            values: values.to_vec(),
            ..Numbers::default()
        };
        let all = column(&[1.0, f64::NAN, f64::INFINITY, 0.0]);
        assert!(!differ(&all, &all) && !differ(&all, &column(&[1.0])));
        assert!(!differ(&column(&[0.0]), &column(&[-0.0])));
        assert!(differ(&all, &column(&[1.0, 2.0])) && differ(&column(&[1.0]), &column(&[1.5])));
    }
}
