//! The attack on the graph: flips of edges, within a budget, that make the model err.
//!
//! Evasion by projected gradient: the model is trained already, and the attacker knows it. Every pair of nodes
//! gets a probability of being flipped; the probabilities descend along the gradient of the targets' margins
//! and are brought back to the budget; the best of many samples of them is the attack. Where all pairs are too
//! many, a block of them is considered at a time.

mod bisection;
mod block;
mod descent;
mod gradient;
mod names;
mod pair_gradient;
mod pairs;
mod probabilities;
mod sampling;

use std::borrow::Cow;

use calipers_core::{Error, Result};

use self::names::Names;
use self::pairs::Pairs;
use crate::model::features::Features;
use crate::model::graph::Graph;
use crate::model::loss::{labels_of, margin_loss};
use crate::model::matrix::Matrix;
use crate::model::propagation::Propagation;
use crate::model::propagation::links::Links;
use crate::model::rung::Rung;
use crate::model::watch::Watch;

/// How flips are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Projected gradient over all pairs.
    #[default]
    Pgd,
    /// The same over random blocks of pairs (projected randomized block coordinate descent: Geisler et al., NeurIPS
    /// 2021), in memory that grows with the block, the nodes and the edges.
    Prbcd {
        /// How many pairs are considered at a time; with all of them it is `Pgd`.
        block_size: usize,
    },
    /// Random insertions: what every attack must beat.
    Random,
}

/// How many pairs a block has unless told otherwise.
pub const BLOCK_SIZE: usize = 250_000;

/// What the attacker differentiates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gradient {
    /// Edge weights count as constants, so pairs that are pruned are not seen.
    #[default]
    Detached,
    /// Edge weights too.
    Full,
}

/// How an attack is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// How flips are found.
    pub method: Method,
    /// What is differentiated.
    pub gradient: Gradient,
    /// Steps of the descent.
    pub steps: u32,
    /// Samples within the budget, of which the best is kept.
    pub samples: u32,
    /// The seed of the samples and of the blocks.
    pub seed: u64,
    /// How many bytes may be held for pairs of nodes.
    pub memory: u64,
}

impl Default for Attack {
    fn default() -> Self {
        Self {
            method: Method::Pgd,
            gradient: Gradient::Detached,
            steps: 200,
            samples: 100,
            seed: 0,
            memory: 4 << 30,
        }
    }
}

/// What an attack found.
#[derive(Clone, Debug, PartialEq)]
pub struct Attacked {
    /// The pairs to toggle, i < j, ascending.
    pub flips: Vec<(u32, u32)>,
    /// The mean tanh of the targets' margins on the attacked graph.
    pub loss: f64,
    /// How many samples were drawn, those over the budget included.
    pub samples_tried: u32,
    /// No sample kept the budget, and the likeliest flips were taken instead.
    pub no_valid_sample: bool,
}

/// What is attacked: a model's scores before propagation, the graph, and the nodes to be turned.
struct Victim<'a> {
    model: &'a Rung,
    graph: Cow<'a, Graph>,
    initial: Matrix,
    targets: Cow<'a, [usize]>,
    labels: Vec<usize>,
    threads: usize,
}

