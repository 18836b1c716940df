//! The three tables of a study: test scores, saturation, cost and origin of every configuration,
//! aggregated strictly, wisely and naively.

use std::collections::BTreeMap;

use calipers_core::{ExactSum, Metric, Protocol, Report, Value};
use calipers_io::history::json::loose::Loose;
use calipers_metrics::training::Training;
use calipers_metrics::training::saturation::{
    DIVERGENCE_NAIVE, DIVERGENCE_STRICT, DIVERGENCE_WISE, SATURATION_COUNT, STABILITY_NAIVE,
    STABILITY_STRICT, STABILITY_WISE, VELOCITY_NAIVE, VELOCITY_STRICT, VELOCITY_WISE,
};
use calipers_report::grid::{Cell, Grid};
use calipers_sources::training::study::endings::Endings;
use calipers_sources::training::study::runs_file::{Group, RunsFile};

/// How values of folds become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// The mean, if every fold has a value.
    Strict,
    /// The mean of the folds that have one.
    Wise,
    /// The sum over all folds, whether they have one or not.
    Naive,
}

impl Aggregation {
    /// All three, in the order in which they are written.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Wise, Self::Naive];

    /// What follows the prefix in a file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Strict => "_STRICT",
            Self::Wise => "_MEAN_WISE",
            Self::Naive => "_MEAN_NAIVE",
        }
    }

    /// Velocity, stability and divergence.
    fn saturation(self) -> [Metric<Training>; 3] {
        match self {
            Self::Strict => [VELOCITY_STRICT, STABILITY_STRICT, DIVERGENCE_STRICT],
            Self::Wise => [VELOCITY_WISE, STABILITY_WISE, DIVERGENCE_WISE],
            Self::Naive => [VELOCITY_NAIVE, STABILITY_NAIVE, DIVERGENCE_NAIVE],
        }
    }

    fn of(self, values: &[f64], folds: usize) -> Option<f64> {
        let count = if self == Self::Wise { values.len() } else { folds };
        let defined = !values.is_empty() && (self != Self::Strict || values.len() == folds);
        defined.then(|| values.iter().copied().collect::<ExactSum>().over(count as u64))
    }
}

/// Everything the tables are made from.
pub struct Study<'a> {
    /// The per-run JSON.
    pub runs: &'a RunsFile,
    /// What the histories say beside their curves.
    pub endings: &'a Endings,
    /// The label and report of each metric, in command-line order.
    pub metrics: &'a [(String, Report)],
    /// Whether the conventions of the published tables hold: five folds, no count of 0, a missing
    /// edit distance is 0.
    pub published: bool,
    /// The declared number of folds.
    pub folds: Option<u32>,
}

/// Columns of test scores and the keys they are read from.
const TESTS: [(&str, &str); 11] = [
    ("R_TP", "test_part_parsed"),
    ("R_CS", "test_part_subj_ok"),
    ("R_SVT", "test_part_valid"),
    ("F1-", "test_F1_micro"),
    ("F1+", "test_F1_macro"),
    ("P-", "test_prec_micro"),
    ("P+", "test_prec_macro"),
    ("R-", "test_recall_micro"),
    ("R+", "test_recall_macro"),
    ("B", "test_BLEU"),
    ("lev", "test_dist_edit"),
];

/// Columns that the per-run JSON gives as they are.
const ORIGIN: [&str; 5] = ["tokenizer_path", "date", "syntax", "space", "add_vocab"];

