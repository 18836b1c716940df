//! The training loss and its gradient by the logits.

use calipers_core::{Error, Result, functions};

use super::edge_walk::walk;
use super::graph::Graph;
use super::protocol::{PosWeight, Preset, WeightRule};
use super::sums::{Beliefs, Tally, stored_sum};

/// A batch of graphs with a logit and a label for each node.
pub type Batch<'a> = [(&'a Graph, &'a [f64], &'a [bool])];

/// Losses of a batch, and the derivative of the total loss by each logit, graph after graph.
#[derive(Clone, Debug, PartialEq)]
pub struct LossAndGrad {
    /// Weighted cross-entropy.
    pub loss_bce: f64,
    /// Expected share of violated edges; 0 when no graph has edges.
    pub loss_feasibility: f64,
    /// `loss_bce` + feasibility weight * `loss_feasibility`.
    pub loss_total: f64,
    /// d `loss_total` / d logit.
    pub grad: Vec<f64>,
}

/// The loss of a batch and its gradient.
///
/// Strict: the mean over graphs with nodes of their cross-entropy, plus lambda times the mean over
/// graphs with edges of their feasibility loss. Published presets: all nodes together, all stored
/// entries together. Weights of labels count as constants.
pub fn loss_and_grad(
    batch: &Batch<'_>,
    pos_weight: PosWeight,
    feasibility_weight: f64,
    preset: Preset,
) -> Result<LossAndGrad> {
    check(batch)?;
    let strict = preset == Preset::Strict;
    let totals = Totals::of(batch);
    let (mut bce, mut feasibility) = (Tally::default(), Tally::default());
    let mut grad = Vec::with_capacity(totals.nodes as usize);
    for &(graph, logits, labels) in batch {
        let ones = labels.iter().filter(|&&label| label).count() as u64;
        let weight = totals.weight(pos_weight, strict, labels.len() as u64, ones);
        let nodes = if strict { labels.len() as u64 * totals.with_nodes } else { totals.nodes } as f64;
        let edges = if strict { graph.edges() * totals.with_edges } else { totals.entries } as f64;
        let mut beliefs = Beliefs::default();
        beliefs.set_from_logits(logits);
        let Beliefs { p, minus_ln_p, minus_ln_q, .. } = beliefs;
        let mut loss = Tally::default();
        for (&label, (one, zero)) in labels.iter().zip(minus_ln_p.iter().zip(&minus_ln_q)) {
            loss.add(if label { weight * one } else { *zero });
        }
        if nodes > 0.0 {
            bce.add(loss.into_sum().value() / nodes);
        }
        if edges > 0.0 {
            let sum = walk(graph, None, None, Some(&p)).edges;
            feasibility.add(if strict { sum.value() } else { stored_sum(graph, &p, &sum) } / edges);
        }
        let near = neighbour_sums(graph, &p, strict);
        grad.extend(p.iter().zip(labels).zip(logits).zip(near).map(|(((&p, &label), &z), near)| {
            let q = functions::sigmoid(-z);
            let fit = if label { -weight * q } else { p } / nodes;
            let clash = if near > 0.0 { feasibility_weight * p * q * near / edges } else { 0.0 };
            fit + clash
        }));
    }
    let (loss_bce, loss_feasibility) = (bce.into_sum().value(), feasibility.into_sum().value());
    let loss_total = loss_bce + feasibility_weight * loss_feasibility;
    Ok(LossAndGrad { loss_bce, loss_feasibility, loss_total, grad })
}

fn check(batch: &Batch<'_>) -> Result<()> {
    for (number, &(graph, logits, labels)) in batch.iter().enumerate() {
        let place = format!("graph {number}");
        for (what, length) in [("logits", logits.len()), ("labels", labels.len())] {
            if length != graph.nodes() {
                return Err(Error::value(format!("{what} and graph differ in length"))
                    .at(place)
                    .found(format!("{length} {what}"))
                    .allowed(format!("{}, one for each node", graph.nodes())));
            }
        }
        if let Some(node) = logits.iter().position(|z| !z.is_finite()) {
            return Err(Error::value("a logit is not finite")
                .at(format!("{place}, node {node}"))
                .found(logits[node])
                .allowed("finite numbers"));
        }
    }
    Ok(())
}

/// The sum of p over each node's neighbours, or over the other ends of its stored entries.
fn neighbour_sums(graph: &Graph, p: &[f64], strict: bool) -> Vec<f64> {
    let copies = graph.copies();
    let usual = if strict { 1.0 } else { copies.usual as f64 };
    let mut sums: Vec<f64> = (0..graph.nodes() as u32)
        .map(|v| usual * graph.neighbours(v).iter().map(|&w| p[w as usize]).sum::<f64>())
        .collect();
    if !strict {
        for &(u, v, count) in &copies.unusual {
            let more = count as f64 - usual;
            sums[u as usize] += more * p[v as usize];
            sums[v as usize] += more * p[u as usize];
        }
        for &v in graph.loops() {
            sums[v as usize] += 2.0 * p[v as usize];
        }
    }
    sums
}

/// What the batch holds as a whole.
struct Totals {
    nodes: u64,
    entries: u64,
    ones: u64,
    with_nodes: u64,
    with_edges: u64,
}

impl Totals {
    fn of(batch: &Batch<'_>) -> Self {
        let mut totals = Self { nodes: 0, entries: 0, ones: 0, with_nodes: 0, with_edges: 0 };
        for &(graph, _, labels) in batch {
            totals.nodes += labels.len() as u64;
            totals.entries += graph.entries();
            totals.ones += labels.iter().filter(|&&label| label).count() as u64;
            totals.with_nodes += u64::from(!labels.is_empty());
            totals.with_edges += u64::from(graph.edges() > 0);
        }
        totals
    }

    fn weight(&self, rule: PosWeight, strict: bool, nodes: u64, ones: u64) -> f64 {
        let all_ones = self.ones.max(1);
        match rule {
            PosWeight::Fixed(weight) => weight,
            // Without labels 1 the weight multiplies nothing.
            PosWeight::Rule(WeightRule::Graph) if ones == 0 => 1.0,
            PosWeight::Rule(WeightRule::Graph) => (nodes - ones) as f64 / ones as f64,
            PosWeight::Rule(WeightRule::Pooled) if strict => {
                (self.nodes - self.ones) as f64 / all_ones as f64
            }
            PosWeight::Rule(WeightRule::Pooled) => {
                self.nodes.saturating_sub(all_ones).max(1) as f64 / all_ones as f64
            }
        }
    }
}
