//! Projected gradient descent over the probabilities of all flips.

use calipers_core::{Error, Result};

use super::bisection::{Extent, lowered, shift};
use super::pair_gradient::Influences;
use super::{Attack, Gradient, Victim};
use crate::backward::Through;
use crate::links::{Links, SoftGraph};
use crate::loss::margin_gradient;
use crate::parallel;
use crate::penalty::Kind;
use crate::propagation::Propagation;
use crate::watch::{Status, Watch, tell};

/// For every node i, the pairs (i, j) with j > i whose probability of being flipped is above 0, ascending.
pub(super) type Probabilities = Vec<Vec<(u32, f32)>>;

/// The length of the first step, as a share of the budget.
const FIRST_STEP: f64 = 0.1;

/// Bytes held per pair whose probability is above 0: in the list and, both ways, in the graph.
const BYTES_PER_PROBABLE_PAIR: u64 = 8 + 2 * (4 + 8);

pub(super) fn descend(
    victim: &Victim<'_>,
    allowed: usize,
    attack: &Attack,
    watch: &dyn Watch,
) -> Result<Probabilities> {
    let nodes = victim.graph.nodes();
    let pairs = nodes * nodes.saturating_sub(1) / 2;
    check_memory(nodes, pairs as u64 * 4, attack)?;
    let mut probabilities: Probabilities = vec![Vec::new(); nodes];
    let mut values = vec![0f32; pairs];
    for step in 0..attack.steps {
        let loss = write_gradient(victim, &probabilities, attack.gradient, &mut values)?;
        let length = FIRST_STEP * allowed as f64 / f64::from(step + 1).sqrt() / loss.norm.max(1.0);
        let mut extents = vec![Extent::EMPTY; nodes];
        let mut rows = rows_of(&mut values, nodes);
        let items = rows.iter_mut().zip(&probabilities).zip(&mut extents).enumerate();
        parallel::each(victim.threads, pairs, items, |(node, ((row, probable), extent))| {
            row.iter_mut().for_each(|value| *value *= -length as f32);
            probable.iter().for_each(|&(j, probability)| row[j as usize - node - 1] += probability);
            *extent = Extent::of(row);
        });
        let extent = extents.into_iter().fold(Extent::EMPTY, Extent::join);
        let shift = shift(&values, extent, allowed, victim.threads);
        let rows = rows_of(&mut values, nodes);
        let items = rows.into_iter().zip(&mut probabilities).enumerate();
        parallel::each(victim.threads, pairs, items, |(node, (row, probable))| {
            probable.clear();
            let kept = row.iter().enumerate().filter(|(_, value)| f64::from(**value) > shift);
            probable.extend(kept.map(|(k, &value)| ((node + 1 + k) as u32, lowered(value, shift))));
        });
        let probable: u64 = probabilities.iter().map(|row| row.len() as u64).sum();
        check_memory(nodes, pairs as u64 * 4 + probable * BYTES_PER_PROBABLE_PAIR, attack)?;
        let used = probabilities.iter().flatten().map(|&(_, probability)| f64::from(probability)).sum();
        let status = Status::Step { step: step + 1, loss: loss.value, used, allowed };
        tell(watch, u64::from(step) + 1, u64::from(attack.steps) + u64::from(attack.samples), status)?;
    }
    Ok(probabilities)
}

fn check_memory(nodes: usize, bytes: u64, attack: &Attack) -> Result<()> {
    if bytes <= attack.memory {
        return Ok(());
    }
    Err(Error::value("the graph is too large for this attack")
        .found(format!("{nodes} nodes, whose pairs take {bytes} bytes"))
        .allowed(format!("{} bytes (--attack-memory)", attack.memory))
        .advice("raise --attack-memory, or attack a smaller graph"))
}

/// Row i: the pairs (i, i + 1), (i, i + 2), ...
fn rows_of(values: &mut [f32], nodes: usize) -> Vec<&mut [f32]> {
    let mut rest = values;
    let mut rows = Vec::with_capacity(nodes);
    for node in 0..nodes {
        let (row, after) = rest.split_at_mut(nodes - 1 - node);
        rows.push(row);
        rest = after;
    }
    rows
}

struct Slope {
    /// The loss at these probabilities.
    value: f64,
    /// The length of its gradient.
    norm: f64,
}

/// Writes the derivative of the loss by every probability.
fn write_gradient(
    victim: &Victim<'_>,
    probabilities: &Probabilities,
    gradient: Gradient,
    values: &mut [f32],
) -> Result<Slope> {
    let (nodes, settings) = (victim.graph.nodes(), victim.model.settings());
    let soft = soft_graph(victim, probabilities);
    let propagation = Propagation::new(Links::of_soft(&soft), settings, victim.threads);
    let tape = propagation.record(&victim.initial)?;
    let loss = margin_gradient(&tape.scores, &victim.labels, victim.targets);
    let through = match gradient {
        Gradient::Detached => Through::Scores,
        Gradient::Full => Through::ScoresAndWeights,
    };
    let adaptive = settings.penalty.kind() == Kind::Adaptive;
    let mut influences = Influences::new(nodes, victim.initial.columns(), tape.steps.len(), adaptive);
    let derivatives =
        propagation.backward(&tape, &victim.initial, loss.gradient, through, |step, influence| {
            influences.set_step(step, &influence);
        });
    influences.set_degrees(&derivatives.degrees);
    let mut squares = vec![0.0; nodes];
    let mut rows = rows_of(values, nodes);
    influences.write(&settings.penalty, victim.threads, &mut rows, &mut squares, |node, row| {
        // More probable means less joined where there is an edge.
        for &other in victim.graph.later_neighbours(node as u32) {
            let value = &mut row[other as usize - node - 1];
            *value = -*value;
        }
        sum_of_squares(row)
    });
    Ok(Slope { value: loss.value, norm: squares.iter().sum::<f64>().sqrt() })
}

/// The graph in which every pair is joined as strongly as it is probable that it is joined.
fn soft_graph(victim: &Victim<'_>, probabilities: &Probabilities) -> SoftGraph {
    let pairs = || {
        probabilities.iter().enumerate().flat_map(|(node, probable)| {
            let i = node as u32;
            let mut edges = victim.graph.later_neighbours(i).iter().copied().peekable();
            let mut flips = probable.iter().copied().peekable();
            std::iter::from_fn(move || {
                let next = match (edges.peek(), flips.peek()) {
                    (None, None) => return None,
                    (Some(&edge), Some(&(flip, _))) => edge.min(flip),
                    (Some(&only), None) | (None, Some(&(only, _))) => only,
                };
                let joined = edges.next_if_eq(&next).is_some();
                let flip =
                    flips.next_if(|&(j, _)| j == next).map_or(0.0, |(_, probability)| f64::from(probability));
                Some((i, next, if joined { 1.0 - flip } else { flip }))
            })
        })
    };
    SoftGraph::from_sorted(victim.graph.nodes(), || pairs().filter(|&(_, _, strength)| strength > 0.0))
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
