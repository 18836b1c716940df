//! A checked, borrowed view of one graph with its scores, labels and known optimum.

use calipers_core::{Error, Result};

use super::graph::Graph;
use super::protocol::{Axis, Kind};

/// Checked scores: one row of N values, or several with an axis.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    kind: Kind,
    axis: Option<Axis>,
    values: &'a [f64],
    rows: usize,
}

impl<'a> Scores<'a> {
    /// Scores of `nodes` nodes, row after row. The number of rows follows from the lengths; a graph
    /// without nodes counts as one row, see [`Scores::with_rows`].
    pub fn new(kind: Kind, axis: Option<Axis>, values: &'a [f64], nodes: usize) -> Result<Self> {
        let rows = match axis {
            None => 1,
            Some(_) if nodes == 0 => 1,
            Some(_) => values.len() / nodes,
        };
        Self::with_rows(kind, axis, values, rows, nodes)
    }

    /// Scores of `rows` rows of `nodes` values.
    pub fn with_rows(
        kind: Kind,
        axis: Option<Axis>,
        values: &'a [f64],
        rows: usize,
        nodes: usize,
    ) -> Result<Self> {
        if let (Some(axis), 0) = (axis, rows) {
            let things = if axis == Axis::Samples { "samples" } else { "steps" };
            return Err(Error::value(format!("there are no {things}"))
                .found(format!("0 {things} of {nodes} nodes, {} values", values.len()))
                .allowed("at least 1")
                .advice(format!("give scores of one or more {things}")));
        }
        if rows.checked_mul(nodes) != Some(values.len()) {
            let width = values.len().checked_div(rows).filter(|width| width * rows == values.len());
            return Err(Error::value("scores and graph differ in length")
                .found(match (axis, width) {
                    (Some(_), Some(width)) => format!("rows of {width} scores"),
                    _ => format!("{} scores", values.len()),
                })
                .allowed(match axis {
                    None => format!("{nodes}, one for each node"),
                    Some(_) => format!("{rows} rows of {nodes}, one for each node"),
                })
                .advice("check that scores and graph belong together; with samples or steps give --axis"));
        }
        let scores = Self { kind, axis, values, rows };
        if !values.iter().fold(true, |all, &value| all & allowed(kind, value)) {
            return Err(scores.first_bad(nodes));
        }
        Ok(scores)
    }

    /// What a score is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the rows are; `None` for a single row.
    pub fn axis(&self) -> Option<Axis> {
        self.axis
    }

    /// The rows in order.
    pub(super) fn rows(&self) -> impl ExactSizeIterator<Item = &'a [f64]> + use<'a> {
        let (values, nodes) = (self.values, self.values.len() / self.rows);
        (0..self.rows).map(move |row| &values[row * nodes..(row + 1) * nodes])
    }

    /// Which row is the prediction: the first sample, the last step.
    pub(super) fn predicting_row(&self) -> usize {
        if self.axis == Some(Axis::Steps) { self.rows - 1 } else { 0 }
    }

    /// The row that is the prediction.
    pub(super) fn prediction(&self) -> &'a [f64] {
        let nodes = self.values.len() / self.rows;
        &self.values[self.predicting_row() * nodes..][..nodes]
    }

    fn first_bad(&self, nodes: usize) -> Error {
        let bad = self.values.iter().position(|&value| !allowed(self.kind, value)).unwrap_or_default();
        let value = self.values[bad];
        let error = if !value.is_finite() {
            let what = if value.is_nan() { "a score is not a number" } else { "a score is infinite" };
            Error::value(what).allowed("finite numbers").advice("check what the model gave for this node")
        } else if self.kind == Kind::Set {
            Error::value("a set holds another value than 0 and 1")
                .allowed("0 or 1")
                .advice("1 for each chosen node and 0 for the others; scores are 'logits' or 'probs'")
        } else {
            Error::value("a probability is outside [0, 1]").allowed("0 to 1").advice("logits? a 0-100 scale?")
        };
        let (row, node) = (bad / nodes, bad % nodes);
        let error = error.at(format!("node {node}")).found(value);
        match self.axis {
            None => error,
            Some(Axis::Samples) => error.at(format!("sample {row}")),
            Some(Axis::Steps) => error.at(format!("step {}", row + 1)),
        }
    }
}

fn allowed(kind: Kind, value: f64) -> bool {
    match kind {
        Kind::Logits => value.is_finite(),
        Kind::Probs => (0.0..=1.0).contains(&value),
        Kind::Set => [0.0f64, 1.0].map(f64::to_bits).contains(&(value + 0.0).to_bits()),
    }
}

/// One graph with what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    pub(super) graph: &'a Graph,
    pub(super) scores: Option<Scores<'a>>,
    pub(super) labels: Option<&'a [bool]>,
    pub(super) optimum: Option<u64>,
}