/// Flips at most `allowed` pairs so that the model errs on the targets.
///
/// # Errors
/// Features that do not fit the graph or the model; no targets, or one without a label; fewer than two
/// classes; too many nodes or too large a block for the memory allowed; a block smaller than the budget;
/// interrupted.
#[expect(clippy::too_many_arguments, reason = "the evidence, the settings and the way to run are all needed")]
pub fn attack(
    model: &Rung,
    graph: &Graph,
    features: &Features,
    labels: &[i64],
    targets: &[usize],
    allowed: usize,
    attack: &Attack,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Attacked> {
    let initial = model.initial_scores(graph, features, threads)?;
    if targets.is_empty() {
        return Err(Error::value("no nodes to attack").advice("choose a split with test nodes"));
    }
    if model.classes() < 2 {
        return Err(Error::value("the model has one class: nothing can be mistaken").found(model.classes()));
    }
    let labels = labels_of("target", targets, labels, model.classes())?;
    let (graph, targets) = (Cow::Borrowed(graph), Cow::Borrowed(targets));
    let victim = Victim { model, graph, initial, targets, labels, threads };
    if allowed == 0 {
        return Ok(Attacked {
            flips: Vec::new(),
            loss: victim.loss(&[])?,
            samples_tried: 0,
            no_valid_sample: false,
        });
    }
    match attack.method {
        Method::Random => {
            let flips = sampling::insertions(&victim.graph, allowed, attack.seed);
            Ok(Attacked { loss: victim.loss(&flips)?, flips, samples_tried: 0, no_valid_sample: false })
        }
        Method::Pgd | Method::Prbcd { .. } => {
            let pairs = Pairs::of(attack, victim.graph.nodes(), allowed)?;
            let probabilities = descent::descend(&victim, pairs, allowed, attack, watch)?;
            sampling::best(&victim, &probabilities, allowed, attack, watch)
        }
    }
}

impl Victim<'_> {
    /// The mean tanh of the targets' margins when these pairs are flipped.
    fn loss(&self, flips: &[(u32, u32)]) -> Result<f64> {
        let graph = self.graph.flipped(flips)?;
        let propagation = Propagation::new(Links::of_graph(&graph), self.model.settings(), self.threads);
        let (scores, _) = propagation.forward(&self.initial)?;
        Ok(margin_loss(&scores, &self.labels, &self.targets))
    }

    /// The same under other numbers.
    fn renamed(&self, names: &Names) -> Result<Victim<'_>> {
        let pairs: Vec<(u32, u32)> = self.graph.pairs().map(|pair| names.pair(pair)).collect();
        let mut initial = Matrix::zeros(self.initial.rows(), self.initial.columns());
        for node in 0..self.initial.rows() {
            let number = names.number(node as u32) as usize;
            initial.row_mut(number).copy_from_slice(self.initial.row(node));
        }
        Ok(Victim {
            graph: Cow::Owned(Graph::new(self.graph.nodes(), &pairs)?),
            initial,
            targets: self.targets.iter().map(|&node| names.number(node as u32) as usize).collect(),
            labels: self.labels.clone(),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::probabilities::Probabilities;
    use super::*;
    use crate::model::penalty::{Kind, Penalty, SCAD_A, ScadScale, Weights};
    use crate::model::random::{Draws, Stream};
    use crate::model::train::{Training, train};
    use crate::model::watch::{Status, Unwatched};

    const NODES: usize = 60;

    /// Two groups that are joined among themselves, and a model trained to tell them apart.
    fn town() -> (Rung, Graph, Features, Vec<i64>) {
        let draws = Draws::new(8, Stream::Insertions);
        let mut pairs = std::collections::BTreeSet::new();
        for k in 0..150 {
            let (i, j) = (draws.draw(2 * k) % 60, draws.draw(2 * k + 1) % 60);
            if i % 2 == j % 2 && i != j {
                pairs.insert((i.min(j) as u32, i.max(j) as u32));
            }
        }
        let graph = Graph::new(NODES, &pairs.into_iter().collect::<Vec<_>>()).unwrap();
        let labels: Vec<i64> = (0..NODES as i64).map(|node| node % 2).collect();
        let entry = |k: u64| {
            if draws.uniform(1000 + k) < if k / 4 % 2 == k % 2 { 0.7 } else { 0.3 } { 1.0 } else { 0.0 }
        };
        let features = Features::dense(NODES, 4, (0..240).map(entry).collect()).unwrap();
        let penalty = Penalty::new(Kind::L1, Weights::Legacy, None, SCAD_A, ScadScale::One).unwrap();
        let training = Training { epochs: 30, hidden: vec![8], ..Training::new(penalty) };
        let seen: Vec<usize> = (0..20).collect();
        let model = train(&graph, &features, &labels, 2, &seen, &[], &training, 1, &Unwatched).unwrap();
        (model, graph, features, labels)
    }

    fn quick() -> Attack {
        Attack { steps: 20, samples: 10, ..Attack::default() }
    }

    #[test]
    fn an_attack_keeps_its_budget_and_beats_chance_for_any_number_of_threads() {
        let (model, graph, features, labels) = town();
        let targets: Vec<usize> = (20..NODES).collect();
        let run = |how: &Attack, threads| {
            attack(&model, &graph, &features, &labels, &targets, 12, how, threads, &Unwatched).unwrap()
        };
        let random = run(&Attack { method: Method::Random, ..quick() }, 1);
        for gradient in [Gradient::Detached, Gradient::Full] {
            for method in [Method::Pgd, Method::Prbcd { block_size: 300 }, Method::Prbcd { block_size: 12 }] {
                let how = Attack { method, gradient, ..quick() };
                let found = run(&how, 1);
                assert_eq!(found, run(&how, 3));
                let flips = &found.flips;
                assert!(!flips.is_empty() && flips.len() <= 12);
                assert!(flips.windows(2).all(|two| two[0] < two[1]) && flips.iter().all(|&(i, j)| i < j));
                assert!(found.loss < random.loss, "{how:?}: {} {}", found.loss, random.loss);
            }
        }
    }

    #[test]
    fn a_block_of_all_pairs_finds_what_the_gradient_over_all_pairs_finds() {
        let (model, graph, features, labels) = town();
        let targets: Vec<usize> = (20..NODES).collect();
        for kind in [Kind::L1, Kind::Mcp, Kind::Adaptive] {
            let gamma = kind.takes_gamma().then_some(3.0);
            let penalty = Penalty::new(kind, Weights::Legacy, gamma, SCAD_A, ScadScale::One).unwrap();
            let settings = crate::model::Settings { penalty, ..model.settings().clone() };
            let model = Rung::from_tensors(model.tensors(), settings).unwrap();
            let initial = model.initial_scores(&graph, &features, 1).unwrap();
            let of_targets = labels_of("target", &targets, &labels, 2).unwrap();
            let victim = Victim {
                model: &model,
                graph: Cow::Borrowed(&graph),
                initial,
                targets: Cow::Borrowed(&targets),
                labels: of_targets,
                threads: 1,
            };
            for gradient in [Gradient::Detached, Gradient::Full] {
                let how = Attack { gradient, ..quick() };
                let run = |how: &Attack| {
                    attack(&model, &graph, &features, &labels, &targets, 12, how, 1, &Unwatched).unwrap()
                };
                let found = run(&how);
                let larger = Method::Prbcd { block_size: 2000 };
                assert_eq!(run(&Attack { method: larger, ..how.clone() }), found);
                // As a list, too, which a block of fewer pairs is.
                let listed = Pairs::Block(block::Block::draw(NODES, NODES * (NODES - 1) / 2, how.seed));
                let probabilities = descent::descend(&victim, listed, 12, &how, &Unwatched).unwrap();
                let listed = sampling::best(&victim, &probabilities, 12, &how, &Unwatched).unwrap();
                assert_eq!(listed, found, "{kind} {gradient:?}");
            }
        }
    }

    #[test]
    fn a_table_under_other_numbers_has_the_gradient_of_lists() {
        let (model, graph, features, labels) = town();
        let targets: Vec<usize> = (20..NODES).collect();
        let initial = model.initial_scores(&graph, &features, 1).unwrap();
        let labels = labels_of("target", &targets, &labels, 2).unwrap();
        let (graph, targets) = (Cow::Borrowed(&graph), Cow::Borrowed(&targets[..]));
        let victim = Victim { model: &model, graph, initial, targets, labels, threads: 2 };
        let pairs = || (0..NODES as u32).flat_map(|i| (i + 1..NODES as u32).map(move |j| (i, j)));
        let draws = Draws::new(4, Stream::Samples);
        // Nodes of high numbers have more probable flips, so that the order is about turned round.
        let flip = |(k, (i, j)): (u64, (u32, u32))| {
            if u64::from(i + j) < draws.draw(k) % 120 { 0.0 } else { draws.uniform(5000 + k) as f32 }
        };
        let mut flips: Vec<f32> = (0..).zip(pairs()).map(flip).collect();
        let order = names::by_values_above(&Pairs::All(NODES).rows(&mut flips), 0.0, 1);
        assert!(order[0] > 40 && order[NODES - 1] < 20);
        let mut tiles = crate::model::propagation::pair_table::Tiles::new(NODES);
        tiles.fill(&flips, &order, |flip| flip, 1);
        let many = Probabilities::Many { flips: tiles, names: Names::same(NODES).reordered(&order) };
        let mut lists = vec![Vec::new(); NODES];
        for ((i, j), &flip) in pairs().zip(&flips).filter(|(_, flip)| **flip > 0.0) {
            lists[i as usize].push((j, flip));
        }
        let few = Probabilities::Few(lists);
        assert!((0..NODES).all(|node| few.row(node).eq(many.row(node))));
        let Probabilities::Many { names, .. } = &many else { unreachable!() };
        let renamed = victim.renamed(names).unwrap();
        for gradient in [Gradient::Detached, Gradient::Full] {
            let run = |victim: &Victim<'_>, probabilities: &Probabilities| {
                let mut values = vec![0.0; flips.len()];
                let slope = gradient::write_gradient(
                    victim,
                    probabilities,
                    gradient,
                    &Pairs::All(NODES),
                    &mut values,
                );
                (slope.unwrap(), values)
            };
            let (expected_slope, expected) = run(&victim, &few);
            let (slope, values) = run(&renamed, &many);
            assert!((slope.value - expected_slope.value).abs() < 1e-12);
            assert!((slope.norm / expected_slope.norm - 1.0).abs() < 1e-4);
            let largest = expected.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
            for (pair, expected) in pairs().zip(&expected) {
                let (i, j) = names.pair(pair);
                let place = (i as usize * (2 * NODES - i as usize - 1)) / 2 + (j - i - 1) as usize;
                assert!((values[place] - expected).abs() < 1e-4 * largest, "{pair:?} {gradient:?}");
            }
        }
    }

    #[test]
    fn a_graph_whose_pairs_are_too_many_is_attacked_in_blocks() {
        let (model, ..) = town();
        let nodes = 30_000;
        let edges: Vec<(u32, u32)> = (0..nodes as u32).map(|i| (i, (i + 2) % nodes as u32)).collect();
        let graph = Graph::new(nodes, &edges).unwrap();
        let entry = |k: usize| if k / 4 % 2 == k % 2 { 1.0 } else { 0.0 };
        let features = Features::dense(nodes, 4, (0..4 * nodes).map(entry).collect()).unwrap();
        let labels: Vec<i64> = (0..nodes as i64).map(|node| node % 2).collect();
        let targets: Vec<usize> = (0..nodes).collect();
        let run = |method| {
            let how = Attack { method, steps: 8, samples: 2, memory: 256_000, ..Attack::default() };
            attack(&model, &graph, &features, &labels, &targets, 300, &how, 1, &Unwatched)
        };
        let error = run(Method::Pgd).unwrap_err().to_string();
        assert!(error.contains("30000 nodes") && error.contains("--method prbcd"), "{error}");
        let found = run(Method::Prbcd { block_size: 4000 }).unwrap();
        let random = run(Method::Random).unwrap();
        assert!(!found.flips.is_empty() && found.flips.len() <= 300);
        assert!(found.loss < random.loss, "{} {}", found.loss, random.loss);
    }

    #[test]
    fn no_budget_means_no_flips_and_the_loss_of_the_clean_graph() {
        let (model, graph, features, labels) = town();
        let none =
            |how: &Attack| attack(&model, &graph, &features, &labels, &[3], 0, how, 1, &Unwatched).unwrap();
        assert_eq!(none(&quick()).flips, []);
        let random = none(&Attack { method: Method::Random, ..quick() });
        assert_eq!(none(&quick()).loss.to_bits(), random.loss.to_bits());
    }

    #[test]
    fn without_a_sample_the_likeliest_flips_are_taken_and_said() {
        let (model, graph, features, labels) = town();
        let how = Attack { samples: 0, ..quick() };
        let found =
            attack(&model, &graph, &features, &labels, &[30, 31, 32], 4, &how, 1, &Unwatched).unwrap();
        assert!(found.no_valid_sample && found.flips.len() == 4);
    }

    #[test]
    fn bad_calls_say_what_is_wrong() {
        let (model, graph, features, labels) = town();
        let text = |targets: &[usize], how: &Attack| {
            attack(&model, &graph, &features, &labels, targets, 5, how, 1, &Unwatched)
                .unwrap_err()
                .to_string()
        };
        assert!(text(&[], &quick()).contains("no nodes to attack"));
        assert!(text(&[60], &quick()).contains("target entry 0, node 60"));
        let small = text(&[1], &Attack { memory: 7000, ..quick() });
        assert!(
            small.contains("60 nodes") && small.contains("7080 bytes") && small.contains("7000 bytes"),
            "{small}"
        );
        let block = |block_size| Attack { method: Method::Prbcd { block_size }, memory: 7000, ..quick() };
        let (narrow, large, all) = (text(&[1], &block(4)), text(&[1], &block(110)), text(&[1], &block(9999)));
        assert!(narrow.contains("a block of 4 pairs") && narrow.contains("at least 5"), "{narrow}");
        for (text, found) in
            [(large, "a block of 110 pairs, which takes 7040 bytes"), (all, "a block of 1770 pairs")]
        {
            assert!(text.contains(found) && text.contains("7000 bytes (--attack-memory)"), "{text}");
        }
    }

    #[test]
    fn an_attack_stops_when_asked() {
        struct After(u64);
        impl Watch for After {
            fn step(&self, done: u64, total: u64, status: Status<'_>) -> bool {
                assert!(
                    total == 30 && matches!(status, Status::Step { allowed: 5, .. } | Status::Sample { .. })
                );
                done < self.0
            }
        }
        let (model, graph, features, labels) = town();
        for (stop, method) in [(3, Method::Pgd), (25, Method::Pgd), (3, Method::Prbcd { block_size: 50 })] {
            let how = Attack { method, ..quick() };
            let error =
                attack(&model, &graph, &features, &labels, &[1, 2], 5, &how, 1, &After(stop)).unwrap_err();
            assert_eq!(error.kind(), calipers_core::ErrorKind::Interrupted);
        }
    }
}
