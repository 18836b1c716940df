//! A pair becomes a row.

use calipers_core::{Error, Result};

use crate::robustness::accuracy::decisions;
use crate::robustness::bias::dyadic::Dyadic;
use crate::robustness::bias::measure as bias;
use crate::robustness::bias::partials::Partials;
use crate::robustness::difference::change::{feature_digest, graph_digest, neighbours, touched};
use crate::robustness::difference::spread::{self, Graph};
use crate::robustness::protocol::Robustness;
use crate::robustness::row::{FlipRow, Row, SpreadRow};
use crate::robustness::unit::Pair;
use crate::robustness::unit::edges::Edge;
use crate::robustness::unit::matrix::Matrix;
use calipers_core::exact::Rational;

/// Measures a pair under a protocol.
pub(crate) fn measure(protocol: &Robustness, pair: &Pair<'_>) -> Result<Row> {
    pair.check(protocol)?;
    let fork = protocol.is_fork();
    if fork {
        single_precision_holds("clean features", &pair.clean)?;
        single_precision_holds("attacked features", &pair.attacked)?;
    }
    let nodes = bias::chosen(protocol, pair);
    // The published module makes no graph audit.
    let graphs = pair.clean_edges.zip(pair.attacked_edges).filter(|_| !fork);
    let touched = graphs.map(|(clean, attacked)| touched(clean, attacked, pair.clean.rows));
    let (bias, touched_bias) = bias::measure(protocol, pair, &nodes, touched.as_deref());
    let all = if fork { entries(protocol, pair) } else { None };
    let mut row = Row {
        run: pair.run.into(),
        attack: pair.attack.map(String::from),
        budget: pair.budget.clone(),
        nodes: pair.clean.rows as u64,
        columns: pair.clean.columns as u64,
        bias,
        simplex: looks_like_probabilities(&pair.clean, fork)
            && looks_like_probabilities(&pair.attacked, fork),
        accuracy: decisions::measure(protocol, pair),
        flips: None,
        all,
    };
    if let (false, Some(edges)) = (fork, pair.attacked_edges) {
        let clean = pair.clean_edges.map(|edges| Graph { features: pair.clean, edges });
        let spreads = spread::measure(protocol, Graph { features: pair.attacked, edges }, clean);
        row.all = Some(spreads.all);
        if let (Some(clean), Some([added, kept, removed])) = (pair.clean_edges, spreads.parts) {
            let changed = added.count + removed.count > 0;
            row.flips = Some(FlipRow {
                clean_edges: clean.len() as u64,
                isolated: isolated(clean, edges, pair.clean.rows),
                touched_bias: Dyadic::from(&touched_bias),
                graph: changed.then(|| graph_digest(edges)),
                features: feature_digest(&pair.clean),
                added,
                kept,
                removed,
            });
        }
    }
    Ok(row)
}

/// The edges of the published module: the entries as given, or both directions of every edge.
fn entries(protocol: &Robustness, pair: &Pair<'_>) -> Option<SpreadRow> {
    if let Some(entries) = pair.raw_attacked_entries {
        return Some(spread::measure_entries(protocol, pair.attacked, entries));
    }
    let edges = pair.attacked_edges?;
    let entries: Vec<Edge> = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
    Some(spread::measure_entries(protocol, pair.attacked, &entries))
}

/// How many nodes have a neighbour in the clean graph and none in the attacked one.
fn isolated(clean: &[Edge], attacked: &[Edge], nodes: usize) -> u64 {
    let (before, after) = (neighbours(clean, nodes), neighbours(attacked, nodes));
    before.into_iter().zip(after).filter(|(before, after)| *before > 0 && *after == 0).count() as u64
}

fn single_precision_holds(what: &str, matrix: &Matrix<'_>) -> Result<()> {
    let large = (0..matrix.data.len()).find(|&position| (matrix.data.get(position) as f32).is_infinite());
    large.map_or(Ok(()), |position| {
        Err(Error::value("a value is too large for single precision")
            .at(format!("{what}, {}", matrix.place(position)))
            .found(matrix.data.shown(position))
            .advice("preset rung-fork rounds features to float32: use preset document"))
    })
}

/// Whether every line has no negative number and sums to 1 within 1e-5.
fn looks_like_probabilities(matrix: &Matrix<'_>, single: bool) -> bool {
    let number = |node, column| {
        let number = matrix.get(node, column);
        if single { f64::from(number as f32) } else { number }
    };
    let likely = |node| {
        let mut sum = 0.0;
        for column in 0..matrix.columns {
            let number = number(node, column);
            if number < 0.0 || sum > 2.0 {
                return false;
            }
            sum += number;
        }
        let off = (sum - 1.0).abs() - 1e-5;
        // Rounding moves such a sum by less than this; nearer to the limit it is summed exactly.
        let margin = 1e-15 * matrix.columns as f64;
        off < -margin
            || (off <= margin && sums_to_one((0..matrix.columns).map(|column| number(node, column))))
    };
    matrix.columns > 1 && (0..matrix.rows).all(likely)
}

fn sums_to_one(numbers: impl Iterator<Item = f64>) -> bool {
    let mut partials = Partials::default();
    numbers.for_each(|number| partials.add(number));
    let terms = partials.terms().iter().map(|&term| Rational::of(term));
    let off = terms.fold(Rational::whole(-1), |sum, term| sum.plus(&term));
    let limit = Rational::ratio(1, 100_000);
    off <= limit && Rational::whole(0).minus(&off) <= limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robustness::budget::fraction::Budget;
    use crate::robustness::protocol::Preset;
    use calipers_core::NumberSlice;

    fn likely(values: &[f64], columns: usize) -> bool {
        looks_like_probabilities(
            &Matrix::new(values.len() / columns, columns, NumberSlice::F64(values)).unwrap(),
            false,
        )
    }

    #[test]
    fn rows_of_shares_are_told_from_scores() {
        assert!(likely(&[0.25, 0.75, 1.0, 0.0], 2) && likely(&[0.1, 0.2, 0.7], 3));
        assert!(!likely(&[0.25, 0.75, 2.0, -1.0], 2) && !likely(&[0.5, 0.6], 2));
        assert!(!likely(&[1.0, 1.0], 1), "one column carries no shares");
        assert!(likely(&[0.5, 0.5 + 9.9e-6], 2) && !likely(&[0.5, 0.5 + 1.01e-5], 2));
        // The nearest floats to the limit lie on both sides of it.
        assert!(likely(&[1.0, 1e-5f64.next_down()], 2) && !likely(&[1.0, 1e-5f64.next_up()], 2));
    }

    #[test]
    fn what_single_precision_cannot_hold_is_refused_by_the_published_module_only() {
        let matrix = |data| Matrix::new(1, 2, NumberSlice::F64(data)).unwrap();
        let pair = Pair::new("a", Budget::parse("0").unwrap(), matrix(&[0.0, 1e39]), matrix(&[0.0, 1.0]));
        assert!(measure(&Robustness::default(), &pair).is_ok());
        let fork = Robustness { preset: Preset::RungFork, ..Robustness::default() };
        let text = measure(&fork, &pair).unwrap_err().to_string();
        assert!(text.contains("clean features, [0, 1]"), "{text}");
    }
}