impl<'a> Unit<'a> {
    /// Refuses scores or labels of another length than the graph has nodes, and an optimum that no
    /// graph of that size has.
    pub fn new(
        graph: &'a Graph,
        scores: Option<Scores<'a>>,
        labels: Option<&'a [bool]>,
        optimum: Option<u64>,
    ) -> Result<Self> {
        let nodes = graph.nodes();
        let scored = scores.map(|scores| scores.prediction().len());
        for (what, length) in [("scores", scored), ("labels", labels.map(<[bool]>::len))] {
            if let Some(length) = length.filter(|&length| length != nodes) {
                return Err(Error::value(format!("{what} and graph differ in length"))
                    .found(format!("{length} {what}"))
                    .allowed(format!("{nodes}, one for each node"))
                    .advice(format!("check that {what} and graph belong together")));
            }
        }
        if let Some(optimum) = optimum.filter(|&optimum| optimum > nodes as u64) {
            return Err(Error::value("the optimum is larger than the graph")
                .found(optimum)
                .allowed(format!("0 to {nodes}"))
                .advice("no set has more nodes than the graph: is this the optimum of another one?"));
        }
        Ok(Self { graph, scores, labels, optimum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::independent_set::graph::Storage;

    fn refusal(kind: Kind, axis: Option<Axis>, values: &[f64], nodes: usize) -> String {
        Scores::new(kind, axis, values, nodes).unwrap_err().to_string()
    }

    #[test]
    fn a_bad_score_is_named_with_its_node_and_row() {
        let text = refusal(Kind::Logits, None, &[0.0, f64::NAN], 2);
        assert!(text.contains("not a number") && text.contains("node 1"), "{text}");
        let text = refusal(Kind::Logits, Some(Axis::Steps), &[0.0, 1.0, f64::INFINITY, 0.0], 2);
        assert!(text.contains("infinite") && text.contains("step 2, node 0"), "{text}");
        let text = refusal(Kind::Logits, Some(Axis::Samples), &[0.0, 1.0, f64::NEG_INFINITY, 0.0], 2);
        assert!(text.contains("sample 1, node 0"), "{text}");
        let text = refusal(Kind::Probs, None, &[0.5, 1.5], 2);
        assert!(text.contains("1.5") && text.contains("logits? a 0-100 scale?"), "{text}");
        let text = refusal(Kind::Probs, None, &[-0.1], 1);
        assert!(text.contains("-0.1"), "{text}");
        let text = refusal(Kind::Set, None, &[1.0, 0.0, 0.5], 3);
        assert!(text.contains("node 2") && text.contains("0 or 1"), "{text}");
    }

    #[test]
    fn probabilities_at_the_ends_and_signed_zeros_are_allowed() {
        assert!(Scores::new(Kind::Probs, None, &[0.0, 1.0, -0.0], 3).is_ok());
        assert!(Scores::new(Kind::Set, None, &[0.0, 1.0, -0.0], 3).is_ok());
        for bad in [1.0 + f64::EPSILON, 1.0 - f64::EPSILON, 1e-300, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Scores::new(Kind::Set, None, &[bad], 1).is_err(), "{bad}");
        }
    }

    #[test]
    fn lengths_that_disagree_are_both_named() {
        let text = refusal(Kind::Logits, None, &[0.0; 5], 4);
        assert!(text.contains('5') && text.contains('4'), "{text}");
        let text = refusal(Kind::Logits, Some(Axis::Steps), &[0.0; 5], 4);
        assert!(text.contains("5 scores"), "{text}");
        assert!(refusal(Kind::Logits, Some(Axis::Samples), &[], 3).contains("no samples"));
        let pairs: &[(u32, u32)] = &[(0, 1)];
        let graph = Graph::build(3, Storage::Once, &pairs).unwrap();
        let error = Unit::new(&graph, None, Some(&[true; 4]), None).unwrap_err().to_string();
        assert!(error.contains("4 labels") && error.contains('3'), "{error}");
        let error = Unit::new(&graph, None, None, Some(4)).unwrap_err().to_string();
        assert!(error.contains("0 to 3"), "{error}");
    }

    #[test]
    fn the_first_sample_or_the_last_step_is_the_prediction() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let scores = |axis| Scores::new(Kind::Logits, Some(axis), &values, 2).unwrap();
        assert_eq!(scores(Axis::Samples).prediction(), [1.0, 2.0]);
        assert_eq!(scores(Axis::Steps).prediction(), [3.0, 4.0]);
        assert_eq!(scores(Axis::Steps).rows().count(), 2);
    }

    #[test]
    fn a_graph_without_nodes_may_have_any_number_of_rows() {
        let scores = Scores::with_rows(Kind::Probs, Some(Axis::Steps), &[], 3, 0).unwrap();
        assert_eq!(scores.rows().map(<[f64]>::len).collect::<Vec<_>>(), [0, 0, 0]);
        assert!(Scores::new(Kind::Probs, None, &[], 0).unwrap().prediction().is_empty());
    }
}
