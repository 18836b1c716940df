//! From probabilities to flips.

use calipers_core::Result;

use super::probabilities::Probabilities;
use super::{Attack, Attacked, Victim};
use crate::model::graph::Graph;
use crate::model::random::{Draws, Stream};
use crate::model::watch::{Status, Watch, tell};

/// How many samples are drawn at most, those over the budget included.
const TRIES: u32 = 2000;

/// The sample with the lowest loss, the first of equals, among those that keep the budget; if none does, the
/// likeliest flips.
pub(super) fn best(
    victim: &Victim<'_>,
    probabilities: &Probabilities,
    allowed: usize,
    attack: &Attack,
    watch: &dyn Watch,
) -> Result<Attacked> {
    let draws = Draws::new(attack.seed, Stream::Samples);
    let total = u64::from(attack.steps) + u64::from(attack.samples);
    let (mut best, mut valid, mut tried): (Option<Attacked>, u32, u32) = (None, 0, 0);
    while valid < attack.samples && tried < TRIES {
        let flips = sample(probabilities, draws, tried, allowed);
        tried += 1;
        let Some(flips) = flips else { continue };
        valid += 1;
        let loss = victim.loss(&flips)?;
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            best = Some(Attacked { flips, loss, samples_tried: 0, no_valid_sample: false });
        }
        if let Some(best) = &best {
            let status = Status::Sample { sample: valid, loss: best.loss, used: best.flips.len(), allowed };
            tell(watch, u64::from(attack.steps) + u64::from(valid), total, status)?;
        }
    }
    match best {
        Some(best) => Ok(Attacked { samples_tried: tried, ..best }),
        None => {
            let flips = probabilities.likeliest(allowed, 0.0);
            Ok(Attacked { loss: victim.loss(&flips)?, flips, samples_tried: tried, no_valid_sample: true })
        }
    }
}

/// Every flip happens or not by its probability; `None` when there are too many.
fn sample(
    probabilities: &Probabilities,
    draws: Draws,
    sample: u32,
    allowed: usize,
) -> Option<Vec<(u32, u32)>> {
    let nodes = probabilities.nodes() as u64;
    let mut flips = Vec::with_capacity(allowed);
    for i in 0..probabilities.nodes() {
        let first = (u64::from(sample).wrapping_mul(nodes).wrapping_add(i as u64)).wrapping_mul(nodes);
        for (j, probability) in probabilities.row(i) {
            if draws.uniform(first.wrapping_add(u64::from(j))) < f64::from(probability) {
                if flips.len() == allowed {
                    return None;
                }
                flips.push((i as u32, j));
            }
        }
    }
    Some(flips)
}

/// As many new edges as allowed, or as there is room for, drawn from the pairs that are not joined.
pub(super) fn insertions(graph: &Graph, allowed: usize, seed: u64) -> Vec<(u32, u32)> {
    let draws = Draws::new(seed, Stream::Insertions);
    let nodes = graph.nodes() as u64;
    let room = graph.nodes() * graph.nodes().saturating_sub(1) / 2 - graph.edges();
    let mut flips = std::collections::BTreeSet::new();
    let mut k = 0;
    while flips.len() < allowed.min(room) {
        let (i, j) = ((draws.draw(k) % nodes) as u32, (draws.draw(k + 1) % nodes) as u32);
        k += 2;
        if i != j && !graph.joins(i, j) {
            flips.insert((i.min(j), i.max(j)));
        }
    }
    flips.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_insertions_are_new_edges_until_there_is_no_room() {
        let graph = Graph::new(6, &[(0, 1), (2, 3), (4, 5)]).unwrap();
        let some = insertions(&graph, 4, 7);
        assert_eq!(some.len(), 4);
        assert!(some.is_sorted() && some.iter().all(|&(i, j)| i < j && !graph.joins(i, j)));
        assert_eq!(insertions(&graph, 100, 7).len(), 12);
    }

    #[test]
    fn samples_over_the_budget_are_refused_and_the_likeliest_flips_break_ties_by_pair() {
        let certain = vec![vec![(1, 1.0), (2, 1.0), (3, 0.5)], vec![(2, 1.0)], vec![], vec![]];
        let certain = Probabilities::Few(certain);
        let draws = Draws::new(0, Stream::Samples);
        assert_eq!(sample(&certain, draws, 0, 2), None);
        assert!(sample(&certain, draws, 0, 4).unwrap().starts_with(&[(0, 1), (0, 2)]));
        assert_eq!(certain.likeliest(2, 0.0), [(0, 1), (0, 2)]);
        assert_eq!(certain.likeliest(9, 0.0).len(), 4);
    }
}
