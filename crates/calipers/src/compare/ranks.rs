//! Three or more models in order, and how sure the order is.

use std::cmp::Ordering;

use calipers_core::Better;
use calipers_core::exact::rational::{Rational, sum};
use calipers_report::comparison::{Rank, Ranking, Ranks, ToBest};

use super::Options;
use super::paired::{Number, apart};
use super::samples::Column;

/// With this many models or more there are ranks.
const FEWEST: usize = 3;

/// The ranks of the models that have a number; `None` where fewer than three do. `columns` holds one for
/// each model, in order.
pub(super) fn of(
    number: &Number<'_>,
    columns: &[Option<Column<'_>>],
    reasons: &[Option<String>],
    options: &Options,
) -> Option<Ranking> {
    let ranked: Vec<(usize, Column<'_>)> =
        columns.iter().enumerate().filter_map(|(model, column)| Some((model, (*column)?))).collect();
    if ranked.len() < FEWEST {
        return None;
    }
    if let Some(reason) = number.plan.too_small(number.strata.clone()) {
        return Some(Ranking::Unknown(reason));
    }
    let values: Vec<f64> = ranked.iter().map(|(_, column)| column.value).collect();
    let counts = Counts::of(&ranked, number.better);
    let drawn = options.bootstrap.resamples;
    if (counts.resamples as f64) < 0.9 * f64::from(drawn) || counts.resamples == 0 {
        return Some(Ranking::Unknown(format!(
            "all models have the number in {} of {drawn} resamples",
            counts.resamples
        )));
    }
    let best = (1..values.len()).fold(0, |best, at| {
        if order(number.better, values[at], values[best]) == Ordering::Less { at } else { best }
    });
    // Bonferroni: one interval for each model that is not the best.
    let half = (1.0 - options.bootstrap.confidence) / (ranked.len() - 1) as f64;
    let rank = |at: usize| -> Rank {
        let (ahead, tied) = standing(&values, at, number.better);
        let probability = counts.probability(at);
        let to_best = (at != best).then(|| {
            let (best, own) = (ranked[best].1, ranked[at].1);
            let interval = apart(number, best, own, half, options).ok().map(|interval| interval.bounds);
            ToBest { difference: own.value - best.value, interval }
        });
        let worse = |[low, high]: [f64; 2]| match number.better {
            Better::Lower => low > 0.0,
            _ => high < 0.0,
        };
        let lost = to_best.as_ref().and_then(|to_best| to_best.interval).is_some_and(worse);
        Rank {
            model: ranked[at].0,
            rank: (2 * ahead + tied + 1) as f64 / 2.0,
            expected: counts.expected(at),
            probability,
            to_best,
            undistinguished: !lost,
        }
    };
    let models: Vec<Rank> = (0..ranked.len()).map(rank).collect();
    let mut set: Vec<&Rank> = models.iter().filter(|rank| rank.undistinguished).collect();
    // The sort keeps the order given among equals.
    set.sort_by(|a, b| a.rank.total_cmp(&b.rank));
    let set = set.into_iter().map(|rank| rank.model).collect();
    let unranked = reasons.iter().enumerate();
    Some(Ranking::Known(Ranks {
        best: ranked[best].0,
        resamples: counts.resamples,
        level: 1.0 - 2.0 * half,
        models,
        set,
        unranked: unranked.filter_map(|(model, reason)| Some((model, reason.clone()?))).collect(),
    }))
}

/// The better number comes first.
fn order(better: Better, a: f64, b: f64) -> Ordering {
    let ascending = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    if better == Better::Lower { ascending } else { ascending.reverse() }
}

/// How many models are ahead of one, and how many, itself among them, are level with it.
fn standing(values: &[f64], at: usize, better: Better) -> (usize, usize) {
    let to = |other: &f64| order(better, *other, values[at]);
    let ahead = values.iter().filter(|other| to(other) == Ordering::Less).count();
    (ahead, values.iter().filter(|other| to(other) == Ordering::Equal).count())
}

/// In how many resamples each model had which place.
struct Counts {
    models: usize,
    resamples: u64,
    /// By model, by how many are ahead, by how many are level.
    counts: Vec<u64>,
}

impl Counts {
    fn of(ranked: &[(usize, Column<'_>)], better: Better) -> Self {
        let models = ranked.len();
        let mut all = Self { models, resamples: 0, counts: vec![0; models * models * models] };
        let mut columns: Vec<_> = ranked.iter().map(|(_, column)| column.resamples()).collect();
        loop {
            let values: Vec<f64> = columns.iter_mut().map_while(Iterator::next).collect();
            if values.len() < models {
                return all;
            }
            if values.iter().any(|value| value.is_nan()) {
                continue;
            }
            all.resamples += 1;
            for at in 0..models {
                let (ahead, tied) = standing(&values, at, better);
                all.counts[(at * models + ahead) * models + tied - 1] += 1;
            }
        }
    }

    /// The share of each rank: level models share the ranks that they fill.
    fn shares(&self, model: usize) -> Vec<Rational> {
        let share = |rank: usize| {
            let mut shares = Vec::new();
            for ahead in 0..=rank {
                for tied in rank - ahead + 1..=self.models - ahead {
                    let count = self.counts[(model * self.models + ahead) * self.models + tied - 1];
                    shares.push(Rational::ratio(count, tied as u64));
                }
            }
            sum(shares.into_iter()).over(&Rational::whole(self.resamples))
        };
        (0..self.models).map(share).collect()
    }

    fn probability(&self, model: usize) -> Vec<f64> {
        self.shares(model).iter().map(Rational::nearest).collect()
    }

    fn expected(&self, model: usize) -> f64 {
        let ranks = self.shares(model).into_iter().zip(1u64..);
        sum(ranks.map(|(share, rank)| share.times(&Rational::whole(rank)))).nearest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_models_share_the_ranks_that_they_fill() {
        let values = [2.0, 2.0, 1.0, 3.0];
        assert_eq!(standing(&values, 0, Better::Higher), (1, 2));
        assert_eq!(standing(&values, 0, Better::Lower), (1, 2));
        assert_eq!(standing(&values, 3, Better::Higher), (0, 1));
        let mut counts = Counts { models: 3, resamples: 2, counts: vec![0; 27] };
        // Once the first of three, once level with one other behind none.
        counts.counts[0] = 1;
        counts.counts[1] = 1;
        assert_eq!(counts.probability(0), [0.75, 0.25, 0.0]);
        assert_eq!(counts.expected(0).to_bits(), 1.25f64.to_bits());
    }
}
