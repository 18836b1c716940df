//! The derivative of the loss by the probabilities of flips.

use calipers_core::Result;

use super::pair_gradient::Influences;
use super::pairs::Pairs;
use super::probabilities::Probabilities;
use super::{Gradient, Victim};
use crate::model::loss::margin_gradient;
use crate::model::matrix::Matrix;
use crate::model::propagation::Propagation;
use crate::model::propagation::backward::Through;
use crate::model::propagation::links::{Links, SoftGraph};
use crate::model::propagation::pair_table::{Field, PairTable, Rows};

pub(super) struct Slope {
    /// The loss at these probabilities.
    pub(super) value: f64,
    /// The length of its gradient.
    pub(super) norm: f64,
}

/// Writes the derivative of the loss by the probability of every pair considered. The victim has the numbers of the
/// table, if there is one.
pub(super) fn write_gradient(
    victim: &Victim<'_>,
    probabilities: &Probabilities,
    gradient: Gradient,
    pairs: &Pairs,
    values: &mut [f32],
) -> Result<Slope> {
    let (nodes, threads) = (victim.graph.nodes(), victim.threads);
    let penalty = &victim.model.settings().penalty;
    let mut squares = vec![0.0; nodes];
    let finish = |node: usize, row: &mut [f32]| {
        // More probable means less joined where there is an edge.
        for &other in victim.graph.later_neighbours(node as u32) {
            if let Some(place) = pairs.place(node, other) {
                row[place] = -row[place];
            }
        }
        sum_of_squares(row)
    };
    let value = match pairs {
        Pairs::All(_) => {
            let (value, influences) = influences(victim, probabilities, gradient, Field::of)?;
            influences.write(penalty, threads, &mut pairs.rows(values), &mut squares, finish);
            value
        }
        Pairs::Block(block) => {
            let (value, influences) = influences(victim, probabilities, gradient, Rows::of)?;
            influences.write(penalty, threads, block.pairs(), values);
            let rows = pairs.rows(values).into_iter().zip(&mut squares).enumerate();
            rows.for_each(|(node, (row, square))| *square = finish(node, row));
            value
        }
    };
    Ok(Slope { value, norm: squares.iter().sum::<f64>().sqrt() })
}

/// The loss, and what every step says about every node on the way back from it.
fn influences<L>(
    victim: &Victim<'_>,
    probabilities: &Probabilities,
    gradient: Gradient,
    layout: fn(&Matrix) -> L,
) -> Result<(f64, Influences<L>)> {
    let (soft, table);
    let links = match probabilities {
        Probabilities::Few(_) => {
            let joined = || probabilities.joined(&victim.graph);
            soft = SoftGraph::from_sorted(victim.graph.nodes(), joined);
            Links::of_soft(&soft)
        }
        Probabilities::Many { flips, .. } => {
            table = PairTable::new(&victim.graph, flips);
            Links::of_table(&table, victim.threads)
        }
    };
    let propagation = Propagation::new(links, victim.model.settings(), victim.threads);
    let tape = propagation.record(&victim.initial, None)?;
    let loss = margin_gradient(&tape.scores, &victim.labels, &victim.targets);
    let through = match gradient {
        Gradient::Detached => Through::Scores,
        Gradient::Full => Through::ScoresAndWeights,
    };
    let mut influences = Influences::new(layout);
    let derivatives = propagation.backward(&tape, &victim.initial, loss.gradient, through, |influence| {
        influences.add_step(&influence);
    });
    influences.set_degrees(&derivatives.degrees);
    Ok((loss.value, influences))
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn sum_of_squares(row: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (chunks, rest) = row.as_chunks::<8>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
    for (sum, &value) in sums.iter_mut().zip(rest) {
        *sum += f64::from(value) * f64::from(value);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}
