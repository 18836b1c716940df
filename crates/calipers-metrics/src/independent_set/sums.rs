//! The sums behind the losses and the confidence: each exact over its terms and rounded once.

use calipers_core::ExactSum;
use calipers_core::functions::{self, lanes};
use multiversion::multiversion;

use super::graph::Graph;
use super::protocol::{Kind, Preset};
use super::row::LabelSums;

/// What scores say about their nodes, one list for each quantity.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs {
    /// The probability p.
    pub(super) p: Vec<f64>,
    /// -ln p, possibly infinite.
    pub(super) minus_ln_p: Vec<f64>,
    /// -ln(1 - p), possibly infinite.
    pub(super) minus_ln_q: Vec<f64>,
    /// |2p - 1|.
    pub(super) confidence: Vec<f64>,
}

impl Beliefs {
    /// From logits, without overflow or cancellation.
    pub(super) fn set_from_logits(&mut self, logits: &[f64]) {
        self.resize(logits.len());
        ordinary_logits(
            logits,
            &mut self.p,
            &mut self.minus_ln_p,
            &mut self.minus_ln_q,
            &mut self.confidence,
        );
        for (i, &z) in logits.iter().enumerate() {
            if is_extreme(z) {
                self.set_from_extreme_logit(i, z);
            }
        }
    }

    /// From a logit so small that 1 - e loses digits, or so large that e is tiny.
    #[cold]
    fn set_from_extreme_logit(&mut self, i: usize, z: f64) {
        let size = z.abs();
        let tail = functions::log1p(functions::exp(-size));
        self.p[i] = functions::sigmoid(z);
        self.minus_ln_p[i] = (-z).max(0.0) + tail;
        self.minus_ln_q[i] = z.max(0.0) + tail;
        self.confidence[i] = functions::tanh(0.5 * size);
    }

    fn set_from_probabilities(&mut self, probabilities: &[f64]) {
        self.resize(probabilities.len());
        for (i, &p) in probabilities.iter().enumerate() {
            self.p[i] = p;
            self.minus_ln_p[i] = if p > 0.0 { -functions::ln(p) } else { f64::INFINITY };
            self.minus_ln_q[i] = if p < 1.0 { -functions::log1p(-p) } else { f64::INFINITY };
            self.confidence[i] = (2.0 * p - 1.0).abs();
        }
    }

    fn resize(&mut self, nodes: usize) {
        for list in [&mut self.p, &mut self.minus_ln_p, &mut self.minus_ln_q, &mut self.confidence] {
            list.resize(nodes, 0.0);
        }
    }
}

/// Whether the size of a logit is below 0.02 or not below 700, which needs the slower way. The bits
/// of positive numbers have their order, and whole numbers need one comparison only.
fn is_extreme(z: f64) -> bool {
    const SMALL: u64 = 0.02f64.to_bits();
    const LARGE: u64 = 700f64.to_bits();
    z.abs().to_bits().wrapping_sub(SMALL) >= LARGE - SMALL
}

/// What ordinary logits say. No branch: it becomes vector code.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn ordinary_logits(
    logits: &[f64],
    p: &mut [f64],
    minus_ln_p: &mut [f64],
    minus_ln_q: &mut [f64],
    confidence: &mut [f64],
) {
    let nodes = logits.len();
    let (p, minus_ln_p) = (&mut p[..nodes], &mut minus_ln_p[..nodes]);
    let (minus_ln_q, confidence) = (&mut minus_ln_q[..nodes], &mut confidence[..nodes]);
    // One long chain of operations after the other: of a short loop several rounds are worked on at
    // once, of one with both chains only two.
    for i in 0..nodes {
        p[i] = lanes::exp(-logits[i].abs());
    }
    for i in 0..nodes {
        minus_ln_q[i] = lanes::log1p(p[i]);
    }
    for i in 0..nodes {
        let (z, e, tail) = (logits[i], p[i], minus_ln_q[i]);
        let larger = 1.0 / (1.0 + e);
        p[i] = if z >= 0.0 { larger } else { e * larger };
        minus_ln_p[i] = if z < 0.0 { -z } else { 0.0 } + tail;
        minus_ln_q[i] = if z > 0.0 { z } else { 0.0 } + tail;
        confidence[i] = (1.0 - e) * larger;
    }
}

/// An exact sum fed through a buffer: long slices are added faster than single terms.
#[derive(Debug, Default)]
pub(super) struct Tally {
    terms: Vec<f64>,
    /// How many of the terms wait to be added.
    waiting: usize,
    sum: ExactSum,
}

const BUFFER: usize = 2048;

