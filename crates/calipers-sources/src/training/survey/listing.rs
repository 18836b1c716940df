//! What logs hold: the keys that can be a metric, the keys that can be x, what runs can be told apart by,
//! and the runs themselves.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::Result;
use calipers_io::history::{Numbers, Origin, Table, Texts};
use serde_json::{Value as Json, json};

use super::{Surveyed, survey};
use crate::run::Progress;
use crate::training::options::Options;
use crate::training::points::x_axis::{self, ROW};

/// How many texts of a key are listed.
const TEXTS: usize = 5;
/// Stands for the texts that are not listed.
const MORE: &str = "...";
/// What W&B logs by itself.
const OF_WANDB: [&str; 2] = ["_runtime", "_timestamp"];
/// Words that names of columns have which tell runs apart, although they hold numbers.
const TELLING: [&str; 9] =
    ["run", "fold", "seed", "trial", "split", "model", "config", "experiment", "group"];

/// What there is to read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The keys that can be a metric: those of most runs first, then in byte order.
    pub metrics: Vec<Metric>,
    /// The keys that can be x: best first.
    pub x: Vec<Counted>,
    /// What `column:` and `--where` know besides the fields, in byte order.
    pub config: Vec<Config>,
    /// The runs, in byte order.
    pub runs: Vec<Run>,
}

/// A key that can be a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The key.
    pub key: String,
    /// How many runs have a finite value of it.
    pub runs: usize,
    /// How many finite values there are.
    pub points: usize,
    /// The least of them.
    pub min: f64,
    /// The greatest of them.
    pub max: f64,
}

/// A key and how many runs have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The key.
    pub key: String,
    /// How many runs have it.
    pub runs: usize,
}

/// A key that tells runs apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The key.
    pub key: String,
    /// How many runs have it.
    pub runs: usize,
    /// Its first texts in byte order, and `...` where there are more.
    pub values: Vec<String>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Its name.
    pub run: String,
    /// Its identifier, where a tracker gave it one.
    pub id: Option<String>,
    /// The format it was read in.
    pub format: String,
    /// The best key that can be its x.
    pub x: Option<String>,
    /// The files it was read from.
    pub files: Vec<String>,
}

impl Listing {
    /// Lists what the histories of these options hold. The metrics of the options are not looked at.
    pub fn of(options: &Options, progress: &dyn Progress) -> Result<Self> {
        let mut gathered = Gathered::default();
        survey(options, keys, progress, &mut |_, surveyed| {
            gathered.add(&surveyed);
            Ok(())
        })?;
        Ok(gathered.listed())
    }

    /// The listing as a mapping with the keys `metrics`, `x`, `config` and `runs`.
    pub fn to_json(&self) -> Json {
        let metric = |metric: &Metric| {
            let Metric { key, runs, points, min, max } = metric;
            json!({ "key": key, "runs": runs, "points": points, "min": min, "max": max })
        };
        let run = |run: &Run| {
            let Run { run, id, format, x, files } = run;
            json!({ "run": run, "id": id, "format": format, "x": x, "files": files })
        };
        json!({
            "metrics": self.metrics.iter().map(metric).collect::<Vec<_>>(),
            "x": self.x.iter().map(|x| json!({ "key": x.key, "runs": x.runs })).collect::<Vec<_>>(),
            "config": self.config.iter()
                .map(|config| json!({ "key": config.key, "runs": config.runs, "values": config.values }))
                .collect::<Vec<_>>(),
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
        })
    }
}

/// Every key of a table, as numbers; of a table of anybody's also as texts.
fn keys(table: &Table) -> (Vec<String>, Vec<String>) {
    let texts = if table.origin.is_table() { table.keys.clone() } else { Vec::new() };
    (table.keys.clone(), texts)
}

#[derive(Default)]
struct Gathered {
    metrics: BTreeMap<String, Metric>,
    x: BTreeMap<(usize, String), usize>,
    config: BTreeMap<String, (usize, BTreeSet<String>)>,
    runs: BTreeSet<Run>,
}

impl Gathered {
    fn add(&mut self, surveyed: &Surveyed) {
        let Surveyed { log, split, runs } = surveyed;
        let table = &log.table;
        let run_of = |row: u32| split.run_of(row).filter(|run| runs[*run].is_some());
        let mut x: Vec<BTreeSet<(usize, String)>> = vec![BTreeSet::new(); runs.len()];
        for column in &table.numbers {
            let finite = finite(column, runs.len(), &run_of);
            match Sort::of(table, &column.key, log.x.as_deref()) {
                Sort::X(rank) => {
                    for (x, _) in x.iter_mut().zip(&finite).filter(|(_, finite)| finite.is_some()) {
                        x.insert((rank, column.key.clone()));
                    }
                }
                Sort::Metric => self.metric(&column.key, &finite),
                Sort::Neither => {}
            }
        }
        let own = own_x(table);
        for (at, known) in runs.iter().enumerate() {
            let Some(known) = known else { continue };
            x[at].extend(own.map(|key| (0, key.to_owned())));
            for key in &x[at] {
                *self.x.entry(key.clone()).or_default() += 1;
            }
            let best = x[at].first().map(|(_, key)| key.clone());
            let by_position = (table.origin == Origin::Columns).then(|| ROW.to_owned());
            self.runs.insert(Run {
                run: known.name.clone(),
                id: known.id.clone(),
                format: known.format.name.to_owned(),
                x: best.or(by_position),
                files: known.files.clone(),
            });
            for (key, text) in &known.config {
                self.text(key, text);
                self.config_of(key).0 += 1;
            }
        }
        for column in table.texts.iter().filter(|column| tells_apart(table, column)) {
            let mut with = vec![false; runs.len()];
            for (row, name) in &column.cells {
                if let Some(run) = run_of(*row) {
                    with[run] = true;
                    self.text(&column.key, &column.names[*name as usize]);
                }
            }
            self.config_of(&column.key).0 += with.iter().filter(|with| **with).count();
        }
    }

