//! The order of three and more models, and how sure it is.

use super::{Comparison, Line, Titled};
use crate::grid::{Cell, Grid};
use crate::table::Digits;

/// The order of the models in one line.
#[derive(Clone, Debug, PartialEq)]
pub enum Ranking {
    /// What it is.
    Known(Ranks),
    /// Why there is none.
    Unknown(String),
}

/// The models in order; models are named by their place in the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// The model with the best value, the first of equals.
    pub best: usize,
    /// How many resamples counted.
    pub resamples: u64,
    /// The share that each interval to the best claims, so that all of them hold together.
    pub level: f64,
    /// The ranked models, in the order given.
    pub models: Vec<Rank>,
    /// Those that are not distinguishable from the best, by rank.
    pub set: Vec<usize>,
    /// Models without the number, and why.
    pub unranked: Vec<(usize, String)>,
}

/// One model among the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// The model.
    pub model: usize,
    /// The rank of its value; equal values share the mean of their ranks.
    pub rank: f64,
    /// Its mean rank over the resamples.
    pub expected: f64,
    /// How often it had each rank, from the first to the last.
    pub probability: Vec<f64>,
    /// What sets it apart from the best; none for the best.
    pub to_best: Option<ToBest>,
    /// Whether it may be the best.
    pub undistinguished: bool,
}

/// What sets a model apart from the best one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToBest {
    /// Its number less that of the best.
    pub difference: f64,
    /// Where the difference may lie.
    pub interval: Option<[f64; 2]>,
}

/// Behind the rank of a model that is not distinguishable from the best.
const LEVEL_WITH_BEST: &str = "=";

/// The tables of ranks: that of the number compared first, or all.
pub(super) fn tables(comparison: &Comparison, all: bool) -> Vec<Titled> {
    let ranked = comparison.lines.iter().filter_map(|line| match line.ranks.as_ref()? {
        Ranking::Known(ranks) => Some(table(comparison, line, ranks)),
        Ranking::Unknown(_) => None,
    });
    ranked.take(if all { usize::MAX } else { 1 }).collect()
}

/// The ranks by every number in one table, with what is said of several of them said once.
pub(super) fn every(comparison: &Comparison) -> Option<Titled> {
    let mut all: Option<Titled> = None;
    for line in &comparison.lines {
        let Some(Ranking::Known(ranks)) = &line.ranks else { continue };
        let mut one = table(comparison, line, ranks);
        one.notes.retain(|note| !note.starts_with(LEVEL_WITH_BEST));
        one.grid.columns.insert(0, "metric".into());
        one.grid.rows.iter_mut().for_each(|row| row.insert(0, Cell::Text(line.name())));
        match &mut all {
            Some(all) => {
                all.grid.rows.extend(one.grid.rows);
                one.notes.retain(|note| !all.notes.contains(note));
                all.notes.extend(one.notes);
            }
            None => all = Some(Titled { title: "ranks".into(), ..one }),
        }
    }
    if let Some(all) = &mut all
        && all.grid.rows.iter().flatten().any(is_marked)
    {
        all.notes.insert(0, format!("{LEVEL_WITH_BEST} not distinguishable from the best"));
    }
    all
}

fn is_marked(cell: &Cell) -> bool {
    matches!(cell, Cell::Text(text) if text.ends_with(LEVEL_WITH_BEST))
}

fn table(comparison: &Comparison, line: &Line, ranks: &Ranks) -> Titled {
    let mut models: Vec<&Rank> = ranks.models.iter().collect();
    // The sort keeps the order given among equals.
    models.sort_by(|a, b| a.rank.total_cmp(&b.rank));
    let name = |model: usize| &comparison.models[model].name;
    let digits = Digits::of_column(line.values.iter().filter_map(|value| Some((value.as_f64()?, None))));
    let row = |rank: &&Rank| {
        let mark = if rank.undistinguished && rank.model != ranks.best { LEVEL_WITH_BEST } else { "" };
        vec![
            Cell::Text(name(rank.model).clone()),
            Cell::Text(line.values[rank.model].as_f64().map_or_else(|| "–".into(), |x| digits.number(x))),
            Cell::Text(format!("{}{mark}", rank.rank)),
            Cell::Text(format!("{:.2}", rank.expected)),
            Cell::Text(format!("{:.3}", rank.probability.first().copied().unwrap_or(0.0))),
            Cell::Text(if ranks.set.contains(&rank.model) { "yes" } else { "no" }.into()),
        ]
    };
    let columns = ["model", "value", "rank", "expected rank", "P(first)", "set"].map(String::from);
    let marked = models.iter().any(|rank| rank.undistinguished && rank.model != ranks.best);
    let mut notes = Vec::new();
    if marked {
        notes.push(format!("{LEVEL_WITH_BEST} not distinguishable from the best, {}", name(ranks.best)));
    }
    notes.push(format!(
        "the truly best model is in the set with a probability of at least {} %, as far as its intervals hold",
        comparison.share()
    ));
    notes.extend(
        ranks.unranked.iter().map(|(model, reason)| format!("{} has no rank: {reason}", name(*model))),
    );
    Titled {
        title: format!("ranks by {}", line.name()),
        grid: Grid { columns: columns.into(), rows: models.iter().map(row).collect() },
        notes,
    }
}