impl Tally {
    pub(super) fn add(&mut self, term: f64) {
        self.room(1)[0] = term;
    }

    /// The place for the next terms; all of it must be filled.
    #[inline]
    pub(super) fn room(&mut self, count: usize) -> &mut [f64] {
        if self.waiting + count > self.terms.len() {
            self.make_room(count);
        }
        let (_, free) = self.terms.split_at_mut(self.waiting);
        self.waiting += count;
        &mut free[..count]
    }

    #[cold]
    fn make_room(&mut self, count: usize) {
        self.sum.add_slice(&self.terms[..self.waiting]);
        self.waiting = 0;
        self.terms.resize(self.terms.len().max(count).max(BUFFER), 0.0);
    }

    pub(super) fn into_sum(mut self) -> ExactSum {
        self.sum.add_slice(&self.terms[..self.waiting]);
        self.sum
    }
}

/// So many nodes are taken together.
const BLOCK: usize = 512;

/// The probabilities of scores that are not a set.
pub(super) fn probabilities(kind: Kind, scores: &[f64]) -> Vec<f64> {
    if kind != Kind::Logits {
        return scores.to_vec();
    }
    let mut p = Vec::with_capacity(scores.len());
    let mut beliefs = Beliefs::default();
    for logits in scores.chunks(BLOCK) {
        beliefs.set_from_logits(logits);
        p.extend_from_slice(&beliefs.p);
    }
    p
}

/// The probability of each node, and the sums over nodes of prediction against labels.
pub(super) fn node_sums(
    kind: Kind,
    preset: Preset,
    scores: &[f64],
    predicted: &[bool],
    labels: &[bool],
) -> (Vec<f64>, LabelSums) {
    // The published code cuts logarithms of probabilities at 100.
    let cut = if preset != Preset::Strict && kind == Kind::Probs { 100.0 } else { f64::INFINITY };
    let mut p = Vec::with_capacity(scores.len());
    let mut terms = NodeTerms::default();
    let mut sums = [const { ExactSum::new() }; 3];
    let mut beliefs = Beliefs::default();
    let blocks = scores.chunks(BLOCK).zip(predicted.chunks(BLOCK)).zip(labels.chunks(BLOCK));
    for ((scores, predicted), labels) in blocks {
        match kind {
            Kind::Logits => beliefs.set_from_logits(scores),
            Kind::Probs | Kind::Set => beliefs.set_from_probabilities(scores),
        }
        p.extend_from_slice(&beliefs.p);
        terms.set(&beliefs, cut, predicted, labels);
        for (sum, terms) in sums.iter_mut().zip(terms.parts()) {
            sum.add_slice(terms);
        }
    }
    let [positive, negative, confidence] = sums.map(|sum| sum.value());
    let loss = |sum: f64| (!terms.infinite).then_some(sum);
    (p, LabelSums { positive: loss(positive), negative: loss(negative), confidence })
}

/// The terms of the sums over some nodes, 0 for a node that is not in a sum.
#[derive(Debug, Default)]
struct NodeTerms {
    /// Losses of labels 1.
    ones: Vec<f64>,
    /// Losses of labels 0.
    zeros: Vec<f64>,
    /// Confidences of right predictions.
    right: Vec<f64>,
    /// Whether a loss was infinite, now or before.
    infinite: bool,
}

impl NodeTerms {
    fn set(&mut self, beliefs: &Beliefs, cut: f64, predicted: &[bool], labels: &[bool]) {
        let Self { ones, zeros, right, infinite } = self;
        for terms in [&mut *ones, zeros, right] {
            terms.resize(labels.len(), 0.0);
        }
        *infinite |= choose_losses(&beliefs.minus_ln_p, &beliefs.minus_ln_q, cut, labels, ones, zeros);
        choose_confidences(&beliefs.confidence, predicted, labels, right);
    }

    fn parts(&self) -> [&[f64]; 3] {
        [&self.ones, &self.zeros, &self.right]
    }
}

/// The losses that belong to each label, and whether one of them is infinite. No branch: it becomes vector code.
#[multiversion(targets("x86_64+avx2"))]
fn choose_losses(
    minus_ln_p: &[f64],
    minus_ln_q: &[f64],
    cut: f64,
    labels: &[bool],
    ones: &mut [f64],
    zeros: &mut [f64],
) -> bool {
    let nodes = labels.len();
    let (minus_ln_p, minus_ln_q) = (&minus_ln_p[..nodes], &minus_ln_q[..nodes]);
    let (ones, zeros) = (&mut ones[..nodes], &mut zeros[..nodes]);
    let mut infinite = false;
    for i in 0..nodes {
        let (one, zero) = if labels[i] { (minus_ln_p[i], 0.0) } else { (0.0, minus_ln_q[i]) };
        ones[i] = if one < cut { one } else { cut };
        zeros[i] = if zero < cut { zero } else { cut };
        infinite |= ones[i].is_infinite() | zeros[i].is_infinite();
    }
    infinite
}