    fn metric(&mut self, key: &str, finite: &[Option<(usize, f64, f64)>]) {
        for (points, min, max) in finite.iter().flatten() {
            let metric = self.metrics.entry(key.to_owned()).or_insert_with(|| Metric {
                key: key.to_owned(),
                runs: 0,
                points: 0,
                min: f64::INFINITY,
                max: f64::NEG_INFINITY,
            });
            metric.runs += 1;
            metric.points += points;
            (metric.min, metric.max) = (metric.min.min(*min), metric.max.max(*max));
        }
    }

    fn config_of(&mut self, key: &str) -> &mut (usize, BTreeSet<String>) {
        self.config.entry(key.to_owned()).or_default()
    }

    /// Keeps a text if it is among the first; one more says that there are more.
    fn text(&mut self, key: &str, text: &str) {
        let (_, texts) = self.config_of(key);
        if !texts.contains(text) {
            texts.insert(text.to_owned());
            if texts.len() > TEXTS + 1 {
                texts.pop_last();
            }
        }
    }

    fn listed(self) -> Listing {
        let mut metrics: Vec<Metric> = self.metrics.into_values().collect();
        metrics.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.key.cmp(&b.key)));
        let x = self.x.into_iter().map(|((_, key), runs)| Counted { key, runs }).collect();
        let config =
            self.config.into_iter().filter(|(_, (runs, _))| *runs > 0).map(|(key, (runs, texts))| {
                let more = texts.len() > TEXTS;
                let mut values: Vec<String> = texts.into_iter().take(TEXTS).collect();
                values.extend(more.then(|| MORE.to_owned()));
                Config { key, runs, values }
            });
        Listing { metrics, x, config: config.collect(), runs: self.runs.into_iter().collect() }
    }
}

/// Of each run the number, the least and the greatest of its finite values; nothing of a column with text.
fn finite(
    column: &Numbers,
    runs: usize,
    run_of: &dyn Fn(u32) -> Option<usize>,
) -> Vec<Option<(usize, f64, f64)>> {
    let mut finite: Vec<Option<(usize, f64, f64)>> = vec![None; runs];
    if column.unreadable.is_some() {
        return finite;
    }
    for (row, value) in column.rows.iter().zip(&column.values).filter(|(_, value)| value.is_finite()) {
        if let Some(run) = run_of(*row) {
            let (count, min, max) = finite[run].get_or_insert((0, *value, *value));
            *count += 1;
            (*min, *max) = (min.min(*value), max.max(*value));
        }
    }
    finite
}

/// What a key of numbers can be.
enum Sort {
    /// An x of this rank.
    X(usize),
    Metric,
    /// Counted by the tracker itself.
    Neither,
}

impl Sort {
    /// `own` is the x that the file itself names.
    fn of(table: &Table, key: &str, own: Option<&str>) -> Self {
        match x_axis::rank(key) {
            _ if table.origin == Origin::Panel => {
                if own == Some(key) {
                    Self::X(0)
                } else {
                    Self::Metric
                }
            }
            // The step of every value is no key.
            Some(_) if own_x(table) == Some(key) => Self::Neither,
            Some(rank) => Self::X(rank + 1),
            None if OF_WANDB.contains(&key) || key.starts_with("_wandb") => Self::Neither,
            None => Self::Metric,
        }
    }
}

/// The x of logs that name the step of every value.
fn own_x(table: &Table) -> Option<&'static str> {
    let apart =
        matches!(table.origin, Origin::Tensorboard | Origin::TrainerState | Origin::Mlflow | Origin::Dvclive);
    apart.then_some("step")
}

/// Whether a column of a table can tell runs apart: it holds words, few numbers, or is called so.
fn tells_apart(table: &Table, column: &Texts) -> bool {
    let key = column.key.to_lowercase();
    let number = |name: &String| name.trim().parse::<f64>().is_ok();
    let words = column.names.iter().any(|name| !number(name));
    let few = !column.names.is_empty() && 2 * column.names.len() <= column.cells.len();
    let telling = TELLING.iter().any(|word| key.contains(word));
    matches!(Sort::of(table, &column.key, None), Sort::Metric) && (words || few || telling)
}
