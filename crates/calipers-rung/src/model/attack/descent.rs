//! Projected gradient descent over the probabilities of flips: of all pairs, or of a block that is renewed.

use calipers_core::Result;

use super::bisection::{Extent, count_above, lowered, shift};
use super::gradient::write_gradient;
use super::names::{Names, by_values_above};
use super::pairs::Pairs;
use super::probabilities::Probabilities;
use super::{Attack, Victim};
use crate::model::parallel;
use crate::model::propagation::pair_table::{BLOCK, Tiles};
use crate::model::watch::{Status, Watch, tell};

/// The length of the first step, as a share of the budget.
const FIRST_STEP: f64 = 0.1;

/// The share of the steps, one in so many and at the end, that leaves the block as it is: what was drawn last needs
/// steps, too, before it is sampled from.
const LAST_BLOCK: u32 = 4;

pub(super) fn descend(
    victim: &Victim<'_>,
    mut pairs: Pairs,
    allowed: usize,
    attack: &Attack,
    watch: &dyn Watch,
) -> Result<Probabilities> {
    let nodes = victim.graph.nodes();
    let mut probabilities = Probabilities::none(nodes);
    let mut values = vec![0f32; pairs.count()];
    for step in 0..attack.steps {
        let renamed = match &probabilities {
            Probabilities::Few(_) => None,
            Probabilities::Many { names, .. } => Some(victim.renamed(names)?),
        };
        let as_numbered = renamed.as_ref().unwrap_or(victim);
        let loss = write_gradient(as_numbered, &probabilities, attack.gradient, &pairs, &mut values)?;
        // A pair of a block speaks for those that are not held: without this, the smaller the block, the less of
        // the budget would be used.
        let share = pairs.each_stands_for();
        let length =
            FIRST_STEP * allowed as f64 / f64::from(step + 1).sqrt() * share / (share * loss.norm).max(1.0);
        let mut extents = vec![Extent::EMPTY; nodes];
        let mut rows = pairs.rows(&mut values);
        let items = rows.chunks_mut(BLOCK).zip(extents.chunks_mut(BLOCK)).enumerate();
        parallel::each(victim.threads, pairs.count(), items, |(block, (rows, extents))| {
            for (k, (row, extent)) in rows.iter_mut().zip(extents).enumerate() {
                scale(row, -length as f32);
                probabilities.add_to(block * BLOCK + k, &pairs, row);
                *extent = Extent::of(row);
            }
        });
        let extent = extents.into_iter().fold(Extent::EMPTY, Extent::join);
        let shift = shift(&values, extent, allowed, victim.threads);
        let probable = count_above(&values, shift, victim.threads);
        pairs.check_memory(probable, attack)?;
        keep(&mut probabilities, &pairs, &mut values, shift, probable, victim.threads);
        let used = probabilities.sum();
        let status = Status::Step { step: step + 1, loss: loss.value, used, allowed };
        tell(watch, u64::from(step) + 1, u64::from(attack.steps) + u64::from(attack.samples), status)?;
        if let Pairs::Block(block) = &mut pairs
            && is_renewed_after(step, attack.steps)
        {
            block.renew(&mut probabilities);
        }
    }
    Ok(probabilities.listed())
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn scale(row: &mut [f32], factor: f32) {
    row.iter_mut().for_each(|value| *value *= factor);
}

/// Whether the block makes room for new pairs after a step, counted from 0.
fn is_renewed_after(step: u32, steps: u32) -> bool {
    step < steps - steps.div_ceil(LAST_BLOCK)
}

/// Takes the values above the shift, lowered by it, as the new probabilities. The values have the numbers of the table
/// before, if there was one.
fn keep(
    probabilities: &mut Probabilities,
    pairs: &Pairs,
    values: &mut [f32],
    shift: f64,
    probable: usize,
    threads: usize,
) {
    let nodes = probabilities.nodes();
    let before = std::mem::replace(probabilities, Probabilities::Few(Vec::new()));
    if matches!(pairs, Pairs::All(_)) && Probabilities::are_many(probable, nodes) {
        let (mut flips, names) = match before {
            Probabilities::Many { flips, names } => (flips, names),
            Probabilities::Few(_) => (Tiles::new(nodes), Names::same(nodes)),
        };
        let order = by_values_above(&pairs.rows(values), shift, threads);
        flips.fill(values, &order, |value| lowered(value, shift), threads);
        *probabilities = Probabilities::Many { flips, names: names.reordered(&order) };
        return;
    }
    let (mut lists, names) = match before {
        Probabilities::Few(lists) => (lists, None),
        Probabilities::Many { names, .. } => (vec![Vec::new(); nodes], Some(names)),
    };
    let rows = pairs.rows(values);
    let items = rows.chunks(BLOCK).zip(lists.chunks_mut(BLOCK)).enumerate();
    parallel::each(threads, pairs.count(), items, |(block, (rows, lists))| {
        for (k, (row, probable)) in rows.iter().zip(lists).enumerate() {
            probable.clear();
            pairs.visit(block * BLOCK + k, row, |other, value| {
                if f64::from(value) > shift {
                    probable.push((other, lowered(value, shift)));
                }
            });
        }
    });
    *probabilities = Probabilities::Few(match names {
        None => lists,
        Some(names) => by_node(&lists, &names),
    });
}

/// The lists of numbers as lists of the nodes that have them.
fn by_node(lists: &[Vec<(u32, f32)>], names: &Names) -> Vec<Vec<(u32, f32)>> {
    let mut of_nodes = vec![Vec::new(); lists.len()];
    for (number, list) in (0..).zip(lists) {
        for &(other, probability) in list {
            let (one, other) = (names.node(number), names.node(other));
            of_nodes[one.min(other) as usize].push((one.max(other), probability));
        }
    }
    of_nodes.iter_mut().for_each(|list| list.sort_unstable_by_key(|&(node, _)| node));
    of_nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_numbers_become_lists_of_nodes() {
        let names = Names::same(4).reordered(&[2, 0, 3, 1]);
        let lists = vec![vec![(1, 0.5), (3, 0.25)], vec![(2, 1.0)], vec![], vec![]];
        let of_nodes = by_node(&lists, &names);
        assert_eq!(of_nodes, [vec![(2, 0.5), (3, 1.0)], vec![(2, 0.25)], vec![], vec![]]);
    }

    #[test]
    fn the_last_quarter_of_the_steps_keeps_its_block() {
        for (steps, renewals) in [(1, 0), (2, 1), (4, 3), (5, 3), (60, 45), (200, 150)] {
            assert!((0..steps).all(|step| is_renewed_after(step, steps) == (step < renewals)), "{steps}");
        }
    }
}