#[multiversion(targets("x86_64+avx2"))]
fn choose_confidences(confidence: &[f64], predicted: &[bool], labels: &[bool], right: &mut [f64]) {
    let nodes = labels.len();
    let (confidence, predicted) = (&confidence[..nodes], &predicted[..nodes]);
    let right = &mut right[..nodes];
    for i in 0..nodes {
        right[i] = if predicted[i] == labels[i] { confidence[i] } else { 0.0 };
    }
}

/// The sum of p_u p_v over stored entries, where `edges` is the one over edges.
pub(super) fn stored_sum(graph: &Graph, p: &[f64], edges: &ExactSum) -> f64 {
    let copies = graph.copies();
    let mut stored = edges.clone();
    for _ in 1..copies.usual {
        stored.merge(edges);
    }
    for &(u, v, count) in &copies.unusual {
        let term = p[u as usize] * p[v as usize];
        for _ in count..copies.usual {
            stored.add(-term);
        }
        for _ in copies.usual..count {
            stored.add(term);
        }
    }
    for &v in graph.loops() {
        stored.add(p[v as usize] * p[v as usize]);
    }
    stored.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::edge_walk::walk;
    use crate::independent_set::graph::Storage;

    struct Belief {
        p: f64,
        minus_ln_p: f64,
        minus_ln_q: f64,
        confidence: f64,
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-14 * b.abs()
    }

    #[test]
    fn beliefs_keep_their_accuracy_for_tiny_and_huge_logits() {
        let of = |z: f64| {
            let mut beliefs = Beliefs::default();
            beliefs.set_from_logits(&[z]);
            Belief {
                p: beliefs.p[0],
                minus_ln_p: beliefs.minus_ln_p[0],
                minus_ln_q: beliefs.minus_ln_q[0],
                confidence: beliefs.confidence[0],
            }
        };
        let tiny = of(1e-20);
        assert!(close(tiny.confidence, 5e-21) && close(tiny.minus_ln_p, std::f64::consts::LN_2));
        let faint = of(-720.0);
        assert!(close(faint.minus_ln_q, (-720f64).exp()));
        let huge = of(-800.0);
        assert!(close(huge.minus_ln_p, 800.0) && huge.minus_ln_q >= 0.0 && huge.minus_ln_q < 1e-300);
        assert!(close(huge.confidence, 1.0));
        for z in [-30.0f64, -4.1, -3.9, -1.5, -0.9, -0.021, 0.019, 0.3, 1.0, 1.1, 20.0] {
            let belief = of(z);
            let p = 1.0 / (1.0 + (-z).exp());
            assert!(close(belief.p, p), "{z}");
            assert!(close(belief.confidence, (z.abs() / 2.0).tanh()), "{z}");
            assert!(close(belief.minus_ln_p, (-z).exp().ln_1p()), "{z}");
        }
    }

    #[test]
    fn a_contradicted_certainty_makes_both_loss_sums_infinite_in_strict_and_100_in_document() {
        let (scores, labels) = ([0.0, 0.5, 1.0], [true, true, false]);
        let of = |preset| node_sums(Kind::Probs, preset, &scores, &[false, false, true], &labels).1;
        assert_eq!((of(Preset::Strict).positive, of(Preset::Strict).negative), (None, None));
        let cut = of(Preset::Document);
        assert!(close(cut.positive.unwrap(), 100.0 + std::f64::consts::LN_2));
        assert!(close(cut.negative.unwrap(), 100.0));
    }

    #[test]
    fn stored_sums_count_every_entry() {
        let pairs: &[(u32, u32)] = &[(0, 1), (1, 0), (1, 0), (1, 2), (2, 1), (3, 2), (3, 3), (0, 0)];
        let p = [0.1, 0.7, 1e-9, 0.6];
        for storage in [Storage::Both, Storage::Once] {
            let graph = Graph::build(4, storage, &pairs).unwrap();
            let mut slow = ExactSum::new();
            for &(u, v) in pairs {
                slow.add(p[u as usize] * p[v as usize]);
            }
            let edges = walk(&graph, None, None, Some(&p)).edges;
            assert_eq!(stored_sum(&graph, &p, &edges).to_bits(), slow.value().to_bits());
        }
    }
}
