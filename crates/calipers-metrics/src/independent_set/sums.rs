//! The sums behind the losses and the confidence: each exact over its terms and rounded once.

use calipers_core::math::{self, lanes};
use calipers_core::ExactSum;

use super::graph::Graph;
use super::protocol::{Kind, Preset};
use super::row::LabelSums;

/// What a score says about its node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The probability p.
    pub(super) p: f64,
    /// -ln p, possibly infinite.
    pub(super) minus_ln_p: f64,
    /// -ln(1 - p), possibly infinite.
    pub(super) minus_ln_q: f64,
    /// |2p - 1|.
    pub(super) confidence: f64,
}

impl Belief {
    /// From a logit, without overflow or cancellation.
    #[inline(always)]
    pub(super) fn from_logit(z: f64) -> Self {
        let size = z.abs();
        let e = lanes::exp(-size);
        let larger = 1.0 / (1.0 + e);
        let tail = lanes::log1p(e);
        Self {
            p: if z >= 0.0 { larger } else { e * larger },
            minus_ln_p: (-z).max(0.0) + tail,
            minus_ln_q: z.max(0.0) + tail,
            confidence: (1.0 - e) * larger,
        }
    }

    /// From a logit so small that 1 - e loses digits, or so large that e is tiny.
    #[cold]
    fn from_extreme_logit(z: f64) -> Self {
        let size = z.abs();
        let tail = math::log1p(math::exp(-size));
        Self {
            p: math::sigmoid(z),
            minus_ln_p: (-z).max(0.0) + tail,
            minus_ln_q: z.max(0.0) + tail,
            confidence: math::tanh(0.5 * size),
        }
    }

    fn from_probability(p: f64) -> Self {
        Self {
            p,
            minus_ln_p: if p > 0.0 { -math::ln(p) } else { f64::INFINITY },
            minus_ln_q: if p < 1.0 { -math::log1p(-p) } else { f64::INFINITY },
            confidence: (2.0 * p - 1.0).abs(),
        }
    }
}

/// Whether a logit needs the slower way.
fn is_extreme(z: f64) -> bool {
    !(0.02..700.0).contains(&z.abs())
}

/// What logits say about their nodes, one after the other. The loop over ordinary logits has no
/// branch, so that it becomes vector code.
pub(super) fn beliefs_from_logits(logits: &[f64], beliefs: &mut Vec<Belief>) {
    beliefs.clear();
    beliefs.extend(logits.iter().map(|&z| Belief::from_logit(z)));
    for (belief, &z) in beliefs.iter_mut().zip(logits).filter(|(_, z)| is_extreme(**z)) {
        *belief = Belief::from_extreme_logit(z);
    }
}

/// An exact sum fed through a buffer: long slices are added faster than single terms.
#[derive(Debug, Default)]
pub(super) struct Tally {
    terms: Vec<f64>,
    sum: ExactSum,
}

const BUFFER: usize = 4096;

impl Tally {
    pub(super) fn add(&mut self, term: f64) {
        self.extend(std::iter::once(term));
    }

    pub(super) fn extend(&mut self, terms: impl Iterator<Item = f64>) {
        self.terms.extend(terms);
        if self.terms.len() >= BUFFER {
            self.sum.add_slice(&self.terms);
            self.terms.clear();
        }
    }

    pub(super) fn into_sum(mut self) -> ExactSum {
        self.sum.add_slice(&self.terms);
        self.sum
    }
}

/// The probabilities of scores that are not a set.
pub(super) fn probabilities(kind: Kind, scores: &[f64]) -> Vec<f64> {
    match kind {
        Kind::Logits => {
            let mut beliefs = Vec::new();
            beliefs_from_logits(scores, &mut beliefs);
            beliefs.iter().map(|belief| belief.p).collect()
        }
        Kind::Probs | Kind::Set => scores.to_vec(),
    }
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
    let (mut positive, mut negative, mut confidence) = (ExactSum::new(), ExactSum::new(), ExactSum::new());
    let mut infinite = false;
    let mut terms = [const { Vec::new() }; 3];
    let mut beliefs = Vec::new();
    for start in (0..scores.len()).step_by(BUFFER) {
        let end = scores.len().min(start + BUFFER);
        match kind {
            Kind::Logits => beliefs_from_logits(&scores[start..end], &mut beliefs),
            Kind::Probs | Kind::Set => {
                beliefs.clear();
                beliefs.extend(scores[start..end].iter().map(|&p| Belief::from_probability(p)));
            }
        }
        terms.iter_mut().for_each(Vec::clear);
        for (v, belief) in (start..end).zip(&beliefs) {
            let (label, right) = (labels[v], labels[v] == predicted[v]);
            let loss = if label { belief.minus_ln_p } else { belief.minus_ln_q }.min(cut);
            infinite |= loss.is_infinite();
            p.push(belief.p);
            // A zero does not change an exact sum; a branch on labels would be guessed wrong often.
            terms[0].push(if label { loss } else { 0.0 });
            terms[1].push(if label { 0.0 } else { loss });
            terms[2].push(if right { belief.confidence } else { 0.0 });
        }
        for (sum, terms) in [&mut positive, &mut negative, &mut confidence].into_iter().zip(&terms) {
            sum.add_slice(terms);
        }
    }
    let loss = |sum: ExactSum| (!infinite).then(|| sum.value());
    (p, LabelSums { positive: loss(positive), negative: loss(negative), confidence: confidence.value() })
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

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-14 * b.abs()
    }

    #[test]
    fn beliefs_keep_their_accuracy_for_tiny_and_huge_logits() {
        let of = |z: f64| {
            let mut beliefs = Vec::new();
            beliefs_from_logits(&[z], &mut beliefs);
            beliefs[0]
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
