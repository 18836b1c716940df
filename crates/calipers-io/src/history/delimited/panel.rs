//! The table behind a W&B panel: an x column, then for each run a column `<run> - <key>` and its
//! smallest and largest values.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::Options;
use super::column::{NumberColumn, Picks, RowLines};
use super::header::{self, Header};
use super::rows::Rows;
use crate::history::window::Window;
use crate::history::{Format, Numbers, Run, Table, Wanted};

const JOINT: &str = " - ";
const MIN: &str = "__MIN";
const MAX: &str = "__MAX";

/// The runs of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The name of the x column.
    pub x: String,
    /// One table per run, in the order of the columns: the wanted keys and the x column.
    pub runs: Vec<Table>,
    /// The runs whose smallest and largest values differ somewhere: what their columns hold are
    /// averages of several runs or steps.
    pub aggregated: Vec<String>,
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

/// The columns of one run, by their place among all columns read.
#[derive(Default)]
struct Columns {
    keys: Vec<String>,
    curves: Vec<usize>,
    extremes: Vec<[usize; 2]>,
}

/// Reads a panel. Without a wanted key its runs have the x column only.
pub fn read_panel(bytes: &[u8], wanted: &Wanted, options: &Options) -> Result<Panel> {
    let mut window = Window::whole(bytes, header::not_text)?;
    let header = header::opened(&mut window, options)?;
    let text = window.text();
    let x = header.keys.first().cloned().filter(|key| header.column(&format!("{key}{MIN}")).is_none());
    let x = x.ok_or_else(|| Error::format("no x column").at("header").allowed("the x column first"))?;
    let mut columns: Vec<NumberColumn> = NumberColumn::find(&header, &x).into_iter().collect();
    let (mut names, mut runs) = (Vec::new(), Vec::<Columns>::new());
    let mut places = BTreeMap::new();
    for name in &header.keys[1..] {
        let Some((run, key)) = parted(name, &header, wanted) else { continue };
        let place = *places.entry(run).or_insert_with(|| {
            names.push(run);
            runs.push(Columns::default());
            names.len() - 1
        });
        let run = &mut runs[place];
        run.keys.push(key.to_owned());
        if !wanted.numbers.iter().any(|wanted| wanted == key) {
            continue;
        }
        let mut add = |column| {
            columns.push(NumberColumn::new(key, column));
            columns.len() - 1
        };
        if let Some(column) = header.column(name) {
            run.curves.push(add(column));
        }
        if let (Some(Ok(min)), Some(Ok(max))) =
            (header.column(&format!("{name}{MIN}")), header.column(&format!("{name}{MAX}")))
        {
            run.extremes.push([min, max].map(|column| add(Ok(column))));
        }
    }
    let picks = Picks::new(columns.iter().filter_map(|column| column.column));
    let mut into_columns = picks.numbers(&mut columns);
    let mut rows = Rows::new(text, header.delimiter, header.width, picks.columns(), header.rows);
    let mut lines = RowLines::new(header.rows.1);
    while let Some((line, cells)) = rows.next()? {
        let row = lines.next(line)?;
        for (cell, column) in &mut into_columns {
            column.log(row, line, &cells[*cell].of(text), options.decimal_comma);
        }
    }
    let (rows, places) = lines.finish();
    let numbers: Vec<Numbers> = columns.into_iter().map(|column| column.numbers).collect();
    let aggregated = names
        .iter()
        .zip(&runs)
        .filter(|(_, run)| run.extremes.iter().any(|[min, max]| differ(&numbers[*min], &numbers[*max])));
    let aggregated = aggregated.map(|(name, _)| (*name).to_owned()).collect();
    let table = |(name, run): (&str, &Columns)| Table {
        format: Format::WandbPanel,
        run: Run { name: Some(name.to_owned()), ..Run::default() },
        keys: std::iter::once(&x).chain(&run.keys).cloned().collect(),
        before: 0,
        rows,
        numbers: ordered(&numbers, run, wanted),
        texts: Vec::new(),
        places: places.clone(),
        cut_at: None,
    };
    let runs = names.iter().copied().zip(&runs).map(table).collect();
    Ok(Panel { x, runs, aggregated })
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

/// The x column and the curves of a run, those that are wanted in the order wanted.
fn ordered(numbers: &[Numbers], run: &Columns, wanted: &Wanted) -> Vec<Numbers> {
    let place = |column: &Numbers| wanted.numbers.iter().position(|key| *key == column.key);
    let mut columns: Vec<&Numbers> =
        numbers.iter().take(1).chain(run.curves.iter().map(|curve| &numbers[*curve])).collect();
    columns.sort_by_key(|column| place(column).unwrap_or(usize::MAX));
    columns.into_iter().cloned().collect()
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

    fn panel(text: &str, keys: &[&str]) -> Panel {
        let numbers = keys.iter().map(|key| (*key).to_owned()).collect();
        read_panel(text.as_bytes(), &Wanted { numbers, texts: Vec::new() }, &Options::default()).unwrap()
    }

    const TWO_RUNS: &str = "\"Step\",\"a - v\",\"a - v__MIN\",\"a - v__MAX\",\"b - x - v\",\"b - x - v__MIN\",\"b - x - v__MAX\"\n\
        \"0\",\"0.5\",\"0.5\",\"0.5\",\"0.2\",\"0.1\",\"0.3\"\n\"2\",\"\",\"\",\"\",\"0.4\",\"0.4\",\"0.4\"\n";

    #[test]
    fn each_run_has_its_curve_and_the_x_column() {
        assert!(is_panel(TWO_RUNS.as_bytes()));
        let found = panel(TWO_RUNS, &["v", "Step"]);
        assert_eq!((&found.x[..], &found.aggregated[..]), ("Step", &["b - x".to_owned()][..]));
        let [a, b] = &found.runs[..] else { panic!("two runs") };
        assert_eq!((a.run.name.as_deref(), b.run.name.as_deref()), (Some("a"), Some("b - x")));
        assert_eq!((a.format, &a.keys[..]), (Format::WandbPanel, &["Step".to_owned(), "v".to_owned()][..]));
        assert_eq!((&a.numbers[0].key[..], &a.numbers[0].rows[..]), ("v", &[0][..]));
        assert_eq!((&a.numbers[1].key[..], &a.numbers[1].values[..]), ("Step", &[0.0, 2.0][..]));
        assert_eq!(b.number("v").map(|curve| &curve.values[..]), Some(&[0.2, 0.4][..]));
    }

    #[test]
    fn the_run_is_what_stands_before_the_last_wanted_key() {
        let header = "Step,r - v - v,r - v - v__MIN,r - v - v__MAX\n";
        let run = |keys: &[&str]| panel(header, keys).runs[0].run.name.clone();
        assert_eq!(run(&["v"]).as_deref(), Some("r - v"));
        assert_eq!(run(&["v", "v - v"]).as_deref(), Some("r"));
    }

    #[test]
    fn without_a_wanted_key_the_runs_still_say_what_they_have() {
        let found = panel(TWO_RUNS, &["w"]);
        assert_eq!(found.runs.len(), 2);
        assert_eq!(found.runs[1].keys, ["Step", "v"]);
        assert_eq!((found.runs[1].numbers.len(), found.aggregated.len()), (1, 0));
    }

    #[test]
    fn two_runs_of_one_name_cannot_be_told_apart() {
        let found = panel("Step,a - v,a - v__MIN,a - v__MAX,a - v\n0,1,1,1,2\n", &["v"]);
        let error = found.runs[0].number("v").and_then(|curve| curve.unreadable.clone()).unwrap();
        assert_eq!(error.place(), Some("line 1, columns 2 and 5"));
        assert_eq!(found.runs.len(), 1);
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
