//! Projected gradient descent over the probabilities of all flips.

use calipers_core::{Error, Result};

use super::bisection::{Extent, count_above, lowered, shift};
use super::pair_gradient::Influences;
use super::probabilities::{Probabilities, rows_of};
use super::{Attack, Gradient, Victim};
use crate::backward::Through;
use crate::links::{Links, SoftGraph};
use crate::loss::margin_gradient;
use crate::pair_table::{PairTable, Tiles};
use crate::parallel;
use crate::propagation::Propagation;
use crate::watch::{Status, Watch, tell};

/// The length of the first step, as a share of the budget.
const FIRST_STEP: f64 = 0.1;

pub(super) fn descend(
    victim: &Victim<'_>,
    allowed: usize,
    attack: &Attack,
    watch: &dyn Watch,
) -> Result<Probabilities> {
    let nodes = victim.graph.nodes();
    let pairs = nodes * nodes.saturating_sub(1) / 2;
    check_memory(nodes, pairs as u64 * 4, attack)?;
    let mut probabilities = Probabilities::none(nodes);
    let mut values = vec![0f32; pairs];
    for step in 0..attack.steps {
        let loss = write_gradient(victim, &probabilities, attack.gradient, &mut values)?;
        let length = FIRST_STEP * allowed as f64 / f64::from(step + 1).sqrt() / loss.norm.max(1.0);
        let mut extents = vec![Extent::EMPTY; nodes];
        let mut rows = rows_of(&mut values, nodes);
        let items = rows.iter_mut().zip(&mut extents).enumerate();
        parallel::each(victim.threads, pairs, items, |(node, (row, extent))| {
            row.iter_mut().for_each(|value| *value *= -length as f32);
            probabilities.add_to(node, row);
            *extent = Extent::of(row);
        });
        let extent = extents.into_iter().fold(Extent::EMPTY, Extent::join);
        let shift = shift(&values, extent, allowed, victim.threads);
        let probable = count_above(&values, shift);
        check_memory(nodes, pairs as u64 * 4 + Probabilities::bytes(probable, nodes), attack)?;
        keep(&mut probabilities, &mut values, shift, probable, victim.threads);
        let used = probabilities.sum();
        let status = Status::Step { step: step + 1, loss: loss.value, used, allowed };
        tell(watch, u64::from(step) + 1, u64::from(attack.steps) + u64::from(attack.samples), status)?;
    }
    Ok(probabilities)
}

/// Takes the values above the shift, lowered by it, as the new probabilities.
fn keep(probabilities: &mut Probabilities, values: &mut [f32], shift: f64, probable: usize, threads: usize) {
    let nodes = probabilities.nodes();
    let before = std::mem::replace(probabilities, Probabilities::Few(Vec::new()));
    if Probabilities::are_many(probable, nodes) {
        let mut tiles = match before {
            Probabilities::Many(tiles) => tiles,
            Probabilities::Few(_) => Tiles::new(nodes),
        };
        tiles.fill(values, |value| lowered(value, shift), threads);
        *probabilities = Probabilities::Many(tiles);
        return;
    }
    let mut lists = match before {
        Probabilities::Few(lists) => lists,
        Probabilities::Many(_) => vec![Vec::new(); nodes],
    };
    let items = rows_of(values, nodes).into_iter().zip(&mut lists).enumerate();
    parallel::each(threads, nodes * nodes, items, |(node, (row, probable))| {
        probable.clear();
        let kept = row.iter().enumerate().filter(|(_, value)| f64::from(**value) > shift);
        probable.extend(kept.map(|(k, &value)| ((node + 1 + k) as u32, lowered(value, shift))));
    });
    *probabilities = Probabilities::Few(lists);
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
    let (soft, table);
    let links = match probabilities {
        Probabilities::Few(_) => {
            soft = SoftGraph::from_sorted(nodes, || probabilities.joined(victim.graph));
            Links::of_soft(&soft)
        }
        Probabilities::Many(flips) => {
            table = PairTable::new(victim.graph, flips);
            Links::of_table(&table, victim.threads)
        }
    };
    let propagation = Propagation::new(links, settings, victim.threads);
    let tape = propagation.record(&victim.initial, None)?;
    let loss = margin_gradient(&tape.scores, &victim.labels, victim.targets);
    let through = match gradient {
        Gradient::Detached => Through::Scores,
        Gradient::Full => Through::ScoresAndWeights,
    };
    let mut influences = Influences::default();
    let derivatives = propagation.backward(&tape, &victim.initial, loss.gradient, through, |influence| {
        influences.add_step(&influence);
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