impl Study<'_> {
    /// The table of one aggregation, best configurations first.
    pub fn table(&self, aggregation: Aggregation) -> Grid {
        let mut rows: Vec<(Option<f64>, Vec<Cell>)> = self
            .runs
            .groups
            .iter()
            .enumerate()
            .map(|(position, group)| self.row(position, group, aggregation))
            .collect();
        // Stable, so that ties and rows without a score keep the order of the file.
        rows.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => b.total_cmp(a),
            _ => a.is_none().cmp(&b.is_none()),
        });
        Grid { columns: self.columns(), rows: rows.into_iter().map(|(_, row)| row).collect() }
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = vec![String::new(), "tag_name".into()];
        columns.extend(TESTS.iter().map(|(name, _)| (*name).to_owned()));
        columns.push("nb_epoch".into());
        for (label, _) in self.metrics {
            columns.extend(["Sat", "V", "S", "D"].map(|name| format!("{name}_{label}")));
        }
        columns.extend(["Cc", "Tt", "Gg", "val_loss"].map(String::from));
        columns.extend(ORIGIN.map(String::from));
        columns.extend(["path_best", "model_name_or_path"].map(String::from));
        columns
    }

    fn row(&self, position: usize, group: &Group, aggregation: Aggregation) -> (Option<f64>, Vec<Cell>) {
        let folds = self.fold_values(group);
        let count = self.folds.map_or(if self.published { 5 } else { folds.len() }, |folds| folds as usize);
        let mean = |key: &str| {
            let finite = |fold: &BTreeMap<&str, f64>| fold.get(key).copied().filter(|x| x.is_finite());
            aggregation.of(&folds.iter().filter_map(finite).collect::<Vec<_>>(), count)
        };
        let parsed = mean("test_part_parsed");
        let tests = TESTS.map(|(name, key)| match name {
            // Ratios of means: shares among what could be parsed.
            "R_CS" | "R_SVT" => {
                let parsed = parsed.filter(|parsed| parsed.abs() > 0.0);
                mean(key).zip(parsed).map(|(share, parsed)| share / parsed)
            }
            _ => mean(key),
        });
        let score = match tests {
            [Some(tp), Some(cs), Some(svt), _, Some(f1), ..] => Some(f1 * tp * cs * svt),
            _ => None,
        };
        let member = |name: &str| group.members.get(name).map_or(Cell::Empty, cell);
        let tag = match member("tag_name") {
            Cell::Text(tag) if !tag.is_empty() => tag,
            _ => group.name.clone(),
        };
        let mut cells = vec![Cell::Number(position as f64), Cell::Text(tag)];
        cells.extend(tests.map(Cell::from));
        cells.push(mean("nb_epoch").into());
        for (_, report) in self.metrics {
            cells.extend(self.saturation(report, &group.name, count, aggregation).map(Cell::from));
        }
        cells.extend([mean("carbon"), mean("minutes"), score, mean("val_loss")].map(Cell::from));
        cells.extend(ORIGIN.map(member));
        cells.push(best_path(group).map_or(Cell::Empty, Cell::Text));
        cells.push(member("model_name_or_path"));
        (score, cells)
    }

    /// The values of each fold that the file or a history knows of.
    fn fold_values<'a>(&'a self, group: &'a Group) -> Vec<BTreeMap<&'a str, f64>> {
        let folds = group.folds().into_iter().map(|fold| {
            let mut values = BTreeMap::new();
            if let Some(summary) = group.summary.as_ref().and_then(|folds| folds.get(fold)) {
                values.extend(summary.tests.iter().map(|(key, x)| (key.as_str(), *x)));
                values.extend(summary.emissions.map(|x| ("carbon", x)));
            }
            if let Some(ending) = self.endings.get(&(group.name.clone(), fold.to_owned())) {
                values.extend(ending.epochs.map(|n| ("nb_epoch", n as f64)));
                values.extend(ending.runtime.map(|seconds| ("minutes", seconds / 60.0)));
                for (key, x) in &ending.last {
                    values.entry(key.as_str()).or_insert(*x);
                }
            }
            if self.published
                && let Some(distance) = values.get_mut("test_dist_edit").filter(|x| x.is_nan())
            {
                *distance = 0.0;
            }
            values
        });
        folds.collect()
    }

    /// Saturation count, velocity, stability and divergence.
    fn saturation(&self, report: &Report, group: &str, folds: usize, by: Aggregation) -> [Option<f64>; 4] {
        let read = |metric: &Metric<Training>| match report.get(&format!("{}.{}", Training::NAME, metric.id))
        {
            Some(Value::PerLabel(groups)) => {
                groups.iter().find(|(name, _)| name == group).and_then(|(_, value)| value.as_f64())
            }
            _ => None,
        };
        let shown = |count: &f64| {
            let complete = by != Aggregation::Strict || *count as usize == folds;
            !self.published || (*count > 0.0 && complete)
        };
        let count = read(&SATURATION_COUNT).filter(shown);
        let [velocity, stability, divergence] = by.saturation().map(|metric| read(&metric));
        [count, velocity, stability, divergence]
    }
}

/// The checkpoint of the fold with the best test scores, else the first one called `last`.
fn best_path(group: &Group) -> Option<String> {
    const SCORE: [&str; 4] = ["test_F1_macro", "test_part_parsed", "test_part_subj_ok", "test_part_valid"];
    let summary = group.summary.as_ref().filter(|summary| !summary.is_empty())?;
    let mut best = (0.0, None);
    for fold in summary.values() {
        let parts = SCORE.map(|key| fold.tests.get(key).copied().unwrap_or(f64::NAN));
        let score = parts.iter().product::<f64>();
        if parts.iter().all(|x| x.is_finite()) && score > best.0 {
            best = (score, fold.best_model_path.clone());
        }
    }
    best.1.or_else(|| group.last_checkpoint.clone())
}

fn cell(value: &Loose) -> Cell {
    match value {
        Loose::Bool(on) => Cell::Flag(*on),
        Loose::Number { value, .. } => Cell::Number(*value),
        Loose::Text(text) => Cell::Text(text.clone()),
        Loose::Null | Loose::List(_) | Loose::Object(_) => Cell::Empty,
    }
}
